"""Untrained networks of each family, in transformers' own classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probekit.demo.training.recipe import Shape

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast


def new_network(shape: Shape, tokenizer: PreTrainedTokenizerFast) -> PreTrainedModel:
    """A network with random weights, drawn from torch's generator.

    ELECTRA is its generator, which fills masks; its discriminator could not be asked.
    """
    import transformers

    config, network = {
        "bert": ("BertConfig", "BertForMaskedLM"),
        "roberta": ("RobertaConfig", "RobertaForMaskedLM"),
        "albert": ("AlbertConfig", "AlbertForMaskedLM"),
        "distilbert": ("DistilBertConfig", "DistilBertForMaskedLM"),
        "electra": ("ElectraConfig", "ElectraForMaskedLM"),
        "llama": ("LlamaConfig", "LlamaForCausalLM"),
        "t5": ("T5Config", "T5ForConditionalGeneration"),
    }[shape.family]
    fields = {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id, **_sizes(shape, tokenizer)}
    fields["tie_word_embeddings"] = shape.tied
    return getattr(transformers, network)(getattr(transformers, config)(**fields))


def _sizes(shape: Shape, tokenizer: PreTrainedTokenizerFast) -> dict[str, Any]:
    """The shape in the words of the family's configuration."""
    inner, spread = 4 * shape.hidden, shape.hidden**-0.5
    if shape.family == "distilbert":
        return {
            "initializer_range": spread,
            "dim": shape.hidden,
            "n_layers": shape.layers,
            "n_heads": shape.heads,
            "hidden_dim": inner,
            "max_position_embeddings": shape.positions,
            "dropout": shape.dropout,
            "attention_dropout": shape.dropout,
        }
    if shape.family == "t5":
        return {
            "d_model": shape.hidden,
            "d_kv": shape.hidden // shape.heads,
            "d_ff": inner,
            "num_layers": shape.layers,
            "num_heads": shape.heads,
            "dropout_rate": shape.dropout,
            "eos_token_id": tokenizer.eos_token_id,
            "decoder_start_token_id": tokenizer.pad_token_id,
        }
    common: dict[str, Any] = {
        "hidden_size": shape.hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "intermediate_size": inner,
        "max_position_embeddings": shape.positions,
        "initializer_range": spread,  # the usual 0.02 is for wide layers; narrow ones take long to leave it
    }
    if shape.family == "llama":
        ends = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
        return {**common, **ends, "attention_dropout": shape.dropout}
    common |= {"hidden_dropout_prob": shape.dropout, "attention_probs_dropout_prob": shape.dropout}
    if shape.family == "roberta":  # counts positions from its padding on
        return {**common, "max_position_embeddings": shape.positions + tokenizer.pad_token_id + 1, "type_vocab_size": 1}
    if shape.family in ("albert", "electra"):
        common["embedding_size"] = shape.hidden // 2 if shape.family == "albert" else shape.hidden
    return common
