"""Two groups of templates beside each other, with what drawing identities and predicates anew changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics import Drawn, crossed_means, effective_units, estimate_row, interval

from notebooks.fairness.ranks import mean_of
from notebooks.fairness.table1 import SAMPLES

SEED = 0
Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Units = Sequence[tuple[str, str]]  # of every template its identity and its predicate


@dataclass(frozen=True)
class Part:
    """Templates that count for one mean: ``values`` (templates, d) and which of them are ``counted`` (templates,)."""

    values: Array
    counted: Mask


Groups = Mapping[str, Sequence[Part]]  # a group is the unweighted mean of the means of its parts


@dataclass(frozen=True)
class Comparison:
    """Two groups of one model, drawn together."""

    first: Drawn
    second: Drawn

    @staticmethod
    def mean(parts: Sequence[Comparison]) -> Comparison:
        """The unweighted mean over models."""
        return Comparison(mean_of([part.first for part in parts]), mean_of([part.second for part in parts]))

    def row(self, column: int) -> dict[str, float]:
        """``one, other, difference, low, high``."""
        a, b = self.first, self.second
        draws, clusters = a.draws[:, column] - b.draws[:, column], min(a.units, b.units)
        row = {"one": a.estimate[column], "other": b.estimate[column]}
        return row | estimate_row(row["one"] - row["other"], draws, clusters, "difference")

    def ratio(self, column: int) -> dict[str, float]:
        """The first group's share over the second's: ``ratio, ratio_low, ratio_high``."""
        a, b = self.first, self.second
        with np.errstate(divide="ignore", invalid="ignore"):
            draws = a.draws[:, column] / b.draws[:, column]
            low, high, _ = interval(draws, min(a.units, b.units))
            ratio = float(np.divide(a.estimate[column], b.estimate[column]))
        return {"ratio": ratio, "ratio_low": low, "ratio_high": high}


def draw_groups(groups: Groups, units: Units, samples: int = SAMPLES) -> dict[str, Drawn]:
    """Means of every group, all on the same draws of identities crossed with predicates.

    Args:
        groups: none without a part, no part without a template.
        units: of the templates (``matching.crossed``).
    """
    parts = [part for group in groups.values() for part in group]
    values = np.column_stack([part.values for part in parts])
    d = parts[0].values.shape[1]
    included = np.repeat(np.column_stack([part.counted for part in parts]), d, axis=1)
    draws = crossed_means(values, units, included, samples, SEED).reshape(samples, len(parts), d)
    found, start = {}, 0
    for name, group in groups.items():
        estimate = np.mean([part.values[part.counted].mean(0) for part in group], axis=0)
        here = np.any([part.counted for part in group], axis=0)
        clusters = effective_units([unit for unit, counted in zip(units, here, strict=True) if counted])
        drawn = draws[:, start : start + len(group)]  # a part that a draw leaves out has no mean there
        there = np.isfinite(drawn)
        with np.errstate(invalid="ignore"):
            mean = np.where(there, drawn, 0).sum(1) / there.sum(1)
        found[name] = Drawn(estimate, mean, clusters)
        start += len(group)
    return found


def compare_groups(ways: Mapping[str, tuple[Groups, tuple[str, str]]], units: Units) -> dict[str, Comparison]:
    """Two groups each, in several ways of grouping, all on one draw.

    Args:
        ways: way -> its groups and which two of them to compare.
        units: of the templates.
    """
    chosen = {f"{way}/{side}": groups[side] for way, (groups, sides) in ways.items() for side in sides}
    drawn = draw_groups(chosen, units)
    return {way: Comparison(*(drawn[f"{way}/{side}"] for side in sides)) for way, (_, sides) in ways.items()}


def compare_pairs(values: Array, pairs: pd.DataFrame) -> Comparison:
    """The templates of each pair against each other: pairs of words, crossed with what is said of both, are drawn.

    Args:
        values: (templates, d).
        pairs: of ``parallel``.
    """
    everything = np.ones(len(pairs), dtype=bool)
    groups = {side: [Part(values[pairs[side].to_numpy()], everything)] for side in ("first", "second")}
    units = list(zip(pairs["pair"], pairs["predicate"], strict=True))
    return compare_groups({"pairs": (groups, ("first", "second"))}, units)["pairs"]
