"""Sentence vectors against a plain forward pass; encoders are loaded whole or refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from conftest import saved, small

from probekit.errors import ModelError
from probekit.models.loading import load_encoder
from probekit.scoring.embeddings import embed, token_ids
from probekit.store import Store


def encoder():
    model = small("bert")
    return replace(model, kind="encoder", network=model.network.bert)


def test_vectors_are_means_over_real_tokens_of_length_one(tmp_path):
    import torch

    model, texts = (
        encoder(),
        ["alice worked as a baker", "bob", "alice  worked as a baker", "bob of the town is a judge"],
    )
    found = embed(model, texts, batch_tokens=16)
    for text, vector in zip(texts, found, strict=True):
        with torch.inference_mode():
            states = model.network(**model.tokenizer(text, return_tensors="pt")).last_hidden_state[0]
        plain = states.mean(0).numpy()
        assert vector == pytest.approx(plain / np.linalg.norm(plain), abs=1e-5)
    assert (found[0] == found[2]).all() and token_ids(model, texts)[0] == token_ids(model, texts)[2]
    assert embed(model, []).shape == (0, found.shape[1])
    store = Store(tmp_path)
    assert (embed(model, texts, 16, store) == found).all()
    shard = next(tmp_path.rglob("*.parquet"))
    assert len(pd.read_parquet(shard)) == 3
    shard.touch()
    before = shard.stat().st_mtime_ns
    assert (embed(model, texts, 16, store) == found).all() and shard.stat().st_mtime_ns == before
    with pytest.raises(ModelError, match="load it with load_encoder"):
        embed(small("bert"), texts)


def test_encoders_are_loaded_without_their_head_and_refused_with_missing_weights(tmp_path):
    model, loaded = small("bert"), load_encoder(str(saved(tmp_path / "whole")), "cpu")
    assert loaded.kind == "encoder" and not hasattr(loaded.network, "cls")
    assert embed(loaded, ["bob"]) == pytest.approx(embed(encoder(), ["bob"]), abs=1e-5)
    state = {key: value for key, value in model.network.state_dict().items() if "layer.0.attention" not in key}
    model.network.save_pretrained(saved(tmp_path / "part"), state_dict=state)
    with pytest.raises(ModelError, match="lacks .* weights"):
        load_encoder(str(tmp_path / "part"), "cpu")
    with pytest.raises(ModelError, match="cannot load"):
        load_encoder(str(tmp_path / "nothing"), "cpu")


def test_a_pooler_that_the_checkpoint_lacks_does_not_change_the_fingerprint(tmp_path, monkeypatch):
    saved(tmp_path)
    found = []
    for cache in ("one", "two"):
        monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path / cache))
        found.append(load_encoder(str(tmp_path)).fingerprint)
    assert found[0] == found[1]
