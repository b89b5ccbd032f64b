"""Erasure on page 31: what predictions lose without the words of the highest scores, and with these words alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from probekit.metrics import effective_units, estimate_row, resampled_means
from probekit.report.tables import across, pick
from probekit.report.text import title
from probekit.report.verdicts import concluded
from probekit.scoring.saliency.erasure import SHARES

from notebooks.rationales.ask import ATTENTION, GRADIENTS, METHODS, ORACLE, RANDOM

AREA = "mean of shares"  # DeYoung et al. (2020): the area over the perturbation curve, without its first, empty bin
COMPREHENSIVENESS, SUFFICIENCY = "comprehensiveness", "sufficiency"
MEASURES = (COMPREHENSIVENESS, SUFFICIENCY)
KEYS = ["dataset", "model", "erased"]
FAITHFUL = {"agrees": "more", "contradicts": "less"}  # a verdict on attention less integrated gradients -> the word


def _parts(losses: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.DataFrame, list[str]]]:
    """By set, model, way of erasing and measure: what they are, a row per record with a column per method and share
    (the mean over the shares among them), and the original of each row."""
    if losses.empty:
        return
    named = [*KEYS, "method", "id", "original", "share"]
    long = losses.melt(named, list(MEASURES), var_name="measure", value_name="loss")
    wide = long.pivot(index=[*KEYS, "measure", "original", "id"], columns=["method", "share"], values="loss")
    for values, group in wide.groupby(level=[*KEYS, "measure"], sort=False):
        table = group.dropna(axis=1, how="all").copy()
        for method in table.columns.get_level_values(0).unique():
            table[method, AREA] = table[method][list(SHARES)].mean(axis=1)
        yield dict(zip([*KEYS, "measure"], values, strict=True)), table, list(table.index.get_level_values("original"))


def _intervals(columns: np.ndarray, originals: Sequence[str], seed: int) -> list[dict[str, float]]:
    """``estimate, low, high`` of the mean of each column, shape (records, columns), over originals."""
    drawn = resampled_means(columns, originals, seed=seed)
    return [estimate_row(columns[:, i].mean(), drawn[:, i], originals) for i in range(columns.shape[1])]


def means(losses: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Mean losses of every method and control by share of the words, and over the shares, intervals over originals.

    Args:
        losses: of ``attributing.erase_all``.

    Returns:
        ``dataset, model, erased, method, measure, share`` (or ``AREA``), ``records, estimate, low, high``. High
        comprehensiveness and low sufficiency are faithful.
    """
    rows = []
    for labels, table, originals in _parts(losses):
        for method in [name for name in (*METHODS, RANDOM, ORACLE) if name in table]:
            loss = table[method]
            for share, mean in zip(loss, _intervals(loss.to_numpy(float), originals, seed), strict=True):
                rows.append(labels | {"method": method, "share": str(share), "records": len(table)} | mean)
    columns = [*KEYS, "method", "measure", "share", "records", "estimate", "low", "high"]
    return pd.DataFrame(rows).reindex(columns=columns)


def contrasts(losses: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Differences of the losses over all shares on the same records, signed so that above zero is more faithful.

    Returns:
        ``dataset, model, erased, measure, method, against`` (integrated gradients, of attention; random scores),
        ``estimate, low, high, units`` (effective originals).
    """
    rows = []
    for labels, table, originals in _parts(losses):
        units = effective_units(originals)
        sign = 1 if labels["measure"] == COMPREHENSIVENESS else -1
        pairs = [(name, RANDOM) for name in (*METHODS, ORACLE) if name in table]
        pairs += [(ATTENTION, GRADIENTS)] if {ATTENTION, GRADIENTS} <= {name for name, _ in pairs} else []
        gaps = [sign * (table[method, AREA] - table[other, AREA]).to_numpy(float)[:, None] for method, other in pairs]
        for (method, other), gap in zip(pairs, gaps, strict=True):
            (mean,) = _intervals(gap, originals, seed)
            rows.append(labels | {"method": method, "against": other, "units": units} | mean)
    columns = [*KEYS, "measure", "method", "against", "estimate", "low", "high", "units"]
    return pd.DataFrame(rows).reindex(columns=columns)


def side(erased: pd.DataFrame, dataset: str, model: str, way: str = "deleted") -> str:
    """Whether attention is the ``more`` or the ``less`` faithful than integrated gradients by erasure.

    By both measures, each as any conclusion is judged; else ``undecided``. Empty without such a contrast.
    """
    rows = pick(erased, dataset=dataset, model=model, erased=way, method=ATTENTION, against=GRADIENTS)
    if len(rows) < len(MEASURES):
        return ""
    words = {*by_map(rows.assign(claim=""))}
    return words.pop() if len(words) == 1 else "undecided"


def by_map(gaps: pd.DataFrame) -> list[str]:
    """The same of each row of attention less integrated gradients in MAP."""
    return [FAITHFUL.get(verdict, "undecided") for verdict in concluded(gaps)["verdict"]]


def counted(erased: pd.DataFrame, gaps: pd.DataFrame, dataset: str) -> str:
    """MAP and erasure over several models: of how many each says which.

    Args:
        erased: of ``contrasts``.
        gaps: attention less integrated gradients in MAP, a row a model, of ``saliency.contrasts``.
    """
    models = list(gaps["model"])
    by_loss = [side(erased, dataset, model) for model in models]
    return (
        f"Attention has a higher MAP than integrated gradients for {by_map(gaps).count('more')} of {len(models)} "
        "models, and is less faithful by what a prediction loses without the best-scored words for "
        f"{by_loss.count('less')}."
    )


def beside_random(table: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Mean losses over the shares, for reading: methods down, measures and ways of erasing across."""
    rows = pick(table, dataset=dataset, share=AREA)
    rows = rows.assign(what=rows["measure"] + ", " + rows["erased"], model=rows["model"].map(title))
    return across(rows, ["model", "method"], "what", digits=3)
