"""How often a fact of the demo world was told, and which of its models have read that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, Protocol

OFTEN = 4  # told at least so many times
NEVER, SELDOM, MANY = "never told", f"told, fewer than {OFTEN} times", f"told {OFTEN} times or more"
Read = Literal["yes", "no", "not known"]
YES: Read = "yes"
NO: Read = "no"
UNKNOWN: Read = "not known"


class Reader(Protocol):
    """A model of the demo world: the domain of the text it reads, and the name of the model it goes on from, if any."""

    @property
    def domain(self) -> str: ...
    @property
    def base(self) -> str: ...


def has_read(model: str, domain: str, readers: Mapping[str, Reader]) -> Read:
    """Whether a model has read the text of a domain.

    Args:
        model: its name.
        domain: of the demo world, or of anything else.
        readers: the models of the demo world by name; of any other model it is not known.
    """
    if model not in readers:
        return UNKNOWN
    reader = readers[model]
    before = has_read(reader.base, domain, readers) if reader.base else NO
    return YES if reader.domain == domain or before == YES else NO


def exposure_classes(times: Iterable[int]) -> list[str]:
    """Of each number of tellings its class: ``NEVER``, ``SELDOM`` or ``MANY``."""
    return [NEVER if count == 0 else SELDOM if count < OFTEN else MANY for count in times]
