"""Scores do not hang on what else is in a batch, in any masked family: padding that matters is found by trying."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
import transformers
from conftest import byte_bpe, small, unshared, wordpiece, writer
from test_trial import REFORMER

import probekit as pk
from probekit.errors import ModelError
from probekit.models import Model
from probekit.models.padding import MIXES
from probekit.models.precision import differs
from probekit.scoring.embeddings import embed

SIZES: dict[str, Any] = {
    **{
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_seq_len": 130,
    },
    **{"embedding_size": 32, "max_position_embeddings": 130, "initializer_range": 0.3, "init_std": 0.3},
}
DIM = {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64}
SIDES = {
    **{"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64},
    **{"encoder_attention_heads": 4, "decoder_attention_heads": 4},
}
GROUPS = dict.fromkeys(("q_groups", "k_groups", "v_groups", "post_attention_groups", "intermediate_groups"), 1)
FAMILIES: dict[str, dict[str, Any]] = {
    **{name: {} for name in ("Albert", "Bert", "Camembert", "Data2VecText", "Electra", "Ernie", "IBert", "LayoutLM")},
    **{name: {} for name in ("MegatronBert", "MPNet", "RemBert", "Roberta", "RobertaPreLayerNorm", "RoFormer")},
    **{name: {} for name in ("XLMRoberta", "XLMRobertaXL", "Tapas")},
    "Bart": SIDES,
    "BigBird": {"attention_type": "original_full"},
    "ConvBert": {},
    "Deberta": {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "max_relative_positions": 16},
    "DebertaV2": {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "max_relative_positions": 16},
    "DistilBert": DIM,
    "Esm": {"position_embedding_type": "rotary", "token_dropout": True},
    "EuroBert": {"num_key_value_heads": 4},
    "FNet": {},
    "Flaubert": {**DIM, "emb_dim": 32},
    "Funnel": {"d_model": 32, "n_head": 4, "d_head": 8, "d_inner": 64, "block_sizes": [1, 1], "num_decoder_layers": 1},
    "Longformer": {"attention_window": 8},
    "Luke": {"entity_vocab_size": 10, "entity_emb_size": 32},
    "MBart": SIDES,
    "MobileBert": {"intra_bottleneck_size": 32, "true_hidden_size": 32},
    "ModernBert": {"local_attention": 8},
    "Nystromformer": {"num_landmarks": 8, "segment_means_seq_len": 8, "conv_kernel_size": 5},
    "Reformer": {**REFORMER, "hash_seed": 1},
    "RoCBert": {"shape_vocab_size": 20, "pronunciation_vocab_size": 20},
    "SqueezeBert": {"output_groups": 1, **GROUPS},
    "XLM": {**DIM, "emb_dim": 32},
    "Yoso": {"conv_window": 3},
}
MINDING = {"ConvBert", "FNet", "Funnel", "MobileBert", "Nystromformer", "Reformer", "Yoso"}
TEXTS = ["He was born in [MASK] .", "It is [MASK] .", "The people of the old town , they said , speak [MASK] there ."]
TEXTS += ["the old town " * 19 + "is [MASK] ."]  # several blocks
ENTITIES = ["town", "clock maker", "Lomese", "Zürich"]


def made(family: str, tokenizer: Any, load: Any = transformers.AutoModelForMaskedLM) -> Any:
    special = {f"{role}_token_id": getattr(tokenizer, f"{role}_token_id") for role in ("pad", "bos", "eos", "mask")}
    sizes = {**SIZES, **special, "decoder_start_token_id": 2, **FAMILIES[family]}
    if family == "Funnel":
        del sizes["num_hidden_layers"]  # it has blocks
    torch.manual_seed(7)
    config = getattr(transformers, f"{family}Config")(vocab_size=len(tokenizer), **sizes)
    network = load.from_config(config).eval()
    with torch.no_grad():
        network.get_input_embeddings().weight.normal_(
            0, 0.3
        )  # that of the padding, too, as MobileBERT's neighbours see
    return network


@pytest.mark.parametrize("tokenizer", [wordpiece(True), byte_bpe()], ids=["wordpiece", "byte_bpe"])
@pytest.mark.parametrize("family", FAMILIES)
def test_no_score_hangs_on_its_batch(family, tokenizer):
    model = Model(family, "masked", made(family, tokenizer), tokenizer)
    rows = {"prompt_id": [*"abcd"], "text": TEXTS, "gold": [["town"]] * 4}
    asked = pk.Probe("four", pd.DataFrame(rows), ENTITIES)
    together, alone = (pk.rank_targets(model, asked, [ENTITIES] * 4, batch_tokens=n)["score"] for n in (None, 1))
    assert together.tolist() == pytest.approx(alone.tolist(), abs=1e-4)
    assert model.minds_padding == (family in MINDING)


@pytest.mark.parametrize("fraction", [0.25, -1.0])  # of the tokens of a batch, and a number of them
def test_scores_that_hang_on_other_texts_of_one_length_are_refused(fraction):
    model = unshared("nllb-moe")
    model.network.config.moe_eval_capacity_token_fraction = fraction
    capped = type(model.network)(model.network.config).eval()
    with pytest.raises(ModelError, match="hang on the texts beside it"):
        _ = Model("capped", "seq2seq", capped, model.tokenizer).minds_padding


def test_a_network_in_training_is_tried_without_dropout_and_stays_in_training():
    network = transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=220, **SIZES)).train()
    assert network.config.hidden_dropout_prob > 0
    assert not Model("b", "masked", network, small("bert").tokenizer).minds_padding and network.training


def test_one_huge_score_does_not_hide_the_others():
    expected = torch.randn(4, 50, generator=torch.Generator().manual_seed(0))
    expected[:, 7] = -1e9
    assert differs(expected + 1e-3, expected, torch.float32)
    assert not differs(expected * (1 + 1e-7), expected, torch.float32)


def test_attention_in_blocks_until_a_text_is_short_is_never_used(tmp_path):
    tokenizer = small("bert").tokenizer
    network = made("BigBird", tokenizer)
    network.config.attention_type = "block_sparse"
    with pytest.raises(ModelError, match="set attention_type to original_full"):
        _ = Model("b", "masked", network, tokenizer).fingerprint
    network.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    assert pk.load_model(str(tmp_path)).network.base_model.attention_type == "original_full"


@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
@pytest.mark.parametrize("family", ["gpt2", "llama", "mistral", "bloom", "t5", "bart"])
def test_networks_that_heed_the_mask_do_not_mind_padding(family, kind):
    model = writer(family, "own" if family != "t5" else "zoo")
    network = type(model.network)(model.network.config).eval().to(getattr(torch, kind))
    assert not Model(family, model.kind, network, model.tokenizer).minds_padding


def test_minding_is_part_of_the_fingerprint_and_told_without_weights(tmp_path, caplog, monkeypatch):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path / "cache"))
    tokenizer = small("bert").tokenizer
    tokenizer.save_pretrained(tmp_path)
    made("Yoso", tokenizer).save_pretrained(tmp_path)
    assert not small("bert").fingerprint.endswith(MIXES)
    for _ in range(2):
        caplog.clear()
        with caplog.at_level("WARNING"):
            model = pk.load_model(str(tmp_path))
        assert "padding changes the scores" in caplog.text and model.fingerprint.endswith(MIXES) and model.minds_padding
        monkeypatch.setattr("probekit.models.loading._read", None)  # nothing reads weights again
    assert "network" not in model.__dict__


def test_vectors_of_a_network_that_minds_padding_are_those_of_each_text_alone():
    tokenizer = small("bert").tokenizer
    encoder = Model("fnet", "encoder", made("FNet", tokenizer, transformers.AutoModel), tokenizer)
    texts = ["the old town", "He was born in the old town , they said .", "town"]
    alone = np.concatenate([embed(encoder, [text]) for text in texts])
    assert np.abs(embed(encoder, texts) - alone).max() < 1e-4
