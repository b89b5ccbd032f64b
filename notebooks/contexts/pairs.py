"""Study 2: what paper 002 says of pairs of its models: in two sizes, by what they read, by which measure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product

import numpy as np
import pandas as pd

from probekit.metrics.context import counted
from probekit.metrics.decisions import opposed
from probekit.report.tables import pick

from notebooks.contexts.pooling import Array, Column, falls, less, measured, rises

GENERAL, BIOMEDICAL = "general", "biomedical"
DOMAIN = {GENERAL: GENERAL, BIOMEDICAL: BIOMEDICAL, "biomedical fine-tuned": BIOMEDICAL}  # of a model's last text
FITTING = {
    "trex": GENERAL, "demo": GENERAL, "demo_bio": BIOMEDICAL, "pubmed": BIOMEDICAL, "medline": BIOMEDICAL,
    "pmc": BIOMEDICAL, "mimic": BIOMEDICAL,  # the paper's own, given by ``own`` under these names
}  # fmt: skip
SIZES = {  # larger and smaller -> the claim on their UCM_k, where Table 2 has both
    ("bert-large-cased", "bert-base-cased"): "002-07a",
    ("roberta-large", "roberta-base"): "002-07b",
    ("roberta-large-pm-m3", "roberta-base-pm-m3"): "002-07c",
    ("bluebert-large-pm-m3", "bluebert-base-pm-m3"): "",
}
TRAINED = (("roberta-base-pm", "roberta-base"), ("roberta-base-pm-m3", "roberta-base-pm"))  # further, and from where
ALIKE = ("biobert", "bio-clinicalbert")  # elsewhere, as the paper says
ACCURACY_APART = "002-04j"  # its rows are measures of one pair, not models
SHARES: dict[str, Callable[[pd.DataFrame], pd.Series]] = {
    "U": rises,
    "C": lambda rows: ~(rises(rows) | falls(rows)),
    "M": falls,
}
POOLED, BY_TRIPLE = "Understand", "Understand (UCM_k)"
Ends = tuple[float, float, float]
Row = tuple[object, ...]


def of_pairs(source: str, every: pd.DataFrame, categories: Mapping[str, str]) -> Iterator[Row]:
    """Rows of ``pooling.DIRECTION`` on the pairs that were asked, each above zero where a claim holds.

    Args:
        source: whose steps these are.
        every: as ``own`` of ``ucm.directions``, of one source.
        categories: what each model was trained on.
    """
    asked = set(every["model"])
    for claim, one, other, name, ends in _found(source, every, categories, asked):
        yield claim, source, f"{one} less {other}", name, *ends, pick(every, model=[one, other])["doc_id"].nunique()


def _found(
    source: str, every: pd.DataFrame, categories: Mapping[str, str], asked: set[str]
) -> Iterator[tuple[str, str, str, str, Ends]]:
    fitting = FITTING.get(source)
    known = {name: DOMAIN[categories[name]] for name in every["model"].unique() if categories.get(name) in DOMAIN}
    for one, other in product(known, known):
        if known[one] == fitting != known[other]:
            yield "002-09a", one, other, POOLED, _pooled(every, one, other, rises)
        if fitting == BIOMEDICAL and (known[one], known[other]) == (GENERAL, BIOMEDICAL):
            for k in (1, 5):
                yield "002-04i", one, other, f"Acc@{k} without", _accuracy(every, one, other, k)
    for (one, other), claim in SIZES.items():
        if {one, other} <= asked:
            yield "002-08a", one, other, POOLED, _pooled(every, one, other, rises)
            yield "002-08b", one, other, "Misunderstand", _pooled(every, other, one, falls)
            if claim:
                yield claim, one, other, BY_TRIPLE, _by_triple(every, one, other)
    for one, other in TRAINED:
        if {one, other} <= asked:
            yield "002-09b", one, other, POOLED, _pooled(every, one, other, rises)
            yield "002-09b", one, other, BY_TRIPLE, _by_triple(every, one, other)
    if set(ALIKE) <= asked:
        for k, share in product((1, 5), SHARES):
            yield ACCURACY_APART, *ALIKE, f"apart by Acc@{k} without more than by {share}", _apart(every, k, share)


def _pooled(every: pd.DataFrame, one: str, other: str, share: Callable[[pd.DataFrame], pd.Series]) -> Ends:
    """UCM_m, each document once: a share of the steps of one model less that of another."""
    pair = pick(every, model=[one, other])
    cells: list[Column] = [(share(pair), counted(pair) & (pair["model"] == name)) for name in (one, other)]
    return measured(pair, cells, less, once=True)


def _accuracy(every: pd.DataFrame, one: str, other: str, k: int) -> Ends:
    """Acc@k without context of one model less that of another, any correct object counting as right."""
    pair = pick(every, model=[one, other], step=1)
    return measured(pair, [(pair["any_before"] <= k, pair["model"] == name) for name in (one, other)], less)


def _triples(every: pd.DataFrame, one: str, other: str, share: str) -> pd.DataFrame:
    """A row per triple of either model, in the relations that both have: ``model, relation, doc_id, value``.

    ``value`` is the share of the triple's steps; its document is the first, as in ``metrics.context.ucm``.
    """
    pair = pick(every, model=[one, other])
    kept = pair[counted(pair)]
    rows = kept.assign(value=SHARES[share](kept).astype(float))
    rows = rows.groupby(["model", "relation", "triple_id"], sort=False).agg({"value": "mean", "doc_id": "first"})
    rows = rows.reset_index()
    return rows[rows.groupby("relation")["model"].transform("nunique") == 2].reset_index(drop=True)


def _cells(rows: pd.DataFrame, one: str, other: str) -> list[Column]:
    """The columns of ``pooling.measured`` for ``_over_relations``: every relation of one model, then of the other."""
    named = rows["relation"].dropna().unique()
    return [
        (rows["value"], (rows["model"] == name) & (rows["relation"] == relation))
        for name, relation in product((one, other), named)
    ]


def _over_relations(means: Array) -> Array:
    """UCM_k of the first model less that of the second, each the mean over the relations that were drawn."""
    half = means.shape[-1] // 2
    return np.asarray(np.nanmean(means[..., :half], axis=-1) - np.nanmean(means[..., half:], axis=-1))


def _by_triple(every: pd.DataFrame, one: str, other: str) -> Ends:
    """UCM_k: Understand of one model less that of another."""
    rows = _triples(every, one, other, "U")
    return measured(rows, _cells(rows, one, other), _over_relations)


def _apart(every: pd.DataFrame, k: int, share: str) -> Ends:
    """How much further Acc@k without context sets the two apart than a share of UCM_k, whichever of them is ahead.

    A gap x is wider than a gap y where x - y and x + y have one sign (see ``decisions.opposed``).
    """
    first = pick(every, model=list(ALIKE), step=1)
    hits = pd.DataFrame(
        {"model": first["model"], "doc_id": first["doc_id"], "value": (first["any_before"] <= k).astype(float)}
    )
    rows = pd.concat([hits, _triples(every, *ALIKE, share)], ignore_index=True)
    bare = rows["relation"].isna()
    cells = [(rows["value"], bare & (rows["model"] == name)) for name in ALIKE] + _cells(rows, *ALIKE)

    def gaps(sign: int) -> Ends:
        return measured(rows, cells, lambda means: less(means) + sign * _over_relations(means[..., 2:]))

    estimate, low, high = opposed(gaps(-1), gaps(1))
    return -estimate, -high, -low
