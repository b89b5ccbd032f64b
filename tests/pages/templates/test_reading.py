"""Perplexities of sampled prompts, and how a model cuts them."""

from dataclasses import replace

import pandas as pd
import pytest
from conftest import small

import probekit as pk
from probekit.report import Page
from probekit.report.sources import complete
from probekit.scoring import pseudo_perplexity

from notebooks.templates import reading


@pytest.fixture
def own_model(tmp_path, monkeypatch):
    """A small model stands for every name; called with the name of a page, its ``Page``."""
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path / "cache"))
    model = replace(small("bert"), name="m")
    monkeypatch.setattr("probekit.scoring.question.load_model", lambda name, **loading: model)
    return lambda study: Page(study, complete(study, {"out": str(tmp_path / "out")}))


def test_the_own_object_is_read_in_its_place(own_model):
    prompts = pd.DataFrame({"prompt_id": ["a"], "text": ["It is [MASK] ."], "gold": [["Port Velna", "town"]]})
    model, page = small("bert"), own_model("16_perplexity")
    found = reading.read_all(page, ["m"], [pk.Probe("mine", prompts, ["Port Velna", "town"])]).iloc[0]
    expected = pseudo_perplexity(model, ["It is Port Velna ."]).iloc[0]
    assert found["perplexity"] == pytest.approx(expected["perplexity"], rel=1e-5)
    assert found["characters"] == len("It is Port Velna .") and found["fact_id"] == "a"
    assert list(page.runs) == ["m on mine, pseudo-perplexity"]
    assert found["token_ids"] == tuple(model.tokens("It is Port Velna ."))


def test_no_model_reads_nothing():
    assert list(reading.read_all(None, [], [])) == reading.COLUMNS
