"""Top completions against one prompt at a time, without batches, padding or a cache; and what is refused."""

from collections import Counter

import naive
import pytest
import torch
import transformers
from conftest import UNSHARED, small, unshared, writer

import probekit as pk
from probekit.errors import ModelError, ProbeError
from probekit.models import Model
from probekit.scoring.completions import beams, mining
from probekit.scoring.completions.causal import spaces_end_words

PROMPTS = [
    "The [MASK].",
    "He spoke of the old [MASK].",
    "Port Velna lies north of Upper Dramoton; its people speak [MASK]",
    "He spoke of the old [MASK].",
    "The café in Zürich opened before the great flood, they said, and it was never a [MASK].",
]
K, TOKENS = 4, 5
VOCABULARIES = [("bert", "bert-base-uncased"), ("roberta", "roberta-base"), ("albert", "albert-base-v2")]
MASKED = [("bert", "own"), *(pytest.param(*case, marks=pytest.mark.slow) for case in VOCABULARIES)]
PUBLISHED = [("gpt2", "tokenizers/gpt2"), ("opt", "tokenizers/opt-125m"), ("llama", "models/TinyStories-656K")]
PUBLISHED += [("t5", "tokenizers/t5-small")]
WRITERS = [("llama", "zoo"), ("t5", "zoo"), *(pytest.param(*case, marks=pytest.mark.slow) for case in PUBLISHED)]


def put(model: Model, text: str, stops: set[int] = frozenset()) -> tuple[list[int], list[int], set[int], set[int]]:
    """The prompt as the documentation says it is put: token ids, those the decoder begins with, stops, no answers."""
    tokenizer = model.tokenizer
    vocabulary = tokenizer.get_vocab()
    stops = {tokenizer.eos_token_id, *stops} - {None}
    if model.kind == "seq2seq":
        stops.add(vocabulary["<extra_id_1>"])
        ids, start = tokenizer(text.replace("[MASK]", "<extra_id_0>"))["input_ids"], [0, vocabulary["<extra_id_0>"]]
    else:
        left = text[: text.index("[MASK]")]
        ids = tokenizer(left if "TinyStories" in model.name else left.rstrip(), add_special_tokens=False)["input_ids"]
        ids, start = [*model.special_ids[0], *ids], []
    extras = {i for token, i in vocabulary.items() if token.startswith(("<extra_id_", "madeupword"))}
    return ids, start, stops, (set(tokenizer.all_special_ids) | extras) - stops


def looped(model: Model, text: str, stops: set[int] = frozenset(), k: int = K) -> list[tuple[str, float, int]]:
    """The prompt put, then the plain search."""
    ids, start, stops, banned = put(model, text, stops)
    return naive.beams(model, ids, start, k, TOKENS, stops, banned)


def assert_alike(found, expected) -> None:
    assert found["completion"].tolist() == [one[0] for one in expected]
    assert found["log_prob"].tolist() == pytest.approx([one[1] for one in expected], abs=1e-4)
    assert found["rank"].tolist() == list(range(1, len(expected) + 1))


@pytest.mark.parametrize(("family", "vocabulary"), MASKED)
def test_masked_models_give_their_best_tokens(family, vocabulary):
    model = small(family, vocabulary)
    texts = [*PROMPTS, "A [MASK] clock maker."]
    found = pk.top_completions(model, texts, k=20)
    for number, text in enumerate(texts):
        assert_alike(found[found["prompt_id"] == number], naive.best_tokens(model, text, 20))
    assert found.attrs["counts"]["distinct prompts"] == 5 and set(found["tokens"]) == {1}


@pytest.mark.parametrize(("family", "vocabulary"), [*WRITERS, *((family, "") for family in UNSHARED)])
def test_beams_are_those_of_a_plain_search(family, vocabulary):
    model = writer(family, vocabulary) if vocabulary else unshared(family)
    if not vocabulary:
        model.network.generation_config = transformers.GenerationConfig()
    found = pk.top_completions(model, PROMPTS, k=K, tokens=TOKENS)
    assert len(found) == K * len(PROMPTS) and found.attrs["counts"]["forward rows"] == K * (len(PROMPTS) - 1)
    for number, text in enumerate(PROMPTS if vocabulary else PROMPTS[:3]):
        said, expected = found[found["prompt_id"] == number], looped(model, text)
        assert_alike(said, expected)
        assert said["tokens"].tolist() == [one[2] for one in expected]


@pytest.mark.parametrize("family", ["llama", "t5"])
def test_one_completion_is_the_best_of_two_beams(family):
    model = writer(family, "zoo")
    found = pk.top_completions(model, PROMPTS, k=1, tokens=TOKENS)
    for number, text in enumerate(PROMPTS):
        assert_alike(found[found["prompt_id"] == number], looped(model, text, k=2)[:1])


