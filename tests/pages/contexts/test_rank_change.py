"""Page 21 on steps made by hand: rank changes by model, their mean, and the paper's eight directions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from probekit.contexts.study import TRIPLE
from probekit.metrics.context import CONTEXT
from probekit.report.sentences import Sentence
from probekit.report.tables import pick
from probekit.report.text import title
from probekit.report.verdicts import concluded

from notebooks.contexts import rank_change, text
from notebooks.contexts.paper import DIRECTIONS, PRINTED
from notebooks.contexts.pooling import MEAN


def answer(tables: dict[str, pd.DataFrame]) -> list[Sentence]:
    return text.rank_change(tables, rank_change.sources(tables)[0])


def steps(size: int = 3) -> pd.DataFrame:
    """Two kinds of triples of two steps, so many of each, which two models rank."""
    rows = []
    kinds = (("x", True, -4.0), ("x", False, 1.0), ("y", True, -2.0), ("y", False, 3.0))
    for triple, correct, change in [(f"{name}{n}", *rest) for name, *rest in kinds for n in range(size)]:
        for model, factor in (("a", 1.0), ("b", 2.0)):
            row = dict.fromkeys([*TRIPLE, *CONTEXT, "centre"], "c") | {"triple_id": triple, "relation": "r"}
            row |= {
                "doc_id": triple,
                "subject": triple,
                "correct": [triple],
                "any_before": 1,
                "cut": False,
                "same": False,
            }
            row |= {"twin": "target", "variant": "real", "source": "trex", "model": model, "added": "e"}
            row |= {"step": 2 + (not correct), "added_correct": correct, "rc_centre": factor * change}
            rows.append(row | {"rc_added": -1.0, "rc_correct": np.nan, "rc_incorrect": change})
    return pd.DataFrame(rows)


def test_rank_changes_by_model_and_their_mean() -> None:
    tables = rank_change.tables(pd.concat([steps(), steps().assign(twin="negative", rc_centre=99.0)]))
    means = tables["rank_change"].set_index(["model", "added_correct", "change"])["mean"]
    assert means["a", True, "rc_centre"] == -3 and means["b", False, "rc_centre"] == 4
    assert means[MEAN, True, "rc_centre"] == pytest.approx(-4.5) and means[MEAN, False, "rc_centre"] == 3
    assert "rc_correct" not in means.index.get_level_values("change")  # never there
    assert set(tables["rank_change"]["steps"]) == {6}  # of the mean too
    assert set(tables["variants"]["model"]) == {MEAN} and set(tables["variants"]["variant"]) == {"real"}
    alone = rank_change.tables(steps().query("model == 'a'"))
    assert set(alone["rank_change"]["model"]) == {"a"} == set(alone["variants"]["model"])
    assert set(tables) == set(rank_change.CAPTIONS)


def test_directions_lie_above_zero_where_they_hold_model_by_model() -> None:
    found = concluded(rank_change.conclusions(rank_change.tables(asked(steps(10)))))
    of = found.set_index(["claim", "model"])
    assert set(of.loc["002-03a", "estimate"]) == {2.0} and set(of.loc["002-03c", "estimate"]) == {-2.0}
    assert set(of.loc["002-03g", "estimate"]) == {1.0} == set(of.loc["002-03h", "estimate"])  # of the added itself
    assert set(found.query("claim == '002-03a'")["verdict"]) == {"agrees"}
    assert set(found.query("claim == '002-03c'")["verdict"]) == {"contradicts"}
    assert (found["low"] <= found["estimate"]).all() and (found["estimate"] <= found["high"]).all()
    assert set(DIRECTIONS) - set(found["claim"]) == {"002-03b", "002-03e"}
    assert set(found["n"]) == {20} and set(found["unit"]) == {"document"} and MEAN not in set(found["model"])
    few = rank_change.tables(asked(steps()))
    assert len(few["rank_change"]) and rank_change.conclusions(few).empty  # six triples


def test_what_falls_whatever_is_added_follows_no_claim() -> None:
    falling = asked(steps(10)).assign(rc_centre=1.0, rc_incorrect=1.0)
    rows = concluded(rank_change.conclusions(rank_change.tables(falling)))
    assert set(pick(rows, claim=[f"002-03{letter}" for letter in "acdf"])["estimate"]) == {0.0}
    alone = falling[~(falling["triple_id"].str.startswith("x") & falling["added_correct"])]  # ten with both kinds
    assert not {"002-03a", "002-03d"} & set(rank_change.conclusions(rank_change.tables(alone))["claim"])
    table = rank_change.tables(alone)["documents"]
    assert table["rc_centre_correct"].count() == 20 and table["rc_centre_incorrect"].count() == 40
    assert set(table["rc_centre_incorrect"]) == {-1.0} and set(table["rc_added_incorrect"]) == {1.0}


def test_models_at_the_floor_are_marked_beside_table_1() -> None:
    tables = rank_change.tables(asked(steps(10)).assign(any_before=lambda t: 1 + (t["model"] == "b")))
    shown = rank_change.as_in_paper(tables, printed=False)[1]["Model"]
    assert {"a", "b, at the floor"} == set(shown) - {title(MEAN)}


def asked(rows: pd.DataFrame) -> pd.DataFrame:
    """With the step that asks without context, of a model that knows all."""
    first = rows.drop_duplicates(["triple_id", "model"]).assign(step=1, added="c", any_before=1)
    return pd.concat([rows, first], ignore_index=True)


def test_the_answer_holds_where_the_target_falls_and_no_side_is_shown() -> None:
    falls, even = answer(rank_change.tables(asked(steps(10)).assign(rc_centre=1.0)))
    assert falls.holds and even.holds
    assert "whether the added name is wrong or right: rises minus falls are -1.00" in falls.text
    assert [said.holds for said in answer(rank_change.tables(asked(steps(10))))] == [False, False]  # right ones lift
    turned = asked(steps(10)).assign(rc_centre=lambda rows: -rows["rc_centre"])
    for any_before, of in ((1, "2 of 2 judged models."), (1 + (turned["model"] == "b"), "1 of 1 judged model.")):
        assert [
            of in said.text for said in answer(rank_change.tables(turned.assign(any_before=any_before))) if said.holds
        ] == [True]


def test_a_document_of_many_steps_counts_once() -> None:
    rows = asked(steps(10))
    large = rows[rows["triple_id"].isin(["x0", "y0"])].assign(rc_centre=lambda t: -t["rc_centre"])
    tables = rank_change.tables(pd.concat([rows, *(large.assign(variant=f"v{n}") for n in range(40))]))
    (row,) = tables["rank_change"].query("model == 'a' and added_correct and change == 'rc_centre'").to_dict("records")
    assert row["mean"] > 1 and row["effective"] < 3 and np.isnan(row["low"])
    assert row["once"] == pytest.approx((9 * -4 + 9 * -2 + 39 * (4 + 2) / 41) / 20) and row["once_high"] < 0
    assert row["rises"] == pytest.approx((18 - 2 * 39 / 41) / 20)
    told = concluded(rank_change.conclusions(tables)).set_index(["claim", "model"]).loc[("002-03a", "a")]
    assert told["verdict"] == "agrees" and told["estimate"] == pytest.approx(2 * row["rises"])
    correct = pick(tables["rank_change"], added_correct=True, change="rc_centre")
    assert "tell as much as 2.0" in text.weight_of_documents(correct, tables["floors"]).text


def test_ours_stand_beside_table_1() -> None:
    tables = rank_change.tables(steps())
    numbers, shown = rank_change.as_in_paper(tables, printed=True)
    assert shown["Added"].tolist() == ["correct"] * 6 + ["incorrect"] * 6
    paper = shown[(shown["Model"] == "Paper: BERT") & (shown["Added"] == "correct")].iloc[0]
    assert paper[["O_t", "O_a", "O_cor", "O_incor"]].tolist() == ["-0.98", "-6.56", "-2.8", "0.045"]
    assert shown["O_cor"].iloc[0] == "–" and (numbers["source"] == PRINTED).sum() == 24
    named = rank_change.tables(steps().assign(model=lambda rows: rows["model"].replace("b", "biobert")))
    order = rank_change.as_in_paper(named, printed=True)[1]["Model"].tolist()
    own = order.index("Paper: BioBERT") - 1
    assert order[own].lower() == "biobert" and order.count("Paper: BioBERT") == 2 and len(order) == 12
    ours, alone = rank_change.as_in_paper(tables, printed=False)
    assert len(alone) == 6 and set(ours["source"]) == {"trex"}


def test_the_figure_has_a_panel_for_a_correct_and_one_for_an_incorrect_entity() -> None:
    tables = rank_change.tables(steps())
    assert rank_change.sources(tables) == ["trex"]
    assert len(rank_change.draw(tables, "trex").axes) == 2


def test_a_source_with_too_few_triples_is_not_shown() -> None:
    few = steps().query("triple_id in ['x0', 'x1']").assign(source="medline")
    assert rank_change.sources(rank_change.tables(pd.concat([few, steps()]))) == ["trex"]
    assert rank_change.sources(rank_change.tables(few)) == ["medline"]


def test_a_run_whose_facts_have_one_right_answer_each_still_shows_its_source():
    rows = [{"source": "notes", "change": "rc_centre", "added_correct": False, "triples": 3}]
    assert rank_change.sources({"rank_change": pd.DataFrame(rows)}) == ["notes"]
