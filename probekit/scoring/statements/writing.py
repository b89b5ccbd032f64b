"""Prompts with candidates written into their slots, as token ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from probekit.errors import ModelError
from probekit.models.model import Model
from probekit.probes.probe import MASK
from probekit.scoring.completions.causal import SPACES
from probekit.scoring.slots import window


@dataclass(frozen=True)
class Statement:
    """A statement without special tokens.

    Args:
        ids: its token ids.
        start, stop: the candidate's tokens are ``ids[start:stop]``.
        words: of each token, the number of its word as the tokenizer splits text.
        joined: whether a token holds both a sign of the candidate and one of the text around it, white space aside.
        cut: whether tokens were left out at either end.
    """

    ids: tuple[int, ...]
    start: int
    stop: int
    words: tuple[int, ...] = field(default=(), repr=False)
    joined: bool = False
    cut: bool = False


def write(model: Model, prompt: str, candidates: Sequence[str], room: int) -> list[Statement]:
    """Write each candidate into the slot of a prompt.

    A statement is tokenised whole, as a text without a slot would be, so that a candidate has the tokens that it has
    there: with the space before it, and joined with its neighbours where the vocabulary does so. Its tokens are those
    that hold one of its signs, and those of nothing but the white space before it; none where the vocabulary leaves out
    all its signs.

    Where the longest statement does not fit, all statements of the prompt keep the same window around the slot.

    Args:
        prompt: a text with one ``[MASK]``.
        room: tokens that the model takes, special ones left out.

    Raises:
        ModelError: a candidate alone does not fit.
    """
    left, _, right = prompt.partition(MASK)
    encoded = model.tokenizer(
        [left + one + right for one in candidates],
        add_special_tokens=False,
        return_offsets_mapping=True,
        return_attention_mask=False,
        return_token_type_ids=False,
        verbose=False,
    )
    found = []
    for number, (ids, spans) in enumerate(zip(encoded["input_ids"], encoded["offset_mapping"], strict=True)):
        text = left + candidates[number] + right
        begin, end = len(left), len(text) - len(right)
        spaces = len(left.rstrip())
        inside = [i for i, (a, b) in enumerate(spans) if (a < end and b > begin) or (spaces <= a < b <= begin)]
        pieces = model.tokenizer.convert_ids_to_tokens([ids[i] for i in inside])
        start, stop = (inside[0], inside[-1] + 1) if any(piece.strip(SPACES) for piece in pieces) else (0, 0)
        around = [(text[a:begin] if a < begin else "") + (text[end:b] if b > end else "") for a, b in spans[start:stop]]
        words = tuple(-1 if word is None else word for word in encoded.encodings[number].word_ids)
        found.append(Statement(tuple(ids), start, stop, words, any(part.strip() for part in around)))
    longest = max(one.stop - one.start for one in found)
    if longest > room:
        raise ModelError(f"{model.name} takes {room} tokens: too few for a candidate of {longest} in {prompt[:80]!r}")
    before, after = max(one.start for one in found), max(len(one.ids) - one.stop for one in found)
    kept = window(before, after, room - longest)
    return found if kept == (before, after) else [_cut(one, *kept) for one in found]


def _cut(one: Statement, left: int, right: int) -> Statement:
    first, last = max(0, one.start - left), min(len(one.ids), one.stop + right)
    cut = (first, last) != (0, len(one.ids))
    return Statement(
        one.ids[first:last], one.start - first, one.stop - first, one.words[first:last], one.joined, one.cut or cut
    )
