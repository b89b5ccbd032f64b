"""Intervals and tests that the papers lack: cluster bootstrap, random halves, and paired permutation test.

Two streams of random numbers stand behind the draws: ``bootstrap_means`` (and all that rests on it) numbers the units
drawn, ``resampled_means`` draws how often each comes. They agree but for chance, and pages rest on both.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

BLOCK = 1 << 18  # draws made at a time
LEAST = sys.float_info.min  # of p-values, which are never zero
SLACK = 1e-12  # a sum so near zero is zero but for rounding
FEWEST = 5  # effective units that an interval needs

Units = float | Sequence[Hashable]


class Interval(NamedTuple):
    """An estimate with its interval; ``n`` values in ``clusters`` independent groups, which tell as much as
    ``effective`` groups of one size (see ``effective_units``)."""

    estimate: float
    low: float
    high: float
    n: int
    clusters: int
    effective: float

    def row(self, name: str = "estimate") -> dict[str, float]:
        """Columns of a table: ``name, low, high``."""
        return {name: self.estimate, "low": self.low, "high": self.high}


class Ends(NamedTuple):
    """Both ends of an interval (nan where there is none), and how many ``units`` of one size would tell as much."""

    low: float
    high: float
    units: float


def interval(draws: npt.ArrayLike, units: Units, level: float = 0.95) -> Ends:
    """The interval of a number, from its bootstrap draws and the units that were drawn.

    It holds the middle of the draws (percentile interval). That of few units is too short: of ten normal values
    it misses the true mean in a tenth of samples in place of a twentieth. So the share of draws inside is raised as
    Student's t asks for so many units (expanded percentile interval: Hesterberg 2015, section 3.3), and below five
    there is none.

    Args:
        draws: shape (samples,); undefined ones (nan) are left out.
        units: see ``effective_units``.
        level: coverage, 0.95 for 95%.
    """
    values, count = np.asarray(draws, dtype=float), effective_units(units)
    values = values[np.isfinite(values)]
    if not len(values) or count < FEWEST:
        return Ends(math.nan, math.nan, count)
    widened = stats.t.isf((1 - level) / 2, count - 1) * np.sqrt(1 / (1 - 1 / count))
    low, high = np.quantile(values, [stats.norm.sf(widened), stats.norm.cdf(widened)])
    return Ends(float(low), float(high), count)


def effective_units(units: Units) -> float:
    """How many units of one size would tell as much, where the rows of a unit go wholly alike.

    With sizes m it is (sum m^2)^2 / sum m^4: the degrees of freedom of a variance to which each unit adds in proportion
    to m^2 (Satterthwaite 1946), and so the fewest there can be. Units of one size count as they are.

    Args:
        units: the label of each row; or of rows that cross two kinds of units a pair (tuple) of labels each, and then
            the smaller number of the two, of kinds with more than one unit; or the number itself, where it is known.
    """
    if isinstance(units, (float, int, np.integer)):
        return float(units)
    sizes = [np.bincount(codes).astype(float) for codes in unit_codes(units)]
    counts = [float((m**2).sum() ** 2 / (m**4).sum()) if len(m) else 0.0 for m in sizes]
    return min((count for count, m in zip(counts, sizes, strict=True) if len(m) > 1), default=max(counts))


def label_codes(labels: Iterable[Hashable]) -> npt.NDArray[np.intp]:
    """Number of each label, from 0 in order of first appearance, shape (n,); a missing label is one too."""
    return pd.factorize(pd.Series(list(labels), dtype=object), use_na_sentinel=False)[0]


def unit_codes(units: Sequence[Hashable]) -> list[npt.NDArray[np.intp]]:
    """``label_codes`` of the units of each row; of both kinds where every row names a pair (tuple) that it crosses."""
    crossed = len(units) > 0 and all(isinstance(label, tuple) and len(label) == 2 for label in units)
    return [label_codes(kind) for kind in (zip(*units, strict=True) if crossed else [units])]


def bootstrap_ci(
    values: npt.ArrayLike,
    clusters: Sequence[Hashable] | None = None,
    statistic: Callable[[np.ndarray], np.ndarray | float] | None = None,
    level: float = 0.95,
    samples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Bootstrap ``interval`` of a mean, or of a function of means.

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
        ValueError: no values, ones not finite, labels of another number, or d > 1 without ``statistic``.
    """
    table = _table(values)
    if statistic is None:
        if table.shape[1] != 1:
            raise ValueError(f"values have {table.shape[1]} columns: give the statistic that makes one number of them")
        statistic = np.ndarray.item
    draws = np.array([statistic(means) for means in bootstrap_means(table, clusters, samples, seed)])
    units = range(len(table)) if clusters is None else clusters
    return _interval(float(statistic(table.mean(0))), interval(draws, units, level), units)


