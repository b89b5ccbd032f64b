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
    makes no token are left out first; one of such signs alone has no tokens, except within a word.

    Where the longest statement does not fit, all statements of the prompt keep the same window around the slot.

    Args:
        prompt: a text with one ``[MASK]``.
        room: tokens that the model takes, special ones left out.

    Raises:
        ModelError: a candidate alone does not fit.
    """
    left, _, right = prompt.partition(MASK)
    lost = left_out(model, left + right + "".join(candidates))
    parts = [tuple("".join(s for s in text if s not in lost) for text in (left, name, right)) for name in candidates]
    encoded = model.tokenizer(
        ["".join(texts) for texts in parts],
        add_special_tokens=False,
        return_offsets_mapping=True,
        return_attention_mask=False,
        return_token_type_ids=False,
        verbose=False,
    )
    words = [encoding.word_ids for encoding in encoded.encodings]
    fields = zip(encoded["input_ids"], encoded["offset_mapping"], words, parts, strict=True)
    statements = [_statement(model, *values) for values in fields]
    readable = [statement for statement in statements if statement.start < statement.stop]
    longest = max((statement.stop - statement.start for statement in readable), default=0)
    if longest > room:
        raise ModelError(f"{model.name} takes {room} tokens: too few for a candidate of {longest} in {prompt[:80]!r}")
    before = max((statement.start for statement in readable), default=0)
    after = max((len(statement.ids) - statement.stop for statement in readable), default=0)
    sides = window(before, after, room - longest)
    return statements if sides == (before, after) else [cut(statement, *sides) for statement in statements]


def left_out(model: Model, text: str) -> set[str]:
    """The signs of which the tokenizer makes no token, not even the unknown one; its offsets count without them."""
    signs = sorted({sign for sign in text if not sign.isspace()})
    ids = model.tokenizer(signs, add_special_tokens=False)["input_ids"] if signs else []
    return {sign for sign, tokens in zip(signs, ids, strict=True) if not _written(model, tokens)}


def _written(model: Model, ids: Sequence[int]) -> bool:
    """Whether tokens hold more than white space."""
    return any(piece.strip(SPACES) for piece in model.tokenizer.convert_ids_to_tokens(ids))


def _statement(
    model: Model,
    ids: Sequence[int],
    spans: Sequence[tuple[int, int]],
    words: Sequence[int | None],
    parts: Sequence[str],
) -> Statement:
    """The statement of its tokens, the signs that each holds, and the texts before, in and after the slot."""
    before, candidate = parts[:2]
    text, begin, end, spaces = "".join(parts), len(before), len(before + candidate), len(before.rstrip())
    inside = [i for i, (a, b) in enumerate(spans) if (a < end and b > begin) or (spaces <= a < b <= begin)]
    written = _written(model, [ids[i] for i in inside])
    start, stop = (inside[0], inside[-1] + 1) if written else (0, 0)
    joined = any((text[a:begin] + text[max(a, end) : b]).strip() for a, b in spans[start:stop])
    return Statement(tuple(ids), start, stop, tuple(-1 if word is None else word for word in words), joined)


def cut(statement: Statement, left: int, right: int) -> Statement:
    """A statement with so many tokens left and right of its candidate."""
    first, last = max(0, statement.start - left), min(len(statement.ids), statement.stop + right)
    shorter = (first, last) != (0, len(statement.ids))
    ids, words = statement.ids[first:last], statement.words[first:last]
    return Statement(
        ids, statement.start - first, statement.stop - first, words, statement.joined, statement.cut or shorter
    )
