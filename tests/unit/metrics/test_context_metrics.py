"""Rank change and UCM: cases worked by hand, and what must hold of all steps."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import probekit as pk
from probekit.metrics.context import context_accuracy, counted, rank_change_table, ucm_table

# Two triples of one relation, one of another. Triple a: four steps after S1, three with a correct O_a.
STEPS = pd.DataFrame(
    [
        # triple, relation, step, last, added, added_correct, before, after, rc_added, rc_correct, rc_incorrect
        ("a", "r", 1, False, "t", True, 9, 5, -4.0, np.nan, np.nan),
        ("a", "r", 2, False, "c", True, 5, 3, -6.0, np.nan, np.nan),
        ("a", "r", 3, False, "w", False, 3, 4, -2.0, 1.0, np.nan),
        ("a", "r", 4, False, "d", True, 4, 1, -8.0, -3.0, 2.0),
        ("a", "r", 5, True, "e", True, 1, 1, -1.0, 0.0, 0.0),
        ("b", "r", 1, False, "t", True, 2, 1, -1.0, np.nan, np.nan),
        ("b", "r", 2, True, "c", True, 1, 4, -5.0, np.nan, np.nan),
        ("z", "s", 1, False, "t", True, 6, 2, -4.0, np.nan, np.nan),
        ("z", "s", 2, True, "c", True, 2, 2, 0.0, np.nan, np.nan),
    ],
    columns=["triple_id", "relation", "step", "last", "added", "added_correct", "rank_before", "rank_after",
             "rc_added", "rc_correct", "rc_incorrect"],
).assign(centre="t", variant="real", twin="target", model="m")  # fmt: skip
STEPS["doc_id"] = STEPS["triple_id"].map({"a": "d", "b": "d", "z": "e"})
STEPS["any_before"], STEPS["any_after"] = (STEPS[f"rank_{when}"].clip(upper=4) for when in ("before", "after"))
STEPS["rc_centre"] = pk.metrics.rank_change(STEPS["rank_before"], STEPS["rank_after"])


def test_a_rise_is_negative():
    assert pk.metrics.rank_change([5, 3, 3], [2, 3, 9]).tolist() == [-3, 0, 6]
    with pytest.raises(ValueError, match="equally long"):
        pk.metrics.rank_change([1], [1, 2])
    with pytest.raises(ValueError, match="start at 1"):
        pk.metrics.rank_change([1], [np.nan])


def test_steps_that_count_add_a_correct_entity_other_than_the_centre():
    assert STEPS.index[counted(STEPS)].tolist() == [1, 3, 4, 6, 8]


def test_pooled_shares():
    (row,) = ucm_table(STEPS, ["model"]).to_dict("records")  # changes -2, -3, 0, +3, 0
    assert (row["understand"], row["confuse"], row["misunderstand"]) == pytest.approx((2 / 5, 2 / 5, 1 / 5))
    assert (row["steps"], row["triples"], row["documents"]) == (5, 3, 2)
    assert row["already_first"] == 2 / 5  # the last step of a and that of b begin at rank 1


def test_shares_by_triple_and_relation():
    (by_triple,) = ucm_table(STEPS, ["model"], per_triple=True).to_dict("records")
    # a: 2/3, 1/3, 0; b: 0, 0, 1; z: 0, 1, 0
    assert by_triple["understand"] == pytest.approx((2 / 3 + 0 + 0) / 3)
    (row,) = ucm_table(STEPS, ["model"], "relation", per_triple=True).to_dict("records")
    assert row["understand"] == pytest.approx(((2 / 3 + 0) / 2 + 0) / 2)
    assert row["confuse"] == pytest.approx(((1 / 3 + 0) / 2 + 1) / 2)
    assert row["misunderstand"] == pytest.approx(((0 + 1) / 2 + 0) / 2)
    pooled = ucm_table(STEPS, ["model"], "relation")
    assert pooled["understand"][0] == pytest.approx((2 / 4 + 0) / 2)
    apart = ucm_table(STEPS, ["relation"], per_triple=True)
    assert apart["relation"].tolist() == ["r", "s"] and apart["confuse"].tolist() == pytest.approx([1 / 6, 1])


def test_a_step_whose_input_does_not_change_is_none():
    seen = STEPS.assign(cut=[False] * 8 + [True], same=[False, True] + [False] * 7)
    assert seen.index[counted(seen)].tolist() == [3, 4, 6]


def test_intervals_draw_whole_documents():
    found = pk.metrics.ucm([-1] * 10 + [1], ["a"] * 10 + ["b"], samples=500)
    assert found.understand.estimate == pytest.approx(10 / 11) and np.isnan(found.understand.low)
    assert found.misunderstand.clusters == 2 and found.misunderstand.n == 11
    changes, triples = [-1, -1, 1, 1] * 20, [str(i) for i in range(80)]
    apart = pk.metrics.ucm(changes, triples).understand
    together = pk.metrics.ucm(changes, triples, [i // 2 for i in range(80)]).understand
    assert together.clusters == 40 and apart.clusters == 80
    assert together.high - together.low > 1.2 * (apart.high - apart.low)  # pairs that agree: root 2 in theory
    one = pk.metrics.ucm([-1, 1], ["a", "b"], ["d", "d"]).understand
    assert one.estimate == 0.5 and np.isnan(one.low)


def test_shares_of_nothing_and_of_all_have_exact_intervals():
    sure = pk.metrics.ucm([-1, -2, -1, -3, -1], list("abcde"))
    assert (sure.understand.estimate, sure.understand.high) == (1, 1)
    assert sure.understand.low == pytest.approx(0.025 ** (1 / 5))
    assert sure.confuse.high == pytest.approx(1 - 0.025 ** (1 / 5))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (([], []), "do not fit"),
        (([1], ["a"], None, ["r", "s"]), "do not fit"),
        (([1], ["a"], ["d", "e"]), "do not fit"),
        (([np.nan], ["a"]), "needs a rank change"),
    ],
)
def test_what_cannot_be_shared_out(labels, message):
    with pytest.raises(ValueError, match=message):
        pk.metrics.ucm(*labels)


def test_rank_changes_by_the_kind_of_the_added_entity():
    table = rank_change_table(STEPS, ["model"]).set_index(["added_correct", "change"])
    assert table.loc[(True, "rc_centre"), "mean"] == pytest.approx((-2 - 3 + 0 + 3 + 0) / 5)
    assert table.loc[(True, "rc_added"), "mean"] == pytest.approx((-6 - 8 - 1 - 5 + 0) / 5)
    assert table.loc[(True, "rc_correct"), "mean"] == pytest.approx((-3 + 0) / 2)
    assert table.loc[(True, "rc_correct"), "steps"] == 2 and table.loc[(True, "rc_correct"), "triples"] == 1
    assert table.loc[(False, "rc_centre"), "mean"] == 1 and table.loc[(False, "rc_correct"), "mean"] == 1
    assert (False, "rc_incorrect") not in table.index  # never defined there
    assert rank_change_table(STEPS, ["model"], first_step=True)["steps"].max() == 8


def test_accuracy_without_and_with_context():
    anyone = context_accuracy(STEPS, ["model"], ks=(1, 4)).set_index("k")
    assert anyone.loc[4, ["without", "with", "gain"]].tolist() == [1, 1, 0] and anyone.loc[4, "documents"] == 2
    table = context_accuracy(STEPS, ["model"], ks=(1, 5), gold="single").set_index("k")
    assert table.loc[1, ["without", "with"]].tolist() == pytest.approx([0, 1 / 3])  # ranks 9, 2, 6 and 1, 4, 2
    assert table.loc[5, ["without", "with"]].tolist() == pytest.approx([1 / 3, 1])
    assert table.loc[5, "gain"] == pytest.approx(2 / 3) and table.loc[5, "contexts"] == table.loc[5, "triples"] == 3
    with pytest.raises(ValueError, match="one first and one last step"):
        context_accuracy(pd.concat([STEPS, STEPS]), ["model"])
    with pytest.raises(ValueError, match="one first and one last step"):
        context_accuracy(STEPS[~STEPS["last"]], ["model"])


STEP = st.tuples(st.integers(-3, 3), st.sampled_from("abcdefg"), st.sampled_from("rs"))


@given(st.lists(STEP, min_size=1, max_size=30))
@settings(max_examples=30)
def test_ucm_equals_a_plain_count_and_intervals_hold_it(steps):
    changes, triples, strata = zip(*steps, strict=True)

    def shares(chosen: list[int]) -> np.ndarray:
        return np.array([np.mean([np.sign(c) == sign for c in chosen]) for sign in (-1, 0, 1)])

    means = []
    for stratum in set(strata):
        own = {t: [c for c, u, s in steps if (u, s) == (t, stratum)] for _, t, s in steps if s == stratum}
        means.append(np.mean(list(map(shares, own.values())), axis=0))
    pooled = pk.metrics.ucm(changes, triples, samples=200), shares(changes)
    nested = pk.metrics.ucm(changes, triples, None, strata, per_triple=True, samples=200), np.mean(means, axis=0)
    for found, expected in (pooled, nested):
        assert [share.estimate for share in found] == pytest.approx(expected)
        for share in found:
            assert np.isnan(share.low) if share.effective < 5 else 0 <= share.low <= share.high <= 1
