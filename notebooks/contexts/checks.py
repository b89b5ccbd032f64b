"""Does a sentence of paper 002 follow from the numbers that it prints? One check per claim, by its Tables 1 to 3."""

from __future__ import annotations

from functools import partial

import pandas as pd

from probekit.metrics.printed import show, span
from probekit.report.published import Finding, numbers, published, registry, status

from notebooks.contexts.rank_change import ADDED, DIRECTIONS, ENTITIES

PAPER = "002"
GENERAL = ("BERT-base", "BERT-large", "RoBERTa-base", "RoBERTa-large")  # rows of Table 2 without biomedical text
LARGER = (  # (base, large) of one kind, as Tables 2 and 3 name them
    ("BERT-base", "BERT-large"),
    ("RoBERTa-base", "RoBERTa-large"),
    ("RoBERTa-base-PM-M3", "RoBERTa-large-PM-M3"),
    ("BlueBERT-base-PM-M3", "BlueBERT-large-PM-M3"),
)
SIMILAR = 0.02  # a share that rises by no more than this is read as "similar"
MIRROR = 0.1  # shares no further apart than this would be called alike

CHECKS, check = registry()


def table2() -> pd.DataFrame:
    """Table 2, one row per model."""
    return numbers(PAPER, "2")


def table3() -> pd.DataFrame:
    """Table 3, one row per model."""
    return numbers(PAPER, "3")


def moves(column: str, sign: int) -> Finding:
    """Has the change this sign for every model of Table 1?"""
    values = numbers(PAPER, "1")[column]
    text = ", ".join(f"{model} {show(value)}" for model, value in values.items())
    return status(bool((sign * values > 0).all())), f"Rank changes in Table 1: {text}."


for _claim, (_correct, _change, _sign) in DIRECTIONS.items():
    check(_claim)(partial(moves, f"{ADDED[_correct]}: {ENTITIES[_change]}", _sign))


@check("002-04i")
def biomedical_is_lower() -> Finding:
    """Without context, have biomedical models the lower mean, by both accuracies?"""
    table, told, lower = table2(), [], []
    for k in ("acc@1", "acc@5"):
        column = table[f"without context {k}"]
        general, biomedical = column[list(GENERAL)].mean(), column.drop(list(GENERAL)).mean()
        lower.append(biomedical < general)
        pair = " and ".join(f"{name} {show(column[name])}" for name in ("ClinicalBERT", "BERT-base"))
        told.append(f"{k} {show(biomedical)} against {show(general)}, {pair}")
    return status(all(lower)), f"Means of biomedical and general models in Table 2: {'; '.join(told)}."


@check("002-04j")
def accuracy_sets_two_apart() -> Finding:
    """Are ClinicalBERT and BioBERT further apart by accuracy without context than by any of U, C, M?"""
    apart = (table2().loc["BioBERT"] - table2().loc["ClinicalBERT"]).abs()
    accuracy = apart[["without context acc@1", "without context acc@5"]]
    text = ", ".join(f"{name} {show(round(apart[name], 4))}" for name in [*accuracy.index, "U", "C", "M"])
    return status(accuracy.min() > apart[["U", "C", "M"]].max()), f"Differences of the two in Table 2: {text}."


def context_raises(k: str) -> Finding:
    """Is the accuracy with context above that without for every model?"""
    table = table2()
    gain = (table[f"with context {k}"] - table[f"without context {k}"]).sort_values()
    text = (
        f"In Table 2 {k} rises for {int((gain > 0).sum())} of {len(gain)} models, by {show(round(gain.iloc[0], 4))} "
        f"({gain.index[0]}) to {show(round(gain.iloc[-1], 4))} ({gain.index[-1]})."
    )
    return status(bool((gain > 0).all())), text


check("002-05a")(partial(context_raises, "acc@1"))
check("002-05b")(partial(context_raises, "acc@5"))


@check("002-06a")
def near_ninety() -> Finding:
    """With context, do almost all biomedical models have an acc@5 near 0.90? How near, and how many, is not said."""
    column = table2()["with context acc@5"]
    biomedical, general = (", ".join(f"{name} {show(value)}" for name, value in part.items())
                           for part in (column.drop(list(GENERAL)), column[list(GENERAL)]))  # fmt: skip
    return "not checkable", f"Acc@5 with context in Table 2, biomedical models: {biomedical}; general: {general}."


def larger_understands(base: str, large: str) -> Finding:
    """UCM_k: has the larger model a higher U, and a C and M that are lower or similar?"""
    change = table2().loc[large, ["U", "C", "M"]] - table2().loc[base, ["U", "C", "M"]]
    text = ", ".join(f"{name} {'+' * (value > 0)}{show(round(value, 4))}" for name, value in change.items())
    holds = change["U"] > 0 and max(change["C"], change["M"]) <= SIMILAR + 1e-9
    return status(holds), f"From {base} to {large} in Table 2: {text}; up to +{SIMILAR} is read as similar."


