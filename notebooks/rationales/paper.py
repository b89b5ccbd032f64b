"""What paper 003 prints, and what it claims of that.

``CHECKS`` asks whether a sentence follows from the printed cells. A sentence that says more than its cells hold (*goes
with*, *smaller gap*) is decided by ``tests``, whose units are the paper's models: those of page 39.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from probekit.metrics.exact import Tested, apart, paired, with_cases
from probekit.metrics.printed import show
from probekit.probes.rationales import DIMENSIONS, PERTURBATIONS
from probekit.report.published import Finding, numbers, registry, status
from probekit.report.tested import HERE, Row, borne_out, outcomes

from notebooks.rationales.ask import ATTENTION, GRADIENTS

PAPER = "003"
LEARNED, UNLEARNED = ("grammar", "semantics"), ("knowledge", "reasoning", "computation")  # section 5.2
SHORT, LONG = LEARNED, UNLEARNED  # rationales of about .3 and about .5 of the words, section 5.3
WEAK, THREE = ("knowledge", "computation"), ("grammar", "semantics", "reasoning")  # as section 5.2 groups them
LANGUAGES = {"en": "English", "zh": "Chinese"}
CHINESE = "own/zh"  # the set of the paper's kind that its Chinese models are asked
ACCURACY = {"en": "8", "zh": "4"}  # language -> the table that prints it
SCORES = {"en": "9", "zh": "5"}
CHANGES = {"en": "11", "zh": "6"}
REASONS = {"en": "10", "zh": "7"}
METHODS = {ATTENTION: "ATT", GRADIENTS: "IG"}  # as Tables 5 and 9 shorten them
ALL = "all"
PARTS = (ALL, "original", "perturbed")
PRINTED = ("F1", "MAP", "PCC", "MAP*")  # metrics of Tables 5 and 9
AS_IT_STANDS, ABOVE = "as it stands", "above random scores"  # how a claim on word scores is measured
FEW = 5  # records or pairs below which a mean is not shown
BERT, ROBERTA, ERNIE, LARGE = "BERT-base", "RoBERTa-base", "ERNIE-base", "ERNIE-large"  # as Tables 4 and 5 name them
KIN = {("zh", ROBERTA): ("zh", BERT)}  # goes on from its weights, by its authors' model card (hfl)
DISPENSABLE, IMPORTANT, TRANSFORMED = PERTURBATIONS


# ---- what is printed ------------------------------------------------------------------------------------------------


def accuracy(language: str, part: str = ALL, top: int = 1) -> pd.DataFrame:
    """Accuracies of Table 4 (Chinese) or 8 (English), in percent: models down, dimensions across."""
    printed = numbers(PAPER, ACCURACY[language])
    return pd.DataFrame({name: printed[f"{name} {part} top{top}"] for name in DIMENSIONS})


def scores(language: str, metric: str, method: str) -> pd.DataFrame:
    """A metric of Table 5 (Chinese) or 9 (English) by one method: models down, dimensions across."""
    printed, ending = numbers(PAPER, SCORES[language]), f" {METHODS[method]}"
    rows = printed[printed.index.str.endswith(ending)].rename(index=lambda name: name.removesuffix(ending))
    return pd.DataFrame({name: rows[f"{name} {metric}"] for name in DIMENSIONS})


def by_kind(table: str, row: str = "", column: str = "") -> pd.DataFrame:
    """One row per dimension, one column per kind: a row of Tables 6 and 11, or a column of Tables 7 and 10."""
    printed = numbers(PAPER, table)
    if row:
        cells = printed.loc[row]
        names = sorted({str(name).rpartition(" ")[0] for name in cells.index}, key=DIMENSIONS.index)
        return pd.DataFrame({kind: [cells[f"{name} {kind}"] for name in names] for kind in PERTURBATIONS}, index=names)
    return pd.DataFrame({kind: printed[f"{kind} {column}"] for kind in PERTURBATIONS})


def ratios(language: str) -> pd.Series:
    """The share of an input's words that people marked, by dimension (Table 3)."""
    return (numbers(PAPER, "3")[f"{LANGUAGES[language]} RRL"] / 100)[[*DIMENSIONS]]


