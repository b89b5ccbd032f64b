"""Means over records with intervals over originals: a record and its perturbed versions say the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from probekit.metrics import effective_units, interval, resampled_means
from probekit.metrics.decisions import Estimated

Array = npt.NDArray[np.float64]
Statistic = Callable[[Array], Array]  # of means, shape (..., d), a number each


class Means(NamedTuple):
    """Means of columns, and the same over samples of originals drawn with replacement.

    Args:
        at: shape (d,); nan where nothing counts.
        drawn: shape (samples, d).
        counted: shape (n, d), which records count.
        originals: ids, shape (n,).
    """

    at: Array
    drawn: Array
    counted: npt.NDArray[np.bool_]
    originals: npt.NDArray[np.object_]

    @classmethod
    def of(cls, values: npt.ArrayLike, originals: Sequence[str]) -> Means:
        """Of a table, shape (n, d), in which nan does not count; records of one original are drawn together."""
        table, names = np.asarray(values, dtype=float), np.asarray(originals, dtype=object)
        inside = np.isfinite(table)
        filled = np.where(inside, table, 0.0)
        with np.errstate(invalid="ignore"):
            return cls(filled.sum(0) / inside.sum(0), resampled_means(filled, names.tolist(), inside), inside, names)

    def measure(self, statistic: Statistic, columns: Sequence[int] | None = None) -> Estimated:
        """A number made of the means and both ends of its interval, so sure as the column with the fewest originals, of
        those that it rests on (all by default)."""
        low, high, _ = interval(statistic(self.drawn), self.units(columns))
        return float(statistic(self.at)), low, high

    def units(self, columns: Sequence[int] | None = None) -> float:
        """Effective originals of the column with the fewest, of those named (all by default)."""
        counted = self.counted.T if columns is None else self.counted.T[list(columns)]
        return min(effective_units(self.originals[member].tolist()) for member in counted)
