"""What is learned: hidden words (masked), hidden spans (seq2seq), or the next token (causal), as batches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from probekit.demo.training.recipe import Settings
from probekit.errors import ModelError
from probekit.models.model import Model

if TYPE_CHECKING:
    import torch

FREQUENT = 2e-3  # share of the text from which on a token is hidden more rarely
IGNORED = -100  # the label of a token that is not learned


class Hider:
    """Chooses what to hide: whole words, in runs of one to three, frequent words more rarely.

    Entities of several tokens or words are asked with as many masks at once, so they are learned that way: whole words
    (Cui et al. 2021) in short runs (SpanBERT, Joshi et al. 2020). A word whose first token is the share f of the text
    is hidden in proportion to the square root of ``FREQUENT`` / f where f is larger (the subsampling of Mikolov et
    al. 2013), so that more is learned of names than of articles and full stops. Where the names of a text are known,
    one of them is hidden in each sentence, with words that are no names, and the other names are left to be read
    (salient spans, Guu et al. 2020): a fact is learned from the sentences that show its subject and hide its object.
    Draws from NumPy's global generator, which ``Trainer`` seeds and keeps.

    Args:
        firsts: how often each token begins a word of the text, shape (vocabulary,).
    """

    def __init__(self, settings: Settings, firsts: np.ndarray) -> None:
        weights = np.minimum(1, np.sqrt(FREQUENT * firsts.sum() / np.maximum(firsts, 1)))
        mean = float((weights * firsts).sum() / max(1, firsts.sum())) or 1.0
        share = -math.log1p(-settings.masked) / settings.span  # of words where a run begins
        self.share = np.minimum(0.9, share * weights / mean)
        longer = (settings.span - 1) / 3
        self.lengths = [1 - 2 * longer, longer, longer]  # shares of runs of one, two and three words

    def __call__(self, row: Mapping[str, np.ndarray]) -> np.ndarray:
        """Positions of a sentence to hide, True or False, shape (tokens,); at least one.

        Args:
            row: of a ``Corpus``.
        """
        ids, words, names = row["input_ids"], row["words"], row["names"]
        numbers, starts = np.unique(words, return_index=True)
        numbers, starts = numbers[numbers >= 0], starts[numbers >= 0]
        if not len(numbers):
            return np.ones(len(ids), dtype=bool)
        begins = np.flatnonzero(np.random.random(len(numbers)) < self.share[ids[starts]])
        if not len(begins) and not names.any():
            begins = np.random.randint(len(numbers), size=1)
        runs = np.random.choice([1, 2, 3], size=len(begins), p=self.lengths)
        hidden = [begin + step for begin, run in zip(begins, runs, strict=True) for step in range(run)]
        covered = np.isin(words, [numbers[place] for place in hidden if place < len(numbers)])
        if not names.any():
            return covered
        return np.where(names > 0, names == np.random.choice(np.unique(names[names > 0])), covered)


class Collator:
    """Sentences of a corpus as a padded batch with labels, for a kind of model.

    Args:
        firsts: as in ``Hider``.
        named: whether facts are told by names that are known. A causal model then learns only what a masked one would
            have hidden, given all that stands before it: the name that makes the fact, and little or none of the rest.

    Raises:
        ModelError: the tokenizer lacks the mask, or the ``<extra_id_N>`` of span corruption.
    """

    def __init__(self, model: Model, settings: Settings, firsts: np.ndarray, named: bool = False) -> None:
        self.named = named
        self.kind, self.tokenizer, self.hide = model.kind, model.tokenizer, Hider(settings, firsts)
        vocabulary = model.tokenizer.get_vocab()
        self.extras = [vocabulary[name] for i in range(100) if (name := f"<extra_id_{i}>") in vocabulary]
        if self.kind == "masked" and self.tokenizer.mask_token_id is None:
            raise ModelError("the vocabulary has no mask token, which a masked model learns with")
        if self.kind == "seq2seq" and not self.extras:
            raise ModelError("the vocabulary has no <extra_id_0>, which a seq2seq model learns with")

    def __call__(self, rows: Sequence[Mapping[str, np.ndarray]]) -> dict[str, torch.Tensor]:
        """``input_ids``, ``attention_mask`` and ``labels``, each of shape (rows, longest of them)."""
        inputs, labels = zip(*map(self._learned, rows), strict=True)
        return {
            "input_ids": _padded(inputs, self.tokenizer.pad_token_id or 0),
            "attention_mask": _padded([np.ones_like(row) for row in inputs], 0),
            "labels": _padded(labels, IGNORED),
        }

    def _learned(self, row: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        ids = row["input_ids"].astype(np.int64)
        if self.kind == "causal" and not self.named:
            return ids, np.concatenate([[IGNORED], ids[1:]])  # nothing foretells the first token
        hidden = self.hide(row)
        if self.kind == "causal":
            return ids, np.where(hidden, ids, IGNORED)
        if self.kind == "masked":
            return np.where(hidden, self.tokenizer.mask_token_id, ids), np.where(hidden, ids, IGNORED)
        source, target = corrupt(ids.tolist(), hidden.tolist(), self.extras)
        return np.array(source), np.array([*target, self.tokenizer.eos_token_id])


def corrupt(row: list[int], hidden: list[bool], extras: list[int]) -> tuple[list[int], list[int]]:
    """T5's span corruption (Raffel et al. 2020).

    Returns:
        Source with one extra id for each run of hidden tokens while there are any, and target that tells these runs.
    """
    source: list[int] = []
    target: list[int] = []
    unused, inside = iter(extras), False
    for token, away in zip(row, hidden, strict=True):
        if away and not inside and (extra := next(unused, None)) is not None:
            source.append(extra)
            target.append(extra)
            inside = True
        inside = inside and away
        (target if inside else source).append(token)
    return source, target


def _padded(rows: Sequence[np.ndarray], fill: int) -> torch.Tensor:
    import torch

    tensors = [torch.from_numpy(row) for row in rows]
    return torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=fill)
