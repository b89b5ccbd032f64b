"""Exact tests over few units, such as the models of a printed table, and the least p that so few units can give.

What is drawn is the unit: intervals are bootstrap intervals over units, as wide as so few of them ask for, and where no
outcome of the test could reach p = 0.05 there is none, since so few units tell nothing either way. Models that go on
from one model's weights are one lineage, which counts once, by the mean over its models, or is drawn whole.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import combinations, permutations, product
from math import comb, factorial
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from probekit.metrics.bootstrap import SLACK, drawn_units, interval, label_codes, two_sided
from probekit.metrics.decisions import LEVEL

Array = npt.NDArray[np.float64]
LINEAGES = 8  # that a correlation over models needs
MOST = 1 << 17  # rearrangements that are all tried
DRAWN = 9999  # where there are more


class Tested(NamedTuple):
    """An estimate over ``n`` units with its 95% interval (nan where they are too few), its two-sided p-value, and
    a ``least``, which no p-value of any outcome over so many units is below."""

    estimate: float
    low: float
    high: float
    p: float
    least: float
    n: int


def paired(differences: npt.ArrayLike, lineages: Sequence[Hashable] | None = None) -> Tested:
    """Mean of differences, shape (n,), a lineage counting by its mean; p by flips of signs, all or 131,072 drawn."""
    values = _of_lineages(differences, lineages)
    count = len(values)
    if 1 << count > MOST:
        test = stats.permutation_test((values,), np.mean, permutation_type="samples", **_all(values))
        p = float(test.pvalue)
    else:
        signs = 1.0 - 2 * ((np.arange(1 << count)[:, None] >> np.arange(count)) & 1)
        p = _both_sides(signs @ values / count, values.mean())
    return _tested(values.mean(), p, 2 / 2**count, _drawn_means(values, np.random.default_rng(0)), count, count)


def apart(first: npt.ArrayLike, second: npt.ArrayLike) -> Tested:
    """The mean of one group of units less that of another; p by all ways to form such groups, or 131,072 drawn."""
    groups = _list(first), _list(second)
    both, generator = np.concatenate(groups), np.random.default_rng(0)
    test = stats.permutation_test(groups, lambda a, b, axis=-1: a.mean(axis) - b.mean(axis), **_all(both))
    draws = [_drawn_means(group, generator) for group in groups]
    sizes = [len(group) for group in groups]
    estimate, least = groups[0].mean() - groups[1].mean(), 2 / comb(len(both), sizes[0])
    return _tested(estimate, test.pvalue, least, draws[0] - draws[1], min(sizes), len(both))


def associated(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    measure: Literal["kendall", "pearson"] = "kendall",
    lineages: Sequence[Hashable] | None = None,
) -> Tested:
    """A correlation over units of two lists, each of shape (n,): Kendall's tau-b or Pearson's r.

    p by all orders of one list, or by 9,999 random ones where there are more. Over models, whose ``lineages`` are
    given, there is none of fewer than eight lineages.
    """
    first, second = (_of_lineages(values, lineages) for values in (x, y))
    correlation, count = tau_b if measure == "kendall" else _pearson, len(first)
    if lineages is not None and count < LINEAGES:
        return Tested(float(correlation(first, second)), np.nan, np.nan, np.nan, 1.0, count)
    orders = factorial(count)
    test = stats.permutation_test(
        (first,),
        lambda values, axis=-1: correlation(values, second),
        permutation_type="pairings",
        vectorized=True,
        n_resamples=min(orders, DRAWN),
        rng=np.random.default_rng(0),
    )
    draws = redrawn(lambda rows: float(correlation(first[rows], second[rows])), count)
    return _tested(correlation(first, second), test.pvalue, 2 / min(orders, 1 + DRAWN), draws, count, count)


def with_cases(profiles: Sequence[npt.ArrayLike], lists: Sequence[npt.ArrayLike]) -> Tested:
    """The mean of Pearson's r of many profiles over the same few cases with a list over these; the cases are the units.

    Profiles over the same cases share what is special about these, so more make nothing surer. There is no interval.

    Args:
        profiles: for each group of profiles an array (profiles, cases), such as models by dimensions.
        lists: for each group, shape (cases,); p is by all orders of these, each group's by itself.
    """
    sums, count = np.zeros(1), 0
    for rows, values in zip(profiles, lists, strict=True):
        table, orders = np.asarray(rows, dtype=float), np.array(list(permutations(_list(values))))
        of_orders = _pearson(orders[:, None], table[None]).sum(-1)
        sums, count = (sums[:, None] + of_orders[None]).ravel(), count + len(table)
    drawn = sums / count  # the first order of all groups is that observed
    cases = sum(map(np.size, lists))
    return Tested(float(drawn[0]), np.nan, np.nan, _both_sides(drawn, drawn[0]), min(1.0, 2 / len(drawn)), cases)


def relabelled(
    statistic: Callable[[npt.NDArray[np.bool_]], float], labels: Sequence[bool], strata: Sequence[Hashable]
) -> tuple[float, float]:
    """Two-sided p of a statistic of labelled units, by all ways to give out the labels anew within strata, and the
    least p that there could be."""
    given, groups = np.asarray(labels, dtype=bool), label_codes(strata)
    places = [np.flatnonzero(groups == group) for group in range(groups.max() + 1)]
    values = []
    for chosen in product(*(combinations(place, int(given[place].sum())) for place in places)):
        fresh = np.zeros(len(given), dtype=bool)
        fresh[[unit for units in chosen for unit in units]] = True
        values.append(statistic(fresh))
    return _both_sides(np.array(values), statistic(given)), min(1.0, 2 / len(values))


def redrawn(
    statistic: Callable[[npt.NDArray[np.int_]], float], units: int | Sequence[Hashable], samples: int = 2000
) -> Array:
    """Bootstrap draws of a statistic of rows, shape (samples,).

    Args:
        statistic: maps the numbers of the drawn rows to a number, nan where it is undefined.
        units: how many rows there are, or their labels, of which equal ones are drawn together.
        samples: bootstrap samples.
    """
    codes = label_codes(range(units) if isinstance(units, int) else units)
    members = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
    draws = (draw for block in drawn_units(len(members), samples, np.random.default_rng(0)) for draw in block)
    return np.array([statistic(np.concatenate([members[unit] for unit in draw])) for draw in draws])


def drawn_together(statistic: Callable[[npt.NDArray[np.int_]], float], lineages: Sequence[Hashable]) -> Tested:
    """A statistic of rows (see ``redrawn``) that are models of ``lineages``, which are drawn: p by the draws.

    ``least`` is by the number of draws: over few lineages p cannot come so low.
    """
    draws, count = redrawn(statistic, lineages), len(lineages)
    p, least = two_sided(draws, lineages), 2 / (1 + len(draws))
    low, high, _ = interval(draws, lineages)
    return Tested(statistic(np.arange(count)), low, high, p, 1.0 if np.isnan(p) else least, len(set(lineages)))


def tau_b(x: npt.ArrayLike, y: npt.ArrayLike) -> Array:
    """Kendall's tau-b over the last axis, nan where one list is all ties."""
    x_signs, y_signs = _signs(x), _signs(y)
    with np.errstate(invalid="ignore"):
        return np.asarray((x_signs * y_signs).sum(-1) / np.sqrt((x_signs != 0).sum(-1) * (y_signs != 0).sum(-1)))


