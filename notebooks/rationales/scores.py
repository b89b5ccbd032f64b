"""From word scores to the metrics of each record and each pair, for any method, model or control."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from probekit.metrics.alignment import aligned_scores
from probekit.metrics.correlation import pearson
from probekit.metrics.rationale import LEVEL, average_precision, instance_f1, ranked_words, rationale_length
from probekit.probes.rationales import RationaleSet, rationale_statistics

ALIGNABLE = ("dispensable", "important", "unstated")  # word by word; not transformations (section 4)


def dimension_ratios(items: RationaleSet) -> dict[tuple[str, str], float]:
    """Mean rationale length over input length of each language and dimension, as K needs it (section 5.1)."""
    table = rationale_statistics(items)
    return {(row.language, row.dimension): float(row.ratio) for row in table.itertuples()}


def plausibility(
    items: RationaleSet, saliency: pd.DataFrame, ratios: Mapping[tuple[str, str], float] | float | None = None
) -> pd.DataFrame:
    """F1 of every record that has a marked rationale.

    Args:
        items: the records.
        saliency: of ``attribute``, ``random_saliency`` or ``oracle_saliency``, for these records.
        ratios: rationale length over input length by language and dimension; one number for all (Figure 1); None
            takes those of ``items``.

    Returns:
        ``id, original_id, language, dimension, perturbation, k`` (words of the predicted rationale), ``f1``.
    """
    given = dimension_ratios(items) if ratios is None else ratios
    scores = saliency.set_index("id")
    rows = []
    for item in items.items.itertuples():
        if not item.rationales:
            continue
        scored = scores.loc[item.id]
        ratio = given if isinstance(given, int | float) else given[item.language, item.dimension]
        k = rationale_length(ratio, len(scored["words"]))
        best = [scored["positions"][place] for place in ranked_words(scored["scores"])[:k]]
        about = (item.id, item.original_id, item.language, item.dimension, item.perturbation)
        rows.append((*about, k, instance_f1(best, item.rationales)))
    columns = ["id", "original_id", "language", "dimension", "perturbation", "k", "f1"]
    return pd.DataFrame(rows, columns=columns)


def faithfulness(items: RationaleSet, saliency: pd.DataFrame, ratio: float | None = None) -> pd.DataFrame:
    """Agreement of the word scores of every perturbed record with those of its original.

    Args:
        items: the records.
        saliency: as in ``plausibility``.
        ratio: MAP's i runs up to this share of the perturbed words (Figure 1); None for all of them.

    Returns:
        ``id, original_id, dimension, language, perturbation``; ``ap`` (the pair's term of MAP), ``pcc`` and
        ``pvalue`` (nan for transformations and contrasts, and where undefined), ``eligible`` (whether PCC is defined
        for this kind of perturbation), ``kept`` (p below 0.05: the pairs of the paper's PCC and MAP*).
    """
    scores = saliency.set_index("id")
    table = items.pairs
    found = []
    for pair in table.itertuples():
        first, second = scores.loc[pair.original_id], scores.loc[pair.id]
        ranked = [[one["words"][n] for n in ranked_words(one["scores"])] for one in (first, second)]
        upto = None if ratio is None else rationale_length(ratio, len(ranked[1]))
        ap = average_precision(ranked[0], ranked[1], upto)
        eligible = pair.perturbation in ALIGNABLE
        pcc = pvalue = np.nan
        if eligible:
            pcc, pvalue, _ = pearson(
                *aligned_scores(first["words"], second["words"], first["scores"], second["scores"])
            )
        found.append((ap, pcc, pvalue, eligible, bool(pvalue < LEVEL)))
    made = pd.DataFrame(found, columns=["ap", "pcc", "pvalue", "eligible", "kept"])
    return pd.concat([table, made], axis=1)
