"""Every metric against cases worked by hand, slow re-implementations, and properties that must hold for any input."""

import itertools
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from probekit.metrics import (
    accuracy_at_k,
    accuracy_table,
    bootstrap_ci,
    bootstrap_means,
    effective_units,
    hits_at_k,
    interval,
    kendall_tau,
    macro_average,
    mean_reciprocal_rank,
    paired_permutation_test,
    pearson,
    resampled_means,
    share_ci,
    spearman,
)

RANKS = st.lists(st.integers(1, 60), min_size=1, max_size=40)
WHOLE = st.lists(st.integers(-4, 4), min_size=1, max_size=7)
PAIRS = st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=2, max_size=12)
CORRELATIONS = [kendall_tau, spearman, pearson]


# Ranking


def test_ranking_worked_by_hand():
    assert [accuracy_at_k([1, 3, 10, 11, 5], k) for k in (1, 3, 5, 10, 11)] == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert hits_at_k([1.0, 1.5, 2.0, 2.5], 1).tolist() == [1, 0, 0, 0]  # half ranks of ties count by their value
    assert hits_at_k([1.0, 1.5, 2.0, 2.5], 2).tolist() == [1, 1, 1, 0]
    assert mean_reciprocal_rank([1, 2, 4]) == pytest.approx(7 / 12)  # (1 + 1/2 + 1/4) / 3


def test_macro_average_weighs_groups_alike():
    assert macro_average([1, 1, 1, 0, 0, 1], list("aaaabc")) == pytest.approx((3 / 4 + 0 + 1) / 3)
    assert macro_average([1.0, 0.0, 0.0], ["a", None, None]) == 0.5  # a missing label is a group
    assert macro_average([1.0, 0.0, 0.0], [("r", 1), ("r", 2), ("r", 2)]) == 0.5


@given(RANKS, st.integers(1, 60))
def test_ranking_equals_plain_sums(ranks, k):
    assert hits_at_k(ranks, k).tolist() == [1.0 if rank <= k else 0.0 for rank in ranks]
    assert accuracy_at_k(ranks, k) == pytest.approx(sum(rank <= k for rank in ranks) / len(ranks))
    assert accuracy_at_k(ranks, k) <= accuracy_at_k(ranks, k + 1)
    value = mean_reciprocal_rank(ranks)
    assert value == pytest.approx(math.fsum(1 / rank for rank in ranks) / len(ranks))
    assert accuracy_at_k(ranks, 1) <= value + 1e-12 and 0 < value <= 1


@pytest.mark.parametrize("ranks", [[], [[1, 2]], 3, [1, 0], [1, -2], [1, math.nan], [1, None]])
def test_what_is_no_list_of_ranks_is_refused(ranks):
    for metric in (lambda r: hits_at_k(r, 1), lambda r: accuracy_at_k(r, 1), mean_reciprocal_rank):
        with pytest.raises(ValueError, match="ranks"):
            metric(ranks)


@pytest.mark.parametrize(
    ("metric", "given", "message"),
    [
        (accuracy_at_k, ([1, 2, 0.5], 1), r"start at 1; found 0\.5"),
        (accuracy_at_k, ([1, 2], 0), "at least 1, not 0"),
        (macro_average, ([1, 0], ["a"]), "2 values for 1 group"),
        (macro_average, ([1, math.nan], ["a", "a"]), "none missing"),
        (macro_average, ([], []), "at least one value"),
    ],
)
def test_what_is_wrong_is_named(metric, given, message):
    with pytest.raises(ValueError, match=message):
        metric(*given)


# Correlation


