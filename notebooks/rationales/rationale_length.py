"""Page 32, longer rationales (paper 003, section 5.3, Figure 1): its tables, its figure, its conclusions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd

from probekit.metrics.decisions import Estimated
from probekit.probes.rationales import DIMENSIONS, RationaleSet
from probekit.report.tables import across, pick
from probekit.report.text import title
from probekit.report.verdicts import conclude

from notebooks.rationales.ask import ATTENTION, GRADIENTS, ORACLE, RANDOM, Saliency
from notebooks.rationales.measures import Array, Means, Statistic, faithfulness, plausibility
from notebooks.rationales.paper import ABOVE, AS_IT_STANDS, LONG, SHORT
from notebooks.rationales.prediction import floors, judged
from notebooks.rationales.saliency import F1, KEYS, MAP, NO_MODEL

RATIOS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
SHOWN = [0.1, 0.3, 0.5, 0.7, 1.0]
MIDDLE = RATIOS.index(0.5)
METRICS = (F1, MAP)
LINES = (ATTENTION, GRADIENTS, RANDOM, ORACLE)
MEAN = "mean of dimensions"
SPANS = ["estimate", "low", "high", "above", "above_low", "above_high"]
CAPTIONS = {
    "lengths": "F1 and MAP by the share of words taken as rationale, as they stand and minus those of random scores",
    "directions": "The paper's sentences on its Figure 1, each as numbers above zero where it holds",
    "floors": "Accuracy of first fillings beside that of the best constant answer",
}
Tables = Mapping[str, pd.DataFrame]
Measured = Sequence[tuple[Saliency, pd.DataFrame]]


def tables(
    sets: Mapping[str, RationaleSet], predictions: pd.DataFrame, saliencies: Sequence[Saliency]
) -> dict[str, pd.DataFrame]:
    """All tables of the page.

    Args:
        sets: of ``ask.load_sets``; one without marked rationales has no F1.
        predictions: of ``ask.predict_all``.
        saliencies: of ``attributing.attribute_all``.
    """
    measured = [(saliency, values(sets[saliency.dataset], saliency.table)) for saliency in saliencies]
    return {"lengths": lengths(measured), "directions": directions(measured), "floors": floors(predictions, sets)}


def values(items: RationaleSet, saliency: pd.DataFrame | None) -> pd.DataFrame:
    """F1 of every record with a rationale, and the term of MAP of every pair, at every ratio.

    Args:
        items: the records.
        saliency: word scores of these records, as ``attribute`` gives them; None for the expectation of random scores.

    Returns:
        ``original`` (id; records of one original are not independent), ``dimension``, ``metric``, and one column for
        each of ``RATIOS``.
    """
    parts = []
    for metric, measure, column in ((F1, plausibility, "f1"), (MAP, faithfulness, "ap")):
        rows = {ratio: measure(items, saliency, ratio) for ratio in RATIOS}
        first = rows[RATIOS[0]]
        original = first["original_id"].where(first["original_id"] != "", first["id"])
        table = pd.DataFrame({"original": original, "dimension": first["dimension"], "metric": metric})
        parts.append(table.join(pd.DataFrame({ratio: scores[column] for ratio, scores in rows.items()})))
    return pd.concat(parts, ignore_index=True)


def curves(table: pd.DataFrame, metric: str) -> Means:
    """The mean curve of each of ``dimensions_of`` by one metric: a column a dimension and ratio.

    Args:
        table: of ``values``, or a difference of two.
        metric: F1 or MAP.
    """
    rows = pick(table, metric=metric)
    values = rows[list(RATIOS)].to_numpy(float)
    members = [(rows["dimension"] == name).to_numpy() for name in dimensions_of(table, metric)]
    means = Means.of(
        np.hstack([np.where(member[:, None], values, np.nan) for member in members]), list(rows["original"])
    )
    return means._replace(at=np.concatenate([values[member].mean(0) for member in members]))  # without zeros between


def dimensions_of(table: pd.DataFrame, metric: str) -> list[str]:
    """The dimensions of which there are values by one metric, in the paper's order."""
    return [name for name in DIMENSIONS if name in set(pick(table, metric=metric)["dimension"])]


