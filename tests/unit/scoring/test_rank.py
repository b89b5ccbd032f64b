"""Ranks against the naive loop, for every family and vocabulary; ties, duplicates, memory, windows."""

import itertools
import logging

import numpy as np
import pandas as pd
import pytest
import torch
from conftest import flat, small, writer
from hypothesis import given
from hypothesis import strategies as st
from naive import slot_scores, statement_scores

import probekit as pk
from probekit.errors import ModelError, ProbeError
from probekit.scoring import forward, plan
from probekit.scoring.batches import token_batches
from probekit.scoring.slots import window

TEXTS = [
    "[MASK] lies north of the old town.",
    "He was born in [MASK]",
    "The café in [MASK] opened in 1931.",
    "Martin (born [MASK]) played there.",
    'They called it "[MASK]" / the new town.',
    "either/[MASK] or nothing",
    "他出生在[MASK]。",
    "It was in [MASK], they said, that the people of Río Negro spoke of it again and again.",
]
ENTITIES = [
    "town", "Town", "Zürich", "Zurich", "Port Velna", "Upper Dramoton", "1931", "1931-05-07", "Saint-Étienne",
    "chromosome 21", "Amyloid-β", "the great flood of 1931", "clock maker", "Río Negro", "x", "☃ snow", "北京",
    "Lomese", "the old new town", "in the old new town", "north of the old new town",
]  # fmt: skip


def probe(texts: list[str] = TEXTS, entities: list[str] = ENTITIES, **columns: list) -> pk.Probe:
    golds = [[entities[i % len(entities)]] for i in range(len(texts))]
    rows = {"prompt_id": [str(i) for i in range(len(texts))], "text": texts, "gold": golds, **columns}
    return pk.Probe("test", pd.DataFrame(rows), entities)


def test_all_ranks_equal_the_naive_loop(any_model):
    made_here = any_model.name.endswith(("(own)", "(zoo)"))  # the published vocabularies must cover every length
    assert made_here or {1, 2, 3, 4, 5, 6} <= {len(any_model.tokens(entity)) for entity in ENTITIES}
    asked = probe()
    targets = [list(ENTITIES)] * len(TEXTS)
    found = {
        unknown: pk.rank_targets(any_model, asked, targets, batch_tokens=300, unknown=unknown)
        for unknown in ("last", "compete")
    }
    for number, text in enumerate(TEXTS):
        expected = slot_scores(any_model, text, ENTITIES, "compete")
        spaced = text[: text.index("[MASK]")][-1:] == " " and any_model.minds_spaces
        tokens = {e: tuple(any_model.tokens(" " * spaced + e)) for e in ENTITIES}
        for unknown, table in found.items():
            held = [e for e in ENTITIES if unknown == "last" and any_model.tokenizer.unk_token_id in tokens[e]]
            distinct = {tokens[e]: expected[e] for e in ENTITIES if e not in held}
            rows = table.iloc[number * len(ENTITIES) : (number + 1) * len(ENTITIES)]
            for target, rank, score in zip(rows["target"], rows["rank"], rows["score"], strict=True):
                if target in held:  # behind all that can be written, and each such entity by itself
                    assert score == -np.inf and rank == len(distinct) + len(held)
                    continue
                assert score == pytest.approx(expected[target], abs=1e-4)
                others = np.array([s for t, s in distinct.items() if t != tokens[target]])
                best, worst = (1 + (others >= expected[target] + slack).sum() for slack in (1e-4, -1e-4))
                assert best <= rank <= worst


def test_ranks_name_fact_and_relation_so_that_two_styles_pair_without_a_join():
    model = small("bert")
    asked = probe(fact_id=[f"f{i // 2}" for i in range(len(TEXTS))], relation=["r"] * len(TEXTS))
    one, other = (
        pk.rank_entities(model, asked),
        pk.rank_entities(model, asked.select([True] * 3 + [False] * (len(TEXTS) - 3))),
    )
    assert list(one["fact_id"]) == list(asked.facts) and set(one["relation"]) == {"r"}
    pairs = pk.metrics.paired_hits(one, other, k=2)
    assert list(pairs.index) == ["f0", "f1"]
    assert pairs["second"]["f0"] == np.mean([rank <= 2 for rank in one["rank"][:2]])
    every = pk.rank_targets(model, asked, [ENTITIES[:2]] * len(TEXTS))
    assert list(every["fact_id"]) == [fact for fact in asked.facts for _ in range(2)]
    plain = pk.rank_entities(model, probe())
    assert list(plain["fact_id"]) == list(plain["prompt_id"]) and set(plain["relation"]) == {""}