def test_correlations_worked_by_hand():
    found = kendall_tau([1, 2, 3, 4], [1, 3, 2, 4])  # 5 pairs agree, 1 does not
    assert found.statistic == pytest.approx(4 / 6)
    assert found.n == 4
    # 24 orders of 4: 1 has 0 inversions, 3 have 1; as many at the other end
    assert found.pvalue == pytest.approx(2 * 4 / 24)

    # x ties one pair of six, y another; of the four pairs left all agree: 4 / sqrt(5 * 5)
    assert kendall_tau([1, 2, 2, 3], [1, 2, 3, 3]).statistic == pytest.approx(4 / 5)
    # 10 pairs; x ties {1,1}, {2,2}: 8 left; y ties none: 10 left; 7 agree, 1 does not: 6 / sqrt(80)
    assert kendall_tau([1, 1, 2, 2, 3], [1, 2, 4, 3, 3.5]).statistic == pytest.approx(6 / math.sqrt(80))

    # rank differences 0, 1, 1, 0: 1 - 6 * 2 / (4 * 15)
    assert spearman([10, 20, 30, 40], [1, 30, 20, 1000]).statistic == pytest.approx(0.8)

    # deviations (-1, 0, 1) and (-5/3, -2/3, 7/3): 4 / sqrt(2 * 78/9)
    found = pearson([1, 2, 3], [1, 2, 5])
    assert found.statistic == pytest.approx(4 / math.sqrt(2 * 78 / 9))
    assert found.pvalue == pytest.approx(1 - 2 / math.pi * math.asin(found.statistic))  # n = 3: arcsine law


@pytest.mark.parametrize("correlation", CORRELATIONS)
@pytest.mark.parametrize("x", [[2, 2, 2], [0.1 + 0.2] * 3])
def test_a_constant_list_has_no_correlation_and_no_warning(correlation, x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for found in (correlation(x, [1, 2, 3]), correlation([1, 2, 3], x), correlation(x, x)):
            assert math.isnan(found.statistic)
            assert math.isnan(found.pvalue)
            assert found.n == 3


@pytest.mark.parametrize("correlation", CORRELATIONS)
def test_correlations_of_too_few_missing_or_unpaired_values(correlation):
    assert [correlation(x, x).n for x in ([], [1.0])] == [0, 1]
    assert all(math.isnan(correlation(x, x).statistic) for x in ([], [1.0], [1, 2, math.nan]))
    for x, y in [([1, 2], [1, 2, 3]), ([[1, 2]], [[1, 2]]), (1, 2)]:
        with pytest.raises(ValueError, match="equally long"):
            correlation(x, y)


# Bootstrap


def naive_bootstrap(values, clusters, samples, seed, level=0.95):
    """Draw whole clusters from the same generator, write out every value drawn, take the mean."""
    labels = list(dict.fromkeys(clusters))
    members = [[v for v, c in zip(values, clusters, strict=True) if c == label] for label in labels]
    generator = np.random.default_rng(seed)
    means = []
    for _ in range(samples):
        drawn = [value for i in generator.integers(len(labels), size=len(labels)) for value in members[i]]
        means.append(sum(drawn) / len(drawn))
    sizes = [len(members[i]) for i in range(len(labels))]
    effective = sum(m**2 for m in sizes) ** 2 / sum(m**4 for m in sizes)
    if effective < 5:
        return [math.nan, math.nan]
    tail = expanded_tail(effective, level)
    return np.quantile(means, [tail, 1 - tail])


def expanded_tail(clusters, level=0.95):
    """Share of draws beyond each end of an interval (Hesterberg 2015, section 3.3)."""
    student = stats.t(clusters - 1).ppf((1 + level) / 2)
    return stats.norm.cdf(-student * math.sqrt(clusters / (clusters - 1)))


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 9)), min_size=1, max_size=20), st.integers(0, 5))
def test_bootstrap_equals_the_naive_one(rows, seed):
    values, clusters = zip(*rows, strict=True)
    found = bootstrap_ci(values, clusters, samples=40, seed=seed)
    assert (found.low, found.high) == pytest.approx(tuple(naive_bootstrap(values, clusters, 40, seed)), nan_ok=True)
    assert found.estimate == pytest.approx(np.mean(values))
    assert (found.n, found.clusters) == (len(values), len(set(clusters)))


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 9)), min_size=1, max_size=30))
@settings(max_examples=25)
def test_means_of_columns_have_the_intervals_each_would_have_alone(rows):
    first, second, clusters = zip(*rows, strict=True)
    together = bootstrap_means(np.column_stack([first, second]), clusters, samples=50, seed=2)
    for column, drawn in zip((first, second), together.T, strict=True):
        alone = bootstrap_ci(column, clusters, samples=50, seed=2)
        ends = interval(drawn, clusters)
        assert ends == pytest.approx((alone.low, alone.high, alone.effective), nan_ok=True)


