"""Eight ways to put segments before a prompt: four contexts and their negative-target twins (paper 002, "Context
Variance Prompt Generation"; Figure 2).

The paper's text and the caption of its Figure 2 differ twice, and the text is followed: by the text the random context
begins with S1 and grows, where the caption shuffles all segments and numbers them anew; and by the text the twin's
centre is the first incorrect entity met in the order S1, S2, ..., where the caption takes the one closest to the
target.

A variant is a function of the document's text, its segments S1, S2, ... and a random generator. It returns the contexts
of input_1, input_2, ...: each holds one segment more than the one before. The twin of a variant is the same function on
the segments around another centre.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from probekit.contexts.segments import Segment

Twin = Literal["target", "negative"]
TWINS: tuple[Twin, ...] = ("target", "negative")
SPECIAL = re.compile(r"\[(MASK|CLS|SEP|PAD|UNK)\]|<(/?s|mask|pad|unk|cls|sep|extra_id_\d+|\|[^<>|]*\|)>", re.IGNORECASE)


@dataclass(frozen=True)
class Context:
    """What stands before a prompt: ``text``, the numbers (from 0) of its segments from left to right, and of each the
    characters of ``text`` that name its entity."""

    text: str
    order: tuple[int, ...]
    places: tuple[tuple[int, int], ...]


Variant = Callable[[str, Sequence[Segment], random.Random], list[Context]]


def _entities(text: str, segments: Sequence[Segment], orders: Iterable[Sequence[int]]) -> list[Context]:
    """The entities alone, as the document writes them, in these orders."""
    names = [text[segment.first : segment.last] for segment in segments]
    contexts = []
    for order in orders:
        starts = accumulate((len(names[i]) + 1 for i in order[:-1]), initial=0)
        places = tuple((start, start + len(names[i])) for start, i in zip(starts, order, strict=True))
        contexts.append(Context(" ".join(names[i] for i in order), tuple(order), places))
    return contexts


def _in_place(segments: Sequence[Segment]) -> list[list[int]]:
    """The first i segments in the order of the document, for i = 1, 2, ..."""
    return [sorted(range(i + 1), key=lambda n: segments[n].start) for i in range(len(segments))]


def real(text: str, segments: Sequence[Segment], generator: random.Random) -> list[Context]:
    """The segments as the document has them, each at its place: one stretch that grows to both sides."""
    contexts = []
    for order in _in_place(segments):
        stretch = text[segments[order[0]].start : segments[order[-1]].end]
        start = segments[order[0]].start + len(stretch) - len(stretch.lstrip())
        places = tuple((segments[i].first - start, segments[i].last - start) for i in order)
        contexts.append(Context(stretch.strip(), tuple(order), places))
    return contexts


def knowledge_only(text: str, segments: Sequence[Segment], generator: random.Random) -> list[Context]:
    """The segments' entities, each at its place; all other text is left out."""
    return _entities(text, segments, _in_place(segments))


def knowledge_sorted(text: str, segments: Sequence[Segment], generator: random.Random) -> list[Context]:
    """The segments' entities in the order in which they are added: S1 S2 S3 ..."""
    return _entities(text, segments, (range(i + 1) for i in range(len(segments))))


def knowledge_random(text: str, segments: Sequence[Segment], generator: random.Random) -> list[Context]:
    """The segments' entities: S1 first, then any other one, put in at any position."""
    order = [0]
    orders = [list(order)]
    for number in generator.sample(range(1, len(segments)), len(segments) - 1):
        order.insert(generator.randint(0, len(order)), number)
        orders.append(list(order))
    return _entities(text, segments, orders)


VARIANTS: Mapping[str, Variant] = {
    function.__name__: function for function in (real, knowledge_only, knowledge_sorted, knowledge_random)
}


def negative_centre(segments: Sequence[Segment], correct: Collection[str]) -> Segment | None:
    """The first segment in the order S1, S2, ... whose entity is incorrect: the twin's centre; None without one."""
    return next((segment for segment in segments if segment.entity not in correct), None)


def neutral(text: str) -> str:
    """The text with round brackets around names of special tokens such as ``[MASK]``; its length does not change."""
    return SPECIAL.sub(lambda match: f"({match[0][1:-1]})", text)


def put_before(context: str, prompt: str) -> str:
    """An input: the context, one space, the prompt. Special tokens of the context are made neutral."""
    return f"{neutral(context)} {prompt}" if context else prompt
