"""Token-F1, MAP, PCC and alignment: worked by hand, with ties and repeated words, and as properties."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probekit.metrics import (
    align,
    aligned_scores,
    average_precision,
    correlate_pairs,
    expected_average_precision,
    expected_f1,
    f1_delta,
    instance_f1,
    mean_average_precision,
    pearson,
    ranked_words,
    rationale_length,
    token_f1,
)
from probekit.metrics.correlation import Correlation

WORDS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=7)


@pytest.mark.parametrize(
    ("ratio", "words", "k"),
    [(0.3, 5, 2), (0.5, 5, 3), (0.1, 3, 1), (0.0, 9, 1), (1.0, 4, 4), (0.298, 10, 3), (0.35, 10, 4)],
)
def test_k_is_rounded_half_up_and_at_least_1(ratio: float, words: int, k: int) -> None:
    assert rationale_length(ratio, words) == k


def test_equal_scores_keep_the_order_of_the_text() -> None:
    assert ranked_words([0.2, 0.5, 0.2, 0.5, -1]).tolist() == [1, 3, 0, 2, 4]
    with pytest.raises(ValueError, match="none missing"):
        ranked_words([0.1, np.nan])


def test_f1_by_hand() -> None:
    # 2 of 3 predicted are among 4 marked: P = 2/3, R = 1/2
    assert instance_f1([0, 1, 2], [[1, 2, 5, 6]]) == pytest.approx(2 * (2 / 3) * (1 / 2) / (2 / 3 + 1 / 2))
    assert instance_f1([0], [[1]]) == 0
    assert instance_f1([0, 1], [[5], [1], [0, 1, 2]]) == pytest.approx(0.8)  # the best of three
    assert token_f1([[0, 1, 2], [0], [3, 4]], [[[1, 2, 5, 6]], [[1]], [[3, 4]]]) == pytest.approx((4 / 7 + 0 + 1) / 3)
    for wrong in (([], [[1]]), ([1], []), ([1], [[]])):
        with pytest.raises(ValueError, match="F1 needs"):
            instance_f1(*wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one"):
        token_f1([], [])


def test_map_by_hand() -> None:
    # i = 1: b of {a}: 0; i = 2: b, a of {a, b}: 1; i = 3: b, a, d of {a, b, c}: 2/3
    assert average_precision(list("abc"), list("bad")) == pytest.approx((0 + 1 + 2 / 3) / 3)
    # a word that is there twice counts twice: i = 2: a, a of {a, b}: 2/2
    assert average_precision(list("ab"), list("aab")) == pytest.approx((1 + 1 + 1) / 3)
    # i = 1: 1; i = 2: a, b of {a}: 1/2 (the original says a twice); i = 3: a, b, a of {a, b}: 1
    assert average_precision(list("aab"), list("aba")) == pytest.approx((1 + 0.5 + 1) / 3)
    # a longer perturbed list goes on with the whole original: i = 3: 1/3 ... of {x}
    assert average_precision(["x"], list("xyz")) == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    assert average_precision(list("abc"), list("bad"), upto=2) == pytest.approx(0.5)
    pairs = [(list("abc"), list("bad")), (list("ab"), list("ab"))]
    assert mean_average_precision(pairs) == pytest.approx((5 / 9 + 1) / 2)
    assert mean_average_precision(pairs, [1, 2]) == pytest.approx(0.5)
    for upto in (0, 4):
        with pytest.raises(ValueError, match="at most 3"):
            average_precision(list("abc"), list("bad"), upto)
    with pytest.raises(ValueError, match="at least one pair"):
        mean_average_precision([])


@pytest.mark.parametrize(
    ("original", "perturbed", "pairs"),
    [
        ("a b c", "a b c", [(0, 0), (1, 1), (2, 2)]),
        ("a b", "x a b", [(None, 0), (0, 1), (1, 2)]),  # inserted
        ("a b c", "a c", [(0, 0), (1, None), (2, 1)]),  # deleted
        ("a b c", "a x c", [(0, 0), (1, 1), (2, 2)]),  # replaced
        ("a b c", "a x y c", [(0, 0), (1, 1), (None, 2), (2, 3)]),  # replaced by two
        ("the a the b", "the b", [(0, 0), (1, None), (2, None), (3, 1)]),  # a repeated word: the first one is matched
        ("a", "b c", [(0, 0), (None, 1)]),
    ],
)
def test_alignment_by_hand(original: str, perturbed: str, pairs: list[tuple[int | None, int | None]]) -> None:
    assert align(original.split(), perturbed.split()) == pairs


def longest(one: list[str], other: list[str]) -> int:
    if not one or not other:
        return 0
    if one[0] == other[0]:
        return 1 + longest(one[1:], other[1:])
    return max(longest(one[1:], other), longest(one, other[1:]))


@given(WORDS, WORDS)
def test_alignment_uses_every_word_once_in_order_and_matches_as_many_as_can_be(
    one: list[str], other: list[str]
) -> None:
    pairs = align(one, other)
    assert [i for i, _ in pairs if i is not None] == list(range(len(one)))
    assert [j for _, j in pairs if j is not None] == list(range(len(other)))
    matched = [(i, j) for i, j in pairs if i is not None and j is not None and one[i] == other[j]]
    assert len(matched) == longest(one, other)


def test_unaligned_words_get_0() -> None:
    first, second = aligned_scores(["a", "b", "c"], ["x", "a", "c"], [1.0, 2.0, 3.0], [0.5, 4.0, 6.0])
    assert first.tolist() == [0, 1, 2, 3] and second.tolist() == [0.5, 4, 0, 6]
    # by hand: means 1.5 and 2.625; products -1.5*-2.125 + -.5*1.375 + .5*-2.625 + 1.5*3.375 = 6.25
    squares = (2.25 + 0.25 + 0.25 + 2.25) * (2.125**2 + 1.375**2 + 2.625**2 + 3.375**2)
    assert pearson(first, second).statistic == pytest.approx(6.25 / np.sqrt(squares))
    apart = aligned_scores(["a", "b", "c"], ["a", "x", "c"], [1.0, 2.0, 3.0], [0.5, 4.0, 6.0], replaced=False)
    assert [side.tolist() for side in apart] == [[1, 2, 0, 3], [0.5, 0, 4, 6]]  # b and x stand for none
    with pytest.raises(ValueError, match="as many scores"):
        aligned_scores(["a"], ["a"], [1.0, 2.0], [1.0])


def test_pcc_keeps_significant_pairs_and_tells_the_rest() -> None:
    pairs = [
        Correlation(0.9, 0.01, 9),
        Correlation(0.7, 0.04, 9),
        Correlation(0.2, 0.6, 9),
        Correlation(np.nan, np.nan, 2),
    ]
    found = correlate_pairs(pairs)
    assert found.mean_kept == pytest.approx(0.8) and found.kept == 0.5 and found.n == 4
    assert found.mean_all == pytest.approx(0.6) and found.undefined == 0.25
    assert np.isnan(correlate_pairs(pairs[2:3]).mean_kept)
    assert correlate_pairs(pairs[:1], level=0.001).kept == 0
    with pytest.raises(ValueError, match="at least one pair"):
        correlate_pairs([])


def test_f1_delta_is_a_distance_of_means() -> None:
    assert f1_delta([0.2, 0.4], [0.5]) == pytest.approx(0.2) == f1_delta([0.5], [0.2, 0.4])


def test_the_expectation_of_random_scores_by_hand() -> None:
    assert expected_f1(3, range(10), [[0, 1, 2]]) == pytest.approx(0.3)  # 0.9 of 3 words are right: 2 * 0.9 / 6
    assert expected_f1(1, [0, 1, 2], [[0], [1, 7]]) == pytest.approx((1 + 2 / 3) / 3)
    assert expected_average_precision(["a"], ["a"]) == 1
    assert expected_average_precision(["a", "b"], ["a", "b"]) == pytest.approx((0.5 + 1) / 2)
    for wrong in ((0, [1], [[1]]), (2, [1], [[1]]), (1, [1], []), (1, [1], [[]])):
        with pytest.raises(ValueError, match="none empty"):
            expected_f1(*wrong)
    with pytest.raises(ValueError, match="asked for 3"):
        expected_average_precision(["a"], ["a", "b"], 3)


@given(st.lists(st.sets(st.integers(0, 6), min_size=1, max_size=4), min_size=1, max_size=3), st.integers(1, 5))
def test_expected_f1_is_the_mean_over_all_choices(golds: list[set[int]], count: int) -> None:
    every = [instance_f1(chosen, golds) for chosen in combinations(range(5), count)]
    assert expected_f1(count, range(5), golds) == pytest.approx(np.mean(every))


@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=4), st.lists(st.sampled_from("abcd"), min_size=1, max_size=4)
)
def test_expected_map_is_the_mean_over_all_orders(one: list[str], other: list[str]) -> None:
    for upto in {1, len(other)}:
        every = [average_precision(a, b, upto) for a in permutations(one) for b in permutations(other)]
        assert expected_average_precision(one, other, upto) == pytest.approx(np.mean(every))
