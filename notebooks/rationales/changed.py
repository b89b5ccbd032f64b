"""What section 5.3 of paper 003 says of changed texts (Tables 6, 7, 10 and 11), each sentence as a number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

from probekit.metrics.decisions import Estimated, smallest
from probekit.probes.rationales import DIMENSIONS, PERTURBATIONS
from probekit.report.tables import by, pick
from probekit.report.verdicts import conclude

from notebooks.rationales.ask import RANDOM
from notebooks.rationales.measures import Array, Means
from notebooks.rationales.paper import ABOVE, AS_IT_STANDS, DISPENSABLE, IMPORTANT, TRANSFORMED

Statistic = Callable[[Mapping[str, Array]], Array]  # of kind -> means, shape (...)
Measure = Callable[[Statistic], Estimated]  # a statistic of the means with its interval
Sentence = Callable[[Measure], Estimated]  # above zero where the paper's sentence holds


def _lower(kind: str, *others: str) -> Sentence:
    """By how much the mean under a kind is lower than the mean under others."""
    return lambda measure: measure(
        lambda means: np.asarray(sum(means[other] for other in others) / len(others) - means[kind])
    )


def _falls_more(measure: Measure) -> Estimated:
    """By how much more it falls under transformations and important changes than under dispensable ones."""
    return measure(lambda means: np.asarray(means[DISPENSABLE] - (means[TRANSFORMED] + means[IMPORTANT]) / 2))


def _moves_more(kind: str, other: str) -> Sentence:
    """By how much the size of the mean change under a kind is greater than under another."""
    return lambda measure: _larger(measure, kind, lambda means: means[other])


def _moves_most(measure: Measure) -> Estimated:
    """By how much transformations move it more than the two other kinds do on average.

    The mean of two sizes is the larger of the sizes of half the sum and half the difference: the claim holds if it does
    against both, and fails if it does against either, by an interval for two.
    """
    halves: list[Statistic] = [
        lambda means: (means[DISPENSABLE] + means[IMPORTANT]) / 2,
        lambda means: (means[DISPENSABLE] - means[IMPORTANT]) / 2,
    ]
    return smallest([_larger(measure, TRANSFORMED, half) for half in halves])


def _larger(measure: Measure, kind: str, other: Statistic) -> Estimated:
    """By how much x, a mean change, is larger in size than y.

    That is the smaller of the sizes of x - y and x + y, above zero where these have one sign and below where not.
    A difference of absolute values has no sound interval near zero, where an absolute value is never below it; these
    two have.
    """
    both = [measure(lambda means: means[kind] - other(means)), measure(lambda means: means[kind] + other(means))]
    estimate, low, high = smallest([side if side[0] >= 0 else (-side[0], -side[2], -side[1]) for side in both])
    return (estimate, low, high) if (both[0][0] >= 0) == (both[1][0] >= 0) else (-estimate, -high, -low)


# claim, what is compared, the dimensions (all together, if none), and what measures it
Sentences = Sequence[tuple[str, str, str, Sentence]]
ANSWERS: Sentences = [
    *(("003-13a", f"against {other}", "", _moves_more(TRANSFORMED, other)) for other in (DISPENSABLE, IMPORTANT)),
    *(("003-18a", name, name, _falls_more) for name in DIMENSIONS),
]
ORDER: Sentences = [
    *(("003-14a", f"against {other}", "", _lower(TRANSFORMED, other)) for other in (DISPENSABLE, IMPORTANT)),
    *(
        ("003-14b", name, name, _lower(TRANSFORMED, DISPENSABLE, IMPORTANT))
        for name in ("semantics", "knowledge", "reasoning")
    ),
]
REASONS: Sentences = [
    *(
        ("003-15a", f"{name}, {kind}", name, _moves_more(kind, DISPENSABLE))
        for name in ("semantics", "reasoning", "computation")
        for kind in (IMPORTANT, TRANSFORMED)
    ),
    *(("003-15b", f"against {kind}", "", _moves_more(kind, DISPENSABLE)) for kind in (IMPORTANT, TRANSFORMED)),
    *(("003-15c", name, name, _moves_most) for name in DIMENSIONS),
]


def directions(answers: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """The paper's sentences, of every model (accuracy) and of every model and method (reasons).

    A sentence that compares a kind with two others, or speaks of several dimensions, gives a number for each. MAP is
    also asked of what it lies above the expectation of random scores on the same pairs, since a text of other length
    or words lowers that, too. Sets that lack one of the paper's three kinds give none.

    Args:
        answers: of ``perturbations.answered``.
        scores: of ``perturbations.reasoned``.

    Returns:
        ``claim, dataset, model, method, measured, compared, estimate, low, high, units`` (effective originals of
        the kind with fewest); no ``method`` for accuracy.
    """
    rows: list[dict[str, object]] = []
    for labels, pairs in by(answers, ["dataset", "model"]):
        change = pairs["perturbed_top1"] - pairs["original_top1"]
        rows += [row | labels | {"method": ""} for row in _rows(pairs, change, ANSWERS)]
    chance = {key["dataset"]: group["ap"].to_numpy() for key, group in by(pick(scores, method=RANDOM), ["dataset"])}
    for labels, pairs in by(scores, ["dataset", "model", "method", "weights"]):
        if labels.pop("weights"):  # of a model
            ap, change = pairs["ap"], pairs["perturbed_f1"] - pairs["original_f1"]
            rows += [row | labels for row in _rows(pairs, change, REASONS)]
            rows += [row | labels for row in _rows(pairs, ap, ORDER)]
            rows += [row | labels for row in _rows(pairs, ap - chance[labels["dataset"]], ORDER, ABOVE)]
    columns = ["claim", "dataset", "model", "method", "measured", "compared", "estimate", "low", "high", "units"]
    return pd.DataFrame(rows, columns=columns).sort_values("claim", kind="stable", ignore_index=True)


def _rows(
    pairs: pd.DataFrame, values: pd.Series, sentences: Sentences, measured: str = AS_IT_STANDS
) -> Iterator[dict[str, object]]:
    """Each sentence by the means of the values by kind, with its interval over originals."""
    for claim, compared, dimension, sentence in sentences:
        rows = pick(pairs, dimension=dimension) if dimension else pairs
        columns = [values[rows.index].where(rows["perturbation"] == kind) for kind in PERTURBATIONS]
        if all(column.notna().any() for column in columns):
            means = Means.of(np.column_stack(columns), list(rows["original"]))
            row = dict(zip(("estimate", "low", "high"), sentence(partial(_by_kind, means)), strict=True))
            yield from conclude(claim, [row | {"units": means.units()}], measured=measured, compared=compared)


def _by_kind(means: Means, statistic: Statistic) -> Estimated:
    return means.measure(lambda values: statistic(dict(zip(PERTURBATIONS, values.T, strict=True))))
