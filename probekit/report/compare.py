"""Two or more models on the same prompts: paired tests, relation by relation, and the prompts that set them apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from probekit.errors import ProbeError, ProbekitError, heard
from probekit.files.naming import shown_name, tell_apart
from probekit.metrics import MEASURES, accuracy_table, floors, holm, rank_differences
from probekit.models import Model, load_model
from probekit.probes import Probe, load_probe
from probekit.report.page import of_demo
from probekit.report.tables import by
from probekit.run import Rank, answer
from probekit.scoring.plan import MANY_LOST, MOST_LOST
from probekit.scoring.scores import Score, score_of, unlike
from probekit.scoring.slots import encode_candidates, follows_space
from probekit.store import Store

DEMO = ("demo/template", "demo/natural")  # asked where nothing else is said
CUT = "prompts cut to the model's length"
ACC1 = {"Acc@1": MEASURES["Acc@1"]}  # the measure by which relations are compared
Pair = tuple[pd.DataFrame, pd.DataFrame]  # ranks of two models on the same prompts, in the same order


@dataclass(frozen=True)
class Comparison:
    """The first of several models beside each other one; see ``compare``.

    Args:
        models: a row per model: ``model, kind, score``.
        probes: a row per probe: ``probe, competing`` (``all`` candidates at each prompt, or those of its ``relation``),
            ``candidates, candidates left out, prompts, prompts left out``.
        accuracy: Acc@1 of each model on each probe, and whether it is at the floor (``metrics.floors``).
        differences: a row per probe, pair and measure that ``metrics.rank_differences`` does not leave out.
        relations: the same by relation, Acc@1 alone, with ``p_holm`` over all its rows, the smallest first, of equal p
            the largest difference first; without relations empty.
        prompts: a row per prompt and pair: ``probe, prompt_id, text, gold, first, second, rank_first, rank_second,
            answer_first, answer_second, factor``, by how much the ranks differ, below 1 where the first is better.
        notes: what to mind when it is read, in sentences.
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
        """Of every pair and probe, the prompts on which either side is better by the greatest factor, at most ``count``
        each; of factors alike those with the better rank first."""
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
    candidates: str = "auto",
    batch_tokens: int = 0,
    **loading: Any,
) -> Comparison:
    """Ask several models the same prompts, among the same candidates, and compare the first with each other one.

    Args:
        models: at least two, as ``load_model`` names them, or loaded; of any kind with a head.
        probes: names of ``probekit list probes``, files, or loaded ones.
        score: of all models; None takes each kind's own (see ``rank_entities``).
        limit: facts per probe drawn with ``seed``, of loaded ones all; None for all.
        store: where finished ranks are kept and found; None keeps nothing.
        candidates: who competes at a prompt (see ``Probe.among``).
        batch_tokens: padded tokens per batch, 0 for the default.
        **loading: of ``load_model``, such as ``device`` and ``dtype``.

    Raises:
        ProbekitError: fewer than two models, two of one fingerprint (as servers without a revision), or no probe.
        ProbeError: too few candidates that all models can be asked; or see ``load_probe`` and ``Probe.among``.
        ModelError, StoreError: see ``load_model`` and ``rank_entities``.
    """
    with heard() as messages:
        model_rows, counts, tasks = questions(models, probes, score, limit, seed, candidates, batch_tokens, **loading)
        cut, ranks = list[str](), []
        for question, each in zip(tasks, answer(tasks, loading, store), strict=True):
            ranks.append(_ranked(each.name, question.probe, each.result))
            if count := each.result.attrs["counts"].get(CUT):
                probe = question.probe.name
                cut.append(f"{each.name} sees {count:,} prompts of {probe} without their ends: they are too long.")
        names: dict[str, str] = {}
        for model, name in zip(models, model_rows["model"], strict=True):
            if other := names.get(fingerprint := _open(model, loading).fingerprint):
                raise ProbekitError(f"{name} has the weights and the tokenizer of {other}: there is nothing to compare")
            names[fingerprint] = name
    return comparison_of(pd.concat(ranks, ignore_index=True), model_rows, counts, cut, messages.cautions)


