"""What is warned of before a model is asked in another number format."""

import logging
import platform
from types import SimpleNamespace

import pytest
import torch
from conftest import saved

from probekit.demo.training import trainer
from probekit.errors import CAUTIONS
from probekit.models import Model, load_model
from probekit.models.precision import check_precision, native_bfloat16


@pytest.fixture
def processor(monkeypatch):
    """Set what the processor can do."""

    def can(bfloat16: bool, tiles: bool, machine: str = "x86_64") -> None:
        monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: bfloat16)
        monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: tiles)
        monkeypatch.setattr(platform, "machine", lambda: machine)

    return can


def said(caplog, *about: str) -> list[str]:
    caplog.clear()
    with caplog.at_level(logging.WARNING, CAUTIONS):
        check_precision("zoo/bert-tiny", *about)
    return caplog.messages


def test_bfloat16_is_warned_of_where_the_processor_lacks_it(processor, caplog):
    processor(False, False)
    assert not native_bfloat16() and "take dtype='float32'" in said(caplog, "bfloat16", "cpu")[0]
    assert said(caplog, "bfloat16", "cuda") == said(caplog, "float32", "cpu") == said(caplog, "float16", "cpu") == []
    for able in ((True, False), (False, True), (False, False, "aarch64")):
        processor(*able)
        assert said(caplog, "bfloat16", "cpu") == []


def test_a_training_computes_in_bfloat16_where_layers_are_wide_and_the_processor_has_it(processor, monkeypatch):
    wide, narrow = (SimpleNamespace(config=SimpleNamespace(hidden_size=size)) for size in (384, 64))
    for able, capability, computes in ((True, "AVX512", True), (False, "AVX512", False), (True, "AVX2", False)):
        processor(able, False)
        monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda capability=capability: capability)
        assert trainer._bfloat16("cpu", wide) is computes and not trainer._bfloat16("cpu", narrow)


def test_rounded_products_are_warned_of(caplog):
    torch.set_float32_matmul_precision("high")
    try:
        assert "PROBEKIT_CACHE" in said(caplog, "float32", "cpu")[0] and said(caplog, "bfloat16", "cuda") == []
    finally:
        torch.set_float32_matmul_precision("highest")


def test_a_format_is_warned_of_where_a_network_is_made_in_it_and_not_where_results_are_found(
    processor, caplog, tmp_path
):
    processor(False, False)
    saved(tmp_path)

    def opened() -> Model:
        return load_model(str(tmp_path), device="cpu", dtype="bfloat16")

    with caplog.at_level(logging.WARNING, CAUTIONS):
        known = opened().fingerprint
        assert "in bfloat16" in caplog.messages[0]
        caplog.clear()
        again = opened()
        assert again.fingerprint == known and caplog.messages == []
        assert again.network.training is False and "in bfloat16" in caplog.messages[0]
