"""Words of a context, the unit in which rationales and saliency are given (paper 003, sections 3.4 and 4)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

from probekit.errors import ProbeError
from probekit.probes.probe import MASK

Language = Literal["en", "zh"]

# English: a run of letters and digits, which may hold single apostrophes, hyphens, full stops and commas inside
# (man's, sister-in-law, 703.95, 1,365), is a word; so is every other mark that is no white space.
# Chinese: every character is a word; only a run of Latin letters or of digits is one word, as vocabularies have it.
PATTERNS = {
    "en": re.compile(rf"{re.escape(MASK)}|\w+(?:[-'’.,]\w+)*|[^\w\s]"),
    "zh": re.compile(rf"{re.escape(MASK)}|[A-Za-z]+|[0-9]+(?:\.[0-9]+)?|\S"),
}


def split_words(context: str, language: Language) -> list[str]:
    """Words of a context in order; the slot ``[MASK]`` is one of them.

    English words are split at white space and punctuation marks, each mark a word of its own but for underscores and
    single ones of ``-'’.,`` inside a word; Chinese words are characters, with a run of Latin letters, or a number with
    its decimal part, as one.
    """
    return PATTERNS[language].findall(context)


def is_punctuation(word: str) -> bool:
    """Whether a word holds nothing but punctuation marks, which are taken for no reason."""
    return bool(word) and all(unicodedata.category(sign).startswith("P") for sign in word)


def word_spans(context: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Where each word begins and ends in the context.

    Raises:
        ProbeError: the words do not stand there in this order, or something other than white space is left.
    """
    spans, at = [], 0
    for number, word in enumerate(words):
        start = context.find(word, at) if word else -1
        if start < 0 or context[at:start].strip():
            raise ProbeError(f"field 'words': word {number}, {word!r}, does not come next in {context[at : at + 40]!r}")
        at = start + len(word)
        spans.append((start, at))
    if context[at:].strip():
        raise ProbeError(f"field 'words': {context[at : at + 40]!r} is left after the last word")
    return spans
