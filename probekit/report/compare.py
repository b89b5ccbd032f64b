"""Two or more models on the same prompts: paired tests, relation by relation, and the prompts that set them apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from probekit.errors import ProbekitError, heard
from probekit.files.naming import shown_name, tell_apart
from probekit.metrics import MEASURES, floors, holm, rank_differences
from probekit.models import Model, load_model
from probekit.probes import Probe, load_probe
from probekit.report.fair import shared
from probekit.report.page import of_demo
from probekit.run import Rank, answer
from probekit.scoring.plan import MANY_LOST
from probekit.scoring.scores import Score, score_of, unlike
from probekit.store import Store

DEMO = ("demo/template", "demo/natural")  # asked where nothing else is said
SIDES = ("", "first", "second", "both")  # of a pair, who is at the floor
CUT = "prompts cut to the model's length"
ONE = {"Acc@1": MEASURES["Acc@1"]}  # the measure by which relations are compared


@dataclass(frozen=True)
class Comparison:
    """The first of several models beside each other one; see ``compare``.

    Args:
        models: a row per model: ``model, kind, score``.
        probes: a row per probe: ``probe, candidates, candidates left out, prompts, prompts left out``.
        accuracy: Acc@1 of each model on each probe, and whether it is at the floor (``metrics.floors``).
        differences: a row per probe, pair and measure that can fail there (``rank_differences``), with ``first,
            second``, ``p_holm`` over all rows, and ``floor``: who of the pair is at the floor of the probe, ``first``,
            ``second``, ``both`` or nobody.
        relations: the same by relation, Acc@1 alone, with ``p_holm`` over all its rows, the smallest first; without
            relations empty.
        prompts: a row per prompt and pair: ``probe, prompt_id, text, gold, first, second, rank_first, rank_second,
            answer_first, answer_second, factor``, by how much the ranks differ, below 1 where the first is better.
        notes: what makes the comparison less than fair, in sentences.
    """

    models: pd.DataFrame
    probes: pd.DataFrame
    accuracy: pd.DataFrame
    differences: pd.DataFrame
    relations: pd.DataFrame
    prompts: pd.DataFrame
    notes: Sequence[str]

    @property
    def demo(self) -> bool:
        """Whether the numbers are of the demo world or its models."""
        return of_demo(self.probes["probe"], self.models["model"])

    def farthest(self, count: int = 5) -> pd.DataFrame:
        """Of every pair and probe, the prompts on which either side is better by the greatest factor, ``count`` each;
        of factors alike those with the better rank first."""
        best = self.prompts[["rank_first", "rank_second"]].min(axis=1)
        order = self.prompts.assign(far=np.log2(self.prompts["factor"]), best=best)
        rows = []
        for _, group in order.groupby(["second", "probe"], sort=False):
            for sign in (1, -1):
                side = group.assign(far=sign * group["far"]).query("far < 0")
                rows.append(side.sort_values(["far", "best"], kind="stable").head(count))
        return pd.concat(rows).drop(columns=["far", "best"]).reset_index(drop=True)


def compare(
    models: Sequence[str | Model],
    probes: Sequence[str | Probe] = DEMO,
    score: Score | None = None,
    limit: int | None = None,
    seed: int = 0,
    store: Store | None = None,
    **loading: Any,
) -> Comparison:
    """Ask several models the same prompts, among the same candidates, and compare the first with each other one.

    Args:
        models: at least two, as ``load_model`` names them, or loaded; of any kind.
        probes: names of ``probekit list probes``, files, or loaded ones.
        score: of all models; None takes each kind's own (see ``rank_entities``).
        limit: facts per probe drawn with ``seed``; None for all.
        store: where finished ranks are kept and found; None keeps nothing.
        **loading: of ``load_model``, such as ``device`` and ``dtype``.

    Raises:
        ProbekitError: fewer than two models, two that are one, or no probe.
        ProbeError: too few candidates that all models can be asked; or see ``load_probe``.
        ModelError: see ``load_model`` and ``rank_entities``.
    """
    with heard() as said:
        about, counts, questions = comparing(models, probes, score, limit, seed, **loading)
        notes, ranks = list[str](), []
        for question, each in zip(questions, answer(questions, loading, store), strict=True):
            ranks.append(ranked(each.name, question.probe, each.result))
            if cut := each.result.attrs["counts"].get(CUT):
                probe = question.probe.name
                notes.append(f"{each.name} sees {cut:,} prompts of {probe} without their ends: they are too long.")
        known: dict[str, str] = {}
        for model, name in zip(models, about["model"], strict=True):
            if other := known.get(fingerprint := _open(model, loading).fingerprint):
                raise ProbekitError(f"{name} has the weights and the tokenizer of {other}: there is nothing to compare")
            known[fingerprint] = name
    table = pd.concat(ranks, ignore_index=True)
    return comparison_of(table, about, counts, notes, said.cautions)


def comparing(
    models: Sequence[str | Model],
    probes: Sequence[str | Probe],
    score: Score | None = None,
    limit: int | None = None,
    seed: int = 0,
    **loading: Any,
) -> tuple[pd.DataFrame, pd.DataFrame, list[Rank]]:
    """What ``compare`` asks, model by model: ``Comparison.models``, ``Comparison.probes``, and the questions."""
    names = [model if isinstance(model, str) else model.name for model in models]
    if len(names) < 2 or not probes:
        raise ProbekitError("a comparison needs at least two models and one probe")
    tell_apart([*names, *(probe for probe in probes if isinstance(probe, str))])
    given = {} if limit is None else {"limit": limit, "seed": seed}
    opened = [_open(model, loading) for model in models]
    about = [{"model": shown_name(m.name), "kind": m.kind, "score": score_of(m, score)} for m in opened]
    asked, counts = [], []
    for name in probes:
        probe = load_probe(name, **given) if isinstance(name, str) else name
        kept, left = shared(opened, probe)
        asked.append(kept)
        counts.append({"probe": probe.name, **left})
    questions = [
        Rank(model, probe, [[gold[0]] for gold in probe.prompts["gold"]], top=1, score=score)
        for model in models
        for probe in asked
    ]
    return pd.DataFrame(about), pd.DataFrame(counts), questions


def comparison_of(
    ranks: pd.DataFrame, models: pd.DataFrame, probes: pd.DataFrame, cut: Sequence[str], said: Sequence[str]
) -> Comparison:
    """The comparison that rows of ``ranked`` give, with what is to be said of it."""
    known = floors(ranks).reset_index()
    about = {row["model"]: row for row in models.to_dict("records")}
    notes = [*filter(None, [unlike(about)]), *restricted(probes), *cut, *floored(known), *said]
    return Comparison(models, probes, known, differences(ranks), relations(ranks), prompts(ranks), notes)


def _open(model: str | Model, loading: Mapping[str, Any]) -> Model:
    return load_model(model, **loading, read=False) if isinstance(model, str) else model


def ranked(model: str, probe: Probe, found: pd.DataFrame) -> pd.DataFrame:
    """What ``rank_entities`` found, a row per prompt, with all that the tables need."""
    asked = probe.prompts
    relation = asked.get("relation_label", asked.get("relation", pd.Series("", asked.index)))
    return pd.DataFrame(
        {
            "model": model,
            "probe": probe.name,
            "prompt_id": asked["prompt_id"],
            "text": asked["text"],
            "object": asked["gold"].str[0],
            "fact_id": probe.facts,
            "relation": relation.fillna("").astype(str),
            "candidates": len(probe.entities),
            "rank": found["rank"],
            "answer": found["top"].str[0],
        }
    )


def pairs(ranks: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame, pd.DataFrame]]:
    """Of every probe, the rows of the first model beside those of each other: ``probe, first, second`` and both."""
    for probe, group in ranks.groupby("probe", sort=False):
        sides = {str(name): rows.reset_index(drop=True) for name, rows in group.groupby("model", sort=False)}
        first, *others = sides
        for other in others:
            yield {"probe": str(probe), "first": first, "second": other}, sides[first], sides[other]


def differences(ranks: pd.DataFrame) -> pd.DataFrame:
    """Every measure on every probe of every pair, as ``Comparison.differences``."""
    tables = []
    for about, first, second in pairs(ranks):
        candidates = int(first["candidates"].iloc[0])
        found = rank_differences(first["rank"], second["rank"], first["fact_id"].tolist(), candidates=candidates)
        tables.append(pd.DataFrame([about]).merge(found, how="cross"))
    return judged(pd.concat(tables, ignore_index=True), ranks)


def judged(table: pd.DataFrame, ranks: pd.DataFrame) -> pd.DataFrame:
    """With ``p_holm`` over all rows of the table, and ``floor``."""
    low = floors(ranks)["floor"]
    sides = [[bool(low[row[side], row["probe"]]) for side in ("first", "second")] for row in table.to_dict("records")]
    return table.assign(p_holm=holm(table["p"]), floor=[SIDES[first + 2 * second] for first, second in sides])


def relations(ranks: pd.DataFrame) -> pd.DataFrame:
    """Acc@1 of every pair by relation, as ``Comparison.relations``; of equal p the largest difference first."""
    tables = []
    for about, first, second in pairs(ranks[ranks["relation"] != ""]):
        for relation, one in first.groupby("relation", sort=False):
            other = second.loc[one.index, "rank"]
            found = rank_differences(one["rank"], other, one["fact_id"].tolist(), ONE)
            tables.append(pd.DataFrame([about | {"relation": relation}]).merge(found, how="cross"))
    if not tables:
        return pd.DataFrame()
    whole = judged(pd.concat(tables, ignore_index=True).drop(columns="measure"), ranks)
    return whole.iloc[np.lexsort((-whole["difference"].abs(), whole["p"]))].reset_index(drop=True)


def prompts(ranks: pd.DataFrame) -> pd.DataFrame:
    """Every pair prompt by prompt, as ``Comparison.prompts``."""
    tables = []
    for about, first, second in pairs(ranks):
        table = first[["prompt_id", "text", "object"]].rename(columns={"object": "gold"}).assign(**about)
        for side, rows in (("first", first), ("second", second)):
            table = table.assign(**{f"rank_{side}": rows["rank"], f"answer_{side}": rows["answer"]})
        tables.append(table.assign(factor=table["rank_first"] / table["rank_second"]))
    return pd.concat(tables, ignore_index=True)


def restricted(probes: pd.DataFrame) -> list[str]:
    """What was left out so that all models are asked the same, and where it is much of the probe."""
    notes = []
    for row in probes.to_dict("records"):
        out, every = row["candidates left out"], row["candidates left out"] + row["candidates"]
        if out:
            much = " That is most of them, so the ranks say little of the whole probe." * (out > MANY_LOST * every)
            notes.append(
                f"{row['probe']}: {out:,} of {every:,} candidates are left out, which not every tokenizer writes and "
                f"tells apart, and {row['prompts left out']:,} prompts with them as the right answer.{much}"
            )
    return notes


def floored(accuracy: pd.DataFrame) -> list[str]:
    """Which models are at the floor of which probes."""
    return [
        f"{model} is at the floor of {', '.join(rows['probe'])}: it does no better than one and the same answer, so "
        "its numbers there say nothing of what it knows."
        for model, rows in accuracy.query("floor").groupby("model", sort=False)
    ]
