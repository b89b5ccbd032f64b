"""Scores of statements against a loop that tokenises and runs each of them whole, for every kind and family."""

import numpy as np
import pytest
from conftest import CAUSAL, UNSHARED, byte_bpe, small, unshared, wordpiece, writer
from hypothesis import given
from hypothesis import strategies as st
from naive import statement_scores
from test_rank import probe
from tokenizers.processors import TemplateProcessing

import probekit as pk
from probekit.errors import ModelError, ProbeError
from probekit.models import Model
from probekit.scoring import plan, rank_shard
from probekit.scoring.statements.trie import Branch, grow, tokens_run
from probekit.scoring.statements.writing import write
from probekit.store import Store

TEXTS = [
    "[MASK] lies north of the old town.",
    "He was born in [MASK]",
    "The café in [MASK] opened in 1931.",
    "Martin (born [MASK]) played there.",
    "either/[MASK]ish or nothing",
    "他出生在[MASK]。",
]
ENTITIES = [
    "town", "Town", "Zürich", "Zurich", "Port Velna", "Port", "Upper Dramoton", "1931", "1931-05-07", "Saint-Étienne",
    "chromosome 21", "Río Negro", "x", "☃ snow", "北京", "Lomese", "the old new town", "the old", "the",
]  # fmt: skip
CASES = [*((family, "own") for family in CAUSAL), ("llama", "zoo"), ("t5", "zoo"), ("bart", "own")]
PUBLISHED = [("gpt2", "tokenizers/gpt2"), ("opt", "tokenizers/opt-125m"), ("llama", "models/TinyStories-656K")]
PUBLISHED += [("bloom", "tokenizers/gpt2"), ("llama", "models/stories260K")]
PUBLISHED += [("t5", "tokenizers/t5-small"), ("bart", "tokenizers/roberta-base")]
CASES += [pytest.param(*case, marks=pytest.mark.slow) for case in PUBLISHED]


def equal_the_loop(
    model: Model, score: str, texts: list[str] = TEXTS, entities: list[str] = ENTITIES, batch_tokens: int = 400
) -> dict:
    """Scores and ranks of all candidates are those of the loop; the counts of the run."""
    asked = probe(texts, entities)
    found = pk.rank_targets(model, asked, [list(entities)] * len(texts), batch_tokens=batch_tokens, score=score)
    assert len(found) == len(texts) * len(entities)
    for number, text in enumerate(texts):
        expected = statement_scores(model, text, entities, score)
        rows = found.iloc[number * len(entities) : (number + 1) * len(entities)]
        scores = rows["score"].to_numpy()
        able = np.isfinite(scores)
        assert able.sum() >= min(5, len(entities)) and scores == pytest.approx(
            [expected[e] for e in rows["target"]], abs=1e-4
        )
        spaced = text[: text.index("[MASK]")][-1:] == " " and model.minds_spaces
        distinct = {tuple(model.tokens(" " * spaced + e)): expected[e] for e in rows["target"][able]}
        for target, rank in zip(rows["target"][able], rows["rank"][able], strict=True):
            own = tuple(model.tokens(" " * spaced + target))
            others = np.array([value for tokens, value in distinct.items() if tokens != own])
            best, worst = (1 + (others >= expected[target] + slack).sum() for slack in (1e-4, -1e-4))
            assert best <= rank <= worst
    return found.attrs["counts"]


@pytest.mark.parametrize("score", ["sum", "mean", "slot"])
@pytest.mark.parametrize(("family", "name"), CASES)
def test_likelihoods_are_those_of_the_loop(family, name, score):
    counts = equal_the_loop(writer(family, name), score)
    assert 0 < counts["tokens"] < 0.8 * counts["tokens of a loop over the statements"]


@pytest.mark.parametrize("batch_tokens", [1, 400])
@pytest.mark.parametrize("family", UNSHARED)
def test_what_cannot_be_shared_is_read_whole(family, batch_tokens, caplog):
    model = unshared(family)
    score = "slot" if model.kind == "seq2seq" else "sum"
    counts = [equal_the_loop(model, score, TEXTS[:2], ENTITIES[:9], batch_tokens) for _ in range(2)]
    assert counts[0]["tokens"] == counts[0]["tokens of a loop over the statements"] - counts[0]["statements"]
    assert caplog.text.count("read whole") == 1


@pytest.mark.parametrize("score", ["pll", "pll_word_l2r", "pll_sentence_l2r"])
def test_pseudo_likelihoods_are_those_of_the_loop(any_model, score):
    counts = equal_the_loop(any_model, score, TEXTS[1:4])
    assert 0 < counts["tokens"] <= counts["tokens of a loop over the statements"]


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6), max_size=12))
def test_a_trie_holds_every_path_once_and_runs_each_beginning_once(texts):
    paths = [Branch(tuple(ids), 1) for ids in texts]
    found, open_nodes = {}, [((), node) for node in grow(paths)]
    while open_nodes:
        before, node = open_nodes.pop()
        whole = before + node.tokens
        assert node.depth == len(before) and len({kid.tokens[0] for kid in node.kids}) == len(node.kids)
        found |= dict.fromkeys(node.ends, whole)
        open_nodes += [(whole, kid) for kid in node.kids]
    assert found == {i: path.ids for i, path in enumerate(paths)}
    assert tokens_run(grow(paths)) == len({path.ids[:end] for path in paths for end in range(1, len(path.ids))})


