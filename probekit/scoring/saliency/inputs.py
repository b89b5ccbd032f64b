"""Contexts as a masked model's rows, and the word each token belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from probekit.models.model import Model
from probekit.probes.probe import MASK
from probekit.probes.rationales.record import RationaleSet
from probekit.probes.rationales.words import word_spans
from probekit.scoring.forward import Row
from probekit.scoring.slots import encode_candidates, encode_slots, follows_space


@dataclass(frozen=True)
class Input:
    """One record as the model sees it.

    Args:
        row: token ids and the masks of the slot.
        word_of: word of each token, by its position in the context; -1 for special tokens and those of the slot.
        positions: of the words other than the slot.
        words: these words.
        cut: whether the model is too short for the context.
        gold: tokens of the first gold in the slot; empty without a gold.
        filling: places of the slot's tokens in a statement that is read whole; else none.
    """

    row: Row
    word_of: np.ndarray = field(repr=False)
    positions: list[int]
    words: list[str]
    cut: bool
    gold: tuple[int, ...] = ()
    filling: range = range(0)

    def word_scores(self, tokens: np.ndarray) -> list[float]:
        """Sum of each word's tokens, shape (tokens,) -> (words,); a word outside the model's window gets 0."""
        totals = np.zeros(max(self.positions, default=-1) + 2)
        inside = self.word_of >= 0
        np.add.at(totals, self.word_of[inside], np.asarray(tokens, dtype=float)[inside])
        return totals[self.positions].tolist() if self.positions else []


def encode_inputs(model: Model, items: RationaleSet) -> list[Input]:
    """The records as rows; a slot has as many masks as its first gold has tokens there, or one without a gold.

    Raises:
        ProbeError: a context holds the model's own mask token besides.
        ModelError: not a masked model, or too short for the slot.
    """
    table = items.items
    slots = encode_slots(model, table["context"].tolist())
    inputs = []
    before, after = map(len, model.special_ids)
    for slot, context, words, golds in zip(slots, table["context"], table["words"], table["golds"], strict=True):
        gold = gold_tokens(model, context, golds[:1])[0] if golds else ()
        count = len(gold) or 1
        row = slot.row(model, count)
        belongs = _words_of_tokens(model, context, words)
        left = row.masks[0] - before
        right = len(row.ids) - after - row.masks[-1] - 1
        seen = [*belongs[len(slot.left) - left : len(slot.left)], *[-1] * count, *belongs[len(slot.left) + 1 :][:right]]
        cut = left + right < len(slot.left) + len(slot.right)
        inputs.append(input_of(row, [*[-1] * before, *seen, *[-1] * after], words, cut, gold))
    return inputs


def input_of(row: Row, word_of: Sequence[int], words: Sequence[str], cut: bool, gold: tuple[int, ...]) -> Input:
    """A row of a context of these words, the slot among them."""
    positions = [place for place, word in enumerate(words) if word != MASK]
    return Input(row, np.array(word_of), positions, [words[place] for place in positions], cut, gold)


def gold_tokens(model: Model, context: str, golds: Sequence[str]) -> list[tuple[int, ...]]:
    """Token ids of golds as they would stand in the slot of a context."""
    candidates = encode_candidates(model, golds, follows_space(context), "compete")
    return [candidates.sequences[candidates.number[gold]] for gold in golds]


def _words_of_tokens(model: Model, context: str, words: Sequence[str]) -> list[int]:
    """Of each token of the context, the mask included, its word; -1 for the mask."""
    mask = model.tokenizer.mask_token
    slot = context.index(MASK)
    longer = len(mask) - len(MASK)
    spans = [(a + longer, b + longer) if a > slot else (a, b) for a, b in word_spans(context, words)]
    encoded = model.tokenizer(
        context.replace(MASK, mask), add_special_tokens=False, return_offsets_mapping=True, verbose=False
    )
    word_of = belonging(encoded["offset_mapping"], spans, words)
    return [-1 if token == model.mask_id else word for token, word in zip(encoded["input_ids"], word_of, strict=True)]


def belonging(tokens: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]], words: Sequence[str]) -> list[int]:
    """The word of each token, by where tokens and words begin and end.

    A token belongs to the word with which it shares the most characters, the first of equals; one that holds only
    white space, to the word that comes next. The slot is no word.
    """
    word_of = []
    for start, end in tokens:
        shared = [min(end, b) - max(start, a) if words[n] != MASK else 0 for n, (a, b) in enumerate(spans)]
        best = int(np.argmax(shared))
        if shared[best] <= 0:
            later = [n for n, (a, _) in enumerate(spans) if a >= end and words[n] != MASK]
            best = later[0] if later else -1
        word_of.append(best)
    return word_of