for _letter, (_base, _large) in zip("abc", LARGER, strict=False):
    check(f"002-07{_letter}")(partial(larger_understands, _base, _large))


def larger_is_better(column: str, sign: int) -> Finding:
    """UCM_m: is the larger model of every pair better in this column (``sign`` 1: higher is better)?"""
    share = table3()[column]
    worse = [pair for pair in LARGER if sign * (share[pair[1]] - share[pair[0]]) <= 0]
    told = "; ".join(f"{base} {show(share[base])}, {large} {show(share[large])}" for base, large in worse)
    kind = "higher" if sign > 0 else "lower"
    text = f"In Table 3 {column} is {kind} for {len(LARGER) - len(worse)} of {len(LARGER)} larger models"
    return status(not worse), f"{text}; not so: {told or 'none'}."


check("002-08a")(partial(larger_is_better, "target U", 1))
check("002-08b")(partial(larger_is_better, "target M", -1))


@check("002-09b")
def more_text_of_the_domain() -> Finding:
    """Does U rise from RoBERTa-base to -PM to -PM-M3? Table 3 prints the second as RoBERTa."""
    first = table2().loc[["RoBERTa-base", "RoBERTa-base-PM", "RoBERTa-base-PM-M3"]]
    second = table3().loc[["RoBERTa-base", "RoBERTa", "RoBERTa-base-PM-M3"]]
    rows = {
        "Table 2, U": first["U"],
        "Table 3, U": second["target U"],
        "Table 2, M": first["M"],
        "Table 3, M": second["target M"],
    }
    text = "; ".join(f"{name}: {', '.join(map(show, row))}" for name, row in rows.items())
    rises = all(bool((rows[name].diff().dropna() > 0).all()) for name in rows if name.endswith("U"))
    return status(rises), f"In this order {text}; Table 3 is read as printing RoBERTa-base-PM as RoBERTa."


@check("002-12a")
def signs_turn() -> Finding:
    """Is U above M for the target and below it for the negative target, for every model?"""
    table = table3()
    own = table["target U"] > table["target M"]
    other = table["negative-target U"] < table["negative-target M"]
    text = (
        f"In Table 3 U exceeds M for the target in {int(own.sum())} of {len(table)} models, M exceeds U for the "
        f"negative target in {int(other.sum())}; C is the largest share in "
        f"{int((table['target C'] > table['target U']).sum())} and "
        f"{int((table['negative-target C'] > table['negative-target M']).sum())}."
    )
    return status(bool((own & other).all())), text


@check("002-12b")
def shares_swap() -> Finding:
    """Are U of one and M of the other alike, as they would be if behaviours were opposite in size too?"""
    table = table3()
    gaps = pd.concat(
        [table["target U"] - table["negative-target M"], table["target M"] - table["negative-target U"]], axis=1
    ).abs()
    alike = (gaps <= MIRROR).all(axis=1)
    text = (
        f"In Table 3 U of the target and M of the negative target differ by {show(round(gaps[0].min(), 4))} to "
        f"{show(round(gaps[0].max(), 4))}; both pairs are within {MIRROR} for {int(alike.sum())} of "
        f"{len(table)} models."
    )
    return status(bool(alike.all())), text


def sums_to_one(table: str, columns: tuple[str, ...]) -> Finding:
    """Can U, C and M of every row sum to 1, each rounded or cut to the digits printed?"""
    cells = published(PAPER, table)
    rows = {name: group.set_index("column").loc[list(columns), "value"] for name, group in cells.groupby("row")}
    sums = pd.Series({name: row.astype(float).sum() for name, row in rows.items()}).sort_values()
    off = [
        f"{name} {show(round(sums[name], 4))}"
        for name, row in rows.items()
        if not sum(span(v)[0] for v in row) <= 1 <= sum(span(v)[1] for v in row)
    ]
    text = (
        f"The rows sum to {show(round(sums.iloc[0], 4))} ({sums.index[0]}) to {show(round(sums.iloc[-1], 4))} "
        f"({sums.index[-1]})"
    )
    return status(not off), f"{text}; not 1 for any unrounded numbers: {', '.join(off) or 'none'}."


check("002-13a")(partial(sums_to_one, "2", ("U", "C", "M")))
check("002-13b")(partial(sums_to_one, "3", ("target U", "target C", "target M")))
check("002-13c")(partial(sums_to_one, "3", ("negative-target U", "negative-target C", "negative-target M")))
