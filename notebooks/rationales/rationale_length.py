"""Page 32, longer rationales (paper 003, section 5.3, Figure 1): its tables, its figure, its conclusions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics import correlation_interval, effective_units, interval, pearson, resampled_means
from probekit.metrics.decisions import enough
from probekit.probes.rationales import DIMENSIONS, RationaleSet
from probekit.report.tables import across, pick
from probekit.report.text import number, title

from notebooks.rationales import paper
from notebooks.rationales.ask import ATTENTION, GRADIENTS, ORACLE, RANDOM, TRAINED, Saliency
from notebooks.rationales.paper import ABOVE, AS_IT_STANDS, LONG, SHORT
from notebooks.rationales.scores import dimension_ratios, faithfulness, floors, judged, plausibility

RATIOS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
SHOWN = [0.1, 0.3, 0.5, 0.7, 1.0]
MIDDLE = RATIOS.index(0.5)
METRICS = ("F1", "MAP")
WITH_LENGTH = {"003-12g": "F1", "003-12h": "MAP"}  # claim -> what goes with the length ratio over the dimensions
LINES = (ATTENTION, GRADIENTS, RANDOM, ORACLE)
MEAN = "mean of dimensions"
SAMPLES = 2000
KEYS = ["dataset", "model", "method", "weights"]
CAPTIONS = {
    "lengths": "F1 and MAP by the share of words taken as rationale, as they stand and less those of random scores",
    "directions": "The paper's sentences on its Figure 1, each as numbers above zero where it holds",
    "over_dimensions": "Correlation of F1 and of MAP with the length ratio over the dimensions, of the paper's models",
    "floors": "Accuracy of first fillings beside that of the best constant answer",
}
Array = npt.NDArray[np.float64]
Measured = Sequence[tuple[Saliency, pd.DataFrame]]
Tables = Mapping[str, pd.DataFrame]


def tables(
    sets: Mapping[str, RationaleSet], predictions: pd.DataFrame, saliencies: Sequence[Saliency]
) -> dict[str, pd.DataFrame]:
    """All tables of the page.

    Args:
        sets: of ``ask.load_sets``; one without marked rationales has no F1.
        predictions: of ``ask.predict_all``.
        saliencies: of ``attributing.attribute_all``.
    """
    measured = [(one, values(sets[one.dataset], one.table)) for one in saliencies]
    return {
        "lengths": lengths(measured),
        "directions": directions(measured),
        "over_dimensions": over_dimensions(sets, saliencies),
        "floors": floors(sets, predictions),
    }


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
    for metric, column in zip(METRICS, ("f1", "ap"), strict=True):
        scored = [_scored(items, saliency, metric, ratio) for ratio in RATIOS]
        about = scored[0][["id", "original_id", "dimension"]]
        original = about["original_id"].where(about["original_id"] != "", about["id"])
        wide = pd.DataFrame({ratio: one[column].to_numpy(float) for ratio, one in zip(RATIOS, scored, strict=True)})
        wide.insert(0, "metric", metric)
        parts.append(pd.concat([original.rename("original"), about["dimension"], wide], axis=1))
    return pd.concat(parts, ignore_index=True)


def _scored(items: RationaleSet, saliency: pd.DataFrame | None, metric: str, ratio: float) -> pd.DataFrame:
    return plausibility(items, saliency, ratio) if metric == "F1" else faithfulness(items, saliency, ratio)


def draws(table: pd.DataFrame, metric: str) -> tuple[list[str], Array, Array]:
    """Mean curves of the dimensions, and the same over samples of originals drawn with replacement.

    Args:
        table: of ``values``, or a difference of two.
        metric: F1 or MAP.

    Returns:
        The dimensions in the paper's order; means, shape (dimensions, ratios); draws, shape (samples, dimensions,
        ratios), nan where a sample holds nothing of a dimension.
    """
    rows = pick(table, metric=metric)
    known = [name for name in DIMENSIONS if name in set(rows["dimension"])]
    inside = np.array([(rows["dimension"] == name).to_numpy() for name in known])
    curves = rows[list(RATIOS)].to_numpy(float)
    means = np.array([curves[mask].mean(0) for mask in inside])
    if not known:
        return [], np.empty((0, len(RATIOS))), np.empty((SAMPLES, 0, len(RATIOS)))
    included = np.repeat(inside.T, len(RATIOS), axis=1)
    drawn = resampled_means(np.tile(curves, len(known)), list(rows["original"]), included, SAMPLES)
    return known, means, drawn.reshape(SAMPLES, len(known), len(RATIOS))


def _units(table: pd.DataFrame, metric: str, names: Sequence[str]) -> float:
    """Effective number of originals of the dimension among ``names`` that has the fewest."""
    rows = pick(table, metric=metric)
    return min(effective_units(rows.loc[rows["dimension"] == name, "original"].tolist()) for name in names)


def above_chance(measured: Measured) -> list[pd.DataFrame]:
    """Of each of ``measured``, its values less those of random scores on the same records and pairs."""
    chance = {one.dataset: table[list(RATIOS)] for one, table in measured if one.method == RANDOM}
    differences = []
    for one, table in measured:
        above = table.copy()
        above[list(RATIOS)] = table[list(RATIOS)] - chance[one.dataset]
        differences.append(above)
    return differences


def lengths(measured: Measured) -> pd.DataFrame:
    """Every curve with its interval over originals.

    Returns:
        ``dataset, model, method, weights, dimension`` (with ``MEAN``, where there are several), ``metric, ratio``,
        ``estimate, low, high``; ``above, above_low, above_high``, what lies above random scores; ``n`` (records or
        pairs).
    """
    rows: list[dict[str, object]] = []
    for (one, table), above in zip(measured, above_chance(measured), strict=True):
        for metric in METRICS:
            known, means, drawn = draws(table, metric)
            _, more, drawn_more = draws(above, metric)
            counts = pick(table, metric=metric)["dimension"].value_counts()
            curves = [(n, means[i], drawn[:, i], more[i], drawn_more[:, i], counts[n]) for i, n in enumerate(known)]
            if len(known) > 1:
                mean = (means.mean(0), drawn.mean(1), more.mean(0), drawn_more.mean(1))
                curves.append((MEAN, *mean, counts.sum()))
            for name, curve, sample, gain, gained, n in curves:
                units = _units(table, metric, known if name == MEAN else [name])
                for place, ratio in enumerate(RATIOS):
                    low, high = interval(sample[:, place], units)[:2]
                    above_low, above_high = interval(gained[:, place], units)[:2]
                    about = one.about() | {"dimension": name, "metric": metric, "ratio": ratio}
                    about |= {"estimate": curve[place], "low": low, "high": high}
                    about |= {"above": gain[place], "above_low": above_low, "above_high": above_high}
                    rows.append(about | {"n": int(n)})
    columns = [*KEYS, "dimension", "metric", "ratio", "estimate", "low", "high"]
    return pd.DataFrame(rows, columns=[*columns, "above", "above_low", "above_high", "n"])


def directions(measured: Measured) -> pd.DataFrame:
    """What section 5.3 says of Figure 1, of every model and method, each as numbers above zero where it holds.

    A sentence on several dimensions gives a number for each, or for each two that it compares. Asked of the curves as
    they stand, and of what they lie above the expectation of random scores on the same records, for a longer list of
    words at random has a greater F1 and MAP, too. That F1 is greater at 1.0 is not asked above random scores: there
    every score takes all words. Sets that lack one of the five dimensions give none.

    Returns:
        ``claim, dataset, model, method, weights, measured, dimension`` (what is compared)``, estimate, low, high``.
    """
    rows: list[dict[str, object]] = []
    for (one, table), above in zip(measured, above_chance(measured), strict=True):
        if not one.model:
            continue
        for name, asked in ((AS_IT_STANDS, table), (ABOVE, above)):
            curves = {metric: draws(asked, metric) for metric in METRICS}
            if any(known != list(DIMENSIONS) for known, _, _ in curves.values()):
                continue
            for claim, metric, what, names, statistic in SENTENCES:
                if name == ABOVE and claim == "003-12a":
                    continue
                _, means, drawn = curves[metric]
                low, high = interval(statistic(drawn), _units(asked, metric, names))[:2]
                about = {"claim": claim, **one.about(), "measured": name, "dimension": what}
                rows.append(about | {"estimate": float(statistic(means)), "low": low, "high": high})
    columns = ["claim", *KEYS, "measured", "dimension", "estimate", "low", "high"]
    return pd.DataFrame(rows, columns=columns).sort_values("claim", kind="stable", ignore_index=True)


def over_dimensions(sets: Mapping[str, RationaleSet], saliencies: Sequence[Saliency]) -> pd.DataFrame:
    """Whether F1, and MAP, go with the length ratio (Table 5 beside Table 3): Pearson's r over the five dimensions.

    The dimensions are the units, since a sentence on them is not surer for more records of each; so many words are
    taken as the ratio of the dimension asks for. Of the paper's Chinese models alone.

    Returns:
        The columns of ``directions``.
    """
    rows: list[dict[str, object]] = []
    for one in saliencies:
        items = sets[one.dataset]
        ratios = {dimension: ratio for (_, dimension), ratio in dimension_ratios(items).items()}
        if one.weights != TRAINED or one.model not in paper.models("zh") or set(ratios) != set(DIMENSIONS):
            continue
        for claim, metric in WITH_LENGTH.items():
            scored = plausibility(items, one.table) if metric == "F1" else faithfulness(items, one.table)
            means = scored.groupby("dimension")["f1" if metric == "F1" else "ap"].mean()
            found = pearson(means.reindex(list(ratios)), list(ratios.values()))
            low, high = correlation_interval(found.statistic, found.n)
            about = {"claim": claim, **one.about(), "measured": AS_IT_STANDS, "dimension": "over the dimensions"}
            rows.append(about | {"estimate": found.statistic, "low": low, "high": high})
    return pd.DataFrame(rows)


Statistic = Callable[[Array], Array]  # of curves of shape (..., dimensions, ratios)


def _rise(name: str, start: int, end: int) -> Statistic:
    """How much a dimension's curve rises from one ratio to another."""
    place = DIMENSIONS.index(name)
    return lambda curves: np.asarray(curves[..., place, end] - curves[..., place, start])


