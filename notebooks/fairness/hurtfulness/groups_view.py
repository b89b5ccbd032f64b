"""The page of hurtfulness by group: its sentences, tables and curves, all chosen from the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from probekit.report.parts import Finding, agreement

from probekit.report.charts import PALETTE, new_figure
from probekit.report.text import interval, number

from notebooks.fairness.hurtfulness.audit import signed
from notebooks.fairness.hurtfulness.groups import AGE, COLUMN, PAIRED, PAPER_AGE, PAPER_GENDER, SIDES
from notebooks.fairness.hurtfulness.likelihood import ALL, LEVEL, MODEL
from notebooks.fairness.hurtfulness.likelihood_view import one
from notebooks.fairness.hurtfulness.shown import ABSENT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WAYS = {
    COLUMN: "gender, by the file's own column",
    PAIRED: "gender, the same template said of both",
    PAPER_GENDER: "gender, as the paper matched it",
    AGE: "age, by our list of words",
    PAPER_AGE: "age, as the paper matched it",
}
GENDER, AGES = (COLUMN, PAIRED, PAPER_GENDER), (AGE, PAPER_AGE)
Span = tuple[float, float, float]
WINDOW = 10  # ranks that the curves of the figure are averaged over


def whole(table: pd.DataFrame) -> pd.DataFrame:
    """The rows over all ranks."""
    return table[(table["first"] == 1) & (table["last"] == table["last"].max())]


def sides(comparison: str) -> str:
    """What is compared: ``female less male``."""
    return " less ".join(SIDES[comparison])


def mean(differences: pd.DataFrame, comparison: str, wide: bool = False) -> str:
    """The mean difference over models with its interval, over templates or (``wide``) over identities."""
    row = one(whole(differences), level=ALL, comparison=comparison).iloc[0]
    start = "wide_" if wide else ""
    return signed(row["difference"], row[f"{start}low"], row[f"{start}high"], 4)


def counted(summary: pd.DataFrame, comparison: str, wide: bool = False) -> str:
    """``above zero for 12 of 21 models, below for 3``: after correction for the number of models."""
    row, start = one(whole(summary), comparison=comparison).iloc[0], "wide_" if wide else ""
    return f"above zero for {row[start + 'above']} of {row['models']} models, below for {row[start + 'below']}"


def positive(summary: pd.DataFrame, comparison: str) -> str:
    """The share of models whose difference has the sign that the paper states."""
    row = one(whole(summary), comparison=comparison).iloc[0]
    return f"{row['positive']} of {row['models']}"


def answer(tables: Mapping[str, pd.DataFrame]) -> str:
    """The first sentences of the page."""
    found, counts = tables["differences"], tables["summary"]
    told = [
        "**The answer.** Where the same template is said of a woman and of a man, the female less the male score is "
        f"{mean(found, PAIRED)} in the mean over models; it is {counted(counts, PAIRED)} after Holm's correction, and "
        f"{counted(counts, PAIRED, wide=True)} when identities are drawn in place of templates.",
        f"By the file's own column it is {mean(found, COLUMN)}, as the paper matched identities "
        f"{mean(found, PAPER_GENDER)}.",
        f"Words for grown people less words for the young: {mean(found, AGE)}; no template names an old person.",
    ]
    return " ".join(told)


def by_model(differences: pd.DataFrame, comparison: str, between: tuple[str, str] | None = None) -> pd.DataFrame:
    """The differences of every model and of their mean, over the first rank, the first twenty and all.

    Args:
        between: names of both groups; by default those of the recorded comparison.
    """
    rows = one(differences, comparison=comparison)
    shown = pd.DataFrame({"Model": rows["name"].unique()})
    for (first, last), part in rows.groupby(["first", "last"], sort=False):
        ranks = f"rank {first}" if first == last else f"ranks {first} to {last}"
        cells = part.set_index("name")
        shown[f"Difference, {ranks}"] = [signed(*cells.loc[m, ["difference", "low", "high"]]) for m in shown["Model"]]
    cells = whole(rows).set_index("name")
    for side, column in zip(between or SIDES[comparison], ("one", "other"), strict=True):
        shown[side.capitalize()] = [number(cells.loc[m, column]) for m in shown["Model"]]
    shown["p, corrected"] = [number(cells.loc[m, "holm"]) for m in shown["Model"]]
    if cells["wide_low"].notna().any():
        spans = [cells.loc[m, ["difference", "wide_low", "wide_high"]] for m in shown["Model"]]
        shown["Interval over identities"] = [signed(*span) for span in spans]
    return shown


def counts(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """How many models show each difference, for every way of grouping and range of ranks."""
    summary, found = tables["summary"], tables["differences"]
    rows = []
    for row in summary.to_dict("records"):
        key = {name: row[name] for name in ("comparison", "first", "last")}
        line = found[(found["level"] == ALL) & (found[list(key)] == pd.Series(key)).all(axis=1)].iloc[0]
        over = [f"{row['above']} / {row['below']}", f"{row['wide_above']} / {row['wide_below']}"]
        rows.append(
            {
                "Grouping": WAYS[row["comparison"]],
                "Compared": sides(row["comparison"]),
                "Ranks": f"{row['first']} to {row['last']}",
                "Above zero": f"{row['positive']} of {row['models']}",
                "Above / below, corrected": over[0],
                "The same over identities": over[1] if line["wide_p"] == line["wide_p"] else "–",
                "Mean difference": signed(line["difference"], line["low"], line["high"], 4),
                "Ratio": interval(line["ratio"], line["ratio_low"], line["ratio_high"], 2),
            }
        )
    return pd.DataFrame(rows)


def alarms(differences: pd.DataFrame) -> str:
    """On groups that mean nothing: in how many comparisons the interval leaves zero out, and how many are expected."""
    rows = one(differences, level=MODEL)
    false = int(((rows["low"] > 0) | (rows["high"] < 0)).sum())
    corrected = int((rows["holm"] < LEVEL).sum())
    return (
        f"False alarms among {len(rows)} comparisons (models and ranges of ranks): {false} by their 95% interval, "
        f"{corrected} after correction. About one comparison in twenty is to be expected by the interval, more where "
        "there are few templates of few people."
    )


def alike(curves: pd.DataFrame, comparison: str) -> pd.Series:
    """Correlation over ranks of the curves of both groups, for every model."""
    found = {}
    for model, part in one(curves, comparison=comparison).groupby("model", sort=False):
        by_k = part.set_index("group").filter(regex=r"^k\d+$").astype(float)
        first, second = (by_k.loc[side].to_numpy() for side in SIDES[comparison])
        flat = min(first.std(), second.std()) == 0
        found[model] = float("nan") if flat else float(np.corrcoef(first, second)[0, 1])
    return pd.Series(found)


def findings(tables: Mapping[str, pd.DataFrame]) -> list[Finding]:
    """What the paper finds by group beside the recorded results."""
    found, summary = tables["differences"], tables["summary"]
    rows = []
    for claim, words, ways in (
        ("004-08a", "The models are more hurtful on templates of female identities.", GENDER),
        ("004-09", "The models are more hurtful on old identities than on young ones.", AGES),
    ):
        told = []
        for way in ways:
            row = one(whole(found), level=ALL, comparison=way).iloc[0]
            told.append(
                f"{WAYS[way]}: {agreement(row['low'], row['high'])}, {mean(found, way)} in the mean, "
                f"{positive(summary, way)} models above zero, corrected {counted(summary, way)}"
            )
        rows.append(Finding(claim, words, "; ".join(told), ABSENT))
    told = []
    for way in GENDER:
        row = one(whole(found), level=ALL, comparison=way).iloc[0]
        told.append(f"{WAYS[way]}: {interval(row['ratio'], row['ratio_low'], row['ratio_high'], 2)}")
    words = "The scores of female identities are far higher (ours: female over male, of the means over models)."
    rows.append(Finding("004-08b", words, "; ".join(told), ABSENT))
    told = []
    for way in (COLUMN, PAPER_GENDER):
        values = alike(tables["curves"], way).dropna()
        told.append(
            f"{WAYS[way]}: median {number(values.median(), 2)}, from {number(values.min(), 2)} to "
            f"{number(values.max(), 2)} over models"
        )
    words = "The curves over ranks are highly similar for both genders (ours: correlation over ranks)."
    rows.append(Finding("004-08c", words, "; ".join(told), ABSENT))
    return rows


def dots_of(
    differences: pd.DataFrame, ways: Sequence[str]
) -> tuple[list[str], list[tuple[str, list[tuple[float, float, float]]]]]:
    """Names of the models and, for every way of grouping, their differences over all ranks with intervals."""
    rows = one(whole(differences), level=MODEL)
    names = rows["name"].unique().tolist()
    series = []
    for way in ways:
        part = one(rows, comparison=way).set_index("name")
        spans = part.loc[names, ["difference", "low", "high"]].astype(float)
        values: list[Span] = list(spans.itertuples(index=False, name=None))
        series.append((WAYS[way].split(", ", 1)[1], values))
    return names, series


def draw_curves(curves: pd.DataFrame, families: Mapping[str, str], ways: Sequence[str]) -> Figure:
    """One axes a family and way of grouping: the curves of both groups, each the mean over the family's models.

    Curves are averaged over ``WINDOW`` ranks.
    """
    names = list(dict.fromkeys(families.values()))
    figure, axes = new_figure(height=1.45 * len(names) + 0.8, columns=len(ways), rows=len(names))
    for place, ax in enumerate(axes):
        family, way = names[place // len(ways)], ways[place % len(ways)]
        members = [model for model, of in families.items() if of == family]
        for number_, side in enumerate(SIDES[way]):
            part = one(curves, comparison=way, group=side)
            values = part[part["model"].isin(members)].filter(regex=r"^k\d+$").to_numpy(dtype=float)
            mean_curve = np.convolve(values.mean(0), np.full(WINDOW, 1 / WINDOW), "valid")
            middle = np.arange(len(mean_curve)) + (WINDOW + 1) / 2
            ax.plot(middle, mean_curve, "-" if number_ else "--", color=PALETTE[number_], linewidth=1.4, label=side)
        ax.set_ylim(0, 1.25 * ax.get_ylim()[1])  # room for the name
        ax.grid(axis="y", linewidth=0.4)
        ax.text(0.98, 0.92, family, transform=ax.transAxes, ha="right", va="top", fontsize=9)
        if place < len(ways):
            ax.set_title(WAYS[way].split(", ", 1)[1], fontsize=10)
        if place >= len(axes) - len(ways):
            ax.set_xlabel("rank k")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2)
    figure.supylabel("share that is hurtful", fontsize=11)
    return figure


def told_curves(curves: pd.DataFrame, families: Mapping[str, str], ways: Sequence[str]) -> str:
    """The curves in words: the mean over ranks of both groups, for every family and way of grouping."""
    told = []
    for family in dict.fromkeys(families.values()):
        members = [model for model, of in families.items() if of == family]
        for way in ways:
            values = []
            for side in SIDES[way]:
                part = one(curves, comparison=way, group=side)
                by_k = part[part["model"].isin(members)].filter(regex=r"^k\d+$")
                values.append(f"{side} {by_k.to_numpy(dtype=float).mean():.3f}")
            told.append(f"{family}, {WAYS[way]}: {', '.join(values)}")
    return "; ".join(told) + "."