def test_of_a_shared_beginning_each_token_is_run_once():
    model = writer("gpt2", "own")
    seen = []
    hook = model.network.transformer.register_forward_hook(lambda _m, given, _o: seen.append(given[0].numel()))
    counts = pk.rank_entities(model, probe(TEXTS[1:2], ENTITIES), score="sum").attrs["counts"]
    hook.remove()
    begin = [model.tokenizer.bos_token_id]
    statements = [begin + model.tokens(TEXTS[1].replace("[MASK]", entity)) for entity in ENTITIES]
    beginnings = {tuple(ids[:end]) for ids in statements for end in range(1, len(ids))}  # nothing follows a last token
    assert counts["tokens"] == len(beginnings) <= sum(seen)
    assert counts["tokens of a loop over the statements"] == sum(map(len, statements))
    assert counts["statements"] == len(ENTITIES)


def test_candidates_that_join_their_neighbours_are_counted():
    model = writer("gpt2", "own")
    counts = equal_the_loop(model, "sum", ["Upper Dra[MASK] lies north."], ["moton", "Dramoton", "town"])
    assert counts["statements whose candidate shares a token with the text around it"] == 2  # am, at


@pytest.mark.parametrize(("family", "score"), [("llama", "sum"), ("t5", "slot"), ("gpt2", "slot")])
def test_a_long_prompt_keeps_one_window_for_all_candidates(family, score):
    model = writer(family, "own" if family == "gpt2" else "zoo")
    text = "the old town " * 90 + "[MASK] lies north " + "of the new town " * 90
    found = pk.rank_targets(model, probe([text], ENTITIES), [["town", "Port Velna"]], score=score)
    assert found.attrs["counts"]["distinct prompts cut to the model's length"] == 1
    short = "the old town " * 2 + "[MASK] lies north " + "of the new town " * 2
    uncut = pk.rank_targets(model, probe([short], ENTITIES), [["town", "Port Velna"]], score=score)
    assert uncut.attrs["counts"]["distinct prompts cut to the model's length"] == 0
    longest = found.attrs["counts"]["tokens of a loop over the statements"] / len(ENTITIES)
    assert longest <= 2 * model.max_tokens and np.isfinite(found["score"]).all()


def test_the_window_is_around_the_slot():
    model = writer("gpt2", "own")
    text = "the old town " * 60 + "[MASK] lies north " + "of the new town " * 60
    one, other = write(model, text, ["town", "Port Velna"], 40)
    assert one.cut and other.cut and max(len(one.ids), len(other.ids)) == 40
    whole = model.tokens(text.replace("[MASK]", "Port Velna"))
    place = len(model.tokens("the old town " * 60)) - 1  # the last space is the candidate's
    size = other.stop - other.start
    left = (40 - size) // 2
    assert list(other.ids) == whole[place - left : place - left + 40] and other.start == left
    assert one.ids[: one.start] == other.ids[: other.start] and one.ids[one.stop :] == other.ids[other.stop :]
    with pytest.raises(ModelError, match="too few for a candidate of"):
        write(model, text, ["the old new town"], 3)


def test_a_candidate_without_a_token_ranks_last():
    dropping = writer("llama", "models/TinyStories-656K")  # leaves out signs that it does not know
    asked = probe(["It is in [MASK] ."], ["北京", "town", "Lomese"])
    row = pk.rank_entities(dropping, asked).iloc[0]
    assert row["rank"] == 3 and row["score"] == -np.inf


def test_results_are_found_again_and_do_not_depend_on_shards(tmp_path, monkeypatch):
    model, asked, store = writer("llama", "zoo"), probe(TEXTS, ENTITIES), Store(tmp_path)
    whole = pk.rank_entities(model, asked, store=store)
    monkeypatch.setattr(plan, "SHARD_STATEMENTS", 20)
    cut = pk.rank_entities(model, asked, store=store)
    assert cut["rank"].tolist() == whole["rank"].tolist()
    assert cut["score"].tolist() == pytest.approx(whole["score"].tolist(), abs=1e-4)
    other = pk.rank_entities(model, asked, store=store, score="mean")
    assert other["score"].tolist() != pytest.approx(whole["score"].tolist(), abs=1e-2)
    monkeypatch.setattr(rank_shard, "score_statements", None)  # nothing is computed again
    again = pk.rank_entities(model, asked, store=store)
    assert again["score"].tolist() == cut["score"].tolist() and again.attrs["counts"] == cut.attrs["counts"]


def test_what_is_not_defined_is_named():
    model, asked = writer("gpt2", "own"), probe(TEXTS, ENTITIES)
    with pytest.raises(ModelError, match=r"score='pll' is not defined: take sum, mean, slot"):
        pk.rank_entities(model, asked, score="pll")
    with pytest.raises(ModelError, match=r"masked model, for which score='sum' is not defined"):
        pk.rank_entities(small("bert"), asked, score="sum")
    with pytest.raises(ValueError, match="score must be one of"):
        pk.rank_entities(model, asked, score="best")
    with pytest.raises(ProbeError, match="mask token"):
        pk.rank_entities(small("roberta"), probe(["a <mask> and a [MASK] ."]), score="pll")
    bare = wordpiece(lowercase=False)
    bare.backend_tokenizer.post_processor = TemplateProcessing(single="$A", special_tokens=[])
    with pytest.raises(ModelError, match="no token that begins a text"):
        pk.rank_entities(Model("bare", "causal", model.network, bare), asked)
    maskless = byte_bpe()
    maskless.mask_token = None
    with pytest.raises(ModelError, match="fills no slot"):
        pk.rank_entities(Model("other", "seq2seq", writer("bart", "own").network, maskless), asked)
