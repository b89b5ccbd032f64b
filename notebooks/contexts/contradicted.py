"""Page 25: questions about facts with a sentence or some before each, of which one may say otherwise."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import pandas as pd

from probekit.demo.world.exposure import OFTEN
from probekit.errors import ReportError
from probekit.files import digest
from probekit.models.card import EXPOSURE
from probekit.probes import load_probe
from probekit.probes.halves import HELD_OUT, TAUGHT
from probekit.probes.probe import MASK, Probe, facts_by_digest, shows
from probekit.report.page import Page
from probekit.report.scored import scoring
from probekit.run import Answer, Rank

NOTHING, SUPPORT, COUNTER = "nothing", "the fact itself", "another object"
OTHER, UNRELATED = "of another subject", "unrelated fact"
LATE, FAR = "another object, last", "another object, first"  # of three sentences, the others unrelated facts
CONTEXTS = (NOTHING, SUPPORT, COUNTER, OTHER, UNRELATED, LATE, FAR)
TOP = 3  # best candidates kept with every prompt
CUT = "prompts cut to the model's length"
TOLD = ("trex", "trex41")  # of whose facts the laboratory's models were told half
Fact = Mapping[Any, Any]


def contradicted(probe: Probe, facts: int = 0, seed: int = 0) -> Probe:
    """Each fact's prompt after each of ``CONTEXTS``, own sentences in the templates of the probe.

    The other object is that of another fact of the relation, and of no fact of this subject; the other subject,
    of which that object is no answer either, is in the same relation. Unrelated facts are of other relations and name
    neither the subject nor one of the two objects. All are drawn by digests of ``seed`` and of both facts' ids.

    Args:
        probe: one prompt a fact, with ``relation, subject``, and ``exposure`` (how often a text tells the fact) where
            it is not of T-REx.
        facts: that were told, and as many that were not, at most; 0 for all.
        seed: of the draws.

    Returns:
        The prompts of a fact one after the other, with ``context``, ``other`` (the other object) and ``half``. Facts
        whose prompt names an answer, or for which no sentence can be drawn, are left out, and counted.

    Raises:
        ReportError: nothing says which facts were told.
    """
    prompts = probe.prompts
    if not {"fact_id", "relation", "subject"} <= {*prompts} or not ("exposure" in prompts or probe.dataset in TOLD):
        needed = "facts of T-REx, or rows with fact_id, relation, subject and exposure"
        raise ReportError(f"{probe.name} does not say which facts were told: give {needed}")
    half = prompts["exposure"].map(_half) if "exposure" in prompts else prompts["fact_id"].map(EXPOSURE())
    prompts = prompts.assign(half=half)[half.notna()].drop_duplicates("fact_id")
    relatives = {name: rows.to_dict("records") for name, rows in probe.prompts.groupby("relation")}
    kept = [facts_by_digest(rows["fact_id"], facts or None, seed) for _, rows in prompts.groupby("half")]
    drawn = prompts[prompts["fact_id"].isin(set[str]().union(*kept))].to_dict("records")
    rows = [row for fact in drawn for row in _asked(fact, relatives[fact["relation"]], drawn, seed)]
    asked = len(rows) // len(CONTEXTS)
    counts = {"facts asked": asked, "facts without sentences": len(drawn) - asked}
    return replace(probe, prompts=pd.DataFrame(rows), counts=counts)


def _half(times: int) -> str | None:
    return TAUGHT if times >= OFTEN else None if times else HELD_OUT


def _asked(fact: Fact, relatives: Sequence[Fact], drawn: Sequence[Fact], seed: int) -> Iterator[dict[str, Any]]:
    def in_order(rows: Iterable[Fact]) -> list[Fact]:
        return sorted(rows, key=lambda row: digest(str(seed), fact["fact_id"], row["fact_id"]))

    text, golds, near = fact["text"], fact["gold"], in_order(relatives)
    objects = (row["gold"][0] for row in near if _apart(row["gold"][:1], golds) and not shows(row["gold"][0], text))
    other = next(objects, "")
    named = [fact["subject"], *golds, other]
    subjects = (row for row in near if other and _apart([row["subject"], *row["gold"]], [other, fact["subject"]]))
    elsewhere = next((_said(row, other) for row in subjects if _apart([row["text"]], named)), "")
    far = (_said(row) for row in in_order(drawn) if row["relation"] != fact["relation"])
    unrelated = list(islice((line for line in far if _apart([line], named)), 2))
    if elsewhere and len(unrelated) == 2 and _apart([text], golds):
        counter = [_said(fact, other)]
        ways: tuple[list[str], ...]
        ways = ([], [_said(fact)], counter, [elsewhere], unrelated[:1], [*unrelated, *counter], [*counter, *unrelated])
        for context, before in zip(CONTEXTS, ways, strict=True):
            asked = {
                "prompt_id": f"{fact['prompt_id']}/{context.replace(', ', '_').replace(' ', '_')}",
                "text": " ".join([*before, text]),
            }
            yield {**fact, **asked, "context": context, "other": other}


def _said(fact: Fact, obj: str = "") -> str:
    """The sentence that a prompt makes with an object, by default its own."""
    return str(fact["text"]).replace(MASK, obj or fact["gold"][0])


def _apart(some: Iterable[str], others: Collection[str]) -> bool:
    """Whether none of some names or texts names another, or is a part of one."""
    return not any(shows(name, other) or shows(other, name) for name in some for other in others)


def questions(given: Mapping[str, Any]) -> list[Rank]:
    """What page 25 asks by its parameters: of every prompt the rank of the best gold, and that of the other object."""
    probe = contradicted(load_probe(given["probe"]).among(given["candidates"]), given["facts"], given["seed"])
    targets = [[list(golds), other] for golds, other in zip(probe.prompts["gold"], probe.prompts["other"], strict=True)]
    return [Rank(model, probe, targets, TOP, **scoring(given)) for model in given["models"]]


def rows(answer: Answer[Rank]) -> pd.DataFrame:
    """A row a prompt: ``source, probe, model, fact_id, relation, half, context, object`` (its own), ``candidates, pool,
    rank`` (of the best gold), ``own`` and ``other`` (whether a gold, or the other object, stands before all others),
    and ``cut`` (the share of the model's prompts that were longer than it)."""
    probe, ranked = answer.question.probe, answer.result
    gold, other = (ranked.iloc[start::2].reset_index(drop=True) for start in (0, 1))
    return probe.prompts[["prompt_id", "fact_id", "relation", "half", "context"]].assign(
        source=probe.dataset,
        probe=probe.name,
        model=answer.name,
        object=probe.prompts["gold"].str[0],
        candidates=gold["candidates"],
        pool=probe.pool_of,
        rank=gold["rank"],
        own=gold["rank"] == 1,
        other=other["rank"] == 1,
        cut=ranked.attrs["counts"].get(CUT, 0) / len(gold),
    )


def ask_all(page: Page, asked: Sequence[Rank]) -> pd.DataFrame:
    """The ``rows`` of every model, noted on the page."""
    tables = []
    for answer in page.ask(asked):
        probe, gold = answer.question.probe, answer.result.iloc[::2].reset_index(drop=True)
        table = rows(answer)
        page.ran(answer.name, probe, **answer.result.attrs)
        beside = {"asked": probe.prompts["text"], "gold": probe.prompts["gold"], "variant": table["context"]}
        beside |= {"answers": gold["top"], "answer_scores": gold["top_scores"], "score": gold["score"]}
        page.prompts.add("rank", table.assign(style=probe.style, rank_any=table["rank"], **beside))
        tables.append(table)
    page.used(asked[0].probe)
    return pd.concat(tables, ignore_index=True)
