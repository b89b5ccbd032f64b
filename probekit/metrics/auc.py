"""How well a value tells two groups of cases apart: the area under the ROC curve, and its interval over facts."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics.bootstrap import Interval, bootstrap_ci


class Separation(NamedTuple):
    """The chance that a member scores below a non-member, ties by half, and the same in ``draws`` (samples,)."""

    estimate: float
    draws: np.ndarray


def auc(values: npt.ArrayLike, positive: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> float:
    """Chance that a positive case has the higher value of it and a negative one, ties counting by half.

    Args:
        values: shape (n,); infinite ones come last or first.
        positive: shape (n,), true for the cases that should have high values.
        weights: shape (n,), how often each case counts; once by default.

    Returns:
        In [0, 1], 0.5 where the value says nothing; nan where all cases are of one group.

    Raises:
        ValueError: lists that are empty or of unequal length, or values that are no numbers.
    """
    value, member = np.asarray(values, dtype=float), np.asarray(positive, dtype=bool)
    weight = np.ones(len(value)) if weights is None else np.asarray(weights, dtype=float)
    if value.ndim != 1 or not len(value) or not value.shape == member.shape == weight.shape or np.isnan(value).any():
        raise ValueError("auc needs equally long lists of numbers, groups and weights, none empty")
    level = np.unique(value, return_inverse=True)[1]
    return _auc(level, member, weight)


def _auc(level: np.ndarray, member: np.ndarray, weight: np.ndarray) -> float:
    above = np.bincount(level, weight * member)
    below = np.bincount(level, weight * ~member)
    pairs = above.sum() * below.sum()
    return float(above @ (below.cumsum() - below / 2) / pairs) if pairs else float("nan")


def auc_interval(
    values: npt.ArrayLike,
    positive: npt.ArrayLike,
    clusters: Sequence[Hashable] | None = None,
    less: npt.ArrayLike | None = None,
    samples: int = 2000,
    seed: int = 0,
) -> Interval:
    """AUC with its 95% bootstrap interval, or a difference of two on the same cases.

    Args:
        values: shape (n,), or (n, m) for the mean of m models' AUC; one draw of facts serves all.
        positive: shape (n,).
        clusters: n labels (facts) that are drawn whole; None draws single cases.
        less: values of the same shape whose AUC is taken off.
        samples: bootstrap samples.
        seed: of the generator.

    Raises:
        ValueError: as in ``auc``, shapes that differ, or all cases of one group.
    """
    member = np.asarray(positive, dtype=bool)
    first, second = _levels(values, member), [] if less is None else _levels(less, member)
    if less is not None and len(first) != len(second):
        raise ValueError(f"{len(first)} columns of values cannot be compared with {len(second)}")
    if member.all() or not member.any():
        raise ValueError("an AUC needs cases of both groups")

    def statistic(weights: np.ndarray) -> float:
        ours = np.mean([_auc(level, member, weights) for level in first])
        return float(ours - (np.mean([_auc(level, member, weights) for level in second]) if second else 0.0))

    return bootstrap_ci(np.eye(len(member)), clusters, statistic, samples=samples, seed=seed)


def _levels(values: npt.ArrayLike, member: np.ndarray) -> list[np.ndarray]:
    """Each column's values as places among its distinct values, which is all an AUC needs of them."""
    table = np.asarray(values, dtype=float)
    if len(table) != len(member) or np.isnan(table).any():
        raise ValueError("auc needs equally long lists of numbers and groups")
    return [np.unique(column, return_inverse=True)[1] for column in table.reshape(len(table), -1).T]


def separation(
    scores: npt.ArrayLike,
    members: npt.ArrayLike,
    samples: int = 2000,
    seed: int = 0,
    clusters: Sequence[Hashable] | None = None,
    strata: Sequence[Hashable] | None = None,
) -> Separation:
    """AUC of "a low score means a member", with bootstrap draws of the cases.

    Calls with as many cases and the same seed draw the same cases, so that numbers of several models over the same
    cases can be averaged draw by draw.

    Args:
        scores: shape (n,); infinite ones come last or first.
        members: shape (n,), true for members.
        samples: bootstrap samples.
        seed: of the generator.
        clusters: n labels that are drawn whole; None draws single cases.
        strata: n labels; a member is then compared with the non-members of its stratum alone, so that groups of
            unlike mix (of relations) differ by nothing else.

    Returns:
        nan where there are no members, or none but members.

    Raises:
        ValueError: as in ``auc``.
    """
    estimate = auc(-np.asarray(scores, dtype=float), members)
    member, n = np.asarray(members, dtype=bool), len(np.asarray(members))
    stratum = np.zeros(n, dtype=int) if strata is None else pd.factorize(pd.Series(list(strata)))[0]
    cluster = np.arange(n) if clusters is None else pd.factorize(pd.Series(list(clusters)))[0]
    (level,), count = _levels(-np.asarray(scores, dtype=float), member), int(cluster.max()) + 1
    cells, cell = np.unique(np.column_stack([stratum, level]), axis=0, return_inverse=True)
    cell = cell.ravel()
    starts = np.searchsorted(cells[:, 0], np.arange(stratum.max() + 1))

    def within(weights: np.ndarray) -> float:
        above, below = (np.bincount(cell, weights * side, len(cells)) for side in (member, ~member))
        sums = below.cumsum()
        lower = sums - (sums[starts] - below[starts])[cells[:, 0]] - below / 2
        pairs = (np.add.reduceat(above, starts) * np.add.reduceat(below, starts)).sum()
        return float(above @ lower / pairs) if pairs else float("nan")

    drawn = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=samples)
    if strata is not None:
        estimate = within(np.ones(n))
    return Separation(estimate, np.array([within(weights[cluster]) for weights in drawn]))
