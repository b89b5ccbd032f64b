"""Occlusion: what a prediction loses without one word (Zeiler and Fergus 2014; leave-one-out)."""

from __future__ import annotations

from collections.abc import Sequence

from probekit.models.model import Model
from probekit.scoring.forward import Row, mask_logits
from probekit.scoring.saliency.inputs import Input


def occlusion(
    model: Model, inputs: Sequence[Input], targets: Sequence[Sequence[int]], batch_tokens: int | None = None
) -> list[list[float]]:
    """The targets' mean probability, less that with all tokens of one word replaced by the mask token.

    Causal and seq2seq models have no mask for a word, so that its tokens are deleted; a decoder keeps what it is given.

    Args:
        targets: a token for each mask of the slot of each input.
        batch_tokens: padded tokens per batch.

    Returns:
        Of each input a score for each of its ``positions``; 0 of a word that the model does not see.

    Raises:
        ModelError: a row that does not fit into memory.
    """
    delete, rows, row_targets = model.kind != "masked", [], []
    for item, tokens in zip(inputs, targets, strict=True):
        for word in (None, *item.positions):
            rows.append(without(model, item, [] if word is None else [word], delete))
            row_targets.append(tokens)
    values = iter(probabilities(model, rows, row_targets, batch_tokens))
    scores = []
    for item in inputs:
        whole = next(values)
        scores.append([whole - next(values) for _ in item.positions])
    return scores


def without(model: Model, item: Input, words: Sequence[int], delete: bool = False) -> Row:
    """An input whose words at these positions are masked, or deleted; the slot and special tokens stay."""
    gone = set(words)
    out = [word in gone for word in item.word_of.tolist()]
    if not delete:
        return Row(
            [model.mask_id if gone else token for token, gone in zip(item.row.ids, out, strict=True)], item.row.masks
        )
    ids = [token for token, gone in zip(item.row.ids, out, strict=True) if not gone]
    if item.row.written:
        return Row(ids, item.row.masks, item.row.written)
    return Row(ids, [place - sum(out[: place + 1]) for place in item.row.masks])  # read at what then stands before it


def probabilities(
    model: Model, rows: Sequence[Row], targets: Sequence[Sequence[int]], batch_tokens: int | None = None
) -> list[float]:
    """Mean over the masks of each row of the probability of its targets; rows that are alike are asked once."""
    keys = [
        (*row.ids, -1, *row.masks, -1, *row.written, -1, *tokens) for row, tokens in zip(rows, targets, strict=True)
    ]
    first = {key: number for number, key in reversed(list(enumerate(keys)))}
    chosen = sorted(first.values())
    means: dict[int, float] = {}
    for batch, logits in mask_logits(model, [rows[i] for i in chosen], batch_tokens):
        parts = logits.log_softmax(1).split([len(rows[chosen[i]].masks) for i in batch])
        for i, log_probs in zip(batch, parts, strict=True):
            tokens = log_probs.new_tensor(targets[chosen[i]]).long()
            means[chosen[i]] = float(log_probs.gather(1, tokens[:, None]).exp().mean())
    return [means[first[key]] for key in keys]
