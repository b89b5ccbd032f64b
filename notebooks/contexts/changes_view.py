"""Page 21 as its reader sees it: the answer, the figure, our numbers beside the paper's, and the findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from probekit.report.parts import Finding, agreements, overall, title

from probekit.report.charts import dots, new_figure
from probekit.report.ledger import UNDECIDED, numbers
from probekit.report.text import interval, number, plain

from notebooks.contexts.changes import DIRECTIONS, ENTITY
from notebooks.contexts.view import VARIANTS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ADDED = {True: "O_a correct", False: "O_a incorrect"}
LINEAR = 1  # ranks up to which the axis is linear; beyond it is logarithmic


def answer(past: dict[str, pd.DataFrame]) -> str:
    """How the target moves on the first source, over all models, and how many of the paper's directions agree."""
    table = past["rank_change"]
    source = table["source"].iloc[0]
    of = overall(table[table["source"] == source])
    moved = of[of["change"] == "rc_centre"].set_index("added_correct")
    told = [
        f"{interval(row['mean'], row['low'], row['high'], 2)} when {'a correct' if correct else 'an incorrect'} entity "
        "is added"
        for correct, row in sorted(moved.to_dict("index").items(), reverse=True)
    ]
    verdicts = past["conclusions"].query("source == @source")["holds"].astype(str).value_counts()
    who = of["model"].iloc[0]
    return (
        f"**The answer.** On {title(source)} the rank of the target changes by {' and by '.join(told)} "
        f"({plain(who)}; 95% intervals over triples; negative is better). "
        f"Of {verdicts.sum()} directions that the paper names, so many agree: {verdicts.get('1', 0)}; contradict: "
        f"{verdicts.get('0', 0)}; are undecided: {verdicts.get(UNDECIDED, 0)}."
    )


def draw(table: pd.DataFrame, source: str) -> Figure:
    """Rank changes on one source: a panel for a correct O_a and one for an incorrect, a series a model."""
    of = table[table["source"] == source]
    models = list(dict.fromkeys(of["model"]))
    figure, axes = new_figure(height=2 * (1.1 + 0.16 * 4 * len(models)), rows=2)
    for ax, (correct, name) in zip(axes, ADDED.items(), strict=True):
        part = of[of["added_correct"] == correct].set_index(["model", "change"])[["mean", "low", "high"]]
        missing = (float("nan"),) * 3
        series = [(m, [tuple(part.loc[m, c]) if (m, c) in part.index else missing for c in ENTITY]) for m in models]
        dots(ax, list(ENTITY.values()), series)
        ax.axvline(0, color="#666666", linewidth=0.8)
        ax.set_xscale("symlog", linthresh=LINEAR)
        ax.xaxis.set_major_formatter("{x:g}")
        ax.set_xlabel(f"rank change, {name}")
    widest = max(abs(end) for ax in axes for end in ax.get_xlim())
    for ax in axes:
        ax.set_xlim(-widest, widest)
    axes[0].legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=2, fontsize=9)
    return figure


def describe(table: pd.DataFrame, source: str) -> str:
    """The chart in words."""
    of = overall(table[table["source"] == source])
    told = "; ".join(f"{ADDED[r.added_correct]}, {ENTITY[r.change]}: {number(r.mean, 2)}" for r in of.itertuples())
    return f"Dot plot of mean rank changes on {title(source)}, {of['model'].iloc[0]}. {told}."


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """Rank changes for reading: a row per model (and variant) and kind of O_a, a column per entity."""
    cells = table.assign(
        cell=[interval(row.mean, row.low, row.high, 2) for row in table.rename_axis(None).itertuples()],
        change=table["change"].map(ENTITY),
        added_correct=table["added_correct"].map(ADDED),
        source=table["source"].map(title),
    )
    keys = [name for name in ("source", "model", "variant", "added_correct") if name in table]
    wide = cells.pivot(index=keys, columns="change", values="cell")
    order = list(cells[keys].drop_duplicates().itertuples(index=False, name=None))
    wide = wide.reindex(order)[[name for name in ENTITY.values() if name in wide]].fillna("–")
    steps = cells.drop_duplicates(keys).set_index(keys)[["steps", "triples"]]
    shown = wide.join(steps).reset_index()
    if "variant" in shown:
        shown["variant"] = [VARIANTS.get(name, name) for name in shown["variant"]]
    names = {"source": "Source", "model": "Model", "variant": "Variant", "added_correct": "Added"}
    return shown.rename(columns=names | {"steps": "Steps", "triples": "Triples"})


def beside(table: pd.DataFrame) -> pd.DataFrame:
    """The paper's Table 1, and below it ours with intervals, of other models on other text, a column per change."""
    paper = numbers("002", "1")
    rows = [
        {"Whose": f"paper: {model}"} | {column: f"{value:g}" for column, value in row.items()}
        for model, row in paper.iterrows()
    ]
    for (source, model), of in table.groupby(["source", "model"], sort=False):
        cells = {
            f"{ADDED[r.added_correct]}: {ENTITY[r.change]}": interval(r.mean, r.low, r.high, 2) for r in of.itertuples()
        }
        rows.append({"Whose": f"{title(str(source))}: {model}"} | {c: cells.get(c, "–") for c in paper.columns})
    return pd.DataFrame(rows)


def findings(recorded: pd.DataFrame, demo: pd.DataFrame) -> list[Finding]:
    """Whether results agree with each direction; both of ``changes.tables``, ``conclusions``, and may be empty."""

    def told(table: pd.DataFrame, claim: str) -> str:
        if table.empty:
            return agreements(table)
        rows = table[table["claim"] == claim].rename(columns={"source": "dataset"})
        return agreements(rows, columns=("estimate", "low", "high"))

    return [Finding(claim, text, told(recorded, claim), told(demo, claim)) for claim, (text, *_) in DIRECTIONS.items()]
