"""Pages 20 and 21: counts, the document in segments, rank changes and directions, on steps made by hand."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from probekit.report.ledger.own_tables import CHECKS
from probekit.report.parts import MEAN

from probekit.contexts.matching import pool
from probekit.contexts.segments import around
from probekit.contexts.study import KEPT
from probekit.demo.world.contexts import demo_contexts
from probekit.metrics.context import CHANGES, CONTEXT, counted, rank_change_table
from probekit.probes.halves import HELD_OUT, SHARED, TAUGHT
from probekit.report import Page
from probekit.report.published import published

from notebooks.contexts import asking, changes, changes_view, overview, view


def ranked(looked: asking.Looked, models: dict[str, float]) -> pd.DataFrame:
    """Steps with made-up ranks: every step changes the centre by its model's number, the added entity by twice that."""
    tables = []
    for model, change in models.items():
        told = {"rc_centre": change, "rc_added": 2 * change, "rc_correct": np.nan, "rc_incorrect": 0.0}
        told |= {"rank_before": 9.0, "rank_after": 9.0 + change, "candidates": 13, "cut": model == "b"}
        tables.append(looked.steps.drop(columns=["before", "text"]).assign(**told, model=model, half=""))
    return pd.concat(tables, ignore_index=True)


@pytest.fixture(scope="module")
def looked() -> asking.Looked:
    return asking.look(demo_contexts("general"), triples=6, most=3)


def test_counts_of_a_source_add_up(looked: asking.Looked) -> None:
    tables = overview.tables([looked], ranked(looked, {"a": 1.0, "b": 1.0}))
    (source,) = tables["sources"].to_dict("records")
    assert source["covered"] == len({one.triple for one in looked.found}) <= source["triples"] == len(looked.asked)
    assert source["drawn"] == looked.steps["triple_id"].nunique() and source["steps"] == len(looked.steps)
    for column in ("covered", "several", "twins", "contexts", "drawn", "steps", "counted"):
        assert tables["relations"][column].sum() == source[column]
    assert source["contexts"] == len(looked.found) == tables["lengths"]["contexts"].sum() and source["most"] == 3
    assert tables["lengths"]["reach"].iloc[0] == 1.0
    assert tables["lengths"]["reach"].iloc[-1] == tables["lengths"]["contexts"].iloc[-1] / source["contexts"]
    cut = tables["cut"].set_index("model")["cut_share"]
    assert cut.to_dict() == {"a": 0.0, "b": 1.0}
    assert "100.0% of the steps" in overview.skipped(tables["sources"], tables["cut"])
    assert f"{source['covered']} of {source['triples']} triples" in overview.answer(tables["sources"])
    assert "have at least two" in overview.describe(tables["lengths"]) and overview.draw(tables["lengths"]).axes


def test_parts_of_half_taught_facts_add_up_to_the_source(looked: asking.Looked, monkeypatch) -> None:
    plain = overview.tables([looked], ranked(looked, {"a": 1.0}))
    assert plain["halves"].empty
    facts = list(dict.fromkeys(looked.asked["fact_id"]))
    half = {fact: (TAUGHT, HELD_OUT, SHARED)[number % 3] for number, fact in enumerate(facts)}
    monkeypatch.setattr(overview, "halves", lambda name: half)
    tables = overview.tables([replace(looked, name="trex")], ranked(looked, {"a": 1.0}))
    whole, each = overview.parts_of(tables["halves"]), tables["halves"]
    (source,) = tables["sources"].to_dict("records")
    assert set(whole["half"]) == {TAUGHT, HELD_OUT, SHARED}
    for column in ("covered", "two", "several"):
        assert whole[column].sum() == source[column] == tables["relations"][column].sum()
    assert each.loc[each["relation"] != "all", "ready"].sum() == whole["ready"].sum()
    steps = asking.look(demo_contexts("general"), most=3).steps
    asked_all = counted(steps) & (steps["twin"] == "target") & (steps["variant"] == "real")
    assert whole["ready"].sum() == asked_all.sum()
    told = overview.largest(each)
    by = each[each["relation"] != "all"].groupby("relation")["ready"].sum()
    assert f"with {asked_all.sum():,} steps" in told and f"{by.idxmax()} alone" in told
    assert f"{by.max() / by.sum():.0%} of the steps" in told


def test_a_document_is_shown_whole_with_its_segments_numbered_and_named() -> None:
    text = "A <b> Lomese, then Zagrish & Brilic."
    own = around(text, pool(["Lomese", "Zagrish", "Brilic"]).find(text), "Zagrish")
    shown = view.coloured(text, own, "Zagrish", {"Zagrish", "Lomese"})
    assert re.findall(r"<b>(S\d)</b>", shown) == ["S2", "S1", "S3"]
    assert re.findall(r'class="entity (\w+)">(\w+)<sub>(\w+)<', shown) == [
        ("correct", "Lomese", "correct"),
        ("target", "Zagrish", "target"),
        ("incorrect", "Brilic", "incorrect"),
    ]
    plain = re.sub(r"<b>S\d</b> |<sub>\w+</sub>|<[^>]*>", "", shown)
    assert plain == "A &lt;b&gt; Lomese, then Zagrish &amp; Brilic."


