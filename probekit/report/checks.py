"""What every check of a paper against its own numbers is made of: a registry and a status."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from probekit.errors import ReportError

Status = Literal["consistent", "inconsistent"]
Finding = tuple[str, str]
Check = Callable[[], Finding]


def registry() -> tuple[dict[str, Check], Callable[[str], Callable[[Check], Check]]]:
    """An empty registry (claim id -> check) and the decorator ``@check("001-01c")`` that fills it."""
    checks: dict[str, Check] = {}

    def check(claim: str) -> Callable[[Check], Check]:
        def register(function: Check) -> Check:
            if claim in checks:
                raise ReportError(f"claim {claim} has a check already: give this one another id")
            checks[claim] = function
            return function

        return register

    return checks, check


def status(holds: bool) -> Status:
    """What to call a claim whose paper's numbers do, or do not, bear it out."""
    return "consistent" if holds else "inconsistent"
