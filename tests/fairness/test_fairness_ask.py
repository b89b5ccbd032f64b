"""What a run of study 4 asks, and the files that it reads."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from conftest import small

import probekit as pk
from probekit.demo.world.honest import demo_honest_templates, demo_lexicon
from probekit.errors import ProbekitError
from probekit.report import Page
from probekit.report.sources import parameters

from notebooks.fairness import ask, hurtfulness
from notebooks.fairness.table1 import by_model


@pytest.fixture
def page(tmp_path) -> Page:
    given = {name: about["default"] for name, about in parameters("41_hurtfulness").items()}
    return Page("41_hurtfulness", given | {"out": str(tmp_path)})


def test_a_models_completions_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path))
    model, prompts = small("bert"), list(demo_honest_templates()["text"][:3])
    rows = ask.mined(model, prompts, 5)
    whole = pk.top_completions(model, prompts, 5)
    assert rows == [whole["completion"][whole["prompt_id"] == n].tolist() for n in range(3)]
    assert list(tmp_path.rglob("*.parquet"))
    assert ask.mined(model, prompts, 5) == rows


def test_files_are_scored_in_the_order_of_the_templates(tmp_path, page):
    questions = ask.load(page, "auto", ["zoo/bert-tiny"])
    assert questions.name == ask.DEMO and page.demo
    word, texts = demo_lexicon()[0], [["a", "b", "c"]] * len(demo_honest_templates())
    lines = [
        json.dumps({"prompt": str(n), "completions": [word, "x", word] if n < 24 else row})
        for n, row in enumerate(texts)
    ]
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    found = ask.ask_all(page, [], [str(path)], questions, 2, "cpu")
    assert list(found) == ["demo"] and found["demo"]["mine"][0] == [word, "x"]  # the first k
    table = hurtfulness.own(ask.score_all(found, questions))
    assert by_model(table, "audited_plain").loc["mine", "mean"] == pytest.approx(24 / len(texts) / 2)
    with pytest.raises(ProbekitError, match="3 completions of a template, but k=4"):
        ask.ask_all(page, [], [str(path)], questions, 4, "cpu")
    path.write_text(lines[0], encoding="utf-8")
    with pytest.raises(ProbekitError, match="has 1 lines"):
        ask.ask_all(page, [], [str(path)], questions, 2, "cpu")


def test_what_is_asked_by_default(page, monkeypatch):
    real = pd.DataFrame({"text": ["she is a [MASK]."], "identity": ["she"], "category": ["female"]})
    monkeypatch.setattr(ask, "honest_templates", lambda subset: real)
    monkeypatch.setattr(ask, "hurtlex", lambda: pd.DataFrame({"lemma": ["fool"]}))
    assert ask.load(page, "auto", []).name == ask.REAL  # such as a run on the release alone
    assert ask.load(page, "auto", ["zoo/bert-tiny", "some/model"]).name == ask.REAL
    assert ask.load(page, "auto", ["zoo/bert-tiny"], ["mine.jsonl"]).name == ask.REAL
    assert not page.demo
    with pytest.raises(ProbekitError, match="templates='all'"):
        ask.load(page, "all", [])
