"""How many pairs there are, and how long the rationales (paper 003, Table 3)."""

from __future__ import annotations

import pandas as pd

from probekit.probes.probe import MASK
from probekit.probes.rationales import DIMENSIONS, RationaleSet


def rationale_ratios(items: RationaleSet) -> pd.Series:
    """Rationale length of each record over its words, the slot not counted; the mean where there are several.

    Returns:
        Index ``id``; NaN where no rationale is marked.
    """
    table = items.items
    ratios = [
        sum(map(len, rationales)) / len(rationales) / (len(words) - words.count(MASK)) if rationales else float("nan")
        for rationales, words in zip(table["rationales"], table["words"], strict=True)
    ]
    return pd.Series(ratios, index=pd.Index(table["id"], name="id"), name="ratio", dtype=float)


def rationale_statistics(items: RationaleSet) -> pd.DataFrame:
    """Table 3 of the paper for any data, by language and dimension, in the paper's order.

    Returns:
        ``language, dimension, originals, pairs`` (the paper's size: original and perturbed record), ``words`` (mean
        per record) and ``ratio`` (mean rationale length over input length, RRL, over all records with a rationale).
    """
    table = items.items.assign(
        ratio=rationale_ratios(items).to_numpy(), length=[len(w) - w.count(MASK) for w in items.items["words"]]
    )
    table["original"] = table["original_id"] == ""
    summary = (
        table.groupby(["language", "dimension"])
        .agg(
            originals=("original", "sum"),
            records=("original", "size"),
            words=("length", "mean"),
            ratio=("ratio", "mean"),
        )
        .reset_index()
    )
    summary.insert(3, "pairs", summary.pop("records") - summary["originals"])
    place = summary["dimension"].map({name: number for number, name in enumerate(DIMENSIONS)})
    return summary.assign(place=place).sort_values(["language", "place"], ignore_index=True).drop(columns="place")
