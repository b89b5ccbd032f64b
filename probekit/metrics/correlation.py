"""Agreement between two rankings (paper 001, RQ1) and linear correlation (section 5.5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats


class Correlation(NamedTuple):
    """``statistic`` in [-1, 1] with its two-sided ``pvalue`` over ``n`` pairs; nan where it is undefined."""

    statistic: float
    pvalue: float
    n: int


def _correlate(test: Callable[[np.ndarray, np.ndarray], Any], x: npt.ArrayLike, y: npt.ArrayLike) -> Correlation:
    """``test`` of scipy on two lists of one length; undefined for fewer than two pairs or a list of equal numbers."""
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"two equally long lists are needed, not shapes {a.shape} and {b.shape}")
    if len(a) < 2 or (a == a[0]).all() or (b == b[0]).all():
        return Correlation(np.nan, np.nan, len(a))
    result = test(a, b)
    return Correlation(float(result.statistic), float(result.pvalue), len(a))


def kendall_tau(x: npt.ArrayLike, y: npt.ArrayLike) -> Correlation:
    """Kendall's tau-b of two lists of scores, shape (n,): 1 where both rank all pairs alike; ties are allowed for."""
    return _correlate(stats.kendalltau, x, y)


def spearman(x: npt.ArrayLike, y: npt.ArrayLike) -> Correlation:
    """Spearman's rank correlation of two lists of scores, shape (n,)."""
    return _correlate(stats.spearmanr, x, y)


def pearson(x: npt.ArrayLike, y: npt.ArrayLike) -> Correlation:
    """Pearson's linear correlation of two lists, shape (n,)."""
    return _correlate(stats.pearsonr, x, y)
