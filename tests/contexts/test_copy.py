"""Page 23 on steps made by hand: target and negative target, what was told, and what follows of the paper's claims."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from context_steps import TWO, made

from probekit.demo.world.exposure import MANY, NEVER, SELDOM
from probekit.errors import ReportError
from probekit.probes.halves import HELD_OUT, TAUGHT
from probekit.report.recording import recorded_tables
from probekit.report.verdicts import concluded

from notebooks.contexts import copy
from notebooks.contexts.pooling import MEAN, PRINTED


def test_twins_that_behave_alike_and_twins_that_do_not() -> None:
    apart, alike = copy.tables(made({"one": 0.8})), copy.tables(made({"one": 0.8}, copy=True))
    verdicts = [concluded(copy.conclusions(tables)).set_index("claim")["verdict"] for tables in (apart, alike)]
    assert [found["002-12a"] for found in verdicts] == ["agrees", "contradicts"]
    assert [found["002-12c"] for found in verdicts] == ["undecided"] * 2
    sizes = [tables["directions"].set_index("claim").loc["002-12b", "estimate"] for tables in (apart, alike)]
    assert sizes[0] > 0 > sizes[1]
    row, understand = apart["differences"].iloc[0], apart["twins"].set_index("twin")["understand"]
    assert row["understand"] == pytest.approx(understand["target"] - understand["negative"])
    assert "more often than it lifts" in copy.answer(apart)
    told = concluded(copy.conclusions(copy.tables(made({"one": 0.3}, told=0.6)))).set_index("claim")
    assert told.loc["002-12c", "verdict"] == "agrees" and told.loc["002-12c", "n"] == 40


def test_contexts_without_a_twin_leave_the_comparison() -> None:
    ranked = made({"one": 0.5}, 4)
    lone = ranked[~((ranked["triple_id"] == "2") & (ranked["twin"] == "negative"))]
    assert set(copy.paired(lone)["triple_id"]) == {"0", "1", "3"}
    with pytest.raises(ReportError, match="no context has a twin"):
        copy.tables(ranked[ranked["twin"] == "target"])


def test_all_four_pairs_of_centre_and_added_entity() -> None:
    tables = copy.tables(made(TWO, 30))
    crossed = tables["crossed"].set_index(["model", "twin", "added_correct"])
    assert crossed.loc[("one", "target", False), ["rises", "falls"]].tolist() == [0.0, 0.0]
    assert crossed.loc[("one", "target", True), ["rises", "falls"]].sum() == pytest.approx(1.0)
    assert crossed["steps"].to_dict()[MEAN, "negative", True] == 30 * 4 * 2  # T and R1, each in four variants
    rows, shown = copy.four_pairs(tables)
    assert set(rows["model"]) == {MEAN} and shown["Added entity"].tolist() == ["correct", "incorrect", "correct"]


def test_too_few_told_facts_give_no_number() -> None:
    ranked = made({"one": 0.5}, 30)
    known = ranked.assign(half=np.where(ranked["triple_id"].isin(["0", "2", "4", "6"]), TAUGHT, HELD_OUT))
    tables = copy.tables(known)
    assert set(tables["levels"]["level"]) == {HELD_OUT}
    assert set(copy.conclusions(tables)["claim"]) == {"002-12a", "002-12b"}
    assert "cannot be said here" in copy.answer(tables)
    assert copy.conclusions(copy.tables(made({"one": 0.5}, 5))).empty


def test_levels_of_facts_come_from_halves_and_tellings() -> None:
    rows = pd.DataFrame(
        {"half": [TAUGHT, "", "", "", ""], "model": ["m", "zoo/bert-tiny", "zoo/bert-tiny", "zoo/bert-tiny", "m"],
         "exposure": [np.nan, 0, 3, 4, 9]}
    )  # fmt: skip
    assert copy.level(rows).tolist() == [TAUGHT, NEVER, SELDOM, MANY, ""]


def test_rows_of_conclusions_by_hand() -> None:
    rows = pd.DataFrame(
        [("002-12a", "trex", "smaller", -0.1, -0.2, -0.05)],
        columns=["claim", "source", "measured", "estimate", "low", "high"],
    )
    differences = pd.DataFrame({"source": ["trex", "trex"], "model": ["one", MEAN], "triples": [30, 30]})
    (row,) = concluded(copy.conclusions({"directions": rows, "differences": differences})).to_dict("records")
    assert (row["n"], row["unit"], row["verdict"]) == (30, "triple", "contradicts")


def test_the_page_shows_the_source_with_enough_triples() -> None:
    ranked = pd.concat([made(TWO), made(TWO, 2).assign(source="medline")], ignore_index=True)
    tables = copy.tables(ranked)
    assert copy.sources(tables) == ["trex"] and set(copy.drawn_rows(tables)["source"]) == {"trex"}
    numbers, shown = copy.as_table3(tables, printed=True)
    assert len(numbers) == len(shown) == 3 + 12 and set(numbers["source"]) == {"trex", PRINTED}
    assert shown.set_index("Model").loc["Paper: BERT-base", "negative target C"] == "0.92"
    assert copy.level_rows(tables)["level"].tolist() == [HELD_OUT, TAUGHT]
    assert len(copy.draw(tables).axes) == 2 and len(copy.draw_levels(tables).axes) == 1
    assert TAUGHT in copy.levels_described(tables) and "negative target" in copy.described(tables)


def test_the_recorded_tables_are_those_of_the_page() -> None:
    recorded = recorded_tables("23_copy")
    assert set(recorded) <= set(copy.CAPTIONS)
    found = concluded(copy.conclusions(recorded)).set_index("claim")
    assert found["verdict"].to_dict() == {"002-12a": "contradicts", "002-12b": "contradicts", "002-12c": "undecided"}
    assert copy.sources(recorded) == ["trex"] and found["n"].tolist() == [436] * 3