def test_level_is_the_share_of_samples_within():
    values, clusters = [0, 1, 1, 5, 2, 8, 3, 4, 6, 7], [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    found = bootstrap_ci(values, clusters, level=0.5, samples=300, seed=1)
    assert (found.low, found.high) == pytest.approx(tuple(naive_bootstrap(values, clusters, 300, 1, level=0.5)))
    wide = bootstrap_ci(values, clusters, level=0.99, samples=300, seed=1)
    assert wide.low < found.low < found.high < wide.high
    other = bootstrap_ci(values, clusters, level=0.5, samples=300, seed=2)
    assert found.estimate == other.estimate and found != other


def test_a_95_percent_interval_leaves_out_the_truth_about_5_times_in_100():
    studies = np.random.default_rng(7).normal(0, 1, (40, 1000))
    ends = np.array([interval(study, 40)[:2] for study in resampled_means(studies, range(40)).T])
    assert 0.035 <= np.mean((ends[:, 0] > 0) | (ends[:, 1] < 0)) <= 0.065
    assert np.diff(ends).mean() == pytest.approx(2 * 1.96 / math.sqrt(40), rel=0.1)


def test_so_does_one_of_eight_units_and_its_plain_percentiles_do_oftener():
    studies = np.random.default_rng(3).normal(0, 1, (800, 8))
    draws = [bootstrap_means(study, samples=400, seed=i)[:, 0] for i, study in enumerate(studies)]
    ends = np.array([interval(drawn, 8)[:2] for drawn in draws])
    plain = np.quantile(draws, [0.025, 0.975], axis=1)
    assert np.mean((ends[:, 0] > 0) | (ends[:, 1] < 0)) <= 0.065 < np.mean(np.prod(plain, axis=0) > 0)


def test_few_clusters_have_intervals_as_wide_as_they_need():
    assert expanded_tail(10) == pytest.approx(0.00855, abs=1e-5)  # t = 2.2622, times sqrt(10 / 9) = 2.3845
    draws = np.arange(10_001) / 10_000
    assert interval(draws, 10) == pytest.approx((0.00855, 0.99145, 10), abs=1e-4)
    assert interval(draws, np.inf)[:2] == pytest.approx((0.025, 0.975))
    assert interval(draws, 10**6)[:2] == pytest.approx((0.025, 0.975), abs=1e-5)


def test_units_of_one_size_count_as_they_are_and_a_large_one_for_most():
    assert effective_units("aabbcc") == effective_units("abc") == pytest.approx(3) == effective_units(3)
    assert effective_units("aaab") == pytest.approx((9 + 1) ** 2 / (81 + 1))
    assert effective_units("a" * 1000 + "bcdefg") == pytest.approx(1, abs=1e-4)
    crossed = [(a, b) for a in "abcdef" for b in "xyz"]
    assert effective_units(crossed) == pytest.approx(3) and effective_units([("a", b) for b in "xyz"]) == pytest.approx(
        3
    )
    assert effective_units([("a", "x")]) == 1 and effective_units([]) == 0


def test_fewer_than_five_effective_units_have_no_interval_anywhere():
    """Twenty facts of which two hold most prompts, and four facts, tell too little; what is alike is no exception."""
    uneven = np.repeat(range(20), [40, 40, *[1] * 18])
    hits = np.arange(98) % 3 == 0
    for labels, values in ((uneven, hits), (list("abcd"), [0, 1, 1, 0])):
        for found in (bootstrap_ci(values, labels), share_ci(values, labels), share_ci(np.zeros(len(labels)), labels)):
            assert found.effective < 5 and np.isnan([found.low, found.high]).all()
        ranks = pd.DataFrame({"rank": 1 + np.asarray(values), "fact_id": labels, "model": "m"})
        assert accuracy_table(ranks, ["model"])[["low@1", "high@1", "low@10"]].isna().all(axis=None)
    assert np.isfinite(bootstrap_ci([0, 1, 1, 0, 1]).low)


def test_a_table_and_a_measure_print_one_interval():
    """Where a few facts hold many prompts, Acc@k of a table is as uncertain as the same share by itself."""
    labels = np.repeat(range(40), [4, 3, 3, *[1] * 37])
    hits = np.random.default_rng(0).integers(2, size=len(labels))
    row = accuracy_table(pd.DataFrame({"rank": 2 - hits, "fact_id": labels, "model": "m"}), ["model"], ks=[1]).iloc[0]
    alone = share_ci(hits, labels)
    assert 5 < alone.effective < 20 and (row["low@1"], row["high@1"]) == pytest.approx((alone.low, alone.high))


def test_a_share_of_none_has_an_exact_interval():
    none, every = share_ci([0] * 30, np.repeat(range(10), 3)), share_ci([1] * 5)
    assert none == pytest.approx((0, 0, 0.30850, 30, 10, 10), abs=1e-5)  # 1 - 0.025 ** (1 / 10)
    assert every == pytest.approx((1, 0.025**0.2, 1, 5, 5, 5))
    assert share_ci([0, 1, 1, 0, 1]) == bootstrap_ci([0, 1, 1, 0, 1])
    with pytest.raises(ValueError, match="0 or 1"):
        share_ci([0.5, 1])


def test_single_values_are_clusters_of_one_whatever_their_labels():
    values = [3, 1, 4, 1, 5]
    assert bootstrap_ci(values, ["e", "d", "c", "b", "a"]) == bootstrap_ci(values)
    assert bootstrap_ci(values, [(1, "x"), (2, "x"), None, 3.5, "a"]) == bootstrap_ci(values)
    assert bootstrap_ci([0.25] * 8) == (0.25, 0.25, 0.25, 8, 8, 8)


def test_a_macro_average_is_a_statistic_of_means():
    hits, relations = np.array([1, 1, 0, 1, 0, 0, 0, 1.0]), np.array([0, 0, 0, 0, 0, 0, 1, 1])
    indicator = np.eye(2)[relations]
    columns = np.hstack([indicator * hits[:, None], indicator])

    def macro(means: np.ndarray) -> float:
        with np.errstate(invalid="ignore"):
            return float((means[:2] / means[2:]).mean())

    found = bootstrap_ci(columns, statistic=macro, samples=400, seed=5)
    assert found.estimate == pytest.approx(macro_average(hits, list(relations)))
    generator, expected = np.random.default_rng(5), []
    for _ in range(400):
        drawn = generator.integers(8, size=8)
        if len(set(relations[drawn])) == 2:  # a sample that lacks a relation has no macro average
            expected.append(macro_average(hits[drawn], list(relations[drawn])))
    assert len(expected) < 400
    assert (found.low, found.high) == pytest.approx(
        tuple(np.quantile(expected, [expanded_tail(8), 1 - expanded_tail(8)]))
    )


def test_a_statistic_that_is_never_defined_gives_no_interval():
    found = bootstrap_ci([[1, 2], [3, 4]], statistic=lambda means: math.nan, samples=10)
    assert all(math.isnan(v) for v in found[:3])
    assert found.n == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        *[(values, "at least one value, all finite") for values in ([], [[]], 1.0, [1, math.nan], [1, math.inf])],
        (np.empty((0, 3)), "at least one value"),
        ([[1, 2], [3, 4]], "2 columns: give the statistic"),
    ],
)
def test_what_cannot_be_drawn_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_ci(given)