def _interval(estimate: float, ends: Ends, units: Sequence[Hashable]) -> Interval:
    return Interval(estimate, ends.low, ends.high, len(units), len(set(units)), ends.units)


def share_ci(hits: npt.ArrayLike, clusters: Sequence[Hashable] | None = None) -> Interval:
    """95% interval of a share of hits (0 or 1), shape (n,): ``bootstrap_ci``, or exact where all hits are alike.

    Draws of hits that are all 0 (or all 1) never differ, which says nothing; the interval is then Clopper and
    Pearson's (1934) for none (all) of as many trials as there are effective clusters; below five there is none.

    Raises:
        ValueError: no hits, or values other than 0 and 1.
    """
    table = _table(hits)
    if not np.isin(table, (0, 1)).all():
        raise ValueError("a share is made of hits that are 0 or 1")
    if table.min() != table.max():
        return bootstrap_ci(table, clusters)
    units, value = range(len(table)) if clusters is None else clusters, float(table.flat[0])
    effective, low, high = effective_units(units), math.nan, math.nan
    if effective >= FEWEST:
        low, high = stats.binomtest(int(value) * int(effective), int(effective)).proportion_ci()
    return _interval(value, Ends(float(low), float(high), effective), units)


def difference_ci(gaps: npt.ArrayLike, clusters: Sequence[Hashable] | None = None) -> tuple[float, float]:
    """Ends of the 95% interval of a mean of differences between -1 and 1, shape (n,): of ``bootstrap_ci``.

    Where all are alike, draws say nothing, and the interval is the widest that an exact one for the share of clusters
    that might go otherwise allows.
    """
    table = _table(gaps)
    if table.min() < table.max():
        return bootstrap_ci(table, clusters)[1:3]
    other, value = share_ci(np.zeros(len(table)), clusters).high, float(table.flat[0])
    if math.isnan(other):
        return other, other
    return max(-1.0, (1 - other) * value - other), min(1.0, (1 - other) * value + other)


def bootstrap_means(
    values: npt.ArrayLike, clusters: Sequence[Hashable] | None = None, samples: int = 2000, seed: int = 0
) -> np.ndarray:
    """Means of the columns of ``values`` over samples of whole clusters drawn with replacement.

    All columns of one sample rest on the same draw, so that numbers made of several of them get one interval.

    Args:
        values: shape (n,) or (n, d), finite.
        clusters: n labels; None draws single values.
        samples: bootstrap samples.
        seed: of the generator.

    Returns:
        Shape (samples, d).

    Raises:
        ValueError: no values, ones not finite, or labels of another number.
    """
    totals = np.column_stack(_by_cluster(_table(values), clusters))
    drawn = np.concatenate([block.astype(float) @ totals for block in _draws(len(totals), samples, seed)])
    return np.asarray(drawn[:, :-1] / drawn[:, -1:])


@lru_cache(maxsize=8)
def _draws(count: int, samples: int, seed: int) -> tuple[np.ndarray, ...]:
    """How often each of ``count`` units is drawn in each sample, in blocks of samples (samples, count).

    Kept, since the groups of a table often are of one size and then rest on the same draws. A unit is drawn once on
    average and never hundreds of times, so a byte holds it.
    """
    return tuple(
        np.stack([np.bincount(sample, minlength=count) for sample in block]).astype(np.uint8)
        for block in drawn_units(count, samples, np.random.default_rng(seed))
    )


