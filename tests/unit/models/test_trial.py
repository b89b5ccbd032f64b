"""A network is run once when it is made: one that fails, or that sees what it shall predict, is refused by name."""

import copy

import pytest
import torch
import transformers
from conftest import CAUSAL, SIZES, byte_bpe, writer
from families import REFORMER

import probekit as pk
from probekit.errors import ModelError
from probekit.models.trial import looks_ahead

WIDE = SIZES | {"max_position_embeddings": 130}
HEADS = {"num_key_value_heads": 2, "head_dim": 8}
T5 = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}
MBART = {"d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "max_position_embeddings": 130}
SWITCH = {"num_sparse_encoder_layers": 1, "num_sparse_decoder_layers": 1, "num_experts": 2}
PERCEIVER = {"d_model": 32, "d_latents": 32, "num_self_attends_per_block": 1, "max_position_embeddings": 64}
BEGINS = "does not say what its decoder begins with"
XLNET = {"d_model": 32, "n_layer": 2, "n_head": 4, "d_head": 8, "d_inner": 64, "initializer_range": 0.3}
REFUSED = [
    ("Gemma3Text", "Gemma3ForCausalLM", {**WIDE, **HEADS, "use_bidirectional_attention": True}, "move with the last"),
    ("XLNet", "XLNetLMHeadModel", XLNET, "move with the last"),
    ("Perceiver", "PerceiverForMaskedLM", PERCEIVER, "PerceiverForMaskedLM fails on plain tokens"),
    ("Xmod", "XmodForMaskedLM", {**WIDE, "languages": ["en_XX"]}, "fails on plain tokens .*language"),
    ("Reformer", "ReformerForMaskedLM", {**WIDE, **REFORMER}, "draws lots"),
    ("Reformer", "ReformerModelWithLMHead", {**WIDE, **REFORMER, "is_decoder": True, "hash_seed": 1}, "later tokens"),
    ("MBart", "MBartForConditionalGeneration", MBART, BEGINS),
    ("T5", "T5ForConditionalGeneration", {**T5, "decoder_start_token_id": None}, BEGINS),
]


def saved(folder, config, network, values, tokenizer=None):
    tokenizer = tokenizer or byte_bpe()
    roles = {f"{role}_token_id": getattr(tokenizer, f"{role}_token_id") for role in ("pad", "bos", "eos")}
    given = {"vocab_size": len(tokenizer), "decoder_start_token_id": 0} | roles | values
    if config == "MBart":
        del given["decoder_start_token_id"]
    torch.manual_seed(7)
    getattr(transformers, network)(getattr(transformers, f"{config}Config")(**given)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize(("config", "network", "values", "reason"), REFUSED, ids=lambda one: str(one)[:20])
def test_what_cannot_be_asked_is_refused_when_it_is_made(tmp_path, config, network, values, reason):
    with pytest.raises(ModelError, match=f"mine: .*{reason}"):
        pk.load_model(saved(tmp_path / "mine", config, network, values))


def test_what_lacked_a_setting_is_loaded_with_it(tmp_path):
    values = {**WIDE, "languages": ["en_XX"], "default_language": "en_XX"}
    assert pk.load_model(saved(tmp_path / "one", "Xmod", "XmodForMaskedLM", values)).kind == "masked"
    values = {**WIDE, **HEADS, "use_bidirectional_attention": False}
    assert pk.load_model(saved(tmp_path / "two", "Gemma3Text", "Gemma3ForCausalLM", values)).kind == "causal"


def test_a_network_whose_encoder_takes_no_cache_is_loaded(tmp_path):
    name = "SwitchTransformersForConditionalGeneration"
    assert pk.load_model(saved(tmp_path, "SwitchTransformers", name, {**T5, **SWITCH})).kind == "seq2seq"


def test_a_tokenizer_that_tells_no_places_is_refused(tmp_path):
    values = {**T5, "decoder_start_token_id": 0}
    folder = saved(tmp_path / "mine", "T5", "T5ForConditionalGeneration", values, transformers.ByT5Tokenizer())
    with pytest.raises(ModelError, match=r"mine: its tokenizer \(ByT5Tokenizer\) does not say where"):
        pk.load_model(folder)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("family", [*CAUSAL, "bert"])
def test_rounding_is_no_look_ahead(family, dtype):
    tokenizer = byte_bpe()
    if family == "bert":
        values = {"vocab_size": len(tokenizer), "initializer_range": 0.3}
        network = transformers.BertLMHeadModel(transformers.BertConfig(**values, **SIZES)).eval()
    else:
        network = copy.deepcopy(writer(family, "own").network)
    assert looks_ahead("causal", network.to(dtype), tokenizer) == (family == "bert")
