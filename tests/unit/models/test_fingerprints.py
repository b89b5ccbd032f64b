"""Equal weights are not yet an equal model: what else decides a result is part of the fingerprint."""

import copy
import json
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from conftest import configured, saved, small, writer

import probekit as pk

LONG = "Port Velna lies north of Upper Dramoton ; its people , they said , were born in [MASK]."
ROWS = [{"prompt_id": at, "text": text, "gold": ["town"]} for at, text in enumerate(["He was born in [MASK].", LONG])]
PROBE = pk.Probe("two", pd.DataFrame(ROWS), ["town", "clock maker", "Río Negro", "flood"])
EQUAL_WEIGHTS = [
    ("bert", "config.json", {"num_attention_heads": 2}),
    ("bert", "config.json", {"layer_norm_eps": 0.5}),
    ("bert", "config.json", {"hidden_act": "relu"}),
    ("bert", "config.json", {"is_decoder": True}),
    ("bert", "tokenizer_config.json", {"mask_token": "[UNK]", "unk_token": "[MASK]"}),
    ("bert", "tokenizer_config.json", {"model_max_length": 12}),
    ("llama", "config.json", {"num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16}),
    ("llama", "config.json", {"rope_parameters": {"rope_type": "default", "rope_theta": 3.0}}),
    ("llama", "config.json", {"rms_norm_eps": 0.5}),
    ("llama", "config.json", {"max_position_embeddings": 14}),
    ("llama", "config.json", {"hidden_act": "relu"}),
    ("gpt2", "config.json", {"scale_attn_weights": False}),
]


def loaded(folder: Path, family: str, name: str = "config.json", **values: object) -> pk.Model:
    saved(folder, family if family == "bert" else writer(family, "own"))
    configured(folder, name, **values)
    return pk.load_model(str(folder))


@pytest.mark.parametrize(("family", "name", "values"), EQUAL_WEIGHTS, ids=str)
def test_equal_weights_under_another_configuration_are_asked_anew(tmp_path, family, name, values):
    store = pk.Store(tmp_path / "store")
    first = pk.rank_entities(loaded(tmp_path / "first", family), PROBE, store=store)
    other = loaded(tmp_path / "other", family, name, **values)
    fresh = pk.rank_entities(other, PROBE)
    assert not fresh.equals(first)
    assert pk.rank_entities(other, PROBE, store=store).equals(fresh)


@pytest.mark.parametrize(("family", "name", "values"), EQUAL_WEIGHTS[::5], ids=str)
def test_a_folder_whose_configuration_was_corrected_has_a_new_fingerprint(tmp_path, family, name, values):
    before = loaded(tmp_path, family).fingerprint
    assert pk.load_model(str(tmp_path)).fingerprint == before
    assert loaded(tmp_path, family, name, **values).fingerprint != before
    assert loaded(tmp_path, family, _name_or_path="elsewhere", transformers_version="5.0").fingerprint == before


def test_how_much_an_adapter_counts_is_part_of_the_fingerprint():
    network, found = copy.deepcopy(small("bert").network), set()
    for scale in (8, 16):
        about = {"lora_alpha": scale, "target_modules": {"query", "value"}}
        network.peft_config = {"default": SimpleNamespace(to_dict=about.copy)}
        found.add(pk.Model("adapted", "masked", network, small("bert").tokenizer).fingerprint)
    assert len(found) == 2


def test_completions_end_as_the_checkpoint_says_now(tmp_path):
    store, prompt = pk.Store(tmp_path / "store"), ["He was born in [MASK]"]
    model = loaded(tmp_path / "mine", "gpt2")
    first = pk.top_completions(model, prompt, k=2, tokens=3, store=store)
    ends = {"eos_token_id": list(range(5, 300))}
    (tmp_path / "mine" / "generation_config.json").write_text(json.dumps(ends))
    other = pk.load_model(str(tmp_path / "mine"))
    fresh = pk.top_completions(other, prompt, k=2, tokens=3)
    assert not fresh.equals(first)
    assert pk.top_completions(other, prompt, k=2, tokens=3, store=store).equals(fresh)
