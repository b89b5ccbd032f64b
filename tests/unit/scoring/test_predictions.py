"""The best fillings of a slot against all of them written out."""

from __future__ import annotations

import itertools
from typing import Any

import naive
import pandas as pd
import pytest
import torch
from conftest import CAUSAL, OWN, small, writer
from hypothesis import given
from hypothesis import strategies as st

import probekit as pk
from probekit.probes.rationales import RationaleSet
from probekit.scoring.predictions import predict_slots
from probekit.scoring.saliency.fillings import BEAMS, best_sequences

TEXTS = [("The map of [MASK].", ["Upper"]), ("[MASK] was born.", ["He", "She"]), ("in [MASK]", ["the", "it"])]


def records(texts: list[tuple[str, list[str]]] = TEXTS) -> RationaleSet:
    items = RationaleSet.from_texts([text for text, _ in texts]).items
    return RationaleSet("made here", items.assign(golds=[golds for _, golds in texts]))


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
    monkeypatch.setattr("probekit.scoring.saliency.fillings.mask_logits", lambda *_: pytest.fail("computed again"))
    pd.testing.assert_frame_equal(predict_slots(model, records(), store=store), first)


def test_a_gold_that_the_vocabulary_lacks_is_told() -> None:
    model = small("bert")
    rows = records().items.head(1).assign(golds=[["東"]])
    assert predict_slots(model, RationaleSet("x", rows))["unknown"].tolist() == [True]
    assert not predict_slots(model, records())["unknown"].any()


WRITERS = [(family, "zoo" if family in ("llama", "t5") else "own") for family in (*CAUSAL, "t5", "bart")]


@pytest.mark.parametrize(("family", "name"), WRITERS)
def test_models_that_write_fill_the_slot_with_what_comes_next(family: str, name: str) -> None:
    """As many tokens as the first gold has, by a beam search that reads each beam whole."""
    model = writer(family, name)
    texts = [("He spoke of Port Velna [MASK].", ["Upper"]), ("in the [MASK]", ["town", "flood"])]
    table = predict_slots(model, records(texts), top=4, batch_tokens=32)
    before = model.special_ids[0]
    begin = before or (model.tokenizer.bos_token_id,)
    for number, (text, golds) in enumerate(texts):
        left = text.split("[MASK]")[0].rstrip()
        size = len(model.tokens(f"{left} {golds[0]}")) - len(model.tokens(left))
        prompt, start = [*begin, *model.tokens(left)], []
        if model.kind == "seq2seq":
            mark = "<extra_id_0>" if family == "t5" else model.tokenizer.mask_token
            prompt = model.tokenizer(text.replace("[MASK]", mark))["input_ids"]
            start = [model.network.config.decoder_start_token_id]
            start += [model.tokenizer.convert_tokens_to_ids(mark)] if family == "t5" else [*before, *model.tokens(left)]
        best = naive.beams(model, prompt, start, BEAMS, size, set(), set())[:4]
        row = table.loc[number]
        assert row["predictions"] == [words for words, _, _ in best] and row["among"] == 0
        assert row["log_probs"] == pytest.approx([score for _, score, _ in best], abs=1e-3)
        right = [n for n, (words, _, _) in enumerate(best, 1) if words in golds]
        assert row["rank"] == (right[0] if right else 0)


@pytest.mark.parametrize("family", list(CAUSAL))
def test_a_causal_model_chooses_among_the_answers_where_words_follow(family: str) -> None:
    model = writer(family, "zoo" if family == "llama" else "own")
    table = predict_slots(model, records(), top=3, batch_tokens=64)
    answers = ["Upper", "He", "She", "the", "it"]
    for number, (text, golds) in list(enumerate(TEXTS))[1:2]:
        scores = naive.statement_scores(model, text, answers, "sum")
        best = sorted(answers, key=lambda answer: -scores[answer])
        whole = torch.tensor([scores[answer] for answer in best]).log_softmax(0).tolist()
        row = table.loc[number]
        assert row["predictions"] == best[:3] and row["log_probs"] == pytest.approx(whole[:3], abs=1e-3)
        assert row["rank"] == next((n for n, answer in enumerate(best[:3], 1) if answer in golds), 0)
        assert row["among"] == len(answers)
    assert (table["among"] > 0).tolist() == [False, True, False]
