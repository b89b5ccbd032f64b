"""Page 23 on steps made by hand: target and negative target, what was told, and what follows of the paper's claims."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from context_steps import TWO, made

from probekit.demo.world.exposure import MANY, NEVER, SELDOM
from probekit.errors import ReportError
from probekit.metrics.decisions import FLOOR
from probekit.probes.halves import HELD_OUT, TAUGHT
from probekit.report.sentences import Sentence
from probekit.report.verdicts import concluded

from notebooks.contexts import copy, text
from notebooks.contexts.paper import ONCE, PRINTED
from notebooks.contexts.pooling import MEAN


def answer(tables: dict[str, pd.DataFrame]) -> list[Sentence]:
    return text.copied(tables, copy.sources(tables)[0])


def signs(tables: dict[str, pd.DataFrame], claim: str) -> list[str]:
    found = concluded(copy.conclusions(tables))
    return found.loc[found["claim"] == claim, "verdict"].tolist()


def test_twins_that_behave_alike_and_twins_that_do_not() -> None:
    apart, alike = (copy.tables(made({"one": 0.8}, copy=which, bare=1)) for which in (False, True))
    assert signs(apart, "002-12a") == ["agrees"] * 2  # one number a centre
    assert (apart["directions"]["units"] == apart["directions"]["n"]).all()  # each document counts once
    few = apart | {"directions": apart["directions"].assign(units=9.0)}
    assert signs(few, "002-12a") == ["", ""], "fewer than ten documents take no side"
    assert signs(alike, "002-12a") == ["agrees", "contradicts"]
    assert signs(apart, "002-12c") == signs(alike, "002-12c") == ["undecided"]
    assert signs(copy.tables(made({"one": 0.8})), "002-12c") == [], "the ranks themselves do not tell what was told"
    row, understand = (
        apart["differences"].iloc[0],
        apart["twins"].query("measure == @ONCE").set_index("twin")["understand"],
    )
    assert row["understand"] == pytest.approx(understand["target"] - understand["negative"])
    rises, bare, told = answer(apart)
    assert not rises.holds and told.holds  # the target is lifted more often; told facts gain no more
    assert "without it 0%" in bare.text  # what the first answer is where nothing was read
    told = concluded(copy.conclusions(copy.tables(made({"one": 0.3}, told=0.6, bare=1)))).set_index("claim")
    assert told.loc["002-12c", "verdict"] == "agrees" and told.loc["002-12c", "n"] == 40
    *_, shown = answer(copy.tables(made({"one": 0.3, "two": 0.3}, told=0.6, bare=1)))
    assert not shown.holds  # for told facts it is


def test_a_model_at_the_floor_is_not_judged() -> None:
    ranked = made({"one": 0.8}).assign(any_before=9)
    assert copy.tables(ranked)["floors"]["floor"].tolist() == [True]
    assert set(signs(copy.tables(ranked), "002-12a")) == {FLOOR}
    (row,) = copy.tables(made({"one": 0.8}))["floors"].to_dict("records")
    assert (row["accuracy"], row["constant"], row["questions"]) == (1, 0, 40)  # no object is right twice
    assert row["gain"] == 1 and not row["floor"]


def test_answers_that_the_context_names() -> None:
    ranked = made({"one": 0.8}, 30)
    ranked["copied"] = ranked["triple_id"].astype(int) < 12
    ranked["any_after"] = np.where(ranked["triple_id"].astype(int) < 18, 1, 2)
    table = copy.tables(ranked)["copying"].set_index("variant")
    row = table.loc["knowledge_only"]
    assert (row["named"], row["right"], row["right_named"], row["contexts"]) == (0.4, 0.6, 1.0, 30)
    assert row["right_other"] == pytest.approx(6 / 18) and row["named_bare"] == 0
    assert row["named_bare_high"] == pytest.approx(1 - 0.025 ** (1 / 30))  # exact: none of thirty documents
    numbers, shown = copy.copied(copy.tables(ranked))
    assert len(numbers) == len(shown) == 4 and "First answer named by it" in shown


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
    assert set(copy.conclusions(tables)["claim"]) == {"002-12a"}
    assert not any("fact was told" in said.text for said in answer(tables))
    assert copy.conclusions(copy.tables(made({"one": 0.5}, 5))).empty


def test_levels_of_facts_come_from_halves_and_tellings() -> None:
    rows = pd.DataFrame(
        {"half": [TAUGHT, "", "", "", ""], "model": ["m", "zoo/bert-tiny", "zoo/bert-tiny", "zoo/bert-tiny", "m"],
         "exposure": [np.nan, 0, 3, 4, 9]}
    )  # fmt: skip
    assert copy.level(rows).tolist() == [TAUGHT, NEVER, SELDOM, MANY, ""]


def test_the_page_shows_the_source_with_enough_triples() -> None:
    ranked = pd.concat([made(TWO), made(TWO, 2).assign(source="medline")], ignore_index=True)
    tables = copy.tables(ranked)
    assert copy.sources(tables) == ["trex"] and set(copy.figure_rows(tables)["source"]) == {"trex"}
    numbers, shown = copy.as_table3(tables, printed=True)
    assert len(numbers) == len(shown) == 6 + 12 and set(numbers["source"]) == {"trex", PRINTED}
    assert shown["Model"].str.endswith(ONCE).tolist()[:6] == [False, True] * 3
    assert shown.set_index("Model").loc["Paper: BERT-base", "negative target C"] == "0.92"
    assert copy.level_rows(tables)["level"].tolist() == [HELD_OUT, TAUGHT]
    assert len(copy.draw(tables).axes) == 2 and len(copy.draw_levels(tables).axes) == 1
    for order in (ranked, ranked[::-1]):
        assert copy.figure_rows(copy.tables(order))["centre"].unique().tolist() == ["target", "negative target"]
