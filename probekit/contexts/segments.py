"""Segments of a document around one of its entities (paper 002, "Context Segmentation and Retrieval")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from probekit.errors import ProbeError
from probekit.probes.lipid.entities import Mention


@dataclass(frozen=True)
class Segment:
    """Characters ``start`` to ``end`` of a document, in which ``entity`` is named from ``first`` to ``last``."""

    start: int
    end: int
    entity: str
    first: int
    last: int


def segments(length: int, mentions: Sequence[Mention], centre: int, most: int | None = None) -> list[Segment]:
    """The segments S1, S2, ... in the order in which they are found.

    S1 is the text around the mention ``centre``, up to the next entity on each side. Then the context grows to the
    left and to the right in turn, by one entity at a time: a segment begins where the context ends, takes in the
    nearest new entity, and ends before the one that follows. Where one side holds no new entity, the other goes on.

    An entity that is already in the context is plain text: a repeated mention starts no segment. Where a
    context ended before a mention that the other side made a repeated one, and no new entity follows there, the rest
    belongs to no segment.

    Args:
        length: characters of the document.
        mentions: of pool entities (``kind``), from left to right, none overlapping.
        centre: number of the mention to start from.
        most: of segments; all by default.

    Returns:
        At least S1. The first i segments are one stretch of the document, and each holds one entity that those before
        it do not hold.
    """
    used = {mentions[centre].kind}
    left, right = list(mentions[:centre]), list(mentions[:centre:-1])  # the nearest last

    def ahead(side: list[Mention]) -> Mention | None:
        """The nearest mention of a new entity; repeated ones before it are passed over for good."""
        while side and side[-1].kind in used:
            side.pop()
        return side[-1] if side else None

    def edges() -> tuple[int, int]:
        """From the end of the next new entity on the left to the start of the next one on the right."""
        before, after = ahead(left), ahead(right)
        return (before.end if before else 0), (after.start if after else length)

    low, high = edges()
    chosen = [Segment(low, high, mentions[centre].kind, mentions[centre].start, mentions[centre].end)]
    leftwards = True
    while len(chosen) != most and (ahead(left) or ahead(right)):
        here = ahead(left if leftwards else right)
        if here:
            used.add(here.kind)
            start, end = (edges()[0], low) if leftwards else (high, edges()[1])
            low, high = min(low, start), max(high, end)
            chosen.append(Segment(start, end, here.kind, here.start, here.end))
        leftwards = not leftwards
    return chosen


def around(
    text: str, mentions: Sequence[Mention], entity: str, at: int | None = None, most: int | None = None
) -> list[Segment]:
    """At most so many segments around an entity: its mention that begins at ``at``, the first one by default.

    Raises:
        ProbeError: the entity is not named there.
    """
    for number, mention in enumerate(mentions):
        if mention.kind == entity and at in (None, mention.start):
            return segments(len(text), mentions, number, most)
    raise ProbeError(f"the document does not name {entity!r}, so it gives no context for it: {text[:60]!r}")
