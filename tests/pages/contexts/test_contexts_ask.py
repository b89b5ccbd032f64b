"""What all pages of study 2 ask: sources, the draw of triples, and the ranks of all models, noted on the page."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from conftest import small, writer
from context_steps import a_page, heard

from probekit.contexts.study import rank_steps
from probekit.demo.world.contexts import demo_contexts
from probekit.errors import ReportError
from probekit.metrics.context import counted
from probekit.probes.halves import TAUGHT
from probekit.report.outcomes import read_outcomes
from probekit.report.recording import recorded_tables
from probekit.report.verdicts import concluded

from notebooks.contexts import ask, biases, copy, rank_change, text, ucm


def test_sources_come_by_name_and_from_files(tmp_path):
    (tmp_path / "one.txt").write_text("A text.", "utf-8")
    found = ask.sources(["demo_bio", "demo"], {"mine": ["demo/template", str(tmp_path)]})
    assert [source.name for source in found] == ["demo_bio", "demo", "mine"]
    assert [document.text for document in found[2].documents] == ["A text."]


@pytest.mark.parametrize("own", [{"trex": ["a", "b"]}, {"mine": "folder"}, {"mine": ["demo/template"]}])
def test_a_wrong_own_source_is_named(own):
    with pytest.raises(ReportError, match=next(iter(own))):
        ask.sources([], own)


def test_an_unknown_source_is_named():
    with pytest.raises(ReportError, match="no source is asked"):
        ask.sources([])
    with pytest.raises(ReportError, match="no source is named 'wikipedia'"):
        ask.sources(["wikipedia"])


def test_triples_with_another_correct_object_are_drawn_apart_and_pools_stay_whole():
    source = demo_contexts("general")
    whole, part = ask.search(source, most=2), ask.search(source, triples=7, others=3, most=2)
    assert whole.steps["several"].nunique() == 2  # two segments need not hold another correct object
    drawn = part.steps.drop_duplicates("triple_id").set_index("triple_id")["several"]
    assert drawn.sum() == 7 and (~drawn).sum() == 3 and len(drawn) == 10
    own = whole.steps[counted(whole.steps) & (whole.steps["twin"] == "target")]
    assert set(own["triple_id"]) == set(whole.steps[whole.steps["several"]]["triple_id"])
    assert part.triples.attrs["entities"] == whole.triples.attrs["entities"] and len(part.matches) == len(whole.matches)
    same = whole.steps[whole.steps["triple_id"].isin(drawn.index)]
    assert part.steps["text"].tolist() == same["text"].tolist()
    again = ask.search(source, triples=7, others=3, most=2)
    assert again.steps["triple_id"].tolist() == part.steps["triple_id"].tolist()


def test_facts_that_a_model_was_told_are_drawn_before_all_others(monkeypatch):
    source = demo_contexts("general")
    several = ask.search(source, others=1).steps.query("several")
    told = set(several["fact_id"].unique()[-5:])
    part = ask.search(source, triples=7, others=3, first=told)
    asked = part.steps[part.steps["several"]].drop_duplicates("triple_id")
    early = several.loc[several["fact_id"].isin(told), "triple_id"].unique()
    assert len(asked) == 7 and set(asked["triple_id"]) >= set(early[:7]) and len(early) < 7
    assert ask.draw(list("abcdef"), 3, "s", {"e", "f"})[:2] in (["e", "f"], ["f", "e"])
    assert ask.draw(list("abcdef"), 3, "s") == random.Random("s").sample(list("abcdef"), 3)
    monkeypatch.setattr(ask, "halves_of", lambda name, *_, own: {"x": TAUGHT} if name == "a" else {})
    for models, halves in ((["a", "b"], {"x": TAUGHT}), (["b"], {})):
        assert ask.told_to({"models": models, "halved": []}, source) == halves


def test_documents_with_a_sentence_that_a_model_read():
    found = ask.search(demo_contexts("general"), triples=3, others=1)
    document = found.matches[0].document
    words = document.text.split()
    read = ask._read(found, [" ".join(words[2:9])])
    assert read <= set(found.steps["doc_id"]) and (document.doc_id in read) == (
        document.doc_id in set(found.steps["doc_id"])
    )
    assert ask._read(found, []) == set()


def test_steps_know_exposure_and_relation():
    found = ask.search(demo_contexts("biomedical"), triples=4)
    prompts = found.probe.prompts.set_index("prompt_id")
    first = found.steps.iloc[0]
    assert first["exposure"] == prompts.loc[first["prompt_id"], "exposure"] and first["source"] == "demo_bio"


def test_every_model_is_asked_and_noted(monkeypatch, tmp_path):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path))
    kinds = {"one": small("bert"), "two": writer("llama", "zoo"), "three": writer("t5", "zoo")}
    models = {name: replace(model, name=name) for name, model in kinds.items()}
    monkeypatch.setattr("probekit.scoring.question.load_model", lambda name, **loading: models[name])
    searched = [ask.search(demo_contexts("general"), triples=1, others=1, most=3, documents=1)]
    page = a_page(tmp_path / "out")
    done = ask.ask_all(page, list(models), searched)
    steps, entities = searched[0].steps, searched[0].triples.attrs["entities"]
    plain = [change for model in models.values() for change in rank_steps(model, steps, entities)["rc_centre"]]
    assert done["model"].tolist() == [name for name in models for _ in steps.index]
    assert done["rc_centre"].tolist() == plain
    assert set(done["half"]) == {""}
    scores = {name: (noted["kind"], noted["score"]) for name, noted in page.models.items()}
    assert scores == {"one": ("masked", "slot"), "two": ("causal", "sum"), "three": ("seq2seq", "slot")}
    assert "one on demo/template, contexts of demo" in page.runs and "documents of demo" in page.probes
    page.close()
    told = read_outcomes(page.out)
    assert (
        told.attrs["candidates"]
        == {"demo/template": "pool"}
        == {"demo/template": page.probes["demo/template"]["candidates"]}
    )
    assert told["model"].tolist() == done["model"].tolist() and told["rank"].tolist() == done["rank_after"].tolist()
    assert told["asked"].tolist() == searched[0].steps["text"].tolist() * 3
    assert (
        told["target"].tolist() == done["centre"].tolist() and told["rank_any"].tolist() == done["any_after"].tolist()
    )
    again = ask.redrawn(searched, 2, most=3)
    before = len(told)
    ask.ask_all(page, ["one"], again)
    page.close()
    drawn = read_outcomes(page.out).iloc[before:]
    assert len(drawn) and set(drawn["variant"]) == {"knowledge_random, draw 1"}  # draw 0 was asked before


@pytest.mark.parametrize(
    ("name", "module", "answer", "claims", "said"),
    [
        (
            "21_rank_change",
            rank_change,
            text.rank_change,
            {"002-03a", "002-03d"},
            ["whether the added name is wrong or right: rises"],
        ),
        ("22_ucm", ucm, text.ucm_answer, {"002-05a", "002-14a"}, ["lowers it in 28%"]),
        (
            "23_copy",
            copy,
            text.copied,
            {"002-12a", "002-12c"},
            ["and falls less often (", "shown for none of 2 models, the opposite for 1"],
        ),
        ("24_biases", biases, text.biases_answer, {"002-16a", "002-16f", "002-16h"}, ["changes"]),
    ],
)
def test_recorded_tables_have_captions_and_give_conclusions(name, module, answer, claims, said):
    recorded = recorded_tables(name)
    found = concluded(module.conclusions(recorded))
    assert set(recorded) <= set(module.CAPTIONS) and module.sources(recorded)[0] == "trex"
    assert claims <= set(found["claim"]) and not found.duplicated(["claim", "source", "model", "measured"]).any()
    told = heard(answer(recorded, "trex"))
    assert len(told) < 550 and all(words in told for words in said)
