"""Paper 003 against its own Tables 3, 5 to 7 and 9 to 11: rationale length and kinds of perturbation."""

from __future__ import annotations

from functools import partial

import pandas as pd

from probekit.report.checks import Finding, registry, show, status
from probekit.report.published import numbers

PAPER = "003"
LONG, SHORT = ("knowledge", "reasoning", "computation"), ("grammar", "semantics")  # as section 5.3 groups them
KINDS = ("dispensable", "important", "transformation")
TRANSFORMED, DISPENSABLE = "transformation", "dispensable"
MODEL = "RoBERTa-base ATT"  # of Tables 7 and 10, in Tables 5 and 9
PRINT = 0.1001  # accuracies are printed to 0.1, so a difference of two may be this far off
ABOUT = 0.1  # how far "about 0.5" may be from a length ratio

CHECKS, check = registry()


def by_kind(table: str, row: str = "", column: str = "") -> pd.DataFrame:
    """One row per dimension, one column per kind: a row of Tables 6 and 11, or a column of Tables 7 and 10."""
    found = numbers(PAPER, table)
    if row:
        cells = found.loc[row]
        names = sorted({str(name).rpartition(" ")[0] for name in cells.index}, key=(SHORT + LONG).index)
        return pd.DataFrame({kind: [cells[f"{name} {kind}"] for name in names] for kind in KINDS}, index=names)
    return pd.DataFrame({kind: found[f"{kind} {column}"] for kind in KINDS})


def _listed(values: pd.Series) -> str:
    return ", ".join(f"{name} {show(round(float(value), 4))}" for name, value in values.items())


def _dimensions(chosen: pd.Series) -> str:
    return ", ".join(str(name) for name in chosen.index[chosen]) or "none"


@check("003-12f")
def length_ratios() -> Finding:
    """Are the length ratios of Table 3 (Chinese, which section 5.3 is about) near 0.5 and near 0.3?"""
    ratios = numbers(PAPER, "3")["Chinese RRL"] / 100
    near = [abs(ratios[d] - 0.5) <= ABOUT for d in LONG] + [abs(ratios[d] - 0.3) <= ABOUT for d in SHORT]
    return status(all(near)), f"Length ratios of Table 3, Chinese: {_listed(ratios)}."


def _with_length(metric: str) -> Finding:
    """Over the five dimensions, does the metric of each model and method rise with the length ratio?"""
    table, ratios = numbers(PAPER, "5"), numbers(PAPER, "3")["Chinese RRL"]
    columns = [f"{dimension} {metric}" for dimension in ratios.index]
    r = pd.Series({name: table.loc[name, columns].corr(ratios.set_axis(columns)) for name in table.index})
    text = (
        f"Over the five dimensions, the correlation of {metric} with the length ratio lies from {r.min():.2f} to "
        f"{r.max():.2f} for the {len(r)} rows of Table 5; it is above zero in {int((r > 0).sum())}."
    )
    return status(bool((r > 0).all())), text


check("003-12g")(partial(_with_length, "F1"))
check("003-12h")(partial(_with_length, "MAP"))


@check("003-13a")
def transformations_cost_accuracy() -> Finding:
    """Does accuracy change most under transformations, on average and in every dimension?"""
    size = by_kind("6", "change").abs()
    most = size[TRANSFORMED] >= size.max(axis=1)
    text = (
        f"Mean size of the changes in Table 6, in points: {_listed(size.mean())}; largest, or as large as any, under "
    )
    return status(size.mean().idxmax() == TRANSFORMED), f"{text}transformation in: {_dimensions(most)}."


@check("003-13b")
def others_cost_less() -> Finding:
    """Are the changes under the two other kinds smaller, on average, than under transformations?"""
    size = by_kind("6", "change").abs()
    rest = size.drop(columns=TRANSFORMED)
    text = (
        f"Under the other two kinds the greatest change of Table 6 is {show(rest.max().max())} points "
        f"({rest.max(axis=1).idxmax()}, {rest.max().idxmax()}), the mean {show(round(rest.stack().mean(), 4))}; under "
        f"transformations the mean is {show(round(size[TRANSFORMED].mean(), 4))}."
    )
    return status(bool((rest.mean() < size[TRANSFORMED].mean()).all())), text


def _differences(table: str) -> Finding:
    """Are the printed changes the differences of the printed accuracies, as far as they can be read?"""
    found = numbers(PAPER, table)
    gaps = (found.loc["perturbed"] - found.loc["original"] - found.loc["change"]).dropna().abs()
    fits = gaps <= PRINT
    absent = f"; {15 - len(gaps)} cannot be read in our copy" if len(gaps) < 15 else ""
    text = f"Of the {len(gaps)} readable changes of Table {table}, {int(fits.sum())} are the difference{absent}."
    return status(bool(fits.all())), text


