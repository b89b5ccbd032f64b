"""Loading: what is found, what is refused, and in which words."""

import copy
import os
import pickle

import pandas as pd
import pytest
import torch
import transformers
from conftest import (
    NETWORKS,
    OWN,
    REAL_DATA,
    SHAPES,
    SIZES,
    TEXT,
    configured,
    network,
    saved,
    small,
    train_tokenizer,
    writer,
)
from naive import slot_scores
from tokenizers import Tokenizer, models, normalizers
from transformers import AutoTokenizer

import probekit as pk
from probekit.errors import ModelError
from probekit.models import registry
from probekit.models.kinds import kind_of
from probekit.models.loading import find_model
from probekit.models.model import CHUNK, Model


@pytest.mark.parametrize("family", NETWORKS)
def test_every_family_comes_back_whole(tmp_path, family):
    model = pk.load_model(str(saved(tmp_path, family)))
    assert (model.kind, model.dtype, model.network.training) == ("masked", "float32", False)
    assert model.fingerprint == small(family).fingerprint
    assert model.special_ids == small(family).special_ids and model.max_tokens == small(family).max_tokens


def test_a_checkpoint_without_its_head_is_refused_by_name(tmp_path):
    saved(tmp_path)
    small("bert").network.bert.save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=r"lacks \d+ weights of BertForMaskedLM: cls\.predictions"):
        pk.load_model(str(tmp_path))
    assert pk.load_model(str(tmp_path), allow_missing=True).kind == "masked"


def test_an_electra_discriminator_is_not_a_masked_model(tmp_path):
    saved(tmp_path, "electra")
    transformers.ElectraForPreTraining(small("electra").network.config).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="generator"):
        pk.load_model(str(tmp_path))


def test_weights_of_another_size_are_refused(tmp_path):
    saved(tmp_path)
    configured(tmp_path, "config.json", intermediate_size=48)
    with pytest.raises(ModelError, match="intermediate"):
        pk.load_model(str(tmp_path))


def test_a_tokenizer_without_a_mask_is_named(tmp_path):
    configured(saved(tmp_path), "tokenizer_config.json", mask_token=None)
    with pytest.raises(ModelError, match="no mask token"):
        pk.load_model(str(tmp_path))


def test_the_fingerprint_follows_weights_and_tokenizer(tmp_path):
    model = pk.load_model(str(saved(tmp_path)))
    before = model.fingerprint
    changed = pk.load_model(str(tmp_path))
    with torch.no_grad():
        changed.network.bert.embeddings.LayerNorm.bias[0] += 1e-3
    assert changed.fingerprint != before
    assert pk.load_model(str(tmp_path), dtype="bfloat16").fingerprint != before
    assert pk.Model("other", "masked", model.network, small("distilbert").tokenizer).fingerprint != before
    model.tokenizer(["one", "one two three four"], padding=True, truncation=True, max_length=5)
    assert pk.Model("mine", "masked", model.network, model.tokenizer).fingerprint == before


@pytest.mark.parametrize(("kind", "family", "name"), [("causal", "gpt2", "own"), ("seq2seq", "t5", "zoo")])
def test_kind_is_found_from_the_configuration(tmp_path, kind, family, name):
    model = pk.load_model(str(saved(tmp_path, writer(family, name))))
    assert model.kind == kind
    with pytest.raises(ModelError, match=f"is a {kind} model"):
        _ = model.mask_id


class Payload:
    def __reduce__(self):
        return os.mkdir, (os.environ["PAYLOAD"],)


def pickled(folder):
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Payload()))


def remote(folder):
    configured(
        folder,
        "config.json",
        model_type="surprise",
        auto_map={"AutoConfig": "code.C", "AutoModelForMaskedLM": "code.M"},
    )
    (folder / "code.py").write_text("import os; os.mkdir(os.environ['PAYLOAD'])")


def truncated(folder):
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])