def accuracy_rows(language: str) -> pd.DataFrame:
    """Table 4 or 8 as rows: ``model, data, part, top, dimension, estimate`` in percent."""
    parts = {(part, top): accuracy(language, part, top) for part in PARTS for top in (1, 3)}
    return _as_rows(parts, ["part", "top"], ACCURACY[language])


def score_rows(language: str) -> pd.DataFrame:
    """Table 5 or 9 as rows: ``model, data, metric, method, dimension, estimate``."""
    parts = {(metric, method): scores(language, metric, method) for metric in PRINTED for method in METHODS}
    return _as_rows(parts, ["metric", "method"], SCORES[language])


def _as_rows(parts: Mapping[tuple[Any, ...], pd.DataFrame], keys: Sequence[str], table: str) -> pd.DataFrame:
    """Tables with models down and dimensions across, one under the other, a row per cell."""
    long = pd.concat(dict(parts), names=[*keys, "model"]).rename_axis(columns="dimension").stack().rename("estimate")
    return long.reset_index().assign(data=f"paper, Table {table}")


# ---- by model and dimension -----------------------------------------------------------------------------------------


def gap(language: str, metric: str) -> pd.DataFrame:
    """Attention less integrated gradients: models down, dimensions across."""
    return scores(language, metric, ATTENTION) - scores(language, metric, GRADIENTS)


def falls(language: str) -> pd.DataFrame:
    """Top 1 accuracy on perturbed inputs minus that on original ones, in points."""
    return accuracy(language, "perturbed") - accuracy(language, "original")


def with_share(language: str, method: str) -> dict[str, pd.DataFrame]:
    """What may go with the share of marked words: ``F1``; ``above``, what it has above random words; ``room``, the same
    as a share of what is left above them; and ``MAP``. Models down, dimensions across.

    As many words are predicted as the mean share of marked ones asks for (section 5.1). Of K = R n random words of n,
    K r / n are right where r are marked, so that F1 is 2 R x / (R + x) with x = r / n on average, and, since this is
    concave in x, at most R over inputs whose mean x is R.
    """
    f1, share = scores(language, "F1", method), ratios(language)
    return {"F1": f1, "above": f1 - share, "room": (f1 - share) / (1 - share), "MAP": scores(language, "MAP", method)}


# ---- tests over models or dimensions --------------------------------------------------------------------------------


def tests() -> pd.DataFrame:
    """All tests of page 39 (see ``probekit.report.tested``)."""
    return outcomes([*method_tests(), *length_tests(), *accuracy_tests(), *kind_tests(), *size_tests()])


def _both(parts: Iterable[pd.DataFrame | pd.Series]) -> Tested:
    """A number, or a mean over dimensions, for each English and Chinese model; a lineage (``KIN``) counts once."""
    means = [part if isinstance(part, pd.Series) else part.mean(axis=1) for part in parts]
    values = pd.concat(dict(zip(LANGUAGES, means, strict=True)))
    return paired(values, [KIN.get(key, key) for key in values.index])


def _languages(chinese: pd.DataFrame, english: pd.DataFrame) -> Tested:
    """Chinese less English models, of their means over the columns."""
    return apart(chinese.mean(axis=1), english.mean(axis=1))


def method_tests() -> Iterator[Row]:
    """Whether attention is ahead of integrated gradients, over models of both languages, and by which metric more."""
    said, claims = "Attention outperforms integrated gradients", {"F1": "003-08a", "MAP": "003-08b", "PCC": "003-08d"}
    for metric, claim in claims.items():
        lead = _both(gap(code, metric) for code in LANGUAGES)
        yield claim, said, f"{metric}, both languages", "lineage", "above", lead
    for dimension in DIMENSIONS:
        lead = _both(gap(code, "F1")[dimension] for code in LANGUAGES)
        what = f"F1, {dimension}, both languages"
        yield "", f"{HERE}attention is ahead in F1 in every dimension", what, "lineage", "above", lead
    further = f"{HERE}in F1 attention is further ahead in Chinese"
    lead = _languages(gap("zh", "F1"), gap("en", "F1"))
    yield "", further, "Chinese less English models", "model", "above", lead
    nearer = _both(gap(code, "MAP").abs() - gap(code, "PCC").abs() for code in LANGUAGES)
    smaller = "The two methods differ less in PCC than in MAP"
    yield "", smaller, "size of the difference: MAP less PCC", "lineage", "above", nearer


