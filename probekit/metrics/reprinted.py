"""What two prints of one page differ in, and by how much of their last decimal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:e-?\d+)?")


def compare(committed: Sequence[str], new: Sequence[str]) -> dict[str, Any]:
    """Two printed pages line by line.

    Returns:
        ``numbers`` (printed on the committed page), ``differ`` (how many of them come out otherwise), ``beyond`` (of
        these, how many by more than one unit of their last decimal; a whole number has none, and a line that says
        something else, or is missing, counts), ``largest`` (difference) and ``first`` (old and new text around it).
    """
    differ = beyond = abs(len(committed) - len(new))
    largest, first = 0.0, ""
    for old, fresh in zip(committed, new, strict=False):
        if old != fresh:
            pairs = zip(
                *([Decimal(n.replace(",", "")) for n in NUMBER.findall(line)] for line in (old, fresh)), strict=False
            )
            changed = [(a, abs(a - b)) for a, b in pairs if a != b]
            differ += max(1, len(changed))
            reworded = NUMBER.sub("0", old) != NUMBER.sub("0", fresh)
            beyond += max(1, len(changed)) if reworded else sum(size > _last_decimal(a) for a, size in changed)
            largest = max([largest, *(float(size) for _, size in changed)])
            first = first or f"{old.strip()[:80]} -> {fresh.strip()[:80]}"
    numbers = sum(len(NUMBER.findall(line)) for line in committed)
    return {"numbers": numbers, "differ": differ, "beyond": beyond, "largest": largest, "first": first}


def _last_decimal(printed: Decimal) -> Decimal:
    """What the last decimal of a printed number counts; 0 for a whole number."""
    exponent = int(printed.as_tuple().exponent)
    return Decimal(1).scaleb(exponent) if exponent < 0 else Decimal(0)
