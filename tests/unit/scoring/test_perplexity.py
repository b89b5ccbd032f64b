"""Pseudo-perplexity against the naive loop and by hand."""

import math

import pytest
import torch
from conftest import flat, small, writer
from naive import perplexity

import probekit as pk
from probekit.errors import ModelError, ProbeError

TEXTS = ["He was born in Zürich.", "town", "Zagrish and Lomese, they said", "He was born in Zürich.", "北京 ☃"]


def test_equals_the_naive_loop(any_model):
    found = pk.pseudo_perplexity(any_model, TEXTS, batch_tokens=100)
    assert list(found.columns) == ["text_id", "perplexity", "log_prob", "tokens"]
    for text, row in zip(TEXTS, found.itertuples(), strict=True):
        assert row.perplexity == pytest.approx(perplexity(any_model, text), rel=1e-4)
        assert row.tokens == len(any_model.tokens(text))
        assert row.perplexity == pytest.approx(math.exp(-row.log_prob / row.tokens))


def test_a_uniform_model_is_as_perplexed_as_its_vocabulary_is_large():
    model = flat(small("bert"))
    found = pk.pseudo_perplexity(model, TEXTS)["perplexity"].tolist()
    assert found == pytest.approx([model.network.config.vocab_size] * len(TEXTS), rel=1e-5)


def test_repeated_texts_are_scored_once():
    model = small("bert")
    counts = pk.pseudo_perplexity(model, TEXTS * 3).attrs["counts"]
    assert counts["forward rows"] == sum(len(model.tokens(t)) for t in set(TEXTS))
    assert (counts["texts"], counts["distinct texts"]) == (15, 4)


def test_a_long_text_is_seen_through_windows():
    model = small("bert")
    text = "the old town " * 80
    found = pk.pseudo_perplexity(model, [text])
    assert found.attrs["counts"]["texts seen through a window"] == 1
    ids = model.tokens(text)
    room, total = model.max_tokens - 2, 0.0
    for at, token in enumerate(ids):
        start = min(max(0, at - (room - 1) // 2), len(ids) - room)
        row = [model.tokenizer.cls_token_id, *ids[start : start + room], model.tokenizer.sep_token_id]
        row[1 + at - start] = model.mask_id
        with torch.no_grad():
            total += float(
                model.network(input_ids=torch.tensor([row])).logits[0, 1 + at - start].log_softmax(-1)[token]
            )
    assert found["log_prob"][0] == pytest.approx(total, rel=1e-4)


@pytest.mark.parametrize(("family", "name"), [("gpt2", "own"), ("llama", "zoo"), ("opt", "tokenizers/opt-125m")])
def test_of_a_causal_model_it_is_the_perplexity(family, name):
    model = writer(family, name)
    found = pk.pseudo_perplexity(model, TEXTS, batch_tokens=100)
    for text, row in zip(TEXTS, found.itertuples(), strict=True):
        start = model.special_ids[0] or (model.tokenizer.bos_token_id or model.tokenizer.eos_token_id,)
        ids = torch.tensor([[*start, *model.tokens(text)]])
        labels = ids.clone()
        labels[0, : len(start)] = -100
        with torch.no_grad():
            loss = model.network(input_ids=ids, labels=labels).loss
        assert row.perplexity == pytest.approx(math.exp(float(loss)), rel=1e-4)
    assert found.attrs["counts"]["forward rows"] == 4


def test_a_causal_model_reads_a_long_text_in_windows_and_each_token_once():
    model = writer("llama", "zoo")
    ids = model.tokens("the old town and " * 120)
    start = list(model.special_ids[0]) or [model.tokenizer.bos_token_id]
    room = model.max_tokens - len(start)
    assert len(ids) > 2 * room
    total, done = 0.0, 0
    while done < len(ids):
        begin = 0 if not done else done - room + room // 2  # half a window goes on, the rest is read again
        row = [*start, *ids[begin : begin + room]]
        with torch.no_grad():
            log_probs = model.network(input_ids=torch.tensor([row])).logits[0].log_softmax(-1)
        end = min(begin + room, len(ids))
        total += sum(float(log_probs[len(start) + i - begin - 1, ids[i]]) for i in range(done, end))
        done = end
    found = pk.pseudo_perplexity(model, ["the old town and " * 120])
    assert found["log_prob"][0] == pytest.approx(total, rel=1e-4)
    assert found.attrs["counts"]["texts seen through a window"] == 1


def test_what_cannot_be_scored_is_named():
    with pytest.raises(ProbeError, match="text 1 has no tokens"):
        pk.pseudo_perplexity(small("bert"), ["town", "\u200d"])
    with pytest.raises(ProbeError, match="no texts"):
        pk.pseudo_perplexity(small("bert"), [])
    with pytest.raises(ModelError, match="needs a masked or causal language model"):
        pk.pseudo_perplexity(pk.Model("g", "seq2seq", small("bert").network, small("bert").tokenizer), TEXTS)
