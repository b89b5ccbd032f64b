"""Paper 002 against its own Table 1: which way every rank moves (section "Rank-change")."""

from __future__ import annotations

from functools import partial

from probekit.report.checks import Finding, registry, show, status
from probekit.report.published import numbers

CHECKS, check = registry()

SIGNS = {  # claim: column of Table 1, sign of the change that the paper's sentence asks for
    "002-03a": ("O_a correct: O_t", -1),
    "002-03b": ("O_a correct: O_cor", -1),
    "002-03c": ("O_a correct: O_incor", 1),
    "002-03d": ("O_a incorrect: O_t", 1),
    "002-03e": ("O_a incorrect: O_cor", 1),
    "002-03f": ("O_a incorrect: O_incor", -1),
    "002-03g": ("O_a correct: O_a", -1),
    "002-03h": ("O_a incorrect: O_a", -1),
}


def moves(column: str, sign: int) -> Finding:
    """Has the change this sign for every model of Table 1?"""
    values = numbers("002", "1")[column]
    text = ", ".join(f"{model} {show(value)}" for model, value in values.items())
    return status(bool((sign * values > 0).all())), f"Rank changes in Table 1: {text}."


for claim, (column, sign) in SIGNS.items():
    check(claim)(partial(moves, column, sign))
