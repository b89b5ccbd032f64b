"""Numbers that paper 001 prints of its sixteen models, judged by ours of the same models on the same data.

Nothing is drawn: ours agrees where it rounds, or is cut, to what is printed, and a place in a ranking where it is the
printed one. A run without one of the sixteen decides nothing, whatever else it asked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd

from probekit.metrics.decisions import FLOOR
from probekit.metrics.printed import fit

from notebooks.templates.paper_tables import row_of, table5

Row = dict[str, Any]


def of_paper(values: Mapping[str, float]) -> pd.Series:
    """The values of the paper's models by their printed names, in the paper's order; empty unless all are there."""
    named = {row_of(model): value for model, value in values.items()}
    rows = table5().index
    return pd.Series(named, dtype=float)[list(rows)] if set(rows) <= set(named) else pd.Series(dtype=float)


def mean_row(about: Row, values: Mapping[str, float], printed: str) -> list[Row]:
    """The mean over the sixteen models beside the printed one: a conclusion, or none where a model is missing.

    Args:
        about: the columns that say what it is, ``claim`` among them.
        values: ours, by model, in the unit of ``printed``.
        printed: digits as the paper prints them.
    """
    if (models := of_paper(values)).empty:
        return []
    mean = float(models.mean())
    verdict = "contradicts" if fit(mean, printed) == "neither" else "agrees"
    return [about | {"estimate": mean, "n": len(models), "verdict": verdict}]


def place_row(
    about: Row, accuracy: Mapping[str, float], low: Collection[str], models: Collection[str], places: Collection[int]
) -> list[Row]:
    """Whether one of these models has one of these places among the sixteen: a conclusion, or none as in ``mean_row``.

    Models with the same Acc@1 share their places, and whoever may or may not have the printed one decides nothing.

    Args:
        about: as in ``mean_row``.
        accuracy: Acc@1 by model.
        low: models at the floor, whose place says nothing.
        models: names in the registry; where the paper leaves open who is meant, several.
        places: printed, 1 is the best.
    """
    if (scores := of_paper(accuracy)).empty:
        return []
    first, last = (scores.rank(ascending=False, method=method).astype(int) for method in ("min", "max"))
    spans = [range(first[row_of(one)], last[row_of(one)] + 1) for one in models if one not in low]
    about = about | {"n": len(scores)}
    if not spans:
        return [about | {"estimate": int(first[[row_of(one) for one in models]].min()), "verdict": FLOOR}]
    nearest = min(spans, key=lambda span: min(abs(place - aim) for place in span for aim in places))
    if any(set(span) <= set(places) for span in spans):
        verdict = "agrees"
    else:
        verdict = "undecided" if any(set(span) & set(places) for span in spans) else "contradicts"
    return [about | {"estimate": nearest[0], "verdict": verdict}]
