"""Accuracy among the top k, and mean reciprocal rank (paper 001, section 3)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd


def _ranks(ranks: npt.ArrayLike) -> np.ndarray:
    values = np.asarray(ranks, dtype=float)
    if values.ndim != 1 or not len(values):
        raise ValueError(f"ranks must be a non-empty list of numbers, not of shape {values.shape}")
    if not (values >= 1).all():
        raise ValueError(f"ranks start at 1; found {values[~(values >= 1)][0]}")
    return values


def hits_at_k(ranks: npt.ArrayLike, k: int) -> np.ndarray:
    """1.0 where the rank is at most ``k``, else 0.0; shape (n,).

    Raises:
        ValueError: no ranks or no list, one below 1 or missing, or ``k`` below 1.
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    return (_ranks(ranks) <= k).astype(float)


def accuracy_at_k(ranks: npt.ArrayLike, k: int) -> float:
    """Share of prompts whose gold entity is among the top ``k`` (Acc@k; paper 001, section 3), micro-averaged.

    Args:
        ranks: shape (n,), 1 is best; half ranks (from ``ties="mid"``) count by their value.
        k: at least 1.
    """
    return float(hits_at_k(ranks, k).mean())


def mean_reciprocal_rank(ranks: npt.ArrayLike) -> float:
    """Mean of 1/rank over prompts, in (0, 1]."""
    return float((1 / _ranks(ranks)).mean())


def macro_average(values: npt.ArrayLike, groups: Sequence[Hashable]) -> float:
    """Unweighted mean over groups (relations) of the mean of ``values`` within each group."""
    series = pd.Series(np.asarray(values, dtype=float))
    if len(series) != len(groups):
        raise ValueError(f"{len(series)} values for {len(groups)} group labels")
    if series.empty or series.isna().any():
        raise ValueError("macro_average needs at least one value, none missing")
    return float(series.groupby(pd.Series(list(groups)), dropna=False).mean().mean())
