"""What a network keeps of the tokens that it has read: it can be shared by texts that begin alike, or it cannot."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from probekit.errors import caution
from probekit.files.naming import shown_name
from probekit.models.kinds import does_not_fit, out_of_memory
from probekit.models.model import Model
from probekit.models.precision import differs, rounding

if TYPE_CHECKING:
    import torch

TRIED = 6  # tokens of a text that is read in two halves, and whole
_SHARES: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()  # of a network, found once


@dataclass(frozen=True)
class Past:
    """What was run: the cache of keys and values, and the encoder's output, one row for each text of a batch."""

    cache: Any
    source: torch.Tensor | None

    def onward(self, rows: torch.Tensor) -> dict[str, Any]:
        """What the network gets besides token ids, for texts that go on from these rows."""
        from transformers.modeling_outputs import BaseModelOutput

        given: dict[str, Any] = {"past_key_values": picked(self.cache, rows)}
        if self.source is not None:
            given["encoder_outputs"] = BaseModelOutput(last_hidden_state=self.source[rows])
        return given


def shares(model: Model) -> bool:
    """Whether texts may go on from picked rows of what a causal or seq2seq network has read; a caution if not."""
    if model.served:
        return False
    if model.network not in _SHARES:
        _SHARES[model.network] = _goes_on(model)
        if not _SHARES[model.network]:
            caution(
                f"{shown_name(model.name)}: what {type(model.network).__name__} keeps of the tokens it has read cannot "
                "be shared by texts that begin alike, so that each is read whole, and more slowly."
            )
    return _SHARES[model.network]


def _goes_on(model: Model) -> bool:
    """Whether two texts that go on from one beginning are read as a whole text is: tried, on a few tokens."""
    import torch

    network, special = model.network, set(model.tokenizer.all_special_ids)
    plain = [i for i in range(network.get_input_embeddings().weight.shape[0]) if i not in special]
    ids = (plain[:: max(1, len(plain) // TRIED)] * TRIED)[:TRIED]
    source, name, start = {}, "input_ids", ids[0]
    if model.kind == "seq2seq":
        source = {"input_ids": torch.tensor([ids], device=model.device)}
        name, start = "decoder_input_ids", int(network.config.decoder_start_token_id)

    def read(tokens: list[int], keep: bool, given: dict[str, Any], rows: int = 1) -> Any:
        batch = torch.tensor([tokens] * rows, device=model.device)
        return network(**{name: batch}, **given, use_cache=keep, return_dict=True)

    both = torch.tensor([0, 0], device=model.device)
    text, half = [start, *ids[1:]], TRIED // 2
    try:
        with torch.inference_mode():
            begun = read(text[:half], True, source)
            past = Past(begun.past_key_values, begun.encoder_last_hidden_state if source else None)
            if not _pickable(past.cache):
                return False
            rest = read(text[half:], True, past.onward(both), len(both)).logits
            whole = read(text, False, source).logits[:, half:]
    except Exception as error:  # a network raises whatever its code does
        if out_of_memory(error):
            raise does_not_fit(model.name, error) from error
        return False
    log_probs = whole.float().log_softmax(-1)
    return not differs(rest.float().log_softmax(-1), log_probs.expand_as(rest), rounding(network))


def _pickable(cache: Any) -> bool:
    from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer, EncoderDecoderCache

    if type(cache) is EncoderDecoderCache:
        return _pickable(cache.self_attention_cache) and _pickable(cache.cross_attention_cache)
    both = (DynamicLayer, DynamicSlidingWindowLayer)
    return type(cache) is DynamicCache and all(type(layer) in both and layer.keys is not None for layer in cache.layers)


def picked(cache: Any, rows: torch.Tensor) -> Any:
    """A copy of some rows of a cache, which goes on by itself."""
    from transformers.cache_utils import EncoderDecoderCache

    subset = copy(cache)
    if isinstance(cache, EncoderDecoderCache):
        subset.self_attention_cache = picked(cache.self_attention_cache, rows)
        subset.cross_attention_cache = picked(cache.cross_attention_cache, rows)
        subset.is_updated = dict(cache.is_updated)
        return subset
    subset.layers = [copy(layer) for layer in cache.layers]
    for layer in subset.layers:
        layer.keys, layer.values = layer.keys[rows], layer.values[rows]
    return subset
