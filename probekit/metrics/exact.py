"""Exact tests over few units, such as the models of a printed table, and the least p that so few units can give.

What is drawn is the unit: intervals are bootstrap intervals over units, as wide as so few of them ask for, and where no
outcome of the test could reach ``LEVEL`` there is none, since so few units tell nothing either way.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import combinations, permutations, product
from math import comb, factorial
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from probekit.metrics.bootstrap import SLACK, interval
from probekit.metrics.decisions import LEVEL

Array = npt.NDArray[np.float64]
MOST = 1 << 17  # rearrangements that are all tried
DRAWN = 9999  # where there are more


class Tested(NamedTuple):
    """An estimate over ``n`` units with its 95% interval (nan where they are too few), its two-sided p-value, and
    ``least``, the smallest p-value that any outcome over so many units could have."""

    estimate: float
    low: float
    high: float
    p: float
    least: float
    n: int


def paired(differences: npt.ArrayLike) -> Tested:
    """The mean of a difference per unit, shape (n,); p by flipping the sign of every unit's difference."""
    values = _list(differences)
    count = len(values)
    if 1 << count > MOST:
        found = stats.permutation_test((values,), np.mean, permutation_type="samples", vectorized=True, **_all(values))
        p = float(found.pvalue)
    else:
        signs = 1.0 - 2 * ((np.arange(1 << count)[:, None] >> np.arange(count)) & 1)
        drawn = signs @ values / count
        sides = (drawn >= values.mean() - SLACK).mean(), (drawn <= values.mean() + SLACK).mean()
        p = min(1.0, 2 * min(sides))
    return _tested(values.mean(), p, 2 / 2**count, lambda rows: values[rows].mean(), count)


def apart(first: npt.ArrayLike, second: npt.ArrayLike) -> Tested:
    """The mean of one group of units less that of another; p by all ways to form groups of these sizes."""
    one, two = _list(first), _list(second)
    both = np.concatenate([one, two])
    found = stats.permutation_test((one, two), _gap, vectorized=True, **_all(both))
    generator = np.random.default_rng(0)
    draws = [generator.choice(group, (2000, len(group))).mean(1) for group in (one, two)]
    least = 2 / comb(len(both), len(one))
    few = min(len(one), len(two))
    low, high = interval(draws[0] - draws[1], few)[:2] if least <= LEVEL else (np.nan, np.nan)
    return Tested(float(one.mean() - two.mean()), low, high, float(found.pvalue), least, len(both))


def associated(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    measure: Literal["kendall", "pearson"] = "kendall",
    clusters: Sequence[Hashable] | None = None,
) -> Tested:
    """A correlation over units of two lists, each of shape (n,): Kendall's tau-b or Pearson's r.

    p by all orders of one list, or by ``DRAWN`` random ones where there are more; units of one cluster are drawn
    together for the interval.
    """
    one, two, of = _list(x), _list(y), tau_b if measure == "kendall" else _pearson
    orders = factorial(len(one))
    found = stats.permutation_test(
        (one,),
        lambda values, axis=-1: of(values, two),
        permutation_type="pairings",
        vectorized=True,
        n_resamples=orders if orders <= DRAWN else DRAWN,
        rng=np.random.default_rng(0),
    )
    least = 2 / min(orders, 1 + DRAWN)
    return _tested(
        float(of(one, two)),
        found.pvalue,
        least,
        lambda rows: float(of(one[rows], two[rows])),
        len(one) if clusters is None else clusters,
    )


def with_cases(profiles: Sequence[npt.ArrayLike], lists: Sequence[npt.ArrayLike]) -> Tested:
    """The mean of Pearson's r of many profiles over the same few cases with a list over these; the cases are the units.

    Profiles over the same cases share what is special about these, so that more of them make nothing surer. There is
    no interval.

    Args:
        profiles: for each group of profiles an array (profiles, cases), such as models by dimensions.
        lists: for each group, shape (cases,); p is by all orders of these, each group's by itself.
    """
    sums, count = np.zeros(1), 0
    for rows, values in zip(profiles, lists, strict=True):
        table, orders = np.asarray(rows, dtype=float), np.array(list(permutations(_list(values))))
        found = _pearson(orders[:, None], table[None]).sum(-1)  # (orders,)
        sums, count = (sums[:, None] + found[None]).ravel(), count + len(table)
    drawn = sums / count  # the first order of all groups is that observed
    side = min((drawn >= drawn[0] - SLACK).mean(), (drawn <= drawn[0] + SLACK).mean())
    cases = sum(len(_list(values)) for values in lists)
    return Tested(float(drawn[0]), np.nan, np.nan, min(1.0, 2 * float(side)), min(1.0, 2 / len(drawn)), cases)