def length_tests() -> Iterator[Row]:
    """Whether F1 and MAP go with the length of rationales: the five dimensions of each language are the units, whatever
    the number of models, which all see the same items."""
    measures = {(code, method): with_share(code, method) for code, method in product(LANGUAGES, METHODS)}

    def with_length(measure: str, *methods: str) -> Tested:
        """The mean correlation with the share of marked words, over models and methods."""
        profiles = [pd.concat([measures[code, method][measure] for method in methods]) for code in LANGUAGES]
        return with_cases(profiles, [ratios(code) for code in LANGUAGES])

    longer, too = "goes with the length of the rationale", f"{HERE}so does F1 above that of random words"
    over = "r over dimensions, both languages"
    chosen = f"{HERE}models choose the words that people mark more often than chance does"
    yield "003-12g", f"F1 {longer}", over, "dimension", "above", with_length("F1", *METHODS)
    for measure, what in (("above", "F1 minus that of random words"), ("room", "as a share of the room left")):
        yield "", too, f"{over}, {what}", "dimension", "above", with_length(measure, *METHODS)
    for method in METHODS:
        yield "003-12h", f"MAP {longer}", f"{over}, {method}", "dimension", "above", with_length("MAP", method)
    for method in METHODS:
        lead = _both(measures[code, method]["above"] for code in LANGUAGES)
        yield "", chosen, f"F1 minus that of random words, {method}", "lineage", "above", lead


def accuracy_tests() -> list[Row]:
    """Whether accuracy falls under perturbation, more in one language, and whether grammar is the easier one there."""
    fell, more = "Accuracy falls under perturbation", f"{HERE}it falls more in Chinese"
    swap = [accuracy(code)[["grammar"]].sub(accuracy(code)["semantics"], axis=0) for code in ("zh", "en")]
    order = f"{HERE}grammar is easier than semantics in Chinese, and harder in English"
    what = "grammar less semantics, points: Chinese less English models"
    both, apart = _both(map(falls, LANGUAGES)), _languages(falls("zh"), falls("en"))
    return [
        ("", fell, "perturbed less original, points, both languages", "lineage", "below", both),
        ("", more, "Chinese less English models, points", "model", "below", apart),
        ("", order, what, "model", "above", _languages(*swap)),
    ]


def kind_tests() -> list[Row]:
    """Of RoBERTa-base with attention alone: the units are the dimensions of both languages. *Most* is more than the
    nearer of the other two kinds."""
    nearer = "transformations minus the nearer of the other two kinds"
    maps, moved = ([by_kind(REASONS[code], column=name) for code in LANGUAGES] for name in ("MAP", "F1 delta"))
    size = by_kind(CHANGES["zh"], "change").abs()
    lower = paired(pd.concat([table[TRANSFORMED] - _others(table).min(axis=1) for table in maps]))
    more, most = (
        paired(pd.concat([table[TRANSFORMED] - _others(table).max(axis=1) for table in parts]))
        for parts in (moved, [size])
    )
    what = f"Chinese, size of the change in points: {nearer}"
    return [
        ("", "Transformations lower MAP most", f"MAP: {nearer}", "dimension", "below", lower),
        ("", "Transformations change F1 most", f"F1 delta: {nearer}", "dimension", "above", more),
        ("003-13a", "Transformations change accuracy most", what, "dimension", "above", most),
    ]


def _others(table: pd.DataFrame) -> pd.DataFrame:
    return table.drop(columns=TRANSFORMED)


def size_tests() -> Iterator[Row]:
    """Whether the larger of two models is explained worse, and predicts better: a unit is a pair of them."""

    def base_less_large(*parts: Mapping[str, pd.DataFrame]) -> Tested:
        pairs = [("zh", ERNIE, LARGE), *(("en", f"{family}-base", f"{family}-large") for family in FAMILIES)]
        means = [
            [(rows[code].loc[base] - rows[code].loc[large]).mean() for rows in parts] for code, base, large in pairs
        ]
        return paired(np.mean(means, axis=1))

    said, more = "A larger model is no better explained", "The larger model predicts better"
    for metric in ("F1", "MAP"):
        lead = base_less_large(*({code: scores(code, metric, method) for code in LANGUAGES} for method in METHODS))
        yield "", said, f"{metric}: base less large model", "pair", "above", lead
    gains = base_less_large({code: -accuracy(code) for code in LANGUAGES})
    yield "003-17a", more, "top 1, points: large less base model", "pair", "above", gains


