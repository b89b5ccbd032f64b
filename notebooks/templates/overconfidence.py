"""Study 1, overconfident models (paper 001, section 5.4, Figure 1): how often the same answers come back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby

import numpy as np
import pandas as pd
from probekit.report.parts import MEAN

from probekit.metrics import Interval, half_samples, kendall_tau
from probekit.probes.probe import Probe

from notebooks.templates.answers import GOLD, MEASURES, Answers, collect, measure

ENTITIES = 15  # as in Figure 1
Row = dict[str, object]
PERCENT = ("distinct_1", "distinct_5", "distinct_10")


def tables(ranks: pd.DataFrame, probes: Sequence[Probe], seed: int = 0) -> dict[str, pd.DataFrame]:
    """All tables of the section: ``distinct, variety, confidence, gaps, performance, entities``.

    One prompt per fact is counted, the same facts in both styles (``answers.equal_prompts``). What depends on the
    number of prompts is given for a random half of them, as the mean and the middle 95% of many halves.

    Args:
        ranks: the rows of ``ask.ask_all`` for all of ``probes``.
        probes: as asked.
        seed: of the draw of one sentence per fact.
    """
    found = collect(ranks, probes, seed)
    levels, gaps, performance = [], [], []
    for _, group in groupby(found, key=lambda one: one.dataset):
        answers = list(group)
        if len(answers[0].gold) > 1:
            some, differences, paying = _measured(answers)
            levels += some
            gaps += differences
            performance += paying
    table = pd.DataFrame(levels)
    return {
        "distinct": _pick(table, "prompts", "candidates", *PERCENT, *(f"half_{name}" for name in PERCENT)),
        "variety": _pick(table, "prompts", "repetition", "commonest", "effective", "gini", "distance"),
        "confidence": _pick(table, "prompts", "margin_wrong", "margin_right", "lead"),
        "gaps": pd.DataFrame(gaps),
        "performance": pd.DataFrame(performance),
        "entities": pd.DataFrame(list(_entities(found))),
    }


def _pick(table: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Columns by name with their intervals, and of the rows those that have any of them."""
    if table.empty:
        return table
    wanted = [c for name in names for c in (name, f"{name}_low", f"{name}_high") if c in table]
    estimates = [name for name in names if f"{name}_low" in table]
    return table.dropna(subset=estimates, how="all")[["model", "probe", *wanted]].reset_index(drop=True)


def _measured(
    answers: list[Answers],
) -> tuple[list[Row], list[Row], list[Row]]:
    """Rows of levels, of template less natural, and of rank correlations of repetition with Acc@1, for one data set.

    All come from the same random halves of the facts, so that styles and models are compared on the same facts.
    """
    golds = {one.probe: one.of_golds() for one in answers}
    rows = [*answers, *golds.values()]
    place = {(one.model, one.probe): number for number, one in enumerate(rows)}
    styles = {one.style: one.probe for one in answers}
    models = list(dict.fromkeys(one.model for one in answers))
    pair = (styles["template"], styles["natural"]) if {"template", "natural"} <= set(styles) else None
    sides = [[place[model, probe] for model in models] for probe in pair or ()]
    ranked = {probe: [place[model, probe] for model in models] for probe in golds} if len(models) > 2 else {}
    repeated, right = MEASURES.index("repetition"), MEASURES.index("accuracy")

    def statistic(chosen: np.ndarray) -> np.ndarray:
        table = np.array([measure(one, chosen) for one in rows])
        parts = [table.ravel()]
        if sides:
            gaps = table[sides[0]] - table[sides[1]]
            parts += [gaps.ravel(), gaps.mean(0)]
        parts.append(np.array([kendall_tau(table[at, repeated], table[at, right]).statistic for at in ranked.values()]))
        return np.concatenate(parts)

    found = iter(half_samples(len(answers[0].gold), statistic))
    levels = [_level(one, _next(found)) for one in rows]
    wide = [MEAN] * (len(models) > 1)
    gaps: list[Row] = []
    if sides:
        measured = {model: _next(found) for model in [*models, MEAN]}
        for model in [*models, *wide]:
            gaps += [
                {
                    "dataset": answers[0].dataset,
                    "model": model,
                    "measure": name,
                    "difference": one.estimate,
                    "low": one.low,
                    "high": one.high,
                }
                for name, one in measured[model].items()
            ]
    paying: list[Row] = [{"probe": probe, "models": len(models), **_named("tau", next(found))} for probe in ranked]
    return levels, gaps, paying


def _next(found: Iterator[Interval]) -> dict[str, Interval]:
    return {name: next(found) for name in MEASURES}


def _named(name: str, one: Interval) -> Row:
    return {name: one.estimate, f"{name}_low": one.low, f"{name}_high": one.high}


def _level(one: Answers, found: dict[str, Interval]) -> Row:
    whole = dict(zip(MEASURES, measure(one, np.arange(len(one.gold))), strict=True))
    row: Row = {"model": one.model, "probe": one.probe, "prompts": len(one.gold)}
    row |= {"candidates": one.candidates} | {name: whole[name] for name in PERCENT[: 1 if one.model == GOLD else None]}
    for name, interval in found.items():
        if one.model != GOLD or name in ("distinct_1", "repetition", "commonest", "effective", "gini"):
            row |= _named(f"half_{name}" if name in PERCENT else name, interval)
    return row


def _entities(found: Sequence[Answers]) -> Iterator[Row]:
    """Share of prompts whose ten best hold an entity, for the most frequent entities, as in Figure 1.

    Names are given for the first model alone.
    """
    for one in found:
        held = np.bincount(one.top.ravel(), minlength=len(one.names))
        most = np.argsort(-held, kind="stable")[:ENTITIES]
        member = (one.top[:, :, None] == most).any(1)
        spans = half_samples(len(member), partial(_shares, member)) if len(member) > 1 else []
        for place, span in enumerate(spans, start=1):
            code = most[place - 1]
            if held[code]:
                yield {
                    "model": one.model,
                    "probe": one.probe,
                    "place": place,
                    "entity": one.names[code] if one.model == found[0].model else "",
                    "share": held[code] / len(member),
                    "share_low": span.low,
                    "share_high": span.high,
                }


def _shares(member: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    return np.asarray(member[chosen].mean(0))
