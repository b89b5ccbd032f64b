"""Study 2: how the page on copying words, draws and lays out its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from probekit.metrics.context import ANSWERS
from probekit.report.charts import colours, dots, model_dots, new_figure
from probekit.report.text import interval, number, title

from notebooks.contexts.shares import sided
from notebooks.contexts.twins import LEVELS, NEGATIVE, TARGET
from notebooks.contexts.ucm_view import caution, overall_of, span
from notebooks.templates.calibration import NO

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Tables = Mapping[str, pd.DataFrame]
NAMES = {TARGET: "target", NEGATIVE: "negative target"}
FINDINGS = (
    ("002-12a", "U is above M for the target and below it for the negative target."),
    ("002-12b", "The two are almost completely opposite: U of one is about M of the other as well."),
    ("002-12c", "So it shows understanding: target and negative target differ more where the fact was told."),
)


def answer(tables: Tables) -> str:
    """The page's answer, on the source with most triples."""
    table = tables["differences"]
    source = str(table.loc[table["triples"].idxmax(), "source"])
    row = overall_of(table, source).iloc[0]
    side = sided(row["understand_low"], row["understand_high"], ("more", "less", "not clearly more or less"))
    told = (
        f"**The answer.** On {int(row['triples'])} triples of {title(source)} a correct entity added to the context "
        f"lifts the target {side} often than it lifts an incorrect entity in the target's place: the difference of "
        f"Understand is {span(row, 'understand')} (95% interval over triples)"
    )
    found = tables["conclusions"]
    if len(found):
        found = found[(found["claim"] == "002-12c") & (found["source"] == source)]
    if found.empty:
        return f"{told}; whether it is greater where a fact was told cannot be said here."
    one = found.iloc[0]
    word = sided(one["low"], one["high"], ("greater", "smaller", "not clearly greater"))
    by = interval(one["estimate"], one["low"], one["high"])
    return (
        f"{told}. Where a fact was told that difference is {word} than where it was not, by {by}: understanding, "
        "rather than copying, would make it greater."
    )


def sentences(tables: Tables) -> list[str]:
    """Per source, Understand and Misunderstand of both centres, and what rises when."""
    told = []
    for source in tables["differences"]["source"].unique():
        rows = overall_of(tables["twins"], source).set_index("twin")
        both = "; ".join(
            f"{NAMES[twin]}: Understand {span(rows.loc[twin], 'understand')}, Misunderstand "
            f"{span(rows.loc[twin], 'misunderstand')}"
            for twin in NAMES
        )
        told.append(f"{title(source)}{caution(int(rows['triples'].max()))}, {both}.")
    return told


def draw(tables: Tables, names: Sequence[str]) -> Figure:
    """Understand (left) and Misunderstand (right) of target and negative target, a row of axes a source."""
    table = tables["twins"]
    sources = list(table["source"].unique())
    figure, axes = new_figure(height=(0.8 + 0.4 * len(names)) * len(sources) + 0.5, columns=2, rows=len(sources))
    tint = colours(names)
    for row, source in enumerate(sources):
        part = table[table["source"] == source].set_index(["twin", "model"])
        own = [name for name in names if (TARGET, name) in part.index]
        for column, word in enumerate(("understand", "misunderstand")):
            ax = axes[2 * row + column]
            ends = [word, f"{word}_low", f"{word}_high"]
            series = {NAMES[twin]: [tuple(part.loc[(twin, name), ends]) for name in own] for twin in NAMES}
            model_dots(ax, own if not column else [""] * len(own), series, [tint[name] for name in own])
            ax.set_xlabel(word.capitalize())
        axes[2 * row].set_title(title(source), fontsize=10, loc="left")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, fontsize=9)
    return figure


def describe(tables: Tables) -> str:
    """Alternative text of ``draw``."""
    told = (
        f"{title(str(r['source']))}, {r['model']}, {NAMES[r['twin']]}: Understand {number(r['understand'])}, "
        f"Misunderstand {number(r['misunderstand'])}"
        for r in tables["twins"].to_dict("records")
    )
    return f"Dot plot of Understand and Misunderstand around target and negative target. {'; '.join(told)}"


def draw_levels(table: pd.DataFrame) -> Figure:
    """The difference of Understand by how well a fact can be known, a panel a source."""
    sources = list(table["source"].unique())
    figure, axes = new_figure(height=2.4 * len(sources) + 0.4, rows=len(sources))
    for ax, source in zip(axes, sources, strict=True):
        part = table[table["source"] == source]
        names = [name for name in LEVELS if name in set(part["level"])]
        series = []
        for read, group in part.groupby("read", sort=False):
            of = group.set_index("level")[["understand", "understand_low", "understand_high"]].reindex(names)
            label = "never read the text, a control" if read == NO else "read the text"
            series.append((label, [(row[0], row[1], row[2]) for row in of.to_numpy().tolist()]))
        dots(ax, names, series)
        ax.axvline(0, linestyle="--", color="#666666", linewidth=0.8)
        ax.set_title(title(source), fontsize=10, loc="left")
        ax.legend(fontsize=8)
    axes[-1].set_xlabel("Understand, target less negative target")
    return figure


def describe_levels(table: pd.DataFrame) -> str:
    """Alternative text of ``draw_levels``."""
    return "Dot plot of differences. " + "; ".join(
        f"{title(str(r['source']))}, {r['level']}, read {r['read']}: {number(r['understand'])}"
        for r in table.to_dict("records")
    )


def table3(tables: Tables) -> pd.DataFrame:
    """The form of Table 3 of the paper: UCM_m of target and negative target side by side."""
    rows = []
    for (source, model), part in tables["twins"].groupby(["source", "model"], sort=False):
        of = part.set_index("twin")
        told = {"Source": title(str(source)), "Model": model}
        told |= {f"{NAMES[twin]} {word[0].upper()}": span(of.loc[twin], word) for twin in NAMES for word in ANSWERS}
        rows.append(told | {"Triples": of.loc[TARGET, "triples"]})
    return pd.DataFrame(rows)


def shown_crossed(table: pd.DataFrame) -> pd.DataFrame:
    """``crossed`` for reading."""
    return pd.DataFrame(
        {
            "Source": table["source"].map(title),
            "Model": table["model"],
            "Centre": table["twin"].map({TARGET: "the target, correct", NEGATIVE: "an incorrect entity"}),
            "Added entity": [
                "correct" if right else "incorrect" for right in table["added_correct"].astype(str) == "True"
            ],
            "Centre rises": [span(row, "rises") for row in table.to_dict("records")],
            "Centre falls": [span(row, "falls") for row in table.to_dict("records")],
            "Steps": table["steps"],
        }
    )
