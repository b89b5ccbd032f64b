"""The floor by hand and against a count over all constant answers; models at it are marked row by row."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probekit.metrics import at_floor, at_floor_in_both, floors, hits_at_k, share_ci, with_floors


def asked(objects: list[str], ranks: list[int], model: str = "m", style: str = "natural", entities: int = 4):
    about = {"model": model, "probe": f"d/{style}", "dataset": "d", "candidates": entities}
    facts = [str(i) for i in range(len(objects))]
    return pd.DataFrame({**about, "object": objects, "rank": ranks, "fact_id": facts})


def test_the_floor_is_the_best_constant_answer():
    objects = ["a"] * 30 + ["b"] * 20 + ["c"] * 50
    right = floors(asked(objects, [1] * 90 + [2] * 10)).loc[("m", "d/natural")]
    assert (right["constant"], right["uniform"], right["acc@1"], right["floor"]) == (0.5, 0.25, 0.9, False)
    constant = floors(asked(objects, [2] * 50 + [1] * 50)).loc[("m", "d/natural")]
    assert constant["acc@1"] == 0.5 and constant["floor"]


def test_a_uniform_guess_is_a_floor_where_all_answers_differ():
    found = floors(asked([str(i) for i in range(20)], [2] * 20, entities=2)).iloc[0]
    assert (found["constant"], found["uniform"], found["floor"]) == (0.05, 0.5, True)
    assert found["low@1"] == 0 and found["high@1"] == pytest.approx(0.168, abs=0.001)  # exact: 1 - 0.025 ** (1 / 20)


def test_where_a_relation_has_candidates_of_its_own_so_has_the_constant_answer():
    objects, pools = ["a"] * 3 + ["b"] * 4 + ["c"] + ["d"] * 2, ["r"] * 7 + ["s"] * 3
    rows = asked(objects, [1] * 10).assign(pool=pools, candidates=[2] * 7 + [4] * 3)
    found = floors(rows).iloc[0]
    assert found["constant"] == pytest.approx((4 + 2) / 10) and found["uniform"] == pytest.approx((7 / 2 + 3 / 4) / 10)
    assert floors(rows.assign(pool="")).iloc[0]["constant"] == 0.4


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 3)), min_size=2, max_size=30))
@settings(max_examples=30)
def test_no_constant_answer_beats_the_floor(rows):
    objects, ranks = [list(side) for side in zip(*rows, strict=True)]
    found = floors(asked(objects, ranks)).iloc[0]
    assert found["constant"] == max(sum(o == name for o in objects) for name in "abc") / len(objects)
    if (hits_at_k(ranks, 1) == 0).all():
        assert found["floor"]
        assert found["high@1"] == pytest.approx(share_ci([0.0] * len(ranks)).high, nan_ok=True)
    if len(rows) < 5:
        assert found["floor"]  # no interval is none above the constant


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
