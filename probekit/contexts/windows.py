"""Inputs that are longer than a model: a window of the document around S1 (METHODS of the book, "Truncation").

Where each input holds the one before it as it stands, the model sees as much of the context as fits around the
entity of S1: half of the room on each side, and what one side leaves goes to the other. A segment whose entity lies
beyond the window is cut, as the row of its step says, and the other side goes on. Any other context
stops to grow at the first input that does not fit.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

import pandas as pd

from probekit.contexts.variants import put_before
from probekit.metrics.context import CONTEXT
from probekit.models.model import Model
from probekit.scoring.scores import Score, by_masks, score_of
from probekit.scoring.slots import encode_candidates, encode_slots, window
from probekit.scoring.statements.likelihood import specials
from probekit.scoring.statements.writing import write

Excess = Callable[[Sequence[str]], list[int]]  # by how many tokens each input is too long


def fitted(
    model: Model, taken: pd.DataFrame, entities: Mapping[str, Sequence[str]], score: Score | None = None
) -> pd.DataFrame:
    """The steps with inputs that fit into the model, whatever candidate is asked for.

    Args:
        model: whose length counts.
        taken: of ``study.steps``.
        entities: the candidates by pool.
        score: as in ``rank_entities``.

    Returns:
        The same rows with ``before`` and ``text`` as the model sees them, ``bare`` (the prompt alone), ``cut`` (the
        added entity is not in the input; it is then in none of the lists of those present) and ``same`` (not cut, and
        the input is the one before).
    """
    excess = {pool: _excess(model, entities[pool], score_of(model, score)) for pool in taken["pool"].unique()}
    over: dict[tuple[str, str], int] = {}
    for pool, rows_of in taken.groupby("pool", sort=False):
        texts = list(dict.fromkeys([*rows_of["before"], *rows_of["text"]]))
        over |= {(pool, text): tokens for text, tokens in zip(texts, excess[pool](texts), strict=True)}
    inputs: dict[int, dict[str, Any]] = {}
    draws = taken.groupby([*CONTEXT, "pool", "step"], sort=False).cumcount()  # several draws of one context
    records = taken.to_dict("records")
    for places in taken.groupby([*CONTEXT, "pool", draws], sort=False).indices.values():
        rows = [records[place] for place in places]
        pool, bare = rows[0]["pool"], rows[0]["before"]
        fit_whole = [over[pool, row["text"]] <= 0 for row in rows]
        if all(fit_whole):
            fits = [{"before": row["before"], "text": row["text"], "cut": False} for row in rows]
        elif _is_stretch(rows, bare):
            fits = _windowed(model, rows, bare, excess[pool])
        else:
            fits = _stopped(rows, fit_whole)
        missing = {row["added"] for row, fit in zip(rows, fits, strict=True) if fit["cut"]}
        for place, row, fit in zip(places, rows, fits, strict=True):
            lists = {
                name: [entity for entity in row[name] if entity not in missing]
                for name in ("present_correct", "present_incorrect")
            }
            same = not fit["cut"] and fit["before"] == fit["text"]
            inputs[place] = fit | lists | {"bare": bare, "same": same}
    return taken.assign(**pd.DataFrame([inputs[n] for n in range(len(taken))], index=taken.index).to_dict("series"))


def _excess(model: Model, pool: Sequence[str], score: Score) -> Excess:
    """Measures inputs with the longest candidate of a pool, or as many masks, in the slot."""
    candidates = encode_candidates(model, pool, True)
    if by_masks(model, score):
        room = model.max_tokens - sum(map(len, model.special_ids)) - max(map(len, candidates.sequences))
        return lambda texts: [len(slot.left) + len(slot.right) - room for slot in encode_slots(model, texts)]
    longest, room = candidates.strings[-1:], model.max_tokens - specials(model)
    return lambda texts: [len(write(model, text, longest, sys.maxsize)[0].ids) - room for text in texts]


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


def _windowed(model: Model, rows: Sequence[Mapping[Any, Any]], bare: str, excess: Excess) -> list[dict[str, Any]]:
    """All inputs within one window of the longest, which holds as much around the entity of S1 as fits."""
    whole = rows[-1]["text"].removesuffix(f" {bare}")
    first, last = rows[-1]["centre_at"]
    left = re.findall(r"\S+\s*", whole[:first])[::-1]  # words with the space towards S1, so that lengths add up
    right = re.findall(r"\s*\S+", whole[last:])
    sizes = list(map(len, model.tokens_of([word.strip() for word in [*left, *right]])))
    sides = sizes[: len(left)], sizes[len(left) : len(left) + len(right)]
    budget = -excess([put_before(whole[first:last], bare)])[0]
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
        over = max(excess([row["text"] for row in inputs]))
        if over <= 0 or budget <= 0:
            return inputs
        budget -= over  # words joined are at times more tokens than words alone
