"""Acc@k by decoding beside candidate ranks: what is decoded, which answers are right, and models left out."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from conftest import small, writer
from context_steps import a_page, heard

from probekit.demo.world.contexts import demo_contexts
from probekit.models import Model
from probekit.report import Page
from probekit.store import Work

from notebooks.contexts import ask, decoding, text
from notebooks.contexts.pooling import MEAN, floors

ANSWERS = {False: ["wrong", "The Target!", "other"], True: ["an other", "wrong", "target"]}  # without, with context


@pytest.fixture
def page(tmp_path, monkeypatch) -> Page:
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path))
    return a_page(tmp_path / "out", "22_ucm")


def models(monkeypatch: pytest.MonkeyPatch, **of: Model) -> None:
    monkeypatch.setattr("probekit.scoring.question.load_model", lambda name, **loading: of[name])


def test_the_first_right_answer_counts_as_squad_compares_it():
    assert decoding.place(["a town", "The  Town", "Red-Cross"], ["redcross", "town"]) == 1
    assert decoding.place(["city", "The  Town", "Red-Cross"], ["Redcross"]) == 3
    assert decoding.place(["city"], ["town"]) == decoding.place([], ["town"]) == decoding.NEVER


def test_contexts_are_those_that_ucm_counts_from_the_prompt_to_the_longest_input():
    searched = [ask.search(demo_contexts("general"), triples=5, others=3, most=3)]
    table = decoding.chosen(searched, 2, 0)
    own = searched[0].steps[(searched[0].steps["variant"] == "real") & (searched[0].steps["twin"] == "target")]
    assert table["triple_id"].nunique() == 2
    for row in table.itertuples():
        of = own[(own["triple_id"] == row.triple_id) & (own["doc_id"] == row.doc_id)]
        assert of["several"].all() and row.prompt == of["before"].iloc[0] and row.text == of["text"].iloc[-1]
        assert of["step"].is_monotonic_increasing and row.target in row.correct
    assert set(decoding.chosen(searched, 99, 0)["triple_id"]) == set(own[own["several"]]["triple_id"])
    assert decoding.chosen(searched, 0, 0).empty
    scarce = replace(searched[0], contexts=searched[0].contexts.query("several").drop_duplicates("triple_id").head(19))
    assert decoding.chosen([scarce], 2, 0).empty and len(decoding.chosen([scarce, *searched], 2, 0)) == len(table)


def test_both_kinds_of_accuracy_speak_of_the_same_contexts(monkeypatch, page):
    one, two = (replace(small("bert"), name=name) for name in ("one", "two"))
    models(monkeypatch, one=one, two=two)
    searched = [ask.search(demo_contexts("general"), triples=4, others=1, most=3)]
    done = ask.ask_all(page, ["one", "two"], searched)
    asked = decoding.chosen(searched, 2, 0)
    answers = pd.DataFrame({"answers": [ANSWERS[n >= len(asked)] for n in range(2 * len(asked))]})
    answers.attrs["counts"] = dict.fromkeys(decoding.CALLS[1:], 7)
    finished = Work("decoding", {}, "", [], lambda *_: answers, lambda _: answers)
    monkeypatch.setattr("probekit.scoring.decoding.Decode.makes", lambda model, prompts: finished)
    monkeypatch.setattr(
        decoding, "chosen", lambda *_: asked.assign(target="target", correct=[["target", "other"]] * len(asked))
    )
    tables = decoding.tables(page, ["one", "two"], searched, done, 2)
    hits = tables["decoded"].set_index(["model", "judged", "k"])[["without", "with"]]
    assert hits.loc[("one", decoding.DECODED, 1)].tolist() == [0, 0]
    assert hits.loc[("two", decoding.DECODED, 5)].tolist() == [1, 1]
    assert hits.loc[("one", decoding.ANY, 1)].tolist() == [0, 1]
    own = done[done["triple_id"].isin(asked["triple_id"]) & (done["variant"] == "real") & (done["twin"] == "target")]
    first, last = own[own["step"] == 1], own[own["last"]]
    for k in (1, 5):
        for model in ("one", "two"):
            expected = [
                (first.loc[first["model"] == model, "rank_before"] <= k).mean(),
                (last.loc[last["model"] == model, "rank_after"] <= k).mean(),
            ]
            assert hits.loc[(model, decoding.CANDIDATES, k)].tolist() == pytest.approx(expected)
    table = tables["decoded"]
    order = [decoding.CANDIDATES, decoding.DECODED, decoding.ANY]
    assert table.query("k == 1")["judged"].tolist() == order * 3 and table["model"].iloc[-1] == MEAN
    assert table["triples"].eq(2).all() and table["contexts"].nunique() == 1
    assert "On 2 triples" in heard(text.decoded({**tables, "floors": floors(done)}, "demo"))


def test_a_model_that_fills_no_masks_is_left_out_in_words(monkeypatch, page):
    one, bare = replace(small("bert"), name="one"), replace(writer("gptj", "own"), name="bare")
    models(monkeypatch, one=one, bare=bare)
    assert bare.network.get_output_embeddings().bias is not None
    searched = [ask.search(demo_contexts("general"), triples=1, others=1, most=2)]
    done = ask.ask_all(page, ["one", "bare"], searched)
    tables = decoding.tables(page, ["one", "bare"], searched, done, 1)
    assert set(tables["decoded"]["model"]) == {"one"}
    row = tables["calls"].set_index("model").loc["one"]
    assert (row["prompts"], row["model calls"], row["forward rows"]) == (2, 10, 470)
    assert heard(text.decoded({**tables, "floors": floors(done)}, "demo")).endswith("vocabulary: bare.")
    none = decoding.tables(page, ["bare"], searched, done, 1)
    assert none["decoded"].empty and heard(text.decoded({**none, "floors": floors(done)}, "demo")).endswith(": bare.")
    nothing = decoding.tables(page, ["one"], searched, done, 0)
    assert nothing["decoded"].empty and "No answers were decoded" in heard(
        text.decoded({**nothing, "floors": floors(done)}, "demo")
    )
