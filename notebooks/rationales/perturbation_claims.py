"""What sections 5.3 and D of paper 003 say of kinds of perturbation, each as one number above zero where it holds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from probekit.report.parts import holds

from probekit.metrics import middle
from probekit.probes.rationales import PERTURBATIONS

from notebooks.rationales.asking import RANDOM
from notebooks.rationales.lengths import ABOVE, AS_IT_STANDS
from notebooks.rationales.perturbations import ABOUT, Array, drawn_means

CONCLUSIONS = {
    "003-13a": "Accuracy falls more under transformations than, on average, under the two other kinds.",
    "003-14a": "MAP is lower under transformations than under each other kind.",
    "003-14b": "In semantics, knowledge and reasoning, MAP is lower under transformations than under the others.",
    "003-15a": "In semantics, reasoning and computation, dispensable changes move F1 less than each other kind.",
    "003-15b": "Dispensable changes move F1 less than each other kind.",
    "003-15c": "Transformations move F1 more than each other kind.",
    "003-18a": "Accuracy falls more under transformations and under important changes than under dispensable ones.",
}
DIMENSIONS_OF = {
    "003-14b": ("semantics", "knowledge", "reasoning"),
    "003-15a": ("semantics", "reasoning", "computation"),
}  # the others are asked of all dimensions


def _transformed_more(falls: Array) -> Array:
    return np.asarray(falls[..., 2] - (falls[..., 0] + falls[..., 1]) / 2)


def _lowest_transformed(means: Array) -> Array:
    return np.asarray(np.minimum(means[..., 0], means[..., 1]) - means[..., 2])


def _least_dispensable(sizes: Array) -> Array:
    return np.asarray(np.minimum(sizes[..., 1], sizes[..., 2]) - sizes[..., 0])


def _most_transformed(sizes: Array) -> Array:
    return np.asarray(sizes[..., 2] - np.maximum(sizes[..., 0], sizes[..., 1]))


# of means by kind in the order of PERTURBATIONS, shape (..., 3)
OF_ANSWERS: dict[str, Callable[[Array], Array]] = {
    "003-13a": lambda change: _transformed_more(-change),
    "003-18a": lambda change: _least_dispensable(-change),
}
OF_ORDER: dict[str, Callable[[Array], Array]] = {"003-14a": _lowest_transformed, "003-14b": _lowest_transformed}
OF_REASONS: dict[str, Callable[[Array], Array]] = {
    "003-15a": lambda change: _least_dispensable(np.abs(change)),
    "003-15b": lambda change: _least_dispensable(np.abs(change)),
    "003-15c": lambda change: _most_transformed(np.abs(change)),
}


def conclusions(answered: pd.DataFrame, reasoned: pd.DataFrame) -> pd.DataFrame:
    """The paper's sentences, of every model (accuracy) and of every model and method (reasons).

    MAP is also asked of what it lies above that of random scores on the same pairs, since a text of other length or
    words lowers that, too. Sets that lack one of the paper's three kinds give none.

    Args:
        answered: of ``perturbations.answered``.
        reasoned: of ``perturbations.reasoned``.

    Returns:
        ``claim, dataset, model, method, measured, estimate, low, high, holds`` (see ``parts.holds``); no ``method`` for
        accuracy.
    """
    rows: list[dict[str, object]] = []
    for (dataset, model), of in answered.groupby(["dataset", "model"], sort=False):
        change = of["perturbed_top1"] - of["original_top1"]
        about = {"dataset": dataset, "model": model, "method": ""}
        rows += [row | about for row in _rows(of.assign(value=change), OF_ANSWERS, AS_IT_STANDS)]
    chance = {name: of["ap"].to_numpy() for name, of in reasoned[reasoned["method"] == RANDOM].groupby("dataset")}
    trained = reasoned[reasoned["model"] != ""]
    for names, of in trained.groupby(ABOUT, sort=False):
        about = dict(zip(ABOUT[:3], names, strict=False))
        change = of["perturbed_f1"] - of["original_f1"]
        found = _rows(of.assign(value=change), OF_REASONS, AS_IT_STANDS)
        found += _rows(of.assign(value=of["ap"]), OF_ORDER, AS_IT_STANDS)
        found += _rows(of.assign(value=of["ap"] - chance[names[0]]), OF_ORDER, ABOVE)
        rows += [row | about for row in found]
    columns = ["claim", "dataset", "model", "method", "measured", "estimate", "low", "high", "holds"]
    return pd.DataFrame(rows, columns=columns).sort_values("claim", kind="stable", ignore_index=True)


def _rows(
    pairs: pd.DataFrame, statistics: dict[str, Callable[[Array], Array]], measured: str
) -> list[dict[str, object]]:
    """Each statistic of the means of ``value`` by kind, with its interval over originals."""
    rows = []
    for claim, statistic in statistics.items():
        of = pairs[pairs["dimension"].isin(DIMENSIONS_OF.get(claim, tuple(pairs["dimension"].unique())))]
        wide = [of["value"].where(of["perturbation"] == kind) for kind in PERTURBATIONS]
        if any(column.notna().sum() == 0 for column in wide):
            continue
        means, drawn = drawn_means(np.column_stack(wide), list(of["original"]))
        low, high = middle(statistic(drawn))
        row = {"claim": claim, "measured": measured, "estimate": float(statistic(means))}
        rows.append(row | {"low": low, "high": high, "holds": holds(low, high)})
    return rows
