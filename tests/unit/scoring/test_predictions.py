"""The best fillings of a slot against all of them written out."""

from __future__ import annotations

import itertools
from typing import Any

import pandas as pd
import pytest
import torch
from conftest import OWN, small
from hypothesis import given
from hypothesis import strategies as st

import probekit as pk
from probekit.probes.rationales import RationaleSet
from probekit.scoring.predictions import best_sequences, predict_slots

TEXTS = [("The map of [MASK].", ["Upper"]), ("[MASK] was born.", ["He", "She"]), ("in [MASK]", ["the", "it"])]


def records() -> RationaleSet:
    rows = [
        {"id": str(n), "language": "en", "dimension": "grammar", "context": text, "golds": golds, "rationales": []}
        for n, (text, golds) in enumerate(TEXTS)
    ]
    return RationaleSet("made here", pd.DataFrame(rows).assign(perturbation="none", original_id=""))


@pytest.mark.parametrize("family", list(OWN))
def test_fillings_are_those_of_a_plain_loop(family: str) -> None:
    model = small(family)
    table = predict_slots(model, records(), top=4, batch_tokens=32)
    for number, (text, golds) in enumerate(TEXTS):
        before = text[: text.index("[MASK]")]
        lead = " " if before[-1:].isspace() and model.minds_spaces else ""
        tokens = [tuple(model.tokens(lead + gold)) for gold in golds]
        masks = " ".join([model.tokenizer.mask_token] * len(tokens[0]))
        ids = model.tokenizer(text.replace("[MASK]", masks), return_tensors="pt")["input_ids"]
        places = (ids[0] == model.mask_id).nonzero()[:, 0]
        with torch.no_grad():
            log_probs = model.network(input_ids=ids).logits[0, places].log_softmax(-1)
        few = log_probs.topk(5, dim=1)
        every = [
            (sum(float(log_probs[i, t]) for i, t in enumerate(choice)), choice)
            for choice in itertools.product(*few.indices.tolist())
        ]
        best = sorted(every, key=lambda one: (-one[0], one[1]))[:4]
        row = table.loc[number]
        assert row["log_probs"] == pytest.approx([score for score, _ in best], abs=1e-4)
        assert row["predictions"] == [model.tokenizer.decode(choice).strip() for _, choice in best]
        assert row["masks"] == len(tokens[0])
        assert row["rank"] == next((n for n, (_, choice) in enumerate(best, 1) if choice in tokens), 0)


@given(st.lists(st.lists(st.integers(-8, 8), min_size=4, max_size=4), min_size=1, max_size=4), st.integers(1, 6))
def test_best_sequences_are_the_best_of_all(table: list[list[int]], top: int) -> None:
    scores = torch.tensor(table, dtype=torch.float32) / 4
    choices = itertools.product(range(4), repeat=len(table))
    every = sorted((sum(row[t] for row, t in zip(table, c, strict=True)) / 4 for c in choices), reverse=True)
    found = best_sequences(scores, top)
    assert [score for score, _ in found] == every[: len(found)] and len(found) == min(top, len(every))
    for score, tokens in found:
        assert score == sum(row[t] for row, t in zip(table, tokens, strict=True)) / 4
    assert len({tokens for _, tokens in found}) == len(found)


def test_the_store_gives_what_was_computed(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model, store = small("bert"), pk.Store(tmp_path)
    first = predict_slots(model, records(), store=store)
    monkeypatch.setattr("probekit.scoring.predictions.mask_logits", lambda *_: pytest.fail("computed again"))
    pd.testing.assert_frame_equal(predict_slots(model, records(), store=store), first)


def test_a_gold_that_the_vocabulary_lacks_is_told() -> None:
    model = small("bert")
    rows = records().items.head(1).assign(golds=[["東"]])
    assert predict_slots(model, RationaleSet("x", rows))["unknown"].tolist() == [True]
    assert not predict_slots(model, records())["unknown"].any()
