"""What section 5.3 of paper 003 says of changed texts (Tables 6, 7, 10 and 11), each sentence as a number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics import effective_units, interval, resampled_means
from probekit.metrics.decisions import Estimated, smallest
from probekit.probes.rationales import DIMENSIONS, PERTURBATIONS
from probekit.report.tables import by, pick

from notebooks.rationales.ask import RANDOM
from notebooks.rationales.paper import ABOVE, AS_IT_STANDS, CHINESE, ENGLISH, ROBERTA, ROBERTA_EN

SAMPLES = 2000
ABOUT = ["dataset", "model", "method", "weights"]
Array = npt.NDArray[np.float64]
Means = Mapping[str, Array]  # kind -> means, shape (...)
Statistic = Callable[[Means], Array]
Ends = Callable[[Statistic], Estimated]  # a statistic of the means with its interval
Sentence = Callable[[Ends], Estimated]  # above zero where the paper's sentence holds
DISPENSABLE, IMPORTANT, TRANSFORMED = PERTURBATIONS
COLUMNS = ["claim", "dataset", "model", "method", "measured", "compared", "estimate", "low", "high"]
SECOND = ["second", "against"]  # the set and the model that a row is compared with, where it is
SINGLE = ("003-13b", "003-18b")  # claims on one model


def _lower(kind: str, *others: str) -> Sentence:
    """By how much the mean under a kind is lower than the mean under others."""
    return lambda ends: ends(
        lambda means: np.asarray(sum(means[other] for other in others) / len(others) - means[kind])
    )


def _falls_more(ends: Ends) -> Estimated:
    """By how much more it falls under transformations and important changes than under dispensable ones."""
    return ends(lambda means: np.asarray(means[DISPENSABLE] - (means[TRANSFORMED] + means[IMPORTANT]) / 2))


def _moves_more(kind: str, other: str) -> Sentence:
    """By how much the size of the mean change under a kind is greater than under another."""
    return lambda ends: _larger(ends, kind, lambda means: means[other])


def _moves_most(ends: Ends) -> Estimated:
    """By how much transformations move it more than the two other kinds do on average.

    The mean of two sizes is the larger of the sizes of half the sum and half the difference: the claim holds if it does
    against both, and fails if it does against either, by an interval for two.
    """
    halves: list[Statistic] = [
        lambda means: (means[DISPENSABLE] + means[IMPORTANT]) / 2,
        lambda means: (means[DISPENSABLE] - means[IMPORTANT]) / 2,
    ]
    return smallest([_larger(ends, TRANSFORMED, half) for half in halves])


def _larger(ends: Ends, kind: str, other: Statistic) -> Estimated:
    """By how much x, a mean change, is larger in size than y.

    That is the smaller of the sizes of x - y and x + y, above zero where these have one sign and below where not.
    A difference of absolute values has no sound interval near zero, where an absolute value is never below it; these
    two have.
    """
    both = [ends(lambda means: means[kind] - other(means)), ends(lambda means: means[kind] + other(means))]
    estimate, low, high = smallest([one if one[0] >= 0 else (-one[0], -one[2], -one[1]) for one in both])
    return (estimate, low, high) if (both[0][0] >= 0) == (both[1][0] >= 0) else (-estimate, -high, -low)


# claim, what is compared, the dimensions (all together, if none), and what measures it
Sentences = Sequence[tuple[str, str, str, Sentence]]
ANSWERS: Sentences = [
    *(("003-13a", f"against {other}", "", _moves_more(TRANSFORMED, other)) for other in (DISPENSABLE, IMPORTANT)),
    *(("003-18a", name, name, _falls_more) for name in DIMENSIONS),
]
ROBUST: Sentences = [  # of the paper's Chinese model alone
    ("003-13b", f"against {other}", "", _lower(TRANSFORMED, other)) for other in (DISPENSABLE, IMPORTANT)
]
LANGUAGES: Sentences = [  # of its English model beside the Chinese one, under dispensable changes
    ("003-18b", name, name, _lower(ENGLISH, CHINESE)) for name in ("semantics", "knowledge", "reasoning")
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
    or words lowers that, too. Sets that lack one of the paper's three kinds give none. Two sentences are of one model
    of the paper alone; the one that compares languages names the other model (``against``) and its set (``second``).

    Args:
        answers: of ``answered``.
        scores: of ``reasoned``.

    Returns:
        ``claim, dataset, model, method, measured, compared, estimate, low, high``, and ``against, second`` where a row
        has them; no ``method`` for accuracy.
    """
    rows: list[dict[str, object]] = []
    for about, pairs in by(answers, ["dataset", "model"]):
        sentences = [*ANSWERS, *(ROBUST if about["model"] == ROBERTA else ())]
        rows += [row | about | {"method": ""} for row in _rows(_changed(pairs), sentences, AS_IT_STANDS)]
    models = {ENGLISH: ROBERTA_EN, CHINESE: ROBERTA}
    asked = [pick(answers, dataset=name, model=model, perturbation=DISPENSABLE) for name, model in models.items()]
    if all(len(table) for table in asked):
        about = {"dataset": ENGLISH, "model": ROBERTA_EN, "method": "", "second": CHINESE, "against": ROBERTA}
        found = _rows(_changed(pd.concat(asked)), LANGUAGES, AS_IT_STANDS, "dataset", (ENGLISH, CHINESE))
        rows += [row | about for row in found]
    chance = {about["dataset"]: part["ap"].to_numpy() for about, part in by(pick(scores, method=RANDOM), ["dataset"])}
    for about, pairs in by(scores[scores["model"] != ""] if len(scores) else scores, ABOUT):
        about.pop("weights")
        change = pairs["perturbed_f1"] - pairs["original_f1"]
        found = _rows(pairs.assign(value=change), REASONS, AS_IT_STANDS)
        found += _rows(pairs.assign(value=pairs["ap"]), ORDER, AS_IT_STANDS)
        found += _rows(pairs.assign(value=pairs["ap"] - chance[about["dataset"]]), ORDER, ABOVE)
        rows += [row | about for row in found]
    table = pd.DataFrame(rows)
    columns = [*COLUMNS, *(name for name in SECOND if name in table)]
    return table.reindex(columns=columns).sort_values("claim", kind="stable", ignore_index=True)


