"""An estimate with its draws, as every page keeps them, and the columns that both make in a table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from probekit.metrics.bootstrap import Interval, Units, interval

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
        """The difference of numbers that were drawn together; its units are the fewer of both."""
        return Drawn(self.estimate - other.estimate, self.draws - other.draws, min(self.units, other.units))

    def mean(self) -> Drawn:
        """The mean over all numbers."""
        return Drawn(np.asarray(self.estimate.mean()), self.draws.reshape(len(self.draws), -1).mean(1), self.units)

    def interval(self) -> tuple[float, float]:
        """Both ends of the ``interval`` of a single number."""
        return interval(self.draws, self.units)[:2]

    def row(self, name: str = "estimate") -> dict[str, float]:
        """Columns of a table for a single number: ``name, low, high``."""
        return estimate_row(float(self.estimate), self.draws, self.units, name)


def spread(name: str, value: Interval | Drawn) -> dict[str, float]:
    """Columns of a table for an estimate with its interval: ``name, name_low, name_high``."""
    low, high = value.interval() if isinstance(value, Drawn) else value[1:3]
    return {name: float(value.estimate), f"{name}_low": low, f"{name}_high": high}


def estimate_row(estimate: float, draws: npt.ArrayLike, units: Units, name: str = "estimate") -> dict[str, float]:
    """Columns of a table for an estimate with the ``interval`` of its draws: ``name, low, high``.

    Args:
        draws: shape (samples,).
        units: that were drawn, see ``effective_units``.
    """
    low, high, _ = interval(draws, units)
    return {name: float(estimate), "low": low, "high": high}
