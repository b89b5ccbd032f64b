"""Page 90: the ledger as a table with links, and its counts as a figure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pandas as pd

from probekit.report.charts import PALETTE, new_figure
from probekit.report.text import Markup, plain
from probekit.report.verdicts import WORDS

from notebooks.claims.printed import ref, see, tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LIGHT = "#8A8A8A"
VERDICTS: dict[str, str] = dict(zip(WORDS, (PALETTE[2], PALETTE[1], PALETTE[4], PALETTE[3], LIGHT), strict=True))
CHECKS = {"consistent": PALETTE[2], "inconsistent": PALETTE[1], "not checkable": LIGHT}
NAMES = {"001": "Shaier 2024", "002": "Yao 2023", "003": "Shen 2022", "004": "Setzu 2024"}
PARTS = {"verdict": VERDICTS, "own_table": CHECKS}


def counts(claims: pd.DataFrame) -> pd.DataFrame:
    """Claims of each paper, and of these how many have each verdict and each result of the own-table check.

    Args:
        claims: rows of ``ledger()`` with ``paper, verdict, own_table``.

    Returns:
        One row per paper, ``paper, claims``, then a column per verdict and per result.
    """
    parts = [claims["paper"].value_counts(sort=False).rename("claims")]
    parts += [
        pd.crosstab(claims["paper"], claims[column]).reindex(columns=list(kinds), fill_value=0)
        for column, kinds in PARTS.items()
    ]
    return pd.concat(parts, axis=1).rename_axis("paper").reset_index()


def shown(claims: pd.DataFrame) -> pd.DataFrame:
    """The ledger for reading: a row per claim, its reasons folded, linked to its page and to the paper's table."""
    rows = []
    judged = claims.sort_values("verdict", key=lambda verdict: verdict.map(WORDS.index), kind="stable")
    for row in judged.to_dict("records"):
        why = " ".join(text for text in (row["reason"], row["found"]) if text)
        fold = Markup("{} <details><summary>why</summary>{}</details>").format(row["statement"], why)
        rows.append(
            {
                "Id": row["id"],
                "Paper": NAMES.get(row["paper"], row["paper"]),
                "Claim": fold if why else row["statement"],
                "Printed": plain(row["published"]),
                "Ours": _short(row["ours"] if row["verdict"] != "not run" else row["related"]),
                "Verdict": row["verdict"],
                "Own numbers": row["own_table"],
                "See": Markup(" ").join(
                    [see(row["page"]) if row["page"] else "", *_printed(row["paper"], row["where"])]
                ),
            }
        )
    return pd.DataFrame(rows, dtype=object)


def _short(value: float | None) -> str:
    """A number of ours with at most four significant digits."""
    return plain(value) if value is None or value != value or value == int(value) else f"{value:.4g}"


def _printed(paper: str, where: str) -> list[Markup]:
    """Links to the printed tables that a claim's place names."""
    numbers = [n for listed in re.findall(r"Tables? ([\d, and]+)", where) for n in re.findall(r"\d+", listed)]
    transcribed = tables()
    return [ref(f"Table {n}", paper, n) for n in numbers if (paper, n) in transcribed]


def draw(table: pd.DataFrame) -> Figure:
    """Two stacked bars for each paper: above what came of our numbers, below what its own numbers say."""
    figure, axes = new_figure(height=1.6 + 0.75 * len(table), rows=2)
    for ax, kinds in zip(axes, PARTS.values(), strict=True):
        start = pd.Series(0, index=table.index)
        for kind, colour in kinds.items():
            bars = ax.barh(table["paper"].replace(NAMES), table[kind], left=start, color=colour, label=kind, height=0.7)
            texts = [str(n) if n > 0.025 * table["claims"].max() * len(str(n)) else "" for n in table[kind]]
            ax.bar_label(bars, texts, label_type="center", fontsize=9, color="white")
            start = start + table[kind]
        ax.invert_yaxis()
        ax.legend(ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=9)
    axes[-1].set_xlabel("Claims")
    return figure
