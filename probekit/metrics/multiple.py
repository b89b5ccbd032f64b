"""Many tests at once: p-values that stay honest over a family of them (Holm 1979)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def holm(pvalues: npt.ArrayLike) -> np.ndarray:
    """Holm's step-down adjustment: the chance of any false finding in the family is at most the level used.

    Args:
        pvalues: shape (n,), each in [0, 1]; all tests of one family.

    Returns:
        Adjusted p-values in the same order, never below the given ones and never above 1.

    Raises:
        ValueError: not a list of numbers in [0, 1].
    """
    given = np.asarray(pvalues, dtype=float)
    if given.ndim != 1 or not ((given >= 0) & (given <= 1)).all():
        raise ValueError("holm needs a list of p-values, each from 0 to 1")
    order = np.argsort(given, kind="stable")
    steps = given[order] * np.arange(len(given), 0, -1)
    adjusted = np.empty(len(given))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(steps))
    return adjusted
