"""Integrated gradients from a blank sentence to the prompt (Sundararajan et al. 2017; paper 003, section 5.1), and the
gradient times the input (Shrikumar et al. 2017)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from probekit.errors import ModelError
from probekit.models.model import Model
from probekit.scoring.forward import Row, decoder_ids, head_at, mask_logits, mask_places
from probekit.scoring.memory import within_memory
from probekit.scoring.saliency.written import frame

if TYPE_CHECKING:
    import torch

Baseline = Literal["pad", "zero"]
MOST = 2.0  # of attributions together, beyond which the trapezoid has missed a change of at most 1
GRADIENT_TOKENS = 1024  # of a batch: a pass with gradients keeps every layer's activations


@dataclass(frozen=True)
class Path:
    """Integrated gradients of one row.

    Args:
        tokens: attribution of each token, special ones and masks included; a decoder's have none. Shape (tokens,).
        targets: token of each mask; the path follows the mean of their probabilities.
        start: that mean at the baseline.
        end: that mean at the prompt.
    """

    tokens: np.ndarray
    targets: list[int]
    start: float
    end: float


def integrated_gradients(
    model: Model,
    rows: Sequence[Row],
    batch_tokens: int | None = None,
    steps: int = 100,
    baseline: Baseline = "pad",
    targets: Sequence[Sequence[int]] | None = None,
) -> list[Path]:
    """Integrate the gradient of the targets' mean probability along the straight line from a baseline.

    Only the word embeddings move; positions stay and the attention mask is all ones. Trapezoid rule over ``steps``
    intervals of equal length, so ``steps + 1`` points; signed sum over the hidden size. The points of all rows of one
    length are run together, the head at the masks alone, and no gradient is taken of any weight.

    Args:
        batch_tokens: tokens per batch.
        steps: intervals.
        baseline: ``pad``: padding between the special tokens; ``zero``: zeros (the authors' toolkit).
        targets: a token for each mask of each row; None takes the predicted ones.

    Raises:
        ValueError: an unknown baseline, or no step.
        ModelError: the tokenizer has no padding token, a row does not fit into memory, or those of a causal or
            sequence-to-sequence model add up to more than a probability can change: a network that normalises bare
            word embeddings (Llama, T5) jumps at zeros.
    """
    if baseline not in ("pad", "zero"):
        raise ValueError(f"baseline must be 'pad' or 'zero', not {baseline!r}")
    if steps < 1:
        raise ValueError(f"steps must be at least 1, not {steps}")
    if model.tokenizer.pad_token_id is None and baseline == "pad":
        raise ModelError(f"{model.name}: its tokenizer has no padding token; take baseline='zero'")
    weights = np.full(steps + 1, 1 / steps)
    weights[[0, -1]] /= 2
    paths = _paths(model, rows, targets, batch_tokens, [point / steps for point in range(steps + 1)], weights, baseline)
    steep = max((abs(float(path.tokens.sum())) for path in paths), default=0.0)
    if model.kind != "masked" and steep > MOST:
        raise ModelError(
            f"{model.name}: along the path from baseline={baseline!r} attributions add up to {steep:.3g}, "
            "and a probability changes by 1 at most: the network jumps there; take another baseline, or more steps"
        )
    return paths


def gradient_x_input(
    model: Model,
    rows: Sequence[Row],
    batch_tokens: int | None = None,
    targets: Sequence[Sequence[int]] | None = None,
) -> list[np.ndarray]:
    """The gradient of the targets' mean probability at the prompt, times the word embedding, summed over its size.

    Args:
        batch_tokens: tokens per batch.
        targets: as in ``integrated_gradients``.

    Returns:
        Of each row the attribution of each token, shape (tokens,).

    Raises:
        ModelError: a row does not fit into memory.
    """
    return [path.tokens for path in _paths(model, rows, targets, batch_tokens, [1.0], np.ones(1), "zero")]


def _by_length(rows: Sequence[Row]) -> list[list[int]]:
    """Numbers of the rows of each length."""
    groups: dict[int, list[int]] = {}
    for number, row in enumerate(rows):
        groups.setdefault(len(row.ids), []).append(number)
    return list(groups.values())


def predicted(model: Model, rows: Sequence[Row]) -> list[list[int]]:
    """The most probable token at each mask of each row."""
    tokens: list[list[int]] = [[] for _ in rows]
    for batch, logits in mask_logits(model, rows):
        best = iter(logits.argmax(1).tolist())
        for number in batch:
            tokens[number] = [next(best) for _ in rows[number].masks]
    return tokens


@contextmanager
def _frozen(model: Model) -> Iterator[None]:
    """No weight asks for a gradient inside."""
    asking = [weight for weight in model.network.parameters() if weight.requires_grad]
    for weight in asking:
        weight.requires_grad_(False)
    try:
        yield
    finally:
        for weight in asking:
            weight.requires_grad_(True)


def _ends(model: Model, rows: Sequence[Row], baseline: Baseline) -> tuple[torch.Tensor, torch.Tensor]:
    """Word embeddings at the start and at the end of the paths, shape (rows, tokens, size) each."""
    import torch

    embed: Any = model.network.get_input_embeddings()
    with torch.no_grad():
        end = embed(torch.tensor([list(row.ids) for row in rows], device=model.device))
        if baseline == "zero":
            return torch.zeros_like(end), end
        before, after = frame(model)
        blank = [*before, *[model.tokenizer.pad_token_id] * (end.shape[1] - len(before) - len(after)), *after]
        return embed(torch.tensor([blank] * len(rows), device=model.device)), end


def _paths(
    model: Model,
    rows: Sequence[Row],
    targets: Sequence[Sequence[int]] | None,
    batch_tokens: int | None,
    shares: Sequence[float],
    weights: np.ndarray,
    baseline: Baseline,
) -> list[Path]:
    """Of each row the weighted sum of its gradients at these shares of the way from the baseline.

    Rows of one length go together; point ``p`` of the ``r``-th of them is number ``r * len(shares) + p``.
    """
    targets = predicted(model, rows) if targets is None else targets
    tokens = [np.zeros(len(row.ids)) for row in rows]
    values = np.zeros((len(rows), len(shares)))
    with _frozen(model):
        for members in _by_length(rows):
            points = [(row, share) for row in members for share in shares]
            length = len(rows[members[0]].ids)

            def compute(batch: list[int], points: list[tuple[int, float]] = points) -> tuple[np.ndarray, np.ndarray]:
                return _points(model, rows, targets, [points[n] for n in batch], baseline)

            masks, budget = [len(rows[row].masks) for row, _ in points], max(batch_tokens or GRADIENT_TOKENS, length)
            for batch, (slopes, probs) in within_memory(model.name, [length] * len(masks), masks, budget, compute):
                for number, slope, value in zip(batch, slopes, probs, strict=True):
                    row, point = members[number // len(shares)], number % len(shares)
                    tokens[row] += weights[point] * slope
                    values[row, point] = value
    return [Path(tokens[i], list(targets[i]), *values[i, [0, -1]].tolist()) for i in range(len(rows))]


def _points(
    model: Model,
    rows: Sequence[Row],
    targets: Sequence[Sequence[int]],
    points: Sequence[tuple[int, float]],
    baseline: Baseline,
) -> tuple[np.ndarray, np.ndarray]:
    """At points, a row and a share of the way each: gradient times the way from the baseline, shape (points, tokens),
    and the probability."""
    import torch

    chosen = sorted({row for row, _ in points})
    place = {row: i for i, row in enumerate(chosen)}
    start, end = _ends(model, [rows[i] for i in chosen], baseline)
    of = torch.tensor([place[row] for row, _ in points], device=model.device)
    share = torch.tensor([share for _, share in points], device=model.device, dtype=start.dtype)[:, None, None]
    way = (end - start)[of]
    embedded = torch.lerp(start[of], end[of], share).requires_grad_(True)
    here = [rows[row] for row, _ in points]
    tokens = torch.tensor([token for row, _ in points for token in targets[row]], device=model.device)
    where = mask_places(model, here)
    network: Any = model.network
    with head_at(model, where), torch.enable_grad():
        logits = network(inputs_embeds=embedded, **decoder_ids(model, here), return_dict=True).logits[0].float()
        each = (logits.gather(1, tokens[:, None])[:, 0] - logits.logsumexp(1)).exp()
        counts = torch.tensor([len(row.masks) for row in here], device=model.device)
        means = torch.zeros(len(here), device=model.device).index_add(0, where[0], each) / counts
        (slope,) = torch.autograd.grad(means.sum(), embedded)
    return (slope * way).sum(-1).double().cpu().numpy(), means.detach().double().cpu().numpy()
