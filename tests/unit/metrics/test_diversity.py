"""How varied answers are: the measures, and random halves of the facts, by hand and by property."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probekit.metrics import effective_number, gini, half_samples, repetition, total_variation

COUNTS = st.lists(st.integers(0, 9), min_size=1, max_size=8).filter(any)
CODES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=2, max_size=12)


def test_effective_number_by_hand():
    assert effective_number([3, 0, 0]) == 1 and effective_number([2, 2, 2, 0]) == pytest.approx(3)
    assert effective_number([1, 3]) == pytest.approx(4 / 3**0.75)


@given(COUNTS)
def test_gini_is_the_mean_difference_of_all_pairs(counts):
    pairs = [abs(a - b) for a, b in itertools.product(counts, counts)]
    assert gini(counts) == pytest.approx(sum(pairs) / (2 * len(counts) * sum(counts)), abs=1e-12)
    assert 1 - 1e-12 <= effective_number(counts) <= len(counts) + 1e-9


def test_total_variation_by_hand():
    assert total_variation([1, 1], [2, 2]) == 0 and total_variation([4, 0], [0, 1]) == 1
    assert total_variation([1, 1], [4, 0]) == 0.5
    with pytest.raises(ValueError, match="over 1 and 2"):
        total_variation([1], [1, 1])


@pytest.mark.parametrize("counts", [[], [0, 0], [-1, 2], [np.nan], [[1]]])
def test_counts_that_are_none(counts):
    with pytest.raises(ValueError, match="counts"):
        effective_number(counts)


@given(CODES)
def test_repetition_counts_pairs(codes):
    pairs = [(a, b) for a, b in itertools.combinations(codes, 2) if a[1] == b[1]]
    found = repetition([a for a, _ in codes], [g for _, g in codes])
    assert found == pytest.approx(np.mean([a[0] == b[0] for a, b in pairs])) if pairs else np.isnan(found)


def test_repetition_of_one_group():
    assert repetition([0, 0, 1]) == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="equally long"):
        repetition([0, 1], [0])


def test_halves_vary_as_whole_samples_do():
    values = np.random.default_rng(1).normal(size=400)
    (found,) = half_samples(400, lambda chosen: values[chosen].mean(), samples=1000)
    assert found.estimate == pytest.approx(values.mean(), abs=0.01) and (found.n, found.clusters) == (200, 400)
    assert found.high - found.low == pytest.approx(2 * 1.96 * values.std() / 20, rel=0.1)


def test_halves_leave_out_undefined_draws_and_repeat_no_fact():
    seen = half_samples(5, lambda chosen: [len(set(chosen.tolist())), float("nan"), 0 if 4 in chosen else np.nan])
    assert seen[0][:3] == (2, 2, 2) and np.isnan(seen[1][0]) and seen[2][:3] == (0, 0, 0)
    with pytest.raises(ValueError, match="at least 2"):
        half_samples(1, lambda chosen: 0)
