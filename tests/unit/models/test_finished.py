"""What is finished needs no weights: a fingerprint is remembered by the files it was taken of."""

import shutil
from pathlib import Path

import pytest
import torch
import transformers

import probekit as pk
from probekit.demo.shipped import zoo_folder
from probekit.errors import ModelError
from probekit.models import source
from probekit.models.loading import find_model, load_encoder
from probekit.scoring.completions import top_completions
from probekit.scoring.saliency import randomised
from tests.conftest import saved

WEIGHTS = "model.safetensors"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path / "cache"))
    place = tmp_path / "mine"
    saved(place)
    return place


def loaded(model) -> bool:
    return "network" in model.__dict__ or "network" in model.source.__dict__


def rewrite(folder: Path) -> None:
    """Other weights in files of the same names and sizes."""
    before = (folder / WEIGHTS).stat()
    network = transformers.BertForMaskedLM.from_pretrained(folder)
    with torch.no_grad():
        network.bert.embeddings.LayerNorm.bias[0] += 1
    network.save_pretrained(folder)
    assert (folder / WEIGHTS).stat().st_size == before.st_size


def test_the_first_load_reads_the_weights_and_later_ones_do_not(folder):
    first = pk.load_model(str(folder))
    assert first.source.recorded == first.fingerprint
    later = pk.load_model(str(folder))
    assert later.fingerprint == first.fingerprint and later.max_tokens == first.max_tokens
    assert (later.dtype, later.device.type, loaded(later)) == ("float32", "cpu", False)
    for (name, weight), (other, shape) in zip(
        first.network.state_dict().items(), later.outline.state_dict().items(), strict=True
    ):
        assert (name, weight.shape, weight.dtype) == (other, shape.shape, shape.dtype) and shape.is_meta
    assert all(torch.equal(a, b) for a, b in zip(first.network.parameters(), later.network.parameters(), strict=True))


def test_finished_results_are_found_without_the_weights(folder):
    probe, store, first = pk.load_probe("demo/template", limit=8), pk.Store(), pk.load_model(str(folder))
    ranks = pk.rank_entities(first, probe, store=store)
    controls = pk.attribute(randomised(first, 0), list(probe.prompts["text"]), store=store)
    (folder / WEIGHTS).unlink()
    model = pk.load_model(str(folder))
    assert pk.rank_entities(model, probe, store=store).equals(ranks)
    assert pk.attribute(randomised(model, 0), list(probe.prompts["text"]), store=store).equals(controls)
    assert not loaded(model)
    with pytest.raises(ModelError, match="cannot load"):
        pk.rank_entities(model, pk.load_probe("demo/template", limit=9), store=store)


@pytest.mark.parametrize("name", ["zoo/llama-tiny", "zoo/t5-tiny"])
def test_completions_are_found_without_weights(tmp_path, monkeypatch, name):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path / "cache"))
    shutil.copytree(zoo_folder(name), tmp_path / "mine")
    store = pk.Store()
    said = top_completions(pk.load_model(str(tmp_path / "mine")), ["The woman is [MASK]"], 3, store=store)
    (tmp_path / "mine" / WEIGHTS).unlink()
    model = pk.load_model(str(tmp_path / "mine"))
    assert top_completions(model, ["The woman is [MASK]"], 3, store=store).equals(said) and not loaded(model)


def test_an_encoder_is_remembered_too(folder):
    before = load_encoder(str(folder)).fingerprint
    later = load_encoder(str(folder))
    assert later.fingerprint == before != pk.load_model(str(folder)).fingerprint and not loaded(later)


def test_changed_weights_have_a_new_fingerprint(folder):
    before = pk.load_model(str(folder)).fingerprint
    late = pk.load_model(str(folder))
    rewrite(folder)
    assert pk.load_model(str(folder)).fingerprint != before
    assert late.fingerprint == before
    with pytest.raises(ModelError, match="changed while"):
        late.network  # noqa: B018


@pytest.mark.parametrize("share", [1, 0.3])  # at the end, and where nothing is sampled
def test_other_weights_of_the_same_time_are_noticed(folder, share, monkeypatch):
    import os

    monkeypatch.setattr(source, "SAMPLE", 16)
    about = (folder / WEIGHTS).stat()
    before = pk.load_model(str(folder)).fingerprint
    data = bytearray((folder / WEIGHTS).read_bytes())
    data[int(share * len(data)) - 2] ^= 1
    (folder / WEIGHTS).write_bytes(data)
    os.utime(folder / WEIGHTS, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert pk.load_model(str(folder)).fingerprint != before


def test_what_fails_a_check_is_not_remembered(folder):
    network = transformers.BertForMaskedLM.from_pretrained(folder)
    with torch.no_grad():
        network.bert.embeddings.LayerNorm.bias[0] = float("nan")
    network.save_pretrained(folder)
    for _ in range(2):
        with pytest.raises(ModelError, match="not finite"):
            pk.load_model(str(folder))


def test_weights_changed_in_memory_are_not_taken_for_those_of_the_files(folder):
    model = pk.load_model(str(folder))
    with torch.no_grad():
        model.network.bert.embeddings.LayerNorm.bias[0] += 1
    changed = model.fingerprint
    assert changed != pk.load_model(str(folder)).fingerprint == pk.load_model(find_model(str(folder))).fingerprint


def test_a_renamed_model_needs_no_weights(folder):
    pk.load_model(str(folder))
    model = pk.load_model(str(folder)).renamed("other")
    assert model.name == "other" and model.fingerprint and not loaded(model)
    assert repr(model) == "<other, a masked model on cpu>" and not loaded(model)
