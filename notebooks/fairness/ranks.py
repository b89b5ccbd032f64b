"""Shares of hurtful completions over ranges of ranks, and their contrasts, each a weighted sum over ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from probekit.errors import ProbekitError
from probekit.metrics import Drawn, crossed_means, effective_units

from notebooks.fairness.matching import Scored
from notebooks.fairness.table1 import SAMPLES

SETTLED = 20  # the rank about which the paper sees the scores settle
END = 10  # ranks compared at either end
LEAST = 2 * SETTLED  # completions that the contrasts need
STARTS = (1, 2, 6, 11, 21, 41, 61, 81)  # of bands of ranks
UPTO = (5, 10, 20, 50)
CONTRASTS = {
    "ends": f"share at ranks 1 to {END} less that at the last {END}",
    "single": "share at rank 1 less that at the last rank",
    "early": f"fall per ten ranks over ranks 1 to {SETTLED}",
    "late": f"fall per ten ranks from rank {SETTLED + 1} on",
    "settles": f"how much faster the fall is up to rank {SETTLED} than after it",
}
DIGITS = 12
Array = npt.NDArray[np.float64]
Weights = dict[str, Array]


def span(first: int, last: int) -> str:
    """How tables name a range of ranks: ``1``, ``2-5``."""
    return str(first) if first == last else f"{first}-{last}"


def bands(k: int) -> list[tuple[int, int]]:
    """The ranks 1 to k cut into bands, short ones first: (first, last)."""
    starts = [start for start in STARTS if start <= k]
    return list(zip(starts, [*(start - 1 for start in starts[1:]), k], strict=True))


def mean_weights(ranges: Sequence[tuple[int, int]], k: int) -> Weights:
    """Weights of the k shares that give their mean over each range of ranks."""
    ranks = np.arange(1, k + 1)
    return {span(a, b): ((ranks >= a) & (ranks <= b)) / (b - a + 1) for a, b in ranges}


def share_weights(k: int) -> Weights:
    """Weights for the shares in each band, up to each rank of ``UPTO``, and over all ranks."""
    cumulative = [(1, last) for last in (*UPTO, k) if last <= k]
    return mean_weights(list(dict.fromkeys([*bands(k), *cumulative])), k)


def contrast_weights(k: int) -> Weights:
    """Weights for ``CONTRASTS``, each above zero where shares fall as the paper says.

    A fall is the slope of the line of least squares through the shares, its sign turned, times ten.

    Raises:
        ProbekitError: too few completions.
    """
    if k < LEAST:
        raise ProbekitError(f"k={k}: falling scores need at least {LEAST} completions")
    ends = mean_weights([(1, END), (k - END + 1, k), (1, 1), (k, k)], k)
    early, late = _fall(1, SETTLED, k), _fall(SETTLED + 1, k, k)
    return {
        "ends": ends[span(1, END)] - ends[span(k - END + 1, k)],
        "single": ends["1"] - ends[str(k)],
        "early": early,
        "late": late,
        "settles": early - late,
    }


def _fall(first: int, last: int, k: int) -> Array:
    ranks = np.arange(1, k + 1, dtype=float)
    inside = (ranks >= first) & (ranks <= last)
    away = np.where(inside, ranks - ranks[inside].mean(), 0.0)
    return np.asarray(-10 * away / (away**2).sum())


def weigh(values: npt.NDArray[Any], weights: Mapping[str, Array]) -> Array:
    """Weighted sums of what is known by rank: (templates, K) to (templates, d). What is zero but for rounding is 0."""
    return np.asarray(np.round(values @ np.column_stack(list(weights.values())), DIGITS))


def mean_of(parts: Sequence[Drawn]) -> Drawn:
    """The unweighted mean of several; parts of the same templates must have been drawn with one seed."""
    estimate = np.mean([part.estimate for part in parts], axis=0)
    draws = np.sum([part.draws for part in parts], axis=0) / len(parts)
    return Drawn(estimate, draws, min(part.units for part in parts))


def draw(scored: Scored, rules: str, weights: Mapping[str, Array], seed: int, samples: int = SAMPLES) -> Drawn:
    """The weighted sums of one model's shares, identities crossed with predicates drawn with replacement.

    Args:
        weights: name -> (K,).
        seed: of the draw; the same for all models asked the same templates.
    """
    values = weigh(scored.found[rules], weights)
    counted = scored.rows(rules)
    included = np.repeat(counted[:, None], values.shape[1], axis=1)
    units = scored.units
    return Drawn(values[counted].mean(0), crossed_means(values, units, included, samples, seed), effective_units(units))
