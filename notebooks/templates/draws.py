"""Study 1: which prompts are compared where each fact may count once, the same facts in all probes of a data set.

More prompts bring more different answers (paper 001, section 5.4), and a fact that has many sentences would weigh most
in a mean perplexity (section 5.5).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pandas as pd

from probekit.metrics import paired_hits
from probekit.probes.probe import Probe
from probekit.report.tables import pick


def one_per_fact(probe: Probe, seed: int | None = None) -> pd.DataFrame:
    """One prompt of each fact: the first, or with a ``seed`` a drawn one.

    Returns:
        ``prompt_id, text, place`` (its row in the probe), by ``fact_id`` and in the order of the probe.
    """
    frame = probe.prompts[["prompt_id", "text"]].assign(fact_id=probe.facts, place=range(len(probe.prompts)))
    order = frame if seed is None else frame.sample(frac=1, random_state=seed)
    return order.drop_duplicates("fact_id").sort_values("place").set_index("fact_id")


def by_dataset(probes: Sequence[Probe]) -> dict[str, list[Probe]]:
    """Data set -> its probes, in order."""
    groups: dict[str, list[Probe]] = {}
    for probe in probes:
        groups.setdefault(probe.dataset, []).append(probe)
    return groups


def shared(prompts: Sequence[pd.DataFrame]) -> set[str]:
    """The facts that all of several ``one_per_fact`` have."""
    return set.intersection(*(set(frame.index) for frame in prompts))


def sample(probes: Sequence[Probe], texts: int, seed: int = 0) -> list[Probe]:
    """At most so many prompts of every probe, each the first of a drawn fact, in the order of the probe.

    Probes of a data set that share no fact are drawn from apart.

    Args:
        probes: those of a data set get the same facts.
        texts: prompts per probe.
        seed: of the draw of facts.
    """
    prompts = {id(probe): one_per_fact(probe) for probe in probes}
    common = {name: shared([prompts[id(p)] for p in members]) for name, members in by_dataset(probes).items()}
    samples = []
    for probe in probes:
        first = prompts[id(probe)]
        facts = sorted(common[probe.dataset] or set(first.index))
        drawn = random.Random(f"texts {seed}").sample(facts, min(texts, len(facts)))
        places = set(first.loc[drawn, "place"])
        samples.append(probe.select([place in places for place in range(len(probe.prompts))]))
    return samples


def equal_prompts(probes: Sequence[Probe], seed: int = 0) -> pd.DataFrame:
    """All facts that the probes of a data set share, in the same order, each with a drawn prompt.

    Facts whose template prompt is word for word that of an earlier fact (another object of the same subject) are left
    out, since the model cannot but answer them alike.

    Args:
        probes: those of a data set get the same facts.
        seed: of the draw of one prompt per fact.

    Returns:
        ``dataset, probe, fact_id, prompt_id``, by data set and probe.
    """
    frames = []
    for dataset, members in by_dataset(probes).items():
        prompts = {probe.name: one_per_fact(probe, seed) for probe in members}
        common = shared(list(prompts.values()))
        first = next((probe.name for probe in members if probe.style == "template"), members[0].name)
        order = [fact for fact in prompts[first].drop_duplicates("text").index if fact in common]
        for name, frame in prompts.items():
            rows = frame.loc[order, ["prompt_id"]].reset_index()
            frames.append(rows.assign(dataset=dataset, probe=name))
    return pd.concat(frames, ignore_index=True)[["dataset", "probe", "fact_id", "prompt_id"]]


def paired(first: pd.DataFrame, second: pd.DataFrame, k: int = 1) -> pd.DataFrame:
    """``paired_hits`` of the rows of two settings, empty where either has none."""
    return paired_hits(first, second, k) if len(first) and len(second) else pd.DataFrame({"first": [], "second": []})


def hits_by_style(rows: pd.DataFrame, k: int = 1) -> pd.DataFrame:
    """Acc@k per fact asked both ways, ``first`` in natural sentences and ``second`` by template; maybe empty."""
    return paired(pick(rows, style="natural"), pick(rows, style="template"), k)


def unit_of(probe: str) -> str:
    """What a bootstrap of a probe draws: an entity where prompts were made from sentences about it, else a fact."""
    return "entity" if probe.startswith(("pubmed", "medline", "demo_lipid")) else "fact"


def able_in_both(tables: Mapping[str, pd.DataFrame], dataset: str) -> list[str]:
    """The models above the floor of a data set in each of both styles, at k = 1."""
    low = pick(tables["floors"], probe=[f"{dataset}/template", f"{dataset}/natural"], k=1)
    counts = low[~low["floor"].astype(bool)].groupby("model")["probe"].nunique()
    return list(counts.index[counts == 2])
