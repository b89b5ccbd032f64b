"""Paper 001 against its own Table 6: more candidate entities (section 5.6), its means, and its number of prompts."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal
from functools import partial

import pandas as pd

from probekit.report.checks import Finding, fit, registry, show, status
from probekit.report.published import cell, published

from notebooks.templates.own_001 import MEAN, PAPER, table6

CHECKS, check = registry()
SETS = ("SQuAD", "Biomed-Wikidata", "CTD")
AROUND = 25  # sizes tried on each side of the claimed one


@check("001-13a")
def every_model_drops() -> Finding:
    """Section 5.6: is every accuracy of every model lower with the enlarged list?"""
    table = table6()
    before = table[[name for name in table.columns if " Original " in name]]
    after = table[[name.replace(" Original ", " Modified ") for name in before.columns]].set_axis(
        before.columns, axis=1
    )
    equal, higher = before == after, after > before
    unmoved = [f"{column.replace(' Original', '')}: {n}" for column, n in equal.sum().items() if n]
    text = (
        f"Of {before.size} pairs of accuracies in Table 6, {int((after < before).to_numpy().sum())} fall, "
        f"{int(equal.to_numpy().sum())} print the same value ({', '.join(unmoved) or 'none'}) and "
        f"{int(higher.to_numpy().sum())} rise, to the printed digits. "
        f"At Acc@1 {_at_one(equal)} of {_at_one(before.notna())} are the same."
    )
    return status(not equal.to_numpy().any() and not higher.to_numpy().any()), text


def _at_one(cells: pd.DataFrame) -> int:
    return int(cells[[name for name in cells.columns if name.endswith(" A@1")]].to_numpy().sum())


def mean_of(column: str) -> Finding:
    """Does the printed mean of this column follow from its rows?"""
    rows, printed = table6()[column], cell(PAPER, "6", MEAN, column)
    how = fit(rows.mean(), printed)
    return status(
        how != "neither"
    ), f"The {len(rows)} rows of {column} have the mean {show(rows.mean())}; {printed} ({how})."


for _letter, _dataset in zip("bcd", SETS, strict=True):
    check(f"{PAPER}-13{_letter}")(partial(mean_of, f"{_dataset} Modified A@1"))


@check("001-13e")
def squad_suffers_most() -> Finding:
    """Section 5.6: the mean Acc@1 falls most on SQuAD."""
    means = {d: [float(cell(PAPER, "6", MEAN, f"{d} {state} A@1")) for state in ("Original", "Modified")] for d in SETS}
    falls = {dataset: 1 - after / before for dataset, (before, after) in means.items()}
    text = ", ".join(f"{d} {show(means[d][0])} to {show(means[d][1])} ({falls[d]:.0%} less)" for d in SETS)
    return status(max(falls, key=lambda d: falls[d]) == "SQuAD"), f"Printed means of Acc@1: {text}."


@check("001-13f")
def average_row() -> Finding:
    """Table 6: are its means the means of its rows, rounded or cut?"""
    table = table6()
    fits = {name: fit(table[name].mean(), cell(PAPER, "6", MEAN, name)) for name in table.columns}
    cut = sum(_two_digits(table[name].mean(), ROUND_DOWN) == Decimal(cell(PAPER, "6", MEAN, name)) for name in fits)
    rounded = list(fits.values()).count("rounded")
    text = f"Of {len(fits)} printed means {rounded} follow by rounding and {cut} by cutting after the second digit"
    return status("neither" not in fits.values()), f"{text}; {list(fits.values()).count('neither')} by neither."


@check("001-13g")
def union_of_lists() -> Finding:
    """Section 5.6: can 4514 be the union of the Biomed-Wikidata and CTD entities?"""
    wiki, ctd = (int(cell(PAPER, "text", f"{d}, original", "entities", "5.6")) for d in SETS[1:])
    both = [int(cell(PAPER, "text", f"{d}, enlarged", "entities", "5.6")) for d in SETS[1:]]
    possible = both[0] == both[1] and max(wiki, ctd) <= both[0] <= wiki + ctd
    text = (
        f"{wiki} + {ctd} = {wiki + ctd}, printed are {both[0]} and {both[1]}: {wiki + ctd - both[0]} entities in common"
    )
    return status(possible), f"{text}."


@check("001-17h")
def squad_prompts() -> Finding:
    """Can every SQuAD accuracy of Table 6 be a share of the stated number of prompts, printed with two digits?"""
    stated = int(cell(PAPER, "text", "SQuAD template-free prompts", "prompts", "3.2.2"))
    frame = published(PAPER, "6")
    squad = frame[frame["column"].str.startswith("SQuAD") & (frame["row"] != MEAN)]
    values = [Decimal(value) for value in squad["value"]]
    ways = {"rounded": ROUND_HALF_UP, "cut": ROUND_DOWN}
    misfits = {way: sum(value not in _shares(stated, mode) for value in values) for way, mode in ways.items()}
    fitting = [
        f"{size} ({way})"
        for size in range(max(1, stated - AROUND), stated + AROUND + 1)
        for way, mode in ways.items()
        if _shares(size, mode).issuperset(values)
    ]
    text = (
        f"Of the {len(values)} SQuAD accuracies in Table 6, {misfits['rounded']} cannot be shares of {stated} prompts "
        f"if rounded, {misfits['cut']} if cut. Of the numbers within {AROUND} of {stated}, "
        f"all fit {', '.join(fitting) or 'none'}."
    )
    return status(not all(misfits.values())), text


def _shares(size: int, mode: str) -> set[Decimal]:
    """Every share of ``size`` prompts, to two significant digits."""
    return {_two_digits(Decimal(right) / size, mode) for right in range(size + 1)}


def _two_digits(value: float | Decimal, mode: str) -> Decimal:
    exact = value if isinstance(value, Decimal) else Decimal(str(round(value, 12)))
    return Context(prec=2, rounding=mode).create_decimal(exact)
