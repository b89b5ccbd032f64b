"""Options of completions under all kinds of models, and which tokens may be an answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from probekit.models.model import Model

Answer = tuple[str, float, int]
"""Completion, sum of the log-probabilities of its tokens, number of its tokens."""

UNUSED = re.compile(r"\[unused\d+\]|<?madeupword\d+>?|<extra_id_\d+>")


@dataclass(frozen=True)
class Options:
    """What decides the answers besides model and prompts.

    Args:
        k: completions of each prompt.
        tokens: longest completion of causal and seq2seq models.
        special: special and unused tokens may be answers.
    """

    k: int
    tokens: int
    special: bool


def refused(model: Model, options: Options) -> list[int]:
    """Token ids that are no answer: special and unused ones, and rows of the head that the tokenizer does not know."""
    by_id = {number: token for token, number in model.tokenizer.get_vocab().items()}
    special = set() if options.special else set(model.tokenizer.all_special_ids)
    return [
        number
        for number in range(model.outline.config.vocab_size)
        if number not in by_id or number in special or (not options.special and UNUSED.fullmatch(by_id[number]))
    ]
