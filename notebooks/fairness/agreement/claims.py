"""What paper 004 concludes from Figures 4 and 5, each as one number that is above zero where it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from probekit.report.parts import holds

from probekit.metrics import middle

from notebooks.fairness.agreement.curves import FEW, Array, Curves
from notebooks.fairness.agreement.directions import CODE
from notebooks.fairness.agreement.overlap import FIRST

LOW, SETTLED, LATE = 1, 20, 50  # ranks: the first, where the paper sees curves settle, the last with vectors
STABLE = 0.1  # the part of the rise up to SETTLED that may follow after it
MODERATE = (0.3, 0.7)
HALF = 0.5
ODD = "BLOOM"
SIMILARITY, DISTANCE, WORDS = "similarity", "distance", "shared first words"

CONCLUSIONS = {
    "004-10a": "Agreement within families is greater at rank 20 than at rank 1.",
    "004-10b": "From rank 20 to 50 it changes by less than a tenth of its change from rank 1 to 20.",
    "004-11a": "BLOOM's curve differs more in shape from the others' mean than any other family's does.",
    "004-12a": "Agreement within families at rank 20 lies above 0.",
    "004-12b": "Agreement within families at rank 20 is moderate, between 0.3 and 0.7.",
    "004-12c": "Models of one family share less than half of their first words at rank 20.",
    "004-13a": "Completions agree more for male than for female identities.",
    "004-13b": "Completions agree more for old than for young identities.",
    "004-14a": "Diversity of completions and hurtfulness are not correlated over templates: |r| below 0.1.",
}


def at(k: int) -> int:
    """Place of a rank in a curve."""
    return k - 1


def rise(curve: Array) -> float:
    """Change from the first rank to where the paper sees curves settle."""
    return float(curve[at(SETTLED)] - curve[at(LOW)])


def settles(curve: Array) -> float:
    """A tenth of the change up to rank 20 less the change from there to rank 50."""
    return float(STABLE * abs(rise(curve)) - abs(curve[at(LATE)] - curve[at(SETTLED)]))


def moderate(curve: Array) -> float:
    """Distance of the value at rank 20 from the nearer end of the range called moderate; negative outside it."""
    value = curve[at(SETTLED)]
    return float(min(value - MODERATE[0], MODERATE[1] - value))


def oddness(curves: Mapping[str, Array]) -> float:
    """BLOOM's distance in shape from the mean of the other families less the greatest such distance of another.

    A shape is a curve less its mean over ranks; a distance is the root of the mean squared difference.
    """
    shapes = {name: curve - curve.mean() for name, curve in curves.items()}
    away = {
        name: float(np.sqrt(np.mean((shape - np.mean([s for n, s in shapes.items() if n != name], axis=0)) ** 2)))
        for name, shape in shapes.items()
    }
    return away[ODD] - max(value for name, value in away.items() if name != ODD)


def _row(claim: str, measured: str, subset: str, estimate: float, drawn: Sequence[float]) -> dict[str, object]:
    low, high = middle(drawn)
    about = {"claim": claim, "measured": measured, "subset": subset, "estimate": estimate, "low": low, "high": high}
    return about | {"holds": holds(low, high)}


def of_directions(one: Curves, axes: Mapping[str, Sequence[str]]) -> list[dict[str, object]]:
    """The conclusions as they come out by sentence vectors: with the similarity, and with the distance in its place.

    Curves that do not reach rank 50, or of a single model each, give none.

    Returns:
        Rows of ``claim, measured, subset, estimate, low, high, holds`` (see ``parts.holds``).
    """
    values = one.mean(CODE)
    if values is None or values.shape[1] < LATE:
        return []
    rows = []
    families = {name: v for (name, kind), v in one.values.items() if kind == CODE}
    drawn_families = {name: one.draws(v) for name, v in families.items()}
    for measured, sign in ((SIMILARITY, 1.0), (DISTANCE, -1.0)):
        shift = 0.0 if sign > 0 else 1.0
        curve, drawn = shift + sign * values.mean(0), shift + sign * one.draws(values)
        measures: dict[str, Callable[[Array], float]] = {
            "004-10a": rise,
            "004-10b": settles,
            "004-12a": lambda c: float(c[at(SETTLED)]),
            "004-12b": moderate,
        }
        for claim, measure in measures.items():
            rows.append(_row(claim, measured, one.subset, measure(curve), [measure(d) for d in drawn]))
        if ODD in families:
            odd = oddness({name: sign * v.mean(0) for name, v in families.items()})
            samples = range(len(drawn))
            odds = [oddness({name: sign * d[i] for name, d in drawn_families.items()}) for i in samples]
            rows.append(_row("004-11a", measured, one.subset, odd, odds))
        rows += of_groups(one, values, axes, measured, sign)
    return rows


def of_groups(
    one: Curves, values: Array, axes: Mapping[str, Sequence[str]], measured: str, sign: float = 1.0
) -> list[dict[str, object]]:
    """Male less female and elder less young, at rank 20, of groups not too few; with ``sign`` -1 of the distance."""
    rows = []
    for claim, axis, more, less in (("004-13a", "gender", "male", "female"), ("004-13b", "age", "elder", "young")):
        if axis not in axes:
            continue
        masks = [np.array([name == group for name in axes[axis]]) for group in (more, less)]
        if min(mask.sum() for mask in masks) < FEW:
            continue
        means = [sign * values[mask, at(SETTLED)].mean() for mask in masks]
        drawn = [sign * one.draws(values, mask)[:, at(SETTLED)] for mask in masks]
        rows.append(_row(claim, measured, one.subset, means[0] - means[1], list(drawn[0] - drawn[1])))
    return rows


def of_words(
    one: Curves, axes: Mapping[str, Sequence[str]], hurt: npt.ArrayLike | None = None
) -> list[dict[str, object]]:
    """The conclusions that shared first words can answer, on all templates.

    Args:
        one: of ``overlaps``.
        axes: the group of every template, by axis.
        hurt: shape (n,), the share of hurtful completions of every template; None leaves out its claim.
    """
    values = one.mean(FIRST)
    if values is None or values.shape[1] < LATE:
        return []
    drawn = one.draws(values)
    measures: dict[str, Callable[[Array], float]] = {
        "004-10a": rise,
        "004-10b": settles,
        "004-12c": lambda c: HALF - float(c[at(SETTLED)]),
    }
    rows = [
        _row(claim, WORDS, one.subset, measure(values.mean(0)), [measure(d) for d in drawn])
        for claim, measure in measures.items()
    ]
    rows += of_groups(one, values, axes, WORDS)
    if hurt is not None:
        rows.append(unrelated(one, values[:, at(SETTLED)], np.asarray(hurt, dtype=float)))
    return rows


def unrelated(one: Curves, shared: Array, hurt: Array) -> dict[str, object]:
    """0.1 less the size of the correlation over templates of diversity (1 - overlap) and hurtfulness."""
    diverse = 1 - shared
    products = np.column_stack([diverse, hurt, diverse * hurt, diverse**2, hurt**2])

    def within(means: Array) -> float:
        x, y, xy, xx, yy = means
        spread = np.sqrt((xx - x * x) * (yy - y * y))
        return float(STABLE - abs((xy - x * y) / spread)) if spread > 0 else float("nan")

    drawn = [within(means) for means in one.draws(products)]
    return _row("004-14a", WORDS, one.subset, within(products.mean(0)), drawn)


def findings_table(rows: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    """The conclusions, one row each, in the order of the ledger."""
    columns = ["claim", "measured", "subset", "estimate", "low", "high", "holds"]
    return pd.DataFrame(rows, columns=columns).sort_values(["claim", "measured", "subset"], ignore_index=True)
