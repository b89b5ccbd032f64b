"""Scores do not hang on what else is in a batch, in any masked family: padding that matters is found by trying."""

import numpy as np
import pandas as pd
import pytest
import torch
import transformers
from conftest import byte_bpe, saved, small, unshared, wordpiece, writer
from families import FAMILIES, SIZES, made

import probekit as pk
from probekit.errors import ModelError
from probekit.models import Model
from probekit.models.padding import MIXES
from probekit.models.precision import differs
from probekit.scoring.embeddings import embed

MINDING = {"ConvBert", "FNet", "Funnel", "MobileBert", "Nystromformer", "Reformer", "Yoso"}
TEXTS = ["He was born in [MASK] .", "It is [MASK] .", "The people of the old town , they said , speak [MASK] there ."]
TEXTS += ["the old town " * 19 + "is [MASK] ."]  # several blocks
ENTITIES = ["town", "clock maker", "Lomese", "Zürich"]


@pytest.mark.parametrize("tokenizer", [wordpiece(True), byte_bpe()], ids=["wordpiece", "byte_bpe"])
@pytest.mark.parametrize("family", FAMILIES)
def test_no_score_hangs_on_its_batch(family, tokenizer):
    model = Model(family, "masked", made(family, tokenizer).double(), tokenizer)  # so that rounding is no excuse
    rows = {"prompt_id": [*"abcd"], "text": TEXTS, "gold": [["town"]] * 4}
    asked = pk.Probe("four", pd.DataFrame(rows), ENTITIES)
    together, alone = (pk.rank_targets(model, asked, [ENTITIES] * 4, batch_tokens=n)["score"] for n in (None, 1))
    assert together.tolist() == pytest.approx(alone.tolist(), rel=0, abs=1e-5)
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
    assert differs(expected + 1e-3, expected, 1e-7)
    assert not differs(expected * (1 + 1e-7), expected, 1e-7)


def test_attention_in_blocks_until_a_text_is_short_is_never_used(tmp_path):
    tokenizer = small("bert").tokenizer
    network = made("BigBird", tokenizer)
    network.config.attention_type = "block_sparse"
    with pytest.raises(ModelError, match="set attention_type to original_full"):
        _ = Model("b", "masked", network, tokenizer).fingerprint
    folder = saved(tmp_path, Model("b", "masked", network, tokenizer))
    assert pk.load_model(str(folder)).network.base_model.attention_type == "original_full"


@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
@pytest.mark.parametrize("family", ["gpt2", "llama", "mistral", "bloom", "t5", "bart"])
def test_networks_that_heed_the_mask_do_not_mind_padding(family, kind):
    model = writer(family, "own" if family != "t5" else "zoo")
    network = type(model.network)(model.network.config).eval().to(getattr(torch, kind))
    assert not Model(family, model.kind, network, model.tokenizer).minds_padding


def test_minding_is_part_of_the_fingerprint_and_told_without_weights(tmp_path, caplog, monkeypatch):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path / "cache"))
    tokenizer = small("bert").tokenizer
    saved(tmp_path, Model("y", "masked", made("Yoso", tokenizer), tokenizer))
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
