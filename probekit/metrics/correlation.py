"""Agreement between two rankings (paper 001, RQ1) and linear correlation (section 5.5)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats


class Correlation(NamedTuple):
    """``statistic`` in [-1, 1] with its two-sided ``pvalue`` over ``n`` pairs; nan where it is undefined."""

    statistic: float
    pvalue: float
    n: int


def _pairs(x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"two equally long lists are needed, not shapes {a.shape} and {b.shape}")
    return a, b


def _undefined(a: np.ndarray, b: np.ndarray) -> bool:
    return len(a) < 2 or bool((a == a[0]).all()) or bool((b == b[0]).all())


def kendall_tau(x: npt.ArrayLike, y: npt.ArrayLike) -> Correlation:
    """Kendall's tau-b of two lists of scores, shape (n,): 1 where both rank all pairs alike; ties are allowed for."""
    a, b = _pairs(x, y)
    if _undefined(a, b):
        return Correlation(np.nan, np.nan, len(a))
    found = stats.kendalltau(a, b)
    return Correlation(float(found.statistic), float(found.pvalue), len(a))


def spearman(x: npt.ArrayLike, y: npt.ArrayLike) -> Correlation:
    """Spearman's rank correlation of two lists of scores, shape (n,)."""
    a, b = _pairs(x, y)
    if _undefined(a, b):
        return Correlation(np.nan, np.nan, len(a))
    found = stats.spearmanr(a, b)
    return Correlation(float(found.statistic), float(found.pvalue), len(a))


def pearson(x: npt.ArrayLike, y: npt.ArrayLike) -> Correlation:
    """Pearson's linear correlation of two lists, shape (n,)."""
    a, b = _pairs(x, y)
    if _undefined(a, b):
        return Correlation(np.nan, np.nan, len(a))
    found = stats.pearsonr(a, b)
    return Correlation(float(found.statistic), float(found.pvalue), len(a))