def _changed(pairs: pd.DataFrame) -> pd.DataFrame:
    return pairs.assign(value=pairs["perturbed_top1"] - pairs["original_top1"])


def _rows(
    pairs: pd.DataFrame,
    sentences: Sentences,
    measured: str,
    column: str = "perturbation",
    kinds: Sequence[str] = PERTURBATIONS,
) -> list[dict[str, object]]:
    """Each sentence by the means of ``value`` by kind (or by what another column says), with its interval over
    originals."""
    rows = []
    for claim, compared, dimension, sentence in sentences:
        asked = pick(pairs, dimension=dimension) if dimension else pairs
        wide = {kind: asked["value"].where(asked[column] == kind) for kind in kinds}
        if any(values.notna().sum() == 0 for values in wide.values()):
            continue
        means, drawn = drawn_means(np.column_stack(list(wide.values())), list(asked["original"]))
        groups = [asked.loc[values.notna(), "original"].tolist() for values in wide.values()]
        units = min(effective_units(group) for group in groups)
        at, over = (dict(zip(wide, some, strict=True)) for some in (means, drawn.T))
        estimate, low, high = sentence(_ends(at, over, units))
        row = {"claim": claim, "measured": measured, "compared": compared, "estimate": estimate}
        rows.append(row | {"low": low, "high": high})
    return rows


def _ends(at: Means, over: Means, units: float) -> Ends:
    """Measures a statistic of the means ``at``, with its interval ``over`` samples of them."""

    def ends(statistic: Statistic) -> Estimated:
        low, high = interval(statistic(over), units)[:2]
        return float(statistic(at)), low, high

    return ends


def drawn_means(values: npt.ArrayLike, originals: Sequence[str]) -> tuple[Array, Array]:
    """Means of columns, values that are not numbers left out, and the same over samples of originals.

    Args:
        values: shape (n, d); nan does not count.
        originals: n ids; rows of one original are drawn together.

    Returns:
        Shape (d,) and (samples, d); nan where nothing counts.
    """
    table = np.asarray(values, dtype=float)
    inside = np.isfinite(table)
    filled = np.where(inside, table, 0.0)
    with np.errstate(invalid="ignore"):
        means: Array = filled.sum(0) / inside.sum(0)
    return means, resampled_means(filled, originals, inside, SAMPLES)
