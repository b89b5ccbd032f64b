"""Page 20: counts of a source, and the document and its inputs as the page shows them."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from context_steps import a_page

from probekit.contexts.matching import pool
from probekit.contexts.segments import around
from probekit.demo.world.contexts import demo_contexts
from probekit.metrics.context import counted
from probekit.probes.halves import HELD_OUT, SHARED, TAUGHT
from probekit.report.recording import recorded_tables

from notebooks.contexts import ask, contexts, text


def ranked(searched: ask.Searched, models: dict[str, float]) -> pd.DataFrame:
    """Steps with made-up ranks: every step changes the centre by its model's number, the added entity by twice that."""
    tables = []
    for model, change in models.items():
        values = {"rc_centre": change, "rc_added": 2 * change, "rc_correct": np.nan, "rc_incorrect": 0.0}
        values |= {"rank_before": 9.0, "rank_after": 9.0 + change, "candidates": 13, "cut": model == "b", "same": False}
        tables.append(searched.steps.drop(columns=["before", "text"]).assign(**values, model=model, half=""))
    return pd.concat(tables, ignore_index=True)


@pytest.fixture(scope="module")
def searched() -> ask.Searched:
    return ask.search(demo_contexts("general"), triples=6, most=3)


def test_counts_of_a_source_add_up(searched: ask.Searched) -> None:
    tables = contexts.tables([searched], ranked(searched, {"a": 1.0, "b": 1.0}), {})
    assert set(tables) == set(contexts.CAPTIONS)
    (source,) = tables["sources"].to_dict("records")
    assert source["covered"] == len({m.triple for m in searched.matches}) <= source["triples"] == len(searched.triples)
    assert source["drawn"] == searched.steps["triple_id"].nunique() and source["steps"] == len(searched.steps)
    for column in ("covered", "several", "twins", "contexts", "drawn", "steps", "counted"):
        assert tables["relations"][column].sum() == source[column]
    assert source["contexts"] == len(searched.matches) == tables["lengths"]["contexts"].sum() and source["most"] == 3
    assert tables["lengths"]["reach"].iloc[0] == 1.0
    assert tables["lengths"]["reach"].iloc[-1] == tables["lengths"]["contexts"].iloc[-1] / source["contexts"]
    assert tables["cut"].set_index("model")["cut_share"].to_dict() == {"a": 0.0, "b": 1.0}
    (cut,) = text.contexts_details(tables)
    assert "In at most 100.0% of a model's steps" in cut.text and "at most 100% of its contexts" in cut.text
    every = ranked(searched, {"a": 1.0})
    late = every.assign(cut=every["last"] & (every["triple_id"] != every["triple_id"][0]))
    (some,) = contexts.tables([searched], late, {})["cut"].to_dict("records")
    assert 0 < some["cut_share"] < some["unfinished"] < 1  # few steps, and most contexts
    first, second = text.contexts(tables)
    each = tables["relations"].set_index("label")["counted"]
    assert f"Of {source['triples']} triples" in first.text and f", {source['several']} (" in first.text
    assert f"{each.max() / each.sum():.0%} are about one relation, “{each.idxmax()}”" in second.text and second.holds
    assert set(tables["relations"]["kind"]) == {"N-M"}
    assert contexts.draw(tables).axes
    assert contexts.in_short(tables)["Triples asked"].tolist() == [str(source["drawn"])]


def test_the_answer_speaks_of_the_source_with_most_to_count() -> None:
    rows = {"source": ["pubmed", "trex"], "triples": [50, 40], "covered": [9, 30], "several": [2, 7], "drawn": [5, 6]}
    steps = [("pubmed", "may treat", "", 9), ("trex", "has part", "N-M", 6), ("trex", "named after", "N-1", 2)]
    relations = pd.DataFrame(steps, columns=["source", "label", "kind", "counted"])
    tables = {"sources": pd.DataFrame(rows), "relations": relations}
    first, second = text.contexts(tables)
    assert "Of 40 triples" in first.text and ", 7 (18%) have" in first.text
    assert second.text.startswith("Of 8 steps, in four variants, that add a right answer, 75% are")
    none = text.contexts({**tables, "relations": relations.assign(counted=0)})[1]
    assert not none.holds and "nan" not in none.text