@pytest.mark.parametrize("test", [bootstrap_ci, lambda a, clusters: paired_permutation_test(a, [0, 0], clusters)])
def test_labels_that_do_not_fit_are_named(test):
    with pytest.raises(ValueError, match="2 values for 3 cluster labels"):
        test([1, 2], ["a", "b", "c"])


# Permutation test


def brute_force(differences: list[float]) -> float:
    observed = abs(sum(differences))
    flips = list(itertools.product([1, -1], repeat=len(differences)))
    sums = [abs(sum(s * d for s, d in zip(signs, differences, strict=True))) for signs in flips]
    return sum(total >= observed for total in sums) / len(flips)


@given(WHOLE)
def test_the_exact_p_value_equals_brute_force(differences):
    zeros = [0] * len(differences)
    assert paired_permutation_test(differences, zeros) == pytest.approx(brute_force(differences))


@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4), st.integers(0, 3)), min_size=1, max_size=12))
def test_differences_of_a_cluster_flip_together(rows):
    a, b, clusters = zip(*rows, strict=True)
    sums = [sum(x - y for x, y, c in rows if c == label) for label in set(clusters)]
    assert paired_permutation_test(a, b, clusters) == pytest.approx(brute_force(sums))


@given(PAIRS, st.integers(-3, 3))
def test_the_test_is_symmetric_and_sees_differences_alone(pairs, shift):
    a, b = map(np.array, zip(*pairs, strict=True))
    p = paired_permutation_test(a, b)
    assert 0 < p <= 1
    assert paired_permutation_test(b, a) == p
    assert paired_permutation_test(a + shift, b + shift) == p
    assert paired_permutation_test(3 * a, 3 * b) == p
    assert paired_permutation_test(a[::-1], b[::-1]) == p


