"""Numbers as papers print them: what rounds or is cut to a print, and what a print can stand for."""

from __future__ import annotations

import re
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from typing import Literal

from probekit.errors import ReportError

Fit = Literal["rounded", "cut", "neither"]


def fit(computed: float, printed: str) -> Fit:
    """How ``printed`` follows from ``computed``: ``rounded`` to its last digit, ``cut`` after it, or ``neither``."""
    exact = Decimal(str(round(computed, 12)))
    unit = _unit(printed)
    if exact.quantize(unit, ROUND_HALF_UP) == Decimal(printed):
        return "rounded"
    return "cut" if exact.quantize(unit, ROUND_DOWN) == Decimal(printed) else "neither"


def span(printed: str) -> tuple[float, float]:
    """The least and the greatest number that prints as ``printed`` when rounded or cut."""
    value, unit = Decimal(printed), _unit(printed)
    return float(value - unit / 2), float(value + unit)


def show(value: float) -> str:
    """A number for a sentence: four significant digits, never with an exponent."""
    return format(Decimal(f"{value:.4g}").normalize(), "f")


def _unit(printed: str) -> Decimal:
    if not re.fullmatch(r"-?\d+(\.\d+)?", printed):
        raise ReportError(f"a check needs a printed number and found {printed!r}: transcribe it in book/published")
    return Decimal(1).scaleb(-len(printed.partition(".")[2]))
