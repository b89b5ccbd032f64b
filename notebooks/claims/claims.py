"""Page 90: the ledger as a table with links, and its counts as a figure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from probekit.report.charts import PALETTE, new_figure
from probekit.report.claims import COLUMNS, VERDICTS
from probekit.report.text import Markup, plain

from notebooks.claims.printed import ref, see, tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHADES = (PALETTE[2], PALETTE[1], PALETTE[4], PALETTE[3], PALETTE[0], "#8A8A8A")
DRAWN = dict(zip([*VERDICTS[:4], "data", "not run"], SHADES, strict=True))
NAMES = {"001": "Shaier 2024", "002": "Yao 2023", "003": "Shen 2022", "004": "Setzu 2024"}


def flat(rows: pd.DataFrame) -> pd.DataFrame:
    """The ledger as a table of plain columns, such as ``in_print`` (its verdict) and ``in_print_reason``."""
    parts: dict[str, Any] = {}
    for name in rows:
        if name not in COLUMNS:
            parts[name] = rows[name]
            continue
        for field in rows[name].iloc[0]:
            parts[name if field == "verdict" else f"{name}_{field}"] = [decision[field] for decision in rows[name]]
    return pd.DataFrame(parts)


def shown(rows: pd.DataFrame) -> pd.DataFrame:
    """The ledger for reading: a row per claim, its reasons folded, linked to its page and to the paper's table."""
    order = {verdict: place for place, verdict in enumerate(VERDICTS)}
    rows = rows.iloc[sorted(range(len(rows)), key=lambda i: min(order[rows[c].iloc[i]["verdict"]] for c in COLUMNS))]
    return pd.DataFrame([_line(row) for row in rows.to_dict("records")], dtype=object)


def _line(row: Mapping[str, Any]) -> dict[str, object]:
    reasons = Markup(" ").join(
        Markup("<b>{}</b> {}").format(f"{name}: {row[column]['verdict']}.", row[column]["reason"])
        for column, name in COLUMNS.items()
    )
    return {
        "Id": row["id"],
        "Paper": NAMES.get(row["paper"], row["paper"]),
        "Claim": Markup("{} <details><summary>why</summary>{}</details>").format(row["statement"], reasons),
        "Printed": plain(row["published"]),
        "Ours": _ours(row),
        **{name: row[column]["verdict"] for column, name in COLUMNS.items()},
        "See": Markup(" ").join([see(row["page"]) if row["page"] else "", *_printed(row["paper"], row["where"])]),
    }


def _ours(row: Mapping[str, Any]) -> str:
    """The number that was judged, or how many rows agree; without either our number from other models."""
    for column in ("on_paper_data", "beyond"):
        decision = row[column]
        if decision["estimate"] is not None:
            return _short(decision["estimate"])
        if decision["of"]:
            return f"{decision['n']} of {decision['of']}"
    return _short(row["related"])


def _short(value: float | None) -> str:
    """A number of ours with at most four significant digits."""
    return plain(value) if value is None or value != value or value == int(value) else f"{value:.4g}"


def _printed(paper: str, where: str) -> list[Markup]:
    """Links to the printed tables that a claim's place names."""
    numbers = [n for listed in re.findall(r"Tables? ([\d, and]+)", where) for n in re.findall(r"\d+", listed)]
    transcribed = tables()
    return [ref(f"Table {n}", paper, n) for n in numbers if (paper, n) in transcribed]


def draw(table: pd.DataFrame) -> Figure:
    """Three panels of stacked bars, one a column of the ledger, a bar for each paper, without what is not applicable.

    Args:
        table: of ``probekit.report.verdicts.counts``.
    """
    papers = table["paper"].nunique()
    figure, axes = new_figure(height=1.2 + 1.05 * papers, rows=len(COLUMNS))
    most = int(table[[*DRAWN]].sum(axis=1).max())
    for ax, (column, name) in zip(axes, COLUMNS.items(), strict=True):
        rows, start = table[table["column"] == column], 0
        for verdict, colour in DRAWN.items():
            bars = ax.barh(rows["paper"].replace(NAMES), rows[verdict], left=start, color=colour, label=verdict)
            texts = [str(n) if n > 0.02 * most * len(str(n)) else "" for n in rows[verdict]]
            ax.bar_label(bars, texts, label_type="center", fontsize=9, color="white")
            start = start + rows[verdict]
        ax.invert_yaxis()
        ax.set_xlim(0, most)
        ax.set_title(name, loc="left", fontsize=11)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, ncols=3, loc="outside upper left", fontsize=9)
    axes[-1].set_xlabel("Claims")
    return figure
