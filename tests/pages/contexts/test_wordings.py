"""What page 24 asks: the same questions in other words, the same contexts before them, nothing scored twice."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from conftest import small
from context_steps import a_page

import probekit as pk
from probekit.contexts.resources import Document
from probekit.contexts.sources import Source
from probekit.contexts.study import rank_steps
from probekit.contexts.variants import VARIANTS
from probekit.metrics.context import counted
from probekit.probes.rewordings import NAME, PROMPT

from notebooks.contexts import ask
from notebooks.contexts.wordings import BARE, FIRST, REAL, bare, reworded

DOCUMENTS = [
    Document("d1", "Ana knew Zagrish and Lomese, then Brilic.", "Ana"),
    Document("d2", "Bo knew Lomese, not Brilic.", "Bo"),
    Document("d3", "Cy knew Brilic.", "Cy"),
]


@pytest.fixture
def probe() -> pk.Probe:
    """Ana speaks two languages, Bo and Cy one; only Ana is asked in other words, only Bo has another name."""
    rows = {"prompt_id": ["1", "2", "3"], "subject": ["Ana", "Bo", "Cy"], "relation": ["speaks"] * 3}
    rows |= {"text": [f"{name} speaks [MASK]." for name in rows["subject"]]}
    rows |= {"gold": [["Zagrish", "Lomese"], ["Lomese"], ["Brilic"]]}
    rows |= {"paraphrases": [["Ana uses [MASK]."], [], ["Cy uses [MASK]."]], "subject_aliases": [[], ["Bobo"], []]}
    return pk.Probe("own", pd.DataFrame(rows), ["Zagrish", "Lomese", "Brilic"])


def test_every_wording_has_the_same_contexts_before_it(probe: pk.Probe) -> None:
    found = {one.wording: one.steps for one in reworded(Source("own", probe, DOCUMENTS))}
    assert list(found) == [FIRST, PROMPT, NAME]
    assert set(found[FIRST]["triple_id"]) == {"1", "1/Lomese", "2", "3"}
    assert set(found[PROMPT]["triple_id"]) == {"1", "1/Lomese", "3"} and set(found[NAME]["triple_id"]) == {"2"}
    keys = ["triple_id", "doc_id", "variant", "step"]
    for wording, (before, after) in {PROMPT: (" speaks ", " uses "), NAME: ("Bo speaks", "Bobo speaks")}.items():
        both = found[wording].merge(found[FIRST], on=keys, suffixes=("", "_own"), validate="one_to_one")
        assert len(both) == len(found[wording])
        for row in both.itertuples():
            head, _, question = row.text_own.rpartition(". " if ". " in row.text_own else ", ")
            assert row.text.startswith(head) and row.text.endswith(question.replace(before, after))
            assert row.before == row.before_own.replace(before, after) and row.added == row.added_own
    assert set(found[FIRST]["twin"]) == {"target"} and found[FIRST]["drawn"].all()


def test_triples_that_ucm_counts_are_asked_in_all_variants(probe: pk.Probe) -> None:
    found = {one.wording: one.steps for one in reworded(Source("own", probe, DOCUMENTS))}
    variants = found[FIRST].groupby("triple_id")["variant"].agg(set).to_dict()
    assert variants == {"1": set(VARIANTS), "1/Lomese": set(VARIANTS), "2": {REAL}, "3": {REAL}}
    assert counted(found[PROMPT]).any() and set(found[NAME]["variant"]) == {REAL}
    fewer = {one.wording: one.steps for one in reworded(Source("own", probe, DOCUMENTS), triples=1)}
    assert (fewer[FIRST].groupby("triple_id")["variant"].nunique() == 4).sum() == 1


def test_documents_that_name_an_object_are_counted_once_each(probe: pk.Probe) -> None:
    (first, *_) = reworded(Source("own", probe, DOCUMENTS))
    often = first.steps.groupby("target")["named_in"].first().to_dict()
    assert often == {"Zagrish": 1, "Lomese": 2, "Brilic": 3}


def test_draws_are_nested_and_the_first_wording_holds_them_all(probe: pk.Probe) -> None:
    for seed in range(5):
        found = {one.wording: one.steps for one in reworded(Source("own", probe, DOCUMENTS), 1, 1, seed=seed)}
        drawn = {name: set(steps.loc[steps["drawn"], "triple_id"]) for name, steps in found.items()}
        assert all(len(names) == 1 for names in drawn.values())
        assert set.union(*drawn.values()) <= set(found[FIRST]["triple_id"])
        if drawn[FIRST] <= {"1", "1/Lomese", "3"}:  # the first of all is asked in other words, so it is theirs too
            assert drawn[PROMPT] == drawn[FIRST]


def test_a_probe_without_documents_is_asked_bare(probe: pk.Probe) -> None:
    found = {one.wording: one for one in bare(probe)}
    steps = found[FIRST].steps
    assert steps["triple_id"].tolist() == ["1", "2", "3"] and set(steps["variant"]) == {BARE}
    assert steps["text"].equals(steps["before"]) and steps["doc_id"].equals(steps["subject"])
    assert found[PROMPT].steps["text"].tolist() == ["Ana uses [MASK].", "Cy uses [MASK]."]
    model = small("bert")
    ranked = rank_steps(model, steps, found[FIRST].triples.attrs["entities"], answers=True)
    plain = pk.rank_entities(model, probe, gold="any", candidates="relation", top=1)
    assert ranked["any_before"].tolist() == ranked["any_after"].tolist() == plain["rank"].tolist()
    assert ranked["answer_bare"].tolist() == [top[0] for top in plain["top"]] and not counted(ranked).any()
    assert len(bare(probe, 1)[1].steps) == 1


def test_wordings_are_noted_apart_and_nothing_is_scored_twice(
    probe: pk.Probe, monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path))
    monkeypatch.setattr(
        "probekit.scoring.question.load_model", lambda name, **loading: replace(small("bert"), name=name)
    )
    page, searched = a_page(tmp_path / "out", "24_biases"), [*reworded(Source("own", probe, DOCUMENTS)), *bare(probe)]
    ranked = ask.ask_all(page, ["one"], searched, answers=True)
    tasks = [f"contexts of own, {wording}" for wording in (FIRST, PROMPT, NAME)]
    assert [run.partition(" on own, ")[2] for run in page.runs] == tasks
    assert list(page.probes) == ["documents of own", "own"] and {"answer", "answer_bare", "wording"} <= set(ranked)
    for one in searched:
        counts = rank_steps(small("bert"), one.steps, one.triples.attrs["entities"]).attrs["counts"]
        assert counts["prompts"] == len({*one.steps["text"], *one.steps["before"]})
