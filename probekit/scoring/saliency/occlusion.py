"""Occlusion: what a prediction loses when one word is masked (Zeiler and Fergus 2014; leave-one-out)."""

from __future__ import annotations

from collections.abc import Sequence

from probekit.models.model import Model
from probekit.scoring.forward import Row, mask_logits
from probekit.scoring.saliency.inputs import Input


def occlusion(
    model: Model, inputs: Sequence[Input], targets: Sequence[Sequence[int]], batch_tokens: int | None = None
) -> list[list[float]]:
    """The targets' mean probability, less that with all tokens of one word replaced by the mask token.

    Args:
        targets: a token for each mask of the slot of each input.
        batch_tokens: padded tokens per batch.

    Returns:
        Of each input a score for each of its ``positions``; 0 of a word that the model does not see.

    Raises:
        ModelError: not a masked model, or a row that does not fit into memory.
    """
    rows, wanted = [], []
    for one, tokens in zip(inputs, targets, strict=True):
        for word in (None, *one.positions):
            rows.append(without(model, one, [] if word is None else [word]))
            wanted.append(tokens)
    values = iter(probabilities(model, rows, wanted, batch_tokens))
    found = []
    for one in inputs:
        whole = next(values)
        found.append([whole - next(values) for _ in one.positions])
    return found


def without(model: Model, one: Input, words: Sequence[int], delete: bool = False) -> Row:
    """An input whose words at these positions are masked, or deleted; the slot and special tokens stay."""
    gone, masks = set(words), set(one.row.masks)
    kept = [
        (model.mask_id if word in gone else token, place in masks)
        for place, (token, word) in enumerate(zip(one.row.ids, one.word_of.tolist(), strict=True))
        if not (delete and word in gone)
    ]
    return Row([token for token, _ in kept], [place for place, (_, slot) in enumerate(kept) if slot])


def probabilities(
    model: Model, rows: Sequence[Row], targets: Sequence[Sequence[int]], batch_tokens: int | None = None
) -> list[float]:
    """Mean over the masks of each row of the probability of its targets; rows that are alike are asked once."""
    keys = [(*row.ids, -1, *row.masks, -1, *tokens) for row, tokens in zip(rows, targets, strict=True)]
    first = {key: number for number, key in reversed(list(enumerate(keys)))}
    chosen = sorted(first.values())
    found: dict[int, float] = {}
    for batch, logits in mask_logits(model, [rows[i] for i in chosen], batch_tokens):
        parts = logits.log_softmax(1).split([len(rows[chosen[i]].masks) for i in batch])
        for i, log_probs in zip(batch, parts, strict=True):
            tokens = log_probs.new_tensor(targets[chosen[i]]).long()
            found[chosen[i]] = float(log_probs.gather(1, tokens[:, None]).exp().mean())
    return [found[first[key]] for key in keys]