def _point(means: Means, places: Sequence[int], ratio: int) -> Estimated:
    """The mean of the dimensions at these places at one of ``RATIOS``, with its interval."""
    columns = [place * len(RATIOS) + ratio for place in places]
    return means.measure(lambda of: of[..., columns].mean(-1), columns)


def above_chance(measured: Measured) -> list[pd.DataFrame]:
    """Of each of ``measured``, its values minus those of random scores on the same records and pairs."""
    ratios = list(RATIOS)
    chance = {saliency.dataset: table[ratios] for saliency, table in measured if saliency.method == RANDOM}
    return [
        pd.concat([table.drop(columns=ratios), table[ratios] - chance[saliency.dataset]], axis=1)
        for saliency, table in measured
    ]


def lengths(measured: Measured) -> pd.DataFrame:
    """Every curve with its interval over originals.

    Returns:
        ``dataset, model, method, weights, dimension`` (with ``MEAN``, where there are several), ``metric, ratio``,
        ``estimate, low, high``; ``above, above_low, above_high``, what lies above random scores; ``n`` (records or
        pairs).
    """
    rows: list[dict[str, object]] = []
    for (saliency, table), above in zip(measured, above_chance(measured), strict=True):
        for metric in METRICS:
            sizes = pick(table, metric=metric)["dimension"].value_counts()
            dimensions = dimensions_of(table, metric)
            groups = {name: [name] for name in dimensions}
            groups |= {MEAN: dimensions} if len(groups) > 1 else {}
            both = [curves(values, metric) for values in (table, above) if groups]
            for (name, members), (place, ratio) in product(groups.items(), enumerate(RATIOS)):
                labels = {**saliency.labels(), "dimension": name, "metric": metric, "ratio": ratio}
                places = [dimensions.index(member) for member in members]
                spans = [number for means in both for number in _point(means, places, place)]
                rows.append(labels | dict(zip(SPANS, spans, strict=True)) | {"n": sizes[members].sum()})
    return pd.DataFrame(rows, columns=[*KEYS, "dimension", "metric", "ratio", *SPANS, "n"])


def directions(measured: Measured) -> pd.DataFrame:
    """What section 5.3 says of Figure 1, of every model and method, each as numbers above zero where it holds.

    A sentence on several dimensions gives a number for each, or for each two that it compares. Asked of the curves as
    they stand, and of what they lie above the expectation of random scores on the same records, for a longer list of
    words at random has a greater F1 and MAP, too. That F1 is greater at 1.0 is not asked above random scores: there
    every score takes all words. Sets that lack one of the five dimensions give none.

    Returns:
        ``claim, dataset, model, method, weights, measured, dimension`` (what is compared)``, estimate, low, high,
        units`` (effective originals of the dimension with fewest).
    """
    rows: list[dict[str, object]] = []
    for (saliency, table), above in zip(measured, above_chance(measured), strict=True):
        whole = all(dimensions_of(table, metric) == [*DIMENSIONS] for metric in METRICS)
        for name, values in ((AS_IT_STANDS, table), (ABOVE, above)) if saliency.model and whole else ():
            means = {metric: curves(values, metric) for metric in METRICS}
            for claim, metric, what, dimensions, statistic in SENTENCES:
                if name != ABOVE or claim != "003-12a":
                    at = [DIMENSIONS.index(dimension) * len(RATIOS) for dimension in dimensions]
                    number = means[metric].measure(statistic, at)
                    labels = saliency.labels() | {"measured": name, "dimension": what}
                    row = dict(zip((*SPANS[:3], "units"), (*number, means[metric].units(at)), strict=True))
                    rows += conclude(claim, [row], **labels)
    columns = ["claim", *KEYS, "measured", "dimension", *SPANS[:3], "units"]
    return pd.DataFrame(rows, columns=columns).sort_values("claim", kind="stable", ignore_index=True)


def _rise(name: str, start: int, end: int) -> Statistic:
    """How much a dimension's curve rises from one ratio to another."""
    place = DIMENSIONS.index(name)
    return lambda means: _curves(means)[..., place, end] - _curves(means)[..., place, start]