def relabelled(
    statistic: Callable[[npt.NDArray[np.bool_]], float], labels: Sequence[bool], strata: Sequence[Hashable]
) -> tuple[float, float]:
    """Two-sided p of a statistic of labelled units, by all ways to give out the labels anew within strata, and the
    least p that there could be."""
    given, groups = np.asarray(labels, dtype=bool), pd.factorize(pd.Series(list(strata)))[0]
    places = [np.flatnonzero(groups == group) for group in range(groups.max() + 1)]
    values = []
    for chosen in product(*(combinations(place, int(given[place].sum())) for place in places)):
        fresh = np.zeros(len(given), dtype=bool)
        fresh[[unit for units in chosen for unit in units]] = True
        values.append(statistic(fresh))
    drawn, observed = np.array(values), statistic(given)
    side = min((drawn >= observed - SLACK).mean(), (drawn <= observed + SLACK).mean())
    return min(1.0, 2 * float(side)), min(1.0, 2 / len(values))


def redrawn(
    statistic: Callable[[npt.NDArray[np.int_]], float], units: int | Sequence[Hashable], samples: int = 2000
) -> Array:
    """Bootstrap draws of a statistic of rows, shape (samples,).

    Args:
        statistic: maps the numbers of the drawn rows to a number, nan where it is undefined.
        units: how many rows there are, or their labels, of which equal ones are drawn together.
        samples: bootstrap samples.
    """
    codes = np.arange(units) if isinstance(units, int) else pd.factorize(pd.Series(list(units)))[0]
    members = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
    drawn = np.random.default_rng(0).integers(len(members), size=(samples, len(members)))
    if len(members) == len(codes):
        return np.array([statistic(draw) for draw in drawn])
    return np.array([statistic(np.concatenate([members[unit] for unit in draw])) for draw in drawn])


def tau_b(x: npt.ArrayLike, y: npt.ArrayLike) -> Array:
    """Kendall's tau-b over the last axis, nan where one list is all ties."""
    one, two = _signs(x), _signs(y)
    with np.errstate(invalid="ignore"):
        return np.asarray((one * two).sum(-1) / np.sqrt((one != 0).sum(-1) * (two != 0).sum(-1)))


def _tested(
    estimate: float, p: float, least: float, statistic: Callable[[Any], float], units: int | Sequence[Hashable]
) -> Tested:
    count = units if isinstance(units, int) else len(units)
    low, high = interval(redrawn(statistic, units), units)[:2] if least <= LEVEL else (np.nan, np.nan)
    return Tested(float(estimate), low, high, float(p), least, count)


def _list(values: npt.ArrayLike) -> Array:
    found = np.asarray(values, dtype=float)
    if found.ndim != 1 or not len(found) or not np.isfinite(found).all():
        raise ValueError("a test needs a list of finite numbers, one per unit")
    return found


def _all(values: Array) -> dict[str, Any]:
    return {"n_resamples": MOST, "rng": np.random.default_rng(len(values))}


def _gap(first: Array, second: Array, axis: int = -1) -> Array:
    return np.asarray(first.mean(axis) - second.mean(axis))


def _signs(values: npt.ArrayLike) -> Array:
    found = np.asarray(values, dtype=float)
    i, j = np.triu_indices(found.shape[-1], 1)
    return np.sign(found[..., i] - found[..., j])


def _pearson(x: npt.ArrayLike, y: npt.ArrayLike) -> Array:
    one, two = (np.asarray(v, dtype=float) - np.asarray(v, dtype=float).mean(-1, keepdims=True) for v in (x, y))
    with np.errstate(invalid="ignore"):
        return np.asarray((one * two).sum(-1) / np.sqrt((one**2).sum(-1) * (two**2).sum(-1)))
