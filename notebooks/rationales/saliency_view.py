"""What the page of saliency says and shows of its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd
from probekit.report.parts import Finding, agreement

from probekit.metrics.rationale import rationale_length
from probekit.probes.rationales import DIMENSIONS, RationaleSet
from probekit.report.charts import dots, new_figure
from probekit.report.published import numbers
from probekit.report.text import escape, interval, number

from notebooks.rationales.asking import ORACLE, RANDOM, TRAINED, Saliency, title
from notebooks.rationales.heat import sentence
from notebooks.rationales.prediction import pick
from notebooks.rationales.saliency import ALL, BETTER, F1, MAP, METRICS
from notebooks.rationales.scores import dimension_ratios

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER, ENGLISH = "003", "9"
SHORT = {"ATT": "attention", "IG": "integrated gradients"}
FEW = 5  # records or pairs below which a mean is not shown
SPAN = ["estimate", "low", "high"]


def names(table: pd.DataFrame) -> list[str]:
    """What each row's scores come from, in words: model, method and weights, or the control."""
    return [
        f"{row.model}, {row.method}{'' if row.weights == TRAINED else f', {row.weights}'}" if row.model else row.method
        for row in table.itertuples()
    ]


def _told(row: pd.Series) -> str:
    estimate, low, high = row[SPAN]
    return interval(estimate, low, high, 2)


def _if_enough(row: pd.Series) -> str:
    """The cell with its interval; of fewer than ``FEW`` values only their number, for their interval would mislead."""
    return _told(row) if row["n"] >= FEW else f"– (n = {row['n']})"


def answer(tables: Mapping[str, pd.DataFrame], dataset: str) -> str:
    """F1 and MAP of both methods of every model, between random scores and the oracle."""
    cells = pick(tables["interpretability"], dataset=dataset, dimension=ALL)
    ends = {
        (control, metric): _told(rows.iloc[0])
        for control in (RANDOM, ORACLE)
        for metric in (F1, MAP)
        if len(rows := pick(cells, method=control, metric=metric))
    }
    told = []
    for (model, method), rows in pick(cells, weights=TRAINED).groupby(["model", "method"], sort=False):
        both = rows[rows["metric"].isin([F1, MAP])]
        scores = " and ".join(f"{row['metric']} {_told(row)}" for _, row in both.iterrows())
        told.append(f"{method} of `{model}` reaches {scores}")
    limits = "; ".join(f"{control} {metric} {text}" for (control, metric), text in ends.items())
    return f"**The answer.** On {escape(title(dataset))}, {'; '.join(told)}.\nBeside them stand {limits}."


def wide(table: pd.DataFrame, dataset: str, dimension: str = ALL) -> pd.DataFrame:
    """A row for each control and each model, method and weights; a column for each metric."""
    cells = pick(table, dataset=dataset, dimension=dimension)
    rows = []
    for (model, method, weights), found in cells.groupby(["model", "method", "weights"], sort=False):
        row = {"Model": model or "–", "Scores by": method, "Weights": weights or "–"}
        for metric in METRICS:
            one = pick(found, metric=metric)
            row[metric] = _if_enough(one.iloc[0]) if len(one) else "–"
        rows.append(row)
    return pd.DataFrame(rows)


