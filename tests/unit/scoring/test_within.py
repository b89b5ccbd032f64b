"""Ranks within several lists from one pass: the same as a ranking of each list on its own."""

from dataclasses import replace

import pytest
from conftest import flat, small
from test_rank import ENTITIES, probe

import probekit as pk
from probekit.errors import ProbeError

GOLDS = ENTITIES[:8]
LISTS = {"own": GOLDS, "some": [*ENTITIES[12:], *GOLDS], "all": ENTITIES}


def test_each_list_gives_the_ranks_of_a_ranking_of_its_own(any_model):
    asked = probe()
    found = pk.rank_within(any_model, asked, LISTS)
    assert list(found.columns) == ["prompt_id", "list", "candidates", "rank", "score"]
    assert found["prompt_id"].tolist() == [i for i in asked.prompts["prompt_id"] for _ in LISTS]
    for name, rows in found.groupby("list"):
        alone = pk.rank_entities(any_model, replace(asked, entities=LISTS[name]))
        assert rows["rank"].tolist() == alone["rank"].tolist(), name
        assert rows["score"].tolist() == pytest.approx(alone["score"].tolist(), abs=1e-4)


def test_where_a_relation_has_candidates_of_its_own_a_list_holds_them_back():
    model, names = small("bert"), ["town", "clock", "Lomese", "1931"]
    asked = probe(["It is in [MASK] ."] * 4, names, relation=["a", "a", "b", "b"]).among("relation")
    found = pk.rank_within(model, asked, {"all": [*names, "x"], "most": names}, score="pll")
    assert found["candidates"].tolist() == [2] * 8
    alone = pk.rank_entities(model, asked, score="pll")["rank"].tolist()
    assert [rows["rank"].tolist() for _, rows in found.groupby("list")] == [alone] * 2


def test_all_lists_cost_the_rows_of_the_longest_and_prompts_are_scored_once():
    model = small("bert")
    twice = probe(list(probe().prompts["text"]) * 2)
    whole = pk.rank_entities(model, probe()).attrs["counts"]
    counts = pk.rank_within(model, twice, {"one": ENTITIES, "two": ENTITIES[:16]}).attrs["counts"]
    assert counts["forward rows"] == whole["forward rows"] and counts["prompts"] == 2 * whole["prompts"]


def test_candidates_are_distinct_token_sequences():
    model = small("distilbert")  # lower-cases and drops accents
    asked = probe(["He was in [MASK] ."], ["Zürich"])
    found = pk.rank_within(model, asked, {"a": ["Zürich"], "b": ["zurich", "Zürich", "town"]})
    assert found["candidates"].tolist() == [1, 2] and found["rank"][0] == 1


def test_ties_count_against_the_gold_or_by_half():
    model, asked = flat(small("bert")), probe(["It is in [MASK] ."], ["town", "Lomese", "clock", "1931"])
    lists = {"all": asked.entities, "two": ["clock", "town"]}
    assert pk.rank_within(model, asked, lists)["rank"].tolist() == [4, 2]
    assert pk.rank_within(model, asked, lists, ties="mid")["rank"].tolist() == [2.5, 1.5]


def test_the_store_keeps_and_finds(tmp_path, monkeypatch):
    store, model = pk.Store(tmp_path), small("bert")
    first = pk.rank_within(model, probe(), LISTS, store=store)
    monkeypatch.setattr("probekit.scoring.within.rank_shard_within", None)
    again = pk.rank_within(model, probe(), LISTS, store=store)
    assert again.equals(first)
    with pytest.raises(TypeError):  # other lists are another result
        pk.rank_within(model, probe(), {**LISTS, "own": [*GOLDS, "x"]}, store=store)


def test_lists_must_hold_every_own_object():
    with pytest.raises(ProbeError, match="list 'few' lacks 'Port Velna'"):
        pk.rank_within(small("bert"), probe(), {"few": [e for e in GOLDS if e != "Port Velna"]})
    with pytest.raises(ProbeError, match="at least one list"):
        pk.rank_within(small("bert"), probe(), {})
