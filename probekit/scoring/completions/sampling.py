"""How completions are drawn, each prompt by random numbers of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from probekit.files import canonical, digest
from probekit.scoring.completions.asking import Sampling
from probekit.scoring.forward import Row

if TYPE_CHECKING:
    import torch


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
