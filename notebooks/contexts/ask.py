"""Study 2: every page asks the same models the same steps of the same contexts; what was scored stays in the store."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from probekit.contexts.retrieval import Found
from probekit.contexts.sources import Source, look_up, medlama_contexts, own_contexts, trex_contexts
from probekit.contexts.study import steps
from probekit.contexts.variants import knowledge_random, real
from probekit.demo.world.contexts import demo_contexts
from probekit.demo.world.relation import Domain
from probekit.errors import ReportError
from probekit.metrics.context import counted
from probekit.probes import load_probe
from probekit.probes.halves import halves
from probekit.probes.probe import Probe
from probekit.report.page import Page
from probekit.run import RankSteps, fill
from probekit.store import Store

DOMAINS: dict[str, Domain] = {"demo": "general", "demo_bio": "biomedical"}
SOURCES = (*DOMAINS, "trex", "pubmed", "medline")


def domain_of(source: str) -> Domain:
    """The domain of the text of a source."""
    return DOMAINS.get(source, "general")


@dataclass(frozen=True)
class Looked:
    """A source after it was searched, and the steps that are asked.

    Args:
        name: of the source.
        probe: whose triples are asked.
        asked: all triples (``contexts.retrieval.triples``).
        found: all documents of all triples; page 20 counts them.
        steps: of the triples that were drawn (``contexts.study.steps``), with ``source``, ``several`` (whether UCM
            counts a step of the triple: its context holds another correct object), and where the probe tells them
            ``relation_label``, ``kind`` and ``exposure``.
        contexts: one row per triple and document, drawn or not: ``triple_id, relation, doc_id, entities`` (segments),
            ``correct`` (others than the target, that are right), ``several`` (of the triple), ``twin``, ``drawn``.
        counts: of the search, see ``retrieve``.
        wording: of the prompts, where they are asked in several.
    """

    name: str
    probe: Probe
    asked: pd.DataFrame
    found: list[Found]
    steps: pd.DataFrame
    contexts: pd.DataFrame
    counts: dict[str, int]
    wording: str = ""


def sources(names: Sequence[str], own: Mapping[str, Sequence[str]] = {}, per_fact: int = 1) -> list[Source]:
    """Sources by name, and one's own.

    Args:
        names: of ``SOURCES``.
        own: name -> [probe, documents]: a name of ``probekit list probes`` or a file, and a folder, file or index.
        per_fact: different evidence sentences of a T-REx fact, at most; 0 for all.

    Raises:
        ReportError: no source, an unknown name, one used twice, or an own source of another form.
    """
    if not names and not own:
        raise ReportError("no source is asked: name one in `sources`, or give your own as `own`")
    if unknown := [name for name in names if name not in SOURCES]:
        raise ReportError(f"no source is named {unknown[0]!r}: take {', '.join(SOURCES)}, or give your own as `own`")
    if wrong := [name for name, pair in own.items() if name in SOURCES or isinstance(pair, str) or len(pair) != 2]:
        raise ReportError(f"own source {wrong[0]!r}: give it a name of its own and [probe, documents]")
    found = {name: demo_contexts(domain) for name, domain in DOMAINS.items() if name in names}
    if "trex" in names:
        found["trex"] = trex_contexts(per_fact or None)
    if {"pubmed", "medline"} & set(names):
        found |= {source.name: source for source in medlama_contexts()}
    return [found[name] for name in names] + [
        own_contexts(name, load_probe(pair[0]), pair[1]) for name, pair in own.items()
    ]


def look(
    source: Source, triples: int = 0, others: int = 0, most: int = 10, seed: int = 0, documents: int = 0
) -> Looked:
    """Search a source and draw the triples to ask.

    Triples are drawn after the search, so that the pools of entities stay whole. Those whose context holds another
    correct object, without which UCM has no step to count, are drawn apart from the others.

    Args:
        source: of ``sources``.
        triples: with another correct object in a context, at most; 0 for all.
        others: without one, at most; 0 for all.
        most: segments of a context.
        seed: of the draw and of the random variants.
        documents: of a triple, the first that are read, at most; 0 for all.
    """
    counts = Counter[str]()
    asked, found = look_up(source, counts, documents or None, Store(), fill)
    plain, has_other = plain_steps(asked, found, most, seed)
    names = list(dict.fromkeys(plain["triple_id"]))
    groups = [([n for n in names if n in has_other], triples), ([n for n in names if n not in has_other], others)]
    drawn = {name for group, size in groups for name in draw(group, size, f"{seed} {source.name}")}
    ids = asked["triple_id"].tolist()
    table = steps(asked, [match for match in found if ids[match.triple] in drawn], most, seed=seed)
    table = table.assign(source=source.name, several=table["triple_id"].isin(has_other))
    contexts = _contexts(plain, has_other, drawn)
    return Looked(source.name, source.probe, asked, found, with_prompts(source.probe, table), contexts, dict(counts))


def plain_steps(asked: pd.DataFrame, found: Sequence[Found], most: int, seed: int) -> tuple[pd.DataFrame, set[str]]:
    """The steps of all real contexts, and the triples of which UCM counts one."""
    plain = steps(asked, found, most, {"real": real}, seed)
    return plain, set(plain[counted(plain) & (plain["twin"] == "target")]["triple_id"])


def with_prompts(probe: Probe, table: pd.DataFrame) -> pd.DataFrame:
    """Steps with what the probe tells of their prompts."""
    prompts = probe.prompts.drop_duplicates("prompt_id").set_index("prompt_id")
    columns = [column for column in ("relation_label", "kind", "exposure") if column in prompts]
    return table.assign(**{column: table["prompt_id"].map(prompts[column]) for column in columns})


def look_by(given: Mapping[str, Any]) -> list[Looked]:
    """``look`` at each of ``sources``, by the parameters of a page."""
    how = [given[name] for name in ("triples", "others", "most", "seed", "documents")]
    return [look(source, *how) for source in sources(given["sources"], given["own"], given["per_fact"])]


def questions(given: Mapping[str, Any]) -> list[RankSteps]:
    """What most pages of study 2 ask by their parameters."""
    return rankings(given["models"], look_by(given))


def rankings(models: Sequence[str], looked: Sequence[Looked], answers: bool = False) -> list[RankSteps]:
    """Every model ranks before and after every step; ``answers`` as in ``rank_steps``."""
    return [RankSteps(m, one.steps, one.asked.attrs["entities"], answers) for m in models for one in looked]


def redrawn(looked: Sequence[Looked], draws: int, most: int = 10, seed: int = 0) -> list[Looked]:
    """The same triples in so many draws of the knowledge-random context around the target (column ``draw``).

    Only triples that have a step for UCM are taken. The first draw is that of ``look``.
    """
    result = []
    for one in looked:
        ids, chosen = one.asked["triple_id"].tolist(), set(one.steps.loc[one.steps["several"], "triple_id"])
        documents = [match for match in one.found if ids[match.triple] in chosen]
        tables = [
            steps(one.asked, documents, most, {"knowledge_random": knowledge_random}, seed + number).assign(draw=number)
            for number in range(draws if documents else 0)
        ]
        if tables:
            table = pd.concat(tables, ignore_index=True).assign(source=one.name, several=True)
            result.append(replace(one, steps=table[table["twin"] == "target"].reset_index(drop=True)))
    return result


def ask_all(
    page: Page,
    models: Sequence[str],
    looked: Sequence[Looked],
    halved: Collection[str] = (),
    answers: bool = False,
) -> pd.DataFrame:
    """Rank changes of every model at every step, one model in memory at a time, noted on the page.

    Args:
        page: notes models, probes, documents and what was run.
        models: names, Hugging Face ids or folders of masked models.
        looked: of ``look_by``.
        halved: models that were taught half of the T-REx facts.
        answers: as in ``rank_steps``.

    Returns:
        The rows of ``rank_steps`` for each model, with ``model``, what ``Looked.steps`` adds (``source``, ``several``,
        and missing where unknown ``relation_label``, ``kind`` and ``exposure``) and ``half`` (of the fact, see
        ``halves``; empty where the model was not halved). ``candidates`` are the size of the pool.
    """
    for one in (one for one in looked if one.found):
        page.read(f"documents of {one.name}", _fingerprint(one.found), len({f.document.doc_id for f in one.found}))
    page.used(*(one.probe for one in looked))

    asked = rankings(models, looked, answers)
    looked_of = dict(zip(asked, list(looked) * len(models), strict=True))
    tables = []
    for answer in page.ask(asked):
        one, done = looked_of[answer.question], answer.result
        task = f"contexts of {one.name}" + f", {one.wording}" * bool(one.wording)
        page.ran(answer.name, one.probe, **done.attrs, task=task)
        known = halves("trex") if answer.question.name in halved and one.name == "trex" else {}
        table = done.assign(model=answer.name, half=[known.get(fact, "") for fact in done["fact_id"]])
        table.attrs = {}
        page.prompts.add("step", _told(one, table))
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _told(one: Looked, table: pd.DataFrame) -> pd.DataFrame:
    """Rows of ``ask_all`` by the names of ``probekit.report.outcomes``, with the whole text of input_i."""
    if "draw" in table:  # the first is that of ``look``, which was asked before
        table = table[table["draw"] > 0].assign(
            variant=lambda rows: rows["variant"] + ", draw " + rows["draw"].astype(str)
        )
    return table.assign(
        probe=one.name,
        style=one.probe.style,
        variant=table["variant"] + f", {one.wording}" * bool(one.wording),
        document=table["doc_id"],
        asked=one.steps["text"],
        gold=table["correct"],
        target=table["centre"],
        rank=table["rank_after"],
        rank_any=table["any_after"],
        answers=[[answer] for answer in table["answer"]] if "answer" in table else None,
    )


def draw(names: Sequence[str], size: int, seed: str) -> list[str]:
    """So many of the names, or all where ``size`` is 0 or they are fewer."""
    return random.Random(seed).sample(names, size) if 0 < size < len(names) else list(names)


def _contexts(plain: pd.DataFrame, several: Collection[str], drawn: Collection[str]) -> pd.DataFrame:
    own = plain[plain["twin"] == "target"].assign(right=counted)
    table = own.groupby(["triple_id", "relation", "doc_id"], sort=False, as_index=False).agg(
        entities=("step", "max"), correct=("right", "sum")
    )
    twins = pd.MultiIndex.from_frame(plain.loc[plain["twin"] == "negative", ["triple_id", "doc_id"]])
    return table.assign(
        several=table["triple_id"].isin(several),
        twin=pd.MultiIndex.from_frame(table[["triple_id", "doc_id"]]).isin(twins),
        drawn=table["triple_id"].isin(drawn),
    )


def _fingerprint(found: Sequence[Found]) -> str:
    """Of the texts of the documents that hold a triple."""
    texts = {one.document.doc_id: one.document.text for one in found}
    return hashlib.sha256("\0".join(f"{k}\0{v}" for k, v in sorted(texts.items())).encode()).hexdigest()[:16]
