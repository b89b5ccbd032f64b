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
    that hold one of its signs, and those of nothing but the white space before it. Signs of which the tokenizer
    makes no token are left out first; a candidate of such signs alone has no tokens.

    Where the longest statement does not fit, all statements of the prompt keep the same window around the slot.

    Args:
        prompt: a text with one ``[MASK]``.
        room: tokens that the model takes, special ones left out.

    Raises:
        ModelError: a candidate alone does not fit.
    """
    left, _, right = prompt.partition(MASK)
    lost = left_out(model, left + right + "".join(candidates))
    parts = [tuple("".join(s for s in text if s not in lost) for text in (left, one, right)) for one in candidates]
    encoded = model.tokenizer(
        ["".join(texts) for texts in parts],
        add_special_tokens=False,
        return_offsets_mapping=True,
        return_attention_mask=False,
        return_token_type_ids=False,
        verbose=False,
    )
    words = [encoding.word_ids for encoding in encoded.encodings]
    found = [
        _found(model, *one) for one in zip(encoded["input_ids"], encoded["offset_mapping"], words, parts, strict=True)
    ]
    there = [one for one in found if one.start < one.stop]
    longest = max((one.stop - one.start for one in there), default=0)
    if longest > room:
        raise ModelError(f"{model.name} takes {room} tokens: too few for a candidate of {longest} in {prompt[:80]!r}")
    before = max((one.start for one in there), default=0)
    after = max((len(one.ids) - one.stop for one in there), default=0)
    kept = window(before, after, room - longest)
    return found if kept == (before, after) else [cut(one, *kept) for one in found]


def left_out(model: Model, text: str) -> set[str]:
    """The signs of which the tokenizer makes no token, not even the unknown one; its offsets count without them."""
    signs = sorted({sign for sign in text if not sign.isspace()})
    ids = model.tokenizer(signs, add_special_tokens=False)["input_ids"] if signs else []
    return {sign for sign, tokens in zip(signs, ids, strict=True) if not _written(model, tokens)}


def _written(model: Model, ids: Sequence[int]) -> bool:
    """Whether tokens hold more than white space."""
    return any(piece.strip(SPACES) for piece in model.tokenizer.convert_ids_to_tokens(ids))


def _found(
    model: Model,
    ids: Sequence[int],
    spans: Sequence[tuple[int, int]],
    words: Sequence[int | None],
    parts: Sequence[str],
) -> Statement:
    """The statement of its tokens, the signs that each holds, and the texts before, in and after the slot."""
    left, candidate = parts[:2]
    text, begin, end, spaces = "".join(parts), len(left), len(left + candidate), len(left.rstrip())
    inside = [i for i, (a, b) in enumerate(spans) if (a < end and b > begin) or (spaces <= a < b <= begin)]
    written = _written(model, [ids[i] for i in inside])
    start, stop = (inside[0], inside[-1] + 1) if written else (0, 0)
    joined = any((text[a:begin] + text[max(a, end) : b]).strip() for a, b in spans[start:stop])
    return Statement(tuple(ids), start, stop, tuple(-1 if word is None else word for word in words), joined)


def cut(one: Statement, left: int, right: int) -> Statement:
    """A statement with so many tokens left and right of its candidate."""
    first, last = max(0, one.start - left), min(len(one.ids), one.stop + right)
    shorter = (first, last) != (0, len(one.ids))
    return Statement(
        one.ids[first:last], one.start - first, one.stop - first, one.words[first:last], one.joined, one.cut or shorter
    )