def test_rank_entities_is_the_own_object_and_the_list_is_sorted():
    model, asked = small("bert"), probe()
    table = pk.rank_entities(model, asked, top=5)
    columns = ["prompt_id", "fact_id", "relation", "candidates", "rank", "score", "top", "top_scores"]
    assert list(table.columns) == columns and set(table["candidates"]) == {table.attrs["counts"]["candidates"]}
    assert list(table["prompt_id"]) == list(asked.prompts["prompt_id"])
    for text, gold, row in zip(TEXTS, asked.prompts["gold"], table.itertuples(), strict=True):
        expected = slot_scores(model, text, ENTITIES)
        written = {e for e in ENTITIES if model.tokenizer.unk_token_id not in model.tokens(e)}
        assert set(row.top) <= written
        if gold[0] not in written:
            assert row.rank == len({tuple(model.tokens(e)) for e in written}) + len(ENTITIES) - len(written)
            continue
        assert row.score == pytest.approx(expected[gold[0]], abs=1e-4)
        assert list(row.top_scores) == sorted(row.top_scores, reverse=True) and len(row.top) == 5
        assert [expected[e] for e in row.top] == pytest.approx(list(row.top_scores), abs=1e-4)
        if row.rank <= 5:
            assert row.top[row.rank - 1] == gold[0]


def test_any_gold_leaves_the_other_golds_out_of_the_competition():
    model = small("bert")
    rows = {"prompt_id": ["a"], "text": ["He was born in [MASK] ."], "gold": [["Lomese", "town", "Río Negro"]]}
    asked = pk.Probe("golds", pd.DataFrame(rows), ENTITIES)
    scores = slot_scores(model, rows["text"][0], ENTITIES)
    scores = {tuple(model.tokens(e)): scores[e] for e in ENTITIES}  # entities of the same tokens are one candidate
    golds = [tuple(model.tokens(g)) for g in rows["gold"][0]]
    best = max(scores[g] for g in golds)
    ahead = [tokens for tokens, score in scores.items() if score >= best]
    assert pk.rank_entities(model, asked, gold="any")["rank"][0] == 1 + len(set(ahead) - set(golds))
    ahead = [tokens for tokens, score in scores.items() if score >= scores[golds[0]]]
    assert pk.rank_entities(model, asked)["rank"][0] == len(ahead)


def test_ties_count_against_the_gold_or_by_half():
    model = flat(small("bert"))
    asked = probe(["It is in [MASK] ."] * 1, ["town", "Lomese", "clock", "1931"])
    assert pk.rank_entities(model, asked)["rank"].tolist() == [4]
    middle = pk.rank_entities(model, asked, ties="mid")
    assert middle["rank"].tolist() == [2.5]
    assert (
        middle["top"][0]
        == pk.rank_entities(model, probe(["It is in [MASK] ."], ["town", "Lomese", "clock", "1931"]))["top"][0]
    )
    assert middle.attrs["counts"]["targets within 1e-4 of a competitor"] == 1


def test_entities_of_the_same_tokens_are_one_candidate():
    model = small("distilbert")  # lower-cases and drops accents
    asked = probe(["He was in [MASK] ."] * 2, ["Zürich", "zurich", "ZURICH", "town", "☃"])
    counts = pk.rank_entities(model, asked).attrs["counts"]
    assert counts["candidates"] == 3
    assert counts["entities merged with another of the same tokens"] == 2
    assert counts["candidates holding the unknown token"] == 1
    narrow = asked.prompts.assign(relation=["at", "of"], gold=[["town"], ["zurich"]])
    pools = {"at": ["town", "x", "y", "z"], "of": ["Zürich", "zurich"]}
    split = pk.Probe("split", narrow, [e for pool in pools.values() for e in pool])
    counts = pk.rank_targets(model, split, [["town"], ["zurich"]], candidates=pools).attrs["counts"]
    assert counts["entities merged with another of the same tokens"] == 1  # not in the widest list
    ranks = pk.rank_targets(model, asked, [["Zürich", "ZURICH"]] * 2)
    assert ranks["rank"].nunique() == 1