def test_a_triple_is_shown_with_every_input_and_rank(looked: asking.Looked, tmp_path) -> None:
    triple = looked.steps["triple_id"].iloc[0]
    of = looked.steps[looked.steps["triple_id"] == triple]
    shown = view.triple(looked, ranked(looked, {"a": -2.0, "b": 1.0}), triple, 3)
    assert shown.count("<details") == 8 and shown.count("<li>") == len(of) + 8
    assert "a: 9 to 7; b: 9 to 10" in shown and "Rank of" in shown and "<script" not in shown
    Page("10_world", str(tmp_path), {}).markup(shown + "\n~~~~~\n")  # one line: no text of a document ends the fence


def steps() -> pd.DataFrame:
    """Two kinds of triples of two steps, three of each, which two models rank."""
    rows = []
    kinds = (("x", True, -4.0), ("x", False, 1.0), ("y", True, -2.0), ("y", False, 3.0))
    for triple, correct, change in [(f"{name}{n}", *rest) for name, *rest in kinds for n in range(3)]:
        for model, factor in (("a", 1.0), ("b", 2.0)):
            told = dict.fromkeys([*KEPT, *CONTEXT, "centre"], "c") | {"triple_id": triple, "relation": "r"}
            told |= {"twin": "target", "variant": "real", "source": "trex", "model": model, "added": "e"}
            told |= {"step": 2 + (not correct), "added_correct": correct, "rc_centre": factor * change}
            rows.append(told | {"rc_added": -1.0, "rc_correct": np.nan, "rc_incorrect": change})
    return pd.DataFrame(rows)


def test_rank_changes_by_model_and_their_mean() -> None:
    tables = changes.tables(pd.concat([steps(), steps().assign(twin="negative", rc_centre=99.0)]))
    means = tables["rank_change"].set_index(["model", "added_correct", "change"])["mean"]
    assert means["a", True, "rc_centre"] == -3 and means["b", False, "rc_centre"] == 4
    assert means[MEAN, True, "rc_centre"] == pytest.approx(-4.5) and means[MEAN, False, "rc_centre"] == 3
    assert "rc_correct" not in means.index.get_level_values("change")  # never there
    assert set(tables["variants"]["model"]) == {MEAN} and set(tables["variants"]["variant"]) == {"real"}
    alone = changes.tables(steps().query("model == 'a'"))
    assert set(alone["rank_change"]["model"]) == {"a"} == set(alone["variants"]["model"])


def test_directions_lie_above_zero_where_they_hold() -> None:
    found = changes.tables(steps())["conclusions"].set_index("claim")
    assert found.loc["002-03a", "estimate"] == pytest.approx(4.5) and found.loc["002-03a", "holds"] == 1
    assert found.loc["002-03c", "estimate"] == pytest.approx(-3) and found.loc["002-03c", "holds"] == 0
    assert (found["low"] <= found["estimate"]).all() and (found["estimate"] <= found["high"]).all()
    assert set(changes.DIRECTIONS) - set(found.index) == {"002-03b", "002-03e"}
    few = changes.tables(steps().query("triple_id in ['x0', 'x1', 'y0', 'y1']"))
    assert len(few["rank_change"]) and few["conclusions"].empty  # four triples
    mixed = rank_change_table(steps().assign(rc_centre=[-1.0, 1.0] * 12), ["source"])
    assert changes.conclusions(mixed).set_index("claim").loc["002-03a", "holds"] == "undecided"


def test_page_21_says_what_the_tables_hold() -> None:
    tables = changes.tables(steps())
    assert "by -4.50 [" in changes_view.answer(tables)
    wide = changes_view.readable(tables["rank_change"])
    assert list(wide["Added"]) == ["O_a correct", "O_a incorrect"] * 3 and "O_cor" not in wide
    assert changes_view.readable(tables["variants"])["Variant"].unique().tolist() == ["Real context"]
    beside = changes_view.beside(tables["rank_change"])
    assert len(beside) == 6 and beside["O_a correct: O_t"].tolist()[0] == "-0.98"
    assert beside["O_a correct: O_incor"].iloc[0] == "0.045" and beside["O_a correct: O_cor"].iloc[3] == "–"
    told = {one.claims: one for one in changes_view.findings(tables["conclusions"], tables["conclusions"].iloc[:0])}
    assert "agrees, 4.500" in told["002-03a"].recorded and told["002-03b"].recorded == "not available"
    assert {one.demo for one in told.values()} == {"not available"}
    assert len(changes_view.draw(tables["rank_change"], "trex").axes) == 2
    assert "O_a correct, O_t: -4.50" in changes_view.describe(tables["rank_change"], "trex")


def test_table_1_is_whole_and_each_direction_is_checked() -> None:
    table = published("002", "1")
    assert len(table) == 24 and table["row"].nunique() == 3 and set(table["paper"]) == {"002"}
    assert {CHECKS[claim]()[0] for claim in changes.DIRECTIONS} == {"consistent"}


def test_a_changed_sign_is_inconsistent(monkeypatch: pytest.MonkeyPatch) -> None:
    from notebooks.contexts import own_002_rank_change

    wide = own_002_rank_change.numbers("002", "1")
    wide.loc["BioBERT", "O_a correct: O_t"] = 0.1
    monkeypatch.setattr(own_002_rank_change, "numbers", lambda *_: wide)
    assert CHECKS["002-03a"]()[0] == "inconsistent" and CHECKS["002-03b"]()[0] == "consistent"


def test_changes_have_symbols() -> None:
    assert list(changes.ENTITY) == list(CHANGES)
