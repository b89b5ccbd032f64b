"""What the page of predictions says and shows of its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from probekit.report.parts import Finding, agreement

from probekit.probes.rationales import DIMENSIONS
from probekit.report.charts import dots, new_figure
from probekit.report.published import numbers
from probekit.report.text import escape, interval, number

from notebooks.rationales.asking import title
from notebooks.rationales.prediction import ALL, CLAIM, PARTS, pick

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER, ENGLISH, CHINESE = "003", "8", "4"


def answer(accuracy: pd.DataFrame, dataset: str) -> str:
    """One sentence a model: how often its first filling is right, and in which dimensions most and least."""
    told = []
    for model, rows in pick(accuracy, dataset=dataset, part=ALL, top=1).groupby("model", sort=False):
        whole, each = pick(rows, dimension=ALL).iloc[0], rows[rows["dimension"] != ALL]
        text = (
            f"`{model}` fills {interval(whole.estimate, whole.low, whole.high)} of the {whole.records} slots of "
            f"{escape(title(dataset))} rightly"
        )
        if len(each):
            best, worst = each.loc[each["estimate"].idxmax()], each.loc[each["estimate"].idxmin()]
            apart = "whose intervals are apart" if best.low > worst.high else "whose intervals meet"
            text += (
                f"; most in {best.dimension} ({interval(best.estimate, best.low, best.high)}) and least in "
                f"{worst.dimension} ({interval(worst.estimate, worst.low, worst.high)}), {apart}"
            )
        told.append(f"{text}.")
    return "**The answer.** " + "\n".join(told)


def floor(accuracy: pd.DataFrame, dataset: str) -> str:
    """How near a set's records come to no right answer at all, model by model."""
    told = []
    for row in pick(accuracy, dataset=dataset, part=ALL, dimension=ALL, top=3).itertuples():
        hits = round(row.estimate * row.records)
        told.append(f"`{row.model}` has a gold among three fillings in {hits} of {row.records}")
    return f"{escape(title(dataset))}: {'; '.join(told)}." if told else ""


def change_sentence(changes: pd.DataFrame, dataset: str) -> str:
    """Whether accuracy falls under perturbation: the change of every model, and whether its interval leaves out 0."""
    told = []
    for row in pick(changes, dataset=dataset, dimension=ALL, top=1).itertuples():
        side = {"agrees": "a fall", "contradicts": "a rise"}.get(agreement(row.low, row.high, "below"), "undecided")
        told.append(f"`{row.model}` {interval(row.estimate, row.low, row.high)}, {side}")
    return f"Accuracy on perturbed less that on original records: {'; '.join(told)}." if told else ""


