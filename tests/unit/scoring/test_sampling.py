"""Drawn completions against one text at a time, without a cache, and against the library's own draws; and chats."""

import naive
import pytest
import torch
from conftest import small, unshared, writer
from test_completions import PROMPTS, TOKENS, WRITERS, put

import probekit as pk
from probekit.errors import ModelError, ProbeError, ProbekitError
from probekit.scoring.completions.asking import Sampling
from probekit.scoring.completions.chat import INSTRUCTION
from probekit.scoring.completions.sampling import uniforms
from probekit.scoring.forward import Row

HOW = {"decoding": "sample", "temperature": 0.7, "top_p": 0.8, "seed": 3}
K = 6
NEW = PROMPTS[2:4]  # which differ in length
TEMPLATE = (  # of one that asks for the date, and refuses a system's turn
    "{{ strftime_now('%Y') }}{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}"
    "{% endif %}[{{ m.role }}: {{ m.content }}]{% endfor %}{% if add_generation_prompt %} me:{% endif %}"
)


def assert_drawn(model, found, text, prompt) -> None:
    """Each completion is the one that its random numbers draw, alone."""
    ids, start, stops, banned = prompt
    said = found[["completion", "log_prob", "tokens"]].itertuples(index=False)
    for row, numbers in zip(said, uniforms(Row(ids, ()), Sampling(0.7, 0.8, 3), K, TOKENS), strict=True):
        completion, log_prob, tokens = naive.sampled(model, ids, start, stops, banned, numbers.tolist(), 0.7, 0.8)
        assert (row.completion, row.tokens) == (completion, tokens), text
        assert row.log_prob == pytest.approx(log_prob, abs=1e-4)


@pytest.mark.parametrize(("family", "vocabulary"), [*WRITERS, ("mamba", "")])
def test_texts_are_those_drawn_one_at_a_time(family, vocabulary):
    model = writer(family, vocabulary) if vocabulary else unshared(family)
    found = pk.top_completions(model, NEW, K, TOKENS, **HOW)
    assert found["rank"].tolist() == [*range(1, K + 1)] * 2 and found["completion"].nunique() > K
    for number, text in enumerate(NEW):
        assert_drawn(model, found[found["prompt_id"] == number], text, put(model, text))


def test_masked_models_draw_one_token():
    model = small("bert")
    found = pk.top_completions(model, PROMPTS[:1], 30_000, **HOW | {"top_p": 1.0})
    best = pk.top_completions(model, PROMPTS[:1], model.network.config.vocab_size - 5).drop_duplicates("completion")
    shares = torch.tensor((best["log_prob"] / 0.7).to_numpy()).softmax(0).tolist()
    counts = found["completion"].value_counts(normalize=True)
    gaps = [abs(counts.get(word, 0) - share) for word, share in zip(best["completion"], shares, strict=True)]
    assert sum(gaps) / 2 < 0.04
    own = best.set_index("completion")["log_prob"][found["completion"]]
    assert found["log_prob"].to_numpy() == pytest.approx(own.to_numpy(), abs=1e-4)


@pytest.mark.parametrize("model", [("bert", "own"), ("llama", "zoo"), ("t5", "zoo")], ids=lambda m: m[0])
def test_neither_order_nor_batches_nor_k_decide_what_is_drawn(model, tmp_path):
    model, store = (small if model[0] == "bert" else writer)(*model), pk.Store(tmp_path)
    found = pk.top_completions(model, PROMPTS, K, TOKENS, store=store, **HOW)
    order = [4, 2, 1]
    for batch, k in ((1, K), (64, K - 2), (None, K + 4)):
        again = pk.top_completions(model, [PROMPTS[i] for i in order], k, TOKENS, batch_tokens=batch, **HOW)
        for place, number in enumerate(order):
            both = [t[t["prompt_id"] == i]["completion"].tolist() for t, i in ((again, place), (found, number))]
            assert both[0][:K] == both[1][:k]
    assert found["completion"].tolist() != pk.top_completions(model, PROMPTS, K, TOKENS)["completion"].tolist()
    for change in ({"seed": 4}, {"temperature": 2.0}, {"top_p": 0.5}):
        other = pk.top_completions(model, PROMPTS, K, TOKENS, store=store, **HOW | change)
        assert other["completion"].tolist() != found["completion"].tolist()