check("003-13c")(partial(_differences, "6"))
check("003-18c")(partial(_differences, "11"))


def _lowest_map(table: str, dimensions: tuple[str, ...]) -> Finding:
    """Is MAP lowest under transformations in each of these dimensions?"""
    found = by_kind(table, column="MAP")
    lowest = found.idxmin(axis=1) == TRANSFORMED
    text = f"MAP of Table {table} is lowest under transformation in: {_dimensions(lowest)}. Means: "
    return status(bool(lowest[list(dimensions)].all())), f"{text}{_listed(found.mean())}."


check("003-14a")(partial(_lowest_map, "7", SHORT + LONG))
check("003-14b")(partial(_lowest_map, "10", ("semantics", "knowledge", "reasoning")))


@check("003-15a")
def others_change_plausibility() -> Finding:
    """Table 7: do important changes and transformations move F1 more than dispensable ones in three dimensions?"""
    found = by_kind("7", column="F1 delta").loc[["semantics", "reasoning", "computation"]]
    short = [
        f"{dimension}, {kind} {show(row[kind])} against {show(row[DISPENSABLE])}"
        for dimension, row in found.iterrows()
        for kind in KINDS[1:]
        if row[kind] <= row[DISPENSABLE]
    ]
    return status(not short), f"Not so in Table 7: {'; '.join(short) or 'nowhere'}."


@check("003-15b")
def dispensable_changes_least() -> Finding:
    """Table 7: do dispensable changes move F1 least and keep rankings (MAP) best, on average?"""
    delta, ranks = by_kind("7", column="F1 delta"), by_kind("7", column="MAP")
    least, best = delta.idxmin(axis=1) == DISPENSABLE, ranks.idxmax(axis=1) == DISPENSABLE
    text = (
        f"Mean F1 difference of Table 7: {_listed(delta.mean())}; it is least under dispensable in: "
        f"{_dimensions(least)}. Mean MAP: {_listed(ranks.mean())}; it is greatest under dispensable in: "
        f"{_dimensions(best)}."
    )
    return status(delta.mean().idxmin() == DISPENSABLE and ranks.mean().idxmax() == DISPENSABLE), text


@check("003-15c")
def transformations_change_plausibility() -> Finding:
    """Table 10: is the F1 difference greatest under transformations in most dimensions?"""
    found = by_kind("10", column="F1 delta")
    most = found.idxmax(axis=1) == TRANSFORMED
    text = f"The F1 difference of Table 10 is greatest under transformation in: {_dimensions(most)}. Means: "
    return status(int(most.sum()) > len(most) / 2), f"{text}{_listed(found.mean())}."


@check("003-16a")
def map_of_eligible_pairs() -> Finding:
    """Does MAP* lie between the MAP of the two kinds of pairs that suit PCC, as a mean over all of them must?"""
    told, fits = [], []
    for table, kinds in (("5", "7"), ("9", "10")):
        star, of = numbers(PAPER, table).loc[MODEL], by_kind(kinds, column="MAP")[list(KINDS[:2])]
        for dimension in of.index:
            value, low, high = star[f"{dimension} MAP*"], of.loc[dimension].min(), of.loc[dimension].max()
            fits.append(low - 0.005 <= value <= high + 0.005)
            if not fits[-1]:
                told.append(f"Table {table}, {dimension} {show(value)}, outside {show(low)} to {show(high)}")
    text = (
        f"For RoBERTa-base with attention MAP* lies between the MAP of dispensable and of important changes in "
        f"{sum(fits)} of {len(fits)} cases; not in: {'; '.join(told) or 'none'}. A mean over only the pairs with p "
        "below 0.05, which footnote 1 states for PCC, would not have to."
    )
    return status(all(fits)), text


@check("003-18b")
def dispensable_in_two_languages() -> Finding:
    """Is every Chinese change under dispensable words (Table 6) smaller than those of the English dimensions named?"""
    chinese = by_kind("6", "change")[DISPENSABLE]
    english = by_kind("11", "change").loc[["semantics", "knowledge", "reasoning"], DISPENSABLE].dropna()
    text = f"Changes under dispensable, in points: Chinese (Table 6) {_listed(chinese)}; English (Table 11), as far as "
    text += f"it can be read, {_listed(english) or 'none'}."
    return status(len(english) > 0 and bool(chinese.abs().max() < english.abs().min())), text
