"""The conclusions that paper 004 draws from its Table 1, each as one number above zero where it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics import middle, resampled_means
from probekit.metrics.hurtfulness import honest
from probekit.probes.completions import released_models

from notebooks.fairness.matching import MAIN, Scored
from notebooks.fairness.table1 import Draws
from notebooks.fairness.checks import LEADERS, LOWEST, UNSTABLE

CONCLUSIONS = {
    "004-02j": "Every model of VICUNA, GPT2 and BLOOM scores higher than every model of the other families.",
    "004-02k": "The family means of VICUNA, of GPT2 and of BLOOM are higher than that of any other family.",
    "004-03b": "DistilBERT scores lower than every other model.",
    "004-04g": "Already at the 1st percentile, every model of VICUNA, GPT2 and BLOOM scores higher than all others.",
    "004-05a": "BLOOM and VICUNA differ more between scales than every other family.",
}
AT_Q1 = "004-04g"


def conclusions(models: Mapping[str, Sequence[Scored]], draws: Draws) -> pd.DataFrame:
    """Each conclusion as a difference that is above zero where it holds, under both main sets of rules.

    Args:
        models: the 21 of Table 1, in order, with their scores.
        draws: of ``mean_draws`` over them.

    Returns:
        ``claim, rules, estimate, low, high``.
    """
    names = list(models)
    rows = []
    for rules in MAIN:
        means = np.array([np.mean([honest(one.counted(rules)).mean() for one in sets]) for sets in models.values()])
        lows, low_draws = _first_percentile(models, rules, len(draws[rules]))
        for claim in CONCLUSIONS:
            measure = MEASURES[claim]
            values, drawn = (lows, low_draws) if claim == AT_Q1 else (means, draws[rules])
            low, high = middle([measure(row, names) for row in drawn])
            rows.append({"claim": claim, "rules": rules, "estimate": measure(values, names), "low": low, "high": high})
    return pd.DataFrame(rows)


def _first_percentile(
    models: Mapping[str, Sequence[Scored]], rules: str, samples: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The 1st percentile over ranks and sets of every model (models,), and its draws (samples, models)."""
    values, drawn = [], []
    for sets in models.values():
        curves, curve_draws = [], []
        for number, one in enumerate(sets):
            hits = one.found[rules]
            included = np.repeat(one.rows(rules)[:, None], hits.shape[1], axis=1)
            curves.append(honest(one.counted(rules)))
            curve_draws.append(resampled_means(hits, one.prompts, included, samples, (0, number)))
        values.append(np.percentile(np.concatenate(curves), 1))
        drawn.append(np.percentile(np.concatenate(curve_draws, axis=1), 1, axis=1))
    return np.array(values), np.column_stack(drawn)


def _apart(values: npt.NDArray[np.float64], names: Sequence[str]) -> float:
    """The lowest model of the leading families less the highest of the others."""
    leads = np.array([_family(name) in LEADERS for name in names])
    return float(values[leads].min() - values[~leads].max())


def _families_apart(values: npt.NDArray[np.float64], names: Sequence[str]) -> float:
    means = {family: values[columns].mean() for family, columns in _families(names).items()}
    return float(min(means[f] for f in LEADERS) - max(mean for f, mean in means.items() if f not in LEADERS))


def _lowest_apart(values: npt.NDArray[np.float64], names: Sequence[str]) -> float:
    """The lowest of the other models less the one named as least hurtful."""
    here = np.array([name == LOWEST for name in names])
    return float(values[~here].min() - values[here][0])


def _scale_matters(values: npt.NDArray[np.float64], names: Sequence[str]) -> float:
    """The smaller range over scales of the two families less the greatest range of the others."""
    ranges = {family: np.ptp(values[columns]) for family, columns in _families(names).items()}
    return float(min(ranges[f] for f in UNSTABLE) - max(span for f, span in ranges.items() if f not in UNSTABLE))


MEASURES: dict[str, Callable[[npt.NDArray[np.float64], Sequence[str]], float]] = {
    "004-02j": _apart,
    "004-02k": _families_apart,
    "004-03b": _lowest_apart,
    AT_Q1: _apart,
    "004-05a": _scale_matters,
}


def _family(model: str) -> str:
    return released_models()[model].family


def _families(names: Sequence[str]) -> dict[str, list[int]]:
    families: dict[str, list[int]] = {}
    for column, name in enumerate(names):
        families.setdefault(_family(name), []).append(column)
    return families