def says_unknown(model: pk.Model) -> pk.Model:
    """The same model, sure of its unknown token in every slot."""
    network = type(model.network)(model.network.config).eval()
    network.load_state_dict(model.network.state_dict())
    with torch.no_grad():
        network.get_output_embeddings().bias[model.tokenizer.unk_token_id] = 1e4
    return pk.Model("unknown", "masked", network, model.tokenizer)


@pytest.mark.parametrize("ties", ["pessimistic", "mid"])
@pytest.mark.parametrize("gold", ["single", "any"])
def test_a_model_that_says_the_unknown_token_everywhere_is_never_right(ties, gold):
    model = says_unknown(small("distilbert"))
    asked = probe(["He was in [MASK] ."] * 2, ["☃", "☂", "town", "clock"])
    table = pk.rank_entities(model, asked, ties=ties, gold=gold)
    assert table["rank"].tolist() == [4, 4] and set(table["top"][0][:2]) == {"town", "clock"}
    assert table.attrs["counts"]["candidates"] == 4  # the two that cannot be written stay two
    assert table.attrs["counts"]["candidates holding the unknown token"] == 2
    shown = pk.rank_entities(model, asked, ties=ties, gold=gold, unknown="compete")
    assert shown["rank"].tolist() == [1, 1] and shown.attrs["counts"]["candidates"] == 3


def test_the_best_gold_is_one_that_can_be_written():
    model = says_unknown(small("distilbert"))
    asked = probe(["He was in [MASK] ."], ["☃", "town", "map"])
    ranks = pk.rank_targets(model, asked, [[["☃", "town"], "town"]])["rank"]
    assert ranks[0] == ranks[1] < 3


def test_an_entity_without_tokens_ranks_last():
    accent = "\N{COMBINING ACUTE ACCENT}"
    asked = probe(["He was in [MASK] ."], [accent, "town", "map"])
    assert small("distilbert").tokens(accent) == []
    row = pk.rank_entities(small("distilbert"), asked).iloc[0]
    assert row["rank"] == 3 and row["score"] == -np.inf


@pytest.mark.parametrize("score", ["slot", "pll", "sum"])
def test_candidates_with_a_special_token_rank_last_and_are_told(score, caplog):
    model = writer("gpt2", "own") if score == "sum" else small("bert")
    marks = [token for token in model.tokenizer.all_special_tokens if token != model.tokenizer.unk_token]
    marks += [f"town {marks[0]} x"]
    asked = probe(["He was in [MASK] ."], ["town", "Lomese", "map", *marks])
    found = pk.rank_targets(model, asked, [asked.entities], score=score)
    assert found["score"][3:].tolist() == [-np.inf] * len(marks) and np.isfinite(found["score"][:3]).all()
    assert set(found["rank"][3:]) == {len(asked.entities)} and found["rank"][:3].max() == 3
    assert found.attrs["counts"]["candidates holding another special token"] == len(marks)
    assert f"{len(marks)} candidates hold special tokens, such as" in caplog.text


@pytest.mark.parametrize(("score", "spaced"), [("slot", True), ("slot", False), ("pll", True), ("sum", True)])
def test_white_space_around_a_candidate_is_no_part_of_it(score, spaced):
    model = writer("gpt2", "own") if score == "sum" else small("roberta")
    text, pairs = f"He was in{' ' * spaced}[MASK].", [[" town", "town"], ["clock ", "clock"], ["\tx y", "x y"]]
    names = [name for _, name in pairs]
    rows = pd.DataFrame({"prompt_id": ["a"], "text": [text], "gold": [[" town "]], "relation": ["in"]})
    asked = pk.Probe("test", rows, [name for pair in pairs for name in pair])
    expected = slot_scores(model, text, names) if score == "slot" else statement_scores(model, text, names, score)
    listed = {"in": [name for pair in pairs for name in pair]}
    for candidates in ("probe", listed):
        found = pk.rank_targets(model, asked, [names], candidates=candidates, score=score, top=3)
        assert found["score"].tolist() == pytest.approx([expected[name] for name in names], abs=1e-4)
        assert sorted(found["top"][0]) == sorted(names)
        assert found.attrs["counts"]["entities merged with another of the same tokens"] == 0
    within = pk.rank_within(model, asked, {"all": listed["in"]}, score=score)
    assert within["candidates"].tolist() == [3] and within["score"][0] == pytest.approx(expected["town"], abs=1e-4)


