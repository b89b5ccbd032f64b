"""How varied a list of answers is, and how far its distribution is from another (paper 001, section 5.4)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def _counts(counts: npt.ArrayLike) -> np.ndarray:
    values = np.asarray(counts, dtype=float)
    if values.ndim != 1 or not (values >= 0).all() or not np.isfinite(values).all() or not values.sum() > 0:
        raise ValueError("counts must be a list of finite numbers, none negative and at least one above 0")
    return values


def effective_number(counts: npt.ArrayLike) -> float:
    """Exponential of the entropy of a distribution: how many equally frequent answers would be as varied.

    Args:
        counts: how often each answer was given, shape (n,); zeros do not matter.

    Returns:
        From 1 (one answer only) to n (all equally often). It grows with the answers drawn; compare equal numbers.

    Raises:
        ValueError: no counts, negative ones or ones not finite, or none above 0.
    """
    values = _counts(counts)
    shares = values[values > 0] / values.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))


def gini(counts: npt.ArrayLike) -> float:
    """Gini coefficient of the counts, shape (n,): 0 where all answers are equally frequent, 1 - 1/n where one has all.

    Answers never given count as zeros, so give one number per candidate.
    """
    values = np.sort(_counts(counts))
    n = len(values)
    return float(((2 * np.arange(1, n + 1) - n - 1) * values).sum() / (n * values.sum()))


def total_variation(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Total-variation distance of two distributions given as counts of the same n answers, in [0, 1].

    It is the share of the first distribution's mass that would have to move to make it the second.

    Raises:
        ValueError: lists of unlike length, or as in ``effective_number``.
    """
    a, b = _counts(first), _counts(second)
    if len(a) != len(b):
        raise ValueError(f"two distributions over the same answers are needed, not over {len(a)} and {len(b)}")
    return float(np.abs(a / a.sum() - b / b.sum()).sum() / 2)


def repetition(answers: npt.ArrayLike, groups: npt.ArrayLike | None = None) -> float:
    """Share of pairs of prompts that got the same answer, of all pairs of one group (Simpson's index without bias).

    Args:
        answers: codes of the answers, whole numbers from 0 on, shape (n,).
        groups: codes of the prompts' groups (relations), likewise; None takes all prompts as one group.

    Returns:
        In [0, 1], and unlike the number of distinct answers free of the number of prompts in expectation; nan where no
        group holds two prompts.
    """
    of = np.asarray(answers, dtype=np.int64)
    within = np.zeros_like(of) if groups is None else np.asarray(groups, dtype=np.int64)
    if of.ndim != 1 or of.shape != within.shape:
        raise ValueError(f"answers and groups must be equally long lists, not of shapes {of.shape} and {within.shape}")
    pairs = _pairs(np.bincount(within))
    if not pairs:
        return float("nan")
    return float(_pairs(np.bincount(within * (of.max() + 1) + of)) / pairs)


def _pairs(counts: np.ndarray) -> int:
    return int((counts * (counts - 1) // 2).sum())
