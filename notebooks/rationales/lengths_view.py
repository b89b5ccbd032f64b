"""The page about rationale length, as its reader sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd
from probekit.report.curves import curves
from probekit.report.parts import agreement

from probekit.probes.rationales import DIMENSIONS
from probekit.report.charts import new_figure
from probekit.report.text import interval, number

from notebooks.rationales.asking import ATTENTION, GRADIENTS, ORACLE, RANDOM, title
from notebooks.rationales.lengths import MEAN, METRICS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINES = (ATTENTION, GRADIENTS, RANDOM, ORACLE)
SHOWN = (0.1, 0.3, 0.5, 0.7, 1.0)
WORDS = {"agrees": "above", "contradicts": "below", "undecided": "not distinguishable"}
ONE_DIMENSION = "not asked: its facts are all of one dimension"


def of_model(table: pd.DataFrame, dataset: str, model: str) -> pd.DataFrame:
    """The curves of one model on one set, and those of the controls."""
    return table[(table["dataset"] == dataset) & table["model"].isin([model, ""])]


def runs(table: pd.DataFrame) -> list[tuple[str, str]]:
    """Every (set, model) that has curves."""
    asked = table[table["model"] != ""]
    return list(asked[["dataset", "model"]].drop_duplicates().itertuples(index=False, name=None))


def dimensions(table: pd.DataFrame) -> list[str]:
    """Those that have curves, in the paper's order, without the mean."""
    return [name for name in DIMENSIONS if name in set(table["dimension"])]


def summary(table: pd.DataFrame) -> str:
    """The dimension to speak of: the mean of them where there are several."""
    known = dimensions(table)
    return MEAN if len(known) > 1 else known[0]


def small_multiples(table: pd.DataFrame) -> Figure:
    """One row of axes a dimension, F1 on the left and MAP on the right; ``table`` as ``of_model`` gives it."""
    known = dimensions(table)
    metrics = [metric for metric in METRICS if metric in set(table["metric"])]
    figure, axes = new_figure(height=1.75 * len(known) + 0.9, columns=len(metrics), rows=len(known))
    spans = {"estimate_low": table["low"], "estimate_high": table["high"], "model": table["method"]}
    drawn = table.assign(**spans)
    lines = [name for name in LINES if name in set(table["method"])]
    for row, name in enumerate(known):
        for column, metric in enumerate(metrics):
            ax = axes[row * len(metrics) + column]
            curves(ax, drawn[(drawn["dimension"] == name) & (drawn["metric"] == metric)], "ratio", "estimate", LINES)
            ax.set_ylim(0, 1.02)
            ax.set_xticks([0.1, 0.5, 1.0])
            ax.set_ylabel(metric)
            if column == 0:
                ax.set_title(name, fontsize=10, loc="left")
            if row == len(known) - 1:
                ax.set_xlabel("share of words")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=min(2, len(lines)), fontsize=9)
    return figure


def spoken(table: pd.DataFrame) -> str:
    """What the figure shows, in words, for those who do not see it."""
    told = []
    for metric in METRICS:
        for method in LINES:
            values = [number(at(table, metric, method, ratio)["estimate"], 2) for ratio in (0.1, 0.5, 1.0)]
            told.append(f"{metric} of {method}: {', '.join(values)}")
    return f"Line charts by dimension. {summary(table)} at shares 0.1, 0.5 and 1.0: {'; '.join(told)}."


def at(table: pd.DataFrame, metric: str, method: str, ratio: float) -> dict[str, float]:
    """One row of the curve that ``summary`` names: ``estimate, low, high, above, ...``; nan where there is none."""
    rows = table[(table["metric"] == metric) & (table["method"] == method) & (table["dimension"] == summary(table))]
    rows = rows[(rows["ratio"] - ratio).abs() < 1e-9]
    row = rows.iloc[0] if len(rows) else pd.Series(dtype=float)
    names = ("estimate", "low", "high", "above", "above_low", "above_high")
    return {name: float(row.get(name, float("nan"))) for name in names}


def told(point: Mapping[str, float], name: str = "estimate") -> str:
    """A point with its interval; ``name`` may be ``above``, what lies above random scores."""
    low, high = ("low", "high") if name == "estimate" else (f"{name}_low", f"{name}_high")
    return interval(point[name], point[low], point[high], 2)


def answer(table: pd.DataFrame, dataset: str, model: str) -> str:
    """What becomes of F1 and MAP as rationales grow, and how much of it random scores do as well."""
    of = of_model(table, dataset, model)
    parts = []
    for metric in [name for name in METRICS if name in set(of["metric"])]:
        ours = [at(of, metric, ATTENTION, ratio) for ratio in (0.1, 0.5, 1.0)]
        chance = [at(of, metric, RANDOM, ratio)["estimate"] for ratio in (0.1, 1.0)]
        rise = ours[2]["estimate"] - ours[0]["estimate"]
        parts.append(
            f"{metric} goes from {told(ours[0])} at a tenth of the words to {told(ours[1])} at half, {told(ours[2])} "
            f"at all, a change of {number(rise, 2)}, while that of random scores changes by "
            f"{number(chance[1] - chance[0], 2)}; above random scores it lies by {told(ours[0], 'above')} at a tenth "
            f"and by {told(ours[1], 'above')} at half"
        )
    name = "the mean of the dimensions" if summary(of) == MEAN else summary(of)
    told_of = f"For {model} with attention on {title(dataset)}, {name}"
    return f"{told_of}: {'. '.join(parts)} (95% intervals over originals)."


def wide(table: pd.DataFrame, metric: str, name: str = "estimate", ratios: Sequence[float] = SHOWN) -> pd.DataFrame:
    """One row per set, model, method and dimension, one column per ratio, each with its interval.

    Args:
        table: of ``lengths``.
        metric: F1 or MAP.
        name: ``estimate``, or ``above`` for what lies above random scores, controls left out.
        ratios: the columns.
    """
    rows = []
    of = table[table["metric"] == metric]
    of = of if name == "estimate" else of[of["model"] != ""]
    for names, one in of.groupby(["dataset", "model", "method", "dimension"], sort=False):
        dataset, model, method, dimension = map(str, names)
        row = {"Data": title(dataset), "Model": model or "–", "Scores": method, "Dimension": dimension}
        points = {round(float(point["ratio"]), 1): point for point in one.to_dict("records")}
        rows.append(row | {f"{ratio:.1f}": told(points[ratio], name) for ratio in ratios})
    return pd.DataFrame(rows)


def above_floor(table: pd.DataFrame, ratio: float = 0.3) -> str:
    """Of which models on which sets does the F1 of a method lie above that of random scores, in words."""
    rows = table[(table["metric"] == "F1") & (table["model"] != "") & ((table["ratio"] - ratio).abs() < 1e-9)]
    parts = []
    for (dataset, model), of in rows.groupby(["dataset", "model"], sort=False):
        chosen = of[of["dimension"] == summary(of)]
        words = [
            f"{row['method']} {WORDS[agreement(row['above_low'], row['above_high'])]}, {told(row, 'above')}"
            for row in chosen.to_dict("records")
        ]
        parts.append(f"{model} on {title(str(dataset))}: {'; '.join(words)}")
    return f"F1 at a share of {ratio:.1f} of the words less that of random scores. {'. '.join(parts)}."
