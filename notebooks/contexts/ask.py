"""Study 2: every page asks the same models the same steps of the same contexts; what was scored stays in the store."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from probekit.contexts.retrieval import Found
from probekit.contexts.sources import Source, look_up, medlama_contexts, own_contexts, trex_contexts
from probekit.contexts.study import steps
from probekit.contexts.variants import knowledge_random, real
from probekit.demo.world.contexts import demo_contexts
from probekit.demo.world.relation import Domain
from probekit.errors import ModelError, ReportError
from probekit.metrics.context import counted
from probekit.models.card import halves_of, sentences_of
from probekit.probes import load_probe
from probekit.probes.probe import Probe
from probekit.probes.texts import clean
from probekit.report.page import Page
from probekit.report.scored import scoring
from probekit.run import RankSteps, fill
from probekit.store import Store

DOMAINS: dict[str, Domain] = {"demo": "general", "demo_bio": "biomedical"}
Ids = Collection[str]
SOURCES = (*DOMAINS, "trex", "medlama")


@dataclass(frozen=True)
class Searched:
    """A source after it was searched, and the steps that are asked.

    Args:
        name: of the source.
        probe: whose triples are asked.
        triples: all triples (``contexts.retrieval.triples``).
        matches: all documents of all triples; page 20 counts them.
        steps: of the triples that were drawn (``contexts.study.steps``), with ``source``, ``several`` (whether UCM
            counts a step of the triple: its context holds another correct object), and where the probe has them
            ``relation_label``, ``kind`` and ``exposure``.
        contexts: one row per triple and document, drawn or not: ``triple_id, relation, doc_id, entities`` (segments),
            ``correct`` (others than the target, that are right), ``several`` (of the triple), ``twin``, ``drawn``.
        counts: of the search, see ``retrieve``.
        wording: of the prompts, where they are asked in several.
    """

    name: str
    probe: Probe
    triples: pd.DataFrame
    matches: list[Found]
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
    by_name = {name: demo_contexts(domain) for name, domain in DOMAINS.items() if name in names}
    if "trex" in names:
        by_name["trex"] = trex_contexts(per_fact or None)
    if "medlama" in names:
        by_name["medlama"] = medlama_contexts()
    return [by_name[name] for name in names] + [
        own_contexts(name, load_probe(pair[0]), pair[1]) for name, pair in own.items()
    ]


def search(
    source: Source,
    triples: int = 0,
    others: int = 0,
    most: int = 10,
    seed: int = 0,
    documents: int = 0,
    first: Ids = (),
) -> Searched:
    """Search a source and draw the triples to ask.

    Triples are drawn after the search, so that the pools of entities stay whole. Those whose context holds another
    correct object, without which UCM has no step to count, are drawn apart from the others.

    Args:
        source: of ``sources``.
        triples: with another correct object in a context, at most; 0 for all.
        others: without one, at most; 0 for all.
        most: segments of a context, at most; 0 for all.
        seed: of the draws of triples and documents, and of the random variants.
        documents: of a triple, drawn where there are more, at most; 0 for all.
        first: facts whose triples are drawn before all others.
    """
    counts = Counter[str]()
    all_triples, matches = look_up(source, counts, documents or None, Store(), fill, seed)
    plain, has_other = plain_steps(all_triples, matches, most, seed)
    names = list(dict.fromkeys(plain["triple_id"]))
    early = set(plain.loc[plain["fact_id"].isin(first), "triple_id"])
    groups = [([n for n in names if n in has_other], triples), ([n for n in names if n not in has_other], others)]
    drawn = {name for group, size in groups for name in draw(group, size, f"{seed} {source.name}", early)}
    ids = all_triples["triple_id"].tolist()
    table = steps(all_triples, [match for match in matches if ids[match.triple] in drawn], most, seed=seed)
    table = with_prompts(source.probe, table.assign(source=source.name, several=table["triple_id"].isin(has_other)))
    contexts = _contexts(plain, has_other, drawn)
    return Searched(source.name, source.probe, all_triples, matches, table, contexts, dict(counts))


def plain_steps(triples: pd.DataFrame, matches: Sequence[Found], most: int, seed: int) -> tuple[pd.DataFrame, set[str]]:
    """The steps of all real contexts, and the triples of which UCM counts one."""
    plain = steps(triples, matches, most, {"real": real}, seed)
    return plain, set(plain[counted(plain) & (plain["twin"] == "target")]["triple_id"])


def with_prompts(probe: Probe, table: pd.DataFrame) -> pd.DataFrame:
    """Steps with the columns that the probe has of their prompts."""
    prompts = probe.prompts.drop_duplicates("prompt_id").set_index("prompt_id")
    columns = [column for column in ("relation_label", "kind", "exposure") if column in prompts]
    return table.assign(**{column: table["prompt_id"].map(prompts[column]) for column in columns})


def search_by(given: Mapping[str, Any]) -> list[Searched]:
    """``search`` at each of ``sources``, by the parameters of a page."""
    how = {name: given[name] for name in ("triples", "others", "most", "seed", "documents")}
    every = sources(given["sources"], given["own"], given["per_fact"])
    return [search(source, **how, first=told_to(given, source)) for source in every]


def told_to(given: Mapping[str, Any], source: Source | Searched) -> dict[str, str]:
    """The facts of a source that some model of a page was told half of, and their halves (``halves_of``)."""
    told = dict[str, str]()
    for model in given["models"]:
        with suppress(ModelError):  # one that cannot be had is left out where it is asked
            told |= halves_of(model, source.name, given["halved"], own=True)
    return told


def all_steps(searched: Sequence[Searched]) -> pd.DataFrame:
    """The steps of all sources, before any model ranks them."""
    return pd.concat([source.steps for source in searched], ignore_index=True)


def questions(given: Mapping[str, Any]) -> list[RankSteps]:
    """What most pages of study 2 ask by their parameters."""
    return rankings(given, search_by(given))


def rankings(given: Mapping[str, Any], searched: Sequence[Searched], answers: bool = False) -> list[RankSteps]:
    """Every model of a page ranks before and after every step; ``answers`` as in ``rank_steps``."""
    how = {"answers": answers, **scoring(given)}
    return [RankSteps(m, s.steps, s.triples.attrs["entities"], **how) for m in given["models"] for s in searched]


def redrawn(searched: Sequence[Searched], draws: int, most: int = 10, seed: int = 0) -> list[Searched]:
    """The same triples in so many draws of the knowledge-random context around the target (column ``draw``).

    Only triples that have a step for UCM are taken. The first draw is that of ``search``.
    """
    result = []
    for source in searched:
        ids, chosen = source.triples["triple_id"].tolist(), set(source.steps.query("several")["triple_id"])
        documents = [match for match in source.matches if ids[match.triple] in chosen]
        tables = [
            steps(source.triples, documents, most, {"knowledge_random": knowledge_random}, seed + n).assign(draw=n)
            for n in range(draws if documents else 0)
        ]
        if tables:
            table = pd.concat(tables, ignore_index=True).assign(source=source.name, several=True)
            result.append(replace(source, steps=table[table["twin"] == "target"].reset_index(drop=True)))
    return result


def ask_all(
    page: Page,
    models: Sequence[str],
    searched: Sequence[Searched],
    halved: Collection[str] = (),
    answers: bool = False,
) -> pd.DataFrame:
    """Rank changes of every model at every step, one model in memory at a time, noted on the page.

    Args:
        page: notes models, probes, documents and what was run.
        models: names, Hugging Face ids or folders.
        searched: of ``search_by``.
        halved: models that were taught half of the T-REx facts.
        answers: as in ``rank_steps``.

    Returns:
        The rows of ``rank_steps`` for each model, with ``model``, what ``Searched.steps`` adds (``source, several``,
        and missing where unknown ``relation_label``, ``kind`` and ``exposure``), ``half`` (of the fact, see
        ``halves_of``; empty where the model was told none or neither) and ``document_read`` (whether the document holds
        a sentence that the model was trained on, as far as is known). ``candidates`` are the size of the pool.
    """
    for name, matches in ((source.name, source.matches) for source in searched if source.matches):
        page.read(f"documents of {name}", _fingerprint(matches), len({match.document.doc_id for match in matches}))
    page.used(*(source.probe for source in searched), candidates="pool")

    requests = rankings({**page.parameters, "models": models}, searched, answers)
    source_of = dict(zip(requests, list(searched) * len(models), strict=True))
    tables = []
    for answer in page.ask(requests):
        source, done = source_of[answer.question], answer.result
        task = f"contexts of {source.name}" + f", {source.wording}" * bool(source.wording)
        page.ran(answer.name, source.probe, **done.attrs, task=task)
        half_of = halves_of(answer.question.name, source.name, halved, own=True)
        read = _read(source, sentences_of(answer.question.name) if source.name == "trex" else [])
        halves = [half_of.get(fact, "") for fact in done["fact_id"]]
        table = done.assign(model=answer.name, half=halves, document_read=done["doc_id"].isin(read))
        table.attrs = {}
        page.prompts.add("step", _outcome_rows(source, table))
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _read(source: Searched, sentences: Sequence[str]) -> set[str]:
    """The documents of a source's steps that hold one of these sentences."""
    asked = set(source.steps["doc_id"]) if sentences else set[str]()
    documents = (match.document for match in source.matches)
    texts = {document.doc_id: clean(document.text) for document in documents if document.doc_id in asked}
    return {name for name, text in texts.items() if any(sentence in text for sentence in sentences)}