@pytest.mark.parametrize("family", ["llama", "t5"])
@pytest.mark.parametrize("how", [{}, HOW], ids=["beams", "sample"])
def test_a_chat_is_the_template_with_instruction_and_prompt(family, how, monkeypatch, tmp_path):
    model, store, text = writer(family, "zoo"), pk.Store(tmp_path), PROMPTS[1]
    monkeypatch.setattr(model.tokenizer, "chat_template", TEMPLATE)
    found = pk.top_completions(model, [text], K, TOKENS, store=store, chat=True, instruction="Go on.", **how)
    whole = "26 Jul 2024[user: Go on.\n\nHe spoke of the old] me:"
    ids = model.tokenizer(whole, add_special_tokens=False)["input_ids"]
    _, start, stops, banned = put(model, text)
    if start:  # a decoder answers by itself, to its end
        start, stops = start[:1], stops - {model.tokenizer.convert_tokens_to_ids("<extra_id_1>")}
    banned = (banned | {i for t, i in model.tokenizer.get_vocab().items() if t.startswith("<extra_id_")}) - stops
    if how:
        assert_drawn(model, found, text, (ids, start, stops, banned))
    else:
        best = naive.beams(model, ids, start, K, TOKENS, stops, banned)
        assert found["completion"].tolist() == [completion for completion, *_ in best]
    for change in ({"instruction": "Go."}, {"chat": False}):
        given = {"chat": True, "instruction": "Go on."} | change
        other = pk.top_completions(model, [text], K, TOKENS, store=store, **given, **how)
        assert other["completion"].tolist() != found["completion"].tolist()
    monkeypatch.setattr(model.tokenizer, "chat_template", TEMPLATE.replace("me:", "you:"))
    other = pk.top_completions(model, [text], K, TOKENS, store=store, chat=True, instruction="Go on.", **how)
    assert other["completion"].tolist() != found["completion"].tolist()


def test_what_decides_is_in_the_question_and_beams_have_theirs_of_before(monkeypatch):
    model = writer("llama", "zoo")
    monkeypatch.setattr(model.tokenizer, "chat_template", TEMPLATE)
    work = pk.scoring.completions.mining.top_completions_work
    plain = work(model, PROMPTS, K).key
    assert set(plain) == {"scoring", "model", "prompts", "stops", "k", "tokens", "special"}
    asked = work(model, PROMPTS, K, sampling=Sampling(0.7, 0.8, 3), instruction=INSTRUCTION).key
    assert asked["sampling"] == {"temperature": 0.7, "top_p": 0.8, "seed": 3}
    assert (asked["instruction"], asked["template"]) == (INSTRUCTION, TEMPLATE)


def test_what_cannot_be_drawn_or_talked_to_is_refused(monkeypatch):
    model = writer("llama", "zoo")
    for given, said in (
        ({"decoding": "greedy"}, "decoding='greedy': give beams or sample"),
        ({"temperature": 0.7}, "beams have no temperature"),
        (HOW | {"temperature": 0.0}, "temperature must be above 0, not 0.0"),
        (HOW | {"top_p": 1.5}, "top_p above 0 and at most 1, not 1.5"),
        ({"chat": True}, "has no chat template: ask it without chat"),
    ):
        with pytest.raises(ProbekitError, match=said):
            pk.top_completions(model, PROMPTS, 2, **given)
    with pytest.raises(ModelError, match="is a masked model and takes no turns"):
        pk.top_completions(small("bert"), PROMPTS, 2, chat=True)
    monkeypatch.setattr(model.tokenizer, "chat_template", TEMPLATE)
    with pytest.raises(ProbeError, match="words follow it"):
        pk.top_completions(model, ["A [MASK] man."], 2, chat=True)
    with pytest.raises(ModelError, match="too few for .* of a chat and 10 new ones"):
        pk.top_completions(model, ["old " * 150 + "[MASK]."], 2, chat=True)
    monkeypatch.setattr(model.tokenizer, "chat_template", TEMPLATE.replace("system", "user"))
    with pytest.raises(ModelError, match="takes no user's turn alone: no user"):
        pk.top_completions(model, PROMPTS, 2, chat=True)
