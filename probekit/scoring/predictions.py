"""The best fillings of a slot of one or several tokens (paper 003, section 5.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import pandas as pd

from probekit.files import canonical, digest
from probekit.files.progress import Progress
from probekit.models.model import Model
from probekit.probes.rationales.record import RationaleSet
from probekit.scoring.forward import mask_logits
from probekit.scoring.question import Question
from probekit.scoring.saliency.inputs import encode_inputs, gold_tokens
from probekit.store import Store, Work, answer

if TYPE_CHECKING:
    import torch

VERSION = 1
SHARD_ROWS = 2048


def predict_slots(
    model: Model, items: RationaleSet, top: int = 3, batch_tokens: int | None = None, store: Store | None = None
) -> pd.DataFrame:
    """The most probable fillings of each slot, over the whole vocabulary.

    A slot has as many masks as its first gold has tokens; the masks' probabilities are taken as independent. A filling
    is right when its tokens are those of a gold; golds of another number of tokens cannot be hit.

    Args:
        model: a masked language model.
        items: records with golds.
        top: fillings to return.
        batch_tokens: padded tokens per batch.
        store: where finished shards are kept and found; None keeps nothing.

    Returns:
        One row per record, in order: ``id, language, dimension, perturbation, original_id``; ``masks`` of the slot;
        ``predictions`` (texts, best first) and ``log_probs`` (sum over the masks); ``rank`` (of the best gold among
        the fillings, 0 if none is there); ``unknown``, whether every gold holds the tokenizer's unknown token.
    """
    return cast(pd.DataFrame, answer(predict_slots_work(model, items, top, batch_tokens), store))


def predict_slots_work(model: Model, items: RationaleSet, top: int = 3, batch_tokens: int | None = None) -> Work:
    """What ``predict_slots`` has to do."""
    inputs = encode_inputs(model, items)
    table = items.items
    golds = [gold_tokens(model, text, g) for text, g in zip(table["context"], table["golds"], strict=True)]
    order = sorted(range(len(inputs)), key=lambda i: -len(inputs[i].row.ids))
    shards = [order[start : start + SHARD_ROWS] for start in range(0, len(order), SHARD_ROWS)]
    jobs = [[list(item.row.ids), list(item.row.masks), gold] for item, gold in zip(inputs, golds, strict=True)]
    key = {"scoring": VERSION, "model": model.fingerprint, "inputs": digest(canonical(jobs)), "top": top}
    tokens = sum(len(item.row.ids) for item in inputs)

    def compute(number: int, progress: Progress) -> pd.DataFrame:
        members = shards[number]
        rows = []
        for batch, logits in mask_logits(model, [inputs[i].row for i in members], batch_tokens):
            parts = logits.log_softmax(1).split([len(inputs[members[i]].row.masks) for i in batch])
            for i, log_probs in zip(batch, parts, strict=True):
                best = best_sequences(log_probs, top)
                hits = [n for n, (_, ids) in enumerate(best, 1) if ids in golds[members[i]]]
                texts = [model.tokenizer.decode(ids).strip() for _, ids in best]
                rows.append((members[i], texts, [score for score, _ in best], hits[0] if hits else 0))
            progress.add(len(batch))
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
        return result

    sizes = list(map(len, shards))
    return Work("predictions", key, f"predictions, {model.name}", sizes, compute, finish, tokens)


def best_sequences(log_probs: torch.Tensor, top: int) -> list[tuple[float, tuple[int, ...]]]:
    """The ``top`` best joint sequences of independent positions.

    Args:
        log_probs: of each token at each position, shape (positions, vocabulary).

    Returns:
        Log-probability and token ids of each, best first; equal ones in the order of their tokens' ids.
    """
    values, tokens = log_probs.double().topk(min(top, log_probs.shape[1]), dim=1)
    best: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    for scores, ids in zip(values.tolist(), tokens.tolist(), strict=True):
        longer = [(s + score, (*t, token)) for s, t in best for score, token in zip(scores, ids, strict=True)]
        best = sorted(longer, key=lambda pair: (-pair[0], pair[1]))[:top]
    return best


@dataclass(frozen=True, eq=False)
class Predict(Question):
    """``predict_slots`` as data."""

    makes = predict_slots_work
    items: RationaleSet
    top: int = 3