def _outcome_rows(source: Searched, table: pd.DataFrame) -> pd.DataFrame:
    """Rows of ``ask_all`` by the names of ``probekit.report.outcomes``, with the whole text of input_i."""
    if "draw" in table:  # the first is that of ``search``, which was asked before
        table = table[table["draw"] > 0].assign(
            variant=lambda rows: rows["variant"] + ", draw " + rows["draw"].astype(str)
        )
    return table.assign(
        probe=source.name,
        style=source.probe.style,
        variant=table["variant"] + f", {source.wording}" * bool(source.wording),
        document=table["doc_id"],
        asked=source.steps["text"],
        gold=table["correct"],
        target=table["centre"],
        rank=table["rank_after"],
        rank_any=table["any_after"],
        answers=[[answer] for answer in table["answer"]] if "answer" in table else None,
    )


def draw(names: Sequence[str], size: int, seed: str, early: Ids = ()) -> list[str]:
    """So many of the names, those of ``early`` first, or all where ``size`` is 0 or they are fewer."""
    order = random.Random(seed).sample(names, len(names) if early else size) if 0 < size < len(names) else list(names)
    return sorted(order, key=lambda name: name not in early)[: size or None]


def _contexts(plain: pd.DataFrame, several: Collection[str], drawn: Collection[str]) -> pd.DataFrame:
    around_target = plain[plain["twin"] == "target"].assign(right=counted)
    table = around_target.groupby(["triple_id", "relation", "doc_id"], sort=False, as_index=False).agg(
        entities=("step", "max"), correct=("right", "sum")
    )
    twins = pd.MultiIndex.from_frame(plain.loc[plain["twin"] == "negative", ["triple_id", "doc_id"]])
    return table.assign(
        several=table["triple_id"].isin(several),
        twin=pd.MultiIndex.from_frame(table[["triple_id", "doc_id"]]).isin(twins),
        drawn=table["triple_id"].isin(drawn),
    )


def _fingerprint(matches: Sequence[Found]) -> str:
    """Of the texts of the documents that hold a triple."""
    texts = {match.document.doc_id: match.document.text for match in matches}
    return hashlib.sha256("\0".join(f"{k}\0{v}" for k, v in sorted(texts.items())).encode()).hexdigest()[:16]