def _curves(means: Array) -> Array:
    """In shape (..., dimensions, ratios)."""
    return means.reshape(*means.shape[:-1], len(DIMENSIONS), len(RATIOS))


def _slower(first: str, second: str) -> Statistic:
    """How much less the first dimension's curve rises over all ratios than the second's."""
    rise, other = _rise(first, 0, -1), _rise(second, 0, -1)
    return lambda means: other(means) - rise(means)


def _first_half(means: Array) -> Array:
    """Mean rise over the dimensions from the first ratio to the middle."""
    curves = _curves(means)
    return np.asarray((curves[..., MIDDLE] - curves[..., 0]).mean(-1))


# claim, metric, what is compared, the dimensions it rests on, and a number above zero where the sentence holds
SENTENCES: list[tuple[str, str, str, Sequence[str], Statistic]] = [
    *(("003-12a", F1, name, [name], _rise(name, 0, -1)) for name in LONG),
    *(("003-12b", MAP, name, [name], _rise(name, 0, -1)) for name in LONG),
    *(("003-12c", F1, f"{name}, 0.5 over 0.1", [name], _rise(name, 0, MIDDLE)) for name in SHORT),
    *(("003-12c", F1, f"{name}, 0.5 over 1.0", [name], _rise(name, -1, MIDDLE)) for name in SHORT),
    *(("003-12d", MAP, f"{a}, {b}", [a, b], _slower(a, b)) for a in SHORT for b in LONG),
    ("003-12e", F1, MEAN, DIMENSIONS, _first_half),
]


def conclusions(tables: Tables) -> pd.DataFrame:
    """The directions, of trained models: each above zero where the paper's sentence holds."""
    return judged(tables["directions"].drop(columns="weights", errors="ignore"), tables["floors"])


# ---- for reading ----------------------------------------------------------------------------------------------------


def summary(table: pd.DataFrame) -> str:
    """The dimension to speak of: the mean of them where there are several."""
    dimensions = list(table["dimension"].unique())
    return MEAN if MEAN in dimensions else str(dimensions[0])


def of_model(table: pd.DataFrame, dataset: str, model: str) -> pd.DataFrame:
    """The curves of one model on one set, and those of the controls."""
    return pick(table, dataset=dataset, model=[model, ""])


def chart(curves: pd.DataFrame) -> pd.DataFrame:
    """Curves for ``lines``: a panel per dimension and metric, F1 on the left."""
    rows = curves[curves["dimension"].isin(DIMENSIONS)]
    order = [f"{name}, {metric}" for name in DIMENSIONS for metric in METRICS]
    rows = rows.assign(panel=rows["dimension"] + ", " + rows["metric"])
    return rows.sort_values("panel", key=lambda names: names.map(order.index), kind="stable")


def at(curves: pd.DataFrame, metric: str, method: str, ratio: float, column: str = "estimate") -> float:
    """A point of the curve that ``summary`` names: ``estimate``, or ``above`` random scores; nan without one."""
    rows = pick(curves, metric=metric, method=method, dimension=summary(curves))
    rows = rows[np.isclose(rows["ratio"], ratio)]
    return float(rows[column].iloc[0]) if len(rows) else float("nan")


def by_share(table: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """F1 and MAP of a set at some shares: metric, model and method down, shares across."""
    rows = pick(table, dataset=dataset, dimension=summary(pick(table, dataset=dataset)))
    rows = rows[np.isclose(rows["ratio"].to_numpy()[:, None], SHOWN).any(1)]
    rows = rows.assign(model=rows["model"].replace("", NO_MODEL).map(title)).sort_values("metric", kind="stable")
    return across(rows, ["metric", "model", "method"], "ratio", digits=2)


def in_full(rows: pd.DataFrame) -> pd.DataFrame:
    """Each number behind a claim, as it stands and above random scores: a column per model and method."""
    who = rows["model"].map(title) + ", " + rows["method"]
    return across(rows.assign(who=who), ["claim", "dimension", "measured"], "who", digits=2)