def test_duplicated_prompts_are_scored_once_and_all_answered():
    model, once = small("roberta"), probe()
    twice = probe(TEXTS * 3)
    again = pk.rank_entities(model, twice)
    assert again.attrs["counts"]["forward rows"] == pk.rank_entities(model, once).attrs["counts"]["forward rows"]
    assert again.attrs["counts"]["prompts"] == 24 and again.attrs["counts"]["distinct prompts"] == 8
    scores = pk.rank_targets(model, probe(), [[g[0]] for g in twice.prompts["gold"][8:16]])
    assert again["score"][8:16].tolist() == pytest.approx(scores["score"].tolist(), abs=1e-4)


def test_candidates_of_the_relation():
    model = small("bert")
    asked = probe(TEXTS[:4], ENTITIES[:4], relation=["a", "a", "b", "b"])
    table = pk.rank_entities(model, asked, candidates="relation", top=10)
    assert [sorted(top) for top in table["top"]] == [["Town", "town"]] * 2 + [["Zurich", "Zürich"]] * 2
    whole = asked.among("relation")
    assert pk.rank_entities(model, whole, top=10)["rank"].tolist() == table["rank"].tolist()
    assert set(table["candidates"]) == {2} and set(pk.rank_entities(model, asked)["candidates"]) == {4}
    few = pk.rank_entities(model, whole.select([True, False, False, False]), top=10)
    assert few["top"].tolist() == table["top"].tolist()[:1]  # as many rivals where fewer facts are asked
    with pytest.raises(ProbeError, match="needs the field 'relation'"):
        pk.rank_entities(model, probe(), candidates="relation")
    with pytest.raises(ProbeError, match="must be auto, all or relation, not 'type'"):
        asked.among("type")


@pytest.mark.parametrize(("kind", "score"), [("masked", "pll_word_l2r"), ("causal", "mean"), ("seq2seq", "sum")])
def test_every_kind_ranks_within_the_relation_as_a_loop_does(kind, score):
    model = (
        small("roberta") if kind == "masked" else writer(*{"causal": ("gpt2", "own"), "seq2seq": ("t5", "zoo")}[kind])
    )
    names = ["town", "clock", "Lomese", "old"]
    rows = {"prompt_id": list("abcd"), "text": TEXTS[:4], "gold": [[name] for name in names], "relation": list("rrss")}
    asked = pk.Probe("two", pd.DataFrame(rows), names, candidates="relation")
    found = pk.rank_entities(model, asked, top=2, score=score, batch_tokens=64)
    for text, pool, gold, row in zip(TEXTS, [names[:2]] * 2 + [names[2:]] * 2, names, found.itertuples(), strict=False):
        expected = statement_scores(model, text, pool, score)
        assert row.score == pytest.approx(expected[gold], abs=1e-4) and row.candidates == 2
        assert row.top == sorted(pool, key=lambda name: -expected[name])


