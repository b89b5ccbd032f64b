"""Paper 003 against its own Tables 3 to 11: does a sentence follow from the numbers that the paper prints?

A sentence that says more than its cells hold (*goes with*, *smaller gap*) is decided by the tests of page 39.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import pandas as pd

from probekit.metrics.printed import show
from probekit.probes.rationales import DIMENSIONS, PERTURBATIONS
from probekit.report.published import Finding, numbers, registry, status
from probekit.report.tested import borne_out, outcomes

from notebooks.rationales import own_tables
from notebooks.rationales.paper import LEARNED, LONG, PAPER, SHORT, THREE, UNLEARNED, WEAK, accuracy, by_kind, scores

BASE, LARGE = "ERNIE-base", "ERNIE-large"
TRANSFORMED, DISPENSABLE = "transformation", "dispensable"
FAMILIES, SIZES = ["BERT", "RoBERTa"], ["large", "base"]
ABOUT_2 = (1.5, 2.5)  # points that round to 2

CHECKS, check = registry()


def _above(first: pd.DataFrame, second: pd.DataFrame | pd.Series) -> tuple[bool, str]:
    """Whether no cell lies below the other's, and in words how many lie above and which below.

    Numbers that are printed alike decide nothing: what was rounded may lie on either side.
    """
    gap = (first - second).round(6)
    failed = [f"{row} {column}" for row in gap.index for column in gap.columns if gap.loc[row, column] < 0]
    holds, ties = int((gap > 0).to_numpy().sum()), int((gap == 0).to_numpy().sum())
    text = f"{holds} of {gap.size} comparisons hold"
    text += f", {ties} {'is' if ties == 1 else 'are'} tied as printed" * bool(ties)
    return bool(holds) and not failed, f"{text}{'; not: ' + ', '.join(failed) if failed else ''}."


def _apart(table: str, high: Iterable[str], low: Iterable[str]) -> Finding:
    """Is the lowest accuracy in some dimensions above the highest in others?"""
    found = accuracy(table)
    least, most = found[[*high]].min().min(), found[[*low]].max().max()
    above = f"at least {show(least)} in {', '.join(high)}"
    return status(bool(least > most)), f"Top 1 in Table {table}: {above}; at most {show(most)} in {', '.join(low)}."


check("003-02a")(partial(_apart, "4", LEARNED, UNLEARNED))
check("003-02c")(partial(_apart, "4", THREE, WEAK))
check("003-03a")(partial(_apart, "8", THREE, WEAK))


@check("003-05a")
def more_text_helps() -> Finding:
    """Are RoBERTa and ERNIE above BERT in grammar, semantics and reasoning?"""
    found = accuracy("4")[[*THREE]]
    rest = found.drop(index="BERT-base")
    whole, text = _above(rest, found.loc["BERT-base"])
    return status(whole), f"Against BERT-base, top 1 of Table 4: {text}"


@check("003-05b")
def larger_helps() -> Finding:
    """Is ERNIE-large above ERNIE-base in these dimensions?"""
    found = accuracy("4")[[*THREE]]
    whole, text = _above(found.loc[[LARGE]], found.loc[BASE])
    return status(whole), f"ERNIE-large against ERNIE-base, top 1 of Table 4: {text}"


@check("003-06a")
def smaller_know_more() -> Finding:
    """Are BERT and ERNIE-base above the two others in knowledge and computation?"""
    found = accuracy("4")[[*WEAK]]
    better, others = found.loc[["BERT-base", BASE]], found.loc[["RoBERTa-base", LARGE]]
    whole, text = _above(better, others.max())
    return status(whole), f"Against the better of RoBERTa-base and ERNIE-large, top 1 of Table 4: {text}"


@check("003-07a")
def about_two_points() -> Finding:
    """Does grammar accuracy fall by about 2 points for most models?"""
    falls = (accuracy("4", "original") - accuracy("4", "perturbed"))["grammar"].round(4)
    near = falls.between(*ABOUT_2)
    return status(2 * int(near.sum()) > len(near)), f"Falls in grammar, top 1 of Table 4: {_listed(falls)}."


@check("003-17a")
def large_above_base() -> Finding:
    """Is the large model above the base one in every dimension, in both families?"""
    found = accuracy("8")
    large, base = (found.loc[[f"{family}-{size}" for family in FAMILIES]].set_axis(FAMILIES) for size in SIZES)
    whole, text = _above(large, base)
    return status(whole), f"Large against base, top 1 of Table 8: {text}"


@check("003-17b")
def roberta_above_bert() -> Finding:
    """Is RoBERTa above BERT of its size in most dimensions?"""
    found = accuracy("8")
    bert, roberta = (found.loc[[f"{family}-{size}" for size in SIZES]].set_axis(SIZES) for family in FAMILIES)
    most = bool((2 * (roberta > bert).sum(axis=1) > len(found.columns)).all())
    return status(most), f"RoBERTa against BERT, top 1 of Table 8: {_above(roberta, bert)[1]}"


def _attention_better(metric: str, table: str = "5") -> Finding:
    """Is attention above integrated gradients for every model of Table 5 (or 9), by its mean over the dimensions?"""
    attention, gradients = scores(table, metric, "ATT"), scores(table, metric, "IG")
    ahead = (attention - gradients).mean(axis=1).round(6) > 0
    text = f"{metric} of attention, mean over dimensions, is the higher for {int(ahead.sum())} of {len(ahead)} models"
    return status(bool(ahead.all())), f"{text} of Table {table}; cell by cell {_above(attention, gradients)[1]}"


check("003-08a")(partial(_attention_better, "F1"))
check("003-08b")(partial(_attention_better, "MAP"))
check("003-08c")(partial(_attention_better, "F1", "9"))
check("003-08d")(partial(_attention_better, "PCC"))


@check("003-09a")
def not_always_better() -> Finding:
    """Is attention, in English, below integrated gradients on F1 somewhere in knowledge and in computation?"""
    attention, gradients = scores("9", "F1", "ATT"), scores("9", "F1", "IG")
    below = (attention < gradients).any()
    text = _above(attention, gradients)[1]
    return status(bool(below[[*WEAK]].all())), f"F1 of attention against integrated gradients, Table 9: {text}"


def _base_above_large(metric: str) -> Finding:
    """Is ERNIE-base above ERNIE-large in all dimensions but knowledge, by both methods, and not in knowledge?"""
    base, large = (
        pd.DataFrame({method: scores("5", metric, method).loc[name] for method in ("ATT", "IG")}).T
        for name in (BASE, LARGE)
    )
    whole, text = _above(base.drop(columns="knowledge"), large.drop(columns="knowledge"))
    return status(whole), f"{metric} of ERNIE-base against ERNIE-large, Table 5, without knowledge: {text}"


check("003-10a")(partial(_base_above_large, "F1"))
check("003-10b")(partial(_base_above_large, "MAP"))


def _best(metric: str, model: str, others: list[str], dimensions: tuple[str, ...]) -> tuple[bool, str]:
    """Is a model of Table 5 above the better of others in these dimensions, by both methods?"""
    tables = {method: scores("5", metric, method)[[*dimensions]] for method in ("ATT", "IG")}
    first = pd.DataFrame({method: table.loc[model] for method, table in tables.items()}).T
    return _above(first, pd.DataFrame({method: table.loc[others].max() for method, table in tables.items()}).T)


@check("003-10c")
def ernie_more_plausible() -> Finding:
    """Is ERNIE-base above both other base models in F1, by both methods?"""
    whole, text = _best("F1", BASE, ["BERT-base", "RoBERTa-base"], DIMENSIONS)
    return status(whole), f"F1 of ERNIE-base against the better of BERT-base and RoBERTa-base, Table 5: {text}"


@check("003-10d")
def roberta_more_faithful() -> Finding:
    """Is RoBERTa above both other base models in MAP, in grammar and semantics, by both methods?"""
    whole, text = _best("MAP", "RoBERTa-base", ["BERT-base", BASE], LEARNED)
    return status(whole), f"MAP of RoBERTa-base against the better of BERT-base and ERNIE-base, Table 5: {text}"


@check("003-11a")
def smaller_gaps() -> Finding:
    """Is the gap between the two methods smaller in PCC than in MAP?"""
    gaps = {
        metric: (scores("5", metric, "ATT") - scores("5", metric, "IG")).abs().round(4) for metric in ("PCC", "MAP")
    }
    means = ", ".join(f"{metric} {show(round(float(gap.to_numpy().mean()), 4))}" for metric, gap in gaps.items())
    nearer = (gaps["MAP"] - gaps["PCC"]).mean(axis=1).round(6) > 0
    text = f"smaller in PCC for {int(nearer.sum())} of {len(nearer)} models by their means"
    cells = _above(gaps["MAP"], gaps["PCC"])[1]
    return status(bool(nearer.all())), f"Mean gap between the methods in Table 5: {means}; {text}; cell by cell {cells}"


@check("003-11b")
def same_trend() -> Finding:
    """Is the method that is ahead by MAP ahead by PCC, for every model, by the means over the dimensions?"""
    ahead = {m: (scores("5", m, "ATT") - scores("5", m, "IG")).mean(axis=1).round(6) for m in ("MAP", "PCC")}
    same = ahead["MAP"] * ahead["PCC"] > 0
    return status(
        bool(same.all())
    ), f"In Table 5 the two name the same method for {int(same.sum())} of {len(same)} models."


# ---- rationale length and kinds of perturbation -------------------------------------------------------------------


def _listed(values: pd.Series) -> str:
    return ", ".join(f"{name} {show(round(float(value), 4))}" for name, value in values.items())


def _dimensions(chosen: pd.Series) -> str:
    return ", ".join(str(name) for name in chosen.index[chosen]) or "none"


@check("003-12f")
def length_ratios() -> Finding:
    """Are the length ratios of Table 3 (Chinese, as section 5.3 is) nearer to 0.5 than to 0.3, or the reverse?"""
    ratios = numbers(PAPER, "3")["Chinese RRL"] / 100
    half = (ratios - 0.5).abs() < (ratios - 0.3).abs()
    whole = bool(half[[*LONG]].all() and not half[[*SHORT]].any())
    return status(whole), f"Length ratios of Table 3, Chinese: {_listed(ratios)}; nearer to 0.5: {_dimensions(half)}."


def _with_length(metric: str, claim: str) -> Finding:
    """Over the five dimensions, does the metric of each model and method rise with the length ratio?"""
    table, ratios = numbers(PAPER, "5"), numbers(PAPER, "3")["Chinese RRL"]
    columns = [f"{dimension} {metric}" for dimension in ratios.index]
    r = pd.Series({name: table.loc[name, columns].corr(ratios.set_axis(columns)) for name in table.index})
    text = (
        f"Over the five dimensions, the correlation of {metric} with the length ratio lies from {r.min():.2f} to "
        f"{r.max():.2f} for the {len(r)} rows of Table 5; it is above zero in {int((r > 0).sum())}."
    )
    stands, tested = borne_out(outcomes(own_tables.length_tests()), claim)
    return stands, f"{text} {tested}"


check("003-12g")(partial(_with_length, "F1", "003-12g"))
check("003-12h")(partial(_with_length, "MAP", "003-12h"))


@check("003-13a")
def transformations_cost_accuracy() -> Finding:
    """Does accuracy change most under transformations, on average and in every dimension?"""
    size = by_kind("6", "change").abs()
    most = size[TRANSFORMED] >= size.max(axis=1)
    text = (
        f"Mean size of the changes in Table 6, in points: {_listed(size.mean())}; largest, or as large as any, under "
    )
    stands, tested = borne_out(outcomes(own_tables.kind_tests()), "003-13a")
    return stands, f"{text}transformation in: {_dimensions(most)}. {tested}"


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
        for kind in PERTURBATIONS[1:]
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


@check("003-18b")
def dispensable_in_two_languages() -> Finding:
    """Is every Chinese change under dispensable words (Table 6) smaller than those of the English dimensions named?"""
    chinese = by_kind("6", "change")[DISPENSABLE]
    english = by_kind("11", "change").loc[["semantics", "knowledge", "reasoning"], DISPENSABLE].dropna()
    text = f"Changes under dispensable, in points: Chinese (Table 6) {_listed(chinese)}; English (Table 11), as far as "
    text += f"it can be read, {_listed(english) or 'none'}."
    return status(len(english) > 0 and bool(chinese.abs().max() < english.abs().min())), text
