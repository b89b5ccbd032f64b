"""How often the masked word is right: Tables 3, 4 and 8 of paper 003 for any sets and models, with intervals."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from probekit.report.parts import holds

from probekit.metrics import middle, resampled_means
from probekit.probes.rationales import CONTRASTS, DIMENSIONS, RationaleSet, rationale_statistics

ALL = "all"
PARTS = (ALL, "original", "perturbed")
TOPS = (1, 3)
LEARNED, UNLEARNED = ("grammar", "semantics"), ("knowledge", "reasoning", "computation")  # section 5.2
CLAIM = "003-02b"


def tables(sets: Mapping[str, RationaleSet], predictions: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """All tables of the page: ``statistics, accuracy, changes, conclusions``.

    Args:
        sets: of ``asking.load_sets``.
        predictions: of ``asking.predict_all``. Contrasts, whose answer changes, are left out.
    """
    kept = predictions[~predictions["perturbation"].isin(CONTRASTS)]
    return {
        "statistics": statistics(sets),
        "accuracy": accuracy(kept),
        "changes": changes(kept),
        "conclusions": conclusions(kept),
    }


def statistics(sets: Mapping[str, RationaleSet]) -> pd.DataFrame:
    """Table 3: ``dataset`` and the columns of ``rationale_statistics``, of every set."""
    return pd.concat([rationale_statistics(items).assign(dataset=name) for name, items in sets.items()])[
        ["dataset", "language", "dimension", "originals", "pairs", "words", "ratio"]
    ].reset_index(drop=True)


def _groups(predictions: pd.DataFrame) -> list[tuple[dict[str, str], pd.DataFrame]]:
    """Rows of each set and model: all together, and, where there are several dimensions, each."""
    found = []
    for (dataset, model), rows in predictions.groupby(["dataset", "model"], sort=False):
        about = {"dataset": str(dataset), "model": str(model)}
        found.append((about | {"dimension": ALL}, rows))
        named = [name for name in DIMENSIONS if (rows["dimension"] == name).any()]
        for name in named if len(named) > 1 else ():
            found.append((about | {"dimension": name}, rows[rows["dimension"] == name]))
    return found


def _hits(rows: pd.DataFrame, top: int) -> np.ndarray:
    return rows["rank"].between(1, top).to_numpy(dtype=float)


def accuracy(predictions: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Tables 4 and 8: the share of records with a gold among the first fillings.

    Returns:
        One row per set, model, dimension (and ``all``), part (all, original, perturbed) and ``top`` (1 or 3):
        ``records``, ``originals`` (the independent ones: intervals draw originals with their perturbed records),
        ``estimate, low, high``, and ``unknown``, the share of records no gold of which the model's vocabulary can
        spell.
    """
    found = []
    for about, rows in _groups(predictions):
        original = (rows["perturbation"] == "none").to_numpy()
        for part, member in zip(PARTS, (np.ones(len(rows), bool), original, ~original), strict=True):
            if not member.any():
                continue
            of = rows[member]
            counts = {"records": len(of), "originals": of["original"].nunique(), "unknown": of["unknown"].mean()}
            hits = np.column_stack([_hits(of, top) for top in TOPS])
            drawn = resampled_means(hits, of["original"].tolist(), seed=seed)
            for top, own, samples in zip(TOPS, hits.T, drawn.T, strict=True):
                low, high = middle(samples)
                shares = {"top": top, "estimate": own.mean(), "low": low, "high": high}
                found.append(about | {"part": part} | counts | shares)
    columns = ["dataset", "model", "dimension", "part", "top", "records", "originals", "estimate", "low", "high"]
    return pd.DataFrame(found)[[*columns, "unknown"]]


def changes(predictions: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Accuracy of perturbed less that of original records, on originals that have perturbed records.

    Returns:
        One row per set, model, dimension (and ``all``) and ``top``: ``originals, estimate, low, high``.
    """
    found = []
    columns = ["dataset", "model", "dimension", "top", "originals", "estimate", "low", "high"]
    for about, every in _groups(predictions):
        paired = every.loc[every["perturbation"] != "none", "original"]
        rows = every[every["original"].isin(paired)]
        if rows.empty:
            continue
        perturbed = (rows["perturbation"] != "none").to_numpy()
        for top in TOPS:
            estimate, low, high = _difference(rows, _hits(rows, top), perturbed, seed)
            counts = {"top": top, "originals": rows["original"].nunique()}
            found.append(about | counts | {"estimate": estimate, "low": low, "high": high})
    return pd.DataFrame(found, columns=columns)


def _difference(
    rows: pd.DataFrame, values: np.ndarray, member: np.ndarray, seed: int = 0
) -> tuple[float, float, float]:
    """Mean of the values of members less that of the others, with its interval over originals."""
    included = np.column_stack([member, ~member])
    drawn = resampled_means(np.column_stack([values, values]), rows["original"].tolist(), included, seed=seed)
    low, high = middle(drawn[:, 0] - drawn[:, 1])
    return float(values[member].mean() - values[~member].mean()), low, high


def conclusions(predictions: pd.DataFrame) -> pd.DataFrame:
    """Whether grammar and semantics are answered better than the three other dimensions (section 5.2), at top 1.

    Returns:
        One row per set with both groups of dimensions, and model: ``claim, dataset, model, estimate`` (mean
        accuracy in grammar and semantics less that in the others, records weighing alike)``, low, high, holds`` (see
        ``parts.holds``).
    """
    found = []
    for (dataset, model), rows in predictions.groupby(["dataset", "model"], sort=False):
        learned = rows["dimension"].isin(LEARNED).to_numpy()
        if learned.all() or not rows["dimension"].isin(LEARNED + UNLEARNED).all() or not learned.any():
            continue
        estimate, low, high = _difference(rows, _hits(rows, 1), learned)
        about = {"claim": CLAIM, "dataset": dataset, "model": model}
        found.append(about | {"estimate": estimate, "low": low, "high": high, "holds": holds(low, high)})
    return pd.DataFrame(found, columns=["claim", "dataset", "model", "estimate", "low", "high", "holds"])


def pick(table: pd.DataFrame, **wanted: object) -> pd.DataFrame:
    """Rows whose columns have these values."""
    for column, value in wanted.items():
        table = table[table[column] == value]
    return table
