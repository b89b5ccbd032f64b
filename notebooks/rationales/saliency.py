"""Tables 5 and 9 of paper 003 with controls: word scores judged by dimension, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from probekit.report.parts import holds

from probekit.metrics import middle, resampled_means
from probekit.probes.rationales import DIMENSIONS, RationaleSet

from notebooks.rationales.asking import ATTENTION, GRADIENTS, RANDOM, RANDOM_WEIGHTS, TRAINED, Saliency
from notebooks.rationales.scores import faithfulness, plausibility

ALL = "all"
F1, MAP, PCC, MAP_KEPT, PCC_ALL, KEPT = "F1", "MAP", "PCC", "MAP*", "PCC, all pairs", "share kept"
METRICS = (F1, MAP, PCC, MAP_KEPT, PCC_ALL, KEPT)
ABOUT = ["dataset", "model", "method", "weights"]
BETTER, LEARNED, SENSIBLE = "003-08c", "method above random scores", "trained above random weights"


class Values(NamedTuple):
    """One metric of one saliency: a value per record or pair, of which some count.

    Args:
        values: shape (n,), 0 where it does not count.
        counted: shape (n,).
        originals: id of the original of each; those of one are drawn together.
        dimensions: of each.
    """

    values: np.ndarray
    counted: np.ndarray
    originals: np.ndarray
    dimensions: np.ndarray

    def mean(self, member: np.ndarray) -> float:
        """Mean of what counts among ``member``; nan of nothing."""
        chosen = self.counted & member
        return float(self.values[chosen].mean()) if chosen.any() else float("nan")


def values(items: RationaleSet, saliency: pd.DataFrame) -> dict[str, Values]:
    """The metrics of every record (F1) and pair (the others) by name.

    PCC and MAP* count kept pairs (p below 0.05), *PCC, all pairs* those where it is defined, and *share kept* is over
    all pairs of a kind that PCC is made for.
    """
    plausible, faithful = plausibility(items, saliency), faithfulness(items, saliency)
    found = {}
    if len(plausible):
        originals = plausible["original_id"].where(plausible["original_id"] != "", plausible["id"])
        every = np.ones(len(plausible), bool)
        found[F1] = Values(
            plausible["f1"].to_numpy(float), every, originals.to_numpy(), plausible["dimension"].to_numpy()
        )
    if len(faithful):
        kept, eligible = faithful["kept"].to_numpy(bool), faithful["eligible"].to_numpy(bool)
        ap, pcc = faithful["ap"].to_numpy(float), faithful["pcc"].to_numpy(float)
        counted = {
            MAP: (ap, np.ones(len(ap), bool)),
            PCC: (pcc, kept),
            MAP_KEPT: (ap, kept),
            PCC_ALL: (pcc, np.isfinite(pcc)),
            KEPT: (kept.astype(float), eligible),
        }
        originals, dimensions = faithful["original_id"].to_numpy(), faithful["dimension"].to_numpy()
        for name, (one, member) in counted.items():
            found[name] = Values(np.where(member, one, 0.0), member, originals, dimensions)
    return found


def _members(one: Values) -> dict[str, np.ndarray]:
    """All, and of several dimensions each, as rows."""
    named = [name for name in DIMENSIONS if (one.dimensions == name).any()]
    each = {name: one.dimensions == name for name in named} if len(named) > 1 else {}
    return {ALL: np.ones(len(one.values), bool)} | each


def tables(sets: Mapping[str, RationaleSet], found: Sequence[Saliency], seed: int = 0) -> dict[str, pd.DataFrame]:
    """All tables of the page: ``interpretability, contrasts, completeness, errors``.

    Args:
        sets: of ``asking.load_sets``.
        found: of ``asking.attribute_all``.
        seed: of the bootstrap.
    """
    scored = [(one, values(sets[one.dataset], one.table)) for one in found]
    return {
        "interpretability": interpretability(scored, seed),
        "contrasts": contrasts(scored, seed),
        "completeness": completeness(found),
        "errors": errors(found),
    }


def interpretability(scored: Sequence[tuple[Saliency, dict[str, Values]]], seed: int = 0) -> pd.DataFrame:
    """Every metric of every saliency by dimension, with 95% intervals over originals.

    Returns:
        ``dataset, model, method, weights, dimension, metric, n`` (records or pairs that count), ``estimate, low,
        high``; an estimate of nothing is nan.
    """
    rows = []
    for saliency, metrics in scored:
        for metric, one in metrics.items():
            for dimension, member in _members(one).items():
                counted = (one.counted & member)[:, None]
                drawn = resampled_means(one.values[:, None], one.originals.tolist(), counted, seed=seed)
                low, high = middle(drawn)
                cells = {"dimension": dimension, "metric": metric, "n": int(counted.sum())}
                rows.append(saliency.about() | cells | {"estimate": one.mean(member), "low": low, "high": high})
    return pd.DataFrame(rows, columns=[*ABOUT, "dimension", "metric", "n", "estimate", "low", "high"])


def contrasts(scored: Sequence[tuple[Saliency, dict[str, Values]]], seed: int = 0) -> pd.DataFrame:
    """Differences of F1 and of MAP on the same records: attention less integrated gradients (claim 003-08), each method
    less random scores, and each method on the trained model less on random weights.

    Returns:
        ``claim, dataset, model, method, metric, dimension, estimate, low, high, holds`` (see ``parts.holds``).
    """
    by = {(one.dataset, one.model, one.method, one.weights): metrics for one, metrics in scored}
    rows = []
    for (dataset, model, method, weights), metrics in by.items():
        if weights != TRAINED:
            continue
        others = {LEARNED: ("", RANDOM, ""), SENSIBLE: (model, method, RANDOM_WEIGHTS)}
        if method == ATTENTION:
            others[BETTER] = (model, GRADIENTS, TRAINED)
        for claim, other in others.items():
            second = by.get((dataset, *other), {})
            for metric in (F1, MAP):
                if metric in metrics and metric in second:
                    about = {"claim": claim, "dataset": dataset, "model": model, "method": method, "metric": metric}
                    rows += [about | row for row in _differences(metrics[metric], second[metric], seed)]
    columns = ["claim", "dataset", "model", "method", "metric", "dimension", "estimate", "low", "high", "holds"]
    return pd.DataFrame(rows, columns=columns)


def _differences(one: Values, other: Values, seed: int) -> list[dict[str, object]]:
    """Means of the paired differences by dimension; both hold the same records in the same order."""
    rows = []
    difference = one.values - other.values
    for dimension, member in _members(one).items():
        drawn = resampled_means(difference[:, None], one.originals.tolist(), member[:, None], seed=seed)
        low, high = middle(drawn)
        estimate = float(difference[member].mean())
        rows.append({"dimension": dimension, "estimate": estimate, "low": low, "high": high, "holds": holds(low, high)})
    return rows


def errors(found: Sequence[Saliency]) -> pd.DataFrame:
    """Completeness error of every record under integrated gradients: ``dataset, model, weights, id, change, error``."""
    frames = [
        one.table[["id", "change", "error"]].assign(dataset=one.dataset, model=one.model, weights=one.weights)
        for one in found
        if one.method == GRADIENTS
    ]
    columns = ["dataset", "model", "weights", "id", "change", "error"]
    return pd.concat(frames, ignore_index=True)[columns] if frames else pd.DataFrame(columns=columns)


def completeness(found: Sequence[Saliency]) -> pd.DataFrame:
    """The distribution of these errors: ``dataset, model, weights, records, median, p90, p99, largest, below_1``.

    ``below_1`` is the share of records whose error is below one percent of the change that is explained.
    """
    rows = []
    for (dataset, model, weights), table in errors(found).groupby(["dataset", "model", "weights"], sort=False):
        error = table["error"].dropna()
        p50, p90, p99 = error.quantile([0.5, 0.9, 0.99])
        about = {"dataset": dataset, "model": model, "weights": weights, "records": len(error)}
        shares = {"median": p50, "p90": p90, "p99": p99, "largest": error.max(), "below_1": (error < 0.01).mean()}
        rows.append(about | shares)
    columns = ["dataset", "model", "weights", "records", "median", "p90", "p99", "largest", "below_1"]
    return pd.DataFrame(rows, columns=columns)
