"""Page 32, longer rationales (paper 003, section 5.3, Figure 1): its tables, its figure, its conclusions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics import middle, resampled_means
from probekit.probes.rationales import DIMENSIONS, RationaleSet
from probekit.report.tables import across, pick
from probekit.report.text import escape, number, title

from notebooks.rationales.ask import ATTENTION, GRADIENTS, ORACLE, RANDOM, Saliency
from notebooks.rationales.paper import ABOVE, AS_IT_STANDS, LONG, SHORT
from notebooks.rationales.scores import faithfulness, plausibility

RATIOS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
SHOWN = [0.1, 0.3, 0.5, 0.7, 1.0]
MIDDLE = RATIOS.index(0.5)
METRICS = ("F1", "MAP")
LINES = (ATTENTION, GRADIENTS, RANDOM, ORACLE)
MEAN = "mean of dimensions"
SAMPLES = 2000
KEYS = ["dataset", "model", "method", "weights"]
CAPTIONS = {
    "lengths": "F1 and MAP by the share of words taken as rationale, as they stand and less those of random scores",
    "directions": "The paper's sentences on its Figure 1, each as a number above zero where it holds",
}
Array = npt.NDArray[np.float64]
Measured = Sequence[tuple[Saliency, pd.DataFrame]]
Tables = Mapping[str, pd.DataFrame]


def tables(sets: Mapping[str, RationaleSet], saliencies: Sequence[Saliency]) -> dict[str, pd.DataFrame]:
    """All tables of the page.

    Args:
        sets: of ``ask.load_sets``; one without marked rationales has no F1.
        saliencies: of ``ask.attribute_all``.
    """
    measured = [(one, values(sets[one.dataset], one.table)) for one in saliencies]
    return {"lengths": lengths(measured), "directions": directions(measured)}


def values(items: RationaleSet, saliency: pd.DataFrame) -> pd.DataFrame:
    """F1 of every record with a rationale, and the term of MAP of every pair, at every ratio.

    Args:
        items: the records.
        saliency: word scores of these records, as ``attribute`` gives them.

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


def _scored(items: RationaleSet, saliency: pd.DataFrame, metric: str, ratio: float) -> pd.DataFrame:
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
                for place, ratio in enumerate(RATIOS):
                    low, high = middle(sample[:, place])
                    above_low, above_high = middle(gained[:, place])
                    about = one.about() | {"dimension": name, "metric": metric, "ratio": ratio}
                    about |= {"estimate": curve[place], "low": low, "high": high}
                    about |= {"above": gain[place], "above_low": above_low, "above_high": above_high}
                    rows.append(about | {"n": int(n)})
    columns = [*KEYS, "dimension", "metric", "ratio", "estimate", "low", "high"]
    return pd.DataFrame(rows, columns=[*columns, "above", "above_low", "above_high", "n"])


def directions(measured: Measured) -> pd.DataFrame:
    """What section 5.3 says of Figure 1, of every model and method, each as one number above zero where it holds.

    Asked of the curves as they stand, and of what they lie above those of random scores on the same records: a longer
    list of words at random has a greater F1 and MAP, too. Sets that lack one of the five dimensions give none.

    Returns:
        ``claim, dataset, model, method, weights, measured, estimate, low, high``.
    """
    rows: list[dict[str, object]] = []
    for (one, table), above in zip(measured, above_chance(measured), strict=True):
        if not one.model:
            continue
        for name, asked in ((AS_IT_STANDS, table), (ABOVE, above)):
            curves = {metric: draws(asked, metric) for metric in METRICS}
            if any(known != list(DIMENSIONS) for known, _, _ in curves.values()):
                continue
            for claim, (metric, statistic) in STATISTICS.items():
                _, means, drawn = curves[metric]
                low, high = middle(statistic(drawn))
                about = {"claim": claim, **one.about(), "measured": name, "estimate": float(statistic(means))}
                rows.append(about | {"low": low, "high": high})
    columns = ["claim", *KEYS, "measured", "estimate", "low", "high"]
    return pd.DataFrame(rows, columns=columns).sort_values("claim", kind="stable", ignore_index=True)


