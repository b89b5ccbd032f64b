"""Training text: lines of UTF-8 files, tokenised once into one flat array, and the batches drawn from it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probekit.errors import ModelError, ProbeError
from probekit.files.reading import lines, open_regular
from probekit.models.model import Model

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

CHUNK = 4096  # lines tokenised at once
CHINESE = re.compile(r"[\u4e00-\u9fff]+")
POOL = 64  # batches whose rows are sorted by length together


@dataclass(frozen=True)
class Text:
    """Sentences under a name; ``sha256`` is of the file as it lies on disk, or of the joined lines.

    ``lines`` may be gone through several times; ``names`` are the names in it, where they are known: one of them is
    then hidden in every sentence.
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
        ModelError: the file cannot be read, is damaged, is not UTF-8 (names file and line), or holds no sentence.
    """
    text = FileLines(path)
    try:
        if not sum(1 for _ in text):
            raise ModelError(f"{path} holds no sentence; one a line is wanted")
        with open_regular(path) as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except ProbeError as error:
        raise ModelError(str(error)) from error
    except OSError as error:
        raise ModelError(f"cannot read the text {path}: {error}") from error
    return Text(path.name, text, sha256)


@dataclass(frozen=True)
class Corpus:
    """Tokenised texts.

    Args:
        ids: token ids of all sentences, special ones included, shape (tokens,).
        ends: where each sentence ends in ``ids``, shape (sentences,).
        texts: per text its ``name``, ``sha256``, ``sentences``, ``tokens`` and ``names`` (how many are known).
        cut: sentences that were longer than the model takes.
        names: for each token the number of the name in its sentence that it belongs to, from 1 on, or 0, shape
            (tokens,).
    """

    ids: np.ndarray = field(repr=False)
    ends: np.ndarray = field(repr=False)
    texts: list[dict[str, Any]]
    cut: int
    names: np.ndarray = field(repr=False)

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each sentence, shape (sentences,)."""
        return np.diff(self.ends, prepend=0)

    def counts(self, vocabulary: int) -> np.ndarray:
        """How often each token occurs, shape (vocabulary,)."""
        return np.bincount(self.ids, minlength=vocabulary)

    def rows(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ids of some sentences, filled up with -1, and their ``names``; shape (len(numbers), longest of them)."""
        lengths, starts = self.lengths[numbers], self.ends[numbers] - self.lengths[numbers]
        inside = np.arange(int(lengths.max())) < lengths[:, None]
        places = starts[:, None] + np.arange(inside.shape[1])
        places = np.where(inside, places, 0)
        return np.where(inside, self.ids[places], -1), np.where(inside, self.names[places], 0)

    def epoch(self, number: int, seed: int, budget: int) -> list[np.ndarray]:
        """Sentence numbers of each batch of an epoch: every sentence once, of like length within a batch.

        Args:
            budget: padded tokens per batch; a longer sentence is a batch of its own.
        """
        generator = np.random.default_rng([seed, number])
        lengths = self.lengths
        order = generator.permutation(len(lengths))
        pool = max(1, POOL * budget // int(lengths.mean() + 1))
        batches = []
        for start in range(0, len(order), pool):
            part = order[start : start + pool]
            part = part[np.argsort(lengths[part], kind="stable")]
            first = 0
            for at in range(1, len(part) + 1):
                if at == len(part) or (at + 1 - first) * lengths[part[at]] > budget:
                    batches.append(part[first:at])
                    first = at
        return [batches[i] for i in generator.permutation(len(batches))]


def encode(texts: Sequence[Text], model: Model) -> Corpus:
    """Tokenise texts as the model takes them; what is too long for it is cut off.

    A causal model's sentences end with its end token.
    """
    tokenizer, longest = model.tokenizer, model.max_tokens
    parts: list[np.ndarray] = []
    named: list[np.ndarray] = []
    lengths: list[int] = []
    tables = []
    cut = 0
    end = [tokenizer.eos_token_id] if model.kind == "causal" and tokenizer.eos_token_id is not None else []
    for text in texts:
        first = len(lengths)
        for ids, names in _tokenised(text, tokenizer):
            ids = ids if not end or ids[-1:] == end else ids + end
            if len(ids) > longest:
                cut += 1
                ids = ids[:longest] if model.kind == "causal" else [*ids[: longest - 1], ids[-1]]
            lengths.append(len(ids))
            parts.append(np.asarray(ids, dtype=np.int32))
            named.append(np.asarray([*names, 0][: len(ids)], dtype=np.int16))
        tokens = int(sum(lengths[first:]))
        counts = {"sentences": len(lengths) - first, "tokens": tokens, "names": len(text.names)}
        tables.append({"name": text.name, "sha256": text.sha256} | counts)
    return Corpus(np.concatenate(parts), np.cumsum(lengths), tables, cut, np.concatenate(named))


def _tokenised(text: Text, tokenizer: PreTrainedTokenizerFast) -> Iterator[tuple[list[int], list[int]]]:
    """Of each sentence its token ids, and for each token the number of its name."""
    longest_first = sorted(text.names, key=lambda name: (-len(name), name))
    pattern = re.compile("|".join(map(_whole, longest_first))) if text.names else None
    read = iter(text.lines)
    while chunk := list(islice(read, CHUNK)):
        found = tokenizer(
            chunk, truncation=False, padding=False, verbose=False, return_offsets_mapping=pattern is not None
        )
        for i, ids in enumerate(found["input_ids"]):
            numbers = [0] * len(ids)
            for number, match in enumerate(pattern.finditer(chunk[i]) if pattern else (), start=1):
                for at, (begin, end) in enumerate(found["offset_mapping"][i]):
                    if begin < match.end() and match.start() < end:
                        numbers[at] = number
            yield ids, numbers


def _whole(name: str) -> str:
    """A pattern for a name as a word or words of its own; Chinese is written without spaces between words."""
    return re.escape(name) if CHINESE.fullmatch(name) else rf"(?<!\w){re.escape(name)}(?!\w)"
