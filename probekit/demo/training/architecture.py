"""Untrained networks of each family, in transformers' own classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probekit.demo.training.recipe import Shape
from probekit.models.kinds import auto_class, kind_of

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast


def new_network(shape: Shape, tokenizer: PreTrainedTokenizerFast) -> PreTrainedModel:
    """A network with random weights, drawn from torch's generator.

    ELECTRA is its generator, which fills masks; its discriminator could not be asked.
    """
    from transformers import AutoConfig

    config = AutoConfig.for_model(shape.family, **_fields(shape, tokenizer))
    network: PreTrainedModel = auto_class(kind_of(config, shape.family)).from_config(config)
    return network


def _fields(shape: Shape, tokenizer: PreTrainedTokenizerFast) -> dict[str, Any]:
    """The shape in the words of the family's configuration."""
    inner, drop = 4 * shape.hidden, shape.dropout
    fields: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "pad_token_id": tokenizer.pad_token_id,
        "tie_word_embeddings": shape.tied,
        "hidden_size": shape.hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
    }
    if shape.family == "t5":
        starts = {"decoder_start_token_id": tokenizer.pad_token_id, "eos_token_id": tokenizer.eos_token_id}
        sizes = {"d_kv": shape.hidden // shape.heads, "d_ff": inner, "num_decoder_layers": shape.layers}
        return {**fields, **starts, **sizes, "dropout_rate": drop}
    fields["max_position_embeddings"] = shape.positions
    fields["initializer_range"] = shape.hidden**-0.5  # the usual 0.02 is for wide layers; narrow ones leave it slowly
    if shape.family == "distilbert":
        return {**fields, "hidden_dim": inner, "dropout": drop, "attention_dropout": drop}
    fields["intermediate_size"] = inner
    if shape.family == "llama":
        ends = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
        return {**fields, **ends, "attention_dropout": drop}
    fields |= {"hidden_dropout_prob": drop, "attention_probs_dropout_prob": drop}
    if shape.family == "roberta":  # counts positions from its padding on
        fields |= {"max_position_embeddings": shape.positions + tokenizer.pad_token_id + 1, "type_vocab_size": 1}
    if shape.family in ("albert", "electra"):
        fields["embedding_size"] = shape.hidden // 2 if shape.family == "albert" else shape.hidden
    return fields
