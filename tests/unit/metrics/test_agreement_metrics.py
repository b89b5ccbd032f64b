"""Agreement of vectors and of lists: fast means against loops over all pairs, and by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from probekit.metrics import (
    agreement_across,
    agreement_at_rank,
    pairwise_agreement,
    shared_at_k,
)

VECTORS = arrays(float, (3, 4, 5), elements=st.floats(-1, 1)).filter(lambda v: np.linalg.norm(v, axis=-1).min() > 0.05)


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


@given(VECTORS)
def test_every_agreement_is_the_mean_over_its_pairs(vectors):
    for k in range(1, 5):
        named = [(m, vectors[m, j]) for m in range(3) for j in range(k)]
        every = [cosine(a, b) for (_, a), (_, b) in combinations(named, 2)]
        across = [cosine(vectors[m, k - 1], vectors[2, k - 1]) for m in range(2)]
        same = [cosine(vectors[m, k - 1], vectors[n, k - 1]) for m, n in combinations(range(3), 2)]
        flat = np.array([v for _, v in named])
        assert pairwise_agreement(flat) == pytest.approx(np.mean(every), abs=1e-9)
        assert agreement_across(vectors[:2], vectors[2:])[k - 1] == pytest.approx(np.mean(across), abs=1e-9)
        assert agreement_at_rank(vectors)[k - 1] == pytest.approx(np.mean(same), abs=1e-9)


def test_agreement_by_hand_and_its_refusals():
    assert pairwise_agreement([[2, 0], [1, 0], [0, 3]]) == pytest.approx(1 / 3)
    assert pairwise_agreement([[1, 0], [-1, 0]]) == pytest.approx(-1)
    assert np.isnan(agreement_at_rank([[[1, 0], [0, 1], [0.1, 0.7], [2, 3]]])).all()
    for wrong in ([[1, 0]], [[1, 0], [0, 0]], [[1, 0], [np.nan, 0]]):
        with pytest.raises(ValueError, match="vector"):
            pairwise_agreement(wrong)


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=1, max_size=8))
def test_shared_strings_are_those_of_sets(pairs):
    first, second = ([pair[i] for pair in pairs] for i in (0, 1))
    for k in range(1, len(pairs) + 1):
        a, b = set(first[:k]), set(second[:k])
        assert shared_at_k(first, second)[k - 1] == pytest.approx(len(a & b) / len(a | b))
    with pytest.raises(ValueError, match="same length"):
        shared_at_k(first, [*second, "e"])
