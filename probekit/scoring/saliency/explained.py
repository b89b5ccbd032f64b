"""What is explained of a record: a number that a model gives for one filling of a slot, or for one against another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.errors import ProbeError
from probekit.models.model import Model
from probekit.probes.rationales.record import RationaleSet
from probekit.scoring.forward import Row, mask_logits
from probekit.scoring.saliency.fillings import Slots
from probekit.scoring.saliency.inputs import Input
from probekit.scoring.saliency.written import continued, statements

Target = Literal["predicted", "gold", "contrast"]
Form = Literal["probability", "choice", "odds"]
Array = npt.NDArray[np.float64]


class Read(NamedTuple):
    """A row, the tokens whose probability is read at its masks, and whether as the sum of their logarithms."""

    row: Row
    targets: tuple[int, ...]
    log: bool


@dataclass(frozen=True)
class Explained:
    """A number that a model gives for a record.

    Args:
        inputs: the record with the filling that is explained, and, unless that stands alone, with the other.
        targets: of each, the tokens that are read at its masks.
        form: ``probability``: mean probability of the tokens of one filling. ``odds``: log-probability of the one less
            that of the other. ``choice``: probability of the one among the two, which is the logistic function of that.
        texts: of the fillings.
    """

    inputs: tuple[Input, ...]
    targets: tuple[tuple[int, ...], ...]
    form: Form
    texts: tuple[str, ...]

    @property
    def log(self) -> bool:
        """Whether sums of log-probabilities are read."""
        return self.form != "probability"

    def value(self, read: Array) -> Array:
        """The number from what is read of each input, shape (inputs, ...) -> (...)."""
        if self.form == "probability":
            return read[0]
        odds = read[0] - read[1]
        return odds if self.form == "odds" else 1 / (1 + np.exp(-odds))

    def slope(self, read: Array) -> Array:
        """Its derivative by what is read of each input, shape (inputs, ...)."""
        if self.form == "probability":
            return np.ones_like(read)
        chosen = self.value(read)
        return np.stack([np.ones_like(chosen), -np.ones_like(chosen)]) * (
            1.0 if self.form == "odds" else chosen * (1 - chosen)
        )

    def without(self, words: Sequence[int], mask: int | None) -> list[Read]:
        """What is read with the words at these positions masked, or deleted where there is no mask."""
        return [
            Read(*without(one, tokens, words, mask), self.log)
            for one, tokens in zip(self.inputs, self.targets, strict=True)
        ]


def without(one: Input, targets: Sequence[int], words: Sequence[int], mask: int | None) -> tuple[Row, tuple[int, ...]]:
    """A row whose words at these positions are masked, or deleted, and its targets.

    The slot and special tokens stay, and so does all that a decoder is given. Words of a statement that are deleted are
    not read any more.
    """
    gone = set(words)
    out = [word in gone for word in one.word_of.tolist()]
    if mask is not None:
        return replace(one.row, ids=[mask if o else t for t, o in zip(one.row.ids, out, strict=True)]), tuple(targets)
    ids = [token for token, o in zip(one.row.ids, out, strict=True) if not o]
    if one.row.written:
        return replace(one.row, ids=ids), tuple(targets)
    read = [not (one.filling and out[place + 1]) for place in one.row.masks]
    masks = [place - sum(out[: place + 1]) for place, stays in zip(one.row.masks, read, strict=True) if stays]
    return Row(ids, masks), tuple(token for token, stays in zip(targets, read, strict=True) if stays)


def foils_of(items: RationaleSet) -> list[str]:
    """The foil that each record names, the first of its field ``contrast`` that is no gold, or nothing."""
    named = items.items.get("contrast", pd.Series([None] * len(items.items)))
    return [
        next((foil for foil in foils if foil not in golds), "") if isinstance(foils, list) else ""
        for foils, golds in zip(named, items.items["golds"], strict=True)
    ]


def explain(
    slots: Slots, numbers: Sequence[int], target: Target, foils: Sequence[str], batch_tokens: int | None = None
) -> list[Explained]:
    """What is explained of some records.

    Args:
        target: the best filling (``predicted``), the first ``gold``, or how much likelier that is than a foil
            (``contrast``). Where answers of the set compete, a prediction is held against the next best, a gold against
            the best wrong one or its foil.
        foils: of every record of the set, the foil that it names, or nothing for the best wrong filling.

    Raises:
        ProbeError: no gold, or nothing to hold it against.
        ModelError: a row does not fit into memory.
    """
    model, masked = slots.model, slots.model.kind not in ("causal", "seq2seq")
    if masked and target == "predicted":
        best = predicted(model, [slots.inputs[n].row for n in numbers])
        return [
            Explained((slots.inputs[n],), (tuple(tokens),), "probability", (model.tokenizer.decode(tokens),))
            for n, tokens in zip(numbers, best, strict=True)
        ]
    unnamed = [n for n in numbers if not (target == "contrast" and foils[n])]
    asked = [n for n in unnamed if target != "gold" or slots.by_statement[n]]
    top = 2 + max((len(slots.right[n]) for n in asked), default=0)
    fillings = dict(slots.fill(asked, top, batch_tokens))
    named: list[Input] = []  # the records with the foils that some name in the place of their golds
    if len(unnamed) < len(numbers):
        golds = [[foil] if foil else golds for foil, golds in zip(foils, slots.items.items["golds"], strict=True)]
        named = slots.encode(replace(slots.items, items=slots.items.items.assign(golds=golds)))

    def of(number: int) -> Explained:
        record, own = slots.items.items.iloc[number], slots.inputs[number]
        here = f"{slots.items.name}: record {record['id']!r}"
        best = fillings.get(number, [])
        others = best[1:] if target == "predicted" else [one for one in best if one.tokens not in slots.right[number]]
        foil = foils[number] if target == "contrast" else ""
        if target != "predicted" and not own.gold:
            raise ProbeError(f"{here} has no gold to explain")
        if not (best or own.gold) or not (foil or others or number not in asked):
            raise ProbeError(
                f"{here} has no answer to explain, or none to hold it against: give other golds, or a foil"
            )
        if slots.by_statement[number]:
            texts = (best[0].text if target == "predicted" else record["golds"][0], foil or others[0].text)
            inputs = statements(model, record["context"], record["words"], texts)
            form: Form = "odds" if target == "contrast" else "choice"
            return Explained(
                tuple(inputs), tuple(tuple(one.row.ids[1 + one.row.masks[0] :]) for one in inputs), form, texts
            )
        pairs = [(own, best[0].tokens if target == "predicted" else own.gold)]
        if target == "contrast":
            pairs.append((named[number], named[number].gold) if foil else (own, others[0].tokens))
        if not all(tokens for _, tokens in pairs):
            raise ProbeError(f"{here}: {model.name} makes no token of {foil!r}")
        return Explained(
            tuple(one if masked else continued(one, tokens) for one, tokens in pairs),
            tuple(tokens for _, tokens in pairs),
            "odds" if target == "contrast" else "probability",
            tuple(model.tokenizer.decode(tokens) for _, tokens in pairs),
        )

    return [of(number) for number in numbers]


def predicted(model: Model, rows: Sequence[Row]) -> list[list[int]]:
    """The most probable token at each mask of each row."""
    tokens: list[list[int]] = [[] for _ in rows]
    for batch, logits in mask_logits(model, rows):
        best = iter(logits.argmax(1).tolist())
        for number in batch:
            tokens[number] = [next(best) for _ in rows[number].masks]
    return tokens


def read_all(model: Model, reads: Sequence[Read], batch_tokens: int | None = None) -> list[float]:
    """Of each row the mean probability of its targets, or the sum of their logarithms; rows alike are asked once."""
    keys = [(*r.row.ids, -1, *r.row.masks, -1, *r.row.written, -1, *r.targets, int(r.log)) for r in reads]
    first = {key: number for number, key in reversed(list(enumerate(keys)))}
    chosen = sorted(first.values())
    values: dict[int, float] = {}
    for batch, logits in mask_logits(model, [reads[i].row for i in chosen], batch_tokens):
        parts = logits.log_softmax(1).split([len(reads[chosen[i]].row.masks) for i in batch])
        for i, log_probs in zip(batch, parts, strict=True):
            read = reads[chosen[i]]
            of_targets = log_probs.gather(1, log_probs.new_tensor(read.targets).long()[:, None])
            values[chosen[i]] = float(of_targets.cpu().double().sum() if read.log else of_targets.exp().mean())
    return [values[first[key]] for key in keys]


def numbers_of(
    model: Model, asked: Sequence[tuple[Explained, Sequence[int], int | None]], batch_tokens: int | None = None
) -> list[float]:
    """What is explained, without some words: masked, or deleted where there is no mask."""
    reads = [explained.without(words, mask) for explained, words, mask in asked]
    values = iter(read_all(model, [read for own in reads for read in own], batch_tokens))
    return [
        float(explained.value(np.array([next(values) for _ in own])))
        for (explained, _, _), own in zip(asked, reads, strict=True)
    ]
