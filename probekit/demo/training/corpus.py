"""Training text: lines of UTF-8 files, tokenised once into flat arrays."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probekit.errors import ProbeError
from probekit.files.reading import lines, open_regular
from probekit.models.model import Model

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

CHUNK = 4096  # lines tokenised at once
CHINESE = re.compile(r"[\u4e00-\u9fff]+")


@dataclass(frozen=True)
class Text:
    """Sentences under a name; ``sha256`` is of the file as it lies on disk, or of the joined lines.

    ``lines`` may be gone through several times; ``names`` are the names in it, where they are known: one of them is
    then hidden in every sentence. What stands before a tab is then read alone, and nothing of it is hidden.
    """

    name: str
    lines: Iterable[str] = field(repr=False)
    sha256: str
    names: tuple[str, ...] = field(default=(), repr=False)


def text_of(name: str, lines: list[str], names: Sequence[str] = ()) -> Text:
    """A text that is not a file."""
    return Text(name, lines, hashlib.sha256("\n".join(lines).encode()).hexdigest(), tuple(names))


@dataclass(frozen=True)
class FileLines:
    """The lines of a UTF-8 file, plain or gzipped, read anew each time and never held together; blank ones left out."""

    path: Path

    def __iter__(self) -> Iterator[str]:
        return (text for _, line in lines(self.path) if (text := line.strip()))


def read_text(path: Path) -> Text:
    """The text of a UTF-8 file, plain or gzipped, read once to see that it is whole.

    Raises:
        ProbeError: the file cannot be read, is damaged, is not UTF-8 (names file and line), or holds no sentence.
    """
    text = FileLines(path)
    if not sum(1 for _ in text):
        raise ProbeError(f"{path} holds no sentence; one a line is wanted")
    with open_regular(path) as file:
        return Text(path.name, text, hashlib.file_digest(file, "sha256").hexdigest())


@dataclass(frozen=True)
class Corpus:
    """Tokenised texts; a data set for ``Trainer``, whose rows are sentences.

    Args:
        tokens: of all sentences, shape (3, tokens): ids, special ones included; the number of the word in its sentence
            that a token belongs to, from 0 on, or -1; the number of the name, from 1 on, or 0.
        ends: where each sentence ends in ``tokens``, shape (sentences,).
        texts: per text its ``name``, ``sha256``, ``sentences``, ``tokens`` and ``names`` (how many are known).
        cut: sentences that were longer than the model takes.
    """

    tokens: np.ndarray = field(repr=False)
    ends: np.ndarray = field(repr=False)
    texts: list[dict[str, Any]]
    cut: int

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, number: int) -> dict[str, np.ndarray]:
        first = self.ends[number - 1] if number else 0
        return dict(zip(("input_ids", "words", "names"), self.tokens[:, first : self.ends[number]], strict=True))

    def counts(self, vocabulary: int) -> np.ndarray:
        """How often each token occurs, shape (vocabulary,)."""
        return np.bincount(self.tokens[0], minlength=vocabulary)

    def first_counts(self, vocabulary: int) -> np.ndarray:
        """How often each token begins a word, shape (vocabulary,)."""
        ids, words, _ = self.tokens
        begins = (words >= 0) & (np.diff(words, prepend=-1) != 0)
        return np.bincount(ids[begins], minlength=vocabulary)


def encode(texts: Sequence[Text], model: Model) -> Corpus:
    """Tokenise texts as the model takes them; what is too long for it is cut off, but for the last token
    and, where something stands before a tab, from there first.

    A causal model's sentences end with its end token.
    """
    end = model.tokenizer.eos_token_id if model.kind == "causal" else None
    sentences: list[np.ndarray] = []
    tables, cut = [], 0
    for text in texts:
        first = len(sentences)
        for sentence in _tokenised(text, model.tokenizer):
            if end is not None and sentence[0, -1:] != [end]:
                sentence = np.column_stack([sentence, [end, -1, 0]])
            if (over := sentence.shape[1] - model.max_tokens) > 0:
                cut += 1
                before = max(0, int(np.argmax(sentence[1] >= 0)) - 1)  # what is read alone goes first
                sentence = np.delete(sentence, np.s_[1 : 1 + min(over, before)], axis=1)
                sentence = np.column_stack([sentence[:, : model.max_tokens - 1], sentence[:, -1]])
            sentences.append(sentence.astype(np.int32))
        tokens = sum(sentence.shape[1] for sentence in sentences[first:])
        counts = {"sentences": len(sentences) - first, "tokens": tokens, "names": len(text.names)}
        tables.append({"name": text.name, "sha256": text.sha256} | counts)
    ends = np.cumsum([sentence.shape[1] for sentence in sentences])
    return Corpus(np.concatenate(sentences, axis=1), ends, tables, cut)


def _tokenised(text: Text, tokenizer: PreTrainedTokenizerFast) -> Iterator[np.ndarray]:
    """Of each sentence its token ids, and for each token the numbers of its word and of its name, shape (3, tokens)."""
    longest_first = sorted(text.names, key=lambda name: (-len(name), name))
    pattern = re.compile("|".join(map(_whole, longest_first))) if text.names else None
    read = iter(text.lines)
    while chunk := list(islice(read, CHUNK)):
        encodings = tokenizer([line.replace("\t", " ") for line in chunk], verbose=False, return_offsets_mapping=True)
        for i, (line, ids) in enumerate(zip(chunk, encodings["input_ids"], strict=True)):
            words = [-1 if word is None else word for word in encodings.word_ids(i)]
            begins, ends = np.array(encodings["offset_mapping"][i]).reshape(-1, 2).T
            names, asked = np.zeros(len(ids), int), line.rfind("\t") + 1
            for number, match in enumerate(pattern.finditer(line, asked) if pattern else (), start=1):
                names[(begins < match.end()) & (match.start() < ends)] = number
            yield np.array([ids, np.where(ends <= asked, -1, words) if pattern else words, names])


def _whole(name: str) -> str:
    """A pattern for a name as a word or words of its own; Chinese is written without spaces between words."""
    return re.escape(name) if CHINESE.fullmatch(name) else rf"(?<!\w){re.escape(name)}(?!\w)"