def _of(curves: Array, group: Sequence[str]) -> Array:
    """The curves of some dimensions, shape (..., dimensions, ratios)."""
    return curves[..., [DIMENSIONS.index(name) for name in group], :]


def _least_rise(curves: Array) -> Array:
    """The smallest rise from the first ratio to the last among the three dimensions of long rationales."""
    long = _of(curves, LONG)
    return np.asarray((long[..., -1] - long[..., 0]).min(-1))


def _peak(curves: Array) -> Array:
    """How far the middle lies above both ends, the least of grammar and semantics."""
    short = _of(curves, SHORT)
    return np.asarray((short[..., MIDDLE] - np.maximum(short[..., 0], short[..., -1])).min(-1))


def _slower(curves: Array) -> Array:
    """Mean rise of the three dimensions of long rationales less that of the two of short ones."""
    rise = [(one[..., -1] - one[..., 0]).mean(-1) for one in (_of(curves, LONG), _of(curves, SHORT))]
    return np.asarray(rise[0] - rise[1])


def _first_half(curves: Array) -> Array:
    """Mean rise over the dimensions from the first ratio to the middle."""
    return np.asarray((curves[..., MIDDLE] - curves[..., 0]).mean(-1))


STATISTICS: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "003-12a": ("F1", _least_rise),
    "003-12b": ("MAP", _least_rise),
    "003-12c": ("F1", _peak),
    "003-12d": ("MAP", _slower),
    "003-12e": ("F1", _first_half),
}


def conclusions(tables: Tables) -> pd.DataFrame:
    """The directions, of trained models: each above zero where the paper's sentence holds."""
    columns = ["claim", "dataset", "model", "method", "measured", "estimate", "low", "high"]
    return tables["directions"].reindex(columns=columns).assign(unit="original")


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


def answer(tables: Tables, dataset: str, model: str) -> str:
    """How far F1 and MAP of attention lie above those of random scores for short and for longer lists."""
    curves = of_model(tables["lengths"], dataset, model)
    metrics = [metric for metric in METRICS if len(pick(curves, metric=metric))]
    leads = {m: [at(curves, m, ATTENTION, ratio, "above") for ratio in (0.1, 0.5)] for m in metrics}
    sides = {np.sign(round(short - half, 3)) for short, half in leads.values()}
    message = {
        1.0: "The longer the list, the nearer it comes to chance.",
        -1.0: "Longer lists stand out more from chance.",
    }
    tenth, half = (" and ".join(f"{points[place]:.2f} ({m})" for m, points in leads.items()) for place in (0, 1))
    return (
        f"{escape(title(dataset))}: with the attention of {escape(title(model))}, a list of a tenth of the words lies "
        f"above one by random scores by {tenth}, and a list of half of them by {half}. "
        + (message.get(sides.pop(), "") if len(sides) == 1 else "")
    ).strip()


def by_share(table: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """F1 and MAP of a set at some shares, for reading: metric, model and method down, shares across."""
    rows = pick(table, dataset=dataset, dimension=summary(pick(table, dataset=dataset)))
    rows = rows[np.isclose(rows["ratio"].to_numpy()[:, None], SHOWN).any(1)]
    rows = rows.assign(model=rows["model"].replace("", "no model").map(title)).sort_values("metric", kind="stable")
    return across(rows, ["metric", "model", "method"], "ratio", digits=2)


def in_full(rows: pd.DataFrame) -> pd.DataFrame:
    """Each claim as it stands and above random scores, for reading: a column per model and method."""
    who = rows["model"].map(title) + ", " + rows["method"]
    return across(rows.assign(who=who), ["claim", "measured"], "who", digits=2)