def _both_sides(values: Array, observed: float) -> float:
    """Two-sided p of ``observed`` among the values of all rearrangements."""
    sides = (values >= observed - SLACK).mean(), (values <= observed + SLACK).mean()
    return min(1.0, 2 * float(min(sides)))


def _drawn_means(values: Array, generator: np.random.Generator) -> Array:
    return np.concatenate([values[rows].mean(1) for rows in drawn_units(len(values), 2000, generator)])


def _tested(estimate: npt.ArrayLike, p: float, least: float, draws: Array, units: float, count: int) -> Tested:
    low, high = interval(draws, units)[:2] if least <= LEVEL else (np.nan, np.nan)
    return Tested(float(np.asarray(estimate)), low, high, float(p), least, count)


def _list(values: npt.ArrayLike) -> Array:
    numbers = np.asarray(values, dtype=float)
    if numbers.ndim != 1 or not len(numbers) or not np.isfinite(numbers).all():
        raise ValueError("a test needs a list of finite numbers, one per unit")
    return numbers


def _of_lineages(values: npt.ArrayLike, lineages: Sequence[Hashable] | None) -> Array:
    """A number per unit; of models whose lineages are given the mean of each lineage."""
    numbers = _list(values)
    if lineages is None:
        return numbers
    codes = label_codes(lineages)
    return np.asarray(np.bincount(codes, numbers) / np.bincount(codes))


def _all(values: Array) -> dict[str, Any]:
    return {"n_resamples": MOST, "rng": np.random.default_rng(len(values)), "vectorized": True}


def _signs(values: npt.ArrayLike) -> Array:
    numbers = np.asarray(values, dtype=float)
    i, j = np.triu_indices(numbers.shape[-1], 1)
    return np.sign(numbers[..., i] - numbers[..., j])


def _pearson(x: npt.ArrayLike, y: npt.ArrayLike) -> Array:
    dx, dy = (np.asarray(v, dtype=float) - np.asarray(v, dtype=float).mean(-1, keepdims=True) for v in (x, y))
    with np.errstate(invalid="ignore"):
        return np.asarray((dx * dy).sum(-1) / np.sqrt((dx**2).sum(-1) * (dy**2).sum(-1)))
