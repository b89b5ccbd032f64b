"""Intervals and tests that the papers lack: cluster bootstrap and paired permutation test."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd


class Interval(NamedTuple):
    """An estimate with its percentile bootstrap interval; ``n`` values in ``clusters`` independent groups."""

    estimate: float
    low: float
    high: float
    n: int
    clusters: int


def _by_cluster(values: np.ndarray, clusters: Sequence[Hashable] | None) -> tuple[np.ndarray, np.ndarray]:
    """Sums (c, d) and counts (c,) of ``values`` (n, d) per cluster, in order of first appearance."""
    if clusters is None:
        return values, np.ones(len(values))
    if len(clusters) != len(values):
        raise ValueError(f"{len(values)} values for {len(clusters)} cluster labels")
    codes = pd.factorize(pd.Series(list(clusters)), use_na_sentinel=False)[0]
    sums = np.zeros((codes.max() + 1, values.shape[1]))
    np.add.at(sums, codes, values)
    return sums, np.bincount(codes).astype(float)


def bootstrap_ci(
    values: npt.ArrayLike,
    clusters: Sequence[Hashable] | None = None,
    statistic: Callable[[np.ndarray], np.ndarray | float] | None = None,
    level: float = 0.95,
    samples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Percentile bootstrap interval of a mean, or of a function of means.

    Prompts of one fact are not independent, so whole clusters (facts) are drawn with replacement.

    Args:
        values: shape (n,) or (n, d), finite.
        clusters: n labels; None draws single values.
        statistic: maps the d means, shape (d,), to one number, so that a macro average or a
            correlation between models gets an interval too; None takes the mean itself (d = 1). Samples where it is
            undefined (nan) are left out.
        level: coverage, 0.95 for 95%.
        samples: bootstrap samples.
        seed: of the generator.

    Raises:
        ValueError: no values, values that are not finite, or d > 1 without ``statistic``.
    """
    table = _table(values)
    if statistic is None:
        if table.shape[1] != 1:
            raise ValueError(f"values have {table.shape[1]} columns: give the statistic that makes one number of them")
        statistic = _only
    sums, counts = _by_cluster(table, clusters)
    drawn = np.array([statistic(means) for means in _draws(sums, counts, samples, seed)], dtype=float)
    drawn = drawn[np.isfinite(drawn)]
    tail = (1 - level) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail]) if len(drawn) else (np.nan, np.nan)
    return Interval(float(statistic(table.mean(0))), float(low), float(high), len(table), len(counts))


def bootstrap_means(
    values: npt.ArrayLike,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    samples: int = 2000,
    seed: int = 0,
) -> list[Interval]:
    """The means of several columns, each with the interval ``bootstrap_ci`` gives it, from one set of draws.

    Args:
        values: shape (n, d), finite.
        clusters, level, samples, seed: as in ``bootstrap_ci``.

    Returns:
        One interval per column.
    """
    table = _table(values)
    sums, counts = _by_cluster(table, clusters)
    tail = (1 - level) / 2
    low, high = np.quantile(np.array(list(_draws(sums, counts, samples, seed))), [tail, 1 - tail], axis=0)
    ends = zip(table.mean(0), low, high, strict=True)
    return [Interval(float(mean), float(a), float(b), len(table), len(counts)) for mean, a, b in ends]


def _table(values: npt.ArrayLike) -> np.ndarray:
    table = np.asarray(values, dtype=float)
    if not table.size or not table.ndim or not np.isfinite(table).all():
        raise ValueError("a bootstrap needs a list of at least one value, all finite")
    return table.reshape(len(table), -1)


def _draws(sums: np.ndarray, counts: np.ndarray, samples: int, seed: int) -> Iterator[np.ndarray]:
    """Means (d,) of the values of as many clusters as there are, drawn with replacement, ``samples`` times."""
    generator = np.random.default_rng(seed)
    for _ in range(samples):
        weights = np.bincount(generator.integers(len(counts), size=len(counts)), minlength=len(counts))
        yield weights @ sums / (weights @ counts)


def _only(means: np.ndarray) -> float:
    return float(means[0])


def paired_permutation_test(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    clusters: Sequence[Hashable] | None = None,
    samples: int = 10_000,
    seed: int = 0,
) -> float:
    """Two-sided p-value of "a and b have the same mean", by flipping signs of the paired differences.

    Args:
        a, b: shape (n,), paired; with ``clusters``, all differences of one cluster flip together.
        samples: random flips; when 2**clusters is no more than this, every flip is tried and the p-value is exact.
    """
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if first.ndim != 1 or first.shape != second.shape or not len(first) or not np.isfinite([first, second]).all():
        raise ValueError("paired_permutation_test needs two equally long lists of finite numbers")
    difference = first - second
    sums = _by_cluster(difference[:, None], clusters)[0][:, 0]
    sums = sums[sums != 0]  # a zero is the same under both signs
    observed, count = abs(sums.sum()), len(sums)
    slack = 1e-12 * np.abs(sums).sum()
    if 2**count <= samples:
        signs = 1 - 2 * ((np.arange(2**count)[:, None] >> np.arange(count)) & 1)
        return float((np.abs(signs @ sums) >= observed - slack).mean())
    generator = np.random.default_rng(seed)
    extreme = sum(
        int((np.abs(generator.choice([-1.0, 1.0], size=(100, count)) @ sums) >= observed - slack).sum())
        for _ in range(-(-samples // 100))
    )
    return (1 + extreme) / (1 + 100 * -(-samples // 100))
