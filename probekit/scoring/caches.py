"""What a network keeps of the tokens that it has read: it can be shared by texts that begin alike, or it cannot."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from probekit.cautions import caution
from probekit.models.model import Model
from probekit.titles import shown_name

if TYPE_CHECKING:
    import torch

_SHARES: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()  # of a network, found once


def shares(model: Model) -> bool:
    """Whether a causal or seq2seq network keeps keys and values of each token, and nothing else; a caution if not."""
    if model.network not in _SHARES:
        _SHARES[model.network] = _pickable(_cache_of(model))
        if not _SHARES[model.network]:
            caution(
                f"{shown_name(model.name)}: what {type(model.network).__name__} keeps of the tokens it has read cannot "
                "be shared by texts that begin alike, so that each is read whole, and more slowly."
            )
    return _SHARES[model.network]


def _cache_of(model: Model) -> Any:
    """What is kept of one token; None where a network, or a part of it, takes no cache."""
    import torch

    ids, network = torch.zeros((1, 1), dtype=torch.long, device=model.device), model.network
    decoder = {"decoder_input_ids": ids} if model.kind == "seq2seq" else {}
    try:
        with torch.inference_mode():
            output = network(input_ids=ids, **decoder, use_cache=True, return_dict=True)
    except Exception:  # a network raises whatever its code does
        return None
    return getattr(output, "past_key_values", None)


def _pickable(cache: Any) -> bool:
    from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer, EncoderDecoderCache

    if type(cache) is EncoderDecoderCache:
        return _pickable(cache.self_attention_cache) and _pickable(cache.cross_attention_cache)
    known = (DynamicLayer, DynamicSlidingWindowLayer)
    return type(cache) is DynamicCache and all(type(one) in known and one.keys is not None for one in cache.layers)


def picked(cache: Any, rows: torch.Tensor) -> Any:
    """A copy of some rows of a cache, which goes on by itself."""
    from transformers.cache_utils import EncoderDecoderCache

    found = copy(cache)
    if isinstance(cache, EncoderDecoderCache):
        found.self_attention_cache = picked(cache.self_attention_cache, rows)
        found.cross_attention_cache = picked(cache.cross_attention_cache, rows)
        found.is_updated = dict(cache.is_updated)
        return found
    found.layers = [copy(layer) for layer in cache.layers]
    for layer in found.layers:
        layer.keys, layer.values = layer.keys[rows], layer.values[rows]
    return found
