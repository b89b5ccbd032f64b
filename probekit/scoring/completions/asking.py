"""Options of completions under all kinds of models, and which tokens may be an answer."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

from probekit.errors import ProbekitError
from probekit.models.model import Model

Decoding = Literal["beams", "sample"]

Answer = tuple[str, float, int]
"""Completion, sum of the log-probabilities of its tokens, number of its tokens."""

UNUSED = re.compile(r"\[unused\d+\]|<?madeupword\d+>?|<extra_id_\d+>")


@dataclass(frozen=True)
class Sampling:
    """How completions are drawn.

    Args:
        temperature: by which scores are divided.
        top_p: tokens are drawn of the fewest, likeliest first, that have this probability together.
        seed: of the random numbers.
    """

    temperature: float
    top_p: float
    seed: int


@dataclass(frozen=True)
class Options:
    """What decides the answers besides model and prompts.

    Args:
        k: completions of each prompt.
        tokens: longest completion of causal and seq2seq models.
        special: special and unused tokens may be answers.
        sampling: how completions are drawn; None looks for the likeliest.
        instruction: stands before the prompt in a user's turn of a chat; None asks without a chat template.
    """

    k: int
    tokens: int
    special: bool
    sampling: Sampling | None = None
    instruction: str | None = None


def sampling_of(decoding: Decoding, temperature: float, top_p: float, seed: int) -> Sampling | None:
    """How completions are drawn; None of beams, which have no seed.

    Raises:
        ProbekitError: another name, a value out of range, or one that beams do not have.
    """
    if decoding not in ("beams", "sample"):
        raise ProbekitError(f"decoding={decoding!r}: give beams or sample")
    if not (0 < temperature < math.inf and 0 < top_p <= 1):
        raise ProbekitError(
            f"temperature must be above 0, not {temperature}, and top_p above 0 and at most 1, not {top_p}"
        )
    if decoding == "sample":
        return Sampling(float(temperature), float(top_p), seed)
    if (temperature, top_p) != (1, 1):
        raise ProbekitError("beams have no temperature and no top_p: leave both out, or give decoding=sample")
    return None


def refused(model: Model, options: Options) -> list[int]:
    """Token ids that are no answer: special and unused ones, and rows of the head that the tokenizer does not know."""
    by_id = {number: token for token, number in model.tokenizer.get_vocab().items()}
    special = set() if options.special else set(model.tokenizer.all_special_ids)
    return [
        number
        for number in range(model.outline.config.vocab_size)
        if number not in by_id or number in special or (not options.special and UNUSED.fullmatch(by_id[number]))
    ]