# ---- does a sentence follow from the printed cells? -----------------------------------------------------------------

CHECKS, check = registry()
FAMILIES = ("BERT", "RoBERTa")
KNOWN = [name for name in DIMENSIONS if name != "knowledge"]
AHEAD: dict[str, tuple[Sequence[str], Sequence[str], Sequence[str], str]] = {
    # claim -> models that are ahead of the best of others, in which dimensions, and by what
    "003-05a": ([ROBERTA, ERNIE, LARGE], [BERT], THREE, ""),
    "003-05b": ([LARGE], [ERNIE], THREE, ""),
    "003-06a": ([BERT, ERNIE], [ROBERTA, LARGE], WEAK, ""),
    "003-10a": ([ERNIE], [LARGE], KNOWN, "F1"),
    "003-10b": ([ERNIE], [LARGE], KNOWN, "MAP"),
    "003-10c": ([ERNIE], [BERT, ROBERTA], DIMENSIONS, "F1"),
    "003-10d": ([ROBERTA], [BERT, ERNIE], LEARNED, "MAP"),
}


def _above(first: pd.DataFrame, second: pd.DataFrame | pd.Series) -> Finding:
    """Whether each cell lies above the other's, and in words how many do and which lie below.

    Numbers that are printed alike leave it open: what was rounded may lie on either side.
    """
    gap = (first - second).round(6)
    failed = [f"{row} {column}" for row in gap.index for column in gap.columns if gap.loc[row, column] < 0]
    holds, ties = int((gap > 0).to_numpy().sum()), int((gap == 0).to_numpy().sum())
    text = f"{holds} of {gap.size} comparisons hold"
    text += f", {ties} {'is' if ties == 1 else 'are'} tied as printed" * bool(ties)
    stands = "open" if ties and not failed else status(not failed)
    return stands, text + ("; not: " + ", ".join(failed) if failed else "") + "."


def _listed(values: pd.Series) -> str:
    return ", ".join(f"{name} {show(round(float(value), 4))}" for name, value in values.items())


def _dimensions(chosen: pd.Series) -> str:
    return ", ".join(str(name) for name in chosen.index[chosen]) or "none"


def _ahead(claim: str) -> Finding:
    """Are models of Table 4, or one of Table 5 by both methods, above the best of others in these dimensions?"""
    names, others, dimensions, metric = AHEAD[claim]
    against = others[0] if len(others) == 1 else f"the better of {' and '.join(others)}"
    text = f"Against {against}" if len(names) > 1 else f"{names[0]} against {against}"
    if not metric:
        cells = accuracy("zh")[[*dimensions]]
        stands, counted = _above(cells.loc[[*names]], cells.loc[[*others]].max())
        return stands, f"{text}, top 1 of Table 4: {counted}"
    by_method = {short: scores("zh", metric, method)[[*dimensions]] for method, short in METHODS.items()}
    first = pd.DataFrame({short: table.loc[names[0]] for short, table in by_method.items()}).T
    best = pd.DataFrame({short: table.loc[[*others]].max() for short, table in by_method.items()}).T
    without = ", without knowledge" * (dimensions == KNOWN)
    stands, counted = _above(first, best)
    return stands, f"{metric} of {text}, Table 5{without}: {counted}"


for claim in AHEAD:
    check(claim)(partial(_ahead, claim))


def _apart(language: str, high: Iterable[str], low: Iterable[str]) -> Finding:
    """Is the lowest accuracy in some dimensions above the highest in others?"""
    table = accuracy(language)
    least, most = table[[*high]].min().min(), table[[*low]].max().max()
    above = f"at least {show(least)} in {', '.join(high)}; at most {show(most)} in {', '.join(low)}"
    return status(bool(least > most)), f"Top 1 in Table {ACCURACY[language]}: {above}."


check("003-02a")(partial(_apart, "zh", LEARNED, UNLEARNED))
check("003-02b")(partial(_apart, "en", LEARNED, UNLEARNED))
check("003-02c")(partial(_apart, "zh", THREE, WEAK))
check("003-03a")(partial(_apart, "en", THREE, WEAK))


