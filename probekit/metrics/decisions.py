"""When estimates decide: by their intervals, several together, or by exact tests; page 92 says how often each errs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from probekit.metrics.multiple import holm

Side = Literal["above", "below"]
Sign = Literal["agrees", "contradicts", "undecided", "at the floor"]
Rule = Literal["direction", "all", "most", "some"]
Flags = npt.NDArray[np.bool_]
FLOOR: Sign = "at the floor"  # of a row whose model does no better than the commonest answers: shown, never judged
TOO_FEW = "too few"
FEWEST = 5  # facts, prompts or records: of fewer no sentence is made
LEVEL = 0.05
UNITS, MANY = 10, 100  # effective independent units that a side needs, and those that need no caution (``sides``)


def direction(low: float, high: float, expected: Side = "above") -> Sign:
    """Whether an interval of a difference or correlation agrees with a claim that it lies above (below) zero."""
    if low > 0 or high < 0:
        return "agrees" if (low > 0) == (expected == "above") else "contradicts"
    return "undecided"


def widened(estimate: float, low: float, high: float, tests: int) -> tuple[float, float]:
    """A 95% interval stretched about its estimate to the level that ``tests`` of them need together (Bonferroni)."""
    factor = float(stats.norm.isf(0.025 / tests) / stats.norm.isf(0.025))
    return estimate - (estimate - low) * factor, estimate + (high - estimate) * factor


def sides(units: pd.Series) -> pd.Series:
    """For how many tests an interval is widened that rests on so many units: two of fewer than ``MANY``, else one.

    Skewed units put the errors of an interval on one side, which of few of them is missed about twice as often as it
    should be: so either side is then asked at half the level (page 92). Units that are not known (nan) count as many.
    Many bounded ones keep to the level: the 52 rows of pages 21 to 23, their documents centred and drawn anew 400
    times, are decided in 0.3 to 7.5% of draws, 4.6% on average. Unbounded ones need not, as changes of rank do not.
    """
    return (units < MANY) + 1


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


def tallied(rows: pd.DataFrame, rule: Rule) -> tuple[Sign, int, str]:
    """What several conclusions say together, of which none speaks for the others.

    ``all``: agrees if every row does so by its own interval and they are of two models or more (two lineages, where
    rows name theirs), contradicts if any does so by an interval that is widened for their number (twice that,
    where its ``units`` are below 100). ``some``: agrees if any does so by its widened interval, contradicts if
    all do by their own.
    ``most``: agrees (contradicts) if the rows that do so by their own intervals are more than half of them by a
    two-sided sign test at 5%, which fewer than six rows never pass. Rows of one ``lineage`` (models tuned from one
    another or of one family and size) are one voice, on the side of more than half of them.

    Args:
        rows: conclusions, one a model (or dimension), with their side as a ``verdict`` (agrees, ...).
            Rows of one ``model`` alone, as of several data sets, never bear ``all`` out. A row without an interval that
            has a side compares numbers on the same data and models, where nothing is drawn: it is sure. One without a
            side rests on too few independent units, and is undecided.

    Returns:
        The sign, how many rows (or lineages) agree, and the count in words. Rows at the floor are left out.
    """
    judged = rows[rows["verdict"] != FLOOR]
    voiced = members(judged, rule)
    count, by_lineage = voiced.shape[1], voiced.shape[1] < len(judged)
    sides = [_mostly(judged["verdict"].eq(sign).to_numpy(), voiced) for sign in ("agrees", "contradicts", "")]
    agree, against, few = (int(side.sum()) for side in sides)
    down = len(rows) - len(judged)
    floor = f"; {down} {f'of {len(rows)} rows ' * by_lineage}at the floor" * bool(down)
    unsaid = f", {'' if few == count else f'{few} '}of too few independent units" * bool(few)
    words = f"{agree} of {count} {'lineages ' * by_lineage}agree, {against} contradict, "
    words += f"{count - agree - against} undecided{unsaid}{floor}"
    words = words if count else f"no row is judged{floor}"
    alone = rule == "all" and voices(judged) == 1
    words += f"; fewer than {MOST} cannot show what most do" * (rule == "most" and count < MOST)
    of = {0: "", 1: "model "}.get(len(models_of(judged)), "lineage ")
    words += f"; one {of}alone does not speak for all" * alone
    if not count:
        return "undecided", 0, words
    sure = _mostly(_surely(judged, count), voiced)
    together = combined(rule, *(side[None] for side in sides[:2]), *((side & sure)[None] for side in sides[:2]))[0]
    holds, fails = together > 0 and not alone, together < 0
    return "agrees" if holds else "contradicts" if fails else "undecided", agree, words


def models_of(rows: pd.DataFrame) -> set[str]:
    """The models that rows of conclusions name."""
    return {name for name in rows.get("model", ()) if name and name == name}


def voices(rows: pd.DataFrame) -> int:
    """How many lineages of models speak in rows of conclusions, a model without one for itself, or how many rows."""
    nameless = pd.Series("", rows.index)
    kin, models = (rows.get(column, nameless).astype(object).fillna("") for column in ("lineage", "model"))
    return len(models_of(pd.DataFrame({"model": kin.where(kin != "", models)}))) or len(rows)


def members(rows: pd.DataFrame, rule: Rule) -> Flags:
    """Which rows (first axis) speak with which voice (second) by a rule: those of one ``lineage``, where it is named,
    with one by ``most``, and else each row with its own."""
    names = rows.get("lineage", pd.Series("", rows.index)) if rule == "most" else pd.Series("", rows.index)
    codes, found = pd.factorize(names.where(names.fillna("") != "", pd.Series(range(len(rows)), rows.index)))
    return np.eye(len(found), dtype=bool)[codes]


def _mostly(rows: Flags, voiced: Flags) -> Flags:
    """Of which voices (of ``members``) more than half of the rows are marked; rows are the last axis.

    So a coin puts a voice on a side in half of studies at the most, thrown for each row or for all rows of the voice.
    """
    return np.asarray(rows @ voiced.astype(int) > voiced.sum(0) / 2)


def combined(rule: Rule, agree: Flags, against: Flags, surely: Flags, surely_against: Flags) -> npt.NDArray[np.int_]:
    """What rows say together, in many studies at once, by the rules of ``tallied``.

    Args:
        agree, against: of each study (first axis) and voice (second) whether it does so by its own interval.
        surely, surely_against: whether by an interval for as many tests as there are voices.

    Returns:
        1 where a study agrees, -1 where it contradicts, else 0, shape (studies,).
    """
    if rule == "most":
        least = most_of(agree.shape[1])
        return (agree.sum(1) >= least).astype(int) - (against.sum(1) >= least)
    holds = surely.any(1) if rule == "some" else agree.all(1)
    fails = against.all(1) if rule == "some" else surely_against.any(1)
    return np.where(holds, 1, np.where(fails, -1, 0))


def most_of(count: int) -> float:
    """How many voices of so many must lie on one side to be most of them: by a sign test that a coin passes, on either
    side, in 5% of studies at the most. Infinity where no number of them would do."""
    enough = (k for k in range(count // 2 + 1, count + 1) if stats.binomtest(k, count).pvalue <= LEVEL)
    return next(enough, math.inf)


MOST = next(count for count in range(1, 100) if most_of(count) <= count)  # voices that ``most`` needs


def _surely(rows: pd.DataFrame, tests: int) -> Flags:
    """Whether each row still decides by an interval for so many tests, or has none to decide by."""
    of_each = zip(rows.to_dict("records"), tests * sides(_units(rows)), strict=True)
    ends = [(row["low"], *widened(row["estimate"], row["low"], row["high"], many)) for row, many in of_each]
    return np.array([low > 0 or high < 0 or given != given for given, low, high in ends], dtype=bool)


def _units(rows: pd.DataFrame) -> pd.Series:
    return rows.get("units", pd.Series(float("nan"), rows.index)).astype(float)


def detectable(rows: pd.DataFrame, rule: Rule, draws: int = 400, share: float = 0.8, seed: int = 0) -> float:
    """The smallest effect that a rule would have found: it decides in ``share`` of so many studies like this one.

    Each study has the errors of the recorded one, as its intervals show them, about the same effect in every row. How
    the errors of rows go together is not recorded: they are drawn apart and alike, and the larger effect counts.

    It stands for a redraw of units: recorded differences, centred, shifted by it to either side and drawn anew, were
    mostly decided in 70 to 90% of draws; where fewer than ten units differ it means little.

    Args:
        rows: conclusions with ``estimate, low, high, verdict``, in one unit. Rows at the floor are left out.

    Returns:
        The effect in the unit of ``estimate``, NaN where none could be found, as by ``most`` of fewer than six
        voices, by ``all`` of one model, or where a row has no interval of any width or too few units for a verdict.
    """
    judged = rows[rows["verdict"] != FLOOR]
    half = ((judged["high"] - judged["low"]) / 2).to_numpy(dtype=float)
    silent = not (half > 0).all() or (judged["verdict"] == "").any()
    if not len(half) or silent or (rule == "all" and voices(judged) == 1):
        return float("nan")
    errors, tests = half / stats.norm.isf(0.025), sides(_units(judged)).to_numpy()
    half, wide = (errors * stats.norm.isf(0.025 / (many * tests)) for many in (1, len(half)))
    generator, voiced = np.random.default_rng(seed), members(judged, rule)

    def found(effect: float, noise: npt.NDArray[np.float64]) -> bool:
        at = effect + noise * errors
        signs = combined(rule, *(_mostly(side, voiced) for side in (at > half, at < -half, at > wide, at < -wide)))
        return bool((signs != 0).mean() >= share)

    sizes = []
    for shape in ((draws, len(half)), (draws, 1)):
        noise, low, high = generator.standard_normal(shape), 0.0, 8 * float(wide.max())
        if not found(high, noise):
            return float("nan")
        while high - low > 0.001 * high:
            low, high = (low, (low + high) / 2) if found((low + high) / 2, noise) else ((low + high) / 2, high)
        sizes.append(high)
    return max(sizes)


def decided(rows: pd.DataFrame) -> pd.DataFrame:
    """What tests say, those of one statement being one family.

    Args:
        rows: with ``statement, estimate, p, least`` and ``expected``, the side of zero (``above`` or ``below``) that
            the statement names for the estimate.

    Returns:
        The same rows without ``expected``, with ``p_holm``, over those tests of the statement that can decide at all
        (Tarone 1990) and 1 for others, and ``verdict``: ``agrees`` or ``contradicts`` where it is no more than
        0.05, ``too few`` where no outcome could be, else ``undecided``.
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
