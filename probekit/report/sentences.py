"""A sentence of a page: English that a person wrote, with slots for numbers, and whether what it compares is so."""

from __future__ import annotations

from dataclasses import dataclass
from string import Formatter
from typing import Any

from probekit.report.markup import Markup, escape
from probekit.report.text import printed


@dataclass(frozen=True)
class Sentence:
    """Its text, and whether it is true; one that compares nothing is."""

    text: str
    holds: bool = True


def sentence(text: str, holds: bool = True, **slots: Any) -> Sentence:
    """A sentence with its slots filled.

    Args:
        text: with the name of a slot in braces for each of ``slots``, a number's format behind a colon if it likes.
        holds: every comparison that the text makes, of numbers as it prints them.
        slots: numbers, which without a format are shown as ``printed`` shows them, or texts.
    """
    parts = []
    for literal, name, form, _ in Formatter().parse(text):
        parts.append(literal)
        if name is not None:
            value = format(slots[name], form) if form else str(printed(slots[name]))
            parts.append(escape(value) if isinstance(text, Markup) else value)
    return Sentence(type(text)("".join(parts)), bool(holds))


def first_true(*sentences: Sentence) -> list[Sentence]:
    """The first of these that holds, or none."""
    return [said for said in sentences if said.holds][:1]
