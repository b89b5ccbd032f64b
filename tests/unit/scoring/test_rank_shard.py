"""Ranks and best candidates of given scores against plain loops; most of the scores are equal ones, some are -inf."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from probekit.scoring.rank_shard import NEAR, _best, _rank
from probekit.scoring.slots import Candidates

VALUES = st.sampled_from([-np.inf, -3.0, -1.0, -1.0 - NEAR / 2, -1.0 - NEAR * 2, -0.5])


@st.composite
def tables(draw):
    units, width = draw(st.integers(1, 4)), draw(st.integers(1, 12))
    scores = draw(st.lists(st.lists(VALUES, min_size=width, max_size=width), min_size=units, max_size=units))
    group = st.lists(st.integers(0, width - 1), min_size=1, max_size=3, unique=True).map(tuple)
    jobs = draw(st.lists(st.tuples(st.integers(0, units - 1), group), min_size=1, max_size=6))
    return torch.tensor(scores), jobs


@given(tables(), st.sampled_from(["pessimistic", "mid"]))
def test_ranks_equal_a_loop_over_the_competitors(table, ties):
    scores, jobs = table
    found = _rank(scores, [unit for unit, _ in jobs], [group for _, group in jobs], ties)
    for n, (unit, group) in enumerate(jobs):
        line = scores[unit].tolist()
        own = max(line[i] for i in group)
        others = [score for i, score in enumerate(line) if i not in group]
        above, level = sum(score > own for score in others), sum(score == own for score in others)
        half = ties == "mid" and own > -np.inf
        assert found["rank"][n] == 1 + above + (level / 2 if half else level)
        assert found["score"][n] == own
        assert found["near"][n] == any(abs(np.float32(s) - np.float32(own)) <= NEAR for s in others if own > -np.inf)
    assert found["rank"].dtype == (np.float32 if ties == "mid" else np.int64)


@given(tables(), st.integers(1, 15))
def test_the_best_are_those_of_a_stable_sort(table, top):
    scores, _ = table
    names = [str(i) for i in range(scores.shape[1])]
    candidates = Candidates(names, {}, [()] * len(names), frozenset(), frozenset())
    for (best, values), line in zip(_best(scores, candidates, top), scores.tolist(), strict=True):
        order = sorted(range(len(line)), key=lambda i: -line[i])[:top]  # sorted is stable
        assert best == [names[i] for i in order] and values == [line[i] for i in order]


@pytest.mark.parametrize("values", [1, 3, 1 << 20])  # all scores equal, many, hardly any
def test_the_best_of_many_candidates(values):
    generator = torch.Generator().manual_seed(values)
    scores = torch.randint(values, (5, 20_000), generator=generator).float()
    names = [str(i) for i in range(20_000)]
    found = _best(scores, Candidates(names, {}, [()] * len(names), frozenset(), frozenset()), 10)
    expected = scores.sort(dim=1, descending=True, stable=True).indices[:, :10].tolist()
    assert [[int(name) for name in best] for best, _ in found] == expected
