"""The page about perturbations, as its reader sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd
from probekit.report.parts import agreement

from probekit.probes.rationales import CONTRASTS
from probekit.report.charts import dots, new_figure
from probekit.report.text import interval, number

from notebooks.rationales.asking import ATTENTION, GRADIENTS, RANDOM, title
from notebooks.rationales.perturbations import ALL, kinds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CALLED = {
    "dispensable": "under changes of dispensable words",
    "important": "under changes of important words",
    "transformation": "under transformations",
}
NO_IMPORTANT = "not asked: its facts have no version in which words that matter are changed"
FEW = 20  # originals below which an interval is rough
LINES = (ATTENTION, GRADIENTS, RANDOM)


def usual(table: pd.DataFrame) -> pd.DataFrame:
    """The rows whose answer should stay: the paper's kinds of perturbation."""
    return table[~table["perturbation"].isin(CONTRASTS)]


def contrasts(table: pd.DataFrame) -> pd.DataFrame:
    """The rows whose answer should change, or whose context misleads."""
    return table[table["perturbation"].isin(CONTRASTS)]


def overall(table: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """The rows of a set that pool its dimensions, or those of its only one."""
    of = table[table["dataset"] == dataset]
    return of[of["dimension"] == ALL] if (of["dimension"] == ALL).any() else of


def everywhere(table: pd.DataFrame) -> pd.DataFrame:
    """These rows of every set."""
    return pd.concat([overall(table, dataset) for dataset in table["dataset"].unique()])


def span(row: dict[str, float], name: str, digits: int = 2) -> str:
    """A number of a table with its interval."""
    return interval(row[name], row[f"{name}_low"], row[f"{name}_high"], digits)


def accuracy_rows(table: pd.DataFrame, top: int) -> pd.DataFrame:
    """Tables 6 and 11 for reading, for so many fillings."""
    return pd.DataFrame(
        [
            {
                "Data": title(row["dataset"]),
                "Model": row["model"],
                "Dimension": row["dimension"],
                "Change of the text": row["perturbation"],
                "Original": span(row, "original"),
                "Perturbed": span(row, "perturbed"),
                "Difference": span(row, "change"),
                "Same first filling": span(row, "same"),
                "Pairs": row["pairs"],
            }
            for row in table[table["top"] == top].to_dict("records")
        ]
    )


def reason_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Tables 7 and 10 for reading."""
    return pd.DataFrame(
        [
            {
                "Data": title(row["dataset"]),
                "Model": row["model"] or "–",
                "Scores": row["method"],
                "Dimension": row["dimension"],
                "Change of the text": row["perturbation"],
                "F1 original": span(row, "f1_original"),
                "F1 perturbed": span(row, "f1_perturbed"),
                "F1 delta": number(row["f1_delta"]),
                "MAP": span(row, "map"),
                "PCC, p < 0.05": span(row, "pcc"),
                "Share kept": number(row["kept"], 2),
                "PCC, all": span(row, "pcc_all"),
                "Pairs": row["pairs"],
            }
            for row in table.to_dict("records")
        ]
    )


def by_kind(accuracy: pd.DataFrame, reasons: pd.DataFrame, dataset: str, model: str) -> Figure:
    """Change of accuracy by kind, a marker a model, and under it MAP by kind, a marker a method.

    Args:
        accuracy: of ``perturbations.accuracy``.
        reasons: of ``perturbations.reasons``.
        dataset: name of the set.
        model: whose word scores are shown.
    """
    first = usual(overall(accuracy, dataset)).query("top == 1")
    second = usual(overall(reasons, dataset))
    names = kinds(first["perturbation"].tolist())
    models = list(first["model"].unique())
    figure, (upper, lower) = new_figure(height=0.8 * len(names) * 2 + 1.8, rows=2)
    dots(upper, names, [(one, _points(first[first["model"] == one], names, "change")) for one in models])
    upper.axvline(0, color="#888888", linewidth=0.8)
    upper.set_xlabel("change of accuracy, first filling")
    scored = second[second["model"].isin([model, ""])]
    dots(lower, names, [(one, _points(scored[scored["method"] == one], names, "map")) for one in LINES])
    lower.set_xlabel(f"MAP, {model}")
    lower.set_xlim(0, 1)
    for ax in (upper, lower):
        ax.legend(fontsize=9, loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=3)
    return figure


def _points(rows: pd.DataFrame, names: list[str], column: str) -> list[tuple[float, float, float]]:
    of = {row["perturbation"]: row for row in rows.to_dict("records")}
    empty = dict.fromkeys((column, f"{column}_low", f"{column}_high"), float("nan"))
    return [tuple(of.get(name, empty)[f"{column}{end}"] for end in ("", "_low", "_high")) for name in names]


def spoken(accuracy: pd.DataFrame, reasons: pd.DataFrame, dataset: str, model: str) -> str:
    """What the figure shows, in words."""
    changes = usual(overall(accuracy, dataset)).query("top == 1")
    maps = usual(overall(reasons, dataset))
    told = [
        f"{row['model']}, {row['perturbation']}: accuracy {span(row, 'change')}" for row in changes.to_dict("records")
    ]
    told += [
        f"{row['method']}, {row['perturbation']}: MAP {span(row, 'map')}"
        for row in maps[maps["model"].isin([model, ""]) & maps["method"].isin(LINES)].to_dict("records")
    ]
    return f"Dots with intervals. {'; '.join(told)}."


def answer(accuracy: pd.DataFrame, reasons: pd.DataFrame, dataset: str, model: str) -> str:
    """Accuracy, MAP and F1 under each of the paper's kinds, for one model with attention, as sentences."""
    changes = usual(overall(accuracy, dataset)).query("top == 1 and model == @model").set_index("perturbation")
    maps = usual(overall(reasons, dataset))
    mine = maps[(maps["model"] == model) & (maps["method"] == ATTENTION)].set_index("perturbation")
    chance = maps[maps["method"] == RANDOM].set_index("perturbation")
    parts = []
    for kind in kinds(list(changes.index)):
        row, scores = changes.loc[kind].to_dict(), mine.loc[kind].to_dict()
        parts.append(
            f"{CALLED.get(kind, kind)}, accuracy moves by {span(row, 'change')} and the MAP of attention is "
            f"{span(scores, 'map')} (random scores {number(chance.loc[kind, 'map'], 2)})"
        )
    few = "" if changes["originals"].min() >= FEW else f" Kinds with fewer than {FEW} originals have rough intervals."
    pooled = ", all dimensions pooled" if (accuracy["dimension"] == ALL).any() else ""
    text = f"For {model} on {title(dataset)}{pooled}: {'; '.join(parts)} (95% intervals over originals)."
    return text + few


def misled(table: pd.DataFrame) -> pd.DataFrame:
    """What each model does where its answer should change or its context misleads.

    Returns:
        For reading: data, model, change of the text, what counts as a hit, how often originals and changed texts have
        it, whether that differs, and how often the first filling stayed.
    """
    words = {"agrees": "fewer", "contradicts": "more", "undecided": "not decided"}
    return pd.DataFrame(
        [
            {
                "Data": title(row["dataset"]),
                "Model": row["model"],
                "Change of the text": row["perturbation"],
                "A hit is": "what the text denies" if denied(row) else "the right word",
                "Original": span(row, "original"),
                "Changed": span(row, "perturbed"),
                "Hits after the change": words[agreement(row["change_low"], row["change_high"], "below")],
                "Same first filling": span(row, "same"),
                "Pairs": row["pairs"],
            }
            for row in contrasts(table).query("top == 1").to_dict("records")
        ]
    )


def denied(row: Mapping[str, object]) -> bool:
    """Whether the gold of these perturbed records is what the text denies (LAMA, negated)."""
    return str(row["dataset"]).startswith("primed/") and row["perturbation"] == "negation"
