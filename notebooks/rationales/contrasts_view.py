"""Differences between sources of word scores, as the page of saliency says and shows them."""

from __future__ import annotations

import pandas as pd
from probekit.report.parts import agreement

from probekit.probes.rationales import DIMENSIONS
from probekit.report.text import escape, interval

from notebooks.rationales.asking import title
from notebooks.rationales.prediction import pick
from notebooks.rationales.saliency import ALL, BETTER, F1, LEARNED, MAP, SENSIBLE

WHAT = {
    BETTER: "attention less integrated gradients",
    LEARNED: "less random scores",
    SENSIBLE: "less the same on random weights",
}
SIDES = {"agrees": "above zero", "contradicts": "below zero", "undecided": "undecided"}


def _told(row: pd.Series) -> str:
    return interval(row["estimate"], row["low"], row["high"], 2)


def sentences(contrasts: pd.DataFrame, dataset: str) -> list[str]:
    """Every difference over all records with its interval, and on which side of zero it lies."""
    told = []
    for claim, what in WHAT.items():
        for metric in (F1, MAP):
            parts = [
                f"{'' if claim == BETTER else f'{row.method} of '}`{row.model}` "
                f"{interval(row.estimate, row.low, row.high, 2)}, {SIDES[agreement(row.low, row.high)]}"
                for row in pick(contrasts, dataset=dataset, claim=claim, metric=metric, dimension=ALL).itertuples()
            ]
            if parts:
                told.append(f"{metric}, {what}: {'; '.join(parts)}.")
    return told


def tally(contrasts: pd.DataFrame, dataset: str) -> str:
    """Over all records of a set, how many differences of each kind lie above and below zero; empty of none."""
    told = []
    for claim, what in WHAT.items():
        parts = []
        for metric in (F1, MAP):
            rows = pick(contrasts, dataset=dataset, claim=claim, metric=metric, dimension=ALL)
            sides = [agreement(row.low, row.high) for row in rows.itertuples()]
            if sides:
                above, below = sides.count("agrees"), sides.count("contradicts")
                parts.append(f"{metric} above zero in {above} of {len(sides)}{f', below in {below}' if below else ''}")
        if parts:
            told.append(f"{what}: {' and '.join(parts)}")
    return f"{escape(title(dataset))}, {'; '.join(told)}." if told else ""


def overview(contrasts: pd.DataFrame) -> pd.DataFrame:
    """A row for each method of each model on each set, a column for each difference over all records."""
    rows = []
    of = pick(contrasts, dimension=ALL)
    for (dataset, model, method), found in of.groupby(["dataset", "model", "method"], sort=False):
        row = {"Set": title(str(dataset)), "Model": model, "Scores by": method}
        for claim, what in WHAT.items():
            for metric in (F1, MAP):
                one = pick(found, claim=claim, metric=metric)
                row[f"{metric}, {what}"] = _told(one.iloc[0]) if len(one) else "–"
        rows.append(row)
    return pd.DataFrame(rows)


def by_dimension(contrasts: pd.DataFrame) -> pd.DataFrame:
    """A row for each difference, a column for each dimension; a dash where a set has none of it."""
    rows = []
    known = [name for name in (ALL, *DIMENSIONS) if name in set(contrasts["dimension"])]
    keys = ["dataset", "model", "method", "claim", "metric"]
    for (dataset, model, method, claim, metric), found in contrasts.groupby(keys, sort=False):
        row = {"Set": title(str(dataset)), "Model": model, "Scores by": method, "Difference": WHAT[str(claim)]}
        cells = {str(one["dimension"]): _told(one) for _, one in found.iterrows()}
        rows.append(row | {"Metric": metric} | {name.capitalize(): cells.get(name, "–") for name in known})
    return pd.DataFrame(rows)
