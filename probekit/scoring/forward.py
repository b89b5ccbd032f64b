"""Forward passes: the network over whole rows, the language-model head at the masks alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from probekit.errors import ModelError
from probekit.models.model import Model
from probekit.scoring.batches import BATCH_TOKENS, FILLED
from probekit.scoring.memory import device_budget, within_memory

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Row:
    """One input of the model.

    Args:
        ids: token ids, special ones included; of a seq2seq model, those of its encoder.
        masks: the positions that are read: the masks, or under a causal or seq2seq model those that predict a token.
        written: token ids that the decoder of a seq2seq model is given; ``masks`` are positions there.
    """

    ids: Sequence[int]
    masks: Sequence[int]
    written: Sequence[int] = ()


def mask_logits(
    model: Model, rows: Sequence[Row], batch_tokens: int | None = None
) -> Iterator[tuple[list[int], torch.Tensor]]:
    """Vocabulary scores at the masks of every row, batch by batch.

    A batch that does not fit into memory is cut in half, see ``within_memory``.

    Args:
        model: a language model.
        rows: inputs no longer than ``model.max_tokens``.
        batch_tokens: padded tokens per batch; None takes ``device_budget`` for masked models.

    Yields:
        Row numbers of the batch, and float32 logits of shape (masks of these rows in order, vocabulary) on the device.

    Raises:
        ModelError: a single row does not fit into memory, or the scores are not finite.
    """
    import torch

    lengths, masks = [len(row.ids) + len(row.written) for row in rows], [len(row.masks) for row in rows]
    budget = batch_tokens or (_budget(model) if model.kind == "masked" else BATCH_TOKENS)
    for batch, logits in within_memory(
        model.name, lengths, masks, budget, lambda chunk: _logits(model, [rows[i] for i in chunk]), model.minds_padding
    ):
        if not bool(torch.isfinite(logits.sum())):
            raise ModelError(f"{model.name} ({model.dtype}) gives scores that are not finite")
        yield batch, logits


_BUDGETS: WeakKeyDictionary[Any, int] = WeakKeyDictionary()  # of a network, found once


def _budget(model: Model) -> int:
    """Padded tokens per batch, from one pass over rows with as many masks as a batch may hold."""
    if model.network not in _BUDGETS:
        length = min(128, model.max_tokens)
        row = Row([model.mask_id] * length, range(length // FILLED))
        _BUDGETS[model.network] = device_budget(
            model.device, lambda tokens: _logits(model, [row] * max(1, tokens // length))
        )
    return _BUDGETS[model.network]


def padded(model: Model, rows: Sequence[Row]) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and attention mask of rows, filled up to the longest; shape (rows, longest) each, on the device.

    Raises:
        ModelError: see ``embedded``.
    """
    import torch

    ids = _filled(model, [row.ids for row in rows])
    attention = torch.tensor([[1] * len(row.ids) + [0] * (ids.shape[1] - len(row.ids)) for row in rows])
    return ids, attention.to(model.device)


def _filled(model: Model, texts: Sequence[Sequence[int]]) -> torch.Tensor:
    import torch

    longest, padding = max(map(len, texts)), model.tokenizer.pad_token_id or 0
    ids = torch.tensor([[*text, *[padding] * (longest - len(text))] for text in texts])
    return embedded(model, ids).to(model.device)


def decoder_ids(model: Model, rows: Sequence[Row]) -> dict[str, Any]:
    """What the network is given besides rows: of a decoder its tokens, filled up behind, and that nothing follows."""
    written = {"decoder_input_ids": _filled(model, [row.written for row in rows])} if rows[0].written else {}
    return {**written, "use_cache": False} if model.kind in ("causal", "seq2seq") else written


def embedded(model: Model, ids: torch.Tensor) -> torch.Tensor:
    """Token ids of a batch, all of which the network has an embedding of.

    Raises:
        ModelError: it lacks one, as of a token that was added to the tokenizer alone.
    """
    rows, highest = model.network.get_input_embeddings().weight.shape[0], int(ids.max())
    if highest >= rows:
        token = model.tokenizer.convert_ids_to_tokens(highest)
        raise ModelError(f"{model.name}: a text holds the token {token!r} ({highest}), beyond the {rows} embeddings")
    return ids


def mask_places(model: Model, rows: Sequence[Row]) -> torch.Tensor:
    """Row and position of each mask of the rows, in order; shape (2, masks), on the device."""
    import torch

    return torch.tensor([(i, position) for i, row in enumerate(rows) for position in row.masks]).T.to(model.device)


@contextmanager
def head_at(model: Model, where: torch.Tensor) -> Iterator[None]:
    """Cut the hidden states down to these places, shape (2, n), before the head sees them.

    Inside, a call of the network gives logits of shape (1, n, vocabulary). The head of a masked model is all behind its
    encoder, that of others their output embeddings.

    Raises:
        ModelError: a network that does not tell its encoder from its head, or has none.
    """

    def cut(_module: Any, _args: Any, output: Any) -> Any:
        output.last_hidden_state = output.last_hidden_state[where[0], where[1]].unsqueeze(0)
        return output

    def given(_head: Any, args: Any) -> Any:
        return args[0][where[0], where[1]][None], *args[1:]

    network: Any = model.network
    if model.kind == "masked":
        if network.base_model is network:
            raise ModelError(f"{model.name}: {type(network).__name__} does not tell its encoder from its head")
        hook = network.base_model.register_forward_hook(cut)
    else:
        head: Any = network.get_output_embeddings()
        if head is None:
            raise ModelError(f"{model.name}: {type(network).__name__} has no head that gives scores of its vocabulary")
        hook = head.register_forward_pre_hook(given)
    with hook:
        yield


def _logits(model: Model, rows: Sequence[Row]) -> torch.Tensor:
    import torch

    ids, attention = padded(model, rows)
    network: Any = model.network
    with head_at(model, mask_places(model, rows)), torch.inference_mode():
        output = network(input_ids=ids, attention_mask=attention, **decoder_ids(model, rows), return_dict=True)
    return output.logits[0].float()