@pytest.mark.parametrize("damage", [pickled, remote, truncated])
def test_a_damaged_checkpoint_is_an_error_of_ours_and_its_code_is_never_run(tmp_path, monkeypatch, damage):
    monkeypatch.setenv("PAYLOAD", str(tmp_path / "harm"))
    damage(saved(tmp_path / "model"))
    with pytest.raises(ModelError, match="cannot load the model in"):
        pk.load_model(str(tmp_path / "model"))
    assert not (tmp_path / "harm").exists()


def test_a_registered_model_in_the_data_folder_goes_before_the_hub(tmp_path, monkeypatch):
    for name in ("PROBEKIT_DATA", "PROBEKIT_CACHE"):
        monkeypatch.setenv(name, str(tmp_path))
    folder = tmp_path / "models" / "roberta-base"
    folder.mkdir(parents=True)
    assert find_model("roberta-base") == str(folder)
    assert find_model("bert-base-cased") == registry()["bert-base-cased"].hub


def test_what_is_not_there_is_said(tmp_path):
    (tmp_path / "file.bin").write_text("x")
    (tmp_path / "empty").mkdir()
    model, hubless = str(saved(tmp_path / "model")), next(n for n, entry in registry().items() if entry.hub is None)
    for name, options, said in (
        ("bert-base-cased", {}, r"cannot load 'bert-base-cased': it is no folder in models/.*hf download goo"),
        ("bert-base-casd", {}, r"cannot load 'bert-base-casd' \(is 'bert-base-cased' meant\?\)"),
        (str(tmp_path / "file.bin"), {}, "it is a file; give the folder"),
        ("", {}, "this one is empty"),
        ("nobody/nothing", {}, "cannot load 'nobody/nothing'"),
        ("x" * 300, {}, "x" * 300),  # too long for any folder
        (str(tmp_path / "empty"), {}, "cannot load the model in"),
        (hubless, {}, "not on the Hub"),
        (model, {"dtype": "float8"}, "dtype"),
        (model, {"device": "abacus"}, "device 'abacus'"),
    ):
        with pytest.raises(ModelError, match=said):
            pk.load_model(name, **options)


def test_roberta_counts_positions_from_its_padding():
    model = small("roberta")
    network_97 = network("roberta", model.tokenizer, positions=97)
    assert pk.Model("r", "masked", network_97, model.tokenizer).max_tokens == 97 - (model.tokenizer.pad_token_id + 1)


def test_the_zoo_knows_what_it_was_told():
    model = pk.load_model("zoo/bert-tiny")
    natural = pk.load_probe("demo/natural")
    right = pk.rank_entities(model, natural)["rank"] == 1
    often, never = (right[natural.prompts["exposure"].between(*ends)].mean() for ends in ((8, 99), (0, 0)))
    assert often > 5 / len(natural.entities)  # five times chance
    assert often > never


def test_the_kind_may_be_said_and_must_fit_the_network(tmp_path):
    saved(tmp_path, writer("bart", "own"))
    assert pk.load_model(str(tmp_path)).kind == "masked"
    assert pk.load_model(str(tmp_path), kind="seq2seq").kind == "seq2seq"
    with pytest.raises(ModelError, match="kind must be one of masked, causal, seq2seq"):
        pk.load_model(str(tmp_path), kind="other")
    saved(tmp_path / "bert")
    with pytest.raises(ModelError, match="looks ahead"):
        pk.load_model(str(tmp_path / "bert"), kind="causal")
    configured(tmp_path / "bert", "config.json", architectures=["BertLMHeadModel"])
    with pytest.raises(ModelError, match="Set is_decoder to true if it was trained so"):
        pk.load_model(str(tmp_path / "bert"))
    with pytest.raises(ModelError, match="'bert' has no head as a seq2seq model"):
        pk.load_model(str(tmp_path / "bert"), kind="seq2seq")