def wide(accuracy: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Tables 4 and 8 for one set: a row per dimension and model, a column per part and top."""
    rows = []
    for (dimension, model), cells in pick(accuracy, dataset=dataset).groupby(["dimension", "model"], sort=False):
        row = {"Dimension": dimension, "Model": model, "Records": cells["records"].max()}
        for top in sorted(cells["top"].unique()):
            for part in PARTS:
                found = pick(cells, part=part, top=top)
                text = interval(*found.iloc[0][["estimate", "low", "high"]]) if len(found) else "–"
                row[f"Top {top}, {part}"] = text
        rows.append(row)
    return pd.DataFrame(rows)


def everywhere(accuracy: pd.DataFrame) -> pd.DataFrame:
    """The same for every set, its name before the rows."""
    parts = [(name, wide(accuracy, name)) for name in accuracy["dataset"].unique()]
    return pd.concat([pd.DataFrame({"Set": title(name)}, one.index).join(one) for name, one in parts])


def unspelled(accuracy: pd.DataFrame) -> str:
    """Of which sets a model's vocabulary cannot spell some golds, so that these records cannot be answered."""
    rows = pick(accuracy, part=ALL, dimension=ALL, top=1)
    told = [
        f"{row.unknown:.1%} ({escape(row.model)}, {escape(title(row.dataset))})"
        for row in rows[rows["unknown"] > 0].itertuples()
    ]
    if not told:
        return "Each model's vocabulary can spell a gold of every record that it was asked."
    return f"Records no gold of which a model's vocabulary can spell cannot be answered: {'; '.join(told)}."


def changes_shown(changes: pd.DataFrame) -> pd.DataFrame:
    """The changes under perturbation as a page prints them."""
    return pd.DataFrame(
        {
            "Set": changes["dataset"].map(title),
            "Model": changes["model"],
            "Dimension": changes["dimension"],
            "Top": changes["top"],
            "Originals": changes["originals"],
            "Change": [interval(*row) for row in changes[["estimate", "low", "high"]].to_numpy()],
        }
    )


def statistics_shown(statistics: pd.DataFrame) -> pd.DataFrame:
    """Table 3 of our sets as a page prints it; a dash where no rationale is marked."""
    return pd.DataFrame(
        {
            "Set": statistics["dataset"].map(title),
            "Dimension": statistics["dimension"],
            "Originals": statistics["originals"],
            "Pairs": statistics["pairs"],
            "Words": [number(value, 1) for value in statistics["words"]],
            "Rationale length / input length": [number(value) for value in statistics["ratio"]],
        }
    )


def draw(accuracy: pd.DataFrame, dataset: str) -> Figure:
    """Top 1 and top 3 of all records by dimension, one colour a model, with intervals."""
    rows = pick(accuracy, dataset=dataset, part=ALL)
    dimensions = [name for name in (*DIMENSIONS, ALL) if (rows["dimension"] == name).any()]
    models = rows["model"].unique().tolist()
    figure, axes = new_figure(height=0.45 * len(dimensions) * max(1, len(models)) ** 0.5 + 1.2, columns=2)
    for ax, top in zip(axes, (1, 3), strict=True):
        cells = pick(rows, top=top).set_index(["model", "dimension"])
        series = [
            (model, [tuple(cells.loc[(model, name), ["estimate", "low", "high"]]) for name in dimensions])
            for model in models
        ]
        dots(ax, dimensions, series)
        ax.set_xlim(-0.03, 1.03)
        ax.set_xlabel(f"top {top}")
    axes[1].set_yticklabels([])
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def describe(accuracy: pd.DataFrame, dataset: str) -> str:
    """The figure in words."""
    rows = pick(accuracy, dataset=dataset, part=ALL, top=1)
    told = "; ".join(
        f"{model}: " + ", ".join(f"{row.dimension} {row.estimate:.2f}" for row in cells.itertuples())
        for model, cells in rows.groupby("model", sort=False)
    )
    return f"Dot plot of accuracy by dimension, top 1 and top 3. Top 1: {told}."


def beside_paper(accuracy: pd.DataFrame, dataset: str, language: str = "en") -> pd.DataFrame:
    """Per dimension, the range of the paper's four models on all inputs, and our models on our own records."""
    table = numbers(PAPER, ENGLISH if language == "en" else CHINESE)
    found = []
    for dimension in DIMENSIONS:
        cells = pick(accuracy, dataset=dataset, dimension=dimension, part=ALL)
        for top in sorted(cells["top"].unique()):
            printed = table[f"{dimension} all top{top}"]
            row = {"Dimension": dimension, "Top": top}
            row["Paper, its data and models (%)"] = f"{printed.min():.1f} to {printed.max():.1f}"
            for one in pick(cells, top=top).itertuples():
                values = (100 * one.estimate, 100 * one.low, 100 * one.high)
                row[f"{one.model}, {title(dataset)} (%)"] = interval(*values, digits=1)
            found.append(row)
    return pd.DataFrame(found)


def findings(recorded: pd.DataFrame, demo: pd.DataFrame) -> list[Finding]:
    """The conclusion of section 5.2 on real models and, apart, on the demo world."""

    def told(table: pd.DataFrame) -> str:
        return (
            "; ".join(
                f"{row.model} on {title(row.dataset)} {agreement(row.low, row.high)}, "
                f"{interval(row.estimate, row.low, row.high)}"
                for row in table.itertuples()
            )
            or "not available"
        )

    text = "Grammar and semantics are answered better than knowledge, reasoning and computation"
    return [Finding(CLAIM, text, told(recorded), told(demo))]
