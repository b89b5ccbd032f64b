"""Text for pages: names and numbers as people write them."""

from __future__ import annotations

from typing import Any

from probekit.markup import Markup as Markup
from probekit.titles import shown_name as shown_name
from probekit.titles import title as title


def plain(value: Any) -> str:
    """A published or counted value as people write it: ``1,300,000``, ``0.72``; a dash where there is none."""
    if value is None or value != value:
        return "–"
    if not isinstance(value, (int, float)):
        return str(value)
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,}"


def number(value: float, digits: int = 3) -> str:
    """A share or score with a fixed number of decimals; a dash where there is none."""
    return "–" if value != value else f"{value:.{digits}f}"


def interval(estimate: float, low: float, high: float, digits: int = 3) -> str:
    """``0.174 [0.163, 0.186]``; a line may end before the bracket, never inside it; a dash where there is none.

    A number without an interval, such as a printed one, stands alone.
    """
    if estimate != estimate or low != low:
        return number(estimate, digits)
    return f"{number(estimate, digits)} [{number(low, digits)},\N{NO-BREAK SPACE}{number(high, digits)}]"
