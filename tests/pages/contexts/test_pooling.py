"""What the pages on contexts share: means over models, classes, numbers made of means, ours beside the paper's."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from context_steps import TWO, made
from hypothesis import given
from hypothesis import strategies as st

from probekit.metrics.context import context_accuracy, rank_change_table, ucm_table

from notebooks.contexts import paper, pooling, text
from notebooks.contexts.paper import PRINTED
from notebooks.contexts.pooling import MEAN, by_model, classes, lowest, measured, several


def test_the_mean_is_that_of_the_models_and_counts_each_step_once() -> None:
    ranked = made(TWO, 10)
    own = ranked[ranked["twin"] == "target"]
    table = by_model(own, ucm_table).set_index("model")
    assert table.loc[MEAN, "understand"] == pytest.approx(table.loc[list(TWO), "understand"].mean())
    assert table["triples"].tolist() == [10] * 3 and table["steps"].tolist() == [40] * 3
    hits = by_model(own, partial(context_accuracy, gold="single")).query("k == 5").set_index("model")
    assert hits.loc[MEAN, "with"] == pytest.approx(hits.loc[list(TWO), "with"].mean())
    assert hits["contexts"].tolist() == [40] * 3
    changes = by_model(own, rank_change_table).query("change == 'rc_centre' and added_correct").set_index("model")
    assert changes.loc[MEAN, "mean"] == pytest.approx(changes.loc[list(TWO), "mean"].mean())
    alone = by_model(own[own["model"] == "one"], ucm_table)
    pd.testing.assert_frame_equal(alone, table.reset_index().query("model == 'one'")[list(alone)])


def test_one_draw_of_triples_serves_all_models() -> None:
    ranked = made({"one": 1.0}, 6)
    own = ranked[ranked["twin"] == "target"].assign(flip=lambda rows: rows["triple_id"].astype(int) % 2 == 0)
    first = own.assign(rc_centre=np.where(own["flip"], -1, 1))
    second = own.assign(rc_centre=np.where(own["flip"], 1, -1), model="two")
    (row,) = pooling.overall(by_model(pd.concat([first, second]), ucm_table), bar("one", "two")).to_dict("records")
    assert (row["understand"], row["understand_low"], row["understand_high"]) == (0.5, 0.5, 0.5)


def bar(*above: str, low: str = "low", source: str = "trex") -> pd.DataFrame:
    """``floors`` of models above the floor and of one at it."""
    hits = {"questions": 40, "accuracy": 0.375, "gain": 0.075, "gain_low": -0.1}
    return pd.DataFrame([{"source": source, "model": name, "floor": name == low} | hits for name in (*above, low)])


def test_what_speaks_for_a_source_is_the_mean_or_the_only_model_above_the_floor() -> None:
    rows = [("a", "one", 1), ("a", "two", 2), ("a", "low", 3), ("a", MEAN, 4), ("b", "one", 5), ("c", "low", 6)]
    table = pd.DataFrame(rows, columns=["source", "model", "x"])
    floor = pd.concat([bar("one", "two", source="a"), bar("one", source="b"), bar(source="c")])
    assert [pooling.one_row(table, floor, source=name)["x"] for name in "abc"] == [4, 5, 6]
    alone = pd.concat([bar(source="a"), bar("one", low="two", source="a")]).drop_duplicates("model")
    assert pooling.one_row(table, alone, source="a")["x"] == 1
    (said,) = text.nobody(floor, "c")
    assert "low comes nearest, right in 38% of 40 questions where that answer is in 30%." in said.text
    assert not text.nobody(floor, "a")


def test_models_at_the_floor_are_in_no_mean() -> None:
    ranked = pd.concat([made(TWO, 10), made({"low": 0.0}, 10)])
    own = ranked[ranked["twin"] == "target"]
    table = by_model(own, ucm_table, floor=bar("one", "two")).set_index("model")["understand"]
    assert table[MEAN] == pytest.approx(table[list(TWO)].mean()) and table["low"] == 0
    assert MEAN not in set(by_model(own[own["model"] != "two"], ucm_table, floor=bar("one"))["model"])
    none = pd.concat([bar(low=name) for name in ("one", "two", "low")])
    every = by_model(own, ucm_table, floor=none).set_index("model")["understand"]
    assert every[MEAN] == pytest.approx(table[[*TWO, "low"]].mean())


def test_sources_with_few_triples_are_not_shown_unless_there_are_no_others() -> None:
    assert pooling.sources_shown(pd.Series({"a": 2, "b": 20, "c": 743})) == ["c", "b"]
    assert pooling.sources_shown(pd.Series({"a": 2, "b": 19})) == ["b"]


@given(st.lists(st.integers(1, 60), min_size=1, max_size=30))
def test_classes_cover_all_numbers_and_keep_equal_ones_together(numbers: list[int]) -> None:
    rows = pd.DataFrame({"source": "a", "triple_id": range(len(numbers)), "golds": numbers})
    labels = classes(rows, "golds")
    assert 1 <= labels.nunique() <= 3
    for label, part in rows.groupby(labels):
        ends = sorted({part["golds"].min(), part["golds"].max()})
        assert str(label) == " to ".join(map(str, ends)) and lowest(str(label)) == ends[0]
        assert not set(part["golds"]) & set(rows.loc[labels != label, "golds"])


def test_a_number_made_of_means_has_the_interval_of_its_documents() -> None:
    rows = pd.DataFrame({"doc_id": [*"aabbccddee"]})
    first, second = np.arange(10) % 2 == 0, np.arange(10) % 2 == 1
    columns = [([4, 0, 2, 0, 3, 0, 3, 0, 3, 0], first), ([0, 1] * 5, second)]
    estimate, low, high, *_ = measured(rows, columns, pooling.less)
    assert estimate == 2.0 and 1.0 <= low < 2.0 < high <= 3.0
    large = pd.concat([rows, pd.DataFrame({"doc_id": ["a"] * 40})], ignore_index=True)
    fours = np.full(40, 4.0)
    more = [(np.r_[value, fours], np.r_[which, fours > 4 * n]) for n, (value, which) in enumerate(columns)]
    by_row, by_document = (measured(large, more, pooling.less, once=once) for once in (False, True))
    assert by_row[0] > 2.8 and np.isnan(by_row[1]) and by_document[:3] == pytest.approx((estimate, low, high))
    assert np.isnan(measured(rows, [([1] * 10, [False] * 10)])[0])


def test_within_relations_groups_of_another_mix_do_not_differ() -> None:
    generator = np.random.default_rng(0)
    relation = ["easy"] * 60 + ["hard"] * 60 + ["alone"] * 10
    told = np.r_[np.arange(60) < 50, np.arange(60) < 10, np.ones(10)].astype(bool)  # most of the easy ones are told
    value = np.r_[np.full(60, 0.9), np.full(60, 0.1), np.full(10, 0.5)] + 0.01 * generator.random(130)
    rows = pd.DataFrame({"relation": relation, "triple_id": range(130), "doc_id": range(130)})
    cells = [(value, told), (value, ~told)]
    assert measured(rows, cells, pooling.less)[0] > 0.4
    estimate, low, high, *_ = pooling.within_relations(rows, cells, pooling.less)
    assert low < 0 < high and abs(estimate) < 0.01
    parts = [rows["relation"] == name for name in ("easy", "hard")]
    assert estimate == pytest.approx(np.mean([value[p & told].mean() - value[p & ~told].mean() for p in parts]))
    alone = [(value[-10:], told[-10:]), (value[-10:], ~told[-10:])]
    assert np.isnan(pooling.within_relations(rows.tail(10), alone, pooling.less)[0])


def test_only_triples_with_a_step_that_counts_remain() -> None:
    ranked = made({"one": 0.5}, 3)
    alone = (ranked["triple_id"] == "1") & (ranked["added"] == "R1")
    assert set(several(ranked[~alone])["triple_id"]) == {"0", "2"}


def test_an_interval_lies_on_a_side_or_on_both() -> None:
    words = ("up", "down", "neither")
    assert [pooling.sided(*ends, words) for ends in ((1, 2), (-2, -1), (-1, 1))] == ["up", "down", "neither"]


def test_ours_stand_beside_what_the_paper_prints() -> None:
    rows = pd.DataFrame([{"source": "trex", "model": "m", "understand": 0.25, "understand_low": 0.1, "steps": 9}])
    rows = rows.assign(understand_high=0.4)
    numbers, shown = paper.beside_paper(rows, {"understand": ("U", "target U")}, "3")
    assert len(numbers) == len(shown) == 13 and shown.loc[0, "U"] == "0.25 [0.10,\N{NO-BREAK SPACE}0.40]"
    printed = numbers.query("source == @PRINTED").set_index("model")["understand"]
    assert printed["BERT-base"] == 0.205 and "Paper: BERT-base" in set(shown["Model"])
    assert shown.set_index("Model").loc["Paper: BioBERT", "U"] == "0.32" and "Source" not in shown
    asked = paper.beside_paper(rows.assign(model="roberta-base-pm"), {"understand": ("U", "target U")}, "3")
    assert asked[1]["Model"].tolist()[1:3] == ["Paper: RoBERTa", "Paper: BERT-base"] and len(asked[1]) == 13
    assert asked[0]["model"].tolist()[:2] == ["roberta-base-pm", "RoBERTa"] and asked[0].loc[1, "understand"] == 0.301
    alone, short = paper.beside_paper(rows, {"understand": ("U", "target U")}, short=["understand"])
    assert len(alone) == 1 and short.loc[0, "U"] == "0.25" and PRINTED not in set(alone["source"])
