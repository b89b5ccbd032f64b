"""The area under the ROC curve against counting pairs by hand."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probekit.metrics import auc, auc_interval, separation

CASES = st.lists(st.tuples(st.integers(0, 6), st.booleans(), st.integers(0, 3)), min_size=1, max_size=14)


@given(CASES)
def test_auc_counts_pairs(cases):
    told = [(value, weight) for value, positive, weight in cases if positive]
    never = [(value, weight) for value, positive, weight in cases if not positive]
    pairs = [(a, b, v * w) for (a, v), (b, w) in itertools.product(told, never)]
    total = sum(weight for *_, weight in pairs)
    found = auc(*zip(*cases, strict=True)) if cases else None
    if total:
        expected = sum(weight * ((a > b) + (a == b) / 2) for a, b, weight in pairs) / total
        assert found == pytest.approx(expected)
    else:
        assert np.isnan(found)


@given(CASES)
def test_turning_values_round_turns_the_auc_round(cases):
    values, positive, _ = map(np.array, zip(*cases, strict=True))
    found, turned = auc(values, positive), auc(-values, positive)
    assert np.isnan([found, turned]).all() or found == pytest.approx(1 - turned)


def test_a_hand_worked_case():
    assert auc([3, 1, 2, 1], [True, True, False, False]) == (1 + 1 + 0 + 0.5) / 4
    assert auc([-np.inf, 2, np.inf], [False, True, True]) == 1.0
    with pytest.raises(ValueError, match="numbers"):
        auc([1.0, float("nan")], [True, False])
    for values, positive in (([1.0], [True, False]), ([], [])):
        with pytest.raises(ValueError, match="equally long"):
            auc(values, positive)


def test_the_interval_is_that_of_the_drawn_facts():
    generator = np.random.default_rng(3)
    positive = np.repeat([True, False], 60)
    values = generator.normal(size=120) + positive
    found = auc_interval(values, positive)
    assert found.estimate == pytest.approx(auc(values, positive))
    assert found.low < found.estimate < found.high and 0.05 < found.high - found.low < 0.35
    draw = np.random.default_rng(0).integers(120, size=120)
    assert auc(values, positive, np.bincount(draw, minlength=120)) == pytest.approx(auc(values[draw], positive[draw]))


def test_models_are_averaged_and_compared_on_the_same_facts():
    positive = np.array([True, True, False, False] * 10)
    right, wrong = positive.astype(float), -positive.astype(float)
    both = np.stack([right, wrong], axis=1)
    assert auc_interval(both, positive).estimate == 0.5
    assert auc_interval(right, positive, less=wrong)[:3] == (1.0, 1.0, 1.0)
    assert auc_interval(both, positive, less=both)[:3] == (0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="both groups"):
        auc_interval(right, np.ones(40))
    with pytest.raises(ValueError, match="columns"):
        auc_interval(both, positive, less=right)
    with pytest.raises(ValueError, match="equally long"):
        auc_interval(right, positive[:5])


def test_facts_are_drawn_whole():
    positive = np.repeat([True, False], 20)
    values = np.tile(np.repeat([1.0, 0.0], 10), 2)
    loose = auc_interval(values, positive)
    whole = auc_interval(values, positive, clusters=np.repeat(range(8), 5).tolist())
    assert whole.high - whole.low > loose.high - loose.low and whole.clusters == 8


@given(st.lists(st.tuples(st.integers(1, 5), st.booleans()), min_size=1, max_size=12))
def test_separation_counts_pairs(cases):
    scores, members = zip(*cases, strict=True)
    found = separation(scores, members, samples=20)
    pairs = [(a, b) for a, inside in cases if inside for b, other in cases if not other]
    if pairs:
        assert found.estimate == pytest.approx(np.mean([(a < b) + 0.5 * (a == b) for a, b in pairs]))
        mirrored = separation([-score for score in scores], members, samples=20)
        assert mirrored.draws == pytest.approx(1 - found.draws, nan_ok=True)
    else:
        assert np.isnan(found.estimate)
    known = found.draws[np.isfinite(found.draws)]
    assert ((known >= 0) & (known <= 1)).all()


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.sampled_from("rs")), min_size=1, max_size=14))
def test_separation_within_strata_compares_no_case_with_one_of_another(cases):
    scores, members, strata = zip(*cases, strict=True)
    pairs = [(a, b) for a, inside, r in cases if inside for b, other, s in cases if not other and r == s]
    found = separation(scores, members, samples=20, strata=strata)
    if pairs:
        assert found.estimate == pytest.approx(np.mean([(a < b) + 0.5 * (a == b) for a, b in pairs]))
    else:
        assert np.isnan(found.estimate)
    plain = separation(scores, members, samples=20)
    assert separation(scores, members, samples=20, strata=["r"] * len(cases)).draws == pytest.approx(
        plain.draws, nan_ok=True
    )


def test_separation_draws_whole_clusters():
    scores, members = [1, 1, 1, 5, 5, 5], [True, True, True, False, False, True]
    whole = separation(scores, members, clusters=list("aaabbb"))
    # a alone has no non-member; b alone is 1/2; both are (3 x 2 + 2 x 1/2) / (4 x 2) = 7/8
    assert set(np.round(whole.draws[np.isfinite(whole.draws)], 3)) == {0.5, 0.875}
    assert whole.estimate == 0.875 and np.isnan(whole.draws).any()


def test_separation_refuses_what_it_cannot_count():
    for scores, members in (([], []), ([1.0], [True, False]), ([float("nan")], [True])):
        with pytest.raises(ValueError, match="auc needs"):
            separation(scores, members)