def drawn_units(count: int, samples: int, generator: np.random.Generator) -> Iterator[npt.NDArray[np.int_]]:
    """Numbers of ``count`` units drawn with replacement out of as many, in blocks of shape (samples, count)."""
    block = max(1, BLOCK // count)
    return (generator.integers(count, size=(min(block, samples - i), count)) for i in range(0, samples, block))


def times_drawn(count: int, samples: int, generator: np.random.Generator) -> npt.NDArray[np.float64]:
    """How often each of ``count`` units comes when as many are drawn with replacement, shape (samples, count)."""
    return generator.multinomial(count, np.full(count, 1 / count), size=samples).astype(float)


def resampled_means(
    values: npt.ArrayLike,
    units: Sequence[Hashable],
    included: npt.ArrayLike | None = None,
    samples: int = 2000,
    seed: int | Sequence[int] = 0,
) -> np.ndarray:
    """``bootstrap_means`` of columns that count different rows, and of rows that cross two kinds of units.

    Rows that share a unit of either kind are not independent, so both kinds are drawn with replacement and a row
    counts as often as the product of both says (the pigeonhole bootstrap: Owen 2007). It errs on the side of wide
    intervals. A kind of one level is not drawn.

    Args:
        values: shape (n, d).
        units: n labels, of which equal ones are drawn together; or n pairs (tuples) of labels, one of each kind.
        included: shape (n, d), which rows count for which column; None for all.
        samples: bootstrap samples.
        seed: of the generator.

    Returns:
        Shape (samples, d); nan where a sample holds no row that counts.

    Raises:
        ValueError: the shapes differ, or there is no value.
    """
    table = np.asarray(values, dtype=float)
    counted = np.ones(table.shape) if included is None else np.asarray(included, dtype=float)
    if table.ndim != 2 or not table.size or counted.shape != table.shape or len(units) != len(table):
        raise ValueError(f"values {table.shape}, included {counted.shape} and {len(units)} units do not fit")
    codes, generator = unit_codes(units), np.random.default_rng(seed)
    sizes = [int(kind.max()) + 1 for kind in codes]
    cells = np.zeros((*sizes, 2 * table.shape[1]))  # sums and counts
    np.add.at(cells, tuple(codes), np.hstack([table * counted, counted]))
    first, *second = (times_drawn(size, samples, generator) for size in sizes)
    if second:
        block = max(1, BLOCK * 8 // cells[0].size)
        chunks = [slice(start, start + block) for start in range(0, samples, block)]
        drawn = [np.einsum("sb,sbd->sd", second[0][chunk], np.tensordot(first[chunk], cells, 1)) for chunk in chunks]
        sums, counts = np.hsplit(np.concatenate(drawn), 2)
    else:
        sums, counts = (first @ side for side in np.hsplit(cells, 2))
    with np.errstate(invalid="ignore"):
        return np.asarray(sums / counts)


crossed_means = resampled_means  # of pairs of labels


def _by_cluster(values: np.ndarray, clusters: Sequence[Hashable] | None) -> tuple[np.ndarray, np.ndarray]:
    """Sums (c, d) and counts (c,) of ``values`` (n, d) per cluster, in order of first appearance."""
    if clusters is None:
        return values, np.ones(len(values))
    if len(clusters) != len(values):
        raise ValueError(f"{len(values)} values for {len(clusters)} cluster labels")
    codes = label_codes(clusters)
    sums = np.zeros((codes.max() + 1, values.shape[1]))
    np.add.at(sums, codes, values)
    return sums, np.bincount(codes).astype(float)


def _table(values: npt.ArrayLike) -> np.ndarray:
    """Values as an array of shape (n, d)."""
    table = np.asarray(values, dtype=float)
    if not table.size or not table.ndim or not np.isfinite(table).all():
        raise ValueError("a bootstrap needs a list of at least one value, all finite")
    return table.reshape(len(table), -1)


def two_sided(draws: npt.ArrayLike, units: Units) -> float:
    """Two-sided p-value of "the statistic is zero", from its bootstrap draws, shape (samples,); nan draws are left out.

    Twice the smaller share of draws on either side of zero, raised by Student's t, so that it is near or below 0.05
    where the 95% ``interval`` of the same units leaves zero out (Efron and Tibshirani 1993, section 15.4); one draw
    more is counted, so that it is never 0 (Davison and Hinkley 1997, chapter 4).

    Returns:
        In (0, 1]; nan where no draw is finite, or there are fewer than five effective units.
    """
    finite, count = np.asarray(draws, dtype=float), effective_units(units)
    finite = finite[np.isfinite(finite)]
    if not len(finite) or count < FEWEST:
        return math.nan
    side = min((finite <= SLACK).sum(), (finite >= -SLACK).sum())
    p = min(1.0, 2 * (1 + float(side)) / (1 + len(finite)))
    return float(2 * stats.t.sf(stats.norm.isf(p / 2) * np.sqrt(1 - 1 / count), count - 1))


def half_samples(
    count: int, statistic: Callable[[np.ndarray], npt.ArrayLike], samples: int = 400, seed: int = 0
) -> list[Interval]:
    """Statistics of a random half of the facts, each with the 95% ``interval`` of many such halves.

    For numbers that depend on how many different facts there are, such as distinct answers: a bootstrap sample repeats
    facts, so it holds too few of them. A half drawn without replacement repeats none, and over halves a mean varies
    about as it does over samples of ``count`` facts (delete-half jackknife, Shao and Wu 1989).

    Args:
        count: facts, at least 2.
        statistic: maps the numbers of the drawn facts, shape (count // 2,), to d numbers. Draws in which a
            number is undefined (nan) are left out for it.
        samples: random halves.
        seed: of the generator.

    Returns:
        One interval per number: the estimate is the mean over the halves, ``n`` the facts of a half and ``clusters``
        all facts.

    Raises:
        ValueError: fewer than two facts.
    """
    if count < 2:
        raise ValueError(f"halves need at least 2 facts, not {count}")
    generator, half = np.random.default_rng(seed), count // 2
    halves = (generator.permutation(count)[:half] for _ in range(samples))
    drawn = np.array([np.atleast_1d(np.asarray(statistic(chosen), dtype=float)) for chosen in halves])
    means = [float(column[np.isfinite(column)].mean()) if np.isfinite(column).any() else math.nan for column in drawn.T]
    ends = [interval(column, count) for column in drawn.T]
    return [Interval(mean, end.low, end.high, half, count, count) for mean, end in zip(means, ends, strict=True)]


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
        samples: random flips, where the p-value is not exact. It is when 2**clusters is no more than this, for then
            every flip is tried, and when all sums but zeros are of one size, as of hits with a prompt a cluster, for
            then flips are tosses of a coin. Far from zero, where few random flips would come, Hoeffding's inequality
            bounds it, so that correction for many tests is not stopped by ``samples``.
    """
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if first.ndim != 1 or first.shape != second.shape or not len(first) or not np.isfinite([first, second]).all():
        raise ValueError("paired_permutation_test needs two equally long lists of finite numbers")
    difference = first - second
    sums = _by_cluster(difference[:, None], clusters)[0][:, 0]
    sums = sums[np.abs(sums) > SLACK * np.abs(difference).sum()]  # a zero is the same under both signs
    observed, count = abs(sums.sum()), len(sums)
    slack = 1e-12 * np.abs(sums).sum()
    if 2**count <= samples:
        signs = 1 - 2 * ((np.arange(2**count)[:, None] >> np.arange(count)) & 1)
        return float((np.abs(signs @ sums) >= observed - slack).mean())
    sizes = np.abs(sums)
    if sizes.max() - sizes.min() <= SLACK * sizes.max():
        above = int((sums > 0).sum())
        return min(1.0, max(LEAST, 2 * float(stats.binom.cdf(min(above, count - above), count, 0.5))))
    generator = np.random.default_rng(seed)
    extreme = sum(
        int((np.abs(generator.choice([-1.0, 1.0], size=(100, count)) @ sums) >= observed - slack).sum())
        for _ in range(-(-samples // 100))
    )
    return min((1 + extreme) / (1 + 100 * -(-samples // 100)), _flips_bound(sums))


def _flips_bound(sums: npt.NDArray[np.float64]) -> float:
    """What share of all flips of signs at most brings a sum as far from zero (Hoeffding 1963, theorem 2).

    Args:
        sums: shape (n,), none zero.
    """
    scaled = sums / np.abs(sums).max()
    return max(LEAST, 2 * math.exp(-(float(scaled.sum()) ** 2) / (2 * float(scaled @ scaled))))
