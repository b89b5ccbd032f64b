"""The best fillings of a slot, by what a kind of model can be asked.

A masked model fills all masks of a slot at once. A seq2seq model writes its own tokens there, and so does a causal one
where the slot ends the text. Where words follow the slot, a causal model would see nothing of them: there it chooses
among the answers of the set, if it has any, by the likelihood of the whole statement that each makes. A record, its
original and the other versions of that are asked in one way, so that they can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from probekit.models.model import Model
from probekit.probes.probe import MASK
from probekit.probes.rationales.record import RationaleSet
from probekit.probes.rationales.words import is_punctuation
from probekit.scoring.forward import mask_logits
from probekit.scoring.saliency.inputs import Input, encode_inputs, gold_tokens
from probekit.scoring.saliency.written import continued, encode_written, written_tokens
from probekit.scoring.slots import Candidates, encode_candidates
from probekit.scoring.statements.scoring import score_statements

if TYPE_CHECKING:
    import torch

BEAMS = 5  # that write a slot's tokens one after the other, or as many as are asked for
STATEMENTS = 4096  # scored at once


class Filling(NamedTuple):
    """A filling of a slot.

    Args:
        log_prob: sum over its tokens; of an answer of the set, that among all of them.
        tokens: its ids; of an answer of the set, its number there.
        text: as it is read.
    """

    log_prob: float
    tokens: tuple[int, ...]
    text: str


def ends_in_slot(words: Sequence[str]) -> bool:
    """Whether nothing but punctuation marks stands behind the slot."""
    return all(map(is_punctuation, words[words.index(MASK) + 1 :]))


@dataclass(frozen=True)
class Slots:
    """The slots of a set, as one model is asked to fill them.

    Raises:
        ProbeError, ModelError: see ``encode_inputs`` and ``encode_written``.
    """

    model: Model
    items: RationaleSet

    @cached_property
    def inputs(self) -> list[Input]:
        """The records, with masks for the first gold, or, of a model that writes, with nothing in the slot."""
        return self.encode(self.items)

    def encode(self, items: RationaleSet) -> list[Input]:
        """Records as ``inputs``."""
        masked = self.model.kind not in ("causal", "seq2seq")
        return encode_inputs(self.model, items) if masked else encode_written(self.model, items, gold=False)

    @cached_property
    def golds(self) -> list[list[tuple[int, ...]]]:
        """Token ids of the golds of each record."""
        tokens = written_tokens if self.model.kind in ("causal", "seq2seq") else gold_tokens
        pairs = zip(self.items.items["context"], self.items.items["golds"], strict=True)
        return [tokens(self.model, context, golds) if golds else [] for context, golds in pairs]

    @cached_property
    def by_statement(self) -> list[bool]:
        """Whether a record is answered by the likeliest statement among the answers of the set."""
        table = self.items.items
        if self.model.kind != "causal" or not any(self.answers.sequences):
            return [False] * len(table)
        original = table["original_id"].where(table["original_id"] != "", table["id"])
        inside: pd.Series = ~table["words"].map(ends_in_slot)
        return [bool(value) for value in inside.groupby(original).transform("any")]

    @cached_property
    def answers(self) -> Candidates:
        """The golds of all records."""
        golds = [gold for golds in self.items.items["golds"] for gold in golds]
        return encode_candidates(self.model, golds, spaced=True)

    @cached_property
    def right(self) -> list[list[tuple[int, ...]]]:
        """The ``tokens`` that make a filling of each record right."""
        return [
            [(self.answers.number[gold],) for gold in golds] if whole else tokens
            for golds, tokens, whole in zip(self.items.items["golds"], self.golds, self.by_statement, strict=True)
        ]

    @property
    def key(self) -> dict[str, Any]:
        """What decides the fillings besides ``inputs``, of models that are not masked ones."""
        if self.model.kind not in ("causal", "seq2seq"):
            return {}
        texts = self.items.items["context"].tolist() if any(self.by_statement) else []
        answers = self.answers.strings if texts else []
        return {"texts": texts, "answers": answers, "by statement": self.by_statement, "beams": BEAMS}

    def fill(
        self, numbers: Sequence[int], top: int, batch_tokens: int | None = None
    ) -> Iterator[tuple[int, list[Filling]]]:
        """The best fillings of some records, best first, with their numbers.

        Raises:
            ModelError: a single row does not fit into memory, or the scores are not finite.
        """
        own = [number for number in numbers if not self.by_statement[number]]
        written = self.model.kind in ("causal", "seq2seq")
        yield from (self._written if written else self._at_masks)(own, top, batch_tokens)
        whole = [number for number in numbers if self.by_statement[number]]
        size = max(1, STATEMENTS // len(self.answers.strings)) if whole else 1
        for start in range(0, len(whole), size):
            yield from self._chosen(whole[start : start + size], top, batch_tokens)

    def _at_masks(
        self, numbers: Sequence[int], top: int, batch_tokens: int | None
    ) -> Iterator[tuple[int, list[Filling]]]:
        rows = [self.inputs[number].row for number in numbers]
        for batch, logits in mask_logits(self.model, rows, batch_tokens):
            parts = logits.log_softmax(1).split([len(rows[i].masks) for i in batch])
            for i, log_probs in zip(batch, parts, strict=True):
                yield numbers[i], self._read(best_sequences(log_probs, top))

    def _written(
        self, numbers: Sequence[int], top: int, batch_tokens: int | None
    ) -> Iterator[tuple[int, list[Filling]]]:
        """As many tokens as the first gold has, one after the other, by beams."""
        width, sizes = max(top, BEAMS), {number: len(self.inputs[number].gold) or 1 for number in numbers}
        beams: dict[int, list[tuple[float, tuple[int, ...]]]] = {number: [(0.0, ())] for number in numbers}
        for step in range(max(sizes.values(), default=0)):
            asked = [(n, beam) for n in numbers if step < sizes[n] for beam in beams[n]]
            rows = [continued(self.inputs[n], (*tokens, 0)).row for n, (_, tokens) in asked]
            rows = [type(row)(row.ids, row.masks[-1:], row.written) for row in rows]
            longer: dict[int, list[tuple[float, tuple[int, ...]]]] = {n: [] for n, _ in asked}
            for batch, logits in mask_logits(self.model, rows, batch_tokens):
                values, best = logits.log_softmax(1).topk(min(width, logits.shape[1]))
                for i, scores, ids in zip(batch, values.tolist(), best.tolist(), strict=True):
                    number, (score, tokens) = asked[i]
                    longer[number] += [(score + s, (*tokens, t)) for s, t in zip(scores, ids, strict=True)]
            beams |= {n: sorted(paths, key=lambda path: (-path[0], path[1]))[:width] for n, paths in longer.items()}
        for number in numbers:
            yield number, self._read(beams[number][:top])

    def _read(self, sequences: Sequence[tuple[float, tuple[int, ...]]]) -> list[Filling]:
        return [Filling(score, ids, self.model.tokenizer.decode(ids).strip()) for score, ids in sequences]

    def _chosen(
        self, numbers: Sequence[int], top: int, batch_tokens: int | None
    ) -> Iterator[tuple[int, list[Filling]]]:
        """The likeliest answers of the set, by the log-likelihood of the statements that they make."""
        texts = [self.items.items["context"].iloc[number] for number in numbers]
        scores, _ = score_statements(self.model, texts, self.answers, "sum", batch_tokens)
        for number, row in zip(numbers, scores.cpu().double().log_softmax(1).tolist(), strict=True):
            order = sorted((i for i, score in enumerate(row) if score > -float("inf")), key=lambda i: (-row[i], i))
            yield number, [Filling(row[i], (i,), self.answers.strings[i]) for i in order[:top]]


def best_sequences(log_probs: torch.Tensor, top: int) -> list[tuple[float, tuple[int, ...]]]:
    """The ``top`` best joint sequences of independent positions.

    Args:
        log_probs: of each token at each position, shape (positions, vocabulary).

    Returns:
        Log-probability and token ids of each, best first; equal ones in the order of their tokens' ids.
    """
    values, tokens = log_probs.topk(min(top, log_probs.shape[1]), dim=1)
    best: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    for scores, ids in zip(values.tolist(), tokens.tolist(), strict=True):
        longer = [(s + score, (*t, token)) for s, t in best for score, token in zip(scores, ids, strict=True)]
        best = sorted(longer, key=lambda pair: (-pair[0], pair[1]))[:top]
    return best
