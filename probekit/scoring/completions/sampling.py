"""Completions that are drawn, each prompt by random numbers of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from probekit.errors import ModelError
from probekit.files import canonical, digest
from probekit.models.model import Model
from probekit.scoring.completions.asking import Answer, Options, Sampling, refused
from probekit.scoring.completions.beams import batched, beam_search, generate, texts
from probekit.scoring.forward import Row

if TYPE_CHECKING:
    import torch


def write(
    model: Model,
    inputs: Sequence[Row],
    options: Options,
    stops: Sequence[int],
    start: Sequence[int],
    batch_tokens: int | None,
) -> Iterator[tuple[list[int], list[list[Answer]]]]:
    """What a model writes: the best texts of ``beam_search``, or k that are drawn, in the order drawn.

    Args:
        inputs, stops, start, batch_tokens: as in ``beam_search``.

    Yields:
        Row numbers of a batch, and the k answers of each; their log-probabilities are the model's own, at temperature
        1 and over the whole vocabulary.

    Raises:
        ModelError: see ``beam_search``.
    """
    import torch

    if (sampling := options.sampling) is None:
        return (yield from beam_search(model, inputs, options, stops, start, batch_tokens))
    banned = torch.tensor([token for token in refused(model, options) if token not in stops], dtype=torch.long)

    def run(batch: list[int]) -> list[list[Answer]]:
        numbers = np.concatenate([uniforms(inputs[i], sampling, options.k, options.tokens) for i in batch])
        rows = [inputs[i].ids for i in batch for _ in range(options.k)]
        log_probs: list[torch.Tensor] = []

        def choose(_written: Any, logits: torch.Tensor) -> torch.Tensor:
            if not bool(torch.isfinite(logits.sum())):
                raise ModelError(f"{model.name} ({model.dtype}) gives scores that are not finite")
            step = len(log_probs)
            tokens = drawn(logits, numbers[:, step : step + 1], sampling, banned)
            log_probs.append(logits.log_softmax(1).gather(1, tokens)[:, 0])
            return torch.full_like(logits, -torch.inf).scatter(1, tokens, 0.0)

        ids, _ = generate(model, rows, options, stops, start, [choose])
        totals = torch.stack(log_probs, 1).cpu().double().cumsum(1).tolist()
        flat = [(text, sums[n - 1], n) for (text, n), sums in zip(texts(model, ids, stops), totals, strict=True)]
        return [flat[place : place + options.k] for place in range(0, len(flat), options.k)]

    yield from batched(model, inputs, options, options.k, batch_tokens, run)


def uniforms(row: Row, sampling: Sampling, k: int, tokens: int) -> npt.NDArray[np.float64]:
    """Random numbers of one prompt, by its token ids and the seed alone; shape (k, tokens), the first of a larger k."""
    seed = int(digest(canonical([sampling.seed, list(row.ids)])), 16)
    return np.random.default_rng(seed).random((k, tokens))


def drawn(
    logits: torch.Tensor, numbers: npt.NDArray[np.float64], sampling: Sampling, banned: torch.Tensor
) -> torch.Tensor:
    """Token ids at which the summed probabilities, in the order of the vocabulary, pass random numbers.

    Args:
        logits: shape (rows, vocabulary).
        numbers: from 0 to below 1, shape (rows, n).
        banned: token ids that are not drawn.

    Returns:
        Shape (rows, n).
    """
    import torch
    from transformers import TemperatureLogitsWarper, TopPLogitsWarper

    scores = logits.index_fill(1, banned.to(logits.device), -torch.inf)
    scores = TemperatureLogitsWarper(sampling.temperature)(None, scores)
    if sampling.top_p < 1:
        scores = TopPLogitsWarper(sampling.top_p)(None, scores)
    shares = scores.softmax(1)
    try:
        sums = shares.double().cumsum(1)
    except (TypeError, RuntimeError):  # Apple's devices have no float64
        sums = shares.cpu().double().cumsum(1)
    return torch.searchsorted(sums, torch.from_numpy(numbers).to(sums) * sums[:, -1:], right=True).to(logits.device)