def questions(
    models: Sequence[str | Model],
    probes: Sequence[str | Probe],
    score: Score | None = None,
    limit: int | None = None,
    seed: int = 0,
    candidates: str = "auto",
    batch_tokens: int = 0,
    **loading: Any,
) -> tuple[pd.DataFrame, pd.DataFrame, list[Rank]]:
    """What ``compare`` asks, model by model: ``Comparison.models``, ``Comparison.probes``, and the questions."""
    names = [model if isinstance(model, str) else model.name for model in models]
    if len(names) < 2 or not probes:
        raise ProbekitError("a comparison needs at least two models and one probe")
    tell_apart([*names, *(probe for probe in probes if isinstance(probe, str))])
    given = {} if limit is None else {"limit": limit, "seed": seed}
    opened = [_open(model, loading) for model in models]
    model_rows = [{"model": shown_name(m.name), "kind": m.kind, "score": score_of(m, score)} for m in opened]
    shared, counts = [], []
    for name in probes:
        probe = load_probe(name, **given) if isinstance(name, str) else name
        same, sizes = shared_candidates(opened, probe.among(candidates))
        shared.append(same)
        counts.append({"probe": probe.name, "competing": same.candidates, **sizes})
    tasks = [
        Rank(model, probe, [[gold[0]] for gold in probe.prompts["gold"]], 1, score, batch_tokens=batch_tokens)
        for model in models
        for probe in shared
    ]
    return pd.DataFrame(model_rows), pd.DataFrame(counts), tasks


def _open(model: str | Model, loading: Mapping[str, Any]) -> Model:
    return load_model(model, **loading, read=False) if isinstance(model, str) else model


def shared_candidates(models: Sequence[Model], probe: Probe) -> tuple[Probe, dict[str, int]]:
    """The probe with the candidates that all models can be asked, and the prompts whose own object is one of them.

    A candidate stays if each tokenizer has tokens for it, none unknown or special, and other tokens than for those that
    stayed before; own objects come first, so that an alias goes rather than they. Then no model has fewer rivals than
    another. The order of the models does not matter.

    Returns:
        The same probe where all stay; and ``candidates, candidates left out, prompts, prompts left out``.

    Raises:
        ProbeError: nearly no candidate stays, or no prompt.
    """
    spaced = {follows_space(text) for text in probe.prompts["text"]}
    written = [
        encode_candidates(model, probe.entities, form)
        for model in models
        for form in {space and model.minds_spaces for space in spaced}
    ]
    golds = probe.prompts["gold"]
    staying, taken = set[str](), [set[int]() for _ in written]
    for entity in dict.fromkeys([*(gold[0] for gold in golds), *probe.entities]):
        numbers = [table.number[entity] for table in written]
        forms = list(zip(written, numbers, taken, strict=True))
        if all(table.sequences[number] and number not in others for table, number, others in forms):
            staying.add(entity)
            for _, number, others in forms:
                others.add(number)
    stays = [gold[0] in staying for gold in golds]
    every = len(probe.entities)
    counts = {"candidates": len(staying), "candidates left out": every - len(staying)}
    counts |= {"prompts": sum(stays), "prompts left out": len(stays) - sum(stays)}
    if every - len(staying) > MOST_LOST * every or not any(stays):
        names = " and ".join(model.name for model in models)
        raise ProbeError(
            f"{probe.name}: {names} can all be asked {len(staying):,} of the {every:,} candidates, and {sum(stays):,} "
            f"of the {len(stays):,} prompts: too few for a comparison; take models of the language of these entities"
        )
    if len(staying) == every:
        return probe, counts
    prompts = probe.prompts[stays]
    prompts = prompts.assign(gold=[[name for name in gold if name in staying] for gold in prompts["gold"]])
    return probe.restricted(staying, prompts), counts


def _ranked(model: str, probe: Probe, result: pd.DataFrame) -> pd.DataFrame:
    """What ``rank_entities`` gave, a row per prompt, with all that the tables need."""
    prompts = probe.prompts
    relation = prompts.get("relation_label", prompts.get("relation", pd.Series("", prompts.index)))
    return pd.DataFrame(
        {
            "model": model,
            "probe": probe.name,
            "prompt_id": prompts["prompt_id"],
            "text": prompts["text"],
            "object": prompts["gold"].str[0],
            "fact_id": probe.facts,
            "relation": relation.fillna("").astype(str),
            "candidates": probe.competing,
            "pool": probe.pool_of,
            "rank": result["rank"],
            "answer": result["top"].str[0],
        }
    )


