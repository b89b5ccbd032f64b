"""An estimate and its draws, as every page keeps them; one paired contrast."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics.bootstrap import Interval, difference_ci, interval, paired_permutation_test

Array = npt.NDArray[np.float64]


class Drawn(NamedTuple):
    """Numbers, shape (...), and the same numbers in bootstrap draws, shape (samples, ...), of so many ``units``
    (``effective_units``).

    Sums, differences and means of numbers drawn together have intervals of their own: do the same to the draws.
    """

    estimate: Array
    draws: Array
    units: float

    def minus(self, other: Drawn) -> Drawn:
        """The difference of numbers that were drawn together."""
        return Drawn(self.estimate - other.estimate, self.draws - other.draws, self.units)

    def mean(self) -> Drawn:
        """The mean over all numbers."""
        return Drawn(np.asarray(self.estimate.mean()), self.draws.reshape(len(self.draws), -1).mean(1), self.units)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Both ends of the ``interval`` of a single number."""
        return interval(self.draws, self.units, level)[:2]


def spread(name: str, found: Interval | Drawn) -> dict[str, float]:
    """Columns of a table for an estimate with its interval: ``name``, ``name_low``, ``name_high``."""
    low, high = found.interval() if isinstance(found, Drawn) else (found.low, found.high)
    return {name: float(found.estimate), f"{name}_low": low, f"{name}_high": high}


def contrast(hits: pd.DataFrame, first: str = "first", second: str = "second") -> dict[str, float]:
    """Two settings of the same facts: both means, the first less the second with its 95% interval over facts, and p.

    Args:
        hits: one row per fact, its hits in the columns ``first`` and ``second`` (of ``paired_hits``).
        first, second: names of the means in the result.

    Returns:
        ``facts``, the two means, ``difference, low, high`` (see ``difference_ci``), and ``p`` of the paired permutation
        test.
    """
    one, two = hits.iloc[:, 0], hits.iloc[:, 1]
    low, high = difference_ci(one - two)
    means = {"facts": len(hits), first: one.mean(), second: two.mean()}
    return means | {
        "difference": float((one - two).mean()),
        "low": low,
        "high": high,
        "p": paired_permutation_test(one, two),
    }
