"""Bootstrap draws of means, and p-values of draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probekit.metrics import (
    Drawn,
    bootstrap_ci,
    bootstrap_means,
    crossed_means,
    estimate_row,
    interval,
    resampled_means,
    spread,
    two_sided,
)


def test_draws_of_means_share_one_draw_and_keep_clusters_whole():
    values = np.array([[1.0, 2.0], [0.0, 1.0], [0.0, 1.0], [1.0, 2.0]])
    drawn = resampled_means(values, ["a", "b", "b", "c"], samples=200)
    assert drawn.shape == (200, 2) and np.allclose(drawn[:, 1], drawn[:, 0] + 1)
    assert {round(x, 6) for x in drawn[:, 0]} <= {
        round(a / (a + 2 * b), 6) for a, b in ((0, 3), (1, 2), (2, 1), (3, 0))
    }
    only = resampled_means(values, list("abcd"), [[1, 1], [0, 1], [0, 1], [1, 1]], samples=500)
    kept = only[:, 0][np.isfinite(only[:, 0])]
    assert (kept == 1).all() and len(kept) < 500  # a draw without any row that counts has no mean
    with pytest.raises(ValueError, match="do not fit"):
        resampled_means(values, ["a"])


def test_the_interval_agrees_with_the_plain_bootstrap():
    values = np.random.default_rng(1).random(300)
    low, high, _ = interval(resampled_means(values[:, None], range(300), samples=4000)[:, 0], 300)
    plain = bootstrap_ci(values, samples=4000)
    assert low == pytest.approx(plain.low, abs=0.003) and high == pytest.approx(plain.high, abs=0.003)


def test_p_values_of_draws_by_hand():
    many = np.inf
    assert two_sided([1, 2, 3], many) == pytest.approx(0.5)  # none at or below zero: 2 (0 + 1) / (3 + 1)
    assert two_sided([-1, 1, 2, np.nan], many) == two_sided([0, 0], many) == two_sided([1e-15] * 9, many) == 1.0
    assert np.isnan(two_sided([np.nan], many)) and np.isnan(two_sided([1, 2, 3], 4.9))


@given(st.floats(-1, 1), st.integers(0, 1000), st.sampled_from([5, 10, 30, np.inf]))
def test_a_p_value_is_small_where_the_interval_leaves_zero_out(shift, seed, units):
    draws = np.random.default_rng(seed).normal(shift, 0.3, 3999)
    low, high, _ = interval(draws, units)
    p = two_sided(draws, units)
    assert p == two_sided(-draws, units) and 0 < p <= 1
    if p < 0.045:
        assert low > 0 or high < 0
    if p > 0.055:
        assert low <= 0 <= high


def test_crossed_draws_count_a_row_as_often_as_both_its_kinds_are_drawn():
    generator = np.random.default_rng(3)
    units = [(a, b) for a in "abc" for b in "xy"][:-1]
    values, counted = generator.random((5, 2)), np.array([[1, 1], [0, 1], [1, 1], [1, 0], [1, 1]])
    drawn = crossed_means(values, units, counted, samples=40, seed=7)
    again = np.random.default_rng(7)
    first = again.multinomial(3, np.full(3, 1 / 3), size=40)
    second = again.multinomial(2, np.full(2, 1 / 2), size=40)
    for sample in range(40):
        sums = np.zeros((2, 2))
        for row, (a, b) in enumerate(units):
            weight = first[sample]["abc".index(a)] * second[sample]["xy".index(b)]
            sums += weight * np.array([values[row] * counted[row], counted[row]])
        with np.errstate(invalid="ignore"):
            assert drawn[sample] == pytest.approx(sums[0] / sums[1], nan_ok=True)
    with pytest.raises(ValueError, match="do not fit"):
        crossed_means(values, units[:-1])


def test_crossed_draws_of_one_kind_are_those_of_its_units():
    values = np.random.default_rng(1).random((200, 1))
    units = [(row, "") for row in range(200)]
    assert crossed_means(values, units) == pytest.approx(resampled_means(values, range(200)))


def test_rows_of_an_estimate_have_the_interval_of_its_draws():
    values, facts = np.random.default_rng(2).random(40), np.repeat(range(20), 2).tolist()
    whole = bootstrap_ci(values, facts)
    draws = bootstrap_means(values, facts)[:, 0]
    assert whole.row("share") == estimate_row(whole.estimate, draws, facts, "share")
    assert list(whole.row()) == ["estimate", "low", "high"]
    drawn = Drawn(np.asarray(whole.estimate), draws, whole.effective)
    assert drawn.row() == whole.row() and spread("a", drawn) == spread("a", whole)
    assert list(spread("a", whole)) == ["a", "a_low", "a_high"]
