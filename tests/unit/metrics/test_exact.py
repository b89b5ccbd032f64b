"""Exact tests over few units: p-values counted by hand, and other ways to the same numbers."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from probekit.metrics.bootstrap import paired_permutation_test
from probekit.metrics.decisions import TOO_FEW, decided
from probekit.metrics.exact import apart, associated, drawn_together, paired, redrawn, relabelled, tau_b

FEW_NUMBERS = st.lists(st.integers(-4, 4), min_size=2, max_size=8)


def test_paired_flips_every_sign():
    found = paired([1, 2, 3, 4])  # of 16 flips only all and none reach a sum of 10
    assert (found.estimate, found.p, found.least, found.n) == (2.5, 2 / 16, 2 / 16, 4)
    assert math.isnan(found.low) and math.isnan(found.high)  # no outcome over four units reaches 0.05
    assert paired([1, -2, 3]).p == 2 * 3 / 8  # sums of 2 or more: 6, 2 and 4


@given(FEW_NUMBERS)
@settings(max_examples=40, deadline=None)
def test_paired_is_the_permutation_test_of_the_package(values):
    assert paired(values).p == pytest.approx(paired_permutation_test(values, [0] * len(values)))


def test_an_interval_stands_where_the_units_can_decide():
    found = paired([1.0] * 6)
    assert (found.low, found.high, found.p, found.least) == (1, 1, 2 / 64, 2 / 64)


def test_apart_forms_all_groups():
    found = apart([5, 6, 7], [1, 2, 3, 4])  # one of 35 groups of three is as high
    assert (found.estimate, found.p, found.least, found.n) == (3.5, pytest.approx(2 / 35), 2 / 35, 7)
    assert apart([1, 2], [2, 1]).p == 1
    wide = apart([8, 9, 10, 11, 12], [1, 2, 3, 4, 5])
    assert wide.p == pytest.approx(2 / 252) and wide.low > 0
    few = apart([8, 9, 10, 11], [1, 2, 3, 4])  # p can be small where an interval would be none
    assert few.p == pytest.approx(2 / 70) and np.isnan(few.low)


def test_models_of_one_lineage_count_once():
    """By the mean over them: four lineages gain 1 to 4, whose signs 2 of 16 flips leave alike."""
    found = paired([1, 2, 2, 3, 3, 3, 3, 5], lineages=list("abbccccd"))
    assert (found.estimate, found.p, found.least, found.n) == (11 / 4, 2 / 16, 2 / 16, 4)
    same = associated([*range(8), 7], [*range(8), 7], lineages=list("abcdefghh"))
    assert (same.estimate, same.n) == (1, 8) and same.p <= 4 / 10_000
    few = associated([*range(8)], [*range(8)], lineages=list("abcdefgg"))
    assert (few.estimate, few.least, few.n) == (1, 1, 7) and math.isnan(few.p) and math.isnan(few.low)


def test_a_statistic_of_models_draws_their_lineages():
    rows = np.arange(12.0)
    apart_ = drawn_together(lambda drawn: float(rows[drawn].mean()), list("abcdefghijkl"))
    assert apart_.low > 0 and (apart_.n, apart_.least) == (12, 2 / 2001) and apart_.p < 0.01
    kin = drawn_together(lambda drawn: float(rows[drawn].mean()), list("aaaaaaaabcde"))
    assert math.isnan(kin.low) and math.isnan(kin.p) and (kin.n, kin.least) == (5, 1)


def test_association_tries_all_orders():
    found = associated([1, 2, 3, 4], [2, 4, 6, 8], "pearson")
    assert (found.estimate, found.p, found.least) == (pytest.approx(1), pytest.approx(2 / 24), 2 / 24)
    assert associated([1, 2, 3, 4, 5], [5, 4, 3, 2, 1]).p == pytest.approx(2 / 120)
    many = associated(range(10), range(10))  # of 3.6 million orders 9,999 are drawn
    assert (many.estimate, many.least) == (1, 2 / 10_000) and many.p <= 4 / 10_000


@given(FEW_NUMBERS, st.randoms())
@settings(max_examples=60, deadline=None)
def test_tau_is_that_of_scipy(values, chance):
    other = [chance.randint(0, 3) for _ in values]
    wanted = stats.kendalltau(values, other).statistic
    assert float(tau_b(values, other)) == pytest.approx(wanted, nan_ok=True)
    assert float(tau_b(other, values)) == pytest.approx(wanted, nan_ok=True)


def test_tau_over_the_last_axis():
    x, y = np.array([[1, 2, 3], [1, 1, 2]]), np.array([3, 2, 1])
    assert tau_b(x, y).tolist() == pytest.approx([-1, -2 / math.sqrt(2 * 3)])


def test_labels_are_given_anew_within_strata():
    values = np.array([5.0, 1.0, 2.0, 7.0, 3.0])

    def gap(labels):
        return float(values[labels].mean() - values[~labels].mean())

    # Label 5 of {5, 1} and 7 of {2, 7, 3}: the greatest of the 2 x 3 differences.
    p, least = relabelled(gap, [True, False, False, True, False], ["a", "a", "b", "b", "b"])
    assert (p, least) == (pytest.approx(2 / 6), pytest.approx(2 / 6))
    assert relabelled(gap, [True, True, True, True, False], list("aabbb"))[1] == pytest.approx(2 / 3)


def test_rows_of_one_label_are_drawn_together():
    seen = []
    redrawn(lambda rows: float(seen.append(rows.tolist()) or 0), ["a", "b", "a"], samples=50)
    assert all(sorted(rows) in ([0, 0, 2, 2], [0, 1, 2], [1, 1]) for rows in seen)
    assert {len(rows) for rows in seen} == {2, 3, 4}


def test_tests_of_one_statement_are_one_family():
    rows = pd.DataFrame(
        {
            "statement": ["a", "a", "a", "b"],
            "estimate": [1.0, -1.0, 1.0, -1.0],
            "expected": ["above", "above", "above", "below"],
            "p": [0.02, 0.03, 0.25, 0.05],
            "least": [0.01, 0.01, 0.25, 0.01],
        }
    )
    found = decided(rows)
    assert found["p_holm"].tolist() == pytest.approx([0.04, 0.04, 1, 0.05])  # the third can decide nothing
    assert found["verdict"].tolist() == ["agrees", "contradicts", TOO_FEW, "agrees"]
    assert "expected" not in found
    assert decided(rows.assign(p=0.2))["verdict"].tolist() == ["undecided", "undecided", TOO_FEW, "undecided"]


@pytest.mark.parametrize("values", [[], [1, float("nan")], [[1, 2]]])
def test_only_lists_of_numbers_are_tested(values):
    with pytest.raises(ValueError, match="list of finite numbers"):
        paired(values)