def test_p_values_worked_by_hand():
    assert paired_permutation_test([1, 2, 3], [0, 0, 0]) == 2 / 8  # all three signs alike, either way
    assert paired_permutation_test([5, 5], [5, 5]) == 1.0
    assert paired_permutation_test([1, 1, 1, 1], [0, 0, 0, 0], ["f", "f", "g", "g"]) == 2 / 4


@given(WHOLE)
def test_sums_that_are_equal_but_for_rounding_count_as_equal(tenths):
    # 0.1 + 0.2 - 0.3 is not 0 in binary: no flip may be missed for it
    found = paired_permutation_test([value / 10 for value in tenths], [0] * len(tenths))
    assert found == pytest.approx(brute_force(tenths))


def test_sampled_flips_come_near_the_exact_p_value():
    generator = np.random.default_rng(4)
    a, b = generator.normal(0.5, 1, 13), generator.normal(0, 1, 13)
    exact = paired_permutation_test(a, b)  # 8,192 flips
    assert 0.02 < exact < 0.5
    sampled = paired_permutation_test(a, b, samples=5000)
    assert sampled != exact
    assert sampled == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 5000))
    assert paired_permutation_test(a, b, samples=5000) == sampled
    assert paired_permutation_test(a, b, samples=5000, seed=1) != sampled


def test_a_sampled_p_value_is_never_zero():
    assert paired_permutation_test(np.ones(64), np.ones(64), samples=10) == 1.0
    assert paired_permutation_test(np.ones(64), np.zeros(64)) == pytest.approx(2 / 2**64)  # all flips or none
    for size in (np.ones(5000), np.arange(1.0, 5001)):
        assert 0 < paired_permutation_test(size, np.zeros(5000), samples=100) < 1e-300
    few = [8, 9, 10, 11, 12, -1]  # 64 flips, of which 4 come as far: none of the random ones would say so little
    assert paired_permutation_test(few, [0] * 6, samples=1) > 1 / 101


def test_the_bound_of_what_random_flips_do_not_reach_worked_by_hand():
    rising = np.arange(1.0, 41)  # of squares 22,140 together
    expected = 2 * math.exp(-(820**2) / (2 * 22_140))
    assert paired_permutation_test(rising, np.zeros(40), samples=100) == pytest.approx(expected)
    for scale in (1e-200, 1e200):
        assert paired_permutation_test(scale * rising, np.zeros(40), samples=100) == pytest.approx(expected)


def test_facts_that_differ_by_rounding_alone_do_not_differ():
    first, second = np.tile([1, 1 / 4, 1 / 6], 40), np.tile([1 / 6, 1, 1 / 4], 40)
    assert paired_permutation_test(first, second, np.repeat(np.arange(40), 3)) == 1


@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=12))
def test_hits_and_misses_are_tossed_as_coins(differences):
    p = paired_permutation_test(differences, [0] * len(differences), samples=1)
    assert p == pytest.approx(brute_force(differences))


@given(st.lists(st.integers(1, 9), min_size=9, max_size=12))
def test_what_hardly_any_random_flip_reaches_has_no_less_than_its_exact_p_value(differences):
    p = paired_permutation_test(differences, [0] * len(differences), samples=1)
    assert p >= min(brute_force(differences), 1 / 101)


@pytest.mark.parametrize(
    ("a", "b"), [([], []), ([1, 2, 3], [0]), ([1, 2], [1, 2, 3]), ([[1, 2]], [[1, 2]]), ([1, math.nan], [1, 2]), (1, 2)]
)
def test_permutation_needs_two_equally_long_finite_lists(a, b):
    with pytest.raises(ValueError, match="two equally long lists of finite numbers"):
        paired_permutation_test(a, b)
