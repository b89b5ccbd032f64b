"""Paper 003 against its own Tables 4, 5, 8 and 9: predictions, plausibility and faithfulness by model and dimension."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import pandas as pd

from probekit.report.checks import Finding, registry, show, status
from probekit.report.published import numbers

PAPER = "003"
DIMENSIONS = ("grammar", "semantics", "knowledge", "reasoning", "computation")
LEARNED, WEAK = ("grammar", "semantics"), ("knowledge", "computation")  # as section 5.2 groups them
THREE = ("grammar", "semantics", "reasoning")
BASE, LARGE = "ERNIE-base", "ERNIE-large"
PRINT = 0.1001  # both sides are printed to 0.1: their mean may be this far off
ABOUT_2 = (1.5, 2.5)  # points that round to 2

CHECKS, check = registry()


def accuracy(table: str, part: str = "all", top: int = 1) -> pd.DataFrame:
    """Accuracies of Table 4 (Chinese) or 8 (English): models down, dimensions across."""
    found = numbers(PAPER, table)
    return pd.DataFrame({name: found[f"{name} {part} top{top}"] for name in DIMENSIONS})


def scores(table: str, metric: str, method: str) -> pd.DataFrame:
    """A metric of Table 5 (Chinese) or 9 (English) by one method (ATT or IG): models down, dimensions across."""
    found = numbers(PAPER, table)
    rows = {str(name).removesuffix(f" {method}"): name for name in found.index if str(name).endswith(f" {method}")}
    return pd.DataFrame(
        {name: [found.loc[row, f"{name} {metric}"] for row in rows.values()] for name in DIMENSIONS}, index=[*rows]
    )


def _exceptions(holds: pd.DataFrame) -> tuple[bool, str]:
    """Whether all cells hold, and in words how many do and which do not."""
    failed = [f"{row} {column}" for row in holds.index for column in holds.columns if not holds.loc[row, column]]
    text = f"{int(holds.to_numpy().sum())} of {holds.size} comparisons hold"
    return not failed, f"{text}{'; not: ' + ', '.join(failed) if failed else ''}."


def _apart(table: str, high: Iterable[str], low: Iterable[str]) -> Finding:
    """Is the lowest accuracy in some dimensions above the highest in others?"""
    found = accuracy(table)
    least, most = found[[*high]].min().min(), found[[*low]].max().max()
    above = f"at least {show(least)} in {', '.join(high)}"
    return status(bool(least > most)), f"Top 1 in Table {table}: {above}; at most {show(most)} in {', '.join(low)}."


check("003-02a")(partial(_apart, "4", LEARNED, ("knowledge", "reasoning", "computation")))
check("003-02c")(partial(_apart, "4", ("grammar", "semantics", "reasoning"), WEAK))
check("003-03a")(partial(_apart, "8", ("grammar", "semantics", "reasoning"), WEAK))


def _means(table: str) -> Finding:
    """Is the accuracy on all inputs the mean of that on originals and on perturbed ones, as print allows?"""
    off = pd.concat(
        [
            (accuracy(table, "all", top) - (accuracy(table, "original", top) + accuracy(table, "perturbed", top)) / 2)
            for top in (1, 3)
        ],
        keys=["top 1", "top 3"],
    ).abs()
    off.index = [f"{model} {top}" for top, model in off.index]
    whole, text = _exceptions(off <= PRINT)
    return status(whole), f"Table {table}, largest distance {show(round(float(off.max().max()), 3))} points; {text}"


check("003-04a")(partial(_means, "4"))
check("003-04b")(partial(_means, "8"))


@check("003-05a")
def more_text_helps() -> Finding:
    """Are RoBERTa and ERNIE above BERT in grammar, semantics and reasoning?"""
    found = accuracy("4")[[*THREE]]
    rest = found.drop(index="BERT-base")
    whole, text = _exceptions(rest > found.loc["BERT-base"])
    return status(whole), f"Against BERT-base, top 1 of Table 4: {text}"


@check("003-05b")
def larger_helps() -> Finding:
    """Is ERNIE-large above ERNIE-base in these dimensions?"""
    found = accuracy("4")[[*THREE]]
    whole, text = _exceptions(found.loc[[LARGE]] > found.loc[BASE])
    return status(whole), f"ERNIE-large against ERNIE-base, top 1 of Table 4: {text}"


@check("003-06a")
def smaller_know_more() -> Finding:
    """Are BERT and ERNIE-base above the two others in knowledge and computation?"""
    found = accuracy("4")[[*WEAK]]
    better, others = found.loc[["BERT-base", BASE]], found.loc[["RoBERTa-base", LARGE]]
    whole, text = _exceptions(better > others.max())
    return status(whole), f"Against the better of RoBERTa-base and ERNIE-large, top 1 of Table 4: {text}"


@check("003-07a")
def about_two_points() -> Finding:
    """Does grammar accuracy fall by about 2 points for most models?"""
    falls = (accuracy("4", "original") - accuracy("4", "perturbed"))["grammar"].round(4)
    near = falls.between(*ABOUT_2)
    told = ", ".join(f"{name} {show(value)}" for name, value in falls.items())
    return status(2 * int(near.sum()) > len(near)), f"Falls in grammar, top 1 of Table 4: {told}."


@check("003-17a")
def large_above_base() -> Finding:
    """Is the large model above the base one in every dimension, in both families?"""
    found = accuracy("8")
    pairs = {family: found.loc[f"{family}-large"] > found.loc[f"{family}-base"] for family in ("BERT", "RoBERTa")}
    whole, text = _exceptions(pd.DataFrame(pairs).T)
    return status(whole), f"Large against base, top 1 of Table 8: {text}"


@check("003-17b")
def roberta_above_bert() -> Finding:
    """Is RoBERTa above BERT of its size in most dimensions?"""
    found = accuracy("8")
    better = {size: found.loc[f"RoBERTa-{size}"] > found.loc[f"BERT-{size}"] for size in ("base", "large")}
    most = all(2 * int(row.sum()) > len(row) for row in better.values())
    return status(most), f"RoBERTa against BERT, top 1 of Table 8: {_exceptions(pd.DataFrame(better).T)[1]}"


def _attention_better(metric: str) -> Finding:
    """Is attention above integrated gradients for every model and dimension of Table 5?"""
    whole, text = _exceptions(scores("5", metric, "ATT") > scores("5", metric, "IG"))
    return status(whole), f"{metric} of attention against integrated gradients, Table 5: {text}"


check("003-08a")(partial(_attention_better, "F1"))
check("003-08b")(partial(_attention_better, "MAP"))
check("003-08d")(partial(_attention_better, "PCC"))


@check("003-09a")
def not_always_better() -> Finding:
    """Is attention, in English, always better on F1 but in knowledge and in computation?"""
    better = scores("9", "F1", "ATT") > scores("9", "F1", "IG")
    always = better.all()
    expected = all(bool(always[name]) == (name not in WEAK) for name in DIMENSIONS)
    return status(expected), f"F1 of attention against integrated gradients, Table 9: {_exceptions(better)[1]}"


def _base_above_large(metric: str) -> Finding:
    """Is ERNIE-base above ERNIE-large in all dimensions but knowledge, by both methods, and not in knowledge?"""
    rows = {}
    for method in ("ATT", "IG"):
        found = scores("5", metric, method)
        rows[method] = found.loc[BASE] > found.loc[LARGE]
    holds = pd.DataFrame(rows).T.drop(columns="knowledge")
    whole, text = _exceptions(holds)
    return status(whole), f"{metric} of ERNIE-base against ERNIE-large, Table 5, without knowledge: {text}"


check("003-10a")(partial(_base_above_large, "F1"))
check("003-10b")(partial(_base_above_large, "MAP"))


@check("003-10c")
def ernie_more_plausible() -> Finding:
    """Is ERNIE-base above both other base models in F1, by both methods?"""
    rows = {}
    for method in ("ATT", "IG"):
        found = scores("5", "F1", method)
        rows[method] = found.loc[BASE] > found.loc[["BERT-base", "RoBERTa-base"]].max()
    whole, text = _exceptions(pd.DataFrame(rows).T)
    return status(whole), f"F1 of ERNIE-base against the better of BERT-base and RoBERTa-base, Table 5: {text}"


@check("003-10d")
def roberta_more_faithful() -> Finding:
    """Is RoBERTa above both other base models in MAP, in grammar and semantics, by both methods?"""
    rows = {}
    for method in ("ATT", "IG"):
        found = scores("5", "MAP", method)[[*LEARNED]]
        rows[method] = found.loc["RoBERTa-base"] > found.loc[["BERT-base", BASE]].max()
    whole, text = _exceptions(pd.DataFrame(rows).T)
    return status(whole), f"MAP of RoBERTa-base against the better of BERT-base and ERNIE-base, Table 5: {text}"


@check("003-11a")
def smaller_gaps() -> Finding:
    """Is the gap between the two methods smaller in PCC than in MAP?"""
    gaps = {
        metric: (scores("5", metric, "ATT") - scores("5", metric, "IG")).abs().round(4) for metric in ("PCC", "MAP")
    }
    whole, text = _exceptions(gaps["PCC"] < gaps["MAP"])
    means = ", ".join(f"{metric} {show(round(float(gap.to_numpy().mean()), 4))}" for metric, gap in gaps.items())
    return status(whole), f"Mean gap between the methods in Table 5: {means}; {text}"