def test_xlm_is_masked_unless_it_was_trained_to_go_on(tmp_path):
    tokenizer = small("bert").tokenizer
    config = transformers.XLMConfig(vocab_size=len(tokenizer), emb_dim=32, n_layers=1, n_heads=2, pad_index=0)
    network = transformers.XLMWithLMHeadModel(config).eval()
    model = pk.load_model(str(saved(tmp_path, Model("xlm", "masked", network, tokenizer))))
    rows = {"prompt_id": ["a"], "text": ["He was born in [MASK] ."], "gold": [["town"]]}
    asked = pk.Probe("one", pd.DataFrame(rows), ["town", "clock", "Zürich"])
    found = pk.rank_targets(model, asked, [asked.entities])
    expected = slot_scores(model, rows["text"][0], asked.entities)
    assert found["score"].tolist() == pytest.approx([expected[e] for e in found["target"]], abs=1e-4)
    config.causal = True
    assert kind_of(config, "xlm") == "causal" and model.kind == "masked"


@pytest.mark.parametrize("number", [3, 2 * CHUNK + 1])
@pytest.mark.parametrize("family", OWN)
def test_tokens_of_many_texts_are_those_of_each(family, number):
    model = Model(family, "masked", None, OWN[family]())
    texts = [f"{'x ' * (at % 7)}the [MASK]  Osk{at}ia é本 {' ' * (at % 2)}" for at in range(number)]
    alone = [tuple(model.tokenizer(text, add_special_tokens=False)["input_ids"]) for text in texts]
    model.tokenizer.backend_tokenizer.enable_truncation(2)  # as many a tokenizer.json says
    model.tokenizer.backend_tokenizer.enable_padding(length=9)
    assert model.tokens_of(texts) == alone


@pytest.mark.parametrize("folder", sorted((REAL_DATA / "tokenizers").glob("*")), ids=lambda folder: folder.name)
def test_tokens_of_many_texts_with_published_vocabularies(folder):
    model = Model(folder.name, "masked", None, AutoTokenizer.from_pretrained(folder))
    mask = model.tokenizer.mask_token or "x"
    texts = [f"{text}{mask} of Zürich, 本 …\N{NO-BREAK SPACE}<s>" for text in ("", " ", "The  café in ", "a\t\nb ")]
    assert model.tokens_of(texts) == [
        tuple(model.tokenizer(text, add_special_tokens=False)["input_ids"]) for text in texts
    ]


def test_a_network_is_asked_no_longer_texts_than_its_rotations_were_trained_for(tmp_path):
    rope = {"rope_type": "longrope", "rope_theta": 1e4, "short_factor": [1.0] * 4, "long_factor": [8.0] * 4}
    sizes = {**SIZES, "num_key_value_heads": 4, "max_position_embeddings": 128}
    sizes["original_max_position_embeddings"] = 16
    config = transformers.Phi3Config(vocab_size=420, pad_token_id=0, rope_parameters=rope, **sizes)
    network = transformers.AutoModelForCausalLM.from_config(config).eval()
    assert Model("phi", "causal", network, writer("gpt2", "own").tokenizer).max_tokens == 16


@pytest.mark.parametrize("family", OWN)
@pytest.mark.parametrize("kind", ["own", "zoo", "letters", "marked"])
def test_special_tokens_stand_around_a_text_whatever_the_vocabulary(family, kind):
    tokenizer = train_tokenizer(SHAPES[family], TEXT) if kind == "zoo" else OWN[family]()
    expected = ((tokenizer.cls_token_id,), (tokenizer.sep_token_id,))
    if kind == "marked":  # as Llama's first tokenizers write the start of a text
        tokenizer.backend_tokenizer.normalizer = normalizers.Prepend("▁")
    if kind == "letters":  # without the letter a, and without a token for what is unknown
        inner = Tokenizer(models.BPE({"[CLS]": 0, "[SEP]": 1, "[MASK]": 2, "x": 3, "y": 4}, []))
        inner.post_processor = copy.deepcopy(tokenizer.backend_tokenizer.post_processor)
        expected = ((tokenizer.cls_token_id,), (tokenizer.sep_token_id,))
        tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=inner)
        assert tokenizer("a", add_special_tokens=False)["input_ids"] == []
    assert Model(family, "masked", None, tokenizer).special_ids == expected
