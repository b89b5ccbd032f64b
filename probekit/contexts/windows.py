"""Inputs that are longer than a model: a window of the document around S1 (METHODS of the book, "Truncation").

Where a context is one stretch that grows to both sides, the model sees as much of the document as fits around the
entity of S1: half of the room on each side, and what one side leaves goes to the other. A segment whose entity lies
beyond the window is cut: its step is none, and the other side goes on. Where the order of the segments is another, the
context stops to grow at the first input that does not fit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

import pandas as pd

from probekit.contexts.variants import put_before
from probekit.metrics.context import CONTEXT
from probekit.models.model import Model
from probekit.scoring.slots import encode_candidates, encode_slots, window

WORD = re.compile(r"\S+\s*")


def fitted(model: Model, taken: pd.DataFrame, entities: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """The steps with inputs that fit into the model, whatever candidate is asked for.

    Args:
        model: whose length counts.
        taken: of ``study.steps``.
        entities: the candidates by pool.

    Returns:
        The same rows with ``before`` and ``text`` as the model sees them, ``bare`` (the prompt alone), ``cut`` (the
        added entity is not in the input; it is then in none of the lists of those present) and ``same`` (not cut, and
        the input is the one before).
    """
    rooms = {str(pool): _room(model, entities[pool]) for pool in taken["pool"].unique()}
    texts = list(dict.fromkeys([*taken["before"], *taken["text"]]))
    length = dict(zip(texts, _lengths(model, texts), strict=True))
    inputs: dict[int, dict[str, Any]] = {}
    draws = taken.groupby([*CONTEXT, "pool", "step"], sort=False).cumcount()  # several draws of one context
    records = taken.to_dict("records")
    for places in taken.groupby([*CONTEXT, "pool", draws], sort=False).indices.values():
        rows = [records[place] for place in places]
        room, bare = rooms[rows[0]["pool"]], rows[0]["before"]
        if max(length[row["text"]] for row in rows) <= room:
            fits = [{"before": row["before"], "text": row["text"], "cut": False} for row in rows]
        elif _is_stretch(rows, bare):
            fits = _windowed(model, rows, bare, room)
        else:
            fits = _stopped(rows, [length[row["text"]] <= room for row in rows])
        missing = {row["added"] for row, fit in zip(rows, fits, strict=True) if fit["cut"]}
        for place, row, fit in zip(places, rows, fits, strict=True):
            lists = {
                name: [entity for entity in row[name] if entity not in missing]
                for name in ("present_correct", "present_incorrect")
            }
            same = not fit["cut"] and fit["before"] == fit["text"]
            inputs[place] = fit | lists | {"bare": bare, "same": same}
    return taken.assign(**pd.DataFrame([inputs[n] for n in range(len(taken))], index=taken.index).to_dict("series"))


def _room(model: Model, pool: Sequence[str]) -> int:
    """Tokens that the longest candidate of a pool leaves for the text around the slot."""
    longest = max(map(len, encode_candidates(model, pool, True).sequences))
    return model.max_tokens - sum(map(len, model.special_ids)) - longest


def _lengths(model: Model, texts: Sequence[str]) -> list[int]:
    return [len(slot.left) + len(slot.right) for slot in encode_slots(model, texts)]


def _is_stretch(rows: Sequence[Mapping[Any, Any]], bare: str) -> bool:
    """Whether each input holds the one before it as it stands."""
    contexts = [row["text"].removesuffix(bare).strip() for row in rows]
    return all(before in after for before, after in pairwise(contexts))


def _stopped(rows: Sequence[Mapping[Any, Any]], fits: Sequence[bool]) -> list[dict[str, Any]]:
    """Inputs up to the first that does not fit, which then stands for all that follow."""
    inputs, text = [], rows[0]["before"]
    room = True
    for row, here in zip(rows, fits, strict=True):
        room = room and here
        before, text = text, row["text"] if room else text
        inputs.append({"before": before, "text": text, "cut": not room})
    return inputs


def _windowed(model: Model, rows: Sequence[Mapping[Any, Any]], bare: str, room: int) -> list[dict[str, Any]]:
    """All inputs within one window of the longest, which holds as much around the entity of S1 as fits."""
    whole = rows[-1]["text"].removesuffix(f" {bare}")
    first, last = rows[-1]["centre_at"]
    left = [match.group() for match in WORD.finditer(whole[:first])][::-1]
    right = [match.group() for match in WORD.finditer(whole[last:])]
    sizes = list(map(len, model.tokens_of([*left, *right])))
    sides = sizes[: len(left)], sizes[len(left) : len(left) + len(right)]
    budget = room - _lengths(model, [put_before(whole[first:last], bare)])[0]
    while True:
        room_of_sides = window(sum(sides[0]), sum(sides[1]), max(0, budget))
        reach = [
            sum(len(word) for word, used in zip(words, accumulate(side), strict=True) if used <= most)
            for words, side, most in zip((left, right), sides, room_of_sides, strict=True)
        ]
        inputs: list[dict[str, Any]] = []
        before = bare
        for row in rows:
            context, (start, end) = row["text"].removesuffix(f" {bare}"), row["centre_at"]
            low, high = max(0, start - reach[0]), end + reach[1]
            text = put_before(context[low:high].strip(), bare)
            inside = low <= row["added_at"][0] and row["added_at"][1] <= high
            inputs.append({"before": before, "text": text, "cut": not inside})
            before = text
        over = max(_lengths(model, [row["text"] for row in inputs])) - room
        if over <= 0 or budget <= 0:
            return inputs
        budget -= over  # words joined are at times more tokens than words alone