@pytest.mark.parametrize(("family", "seed"), [("llama", 7), ("t5", 1)])  # weights that write texts of several lengths
def test_texts_that_end_early_compete_by_their_mean(family, seed, monkeypatch):
    model = writer(family, "zoo", seed)
    real, written = beams.generate, []
    monkeypatch.setattr(beams, "generate", lambda *a, **b: written.append(real(*a, **b)) or written[-1])
    pk.top_completions(model, PROMPTS, k=K, tokens=TOKENS)
    tokens = Counter(token for texts, _ in written for ids in texts for token in ids)
    for stop, _ in tokens.most_common():
        stops = [model.tokenizer.eos_token_id, stop]
        monkeypatch.setattr(model.network.generation_config, "eos_token_id", stops)
        found = pk.top_completions(model, PROMPTS, k=K, tokens=TOKENS)
        if found["tokens"].nunique() > 1:
            break
    assert found["tokens"].nunique() > 1 and model.network.generation_config.eos_token_id == stops
    for number, text in enumerate(PROMPTS):
        assert_alike(found[found["prompt_id"] == number], looped(model, text, {stop}))
    mean = (found["log_prob"] / found["tokens"]).to_numpy().reshape(-1, K)
    assert (mean[:, :-1] >= mean[:, 1:]).all()


@pytest.mark.parametrize("model", [("bert", "own"), ("llama", "zoo"), ("t5", "zoo")], ids=lambda m: m[0])
def test_neither_order_nor_batches_decide_and_nothing_is_asked_twice(model, tmp_path, monkeypatch):
    model = small(*model) if model[0] == "bert" else writer(*model)
    monkeypatch.setattr(mining, "SHARD_ROWS", 2 if model.kind == "masked" else 2 * K)
    store = pk.Store(tmp_path)
    found = pk.top_completions(model, PROMPTS, K, TOKENS, store=store)
    alone = pk.top_completions(model, PROMPTS, K, TOKENS, batch_tokens=1)
    assert alone["completion"].tolist() == found["completion"].tolist()
    assert alone["log_prob"].tolist() == pytest.approx(found["log_prob"].tolist(), abs=1e-4)
    assert len(list(tmp_path.rglob("*.parquet"))) == 2
    next(iter(sorted(tmp_path.rglob("*.parquet")))).unlink()
    asked = []
    real = mining.KINDS[model.kind].answer
    monkeypatch.setattr(
        mining.KINDS[model.kind], "answer", lambda m, rows, *rest: asked.append(len(rows)) or real(m, rows, *rest)
    )
    order = [4, 2, 1, 0, 2]
    again = pk.top_completions(model, [PROMPTS[i] for i in order], K, TOKENS, store=store)
    assert asked == [2]
    expected = [found[found["prompt_id"] == i][["completion", "log_prob"]].to_numpy().tolist() for i in order]
    assert again[["completion", "log_prob"]].to_numpy().tolist() == [row for part in expected for row in part]
    pk.top_completions(model, PROMPTS, K - 1, TOKENS, store=store)
    assert len(asked) > 1


def test_settings_beside_a_checkpoint_do_not_count(monkeypatch):
    model = writer("llama", "zoo")
    plain = pk.top_completions(model, PROMPTS, K, TOKENS)
    for name, value in {"do_sample": True, "repetition_penalty": 3.0, "length_penalty": -2.0, "min_length": 90}.items():
        monkeypatch.setattr(model.network.generation_config, name, value)
    assert pk.top_completions(model, PROMPTS, K, TOKENS).equals(plain)


def test_special_tokens_are_answers_on_demand():
    model = small("bert")
    size = model.network.config.vocab_size
    everything = pk.top_completions(model, PROMPTS[:1], k=size, special=True)
    assert torch.tensor(everything["log_prob"].to_numpy()).exp().sum() == pytest.approx(1, abs=1e-4)
    with pytest.raises(ModelError, match=f"k={size} is more than the {size - 5} tokens"):
        pk.top_completions(model, PROMPTS[:1], k=size)


def test_where_spaces_belong_is_read_from_the_vocabulary():
    assert not spaces_end_words(writer("llama", "zoo")) and not spaces_end_words(writer("gpt2", "tokenizers/gpt2"))
    assert spaces_end_words(writer("llama", "models/TinyStories-656K"))


def test_a_prompt_too_long_keeps_its_end():
    model = writer("llama", "zoo")
    short = " ".join(["old town"] * 150) + " [MASK]."
    found = pk.top_completions(model, ["He never spoke. " + short, "She did. " + short], K, TOKENS)
    assert found.attrs["counts"]["distinct prompts"] == 1
    assert found.attrs["counts"]["tokens of distinct prompts"] == model.max_tokens - TOKENS


def test_what_cannot_be_asked_is_refused():
    causal, bert, t5 = writer("llama", "zoo"), small("bert"), writer("t5", "zoo")
    other = Model("bart", "seq2seq", t5.network, causal.tokenizer)
    for error, said, model, prompts, how in (
        (ProbeError, r"prompt 1 has 0 slots, write \[MASK\] once: 'no slot'", bert, ["A [MASK].", "no slot"], {}),
        (ProbeError, "prompt 0 has 2 slots", t5, ["[MASK] and [MASK]"], {}),
        (ProbeError, r"words follow it: 'A \[MASK\] man\.'; put the slot at the end", causal, ["A [MASK] man."], {}),
        (ProbeError, "besides", t5, ["<extra_id_0> and [MASK]"], {}),
        (ValueError, "at least 1", causal, PROMPTS, {"k": 0}),
        (ModelError, "too few for a prompt and 500 new ones", causal, PROMPTS, {"tokens": 500}),
        (ModelError, "is more than the", causal, PROMPTS, {"k": 10_000}),
        (ModelError, "without <extra_id_0> and <extra_id_1> in its vocabulary", other, PROMPTS, {}),
    ):
        with pytest.raises(error, match=said):
            pk.top_completions(model, prompts, **{"k": 2, **how})
    assert len(pk.top_completions(causal, [], 2)) == 0
