"""How well the words a model goes by match marked ones, and stay under perturbation (paper 003, section 4)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics.correlation import Correlation

LEVEL = 0.05  # of the p-values of kept pairs (paper 003, footnote 1)


def rationale_length(ratio: float, words: int) -> int:
    """K: words of a rationale in a text of so many, ``ratio x words`` (paper 003), rounded half up, at least 1."""
    if not 0 <= ratio <= 1:
        raise ValueError(f"a rationale's share of the words is from 0 to 1, not {ratio}")
    return max(1, math.floor(ratio * words + 0.5 + 1e-9))  # 0.3 * 5 is a little less than 1.5


def ranked_words(scores: npt.ArrayLike) -> np.ndarray:
    """Numbers of the words by falling score, shape (n,); equal scores keep the order of the text.

    Raises:
        ValueError: no list of numbers, or one is missing.
    """
    values = np.asarray(scores, dtype=float)
    if values.ndim != 1 or np.isnan(values).any():
        raise ValueError("a list of numbers is needed, none missing")
    return np.argsort(-values, kind="stable")


def instance_f1(predicted: Collection[int], rationales: Sequence[Collection[int]]) -> float:
    """F1 of one predicted rationale against the marked one, by position; of several, the one it matches best.

    Raises:
        ValueError: nothing predicted, or no marked rationale, or an empty one.
    """
    chosen = set(predicted)
    if not chosen or not rationales or not all(rationales):
        raise ValueError("F1 needs a predicted rationale and at least one marked one, none of them empty")
    return max(2 * len(chosen & set(gold)) / (len(chosen) + len(set(gold))) for gold in rationales)


def expected_f1(count: int, candidates: Collection[int], rationales: Sequence[Collection[int]]) -> float:
    """The mean of ``instance_f1`` over all predicted rationales of ``count`` of the candidates: that of random scores.

    Raises:
        ValueError: more words than candidates, none of them, no marked rationale, or an empty one.
    """
    if not 1 <= count <= len(set(candidates)) or not rationales or not all(rationales):
        raise ValueError(
            f"{count} of {len(set(candidates))} candidates, and a marked rationale, none empty, are needed"
        )
    golds = [set(gold) for gold in rationales]
    cells = Counter(tuple(place in gold for gold in golds) for place in set(candidates))
    total = 0.0
    for taken in product(*(range(min(size, count) + 1) for size in cells.values())):
        if sum(taken) == count:
            ways = math.prod(math.comb(size, k) for size, k in zip(cells.values(), taken, strict=True))
            hits = [sum(k for cell, k in zip(cells, taken, strict=True) if cell[i]) for i in range(len(golds))]
            total += ways * max(2 * hit / (count + len(gold)) for hit, gold in zip(hits, golds, strict=True))
    return total / math.comb(sum(cells.values()), count)


def token_f1(predicted: Sequence[Collection[int]], rationales: Sequence[Sequence[Collection[int]]]) -> float:
    """Token-F1 (paper 003, Eq. 1): mean over instances of the F1 of positions; no common position gives 0.

    Args:
        predicted: positions of each instance's predicted rationale, shape (n, K of the instance).
        rationales: of each instance, its marked rationales as positions; several are alternatives.

    Raises:
        ValueError: lists of different lengths or empty ones.
    """
    if not len(predicted):
        raise ValueError("token-F1 needs at least one instance")
    return float(np.mean([instance_f1(p, r) for p, r in zip(predicted, rationales, strict=True)]))


def average_precision(original: Sequence[str], perturbed: Sequence[str], upto: int | None = None) -> float:
    """The term of one pair in MAP (paper 003, Eq. 2).

    For i from 1 to the length of the perturbed list: the share of its first i words that are among the first i words of
    the original list; one that is twice among the former counts twice. The mean over i.

    Args:
        original, perturbed: words by falling importance.
        upto: last i; None for all words of the perturbed list (Figure 1 stops at the rationale's length).

    Raises:
        ValueError: no perturbed words, or ``upto`` below 1 or beyond them.
    """
    shares = []
    for i in _depths(perturbed, upto):
        top = set(original[:i])
        shares.append(sum(word in top for word in perturbed[:i]) / i)
    return float(np.mean(shares))


def _depths(perturbed: Sequence[str], upto: int | None) -> range:
    last = len(perturbed) if upto is None else upto
    if not 1 <= last <= len(perturbed):
        raise ValueError(f"i runs from 1 to at most {len(perturbed)}, the perturbed words; asked for {last}")
    return range(1, last + 1)


def expected_average_precision(original: Sequence[str], perturbed: Sequence[str], upto: int | None = None) -> float:
    """The mean of ``average_precision`` over all orders of both lists of words: that of random scores.

    A word of the perturbed list is as likely as any to be among its first i, and is counted there if one of its kind
    is among the first i of the original list.

    Raises:
        ValueError: as ``average_precision``.
    """
    n, kinds = len(original), Counter(original)
    shares = []
    for i in _depths(perturbed, upto):
        drawn = min(i, n)
        missed = {m: math.comb(n - m, drawn) / math.comb(n, drawn) for m in set(kinds.values())}
        shares.append(sum(1 - missed[kinds[word]] for word in perturbed if word in kinds) / len(perturbed))
    return float(np.mean(shares))


def mean_average_precision(pairs: Sequence[tuple[Sequence[str], Sequence[str]]], upto: Sequence[int] = ()) -> float:
    """MAP (paper 003, Eq. 2): mean over pairs of original and perturbed words by falling importance.

    Args:
        upto: of each pair the last i; all words by default.

    Raises:
        ValueError: no pairs, ``upto`` of another length, unless empty, or as ``average_precision``.
    """
    if not pairs:
        raise ValueError("MAP needs at least one pair")
    ends = list(upto) or [len(perturbed) for _, perturbed in pairs]
    return float(np.mean([average_precision(*pair, end) for pair, end in zip(pairs, ends, strict=True)]))


class PairedCorrelation(NamedTuple):
    """Pearson correlations over pairs: paper 003's mean (Eq. 3) over ``kept`` pairs, and the mean over all.

    ``kept`` is the share of all pairs with a p-value below the level. Pairs whose correlation is undefined (``share``
    in ``undefined``) are not kept and have no part in either mean; a mean of nothing is nan.
    """

    mean_kept: float
    kept: float
    mean_all: float
    undefined: float
    n: int


def correlate_pairs(correlations: Sequence[Correlation], level: float = LEVEL) -> PairedCorrelation:
    """PCC as paper 003 reports it, on pairs with p below ``level``, and beside it what it leaves out.

    Args:
        correlations: of ``pearson`` over the aligned scores of each pair.
    """
    if not correlations:
        raise ValueError("at least one pair is needed")
    table = pd.DataFrame(correlations)
    values, significant = table["statistic"], table["pvalue"] < level
    return PairedCorrelation(
        values[significant].mean(), significant.mean(), values.mean(), values.isna().mean(), len(values)
    )


def f1_delta(original: npt.ArrayLike, perturbed: npt.ArrayLike) -> float:
    """Distance between the mean F1 of originals and of perturbed inputs (paper 003, Tables 7 and 10)."""
    return float(abs(np.mean(np.asarray(original, dtype=float)) - np.mean(np.asarray(perturbed, dtype=float))))
