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
from probekit.scoring.saliency.erasure import MARKED

from notebooks.rationales.ask import ATTENTION, GRADIENTS, METHODS, ORACLE, RANDOM, RANDOM_WEIGHTS

# of the bins of DeYoung et al. (2020) those that differ in a sentence; as many as marked
ASKED = (0.1, 0.2, 0.5, MARKED)
AREA = "mean of shares"  # the area over the perturbation curve, without its first, empty bin
AS_MARKED = "as many as are marked"
COMPREHENSIVENESS, SUFFICIENCY = "comprehensiveness", "sufficiency"
MEASURES = (COMPREHENSIVENESS, SUFFICIENCY)
KEYS = ["dataset", "model", "erased"]
FAITHFUL = {"agrees": "more", "contradicts": "less"}  # a verdict on attention less integrated gradients -> the word


def _parts(losses: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.DataFrame, list[str]]]:
    """By set, model, way of erasing and measure: what they are, a row per record with a column per method and share,
    and the original of each row."""
    if losses.empty:
        return
    named = [*KEYS, "method", "id", "original", "share"]
    long = losses.melt(named, list(MEASURES), var_name="measure", value_name="loss")
    wide = long.pivot(index=[*KEYS, "measure", "original", "id"], columns=["method", "share"], values="loss")
    for values, group in wide.groupby(level=[*KEYS, "measure"], sort=False):
        table = group.dropna(axis=1, how="all")
        yield dict(zip([*KEYS, "measure"], values, strict=True)), table, list(table.index.get_level_values("original"))


def _intervals(columns: np.ndarray, originals: Sequence[str], seed: int) -> list[dict[str, float]]:
    """``estimate, low, high`` of the mean of each column, shape (records, columns), over originals; nan is left out."""
    inside = np.isfinite(columns)
    drawn = resampled_means(np.where(inside, columns, 0.0), originals, inside, seed=seed)
    return [estimate_row(np.nanmean(columns[:, i]), drawn[:, i], originals) for i in range(columns.shape[1])]


def means(losses: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Mean losses of every method and control by share of the words, intervals over originals.

    Args:
        losses: of ``attributing.erase_all``.

    Returns:
        ``dataset, model, erased, method, measure, share`` (``AREA`` and ``AS_MARKED`` among them), ``records,
        estimate, low, high``. High comprehensiveness and low sufficiency are faithful.
    """
    rows = []
    for labels, table, originals in _parts(losses):
        untrained = [f"{name}, {RANDOM_WEIGHTS}" for name in METHODS]
        for method in [name for name in (*METHODS, *untrained, RANDOM, ORACLE) if name in table]:
            loss = table[method]
            for share, mean in zip(loss, _intervals(loss.to_numpy(float), originals, seed), strict=True):
                rows.append(labels | {"method": method, "share": str(share), "records": len(table)} | mean)
    columns = [*KEYS, "method", "measure", "share", "records", "estimate", "low", "high"]
    return pd.DataFrame(rows).reindex(columns=columns)


def contrasts(losses: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Differences of the losses on the same records, signed so that above zero is more faithful: over the shares, and
    of the marked words and as many others.

    Returns:
        ``dataset, model, erased, measure, method, against`` (integrated gradients, of attention; random scores; random
        weights), ``share, estimate, low, high, units`` (effective originals).
    """
    rows = []
    for labels, table, originals in _parts(losses):
        units = effective_units(originals)
        sign = 1 if labels["measure"] == COMPREHENSIVENESS else -1
        pairs = [(name, RANDOM, AREA) for name in (*METHODS, ORACLE)] + [(ATTENTION, GRADIENTS, AREA)]
        pairs += [(name, f"{name}, {RANDOM_WEIGHTS}", AREA) for name in METHODS]
        pairs += [(ORACLE, RANDOM, AS_MARKED), (ATTENTION, ORACLE, AS_MARKED)]
        for method, other, share in pairs:
            if {(method, share), (other, share)} <= set(table.columns):
                gap = sign * (table[method, share] - table[other, share]).to_numpy(float)[:, None]
                (mean,) = _intervals(gap, originals, seed)
                rows.append(labels | {"method": method, "against": other, "share": share, "units": units} | mean)
    columns = [*KEYS, "measure", "method", "against", "share", "estimate", "low", "high", "units"]
    return pd.DataFrame(rows).reindex(columns=columns)


def side(erased: pd.DataFrame, dataset: str, model: str) -> str:
    """Whether attention is the ``more`` or the ``less`` faithful than integrated gradients by deleting words.

    By both measures, each as any conclusion is judged; else ``undecided``. Empty without such a contrast.
    """
    rows = pick(erased, dataset=dataset, model=model, erased="deleted", method=ATTENTION, against=GRADIENTS, share=AREA)
    if len(rows) < len(MEASURES):
        return ""
    words = {FAITHFUL.get(verdict, "undecided") for verdict in concluded(rows.assign(claim=""))["verdict"]}
    return words.pop() if len(words) == 1 else "undecided"


def beside_random(table: pd.DataFrame, dataset: str, share: str = AREA) -> pd.DataFrame:
    """Mean losses, for reading: methods down, measures and ways of erasing across."""
    rows = pick(table, dataset=dataset, share=share)
    rows = rows.assign(what=rows["measure"] + ", " + rows["erased"], model=rows["model"].map(title))
    return across(rows, ["model", "method"], "what", digits=3)
