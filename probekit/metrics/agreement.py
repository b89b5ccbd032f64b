"""How much completions agree: by their sentence vectors (paper 004, Figures 4 and 5), or word for word.

The mean over all pairs of unit vectors is had from the length of their sum, ``|sum|^2 = n + 2 * (sum over pairs)``, so
that n vectors cost n additions and not n^2 products.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def pairwise_agreement(vectors: npt.ArrayLike) -> float:
    """Mean cosine similarity over all pairs of n vectors.

    Args:
        vectors: shape (n, d), n at least 2.

    Returns:
        From -1 / (n - 1) to 1; one less this number is the mean cosine distance.

    Raises:
        ValueError: fewer than two vectors, or one without a direction.
    """
    units = unit_vectors(vectors)
    if units.ndim != 2 or len(units) < 2:
        raise ValueError(f"pairs need at least two vectors, not the shape {units.shape}")
    total = units.sum(0)
    return float((total @ total - len(units)) / (len(units) * (len(units) - 1)))


def agreement_at_rank(vectors: npt.ArrayLike) -> Array:
    """Agreement of what m models put at the same rank: pairs of their k-th vectors, k = 1..K.

    Args:
        vectors: shape (m, K, d).

    Returns:
        Shape (K,); NaN for a single model.
    """
    units = unit_vectors(vectors)
    pairs = len(units) * (len(units) - 1)
    return _mean((units.sum(0) ** 2).sum(1) - len(units), pairs or np.nan)


def agreement_across(first: npt.ArrayLike, second: npt.ArrayLike) -> Array:
    """Agreement of two groups of models at the same rank: pairs of one k-th vector of each, k = 1..K.

    Args:
        first: shape (m, K, d).
        second: shape (n, K, d).

    Returns:
        Shape (K,).
    """
    a, b = (unit_vectors(group).sum(0) for group in (first, second))
    return _mean((a * b).sum(1), len(np.asarray(first)) * len(np.asarray(second)))


def shared_at_k(first: Sequence[str], second: Sequence[str]) -> Array:
    """Jaccard overlap of the first k of two lists, as sets, k = 1..K: shared ones over all different ones.

    Args:
        first, second: K strings each, most likely first.

    Returns:
        Shape (K,).

    Raises:
        ValueError: lists of different length.
    """
    if len(first) != len(second):
        raise ValueError(f"lists of {len(first)} and of {len(second)} strings: give both the same length")
    a: set[str] = set()
    b: set[str] = set()
    shares = []
    for string, other in zip(first, second, strict=True):
        a.add(string)
        b.add(other)
        shares.append(len(a & b) / len(a | b))
    return np.array(shares)


def _mean(total: npt.ArrayLike, count: npt.ArrayLike) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.divide(total, count, dtype=float)


def unit_vectors(vectors: npt.ArrayLike) -> Array:
    """Vectors along the last axis, scaled to length 1.

    Raises:
        ValueError: one of length zero or not finite.
    """
    values = np.asarray(vectors, dtype=float)
    lengths = np.linalg.norm(values, axis=-1, keepdims=True)
    if not np.isfinite(lengths).all() or not (lengths > 0).all():
        raise ValueError("a vector without a direction: its length is zero or not finite")
    return np.asarray(values / lengths)
