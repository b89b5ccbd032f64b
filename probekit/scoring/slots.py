"""Slots and candidates as token ids (paper 001, section 3; method of Kassner et al. 2021)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from probekit.errors import ModelError, ProbeError
from probekit.models.model import Model
from probekit.probes.probe import MASK
from probekit.scoring.forward import Row

if TYPE_CHECKING:
    import torch


Unknown = Literal["last", "compete"]  # how an entity ranks that the tokenizer cannot write without its unknown token


@dataclass(frozen=True)
class Slot:
    """A prompt as token ids left and right of its slot; ``spaced`` says whether white space comes before the slot."""

    left: Sequence[int]
    right: Sequence[int]
    spaced: bool

    def row(self, model: Model, masks: int) -> Row:
        """The model's input with so many masks in the slot; too long a text keeps the window around the slot."""
        before, after = model.special_ids
        room = model.max_tokens - len(before) - len(after) - masks
        if room < 0:
            raise ModelError(f"{model.name} takes {model.max_tokens} tokens: too few for a slot of {masks} masks")
        left, right = window(len(self.left), len(self.right), room)
        start = len(before) + left
        context = self.left[len(self.left) - left :]
        ids = [*before, *context, *[model.mask_id] * masks, *self.right[:right], *after]
        return Row(ids, range(start, start + masks))


def window(left: int, right: int, room: int) -> tuple[int, int]:
    """Tokens to keep left and right of a slot: half of ``room`` each, and what one side leaves goes to the other."""
    if left + right <= room:
        return left, right
    before = min(left, max(room // 2, room - right))
    return before, room - before


def encode_slots(model: Model, texts: Sequence[str]) -> list[Slot]:
    """Tokenise prompts with one ``[MASK]`` each.

    The mask becomes the tokenizer's own before tokenising. More masks are put in as token ids: all families give the
    same ids for masks joined by a space.

    Raises:
        ProbeError: the text holds the model's own mask token besides.
        ModelError: not a masked model, or one without a mask token.
    """
    number, mask = model.mask_id, model.tokenizer.mask_token
    slots = []
    for text, ids in zip(texts, model.tokens_of([text.replace(MASK, mask) for text in texts]), strict=True):
        if ids.count(number) != 1:
            raise ProbeError(f"besides {MASK}, the text holds the mask token {mask} of {model.name}: {text[:80]!r}")
        at = ids.index(number)
        slots.append(Slot(ids[:at], ids[at + 1 :], follows_space(text)))
    return slots


def follows_space(text: str) -> bool:
    """Whether white space comes right before the slot of a prompt."""
    return text[: text.index(MASK)][-1:].isspace()


@dataclass(frozen=True)
class Candidates:
    """The entities that compete for a slot, as distinct token sequences, shorter ones first.

    Entities of one token sequence are one candidate. An entity that cannot be scored is a candidate of its own, of
    length 0, which ranks last: one without any token, one that holds a special token, such as ``[SEP]``, and one that
    the tokenizer cannot write without its unknown token, unless that may ``compete``.

    Args:
        strings: first entity of each candidate, without white space around it, shape (c,).
        number: entity, as it was given -> its candidate.
        sequences: token ids of each candidate, shape (c, its length).
        unknown: the strings of the candidates that hold the unknown token.
        special: the strings of those that hold another special token.
    """

    strings: list[str]
    number: dict[str, int]
    sequences: list[tuple[int, ...]] = field(repr=False)
    unknown: frozenset[str]
    special: frozenset[str]

    @property
    def tokenless(self) -> list[str]:
        """The entities of which the tokenizer makes no token at all."""
        pairs = zip(self.strings, self.sequences, strict=True)
        return [entity for entity, sequence in pairs if not sequence and entity not in self.unknown | self.special]

    @cached_property
    def by_length(self) -> dict[int, tuple[int, torch.Tensor]]:
        """Length -> (first candidate of this length, token ids of shape (candidates of this length, length))."""
        import torch

        starts: dict[int, int] = {}
        for i, sequence in enumerate(self.sequences):
            starts.setdefault(len(sequence), i)
        ends = [*list(starts.values())[1:], len(self.sequences)]
        parts = zip(starts.items(), ends, strict=True)
        return {n: (start, torch.tensor(self.sequences[start:end])) for (n, start), end in parts if n}


def encode_candidates(model: Model, entities: Iterable[str], spaced: bool, unknown: Unknown = "last") -> Candidates:
    """Tokenise entities as they would stand in the slot, without white space of their own around them.

    Args:
        spaced: whether the slot follows white space; byte-level BPE then gives an entity a leading space.
        unknown: ``last`` gives no tokens to an entity that holds the unknown token, so that it is never right and never
            one with another; ``compete`` takes the unknown token for a token like others.
    """
    entities = list(dict.fromkeys(entities))
    texts = [entity.strip() for entity in entities]
    lead = " " if spaced and model.minds_spaces else ""
    number = model.tokenizer.unk_token_id
    special = set(model.tokenizer.all_special_ids) - {number}
    written = [
        (ids, number in ids, not special.isdisjoint(ids)) for ids in model.tokens_of([lead + text for text in texts])
    ]
    scored = [bool(ids) and not marks and not (holds and unknown == "last") for ids, holds, marks in written]
    keys = [(w[0], "") if s else ((), text) for text, w, s in zip(texts, written, scored, strict=True)]
    first: dict[tuple[tuple[int, ...], str], int] = {}
    for place, key in enumerate(keys):
        first.setdefault(key, place)
    order = sorted(first, key=lambda key: len(key[0]))
    numbers = {key: i for i, key in enumerate(order)}
    return Candidates(
        strings=[texts[first[key]] for key in order],
        number={entity: numbers[key] for entity, key in zip(entities, keys, strict=True)},
        sequences=[ids for ids, _ in order],
        unknown=frozenset(texts[first[key]] for key in order if written[first[key]][1]),
        special=frozenset(texts[first[key]] for key in order if written[first[key]][2]),
    )