def comparison_of(
    ranks: pd.DataFrame, models: pd.DataFrame, probes: pd.DataFrame, cut: Sequence[str], cautions: Sequence[str]
) -> Comparison:
    """The comparison that ranks give, a row per model and prompt, with what is to be said of it."""
    measured = floors(ranks).drop(columns=["k", "accuracy"])
    accuracy = accuracy_table(ranks, ["model", "probe"], ks=[1]).merge(measured)
    low = accuracy.set_index(["model", "probe"])["floor"]
    by_model = {row["model"]: row for row in models.to_dict("records")}
    notes = [*filter(None, [unlike(by_model)]), *_restricted(probes), *cut, *_floored(accuracy), *cautions]
    relations = differences(pairs(ranks[ranks["relation"] != ""]), low, ["relation"], ACC1)
    if len(relations):
        order = np.lexsort((-relations["difference"].abs(), relations["p"]))
        relations = relations.drop(columns="measure").iloc[order].reset_index(drop=True)
    prompts = pd.concat(map(_side_by_side, pairs(ranks)), ignore_index=True)
    return Comparison(models, probes, accuracy, differences(pairs(ranks), low), relations, prompts, notes)


def pairs(ranks: pd.DataFrame, every: bool = False) -> Iterator[Pair]:
    """Of every probe, the rows of two models on the prompts that both were asked.

    Args:
        ranks: with ``model, probe, prompt_id``.
        every: every two models; else the first with each other one.
    """
    for _, group in ranks.groupby("probe", sort=False):
        by_prompt = group.set_index("prompt_id", drop=False).rename_axis(None)
        sides = [rows for _, rows in by_prompt.groupby("model", sort=False)]
        for first, second in combinations(sides, 2):
            if every or first is sides[0]:
                both = first.index[first.index.isin(second.index)]
                yield first.loc[both], second.loc[both]


def differences(
    pairs: Iterable[Pair], low: pd.Series, keys: Sequence[str] = (), measures: Mapping[str, Any] = MEASURES
) -> pd.DataFrame:
    """What the first of each pair has more than the second, measure by measure (``metrics.rank_differences``).

    Args:
        pairs: with ``model, probe, fact_id, candidates, rank``.
        low: (model, probe) -> whether it is at the floor there.
        keys: columns whose values are compared apart, such as ``relation``.
        measures: name -> what one prompt counts.

    Returns:
        ``probe, first, second``, the keys, the columns of ``rank_differences``, ``p_holm`` over all rows, and
        ``floor``: who of the pair is at the floor of the probe (``at_floor``). Empty without pairs.
    """
    tables = []
    for first, second in pairs:
        names = {"first": first["model"].iloc[0], "second": second["model"].iloc[0]}
        for labels, rows in by(first, ["probe", *keys]):
            tested = rank_differences(
                rows["rank"], second.loc[rows.index, "rank"], rows["fact_id"].tolist(), measures,
                candidates=int(rows["candidates"].max()),
            )  # fmt: skip
            identity = {"probe": labels["probe"], **names, **labels}
            side = at_floor(*(low[name, labels["probe"]] for name in names.values()))
            tables.append(pd.DataFrame([identity]).merge(tested, how="cross").assign(floor=side))
    if not tables:
        return pd.DataFrame()
    table = pd.concat(tables, ignore_index=True)
    sides = table.pop("floor")
    return table.assign(p_holm=holm(table["p"]), floor=sides)


def at_floor(first: bool, second: bool) -> str:
    """Who of a pair is at the floor, in a word."""
    return ("", "first", "second", "both")[bool(first) + 2 * bool(second)]


def _side_by_side(pair: Pair) -> pd.DataFrame:
    """A pair prompt by prompt, as ``Comparison.prompts``."""
    first, second = pair
    table = first[["prompt_id", "text", "object"]].rename(columns={"object": "gold"})
    table = table.assign(probe=first["probe"], first=first["model"], second=second["model"])
    for side, rows in (("first", first), ("second", second)):
        table = table.assign(**{f"rank_{side}": rows["rank"], f"answer_{side}": rows["answer"]})
    return table.assign(factor=table["rank_first"] / table["rank_second"])


def _restricted(probes: pd.DataFrame) -> Iterator[str]:
    """What was left out so that all models are asked the same, and where it is much of the probe."""
    for row in probes[probes["candidates left out"] > 0].to_dict("records"):
        out, every = row["candidates left out"], row["candidates left out"] + row["candidates"]
        much = " That is most of them, so the ranks say little of the whole probe." * (out > MANY_LOST * every)
        yield (
            f"{row['probe']}: {out:,} of {every:,} candidates are left out, which not every tokenizer writes and "
            f"tells apart, and {row['prompts left out']:,} prompts with them as the right answer.{much}"
        )


def _floored(accuracy: pd.DataFrame) -> Iterator[str]:
    """Which models are at the floor of which probes."""
    for model, rows in accuracy.query("floor").groupby("model", sort=False):
        yield (
            f"{model} is at the floor of {', '.join(rows['probe'])}: it does no better than each relation's "
            "commonest answer, so its numbers there say nothing of what it knows."
        )
