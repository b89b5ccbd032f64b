"""The word scores of one model or method against those of another (paper 003, Table 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from probekit.metrics import effective_units, interval, resampled_means
from probekit.metrics.decisions import opposed
from probekit.probes.rationales import DIMENSIONS

from notebooks.rationales import paper
from notebooks.rationales.ask import ATTENTION, GRADIENTS, TRAINED, Saliency
from notebooks.rationales.paper import ALL, BERT, ERNIE, ERNIE_LARGE, LEARNED, ROBERTA
from notebooks.rationales.scores import F1, MAP, PCC, Values, members

Scored = Sequence[tuple[Saliency, Mapping[str, Values]]]
_BUT_KNOWLEDGE = tuple(name for name in DIMENSIONS if name != "knowledge")
PAIRS: dict[str, tuple[str, tuple[str, ...], str, tuple[str, ...]]] = {
    # claim -> the model that is said to be ahead, of which others, by which metric, and in which dimensions
    "003-10a": (ERNIE, (ERNIE_LARGE,), F1, _BUT_KNOWLEDGE),
    "003-10b": (ERNIE, (ERNIE_LARGE,), MAP, _BUT_KNOWLEDGE),
    "003-10c": (ERNIE, (BERT, ROBERTA), F1, (ALL,)),
    "003-10d": (ROBERTA, (BERT, ERNIE), MAP, LEARNED),
}
ENDS = ("estimate", "low", "high")
BY_PCC, NEARER, ALIKE = "003-08d", "003-11a", "003-11b"


def differences(
    first: Values, second: Values, seed: int = 0, parts: Mapping[str, np.ndarray] | None = None
) -> list[dict[str, object]]:
    """Means of the paired differences by dimension, and of further ``parts``, name to which records; both hold the same
    records in the same order."""
    rows = []
    difference = first.values - second.values
    for dimension, member in (members(first) | dict(parts or {})).items():
        drawn = resampled_means(difference[:, None], first.originals.tolist(), member[:, None], seed=seed)
        low, high = interval(drawn, first.originals[member].tolist())[:2]
        rows.append({"dimension": dimension, "estimate": float(difference[member].mean()), "low": low, "high": high})
    return rows


def against(scored: Scored, seed: int = 0) -> pd.DataFrame:
    """Of two trained models that were asked the same set, F1 and MAP of the first less those of the second, by method.

    Returns:
        ``dataset, first, second, method, metric, estimate, low, high`` over all dimensions; empty for more models.
    """
    known = {(one.dataset, one.method, one.model): metrics for one, metrics in scored if one.weights == TRAINED}
    rows = []
    for dataset, method in dict.fromkeys((dataset, method) for dataset, method, _ in known):
        names = [name for of, by, name in known if (of, by) == (dataset, method)]
        first, second = (known[dataset, method, name] for name in names) if len(names) == 2 else ({}, {})
        about = {"dataset": dataset, **dict(zip(("first", "second"), names, strict=False)), "method": method}
        for metric in (F1, MAP) if first else ():
            if metric in first and metric in second:
                found = differences(first[metric], second[metric], seed)
                rows += [
                    about | {"metric": metric} | {end: row[end] for end in ENDS}
                    for row in found
                    if row["dimension"] == ALL
                ]
    return pd.DataFrame(rows)


def _known(scored: Scored) -> dict[tuple[str, str], dict[str, Mapping[str, Values]]]:
    """Set and trained model -> method -> metrics, of models that were asked by both methods of the paper."""
    found: dict[tuple[str, str], dict[str, Mapping[str, Values]]] = {}
    for one, metrics in scored:
        if one.weights == TRAINED and one.method in paper.METHODS:
            found.setdefault((one.dataset, one.model), {})[one.method] = metrics
    return {key: methods for key, methods in found.items() if len(methods) == len(paper.METHODS)}


def pairs(scored: Scored, seed: int = 0) -> pd.DataFrame:
    """What section 5.2 says of one model of the paper beside others, by both methods, where all of them were asked.

    Returns:
        ``claim, dataset, model, method, metric, dimension, against`` (the other model)``, estimate, low, high``.
    """
    known, rows = _known(scored), []
    for dataset in dict.fromkeys(name for name, _ in known):
        for claim, (model, others, metric, dimensions) in PAIRS.items():
            if any((dataset, name) not in known for name in (model, *others)):
                continue
            for other in others:
                for method in paper.METHODS:
                    both = [known[dataset, name][method] for name in (model, other)]
                    about = {"claim": claim, "dataset": dataset, "model": model, "method": method, "metric": metric}
                    if metric in both[0]:
                        found = differences(both[0][metric], both[1][metric], seed)
                        kept = [row for row in found if row["dimension"] in dimensions]
                        rows += [about | {"against": other} | row for row in kept]
    columns = ["claim", "dataset", "model", "method", "metric", "dimension", "against", "estimate", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def measures(scored: Scored, seed: int = 0) -> pd.DataFrame:
    """Attention less integrated gradients by PCC, and whether PCC says what MAP says, of the paper's Chinese models.

    PCC is that of the paper, over pairs with p < 0.05, which are others for each method. Of the two differences, m by
    MAP and p by PCC: m is the larger one where m + p and m - p have one sign, and both name one method where m and p
    have one sign (``opposed``).

    Returns:
        ``claim, dataset, model, metric, dimension, expected, estimate, low, high``.
    """
    rows: list[dict[str, object]] = []
    for (dataset, model), methods in _known(scored).items():
        if model not in paper.models("zh") or PCC not in methods[ATTENTION]:
            continue
        columns = [methods[method][metric] for metric in (MAP, PCC) for method in (ATTENTION, GRADIENTS)]
        means, drawn = _means(columns, seed)
        if not np.isfinite(means).all():
            continue  # not one pair has a PCC that counts
        units = min(effective_units(one.originals[one.counted].tolist()) for one in columns)
        gaps, drawn_gaps = (np.stack([one[..., 0] - one[..., 1], one[..., 2] - one[..., 3]]) for one in (means, drawn))
        m, p, both, less = (
            (float(weights @ gaps), *interval(weights @ drawn_gaps, units)[:2])
            for weights in np.array([[1, 0], [0, 1], [1, 1], [1, -1]])
        )
        about = {"dataset": dataset, "model": model, "dimension": ALL}
        for claim, metric, expected, found in (
            (BY_PCC, PCC, "above", p),
            (NEARER, "MAP and PCC", "below", opposed(both, less)),
            (ALIKE, "MAP and PCC", "below", opposed(m, p)),
        ):
            named = {"claim": claim, **about, "metric": metric, "expected": expected}
            rows.append(named | dict(zip(ENDS, found, strict=True)))
    return pd.DataFrame(rows, columns=["claim", "dataset", "model", "metric", "dimension", "expected", *ENDS])


def _means(columns: Sequence[Values], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Means of what counts, shape (n,), and the same over samples of originals, shape (samples, n); of the same pairs
    in the same order."""
    counted, every = np.column_stack([one.counted for one in columns]), np.ones(len(columns[0].values), bool)
    drawn = resampled_means(
        np.column_stack([one.values for one in columns]), columns[0].originals.tolist(), counted, seed=seed
    )
    return np.array([one.mean(every) for one in columns]), drawn
