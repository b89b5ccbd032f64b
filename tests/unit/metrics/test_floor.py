"""The floor by hand and against a count over all constant answers; models at it are marked row by row."""

from collections import Counter

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probekit.metrics import at_floor, at_floor_in_both, constant_hits, floors, hits_at_k, with_floors


def asked(objects: list[str], ranks: list[int], model: str = "m", style: str = "natural", entities: int = 4):
    about = {"model": model, "probe": f"d/{style}", "dataset": "d", "candidates": entities}
    facts = [str(i) for i in range(len(objects))]
    return pd.DataFrame({**about, "object": objects, "rank": ranks, "fact_id": facts})


def test_the_floor_is_the_best_constant_answer():
    objects = ["a"] * 30 + ["b"] * 20 + ["c"] * 50
    right = floors(asked(objects, [1] * 90 + [2] * 10)).iloc[0]
    assert right[["constant", "overall", "uniform", "accuracy", "floor"]].to_list() == [0.5, 0.5, 0.25, 0.9, False]
    assert right["gain"] == pytest.approx(0.4) and right["gain_low"] > 0.2
    constant = floors(asked(objects, [2] * 50 + [1] * 50)).iloc[0]
    assert (constant["accuracy"], constant["gain"], constant["floor"]) == (0.5, 0, True)


def test_a_uniform_guess_is_a_floor_where_all_answers_differ():
    found = floors(asked([str(i) for i in range(20)], [2] * 20, entities=2)).iloc[0]
    assert (found["constant"], found["uniform"], found["floor"]) == (0, 0.5, True)
    assert floors(asked([str(i) for i in range(20)], [1] * 8 + [5] * 12, entities=20), ks=[1, 5])["floor"].tolist() == [
        False,
        False,
    ]


def test_an_interval_that_ends_at_zero_is_at_the_floor_however_it_is_rounded():
    edge = floors(asked([str(i) for i in range(20)], [1] * 5 + [5] * 15, entities=20)).iloc[0]
    assert abs(edge["gain_low"]) < 1e-12 and edge["floor"]


def test_a_model_that_knows_each_relation_s_commonest_answer_and_no_more_is_at_the_floor():
    objects, relations = ["a"] * 12 + ["b", "c"] * 4 + ["d"] * 9 + ["e", "f", "g"], ["r"] * 20 + ["s"] * 12
    prior = [1 if name in "ad" else 2 for name in objects]
    rows = asked(objects, prior).assign(relation=relations, candidates=100)
    found = floors(rows).iloc[0]
    assert (found["constant"], found["overall"], found["floor"]) == (21 / 32, 12 / 32, True)
    assert not floors(rows.assign(relation="")).iloc[0]["floor"], "the bar of one answer for all lets it pass"
    knows = floors(rows.assign(rank=[1] * 28 + [2] * 4)).iloc[0]
    assert knows["gain"] == pytest.approx(7 / 32) and not knows["floor"]


def test_where_a_relation_has_candidates_of_its_own_one_answer_is_given_in_each():
    objects, pools = ["a"] * 3 + ["b"] * 4 + ["c"] + ["d"] * 2, ["r"] * 7 + ["s"] * 3
    rows = asked(objects, [1] * 10).assign(pool=pools, candidates=[2] * 7 + [4] * 3)
    found = floors(rows).iloc[0]
    assert found["overall"] == pytest.approx((4 + 2) / 10) and found["uniform"] == pytest.approx((7 / 2 + 3 / 4) / 10)
    assert floors(rows.assign(pool="")).iloc[0]["overall"] == 0.4


@pytest.mark.parametrize("size", [1, 2])
def test_one_answer_to_everything_is_at_the_floor_however_few_prompts_a_relation_has(size: int) -> None:
    objects = ["London" if i % 4 == 0 else f"{i}" for i in range(80)]
    rows = asked(objects, [1 if name == "London" else 2 for name in objects], entities=100)
    for relation in ([i // size for i in range(80)], [f"{i // size}" for i in range(80)], [None] * 80):
        assert floors(rows.assign(relation=relation)).iloc[0]["floor"], "numbers, words or nothing"


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("rs"), st.integers(1, 3)), min_size=2, max_size=30))
@settings(max_examples=30)
def test_no_constant_answer_beats_the_floor(rows):
    objects, relations, ranks = [list(side) for side in zip(*rows, strict=True)]
    found = floors(asked(objects, ranks).assign(relation=relations)).iloc[0]
    counts = {r: Counter(o for o, other in zip(objects, relations, strict=True) if other == r) for r in "rs"}
    best = {r: max(names.values(), default=0) for r, names in counts.items()}
    assert found["constant"] == sum(n for n in best.values() if n > 1) / len(objects)
    if (hits_at_k(ranks, 1) == 0).all() or len(rows) < 5:
        assert found["floor"]  # of few prompts there is no interval, and none lies above


@given(st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True), min_size=1, max_size=12))
def test_of_several_right_answers_the_one_that_is_right_at_most_prompts_is_given(golds):
    alone = max(sum(name in right for right in golds) for name in "abcd")
    assert constant_hits(golds).sum() == (alone if alone > 1 else 0)
    assert (constant_hits(golds, k=2) >= constant_hits(golds)).all()


def test_rows_know_the_floor_of_their_model_and_probe():
    objects = ["a"] * 20 + [str(i) for i in range(20)]
    parts = [asked(objects, [1] * 40, "good", style) for style in ("natural", "template")]
    parts += [asked(objects, [9] * 40, "half", "natural"), asked(objects, [1] * 40, "half", "template")]
    parts += [asked(objects, [9] * 40, "dead", style) for style in ("natural", "template")]
    table = with_floors(pd.concat(parts, ignore_index=True))
    low = {("half", "d/natural"), ("dead", "d/natural"), ("dead", "d/template")}
    assert {(m, p) for m, p in zip(table["model"], table["probe"], strict=True) if (m, p) in low} == low
    assert at_floor(table).tolist() == [(m, p) in low for m, p in zip(table["model"], table["probe"], strict=True)]
    assert set(table.loc[at_floor_in_both(table), "model"]) == {"dead"}
    assert not at_floor(table.drop(columns="floor")).any()
