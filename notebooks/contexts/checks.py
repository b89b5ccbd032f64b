"""Does a sentence of paper 002 follow from the numbers that it prints? One check per claim, by its Tables 1 to 3."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any

import pandas as pd

from probekit.metrics.decisions import TOO_FEW
from probekit.metrics.printed import show, span
from probekit.report.published import Finding, numbers, published, registry, status
from probekit.report.tables import pick
from probekit.report.tested import Row, outcomes

from notebooks.contexts.own_tables import context_tests, domain_tests, opposite_tests, size_tests, ucm
from notebooks.contexts.paper import GENERAL, LARGER, PAPER, table2, table3
from notebooks.contexts.rank_change import ADDED, DIRECTIONS, ENTITIES

SIMILAR = 0.02  # a share that rises by no more than this is read as "similar"

CHECKS, check = registry()


def tested(claim: str, tests: Callable[[], list[Row]], *beside: str) -> Finding:
    """Do the tests of page 29 on a sentence bear it out, those of one statement being one family (see ``decided``)?

    It is consistent where all of them that can decide agree, inconsistent where one contradicts, and else not
    checkable: which of two printed numbers is the greater is no answer where chance alone could turn them round.

    Args:
        claim: its id.
        tests: those of a part of the page.
        beside: statements whose tests are told too and decide nothing here.
    """
    every = outcomes(tests())
    own = pick(every, claim=claim)
    signs = set(own["verdict"]) - {TOO_FEW}
    rows = [*own.to_dict("records"), *pick(every, statement=list(beside)).to_dict("records")]
    told = "; ".join(f"{row['compared']} {row['estimate']:+.3f}, {_how_sure(row)}" for row in rows)
    decided = "contradicts" in signs or signs == {"agrees"}
    return (status("contradicts" not in signs) if decided else "not checkable"), f"In print: {told}."


def _how_sure(row: Mapping[Hashable, Any]) -> str:
    units, p = f"{row['n']} {row['unit']}s", row["p_holm"]
    if row["verdict"] == TOO_FEW:
        return f"{units}, too few for any test"
    return f"{units}, p " + ("< 0.001" if p < 0.001 else f"= {p:.3f}")


def moves(column: str, sign: int) -> Finding:
    """Has the change this sign for every model of Table 1?"""
    values = numbers(PAPER, "1")[column]
    text = ", ".join(f"{model} {show(value)}" for model, value in values.items())
    return status(bool((sign * values > 0).all())), f"Rank changes in Table 1: {text}."


for _claim, (_correct, _change, _sign) in DIRECTIONS.items():
    check(_claim)(partial(moves, f"{ADDED[_correct]}: {ENTITIES[_change]}", _sign))


check("002-04i")(partial(tested, "002-04i", context_tests))
check("002-09a")(partial(tested, "002-09a", domain_tests, "Text of the domain adds knowledge: a lower M"))
check("002-12b")(partial(tested, "002-12b", opposite_tests))


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


def larger_is_better(claim: str, column: str, sign: int) -> Finding:
    """UCM_m: is the larger model of every pair better in this column (``sign`` 1: higher is better)?"""
    share = table3()[column]
    worse = [pair for pair in LARGER if sign * (share[pair[1]] - share[pair[0]]) <= 0]
    told = "; ".join(f"{base} {show(share[base])}, {large} {show(share[large])}" for base, large in worse)
    found, text = tested(claim, size_tests)
    return found, f"{text} Not better as printed: {told or 'none'}."


check("002-08a")(partial(larger_is_better, "002-08a", "target U", 1))
check("002-08b")(partial(larger_is_better, "002-08b", "target M", -1))


@check("002-09b")
def more_text_of_the_domain() -> Finding:
    """Does U rise with clinical text on top? Also U and M from RoBERTa-base to -PM to -PM-M3, one model each."""
    names = ["RoBERTa-base", "RoBERTa-base-PM", "RoBERTa-base-PM-M3"]
    second = ucm()
    rows = {f"Table 2, {name}": table2().loc[names, name] for name in ("U", "M")}
    rows |= {f"Table 3, {name}": second.loc[names, name] for name in ("U", "M")}
    text = "; ".join(f"{name}: {', '.join(map(show, row))}" for name, row in rows.items())
    found, told = tested("002-09b", domain_tests, "Clinical text on top adds knowledge: a lower M")
    return found, f"{told} From {names[0]} to {names[1]} to {names[2]}, one model each: {text}."


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
