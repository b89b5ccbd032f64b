"""The best fillings of a slot of one or several tokens (paper 003, section 5.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import pandas as pd

from probekit.files import canonical, digest
from probekit.files.progress import Progress
from probekit.models.model import Model
from probekit.probes.rationales.record import RationaleSet
from probekit.scoring.question import Question
from probekit.scoring.saliency.fillings import Slots
from probekit.store import Store, Work, answer

VERSION = 1
SHARD_ROWS = 2048


def predict_slots(
    model: Model, items: RationaleSet, top: int = 3, batch_tokens: int | None = None, store: Store | None = None
) -> pd.DataFrame:
    """The best fillings found of each slot, over the whole vocabulary, or among the answers of the set.

    A slot has as many masks as its first gold has tokens; the masks' probabilities are taken as independent. A seq2seq
    model writes as many tokens, one after the other, and so does a causal one where the slot ends the text. Where words
    follow the slot, in a record or another version of it, a causal model chooses among the golds of all records by the
    likelihood of the statements that they make. A filling is right when its tokens are those of a gold; golds of
    another number of tokens than the first cannot be hit, unless the model chooses among all golds.

    Args:
        model: a language model.
        items: records with golds.
        top: fillings to return.
        batch_tokens: padded tokens per batch.
        store: where finished shards are kept and found; None keeps nothing.

    Returns:
        One row per record, in order: ``id, language, dimension, perturbation, original_id``; ``masks`` of the slot (1
        without masks); ``predictions`` (texts, best first) and ``log_probs`` (sum over tokens, or among answers);
        ``rank`` (of the best gold among these, else 0); ``unknown``, whether every gold holds the tokenizer's
        unknown token; ``among``, how many answers of the set competed, 0 for the whole vocabulary.
    """
    return cast(pd.DataFrame, answer(predict_slots_work(model, items, top, batch_tokens), store))


def predict_slots_work(model: Model, items: RationaleSet, top: int = 3, batch_tokens: int | None = None) -> Work:
    """What ``predict_slots`` has to do."""
    slots, table = Slots(model, items), items.items
    inputs, golds = slots.inputs, slots.golds
    order = sorted(range(len(inputs)), key=lambda i: -len(inputs[i].row.ids))
    shards = [order[start : start + SHARD_ROWS] for start in range(0, len(order), SHARD_ROWS)]
    jobs = [[list(item.row.ids), list(item.row.masks), gold] for item, gold in zip(inputs, golds, strict=True)]
    key = {"scoring": VERSION, "model": model.fingerprint, "inputs": digest(canonical(jobs)), "top": top, **slots.key}
    tokens = sum(len(item.row.ids) for item in inputs)

    def compute(number: int, progress: Progress) -> pd.DataFrame:
        members = shards[number]
        rows = []
        for i, best in slots.fill(members, top, batch_tokens):
            hits = [n for n, filling in enumerate(best, 1) if filling.tokens in slots.right[i]]
            texts, scores = [filling.text for filling in best], [filling.log_prob for filling in best]
            rows.append((i, texts, scores, hits[0] if hits else 0))
            progress.add(1)
        return pd.DataFrame(rows, columns=["number", "predictions", "log_probs", "rank"])

    def finish(frames: list[pd.DataFrame]) -> pd.DataFrame:
        predicted = pd.concat(frames).set_index("number").sort_index().reset_index(drop=True)
        for column in ("predictions", "log_probs"):
            predicted[column] = predicted[column].map(list)  # Parquet gives arrays
        metadata = table[["id", "language", "dimension", "perturbation", "original_id"]]
        unknown = model.tokenizer.unk_token_id
        result = pd.concat([metadata, predicted], axis=1)
        result.insert(5, "masks", [len(item.row.masks) for item in inputs])
        result["unknown"] = [bool(gold) and all(unknown in tokens for tokens in gold) for gold in golds]
        competing = len(slots.answers.strings) if any(slots.by_statement) else 0
        result["among"] = [competing * whole for whole in slots.by_statement]
        return result

    sizes = list(map(len, shards))
    return Work("predictions", key, f"predictions, {model.name}", sizes, compute, finish, tokens)


@dataclass(frozen=True, eq=False)
class Predict(Question):
    """``predict_slots`` as data."""

    makes = predict_slots_work
    items: RationaleSet
    top: int = 3