@check("003-07a")
def about_two_points() -> Finding:
    """Does grammar accuracy fall by about 2 points, which are those that round to 2, for most models?"""
    lost = -falls("zh")["grammar"].round(4)
    near = lost.between(1.5, 2.5)
    return status(2 * int(near.sum()) > len(near)), f"Falls in grammar, top 1 of Table 4: {_listed(lost)}."


def _pairs(pattern: str, blanks: Sequence[str]) -> pd.DataFrame:
    """Models of Table 8 by what stands in the blank of their names."""
    return accuracy("en").loc[[pattern.format(blank) for blank in blanks]].set_axis([*blanks])


@check("003-17a")
def large_above_base() -> Finding:
    """Is the large model above the base one in every dimension, in both families?"""
    stands, text = _above(_pairs("{}-large", FAMILIES), _pairs("{}-base", FAMILIES))
    return stands, f"Large against base, top 1 of Table 8: {text}"


@check("003-17b")
def roberta_above_bert() -> Finding:
    """Is RoBERTa above BERT of its size in most dimensions?"""
    bert, roberta = (_pairs(f"{family}-{{}}", ("large", "base")) for family in FAMILIES)
    most = bool((2 * (roberta > bert).sum(axis=1) > len(DIMENSIONS)).all())
    return status(most), f"RoBERTa against BERT, top 1 of Table 8: {_above(roberta, bert)[1]}"


def _attention_better(metric: str, language: str = "zh") -> Finding:
    """Is attention above integrated gradients for every model of Table 5 (or 9), by its mean over the dimensions?"""
    ahead = gap(language, metric).mean(axis=1).round(6) > 0
    text = f"{metric} of attention, mean over dimensions, is the higher for {int(ahead.sum())} of {len(ahead)} models"
    cells = _above(scores(language, metric, ATTENTION), scores(language, metric, GRADIENTS))[1]
    return status(bool(ahead.all())), f"{text} of Table {SCORES[language]}; cell by cell {cells}"


check("003-08a")(partial(_attention_better, "F1"))
check("003-08b")(partial(_attention_better, "MAP"))
check("003-08c")(partial(_attention_better, "F1", "en"))
check("003-08d")(partial(_attention_better, "PCC"))
check("003-08e")(partial(_attention_better, "MAP", "en"))


@check("003-09a")
def not_always_better() -> Finding:
    """Is attention, in English, below integrated gradients on F1 somewhere in knowledge and in computation?"""
    attention, gradients = (scores("en", "F1", method) for method in METHODS)
    below = (attention < gradients).any()
    text = f"F1 of attention against integrated gradients, Table 9: {_above(attention, gradients)[1]}"
    return status(bool(below[[*WEAK]].all())), text


@check("003-11a")
def smaller_gaps() -> Finding:
    """Is the gap between the two methods smaller in PCC than in MAP?"""
    gaps = {metric: gap("zh", metric).abs().round(4) for metric in ("PCC", "MAP")}
    means = _listed(pd.Series({metric: sizes.to_numpy().mean() for metric, sizes in gaps.items()}))
    nearer = (gaps["MAP"] - gaps["PCC"]).mean(axis=1).round(6) > 0
    text = f"smaller in PCC for {int(nearer.sum())} of {len(nearer)} models by their means"
    cells = _above(gaps["MAP"], gaps["PCC"])[1]
    return status(bool(nearer.all())), f"Mean gap between the methods in Table 5: {means}; {text}; cell by cell {cells}"


@check("003-11b")
def same_trend() -> Finding:
    """Is the method that is ahead by MAP ahead by PCC, for every model, by the means over the dimensions?"""
    by_map, by_pcc = (gap("zh", metric).mean(axis=1).round(6) for metric in ("MAP", "PCC"))
    same = by_map * by_pcc > 0
    text = f"In Table 5 the two name the same method for {int(same.sum())} of {len(same)} models."
    return status(bool(same.all())), text


@check("003-12f")
def length_ratios() -> Finding:
    """Are the length ratios of Table 3 (Chinese, as section 5.3 is) nearer to 0.5 than to 0.3, or the reverse?"""
    shares = numbers(PAPER, "3")["Chinese RRL"] / 100
    half = (shares - 0.5).abs() < (shares - 0.3).abs()
    whole = bool(half[[*LONG]].all() and not half[[*SHORT]].any())
    return status(whole), f"Length ratios of Table 3, Chinese: {_listed(shares)}; nearer to 0.5: {_dimensions(half)}."


