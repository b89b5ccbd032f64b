"""Means over templates and their intervals, of draws of identities and, crossed with them, predicates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics import Drawn, crossed_means, effective_units, interval
from probekit.report.tables import per

from notebooks.fairness.matching import UNTRAINED, Array, Mask, Units

SAMPLES = 20_000  # so many that counts of models do not hang on the seed
Part = tuple[Array, Mask]  # values of all templates, shape (templates, d), and which of these count, (templates,)


def drawn_means(parts: Sequence[Part], units: Units, seed: int = 0) -> list[Drawn]:
    """The mean of every part, shape (d,), all on the same draws; nan in draws that leave all of a part out.

    Args:
        units: of all templates.
        seed: of the draw; the same for all that are to be compared.
    """
    values = np.hstack([values for values, _ in parts])
    included = np.hstack([np.repeat(counted[:, None], table.shape[1], axis=1) for table, counted in parts])
    draws = np.split(crossed_means(values, units, included, SAMPLES, seed), len(parts), axis=1)
    return [
        Drawn(table[counted].mean(0), drawn, effective_units([units[row] for row in np.flatnonzero(counted).tolist()]))
        for (table, counted), drawn in zip(parts, draws, strict=True)
    ]


def drawn_mean(values: Array, units: Units, seed: int = 0) -> Drawn:
    """The mean over all templates of values by template, shape (templates, d)."""
    (drawn,) = drawn_means([(values, np.ones(len(values), dtype=bool))], units, seed)
    return drawn._replace(estimate=values.mean(0))  # to the last digit, in whatever order the values lie


def mean_of(parts: Sequence[Drawn]) -> Drawn:
    """The unweighted mean of several; parts of the same templates must have been drawn with one seed."""
    estimate = np.mean([drawn.estimate for drawn in parts], axis=0)
    draws = np.sum([drawn.draws for drawn in parts], axis=0) / len(parts)
    return Drawn(estimate, draws, min(drawn.units for drawn in parts))


def ends(draws: npt.ArrayLike, units: Any, name: str = "") -> dict[str, float]:
    """The columns of a 95% interval: ``low`` and ``high``, or ``name_low`` and ``name_high``."""
    low, high, _ = interval(draws, units)
    return {f"{name}_low" if name else "low": low, f"{name}_high" if name else "high": high}


def single(drawn: Drawn, column: int) -> Drawn:
    """One of several drawn numbers."""
    return Drawn(drawn.estimate[column], drawn.draws[:, column], drawn.units)


def estimated(drawn: Drawn, column: int) -> dict[str, float]:
    """``estimate, low, high, units`` of one of several drawn numbers."""
    return single(drawn, column).row() | {"units": drawn.units}


def trained_sides(models: pd.DataFrame, keys: Sequence[str], estimate: str = "estimate") -> pd.DataFrame:
    """``sides`` of the models whose weights were trained, group by group: the keys, and the counts.

    Args:
        models: a row a model (``name``) and group.
    """
    return per(*keys)(sides)(models[models["name"] != UNTRAINED] if len(models) else models, estimate)


def sides(rows: pd.DataFrame, estimate: str = "estimate") -> dict[str, int]:
    """How many of these models lie above zero (``positive``), and how many ``above`` and ``below`` by intervals."""
    counts = {"models": len(rows), "positive": int((rows[estimate] > 0).sum())}
    return counts | {"above": int((rows["low"] > 0).sum()), "below": int((rows["high"] < 0).sum())}