def test_long_prompts_keep_a_window_around_the_slot():
    model = small("bert")
    text = "the old town " * 60 + "[MASK] lies north " + "of the new town " * 60
    asked = probe([text, TEXTS[0]])
    found = pk.rank_targets(model, asked, [["town", "Port Velna"]] * 2)
    assert found.attrs["counts"]["prompts cut to the model's length"] == 1
    ids = model.tokenizer(text.replace("[MASK]", "[MASK] [MASK]"), add_special_tokens=False, verbose=False)["input_ids"]
    length, at = len(model.tokens("town")), ids.index(model.mask_id)
    room = model.max_tokens - 2 - length
    kept = ids[at - room // 2 : at] + [model.mask_id] * length + ids[at + 2 : at + 2 + room - room // 2]
    row = torch.tensor([[model.tokenizer.cls_token_id, *kept, model.tokenizer.sep_token_id]])
    assert row.shape[1] == model.max_tokens
    with torch.no_grad():
        log_probs = model.network(input_ids=row).logits[0].log_softmax(-1)
    expected = sum(log_probs[1 + room // 2 + i, t] for i, t in enumerate(model.tokens("town"))) / length
    assert found["score"][0] == pytest.approx(float(expected), abs=1e-4)


def test_out_of_memory_halves_the_batch_remembers_and_changes_nothing(monkeypatch, caplog):
    model, asked = small("albert"), probe()
    whole = pk.rank_entities(model, asked, batch_tokens=2000)
    sizes = []
    real = forward._logits

    def scarce(model, rows):
        sizes.append(len(rows) * max(len(row.ids) for row in rows))
        if sizes[-1] > 400:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return real(model, rows)

    monkeypatch.setattr(forward, "_logits", scarce)
    with caplog.at_level(logging.WARNING):
        halved = pk.rank_entities(model, asked, batch_tokens=2000)
    assert halved["rank"].tolist() == whole["rank"].tolist()
    assert halved["score"].tolist() == pytest.approx(whole["score"].tolist(), abs=1e-4)
    failed = [size for size in sizes if size > 400]
    assert failed and failed == sorted(failed, reverse=True) and len(set(failed)) == len(failed)
    assert "out of memory" in caplog.text
    first = list(sizes)
    sizes.clear()
    again = pk.rank_entities(model, asked, batch_tokens=2000)
    assert sizes == first and again["score"].tolist() == halved["score"].tolist()


@pytest.mark.parametrize("error", [RuntimeError, IndexError, AssertionError])
def test_other_errors_of_a_network_are_not_taken_for_memory(monkeypatch, error):
    def broken(model, rows):
        raise error("shapes do not match\nat all")

    monkeypatch.setattr(forward, "_logits", broken)
    with pytest.raises(ModelError, match=rf"cannot be asked these texts \({error.__name__}: shapes do not match\);"):
        pk.rank_entities(small("bert"), probe())


def test_wrong_requests_are_named():
    model, asked = small("bert"), probe()
    with pytest.raises(ProbeError, match="'Atlantis'"):
        pk.rank_targets(model, asked, [["Atlantis"]] * len(TEXTS))
    with pytest.raises(ProbeError, match="3 lists of targets for the 8 prompts"):
        pk.rank_targets(model, asked, [["town"]] * 3)
    with pytest.raises(ValueError, match="ties"):
        pk.rank_entities(model, asked, ties="lucky")
    with pytest.raises(ProbeError, match="mask token <mask>"):
        pk.rank_entities(small("roberta"), probe(["a <mask> and a [MASK] ."]))
    with pytest.raises(ModelError, match="loaded without a head"):
        pk.rank_entities(pk.Model("g", "encoder", model.network, model.tokenizer), asked)


def test_the_head_sees_the_masks_alone(monkeypatch):
    model = small("bert")
    seen = []
    hook = model.network.cls.register_forward_hook(lambda _m, args, _o: seen.append(tuple(args[0].shape[:2])))
    counts = pk.rank_entities(model, probe()).attrs["counts"]
    hook.remove()
    by_length = [set(len(model.tokens(e)) for e in ENTITIES) for _ in TEXTS]
    assert sum(n for _, n in seen) == sum(map(sum, by_length)) and all(one == 1 for one, _ in seen)
    assert counts["forward rows"] == sum(map(len, by_length))


def test_a_result_does_not_depend_on_how_it_is_sharded(monkeypatch):
    model, asked = small("roberta"), probe()
    whole = pk.rank_entities(model, asked)
    monkeypatch.setattr(plan, "SHARD_ROWS", 3)
    cut = pk.rank_entities(model, asked)
    assert cut["rank"].tolist() == whole["rank"].tolist()
    assert cut["score"].tolist() == pytest.approx(whole["score"].tolist(), abs=1e-4)


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 9)), max_size=60), st.integers(1, 200))
def test_batches_hold_every_row_once_within_the_budget(rows, budget):
    lengths, masks = [n + m for n, m in rows], [m for _, m in rows]
    batches = token_batches(lengths, masks, budget)
    flat_order = list(itertools.chain.from_iterable(batches))
    assert sorted(flat_order) == list(range(len(rows)))
    assert [lengths[i] for i in flat_order] == sorted(lengths, reverse=True)
    for batch in batches:
        assert len(batch) == 1 or len(batch) * lengths[batch[0]] <= budget
        assert len(batch) == 1 or sum(masks[i] for i in batch) * 8 <= budget
        longest = lengths[batch[0]]  # no row is much padded once the batch is filled by an eighth
        assert all(lengths[i] >= longest * 0.9 for n, i in enumerate(batch) if n * longest * 8 >= budget)


@given(st.integers(0, 99), st.integers(0, 99), st.integers(0, 60))
def test_the_window_is_full_and_as_central_as_the_text_allows(left, right, room):
    kept_left, kept_right = window(left, right, room)
    assert 0 <= kept_left <= left and 0 <= kept_right <= right
    assert kept_left + kept_right == min(left + right, room)
    if kept_left < left and kept_right < right:
        assert abs(kept_left - kept_right) <= 1
