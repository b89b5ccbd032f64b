"""How well a value tells two groups of cases apart: the area under the ROC curve, and its interval over facts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from probekit.metrics.bootstrap import Interval, bootstrap_ci, label_codes, times_drawn

Array = npt.NDArray[np.float64]


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
    of_weights = _of_weights(values, positive)
    return of_weights(np.ones(np.shape(values)) if weights is None else np.asarray(weights, dtype=float))


def _of_weights(
    values: npt.ArrayLike, positive: npt.ArrayLike, strata: Sequence[Hashable] | None = None
) -> Callable[[Array], float]:
    """The AUC within strata (see ``separation``) as a function of how often each case counts, shape (n,)."""
    value, member = np.asarray(values, dtype=float), np.asarray(positive, dtype=bool)
    if value.ndim != 1 or not len(value) or value.shape != member.shape or np.isnan(value).any():
        raise ValueError("auc needs equally long lists of numbers and groups, none empty")
    stratum = np.zeros(len(value), dtype=int) if strata is None else label_codes(strata)
    level = np.unique(value, return_inverse=True)[1]
    (of_cell, _), cell = np.unique([stratum, level], axis=1, return_inverse=True)
    starts = np.searchsorted(of_cell, np.arange(stratum.max() + 1))

    def of_weights(weights: Array) -> float:
        if weights.shape != value.shape:
            raise ValueError(f"auc needs equally long lists, not {len(value)} cases and weights {weights.shape}")
        above, below = (np.bincount(cell, weights * side, len(of_cell)) for side in (member, ~member))
        before = below.cumsum()
        lower = before - (before[starts] - below[starts])[of_cell] - below / 2
        if strata is None:
            pairs = above.sum() * below.sum()
        else:
            pairs = (np.add.reduceat(above, starts) * np.add.reduceat(below, starts)).sum()
        return float(above @ lower / pairs) if pairs else float("nan")

    return of_weights


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
    if less is not None and np.shape(values) != np.shape(less):
        raise ValueError(f"columns of values of shape {np.shape(values)} cannot be compared with {np.shape(less)}")
    first, second = ([] if table is None else _columns(table, member) for table in (values, less))
    if member.all() or not member.any():
        raise ValueError("an AUC needs cases of both groups")

    def statistic(weights: Array) -> float:
        ours = np.mean([column(weights) for column in first])
        return float(ours - (np.mean([column(weights) for column in second]) if second else 0.0))

    return bootstrap_ci(np.eye(len(member)), clusters, statistic, samples=samples, seed=seed)


def _columns(values: npt.ArrayLike, member: npt.NDArray[np.bool_]) -> list[Callable[[Array], float]]:
    return [_of_weights(column, member) for column in np.atleast_2d(np.asarray(values, dtype=float).T)]


def separation(
    scores: npt.ArrayLike,
    members: npt.ArrayLike,
    samples: int = 2000,
    seed: int = 0,
    clusters: Sequence[Hashable] | None = None,
    strata: Sequence[Hashable] | None = None,
) -> Separation:
    """AUC of "a low score means a member", with bootstrap draws of the cases.

    Calls with the same cases, clusters and seed draw the same cases, so that numbers of several models over the same
    cases can be averaged draw by draw.

    Args:
        scores: shape (n,); infinite ones come last or first.
        members: shape (n,), true for members.
        samples: bootstrap samples.
        seed: of the generator.
        clusters: n labels that are drawn whole; None draws single cases.
        strata: n labels; a member is then compared with the non-members of its stratum alone, so that an
            unlike mix of strata (relations) makes no difference.

    Returns:
        nan where there are no members, or none but members; of ``strata``, where none has both.

    Raises:
        ValueError: as in ``auc``.
    """
    of_weights = _of_weights(-np.asarray(scores, dtype=float), members, strata)
    codes = label_codes(range(np.size(scores)) if clusters is None else clusters)
    drawn = times_drawn(codes.max() + 1, samples, np.random.default_rng(seed))
    return Separation(of_weights(np.ones(len(codes))), np.array([of_weights(times[codes]) for times in drawn]))
