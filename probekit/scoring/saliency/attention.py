"""Attention of the slot in the last layer (paper 003, section 5.1; Jain and Wallace 2019)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from probekit.errors import ModelError
from probekit.models.model import Model
from probekit.scoring.batches import BATCH_TOKENS
from probekit.scoring.forward import Row, decoder_ids, head_at, mask_places, padded
from probekit.scoring.memory import within_memory

if TYPE_CHECKING:
    import torch

PROJECTIONS = (("query", "key", "num_attention_heads"), ("q_lin", "k_lin", "n_heads"))  # names that networks use
WHOLE = 0.05  # by which the weights of one place may miss a sum of 1, in half precision too
TOLERANCE = 1e-3  # of weights, over which they are not the softmax of queries and keys; half precision moves them less


def attention_scores(
    model: Model,
    rows: Sequence[Row],
    batch_tokens: int | None = None,
    pre_softmax: bool = False,
    heads: Literal["mean", "sum"] = "mean",
) -> Iterator[tuple[list[int], list[np.ndarray]]]:
    """Attention that the masks of each row pay to its tokens, in the last layer, summed over the masks.

    Of a causal model it is that of the positions which predict the slot; of a seq2seq model, these positions' attention
    to what the encoder read.

    Where a masked network's weights are the softmax of the scaled products of its ``PROJECTIONS``, as is tried on the
    shortest row, these are caught on their way, and of the other rows no weights of other layers or tokens are made.
    All other networks (causal ones, DeBERTa, ModernBERT, ...) are asked for their weights, ``output_attentions``.

    Args:
        batch_tokens: padded tokens per batch.
        pre_softmax: take the scaled products of query and key instead (the authors' toolkit).
        heads: ``mean`` over the heads, or their ``sum`` (the authors' toolkit).

    Yields:
        Row numbers of a batch, and of each of these rows the scores of its tokens, shape (tokens,).

    Raises:
        ModelError: a network that does not return its attention, or, with ``pre_softmax``, that is not masked or whose
            weights do not follow from its queries and keys alone; a row that does not fit into memory.
    """
    if heads not in ("mean", "sum"):
        raise ValueError(f"heads must be 'mean' or 'sum', not {heads!r}")
    lengths, masks = [len(row.ids) + len(row.written) for row in rows], [len(row.masks) for row in rows]
    budget = batch_tokens or BATCH_TOKENS
    layer = _last_attention(model) if model.kind == "masked" else None
    if layer and rows:
        at = lengths.index(min(lengths))

        def tried(_: list[int], shortest: Sequence[Row] = rows[at : at + 1], layer: Layer = layer) -> list[np.ndarray]:
            return [*_caught_scores(model, layer, shortest, False, "mean"), *_returned(model, shortest, "mean")]

        ((_, (caught, returned)),) = within_memory(model.name, [lengths[at]], [masks[at]], budget, tried)
        layer = layer if np.allclose(caught, returned, atol=TOLERANCE) else None
    if pre_softmax and model.kind != "masked":
        raise ModelError(f"{model.name} is a {model.kind} model; pre_softmax is defined for masked models alone")
    if pre_softmax and not layer:
        network = type(model.network).__name__
        raise ModelError(f"{model.name}: the attention of {network} does not follow from its queries and keys alone")

    def compute(batch: list[int]) -> list[np.ndarray]:
        chosen = [rows[i] for i in batch]
        return _caught_scores(model, layer, chosen, pre_softmax, heads) if layer else _returned(model, chosen, heads)

    yield from within_memory(model.name, lengths, masks, budget, compute, model.minds_padding)


Layer = tuple[Any, tuple[str, str, str]]  # a module of attention, and its names for queries, keys and number of heads


def _last_attention(model: Model) -> Layer | None:
    """The attention module of the last layer, where its names are known here."""
    import torch

    network: Any = model.network
    matches = [
        (module, names)
        for module in network.base_model.modules()
        for names in PROJECTIONS
        if all(isinstance(getattr(module, name, None), torch.nn.Linear) for name in names[:2])
        and hasattr(module, names[2])
    ]
    return matches[-1] if matches else None


@contextmanager
def _eager(network: Any) -> Iterator[None]:
    """Inside, the network and its parts make their attention weights, which faster code never does."""
    before = [(p, p.config._attn_implementation) for p in network.modules() if hasattr(p, "set_attn_implementation")]
    try:
        for part, _ in before:
            part.set_attn_implementation("eager")
        yield
    finally:
        for part, way in before:
            part.set_attn_implementation(way)


def _returned(model: Model, rows: Sequence[Row], heads: str) -> list[np.ndarray]:
    """Scores by the weights that the network returns.

    Raises:
        ModelError: it returns none, or what are no weights, such as SqueezeBERT's scores before the softmax.
    """
    import torch

    ids, attention = padded(model, rows)
    where = mask_places(model, rows)
    network: Any = model.network
    with _eager(network), head_at(model, where), torch.inference_mode():
        output = network(
            input_ids=ids,
            attention_mask=attention,
            **decoder_ids(model, rows),
            output_attentions=True,
            return_dict=True,
        )
    layers = output.cross_attentions if rows[0].written else output.attentions
    weights = [layer for layer in layers or () if layer is not None]
    if not weights:
        raise ModelError(f"{model.name}: {type(network).__name__} does not return its attention")
    last = weights[-1][where[0], :, where[1]].float()
    if float((last.sum(-1) - 1).abs().max()) > WHOLE:
        raise ModelError(f"{model.name}: what {type(network).__name__} returns as attention does not sum to 1")
    return _summed(last, where[0], rows, heads)


def _summed(weights: torch.Tensor, of: torch.Tensor, rows: Sequence[Row], heads: str) -> list[np.ndarray]:
    """Scores of each row's tokens from weights of shape (masks, heads, longest), ``of`` being the row of each mask."""
    import torch

    each = weights.mean(1) if heads == "mean" else weights.sum(1)
    summed = torch.zeros(len(rows), each.shape[1], device=each.device).index_add_(0, of, each)
    values = summed.cpu().double().numpy()
    return [values[i, : len(row.ids)] for i, row in enumerate(rows)]


def _caught_scores(model: Model, layer: Layer, rows: Sequence[Row], pre_softmax: bool, heads: str) -> list[np.ndarray]:
    """Scores by the queries and keys of the last layer."""
    import torch

    module, names = layer
    ask, key, count = (getattr(module, name) for name in names)
    ids, attention = padded(model, rows)
    where = mask_places(model, rows)
    network: Any = model.network
    held: dict[Any, torch.Tensor] = {}  # what either gave at its last call

    def catch(projection: Any, _args: Any, output: torch.Tensor) -> None:
        held[projection] = output.float().unflatten(-1, (count, -1))

    with ask.register_forward_hook(catch), key.register_forward_hook(catch), torch.inference_mode():
        network.base_model(input_ids=ids, attention_mask=attention)
        queries = held[ask][where[0], where[1]]  # (masks, heads, size)
        keys = held[key][where[0]]  # (masks, longest, heads, size)
        scores = torch.einsum("mhd,mlhd->mhl", queries, keys) * queries.shape[-1] ** -0.5
        if not pre_softmax:
            hidden = attention[where[0]] == 0
            scores = scores.masked_fill(hidden[:, None], -torch.inf).softmax(-1)
        return _summed(scores, where[0], rows, heads)
