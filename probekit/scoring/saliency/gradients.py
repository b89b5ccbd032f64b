"""Integrated gradients from a blank sentence to the prompt (Sundararajan et al. 2017; paper 003, section 5.1), and the
gradient times the input (Shrikumar et al. 2017)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from probekit.errors import ModelError
from probekit.models.model import Model
from probekit.scoring.forward import decoder_ids, head_at, mask_places
from probekit.scoring.memory import within_memory
from probekit.scoring.saliency.explained import Explained
from probekit.scoring.saliency.inputs import Input
from probekit.scoring.saliency.written import frame

if TYPE_CHECKING:
    import torch

Baseline = Literal["pad", "zero"]
GRADIENT_TOKENS = 1024  # of a batch: a pass with gradients keeps every layer's activations


@dataclass(frozen=True)
class Path:
    """Integrated gradients of one record.

    Args:
        words: attribution of each word, shape (words,).
        attributed: of all tokens together, special ones and masks included; those ``written`` have none.
        start: what is explained, at the baseline.
        end: the same at the prompt.
    """

    words: list[float]
    attributed: float
    start: float
    end: float


def integrated_gradients(
    model: Model,
    explained: Sequence[Explained],
    batch_tokens: int | None = None,
    steps: int = 100,
    baseline: Baseline = "pad",
) -> list[Path]:
    """Integrate the gradient of what is explained along the straight line from a baseline.

    Only the word embeddings move; positions stay and the attention mask is all ones. Trapezoid rule over ``steps``
    intervals of equal length, so ``steps + 1`` points; signed sum over the hidden size. The points of all rows of one
    length are run together, the head at the masks alone, and no gradient is taken of any weight. Of a statement the
    filling stays as it is, and how far a word counts as read goes the same way from 0 to 1, as a word is there both for
    the words behind it to follow from and to follow itself from those before.

    Args:
        batch_tokens: tokens per batch.
        steps: intervals.
        baseline: ``pad``: padding between the special tokens, or, of a causal model, which is never shown any, the
            token that begins a text; ``zero``: zeros (the authors' toolkit), where a network that normalises bare word
            embeddings (Llama, T5) jumps, so that the sum misses the change.

    Raises:
        ValueError: an unknown baseline, or no step.
        ModelError: the tokenizer has no padding token, or a row does not fit into memory.
    """
    if baseline not in ("pad", "zero"):
        raise ValueError(f"baseline must be 'pad' or 'zero', not {baseline!r}")
    if steps < 1:
        raise ValueError(f"steps must be at least 1, not {steps}")
    weights = np.full(steps + 1, 1 / steps)
    weights[[0, -1]] /= 2
    shares = [point / steps for point in range(steps + 1)]
    return _paths(model, explained, batch_tokens, shares, weights, baseline)


def gradient_x_input(
    model: Model, explained: Sequence[Explained], batch_tokens: int | None = None
) -> list[list[float]]:
    """The gradient of what is explained at the prompt, times the word embedding, summed over its size.

    Of a statement, the log-probability of each word is added to its own.

    Args:
        batch_tokens: tokens per batch.

    Returns:
        Of each record the attribution of each word, shape (words,).

    Raises:
        ModelError: a row does not fit into memory.
    """
    return [path.words for path in _paths(model, explained, batch_tokens, [1.0], np.ones(1), "zero")]


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


class _Read(NamedTuple):
    """One of the inputs of what is explained, with what is read there."""

    input: Input
    targets: tuple[int, ...]
    log: bool


def _ends(model: Model, inputs: Sequence[Input], baseline: Baseline) -> tuple[torch.Tensor, torch.Tensor]:
    """Word embeddings at the start and at the end of the paths, shape (rows, tokens, size) each."""
    import torch

    embed: Any = model.network.get_input_embeddings()
    with torch.no_grad():
        end = embed(torch.tensor([list(one.row.ids) for one in inputs], device=model.device))
        if baseline == "zero":
            start = torch.zeros_like(end)
        else:
            before, after = frame(model)
            blank = [*before, *[_blank(model)] * (end.shape[1] - len(before) - len(after)), *after]
            start = embed(torch.tensor([blank] * len(inputs), device=model.device))
        for i, one in enumerate(inputs):
            start[i, one.filling.start : one.filling.stop] = end[i, one.filling.start : one.filling.stop]
        return start, end


def _blank(model: Model) -> int:
    if model.kind == "causal":  # padding is hidden from it, and its embedding was never trained
        return model.beginning[-1]
    if model.tokenizer.pad_token_id is None:
        raise ModelError(f"{model.name}: its tokenizer has no padding token; take baseline='zero'")
    return int(model.tokenizer.pad_token_id)


def _paths(
    model: Model,
    explained: Sequence[Explained],
    batch_tokens: int | None,
    shares: Sequence[float],
    weights: np.ndarray,
    baseline: Baseline,
) -> list[Path]:
    """Of each record the weighted sum of its gradients at these shares of the way from the baseline.

    Rows of one length go together; point ``p`` of the ``r``-th of them is number ``r * len(shares) + p``.
    """
    reads = [_Read(*pair, one.log) for one in explained for pair in zip(one.inputs, one.targets, strict=True)]
    slopes = [np.zeros((len(shares), len(read.input.row.ids))) for read in reads]
    values = np.zeros((len(reads), len(shares)))
    of_length: dict[int, list[int]] = {}
    for number, read in enumerate(reads):
        of_length.setdefault(len(read.input.row.ids), []).append(number)
    with _frozen(model):
        for length, members in of_length.items():
            points = [(number, share) for number in members for share in shares]

            def compute(batch: list[int], points: list[tuple[int, float]] = points) -> tuple[np.ndarray, np.ndarray]:
                return _points(model, reads, [points[n] for n in batch], baseline)

            masks = [len(reads[number].targets) for number, _ in points]
            budget = max(batch_tokens or GRADIENT_TOKENS, length)
            for batch, results in within_memory(model.name, [length] * len(masks), masks, budget, compute):
                for number, slope, value in zip(batch, *results, strict=True):
                    row, point = members[number // len(shares)], number % len(shares)
                    slopes[row][point], values[row, point] = slope, value
    paths, at = [], 0
    for one in explained:
        own = range(at, at := at + len(one.inputs))
        weighed = weights * one.slope(values[own])
        tokens = [
            sum(weight * slope for weight, slope in zip(w, slopes[i], strict=True))
            for w, i in zip(weighed, own, strict=True)
        ]
        each = [np.array(of.word_scores(scores)) for of, scores in zip(one.inputs, tokens, strict=True)]
        ends = one.value(values[own])[[0, -1]].tolist()
        paths.append(Path(np.sum(each, axis=0).tolist(), float(sum(scores.sum() for scores in tokens)), *ends))
    return paths


def _points(
    model: Model, reads: Sequence[_Read], points: Sequence[tuple[int, float]], baseline: Baseline
) -> tuple[np.ndarray, np.ndarray]:
    """At points, a row and a share of the way each: gradient times the way from the baseline, shape (points, tokens),
    and what is read there."""
    import torch

    chosen = sorted({row for row, _ in points})
    place = {row: i for i, row in enumerate(chosen)}
    start, end = _ends(model, [reads[i].input for i in chosen], baseline)
    of = torch.tensor([place[row] for row, _ in points], device=model.device)
    share = torch.tensor([share for _, share in points], device=model.device, dtype=start.dtype)[:, None, None]
    way = (end - start)[of]
    embedded = torch.lerp(start[of], end[of], share).requires_grad_(True)
    here = [reads[row] for row, _ in points]
    rows = [read.input.row for read in here]
    wanted = torch.tensor([token for read in here for token in read.targets], device=model.device)
    where = mask_places(model, rows)
    network: Any = model.network
    with head_at(model, where), torch.enable_grad():
        logits = network(inputs_embeds=embedded, **decoder_ids(model, rows), return_dict=True).logits[0].float()
        logs = logits.gather(1, wanted[:, None])[:, 0] - logits.logsumexp(1)
        each = logs.exp()
        log = torch.tensor([read.log for read in here], device=model.device)[where[0]]
        word = torch.tensor([mark for read in here for mark in _of_words(read.input)], device=model.device)
        if bool(log.any()):
            each = torch.where(log, torch.where(word, share[where[0], 0, 0].float(), 1.0) * logs, each)
        counts = torch.tensor([1 if read.log else len(read.targets) for read in here], device=model.device)
        read = torch.zeros(len(here), device=model.device).index_add(0, where[0], each) / counts
        (slope,) = torch.autograd.grad(read.sum(), embedded)
    tokens = (slope * way).sum(-1)
    tokens[where[0][word], where[1][word] + 1] += logs.detach()[word].to(tokens.dtype)
    return tokens.cpu().double().numpy(), read.detach().cpu().double().numpy()


def _of_words(one: Input) -> list[bool]:
    """Of each mask of a row, whether it is read of a word of a statement, and so as far as that word is there."""
    return [bool(one.filling) and place + 1 not in one.filling for place in one.row.masks]
