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


@pytest.mark.parametrize("labels", ["rs", "r"])
@given(st.data())
def test_separation_counts_pairs_of_one_stratum(labels, data):
    case = st.tuples(st.integers(0, 4), st.booleans(), st.sampled_from(labels))
    cases = data.draw(st.lists(case, min_size=1, max_size=14))
    scores, members, strata = zip(*cases, strict=True)
    found = separation(scores, members, samples=20, strata=strata)
    pairs = [(a, b) for a, inside, r in cases if inside for b, other, s in cases if not other and r == s]
    if pairs:
        assert found.estimate == pytest.approx(np.mean([(a < b) + 0.5 * (a == b) for a, b in pairs]))
    else:
        assert np.isnan(found.estimate)
    mirrored = separation([-score for score in scores], members, samples=20, strata=strata)
    assert mirrored.draws == pytest.approx(1 - found.draws, nan_ok=True)
    known = found.draws[np.isfinite(found.draws)]
    assert ((known >= 0) & (known <= 1)).all()
    if len(set(strata)) == 1:
        assert separation(scores, members, samples=20).draws == pytest.approx(found.draws, nan_ok=True)


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
