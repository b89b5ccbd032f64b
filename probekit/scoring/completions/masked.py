"""Completions of masked models: the most likely tokens at the mask (paper 004, section 3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from probekit.models.model import Model
from probekit.scoring.completions.asking import Answer, Options, refused
from probekit.scoring.completions.sampling import drawn, uniforms
from probekit.scoring.forward import Row, mask_logits
from probekit.scoring.slots import encode_slots


def rows(model: Model, prompts: Sequence[str], options: Options) -> list[Row]:
    """The model's inputs with one mask each; too long a prompt keeps the window around it."""
    return [slot.row(model, 1) for slot in encode_slots(model, prompts)]


def answer(
    model: Model, inputs: Sequence[Row], options: Options, batch_tokens: int | None
) -> Iterator[tuple[list[int], list[list[Answer]]]]:
    """The k best tokens at every mask, of the log-softmax over the whole vocabulary; equal ones in order of their ids.
    Or k drawn ones, in the order drawn.

    Yields:
        Row numbers of a batch, and the k answers of each.
    """
    import torch

    dropped = torch.tensor(refused(model, options), dtype=torch.long, device=model.device)
    words: dict[int, str] = {}
    for batch, logits in mask_logits(model, inputs, batch_tokens):
        scores = logits.log_softmax(1).index_fill(1, dropped, -torch.inf)
        if options.sampling:
            numbers = np.stack([uniforms(inputs[i], options.sampling, options.k, 1)[:, 0] for i in batch])
            order = drawn(logits, numbers, options.sampling, dropped)
            values = scores.gather(1, order)
        else:
            values, order = (tensor[:, : options.k] for tensor in scores.sort(dim=1, descending=True, stable=True))
        for token in set(order.flatten().tolist()) - words.keys():
            words[token] = model.tokenizer.decode([token]).strip()
        yield (
            batch,
            [
                [(words[token], value, 1) for token, value in zip(tokens, log_probs, strict=True)]
                for tokens, log_probs in zip(order.tolist(), values.tolist(), strict=True)
            ],
        )
