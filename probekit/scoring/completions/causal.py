"""Completions of causal models: what they write after a prompt (paper 004, section 3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from probekit.errors import ModelError, ProbeError
from probekit.models.model import Model
from probekit.probes.probe import MASK
from probekit.scoring.completions.asking import Answer, Options
from probekit.scoring.completions.beams import ends, write
from probekit.scoring.forward import Row

SPACES = "Ġ▁ "  # how vocabularies write a space


def rows(model: Model, prompts: Sequence[str], options: Options) -> list[Row]:
    """What stands before the slot, its end kept where it is too long; punctuation after the slot is left out.

    Spaces before the slot are cut off, as most tokenizers make them part of the word that follows; where the tokenizer
    makes them part of the word before, they stay.

    Raises:
        ProbeError: words after the slot, which the model would never see, or no token before it.
        ModelError: the model takes too few tokens for a prompt and what it shall write.
    """
    before = model.special_ids[0]
    room = model.max_tokens - len(before) - options.tokens
    if room < 1:
        raise ModelError(
            f"{model.name} takes {model.max_tokens} tokens: too few for a prompt and {options.tokens} new ones"
        )
    keep = spaces_end_words(model)
    inputs = []
    for text in prompts:
        left = before_slot(model, text)
        ids = [*before, *model.tokens(left if keep else left.rstrip())[-room:]]
        if not ids:
            raise ProbeError(f"nothing stands before {MASK} that {model.name} could go on from: {text[:80]!r}")
        inputs.append(Row(ids, ()))
    return inputs


def before_slot(model: Model, text: str) -> str:
    """What stands before the slot.

    Raises:
        ProbeError: words after the slot, which the model would never see.
    """
    left, _, right = text.partition(MASK)
    if any(letter.isalnum() for letter in right):
        raise ProbeError(
            f"{model.name} is a {model.kind} model and sees only what stands before {MASK}, but words follow it: "
            f"{text[:80]!r}; put the slot at the end, or give answers to choose from"
        )
    return left


def spaces_end_words(model: Model) -> bool:
    """Whether more pieces of the vocabulary end in a space than begin with one, those of spaces alone left out."""
    pieces = [piece for piece in model.tokenizer.get_vocab() if piece.strip(SPACES)]
    return sum(p[-1] in SPACES for p in pieces) > sum(p[0] in SPACES for p in pieces)


def answer(
    model: Model, inputs: Sequence[Row], options: Options, batch_tokens: int | None
) -> Iterator[tuple[list[int], list[list[Answer]]]]:
    """What it goes on with, see ``write``."""
    yield from write(model, inputs, options, ends(model), (), batch_tokens)