def _slower(first: str, second: str) -> Statistic:
    """How much less the first dimension's curve rises over all ratios than the second's."""
    one, other = _rise(first, 0, -1), _rise(second, 0, -1)
    return lambda curves: np.asarray(other(curves) - one(curves))


def _first_half(curves: Array) -> Array:
    """Mean rise over the dimensions from the first ratio to the middle."""
    return np.asarray((curves[..., MIDDLE] - curves[..., 0]).mean(-1))


# claim, metric, what is compared, the dimensions it rests on, and a number above zero where the sentence holds
SENTENCES: list[tuple[str, str, str, Sequence[str], Statistic]] = [
    *(("003-12a", "F1", name, [name], _rise(name, 0, -1)) for name in LONG),
    *(("003-12b", "MAP", name, [name], _rise(name, 0, -1)) for name in LONG),
    *(("003-12c", "F1", f"{name}, 0.5 over 0.1", [name], _rise(name, 0, MIDDLE)) for name in SHORT),
    *(("003-12c", "F1", f"{name}, 0.5 over 1.0", [name], _rise(name, -1, MIDDLE)) for name in SHORT),
    *(("003-12d", "MAP", f"{a}, {b}", [a, b], _slower(a, b)) for a in SHORT for b in LONG),
    ("003-12e", "F1", MEAN, DIMENSIONS, _first_half),
]


