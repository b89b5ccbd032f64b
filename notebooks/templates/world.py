"""The demo world as a page shows it: examples, relations, how often facts are told, and what guessing gives."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from probekit.demo import demo_facts, demo_natural, demo_template
from probekit.demo.world.relation import Domain
from probekit.demo.world.text import tellings
from probekit.errors import ReportError
from probekit.probes.probe import Probe


def examples(domain: Domain, count: int, seed: int = 0) -> pd.DataFrame:
    """Facts of a domain, from often told to never told: how one is told, and how it is asked.

    Args:
        count: of facts, each of another relation where there are enough.
        seed: of the world.

    Returns:
        ``relation, subject, object, told, sentence`` (empty for a fact that is never told), ``natural, template``.
    """
    chosen, used = [], set[str]()
    facts = demo_facts(domain, seed)
    levels = sorted({fact.exposure for fact in facts}, reverse=True)
    for place in range(count):
        level = levels[round(place * (len(levels) - 1) / max(1, count - 1))]
        of_level = [fact for fact in facts if fact.exposure == level]
        fact = next((fact for fact in of_level if fact.relation not in used), of_level[0])
        used.add(fact.relation)
        chosen.append(fact)
    probes = demo_natural(domain, seed=seed), demo_template(domain, seed=seed)
    natural, template = (probe.prompts.set_index("fact_id")["text"] for probe in probes)
    told = tellings(seed)
    return pd.DataFrame(
        {
            "relation": fact.relation,
            "subject": fact.subject,
            "object": fact.object,
            "told": fact.exposure,
            "sentence": told[fact.fact_id][0].sentence if fact.exposure else "",
            "natural": natural[fact.fact_id],
            "template": template[fact.fact_id],
        }
        for fact in chosen
    )


def facts_of(probes: Sequence[Probe]) -> pd.DataFrame:
    """Each fact of the probes once, with what can be answered without knowing it.

    Returns:
        ``domain, fact_id, relation, kind, object, exposure``; ``chance`` (one of all candidates), ``relation_chance``
        (one of the objects of its relation) and ``most_told`` (1 if its object is the one that the text names most
        often with its relation, the first of equals; the fact's own sentences are not counted).

    Raises:
        ReportError: a probe does not say how often its facts were told.
    """
    for probe in probes:
        absent = [field for field in ("fact_id", "relation", "exposure") if field not in probe.prompts]
        if absent:
            raise ReportError(
                f"{probe.name}: the field {absent[0]!r} is needed here; the probes of the demo world have it"
            )
    frames = []
    for probe in probes:
        frame = probe.prompts[["fact_id", "relation", "exposure"]].assign(
            domain=probe.domain, kind=probe.prompts.get("kind", ""), object=[gold[0] for gold in probe.prompts["gold"]]
        )
        frames.append(frame.assign(chance=1 / len(probe.entities)))
    facts = pd.concat(frames).drop_duplicates(["domain", "fact_id"], ignore_index=True)
    group = facts.groupby(["domain", "relation"], sort=False)
    return facts.assign(
        relation_chance=1 / group["object"].transform("nunique"),
        most_told=pd.concat([_most_told(part) for _, part in group]),
    )


def _most_told(facts: pd.DataFrame) -> pd.Series:
    """For the facts of one relation, whether each one's object is the one that the other facts' sentences name most."""
    told = facts.groupby("object", sort=False)["exposure"].sum().to_dict()
    right = []
    for answer, exposure in zip(facts["object"], facts["exposure"], strict=True):
        others = told | {answer: told[answer] - exposure}
        right.append(float(max(others, key=lambda name: others[name]) == answer))
    return pd.Series(right, index=facts.index)


def relations(facts: pd.DataFrame) -> pd.DataFrame:
    """Per relation: kind, facts, distinct objects, sentences that tell them, and what guessing gives."""
    return (
        facts.groupby(["domain", "relation", "kind"], sort=False)
        .agg(
            facts=("fact_id", "size"),
            objects=("object", "nunique"),
            never_told=("exposure", lambda exposure: int((exposure == 0).sum())),
            sentences=("exposure", "sum"),
            relation_chance=("relation_chance", "first"),
            most_told=("most_told", "mean"),
        )
        .reset_index()
    )


def exposures(facts: pd.DataFrame) -> pd.DataFrame:
    """Per domain and number of tellings: facts, sentences, and the three baselines of ``facts_of`` over these facts."""
    return (
        facts.groupby(["domain", "exposure"])
        .agg(
            facts=("fact_id", "size"),
            sentences=("exposure", "sum"),
            chance=("chance", "mean"),
            relation_chance=("relation_chance", "mean"),
            most_told=("most_told", "mean"),
        )
        .reset_index()
    )
