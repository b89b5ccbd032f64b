"""The page of hurtfulness by rank: its sentences, tables and curves, all chosen from the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from probekit.report.parts import Finding, agreement

from probekit.report.charts import PALETTE, new_figure
from probekit.report.text import interval

from notebooks.fairness.hurtfulness.audit import signed
from notebooks.fairness.hurtfulness.likelihood import ALL, BOTH, FAMILY, MODEL
from notebooks.fairness.ranks import CONTRASTS, END, SETTLED
from notebooks.fairness.hurtfulness.shown import ABSENT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RULES = {"paper": "by the paper's rules", "audited": "audited"}
SETS = {"binary": "HONEST-binary", "queer_nonqueer": "HONEST-queer", BOTH: "both sets"}
HEADINGS = {
    "ends": f"First {END} less last {END}",
    "single": "First less last",
    "early": f"Fall per ten ranks, 1 to {SETTLED}",
    "late": f"Fall per ten ranks, after {SETTLED}",
}
SIGNS = {"ends": "falls", "settles": "falls faster up to the 20th"}
SCALES = ("small", "medium", "large")


def one(table: pd.DataFrame, **values: str) -> pd.DataFrame:
    """The rows in which these columns have these values."""
    return table[(table[list(values)] == pd.Series(values)).all(axis=1)]


def counted(summary: pd.DataFrame, contrast: str, rules: str, subset: str = BOTH) -> str:
    """``above zero in 12 of 21 models, below in 3``: after correction for the number of models."""
    row = one(summary, contrast=contrast, rules=rules, subset=subset).iloc[0]
    return f"above zero for {row['above']} of {row['models']} models, below for {row['below']}"


def mean(contrasts: pd.DataFrame, contrast: str, rules: str, subset: str = BOTH) -> str:
    """The mean over models of a contrast, with its sign and interval."""
    row = one(contrasts, level=ALL, contrast=contrast, rules=rules, subset=subset).iloc[0]
    return signed(row["estimate"], row["low"], row["high"], 4)


def answer(tables: Mapping[str, pd.DataFrame]) -> str:
    """The first sentences of the page."""
    contrasts, summary = tables["contrasts"], tables["summary"]
    lead = {
        "ends": f"**The answer.** The share of hurtful completions at ranks 1 to {END} less that at the last {END} is",
        "single": "For the most likely completion less the last one it is",
    }
    told = []
    for contrast, start in lead.items():
        values = [
            f"{mean(contrasts, contrast, rules)} {words} ({counted(summary, contrast, rules)})"
            for rules, words in RULES.items()
        ]
        told.append(f"{start} {' and '.join(values)}")
    return ". ".join(told) + ". Means are over models, counts are after Holm's correction."


def upto(shares: pd.DataFrame, rules: str, subset: str = BOTH) -> pd.DataFrame:
    """Scores over the first ranks, as the score of Eq. 1 with K = 1, 5, and so on."""
    rows = one(shares, rules=rules, subset=subset)
    shown = pd.DataFrame({"Model": rows["model"].unique()})
    for last, part in rows[rows["first"] == 1].groupby("last"):
        cells = {m: interval(*row) for m, *row in part.set_index("model")[["share", "low", "high"]].itertuples()}
        shown[f"K = {last}"] = shown["Model"].map(cells)
    return shown


def falls(contrasts: pd.DataFrame, rules: Sequence[str], subset: str = BOTH) -> pd.DataFrame:
    """The contrasts of every model, every family and all models, each set of rules in columns of its own."""
    rows = one(contrasts, subset=subset)
    names = list(dict.fromkeys(zip(rows["level"], rows["name"], strict=True)))
    shown = pd.DataFrame({"Model": [f"{name}, family" if level == FAMILY else name for level, name in names]})
    for variant in rules:
        for contrast, heading in HEADINGS.items():
            part = one(rows, contrast=contrast, rules=variant).set_index(["level", "name"])
            cells = [signed(*part.loc[key, ["estimate", "low", "high"]]) for key in names]
            shown[f"{heading}, {RULES.get(variant, 'audited')}"] = cells
    return shown


def sets(subsets: pd.DataFrame) -> pd.DataFrame:
    """The scores of every model on both sets of templates and their difference."""
    columns: dict[str, list[str]] = {}
    for rules, words in RULES.items():
        part = one(subsets, rules=rules)
        columns["Model"] = part["model"].tolist()
        for name, key in (("first", "one"), ("second", "other")):
            columns[f"{SETS[part[name].iloc[0]]}, {words}"] = [f"{value:.3f}" for value in part[key]]
        columns[f"Difference, {words}"] = [
            signed(*row) for row in part[["estimate", "low", "high"]].itertuples(index=False)
        ]
    return pd.DataFrame(columns)


def findings(tables: Mapping[str, pd.DataFrame]) -> list[Finding]:
    """What the paper finds by rank beside the recorded results, by the paper's rules and audited."""
    contrasts, summary = tables["contrasts"], tables["summary"]
    found = []
    claims = (
        ("004-06a", "ends", "The scores follow a decreasing trend."),
        ("004-06b", "settles", "They stabilise after about the 20th completion, so they fall faster before it."),
    )
    for claim, contrast, words in claims:
        told = []
        for rules, how in RULES.items():
            row = one(contrasts, level=ALL, contrast=contrast, rules=rules, subset=BOTH).iloc[0]
            told.append(
                f"{agreement(row['low'], row['high'])} {how}: {CONTRASTS[contrast]} "
                f"{mean(contrasts, contrast, rules)} in the mean, {counted(summary, contrast, rules)}"
            )
        found.append(Finding(claim, words, "; ".join(told), ABSENT))
    told = []
    for rules, how in RULES.items():
        row = one(tables["sets"], rules=rules).iloc[0]
        told.append(
            f"{how} {row['apart']} of {row['models']} models differ, {row['second_higher']} of them higher on "
            f"HONEST-queer, {row['first_higher']} on HONEST-binary"
        )
    words = "The magnitude differs between HONEST-binary and HONEST-queer."
    return [*found, Finding("004-07", words, "; ".join(told), ABSENT)]


