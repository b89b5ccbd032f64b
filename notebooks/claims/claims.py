"""The ledger at a glance: verdicts and own-table checks counted by paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from probekit.report.charts import PALETTE, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LIGHT = "#8A8A8A"
OWN = "The paper's own numbers: "
VERDICTS = {"reproduced": PALETTE[2], "differs": PALETTE[1], "undecided": PALETTE[4], "not run": LIGHT}
CHECKS = {"consistent": PALETTE[2], "inconsistent": PALETTE[1], "not checkable": LIGHT}
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


def reasons(claims: pd.DataFrame) -> list[tuple[str, str]]:
    """Why claims were not run: the ids with one reason, and the reason, in order of first use.

    Args:
        claims: rows of ``ledger()`` with ``id, verdict, reason``.
    """
    idle = claims[claims["verdict"] == "not run"]
    first = idle["reason"].str.partition(OWN)[0].str.strip()
    return [(", ".join(group), str(reason)) for reason, group in idle["id"].groupby(first, sort=False)]


def own_numbers(claims: pd.DataFrame) -> pd.DataFrame:
    """What the check of the paper's own numbers found: ``id, where, statement, own_table, found`` of claims checked."""
    checked = claims[claims["own_table"] != "not checkable"]
    return checked[["id", "where", "statement", "own_table"]].assign(found=checked["reason"].str.partition(OWN)[2])


def draw(table: pd.DataFrame) -> Figure:
    """Two stacked bars for each paper: above what came of our numbers, below what its own numbers say."""
    figure, axes = new_figure(height=1.6 + 0.75 * len(table), rows=2)
    for ax, kinds in zip(axes, PARTS.values(), strict=True):
        start = pd.Series(0, index=table.index)
        for kind, colour in kinds.items():
            bars = ax.barh(table["paper"], table[kind], left=start, color=colour, label=kind, height=0.7)
            wide = table[kind] > 0.06 * table["claims"].max()
            shown = [str(n) if fits else "" for n, fits in zip(table[kind], wide, strict=True)]
            ax.bar_label(bars, shown, label_type="center", fontsize=9, color="white")
            start = start + table[kind]
        ax.invert_yaxis()
        ax.set_ylabel("Paper")
        ax.legend(ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=9)
    axes[-1].set_xlabel("Claims")
    return figure


def describe(table: pd.DataFrame) -> str:
    """The figure in words."""
    told = (
        f"paper {row['paper']}: " + ", ".join(f"{kind} {row[kind]}" for kinds in PARTS.values() for kind in kinds)
        for row in table.to_dict("records")
    )
    return f"Stacked bars of claims by paper. {'; '.join(told)}."
