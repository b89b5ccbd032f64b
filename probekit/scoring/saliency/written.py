"""Contexts as rows of causal and seq2seq models, which predict the slot's tokens one after the other.

A causal model reads what stands before the slot, or the whole statement that a filling makes; a seq2seq model's encoder
all of the context with its own mark in the slot. A filling is written as for ``score='slot'`` and ``score='sum'``, see
METHODS of the book, "Scores of statements".
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np

from probekit.errors import ModelError
from probekit.models.model import Model
from probekit.probes.probe import MASK
from probekit.probes.rationales.record import RationaleSet
from probekit.probes.rationales.words import word_spans
from probekit.scoring.completions.seq2seq import SENTINELS
from probekit.scoring.forward import Row
from probekit.scoring.saliency.inputs import Input, belonging, input_of
from probekit.scoring.slots import window
from probekit.scoring.statements.likelihood import reader, specials
from probekit.scoring.statements.writing import Statement, cut, left_out, write


def frame(model: Model) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Tokens that stand before and after what a model, or its encoder, reads."""
    return (model.beginning, ()) if model.kind == "causal" else model.special_ids


def encode_written(model: Model, items: RationaleSet, gold: bool) -> list[Input]:
    """The records as rows of a causal or seq2seq model.

    Args:
        gold: write the first gold of each record that has one, and read each of its tokens behind those before it;
            else the next token alone is read, and nothing is written.

    Raises:
        ModelError: the model takes too few tokens for a gold, or see ``likelihoods``.
    """
    read_as, (before, after) = reader(model, "slot"), frame(model)
    inputs = []
    for context, words, golds in items.items[["context", "words", "golds"]].itertuples(index=False):
        tokens = written_tokens(model, context, golds[:1])[0] if len(golds) else ()
        filler = golds[0] if gold and tokens else _mark(model)
        ((fitted, belongs),) = _placed(model, context, words, [filler], len(tokens))
        read = read_as(fitted)
        written = read.path.ids[: read.stop - 1 if gold and tokens else read.start]
        places = range(read.start - 1, len(written))
        if model.kind == "causal":
            row, word_of = Row(written, places), [*[-1] * len(before), *belongs][: len(written)]
        else:
            row = Row(read.path.source, places, written)
            word_of = [*[-1] * len(before), *belongs[: fitted.start], -1, *belongs[fitted.stop :], *[-1] * len(after)]
        inputs.append(input_of(row, word_of, words, fitted.cut, tokens))
    return inputs


def continued(one: Input, tokens: Sequence[int]) -> Input:
    """A row in which nothing is written, with these tokens in its slot, each read behind those before it."""
    first, more = one.row.masks[0], len(tokens) - 1
    masks = range(first, first + more + 1)
    if one.row.written:
        return replace(one, row=Row(one.row.ids, masks, (*one.row.written, *tokens[:-1])))
    row = Row((*one.row.ids, *tokens[:-1]), masks)
    return replace(one, row=row, word_of=np.pad(one.word_of, (0, more), constant_values=-1))


def statements(model: Model, context: str, words: Sequence[str], fillers: Sequence[str]) -> list[Input]:
    """The context with each of some fillers in its slot, as a causal model reads it whole.

    Every token behind the beginning is read, given those before it; ``masks`` are the places that predict them.

    Raises:
        ModelError: the model takes too few tokens for a filler.
    """
    before = model.beginning
    inputs = []
    for one, belongs in _placed(model, context, words, fillers):
        row = Row((*before, *one.ids), range(len(before) - 1, len(before) + len(one.ids) - 1))
        filling = range(len(before) + one.start, len(before) + one.stop)
        made = input_of(row, [*[-1] * len(before), *belongs], words, one.cut, one.ids[one.start : one.stop])
        inputs.append(replace(made, filling=filling))
    return inputs


def written_tokens(model: Model, context: str, fillers: Sequence[str]) -> list[tuple[int, ...]]:
    """Token ids of fillers as the tokenizer writes them in the slot of a context; none where it makes no token."""
    return [one.ids[one.start : one.stop] for one in write(model, context, fillers, sys.maxsize)]


def _placed(
    model: Model, context: str, words: Sequence[str], fillers: Sequence[str], least: int = 0
) -> Iterator[tuple[Statement, list[int]]]:
    """The statement of each filler, all cut to one window, and of each token its word, -1 in the slot.

    Args:
        least: tokens that must find room in the slot.
    """
    wholes = write(model, context, fillers, sys.maxsize)
    size = max([least, *(one.stop - one.start for one in wholes)])
    room = model.max_tokens - specials(model)
    if size > room:
        raise ModelError(f"{model.name} takes {room} tokens: too few for {max(fillers, key=len)!r}, which has {size}")
    before, after = max(one.start for one in wholes), max(len(one.ids) - one.stop for one in wholes)
    left, right = window(before, after, room - size)
    for whole, filler in zip(wholes, fillers, strict=True):
        belongs = _words_of(model, context, words, filler)
        belongs[whole.start : whole.stop] = [-1] * (whole.stop - whole.start)
        yield cut(whole, left, right), belongs[max(0, whole.start - left) : whole.stop + right]


def _mark(model: Model) -> str:
    """A token that stands in the slot where no gold is written, so that the text is split there."""
    if model.kind == "causal":
        return str(model.tokenizer.convert_ids_to_tokens(model.beginning[-1]))
    return SENTINELS[0] if SENTINELS[0] in model.tokenizer.get_vocab() else str(model.tokenizer.mask_token)


def _words_of(model: Model, context: str, words: Sequence[str], filler: str) -> list[int]:
    """Of each token of the context with the filler in its slot, its word; see ``belonging``."""
    text, slot = context.replace(MASK, filler), context.index(MASK)
    lost, longer = left_out(model, text), len(filler) - len(MASK)
    seen = [0, *accumulate(int(sign not in lost) for sign in text)]  # signs before each that the tokenizer sees
    moved = [(a + longer * (a > slot), b + longer * (b > slot)) for a, b in word_spans(context, words)]
    encoded = model.tokenizer(
        "".join(sign for sign in text if sign not in lost),
        add_special_tokens=False,
        return_offsets_mapping=True,
        verbose=False,
    )
    return belonging(encoded["offset_mapping"], [(seen[a], seen[b]) for a, b in moved], words)
