"""F1 and MAP over the share of words taken as rationale (paper 003, Figure 1), for methods and controls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from probekit.report.parts import holds

from probekit.metrics import middle, resampled_means
from probekit.probes.rationales import DIMENSIONS, RationaleSet

from notebooks.rationales.asking import RANDOM, Saliency
from notebooks.rationales.scores import faithfulness, plausibility

RATIOS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MIDDLE = RATIOS.index(0.5)
METRICS = ("F1", "MAP")
MEAN = "mean of dimensions"
LONG, SHORT = ("knowledge", "reasoning", "computation"), ("grammar", "semantics")  # as section 5.3 groups them
AS_IT_STANDS, ABOVE = "as it stands", "above random scores"
SAMPLES = 2000
KEYS = ["dataset", "model", "method", "weights"]
Array = npt.NDArray[np.float64]
Measured = Sequence[tuple[Saliency, pd.DataFrame]]

CONCLUSIONS = {
    "003-12a": "In knowledge, reasoning and computation F1 is greater at ratio 1.0 than at 0.1.",
    "003-12b": "In knowledge, reasoning and computation MAP is greater at ratio 1.0 than at 0.1.",
    "003-12c": "In grammar and semantics F1 is greater at ratio 0.5 than at 0.1 and at 1.0.",
    "003-12d": "From ratio 0.1 to 1.0 MAP rises less in grammar and semantics than in the other three dimensions.",
    "003-12e": "Short rationales are less plausible: F1 is lower at ratio 0.1 than at 0.5, mean of the dimensions.",
}


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
        told = [_scored(items, saliency, metric, ratio) for ratio in RATIOS]
        about = told[0][["id", "original_id", "dimension"]]
        original = about["original_id"].where(about["original_id"] != "", about["id"])
        wide = pd.DataFrame({ratio: one[column].to_numpy(float) for ratio, one in zip(RATIOS, told, strict=True)})
        wide.insert(0, "metric", metric)
        parts.append(pd.concat([original.rename("original"), about["dimension"], wide], axis=1))
    return pd.concat(parts, ignore_index=True)


def _scored(items: RationaleSet, saliency: pd.DataFrame, metric: str, ratio: float) -> pd.DataFrame:
    return plausibility(items, saliency, ratio) if metric == "F1" else faithfulness(items, saliency, ratio)


def draws(of: pd.DataFrame, metric: str) -> tuple[list[str], Array, Array]:
    """Mean curves of the dimensions, and the same over samples of originals drawn with replacement.

    Args:
        of: of ``values``, or a difference of two.
        metric: F1 or MAP.

    Returns:
        The dimensions in the paper's order; means, shape (dimensions, ratios); draws, shape (samples, dimensions,
        ratios), nan where a sample holds nothing of a dimension.
    """
    rows = of[of["metric"] == metric]
    known = [name for name in DIMENSIONS if name in set(rows["dimension"])]
    inside = np.array([(rows["dimension"] == name).to_numpy() for name in known])
    table = rows[list(RATIOS)].to_numpy(float)
    means = np.array([table[mask].mean(0) for mask in inside])
    if not known:
        return [], np.empty((0, len(RATIOS))), np.empty((SAMPLES, 0, len(RATIOS)))
    included = np.repeat(inside.T, len(RATIOS), axis=1)
    drawn = resampled_means(np.tile(table, len(known)), list(rows["original"]), included, SAMPLES)
    return known, means, drawn.reshape(SAMPLES, len(known), len(RATIOS))


def measure(sets: Mapping[str, RationaleSet], found: Sequence[Saliency]) -> Measured:
    """``values`` of every method, model and control.

    Args:
        sets: by name; one without marked rationales has no F1.
        found: of ``attribute_all``.
    """
    return [(one, values(sets[one.dataset], one.table)) for one in found]


def above_chance(measured: Measured) -> list[pd.DataFrame]:
    """Of each of ``measured``, its values less those of random scores on the same records and pairs."""
    chance = {one.dataset: of[list(RATIOS)] for one, of in measured if one.method == RANDOM}
    found = []
    for one, of in measured:
        above = of.copy()
        above[list(RATIOS)] = of[list(RATIOS)] - chance[one.dataset]
        found.append(above)
    return found


def lengths(measured: Measured) -> pd.DataFrame:
    """Every curve with its interval over originals.

    Returns:
        ``dataset, model, method, weights, dimension`` (with ``MEAN``, where there are several), ``metric, ratio``,
        ``estimate, low, high``; ``above, above_low, above_high``, what lies above random scores; ``n`` (records or
        pairs).
    """
    rows: list[dict[str, object]] = []
    for (one, of), above in zip(measured, above_chance(measured), strict=True):
        for metric in METRICS:
            known, means, drawn = draws(of, metric)
            _, more, drawn_more = draws(above, metric)
            counts = of[of["metric"] == metric]["dimension"].value_counts()
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


def conclusions(measured: Measured) -> pd.DataFrame:
    """What section 5.3 says of Figure 1, of every model and method, each as one number above zero where it holds.

    Asked of the curves as they stand, and of what they lie above those of random scores on the same records: a longer
    list of words at random has a greater F1 and MAP, too. Sets that lack one of the five dimensions give none.

    Returns:
        ``claim, dataset, model, method, weights, measured, estimate, low, high, holds`` (see ``parts.holds``).
    """
    rows: list[dict[str, object]] = []
    for (one, of), above in zip(measured, above_chance(measured), strict=True):
        if not one.model:
            continue
        for name, table in ((AS_IT_STANDS, of), (ABOVE, above)):
            curves = {metric: draws(table, metric) for metric in METRICS}
            if any(known != list(DIMENSIONS) for known, _, _ in curves.values()):
                continue
            for claim, (metric, statistic) in STATISTICS.items():
                _, means, drawn = curves[metric]
                low, high = middle(statistic(drawn))
                about = {"claim": claim, **one.about(), "measured": name, "estimate": float(statistic(means))}
                rows.append(about | {"low": low, "high": high, "holds": holds(low, high)})
    columns = ["claim", *KEYS, "measured", "estimate", "low", "high", "holds"]
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
