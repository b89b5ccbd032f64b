"""Contexts as rows of causal and seq2seq models, which predict the slot's tokens one after the other.

A causal model reads what stands before the slot, a seq2seq model's encoder all of the context with its own mark in the
slot; the slot's tokens are written as for ``score='slot'``, see METHODS of the book, "Scores of statements".
"""

from __future__ import annotations

import sys
from itertools import accumulate

import numpy as np

from probekit.errors import ModelError, ProbeError
from probekit.models.model import Model
from probekit.probes.probe import MASK
from probekit.probes.rationales.record import RationaleSet
from probekit.probes.rationales.words import word_spans
from probekit.scoring.completions.seq2seq import SENTINELS
from probekit.scoring.forward import Row
from probekit.scoring.saliency.inputs import Input, belonging
from probekit.scoring.slots import window
from probekit.scoring.statements.likelihood import beginning, reader, specials
from probekit.scoring.statements.writing import cut, left_out, write


def frame(model: Model) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Tokens that stand before and after what a model, or its encoder, reads."""
    return (beginning(model), ()) if model.kind == "causal" else model.special_ids


def encode_written(model: Model, items: RationaleSet, gold: bool) -> list[Input]:
    """The records as rows of a causal or seq2seq model.

    Args:
        gold: write the first gold of each record that has one, and read each of its tokens behind those before it;
            else the next token alone is read, and nothing is written.

    Raises:
        ProbeError: the tokenizer makes no token of a gold.
        ModelError: the model takes too few tokens for a gold, or see ``likelihoods``.
    """
    read_as, (before, after), room = reader(model, "slot"), frame(model), model.max_tokens - specials(model)
    inputs = []
    for name, context, words, golds in items.items[["id", "context", "words", "golds"]].itertuples(index=False):
        chosen = golds[0] if gold and len(golds) else None
        filler = _mark(model) if chosen is None else chosen
        (whole,) = write(model, context, [filler], sys.maxsize)
        size = whole.stop - whole.start
        if not size:
            raise ProbeError(f"{items.name}: record {name!r}: {model.name} makes no token of {filler!r}")
        if size > room:
            raise ModelError(f"{model.name} takes {room} tokens: too few for {filler!r}, which has {size}")
        left, right = window(whole.start, len(whole.ids) - whole.stop, room - size)
        fitted = cut(whole, left, right)
        belongs = _words_of(model, context, words, filler)[whole.start - left : whole.stop + right]
        read = read_as(fitted)
        written = read.path.ids[: read.stop - 1 if chosen is not None else read.start]
        places = range(read.start - 1, len(written))
        if model.kind == "causal":
            inside, row = [*belongs[: fitted.start], *[-1] * size], Row(written, places)
            word_of = [*[-1] * len(before), *inside][: len(written)]
        else:
            row = Row(read.path.source, places, written)
            word_of = [*[-1] * len(before), *belongs[: fitted.start], -1, *belongs[fitted.stop :], *[-1] * len(after)]
        positions = [place for place, word in enumerate(words) if word != MASK]
        tokens = () if chosen is None else fitted.ids[fitted.start : fitted.stop]
        inputs.append(Input(row, np.array(word_of), positions, [words[n] for n in positions], fitted.cut, tokens))
    return inputs


def _mark(model: Model) -> str:
    """A token that stands in the slot where no gold is written, so that the text is split there."""
    if model.kind == "causal":
        return str(model.tokenizer.convert_ids_to_tokens(beginning(model)[-1]))
    return SENTINELS[0] if SENTINELS[0] in model.tokenizer.get_vocab() else str(model.tokenizer.mask_token)


def _words_of(model: Model, context: str, words: list[str], filler: str) -> list[int]:
    """Of each token of the context with the filler in its slot, its word; see ``belonging``."""
    text, slot = context.replace(MASK, filler), context.index(MASK)
    lost, longer = left_out(model, text), len(filler) - len(MASK)
    seen = [0, *accumulate(int(sign not in lost) for sign in text)]  # signs before each that the tokenizer sees
    moved = [(a + longer * (a > slot), b + longer * (a >= slot)) for a, b in word_spans(context, words)]
    encoded = model.tokenizer(
        "".join(sign for sign in text if sign not in lost),
        add_special_tokens=False,
        return_offsets_mapping=True,
        verbose=False,
    )
    return belonging(encoded["offset_mapping"], [(seen[a], seen[b]) for a, b in moved], words)
