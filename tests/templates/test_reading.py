"""Perplexities of sampled prompts, and how a model cuts them."""

from dataclasses import replace

import pandas as pd
import pytest
from conftest import small

import probekit as pk
from probekit.report import Page
from probekit.report.sources import parameters
from probekit.scoring import pseudo_perplexity

from notebooks.templates import reading


def test_the_own_object_is_read_in_its_place(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path / "cache"))
    prompts = pd.DataFrame({"prompt_id": ["a"], "text": ["It is [MASK] ."], "gold": [["Port Velna", "town"]]})
    model = replace(small("bert"), name="m")
    monkeypatch.setattr("probekit.scoring.question.load_model", lambda name, **loading: model)
    given = {key: entry["default"] for key, entry in parameters("16_perplexity").items()}
    page = Page("16_perplexity", given | {"out": str(tmp_path / "out")})
    found = reading.read_all(page, ["m"], [pk.Probe("mine", prompts, ["Port Velna", "town"])]).iloc[0]
    expected = pseudo_perplexity(model, ["It is Port Velna ."]).iloc[0]
    assert found["perplexity"] == pytest.approx(expected["perplexity"], rel=1e-5)
    assert found["characters"] == len("It is Port Velna .") and found["fact_id"] == "a"
    assert list(page.runs) == ["m on mine, pseudo-perplexity"]
    assert found["token_ids"] == tuple(model.tokens("It is Port Velna ."))


def test_no_model_reads_nothing():
    assert list(reading.read_all(None, [], [])) == reading.COLUMNS
