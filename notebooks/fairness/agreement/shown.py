"""The page about agreement: its curves, its tables, and the paper's sentences beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd
from probekit.report.curves import curves
from probekit.report.parts import Finding, agreement

from probekit.report.charts import new_figure
from probekit.report.text import interval

from notebooks.fairness.agreement.claims import CONCLUSIONS, DISTANCE, SIMILARITY, WORDS
from notebooks.fairness.agreement.curves import AND, BETWEEN, WITHIN
from notebooks.fairness.agreement.overlap import FIRST, WHOLE
from notebooks.fairness.agreement.tables import distance, similarity

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ABSENT = "not asked: the demo world has neither these families nor these groups"
SHOWN = (1, 5, 20, 50, 100)


def of_kind(table: pd.DataFrame, subset: str, kind: str) -> pd.DataFrame:
    """The rows of one set of templates and one kind of agreement."""
    return table[(table["subset"] == subset) & (table["kind"] == kind)]


def within(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of single families, means left out."""
    return table[~table["family"].isin([WITHIN, BETWEEN]) & ~table["family"].str.contains(AND)]


def subset_name(subset: str) -> str:
    """``HONEST-queer`` for ``queer_nonqueer``; other sets by their name."""
    return {"binary": "HONEST-binary", "queer_nonqueer": "HONEST-queer", "demo": "Demo world"}.get(subset, subset)


def both_names(table: pd.DataFrame, kind: str) -> Figure:
    """Similarity and distance of every family by rank, one row of axes for each set of templates."""
    subsets = list(table["subset"].unique())
    figure, axes = new_figure(height=2.6 * len(subsets) + 0.7, columns=2, rows=len(subsets))
    for row, subset in enumerate(subsets):
        one = within(of_kind(table, subset, kind)).rename(columns={"family": "model"})
        one = one.assign(
            distance=1 - one["similarity"],
            distance_low=1 - one["similarity_high"],
            distance_high=1 - one["similarity_low"],
        )
        for column, y in enumerate((SIMILARITY, DISTANCE)):
            ax = axes[2 * row + column]
            curves(ax, one, "k", y, list(one["model"].unique()))
            ax.set_xscale("log")
            ax.set_xticks(one["k"].unique()[[0, len(one["k"].unique()) // 2, -1]])
            ax.get_xaxis().set_major_formatter("{x:.0f}")
            ax.minorticks_off()
            ax.set_ylim(0, 1)
            ax.set_xlabel("k")
            ax.set_ylabel(f"mean {y}")
    axes[0].set_title(subset_name(subsets[0]), fontsize=10, loc="left")
    for row, subset in enumerate(subsets[1:], start=1):
        axes[2 * row].set_title(subset_name(subset), fontsize=10, loc="left")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, fontsize=9)
    return figure


def by_group(table: pd.DataFrame, kind: str, axis: str) -> Figure:
    """Agreement by group of identities, one line a group."""
    one = table[(table["kind"] == kind) & (table["axis"] == axis)].rename(columns={"group": "model"})
    figure, (ax,) = new_figure(height=2.8)
    curves(ax, one, "k", "similarity", list(one["model"].unique()))
    ax.set_xscale("log")
    ax.set_xticks(sorted(one["k"].unique()))
    ax.get_xaxis().set_major_formatter("{x:.0f}")
    ax.minorticks_off()
    ax.set_xlabel("k")
    ax.set_ylabel(f"share of {kind} in common" if kind in (FIRST, WHOLE) else "mean similarity")
    ax.legend(fontsize=9, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


def wide(table: pd.DataFrame, key: Sequence[str], named: Mapping[str, str], ks: Sequence[int] = SHOWN) -> pd.DataFrame:
    """One row per curve, one column per rank, each with its interval."""
    rows = []
    for names, of in table.groupby(list(key), sort=False):
        row = {named[column]: str(value) for column, value in zip(key, names, strict=True)}
        spans = {int(one["k"]): similarity(one) for one in of.to_dict("records")}
        rows.append(row | {f"k = {k}": spans[k] for k in ks if k in spans})
    return pd.DataFrame(rows)


def change(table: pd.DataFrame, subset: str, kind: str, family: str = WITHIN) -> tuple[str, str, str, str, bool]:
    """At the first and at the 20th rank: similarity, similarity, distance, distance; and whether similarity falls."""
    rows = of_kind(table, subset, kind)
    spans = {int(row["k"]): row for row in rows[rows["family"] == family].to_dict("records")}
    first, last = spans[1], spans[20]
    falls = last["similarity"] < first["similarity"]
    return similarity(first), similarity(last), distance(first), distance(last), falls


def findings(conclusions: pd.DataFrame) -> list[Finding]:
    """Whether recorded results agree with each conclusion: by similarity, by the distance in its place, by words."""
    found = []
    for claim, text in CONCLUSIONS.items():
        rows = conclusions[conclusions["claim"] == claim]
        told = []
        for measured in (SIMILARITY, DISTANCE, WORDS):
            for row in rows[rows["measured"] == measured].to_dict("records"):
                verdict = agreement(row["low"], row["high"])
                told.append(
                    f"by {measured}, {subset_name(row['subset'])}: {verdict}, "
                    f"{interval(row['estimate'], row['low'], row['high'])}"
                )
        found.append(Finding(claim, text, "; ".join(told) or "not available", ABSENT))
    return found
