"""When estimates decide: by their intervals, several together, or by exact tests; page 92 says how often each errs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd
from scipy import stats

from probekit.metrics.multiple import holm

Side = Literal["above", "below"]
Sign = Literal["agrees", "contradicts", "undecided", "at the floor"]
FLOOR: Sign = "at the floor"  # of a row whose model does no better than a constant answer: shown, never judged
TOO_FEW = "too few"
FEWEST = 5  # facts, prompts or records: of fewer no sentence is made
LEVEL = 0.05


def direction(low: float, high: float, expected: Side = "above") -> Sign:
    """Whether an interval of a difference or correlation agrees with a claim that it lies above (below) zero."""
    if low > 0 or high < 0:
        return "agrees" if (low > 0) == (expected == "above") else "contradicts"
    return "undecided"


def widened(estimate: float, low: float, high: float, tests: int) -> tuple[float, float]:
    """A 95% interval stretched about its estimate to the level that ``tests`` of them need together (Bonferroni)."""
    factor = float(stats.norm.isf(0.025 / tests) / stats.norm.isf(0.025))
    return estimate - (estimate - low) * factor, estimate + (high - estimate) * factor


Estimated = tuple[float, float, float]  # an estimate and the ends of its interval


def opposed(first: Estimated, second: Estimated) -> Estimated:
    """Whether two differences have opposite signs, as one: above zero where they do, below it where they do not.

    Both intervals must lie off zero for either, so that the less sure one decides, by the nearer end of its interval
    (an intersection-union test).
    """
    turned = [diff if diff[0] >= 0 else (-diff[0], -diff[2], -diff[1]) for diff in (first, second)]
    estimate, low, high = min(turned, key=lambda diff: diff[1])
    return (estimate, low, high) if (first[0] >= 0) != (second[0] >= 0) else (-estimate, -high, -low)


def smallest(differences: Sequence[Estimated]) -> Estimated:
    """The smallest of several differences, as one that may be stretched (``widened``) like each of them.

    It lies above zero if all of them do, however they are all stretched, for which a lower end of a larger one comes
    nearer to zero in proportion; and below it if any does by an interval for so many.
    """
    estimate = min(at for at, _, _ in differences)
    low = min(low * estimate / at if 0 < low < at else low for at, low, _ in differences)
    return estimate, low, min(widened(*difference, len(differences))[1] for difference in differences)


def tallied(rows: pd.DataFrame, rule: str) -> tuple[Sign, int, str]:
    """What several conclusions say together, of which none speaks for the others.

    ``all``: agrees if every row does so by its own interval and they are of two models or more, contradicts if any does
    so by an interval that is widened for their number. ``some``: agrees if any does so by its widened interval,
    contradicts if all do.
    ``most``: agrees (contradicts) if the rows that do so by their own intervals are more than half of them by a
    one-sided sign test at 5%, which fewer than five rows never pass.

    Args:
        rows: conclusions, one a model (or dimension), with their side: ``expected`` is done with in ``verdict``.
            Several rows of one ``model``, as of several data sets, are one voice. A row without an interval that has a
            side compares numbers on the same data and models, where nothing is drawn: it is sure. One without either
            rests on too few independent units, and is undecided.

    Returns:
        The sign, how many rows agree, and the count in words. Rows at the floor are left out.
    """
    judged = rows[rows["verdict"] != FLOOR]
    count, signs = len(judged), judged["verdict"].value_counts()
    agree, against, few = (int(signs.get(sign, 0)) for sign in ("agrees", "contradicts", ""))
    floor = f"; {len(rows) - count} at the floor" * (count < len(rows))
    unsaid = f", {'' if few == count else f'{few} '}of too few independent units for an interval" * bool(few)
    words = f"{agree} of {count} agree, {against} contradict, {count - agree - against} undecided{unsaid}{floor}"
    if rule == "most":
        holds, fails = (
            count and stats.binomtest(k, count, alternative="greater").pvalue <= 0.05 for k in (agree, against)
        )
        words += "; fewer than five cannot show what most do" * (count < 5)
    else:
        models = {name for name in judged.get("model", ()) if name and name == name}
        alone = rule == "all" and (len(models) or count) == 1
        words += f"; one {'model ' * bool(models)}alone does not speak for all" * alone
        every = count and agree == count and not alone, count and against == count
        some = [_surely(judged[judged["verdict"] == sign], count) for sign in ("agrees", "contradicts")]
        holds, fails = (every[0], some[1]) if rule == "all" else (some[0], every[1])
    return "agrees" if holds else "contradicts" if fails else "undecided", agree, words


def _surely(rows: pd.DataFrame, tests: int) -> bool:
    """Whether any of the rows still decides by an interval for so many tests, or has none to decide by."""
    ends = [(row["low"], *widened(row["estimate"], row["low"], row["high"], tests)) for row in rows.to_dict("records")]
    return any(low > 0 or high < 0 or given != given for given, low, high in ends)


def decided(rows: pd.DataFrame) -> pd.DataFrame:
    """What tests say, those of one statement being one family.

    Args:
        rows: with ``statement, estimate, p, least`` and ``expected``, the side of zero (``above`` or ``below``) that
            the statement names for the estimate.

    Returns:
        The same rows without ``expected``, with ``p_holm``, over those tests of the statement that can decide at all
        (Tarone 1990) and 1 for others, and ``verdict``: ``agrees`` or ``contradicts`` where it is no more than
        ``LEVEL``, ``too few`` where no outcome could be, else ``undecided``.
    """
    adjusted = pd.Series(1.0, index=rows.index)
    for _, group in rows[rows["least"] <= LEVEL].groupby("statement"):
        adjusted[group.index] = holm(group["p"])
    right = (rows["estimate"] > 0) == (rows["expected"] == "above")
    sides = np.where(right, "agrees", "contradicts")
    rest = np.where(rows["least"] > LEVEL, TOO_FEW, "undecided")
    return rows.assign(p_holm=adjusted, verdict=np.where(adjusted <= LEVEL, sides, rest)).drop(columns="expected")


def enough(rows: pd.DataFrame, column: str, what: str) -> tuple[pd.DataFrame, str]:
    """The rows that rest on ``FEWEST`` or more, by the counts in ``column``; where none does, what to say instead.

    Args:
        what: is counted, such as facts, prompts or records.
    """
    most = int(rows[column].max()) if len(rows) else 0
    few = f"Nothing can be said from {most or 'no'} {what}: it takes {FEWEST} at least." if most < FEWEST else ""
    return (rows[rows[column] >= FEWEST] if len(rows) else rows), few