def ends_rows(contrasts: pd.DataFrame, rules: str, subset: str = BOTH) -> list[tuple[float, float, float]]:
    """Estimate and interval of the contrast of both ends, for every model in order."""
    part = one(contrasts, level=MODEL, contrast="ends", rules=rules, subset=subset)
    return [tuple(row) for row in part[["estimate", "low", "high"]].itertuples(index=False)]


def draw_curves(
    shares: pd.DataFrame, counts: pd.DataFrame, families: Mapping[str, str], rules: str, subsets: Sequence[str]
) -> Figure:
    """One axes a family and set of templates: faint, the share at each rank; dots, bands of ranks with intervals.

    Args:
        shares: of ``likelihood.shares``.
        counts: of ``matching.counts``, for the faint lines; may be empty.
        families: model -> family, models of a family from small to large.
        rules: which to draw.
        subsets: one column of axes each.
    """
    names = list(dict.fromkeys(families.values()))
    figure, axes = new_figure(height=1.45 * len(names) + 0.6, columns=len(subsets), rows=len(names))
    for place, ax in enumerate(axes):
        family, subset = names[place // len(subsets)], subsets[place % len(subsets)]
        for number, model in enumerate(m for m, f in families.items() if f == family):
            colour = PALETTE[number % len(PALETTE)]
            line = one(counts, model=model, subset=subset, rules=rules) if len(counts) else counts
            if len(line):
                by_k = line.filter(regex=r"^k\d+$").iloc[0].dropna().to_numpy(dtype=float) / line["templates"].iloc[0]
                ax.plot(np.arange(1, len(by_k) + 1), by_k, color=colour, linewidth=0.6, alpha=0.45)
            part = _bands(one(shares, model=model, subset=subset, rules=rules))
            middle = (part["first"] + part["last"]) / 2
            spans = [part["share"] - part["low"], part["high"] - part["share"]]
            ax.errorbar(
                middle, part["share"], yerr=spans, fmt="osD^"[number % 4] + "-", color=colour, markersize=3.5,
                capsize=1.5, linewidth=1.1, label=SCALES[number] if number < len(SCALES) else model,
            )  # fmt: skip
        ax.set_ylim(0, 1.25 * ax.get_ylim()[1])  # room for the name
        ax.grid(axis="y", linewidth=0.4)
        ax.text(0.98, 0.92, family, transform=ax.transAxes, ha="right", va="top", fontsize=9)
        if place < len(subsets):
            ax.set_title(SETS.get(subset, ""), fontsize=10)
        if place >= len(axes) - len(subsets):
            ax.set_xlabel("rank k")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=max(1, len(labels)))
    figure.supylabel("share that is hurtful", fontsize=11)
    return figure


def _bands(rows: pd.DataFrame) -> pd.DataFrame:
    """The ranges of ranks that follow one another, without those that only start at rank 1."""
    rows = rows[(rows["first"] > 1) | (rows["last"] == 1)]
    return rows.sort_values("first")


def told_curves(shares: pd.DataFrame, rules: str, subset: str = BOTH) -> str:
    """The curves in words: each model's share at rank 1 and in the last band."""
    rows = one(shares, rules=rules, subset=subset)
    told = []
    for model, part in rows.groupby("model", sort=False):
        bands = _bands(part)
        last = bands.iloc[-1]
        told.append(
            f"{model}: {bands['share'].iloc[0]:.3f} at rank 1, {last['share']:.3f} at {last['first']} to {last['last']}"
        )
    return "; ".join(told) + "."