def _goes_with_length(metric: str, claim: str) -> Finding:
    """Over the five dimensions, does the metric of each model and method rise with the length ratio?"""
    r = pd.concat([scores("zh", metric, method).T.corrwith(ratios("zh")) for method in METHODS])
    text = (
        f"Over the five dimensions, the correlation of {metric} with the length ratio lies from {r.min():.2f} to "
        f"{r.max():.2f} for the {len(r)} rows of Table 5; it is above zero in {int((r > 0).sum())}."
    )
    stands, tested = borne_out(outcomes(length_tests()), claim)
    return stands, f"{text} {tested}"


check("003-12g")(partial(_goes_with_length, "F1", "003-12g"))
check("003-12h")(partial(_goes_with_length, "MAP", "003-12h"))


@check("003-13a")
def transformations_cost_accuracy() -> Finding:
    """Does accuracy change most under transformations, on average and in every dimension?"""
    size = by_kind(CHANGES["zh"], "change").abs()
    most = _dimensions(size[TRANSFORMED] >= size.max(axis=1))
    stands, tested = borne_out(outcomes(kind_tests()), "003-13a")
    text = (
        f"Mean size of the changes in Table 6, in points: {_listed(size.mean())}; largest, or as large as any, under "
    )
    return stands, f"{text}transformation in: {most}. {tested}"


@check("003-13b")
def others_cost_less() -> Finding:
    """Are the changes under the two other kinds smaller, on average, than under transformations?"""
    size = by_kind(CHANGES["zh"], "change").abs()
    rest, mean = _others(size), size[TRANSFORMED].mean()
    text = (
        f"Under the other two kinds the greatest change of Table 6 is {show(rest.max().max())} points "
        f"({rest.max(axis=1).idxmax()}, {rest.max().idxmax()}), the mean {show(round(rest.stack().mean(), 4))}; under "
        f"transformations the mean is {show(round(mean, 4))}."
    )
    return status(bool((rest.mean() < mean).all())), text


def _lowest_map(language: str, dimensions: Sequence[str]) -> Finding:
    """Is MAP lowest under transformations in each of these dimensions?"""
    table = by_kind(REASONS[language], column="MAP")
    lowest = table.idxmin(axis=1) == TRANSFORMED
    text = f"MAP of Table {REASONS[language]} is lowest under transformation in: {_dimensions(lowest)}. Means: "
    return status(bool(lowest[[*dimensions]].all())), f"{text}{_listed(table.mean())}."


check("003-14a")(partial(_lowest_map, "zh", SHORT + LONG))
check("003-14b")(partial(_lowest_map, "en", ("semantics", "knowledge", "reasoning")))


@check("003-15a")
def others_change_plausibility() -> Finding:
    """Table 7: do important changes and transformations move F1 more than dispensable ones in three dimensions?"""
    short = [
        f"{dimension}, {kind} {show(row[kind])} against {show(row[DISPENSABLE])}"
        for dimension, row in by_kind("7", column="F1 delta").loc[["semantics", "reasoning", "computation"]].iterrows()
        for kind in (IMPORTANT, TRANSFORMED)
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
    table = by_kind("10", column="F1 delta")
    most = table.idxmax(axis=1) == TRANSFORMED
    text = f"The F1 difference of Table 10 is greatest under transformation in: {_dimensions(most)}. Means: "
    return status(int(most.sum()) > len(most) / 2), f"{text}{_listed(table.mean())}."


@check("003-18b")
def dispensable_in_two_languages() -> Finding:
    """Is every Chinese change under dispensable words (Table 6) smaller than those of the English dimensions named?"""
    chinese = by_kind("6", "change")[DISPENSABLE]
    english = by_kind("11", "change").loc[["semantics", "knowledge", "reasoning"], DISPENSABLE].dropna()
    text = f"Changes under dispensable, in points: Chinese (Table 6) {_listed(chinese)}; English (Table 11), as far as "
    text += f"it can be read, {_listed(english) or 'none'}."
    return status(len(english) > 0 and bool(chinese.abs().max() < english.abs().min())), text