def conclusions(tables: Tables) -> pd.DataFrame:
    """The directions and correlations, of trained models: each above zero where the paper's sentence holds."""
    columns = ["claim", "dataset", "model", "method", "measured", "dimension", "unit", "estimate", "low", "high"]
    units = {"directions": "original", "over_dimensions": "dimension"}
    parts = [tables[name].assign(unit=unit).reindex(columns=columns) for name, unit in units.items()]
    rows = [part for part in parts if len(part)] or parts[:1]
    return judged(pd.concat(rows, ignore_index=True), tables["floors"])


def summary(table: pd.DataFrame) -> str:
    """The dimension to speak of: the mean of them where there are several."""
    known = list(table["dimension"].unique())
    return MEAN if MEAN in known else str(known[0])


def first_model(tables: Tables, dataset: str) -> str:
    """The model whose curves the page draws."""
    rows = pick(tables["lengths"], dataset=dataset)
    return str(rows.loc[rows["model"] != "", "model"].iloc[0])


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


def spoken(curves: pd.DataFrame) -> str:
    """The figure in words."""
    texts = []
    for metric in METRICS:
        for method in LINES:
            values = [number(at(curves, metric, method, ratio), 2) for ratio in (0.1, 0.5, 1.0)]
            texts.append(f"{metric} of {method} {', '.join(values)}")
    return f"Line charts by dimension. {summary(curves)} at shares 0.1, 0.5 and 1.0: {'; '.join(texts)}."


