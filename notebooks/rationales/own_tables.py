"""Page 39, what Tables 3 to 11 of paper 003 say of its sentences when its models are the units: its tables."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import pandas as pd

from probekit.probes.rationales import DIMENSIONS
from probekit.report.tested import on_claims

from notebooks.rationales.paper import LANGUAGES, METHODS, PRINTED, falls, gap, ratios, scores, tests, with_share

CAPTIONS = {
    "tests": "What the paper says, tested over its models, lineages or pairs of them, or dimensions",
    "lift": "F1 of Tables 5 and 9, the share of marked words, which random words would reach, and the difference",
    "length": "Correlation over the five dimensions with the share of words that are marked, for each model and method",
    "methods": "Attention minus integrated gradients, by model and dimension",
    "falls": "Top 1 accuracy on perturbed inputs minus that on original ones, in points, by model and dimension",
}


def tables() -> dict[str, pd.DataFrame]:
    """The tables of page 39, computed from the printed ones alone."""
    return {
        "tests": tests(),
        "lift": lift(),
        "length": length(),
        "methods": _long({(code, metric): gap(code, metric) for code in LANGUAGES for metric in PRINTED[:3]}, "metric"),
        "falls": _long({(code, "top 1"): falls(code) for code in LANGUAGES}, "measure"),
    }


def _long(parts: Mapping[tuple[str, str], pd.DataFrame], measure: str) -> pd.DataFrame:
    named = {(LANGUAGES[code], name): table for (code, name), table in parts.items()}
    return pd.concat(named, names=["language", measure, "model"]).reset_index()


def lift() -> pd.DataFrame:
    """Table ``lift``: ``language, dimension, model, method, F1, random, above``."""
    rows = []
    for code, method, dimension in product(LANGUAGES, METHODS, DIMENSIONS):
        share = ratios(code)[dimension]
        for model, f1 in scores(code, "F1", method)[dimension].items():
            named = {"language": LANGUAGES[code], "dimension": dimension, "model": model, "method": method}
            rows.append(named | {"F1": f1, "random": share, "above": f1 - share})
    return pd.DataFrame(rows)


def length() -> pd.DataFrame:
    """Table ``length``: ``language, model, method, F1, above, room, MAP``, each the correlation with the share of
    marked words over the five dimensions (see ``with_share``)."""
    rows = []
    for code, method in product(LANGUAGES, METHODS):
        measures = with_share(code, method)
        for model in measures["F1"].index:
            r = {name: table.loc[model].corr(ratios(code)) for name, table in measures.items()}
            rows.append({"language": LANGUAGES[code], "model": model, "method": method} | r)
    return pd.DataFrame(rows)


def conclusions(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The tests that speak of a claim, one row each; none of them is a run of a model."""
    return on_claims(tables["tests"])