def test_halves_of_facts_add_up_to_the_source(searched: ask.Searched) -> None:
    plain = contexts.tables([searched], ranked(searched, {"a": 1.0}), {})
    assert plain["halves"].empty and len(text.contexts_details(plain)) == 1
    facts = list(dict.fromkeys(searched.triples["fact_id"]))
    half = {fact: (TAUGHT, HELD_OUT, SHARED)[number % 3] for number, fact in enumerate(facts)}
    tables = contexts.tables([replace(searched, name="trex")], ranked(searched, {"a": 1.0}), {"trex": half})
    each = tables["halves"]
    whole = each[each["relation"] == contexts.ALL]
    (source,) = tables["sources"].to_dict("records")
    assert set(whole["half"]) == {TAUGHT, HELD_OUT, SHARED}
    for column in ("covered", "two", "several"):
        assert whole[column].sum() == source[column] == tables["relations"][column].sum()
    assert each.loc[each["relation"] != "all", "ready"].sum() == whole["ready"].sum()
    steps = ask.search(demo_contexts("general"), most=3).steps
    all_counted = counted(steps) & (steps["twin"] == "target") & (steps["variant"] == "real")
    assert whole["ready"].sum() == all_counted.sum()
    told, held_out = whole.set_index("half")["several"][[TAUGHT, HELD_OUT]]
    assert f"{told} were told to some model and {held_out} were held out" in text.contexts_details(tables)[0].text


def test_a_document_is_shown_whole_with_its_segments_numbered_and_named() -> None:
    text = "A <b> Lomese, then Zagrish & Brilic."
    own = around(text, pool(["Lomese", "Zagrish", "Brilic"]).find(text), "Zagrish")
    shown = contexts.coloured(text, own, "Zagrish", {"Zagrish", "Lomese"})
    assert re.findall(r"<b>(S\d)</b>", shown) == ["S2", "S1", "S3"]
    assert re.findall(r'class="entity (\w+)">(\w+)<sub>(\w+)<', shown) == [
        ("correct", "Lomese", "correct"),
        ("target", "Zagrish", "target"),
        ("incorrect", "Brilic", "incorrect"),
    ]
    assert "</mark></span>, <span" in shown  # a sign belongs to the name before it
    plain = re.sub(r"<b>S\d</b>\s|<sub>\w+</sub>|<[^>]*>", "", shown)
    assert plain == "A &lt;b&gt; Lomese, then Zagrish &amp; Brilic."


def test_a_growing_context_puts_one_entity_more_before_the_question() -> None:
    text = "Lomese, then Zagrish, Brilic."
    own = around(text, pool(["Lomese", "Zagrish", "Brilic"]).find(text), "Zagrish")
    shown = contexts.growing(text, own, [[1], [2, 1], [2, 1, 3]], "Zagrish", {"Zagrish", "Lomese"}, "Q <i> ?")
    items = re.findall(r"<li>(.*?)</li>", shown)
    assert [re.findall(r"<b>(S\d)</b>", item) for item in items] == [[], ["S1"], ["S2", "S1"], ["S2", "S1", "S3"]]
    assert all(item.endswith("Q &lt;i&gt; ?") for item in items)


def test_a_triple_is_shown_with_every_input_and_rank(searched: ask.Searched, tmp_path) -> None:
    shown = contexts.example(searched, 3, ranked(searched, {"a": -2.0, "b": 1.0}))
    assert shown.count('<details class="inputs"><summary>') == 10  # four variants, two centres; all of them; the twin
    assert "a: 9 to 7; b: 9 to 10" in shown and "Rank of" in shown and "<script" not in shown
    a_page(tmp_path).markup(shown + "\n~~~~~\n")  # one line: no text of a document ends the fence


def test_an_invented_document_needs_no_model() -> None:
    shown = contexts.invented(10)
    assert "Rank of" not in shown and shown.count("<details") == 10
    growing = shown[shown.index("<ul") : shown.index("</ul>")]
    assert re.findall(r"<li>Input (\d)", growing) == [str(i) for i in range(growing.count("<li>"))]
    assert {"target", "correct", "incorrect"} == set(re.findall(r'class="entity (\w+)"', growing))


def test_the_recorded_tables_are_those_of_the_page() -> None:
    recorded = recorded_tables("20_contexts")
    assert set(recorded) == set(contexts.CAPTIONS)
    told = " ".join(said.text for said in [*text.contexts(recorded), *text.contexts_details(recorded)])
    assert all(count in told for count in ("22,867", "747", "has part", "64 were told to some model", "and 69 were"))