def answer(tables: Tables, dataset: str) -> str:
    """Which share of the oracle's lead over random words in F1 the attention of each model has, for short lists and for
    longer ones; without marked words, how far MAP of attention lies above that of random scores."""
    every, few = enough(pick(tables["lengths"], dataset=dataset), "n", f"records of {title(dataset)}")
    if few:
        return few
    models = [name for name in every["model"].unique() if name]
    metric = METRICS[0] if len(pick(every, metric=METRICS[0], method=ORACLE)) else METRICS[1]
    told = []
    for model in models:
        curves = of_model(every, dataset, model)
        short, half = (number(_lead(curves, metric, ratio), 2) for ratio in (0.1, 0.5))
        told.append(f"{short} at a tenth of the words and {half} at half of them for {title(model)}")
    if metric == METRICS[0]:
        begin = "Of the lead in F1 that the marked words themselves have over random words, attention has a share of "
    else:
        begin = "MAP of attention lies above that of random scores by "
    return f"{begin}{'; '.join(told)} ({title(dataset)})."


def _lead(curves: pd.DataFrame, metric: str, ratio: float) -> float:
    """What attention lies above random scores: in F1 as a share of what the oracle does."""
    lead, bound = (at(curves, metric, method, ratio, "above") for method in (ATTENTION, ORACLE))
    if metric != METRICS[0]:
        return lead
    return lead / bound if bound > 0 else float("nan")


def by_share(table: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """F1 and MAP of a set at some shares, for reading: metric, model and method down, shares across."""
    rows = pick(table, dataset=dataset, dimension=summary(pick(table, dataset=dataset)))
    rows = rows[np.isclose(rows["ratio"].to_numpy()[:, None], SHOWN).any(1)]
    rows = rows.assign(model=rows["model"].replace("", "no model").map(title)).sort_values("metric", kind="stable")
    return across(rows, ["metric", "model", "method"], "ratio", digits=2)


def in_full(rows: pd.DataFrame) -> pd.DataFrame:
    """Each number behind a claim, as it stands and above random scores, for reading: a column per model and method."""
    who = rows["model"].map(title) + ", " + rows["method"]
    return across(rows.assign(who=who), ["claim", "dimension", "measured"], "who", digits=2)
