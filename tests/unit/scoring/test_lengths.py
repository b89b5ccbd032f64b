"""Tokens of entities in slots, against the tokenizer itself; ranks within a length, against the naive loop."""

from dataclasses import replace

import pandas as pd
import pytest
from conftest import small
from naive import rank_same_length, slot_scores

import probekit as pk
from probekit.scoring.lengths import entity_lengths, prompt_lengths

ENTITIES = ["town", "Zürich", "Port Velna", "Upper Dramoton", "1931", "clock maker", "Río Negro", "x", "北京"]
TEXTS = ["He lived in [MASK] .", "[MASK] lies north of the town.", "It is [MASK]", "Martin (born [MASK]) played."]


def probe(golds: list[list[str]]) -> pk.Probe:
    rows = {"prompt_id": range(len(TEXTS)), "text": TEXTS, "gold": golds}
    return pk.Probe("test", pd.DataFrame(rows), ENTITIES)


def test_an_entity_has_the_tokens_that_the_tokenizer_gives_it_in_the_slot(any_model):
    for spaced in (False, True):
        found = entity_lengths(any_model, ENTITIES, spaced)
        lead = " " if spaced and any_model.minds_spaces else ""
        for entity in ENTITIES:
            tokens = any_model.tokens(lead + entity)
            assert found.loc[entity, "length"] == len(tokens)
            assert found.loc[entity, "unknown"] == (any_model.tokenizer.unk_token_id in tokens)


def test_a_slot_at_the_start_gives_byte_bpe_no_leading_space():
    model = small("roberta")
    golds = [["town"], ["town"], ["town"], ["town"]]
    found = prompt_lengths(model, probe(golds), ["x", "town", "Port Velna", "1931"])
    with_space, without = len(model.tokens(" town")), len(model.tokens("town"))
    assert with_space != without
    assert found["length"].tolist() == [with_space, without, with_space, with_space]
    assert found["predicted"].tolist() == [len(model.tokens(t)) for t in (" x", "town", " Port Velna", " 1931")]
    lengths = [len(model.tokens(f" {entity}")) for entity in ENTITIES]
    assert found["rivals"].iloc[0] == lengths.count(with_space)


@pytest.mark.parametrize(
    ("family", "candidates"), [("bert", "all"), ("roberta", "all"), ("albert", "all"), ("bert", "relation")]
)
def test_ranks_within_a_length_equal_the_naive_loop(family, candidates):
    model, golds = small(family), [["Port Velna", "x"], ["town"], ["1931"], ["clock maker"]]
    every = probe(golds)
    asked = replace(every, prompts=every.prompts.assign(relation=list("rrss"))).among(candidates)
    lengths = prompt_lengths(model, asked, ["x"] * len(TEXTS))
    found = rank_same_length(model, asked, lengths, pk.rank_entities(model, asked)["rank"].tolist())
    rows = zip(TEXTS, golds, asked.pool_of, lengths.itertuples(), found, strict=True)
    for text, gold, pool, row, rank in rows:
        lead = " " if row.spaced and model.minds_spaces else ""
        rivals = [e for e in asked.pools[pool] if len(model.tokens(lead + e)) == row.length]
        scores = slot_scores(model, text, rivals)
        assert row.rivals == len(rivals) and rank == sum(score >= scores[gold[0]] for score in scores.values())
    assert len(found) == len(TEXTS) and found.index.tolist() == list(range(len(TEXTS)))


def test_candidates_of_one_length_are_not_ranked_twice(monkeypatch):
    model = small("bert")
    words = [word for word in ("x", "town", "old", "the", "1931") if len(model.tokens(word)) == 1]
    rows = {"prompt_id": [0, 1], "text": TEXTS[:2], "gold": [[words[0]], [words[1]]]}
    asked = pk.Probe("test", pd.DataFrame(rows), words)
    ranks = pk.rank_entities(model, asked)["rank"].tolist()
    monkeypatch.setattr("probekit.scoring.lengths.rank_plan_work", lambda *_, **__: pytest.fail("ranked again"))
    assert rank_same_length(model, asked, prompt_lengths(model, asked, words[:2]), ranks).tolist() == ranks