def by_dimension(table: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """The same for each dimension of a set, in the paper's order; empty where there is only one."""
    present = set(pick(table, dataset=dataset)["dimension"])
    parts = [(name, wide(table, dataset, name)) for name in DIMENSIONS if name in present]
    return pd.concat(
        [pd.DataFrame({"Dimension": name}, one.index).join(one) for name, one in parts] or [wide(table, "")]
    )


def everywhere(table: pd.DataFrame) -> pd.DataFrame:
    """The same over all records of each set."""
    parts = [(name, wide(table, name)) for name in table["dataset"].unique()]
    return pd.concat([pd.DataFrame({"Set": title(name)}, one.index).join(one) for name, one in parts])


def draw(table: pd.DataFrame, dataset: str) -> Figure:
    """F1 and MAP of all records: a line a source of scores, trained and random weights beside each other."""
    cells = pick(table, dataset=dataset, dimension=ALL)
    cells = cells[cells["metric"].isin([F1, MAP])]
    rows = list(dict.fromkeys(zip(cells["model"], cells["method"], strict=True)))
    weights = [one for one in dict.fromkeys(cells["weights"]) if one]
    figure, axes = new_figure(height=0.5 * len(rows) + 1.1, columns=2)
    nothing = (float("nan"),) * 3
    for ax, metric in zip(axes, (F1, MAP), strict=True):
        found = {
            (r.model, r.method, r.weights): (r.estimate, r.low, r.high) for r in pick(cells, metric=metric).itertuples()
        }
        series = [(one, [found.get((*row, one), nothing) for row in rows]) for one in weights]
        controls = [found.get((*row, ""), nothing) for row in rows]
        labels = [f"{model}\n{method}" if model else method for model, method in rows]
        dots(ax, labels, [*series, ("control", controls)])
        ax.set_xlim(-0.03, 1.03)
        ax.set_xlabel(metric)
    axes[1].set_yticklabels([])
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def describe(table: pd.DataFrame, dataset: str) -> str:
    """The figure in words."""
    cells = pick(table, dataset=dataset, dimension=ALL)
    parts = []
    for metric in (F1, MAP):
        rows = pick(cells, metric=metric)
        told = ", ".join(f"{name} {number(e, 2)}" for name, e in zip(names(rows), rows["estimate"], strict=True))
        parts.append(f"{metric}: {told}")
    return f"Dot plot of plausibility and faithfulness. {'. '.join(parts)}."


def heat(items: RationaleSet, found: Sequence[Saliency], dataset: str, count: int = 2) -> list[str]:
    """The first originals of a set, each once by the marked words and once by every trained model's methods.

    Returns:
        One paragraph of HTML per line, all foreign text escaped.
    """
    ratios = dimension_ratios(items)
    lines = []
    originals = items.items[(items.items["original_id"] == "") & items.items["rationales"].map(bool)]
    for row in originals.drop_duplicates("dimension").head(count).itertuples():
        for one in found:
            if one.dataset != dataset or one.weights not in ("", TRAINED) or one.method == RANDOM:
                continue
            told = one.table.set_index("id").loc[row.id]
            k = rationale_length(ratios[row.language, row.dimension], len(told["words"]))
            label = "marked words" if one.method == ORACLE else f"{one.model}, {one.method}"
            k = 0 if one.method == ORACLE else k
            scored = (row.context, row.words, told["positions"], told["scores"])
            lines.append(sentence(*scored, k, marked=row.rationales[0], label=label))
    return lines


def beside_paper(table: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Per dimension, metric and method, the range of the paper's four English models, and ours on our own records."""
    printed = numbers(PAPER, ENGLISH)
    found = []
    for dimension in DIMENSIONS:
        for metric in ("F1", "MAP", "PCC", "MAP*"):
            for short, method in SHORT.items():
                cells = pick(table, dataset=dataset, dimension=dimension, metric=metric)
                cells = pick(cells, method=method, weights=TRAINED)
                of_method = [str(name).endswith(f" {short}") for name in printed.index]
                column = printed.loc[of_method, f"{dimension} {metric}"]
                row = {"Dimension": dimension, "Metric": metric, "Scores by": method}
                row["Paper, its data and models"] = f"{column.min():.2f} to {column.max():.2f}"
                ours = {f"{one['model']}, {title(dataset)}": _told(one) for _, one in cells.iterrows()}
                if ours:
                    found.append(row | ours)
    return pd.DataFrame(found)


def findings(recorded: pd.DataFrame, demo: pd.DataFrame) -> list[Finding]:
    """Attention against integrated gradients on real models and, apart, on the demo world."""

    def told(table: pd.DataFrame, metric: str) -> str:
        rows = pick(table, claim=BETTER, metric=metric, dimension=ALL)
        return (
            "; ".join(
                f"{row.model} on {title(row.dataset)} {agreement(row.low, row.high)}, "
                f"{interval(row.estimate, row.low, row.high, 2)}"
                for row in rows.itertuples()
            )
            or "not available"
        )

    texts = {F1: "Attention is more plausible (F1) than integrated gradients", MAP: "and more faithful (MAP)"}
    return [Finding(BETTER, text, told(recorded, metric), told(demo, metric)) for metric, text in texts.items()]
