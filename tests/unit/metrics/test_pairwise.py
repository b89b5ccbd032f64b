"""Two models on the same prompts: differences worked out by hand, and against a loop."""

import itertools

import numpy as np
import pytest
from scipy import stats

from probekit.metrics import bootstrap_ci, rank_differences

FIRST, SECOND, FACTS = [1, 1, 2, 20, 1], [1, 4, 1, 5, 10], ["a", "b", "b", "c", "d"]


def test_differences_of_a_case_worked_by_hand():
    rows = rank_differences(FIRST, SECOND, FACTS).set_index("measure")
    assert set(rows["prompts"]) == {5} and set(rows["facts"]) == {4}
    assert rows.loc["Acc@1", ["mean_first", "mean_second", "difference"]].tolist() == pytest.approx([0.6, 0.4, 0.2])
    assert rows.loc["Acc@10", "difference"] == pytest.approx(0.8 - 1.0)
    assert rows.loc["MRR", "mean_first"] == pytest.approx((1 + 1 + 0.5 + 0.05 + 1) / 5)
    assert rows.loc["MRR", "mean_second"] == pytest.approx((1 + 0.25 + 1 + 0.2 + 0.1) / 5)
    # Acc@1 by fact: a 0, b 1 - 1 = 0, c 0, d 1: of the two flips of d each is as far from zero
    assert rows.loc["Acc@1", "p"] == 1.0
    # MRR by fact: b 1.25 - 1.25 ... all sign flips of the facts that differ
    gaps = [1 + 0.5 - 0.25 - 1, 0.05 - 0.2, 1 - 0.1]
    sums = [abs(sum(s * g for s, g in zip(signs, gaps, strict=True))) for signs in itertools.product((1, -1), repeat=3)]
    assert rows.loc["MRR", "p"] == np.mean([one >= abs(sum(gaps)) - 1e-12 for one in sums])


def test_intervals_draw_facts_not_prompts():
    first, second, facts = [*FIRST, 2, 9, 1, 4], [*SECOND, 1, 3, 2, 4], [*FACTS, *"efgh"]
    rows = rank_differences(first * 8, second * 8, facts * 8).set_index("measure")
    few = rank_differences(first, second, facts).set_index("measure")
    assert rows.loc["MRR", ["low", "high"]].tolist() == pytest.approx(few.loc["MRR", ["low", "high"]].tolist())
    gaps = 1 / np.array(first) - 1 / np.array(second)
    assert few.loc["MRR", "low"] == bootstrap_ci(gaps, facts).low > bootstrap_ci(gaps).low - 1


def test_where_nothing_differs_the_interval_is_not_a_point():
    row = rank_differences([3] * 5, [4] * 5, list("abcde")).set_index("measure").loc["Acc@1"]
    widest = stats.binomtest(0, 5).proportion_ci().high
    assert (row["difference"], row["p"]) == (0.0, 1.0)
    assert (row["low"], row["high"]) == pytest.approx((-widest, widest))
    row = rank_differences([1] * 5, [4] * 5, list("abcde")).set_index("measure").loc["Acc@1"]
    assert (row["low"], row["high"]) == pytest.approx((1 - 2 * widest, 1.0))


def test_a_measure_that_no_candidate_could_miss_is_left_out():
    every = ["Acc@1", "Acc@10", "MRR"]
    for candidates, names in ((10, ["Acc@1", "MRR"]), (11, every), (1, every)):
        assert rank_differences([1, 2], [3, 4], "ab", candidates=candidates)["measure"].tolist() == names


def test_lists_that_do_not_fit_are_refused():
    cases = ([1, 2], [1], "same length"), ([], [], "non-empty"), ([0, 1], [1, 1], "start at 1")
    for first, second, said in cases:
        with pytest.raises(ValueError, match=said):
            rank_differences(first, second, list("ab")[: len(first)])
