"""Occlusion: what a prediction loses without one word (Zeiler and Fergus 2014; leave-one-out)."""

from __future__ import annotations

from collections.abc import Sequence

from probekit.models.model import Model
from probekit.scoring.saliency.explained import Explained, numbers_of


def occlusion(model: Model, explained: Sequence[Explained], batch_tokens: int | None = None) -> list[list[float]]:
    """What is explained of each record, less that with all tokens of one word replaced by the mask token.

    Causal and seq2seq models have no mask for a word, so that its tokens are deleted; a decoder keeps what it is given.

    Args:
        batch_tokens: padded tokens per batch.

    Returns:
        Of each record a score for each of its ``positions``; 0 of a word that the model does not see.

    Raises:
        ModelError: a row that does not fit into memory.
    """
    mask = model.mask_id if model.kind == "masked" else None
    asked = [(one, words, mask) for one in explained for words in ((), *((p,) for p in one.inputs[0].positions))]
    values = iter(numbers_of(model, asked, batch_tokens))
    scores = []
    for one in explained:
        whole = next(values)
        scores.append([whole - next(values) for _ in one.inputs[0].positions])
    return scores
