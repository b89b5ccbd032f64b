"""Two groups of templates beside each other, with what drawing templates or identities anew changes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics import Drawn, middle, resampled_means, two_sided

from notebooks.fairness.ranks import mean_of
from notebooks.fairness.table1 import SAMPLES

SEED = 0
Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Part:
    """Templates that count for one mean: ``values`` (templates, d) and which of them are ``counted`` (templates,)."""

    values: Array
    counted: Mask


Groups = Mapping[str, Sequence[Part]]  # a group is the unweighted mean of the means of its parts


@dataclass(frozen=True)
class Comparison:
    """Two groups of one model: over draws of templates, and ``wide`` over draws of identities, where there are such."""

    first: Drawn
    second: Drawn
    wide: tuple[Drawn, Drawn] | None = None

    @staticmethod
    def mean(parts: Sequence[Comparison]) -> Comparison:
        """The unweighted mean over models."""
        wide = [part.wide for part in parts if part.wide]
        pair = (mean_of([w[0] for w in wide]), mean_of([w[1] for w in wide])) if wide else None
        return Comparison(mean_of([part.first for part in parts]), mean_of([part.second for part in parts]), pair)

    def row(self, column: int) -> dict[str, float]:
        """``one, other, difference, low, high, p``; over identities ``wide_low, wide_high, wide_p``, nan without."""
        a, b = self.first, self.second
        draws = a.draws[:, column] - b.draws[:, column]
        low, high = middle(draws)
        row = {"one": a.estimate[column], "other": b.estimate[column]}
        row |= {"difference": row["one"] - row["other"], "low": low, "high": high, "p": two_sided(draws)}
        wide = self.wide[0].draws[:, column] - self.wide[1].draws[:, column] if self.wide else np.array([])
        low, high = middle(wide)
        return row | {"wide_low": low, "wide_high": high, "wide_p": two_sided(wide)}

    def ratio(self, column: int) -> dict[str, float]:
        """The first group's share over the second's: ``ratio, ratio_low, ratio_high``."""
        a, b = self.first, self.second
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = middle(a.draws[:, column] / b.draws[:, column])
            ratio = float(np.divide(a.estimate[column], b.estimate[column]))
        return {"ratio": ratio, "ratio_low": low, "ratio_high": high}


def draw_groups(groups: Groups, clusters: Sequence[Hashable], samples: int = SAMPLES) -> dict[str, Drawn]:
    """Means of every group, all on the same draws of clusters.

    Args:
        groups: none without a part, no part without a template.
        clusters: of the templates; equal ones are drawn together.
    """
    parts = [part for group in groups.values() for part in group]
    values = np.column_stack([part.values for part in parts])
    d = parts[0].values.shape[1]
    included = np.repeat(np.column_stack([part.counted for part in parts]), d, axis=1)
    draws = resampled_means(values, clusters, included, samples, SEED).reshape(samples, len(parts), d)
    found, start = {}, 0
    for name, group in groups.items():
        estimate = np.mean([part.values[part.counted].mean(0) for part in group], axis=0)
        found[name] = Drawn(estimate, draws[:, start : start + len(group)].mean(1))
        start += len(group)
    return found


def compare_groups(
    ways: Mapping[str, tuple[Groups, tuple[str, str]]], prompts: Sequence[str], identities: Mapping[str, Sequence[str]]
) -> dict[str, Comparison]:
    """Two groups each, in several ways of grouping, all on one draw of templates, those of one prompt drawn together.

    Args:
        ways: way -> its groups and which two of them to compare.
        prompts: of the templates.
        identities: way -> identity of each template, where all templates of one are to be drawn together as well.
    """
    chosen = {f"{way}/{side}": groups[side] for way, (groups, sides) in ways.items() for side in sides}
    drawn, wide = draw_groups(chosen, prompts), dict[str, Drawn]()
    for way, people in identities.items():
        wide |= draw_groups({name: group for name, group in chosen.items() if name.startswith(f"{way}/")}, people)
    found = {}
    for way, (_, sides) in ways.items():
        first, second = (f"{way}/{side}" for side in sides)
        found[way] = Comparison(drawn[first], drawn[second], (wide[first], wide[second]) if way in identities else None)
    return found


def compare_pairs(values: Array, pairs: pd.DataFrame) -> Comparison:
    """The templates of each pair against each other, pairs drawn whole; and all of one pair of identities together.

    Args:
        values: (templates, d).
        pairs: of ``parallel``.
    """
    everything = np.ones(len(pairs), dtype=bool)
    groups = {side: [Part(values[pairs[side].to_numpy()], everything)] for side in ("first", "second")}
    rows, people = [str(n) for n in range(len(pairs))], pairs["pair"].tolist()
    return compare_groups({"pairs": (groups, ("first", "second"))}, rows, {"pairs": people})["pairs"]
