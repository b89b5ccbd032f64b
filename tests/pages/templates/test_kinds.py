"""What the pages of study 1 ask causal and seq2seq models, and what they refuse."""

from dataclasses import replace

import pytest
from naive import rank_same_length

import probekit as pk
from probekit.errors import ModelError, ProbekitError
from probekit.run import answer
from probekit.scoring import rank_entities
from probekit.scoring.lengths import prompt_lengths

from notebooks.templates import ask, datasets, text


@pytest.fixture(scope="module")
def probe():
    return pk.load_probe("demo/template", limit=4)


@pytest.mark.parametrize("name", ["zoo/bert-tiny", "zoo/llama-tiny", "zoo/t5-tiny"])
def test_ranks_are_asked_of_every_kind(name, probe):
    model = pk.load_model(name)
    asked = ask.rows(*answer([ask.ranking(model, probe)]))
    alone = rank_entities(model, probe)
    assert asked["rank"].tolist() == alone["rank"].tolist() and (asked["rank_any"] <= asked["rank"]).all()
    assert asked["rank_any"].tolist() == rank_entities(model, probe, gold="any")["rank"].tolist()
    assert set(asked["dataset"]) == {"demo"} and set(asked["half"]) == {""}
    assert ask.sanity_faults(name, [asked]) == []
    table = datasets.lengths(model, [probe])
    lengths, said = table.iloc[0], text.token_lengths({"lengths": table})
    assert (said.text.endswith("up to 1 times.")) == (model.kind != "masked")
    sides = [prompt.split("[MASK]") for prompt in probe.prompts["text"]]
    if model.kind != "masked":  # whose tokens are those of the whole text
        assert lengths["prompt_max"] == max(len(model.tokens(left)) + len(model.tokens(right)) for left, right in sides)


@pytest.mark.parametrize(("name", "score"), [("zoo/llama-tiny", "mean"), ("zoo/t5-tiny", "sum")])
def test_score_and_candidates_of_a_page_are_those_of_its_questions(name, score):
    given = {"models": [name], "probes": ["demo/template", "demo/natural"], "limit": 4, "batch_tokens": 256}
    asked = ask.rankings(given | {"score": score, "candidates": "relation"})
    for question, answered in zip(asked, answer(asked), strict=True):
        rows, probe = ask.rows(answered), pk.load_probe(question.probe.name, limit=4)
        whole = pk.load_probe(question.probe.name)
        pools = [[*whole.relations[relation]] for relation in probe.prompts["relation"]]
        assert rows["candidates"].tolist() == [len(pool) for pool in pools]  # whatever the limit
        alone = rank_entities(pk.load_model(name), probe, candidates="relation", score=score)
        assert rows["rank"].tolist() == alone["rank"].tolist() and answered.result.attrs["score"] == score
        assert all({*top} <= {*pool} for top, pool in zip(rows["top"], pools, strict=True))
        assert ask.sanity_faults(name, [rows]) == []


def test_a_score_that_a_kind_has_not_is_refused_before_anything_is_asked(monkeypatch):
    given = {"models": ["zoo/bert-tiny", "nobody/here", "zoo/llama-tiny"], "probes": ["demo/template"], "limit": 4}
    given |= {"candidates": "auto", "batch_tokens": 0}
    monkeypatch.setattr("probekit.models.loading._read", None)  # of weights
    with pytest.raises(ModelError, match="llama-tiny is a causal model, .*'pll' is not defined: take sum, mean, slot"):
        ask.rankings(given | {"score": "pll"})
    with pytest.raises(ProbekitError, match="score must be auto or one of slot, .* not 'loud'"):
        ask.rankings(given | {"score": "loud"})
    with pytest.raises(ProbekitError, match="needs the field 'relation'"):
        ask.rankings(given | {"score": "auto", "candidates": "relation", "probes": ["demo_lipid/gene"]})


def test_ranks_among_candidates_of_one_length_are_those_of_these_candidates_alone(probe):
    model = pk.load_model("zoo/llama-tiny")
    whole = rank_entities(model, probe)
    lengths = prompt_lengths(model, probe, [top[0] for top in whole["top"]])
    found = rank_same_length(model, probe, lengths, whole["rank"].tolist())
    for number, gold in enumerate(probe.prompts["gold"]):
        spaced = bool(lengths["spaced"][number]) and model.minds_spaces
        alike = [e for e in probe.entities if len(model.tokens(" " * spaced + e)) == lengths["length"][number]]
        prompts = probe.prompts.iloc[[number]].assign(gold=[[gold[0]]])
        assert rank_entities(model, replace(probe, prompts=prompts, entities=alike))["rank"][0] == found[number]
