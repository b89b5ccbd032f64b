"""Study 2: rows of several models as one, classes of triples, and numbers made of several means over one draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from probekit.report.parts import MEAN, holds

from probekit.metrics import middle, resampled_means
from probekit.metrics.context import counted

Array = npt.NDArray[np.float64]
Column = tuple[npt.ArrayLike, npt.ArrayLike]  # values, and which rows count
THIRDS = 3
SAMPLES = 2000
LEAST = 5  # triples told, or not told, below which an interval would rest on too few
CONCLUSION = ["claim", "source", "measured", "estimate", "low", "high", "holds"]


def together(done: pd.DataFrame) -> pd.DataFrame:
    """The rows of all models as those of one, named ``parts.MEAN``.

    All models were asked the same steps, so that a share over these rows is the mean of the models' shares, and one
    draw of triples serves all of them. Documents are told apart by model.
    """
    return done.assign(doc_id=done["model"] + "/" + done["doc_id"].astype(str), model=MEAN)


def everyone(done: pd.DataFrame) -> pd.DataFrame:
    """The rows of every model, and below them those of all ``together``, where there are several."""
    return pd.concat([done, together(done)], ignore_index=True) if done["model"].nunique() > 1 else done


def once(table: pd.DataFrame, models: int) -> pd.DataFrame:
    """A table of ``everyone``'s rows with the ``steps`` and ``contexts`` of the mean counted once, not once a model."""
    mean = table["model"] == MEAN
    return table.assign(**{c: table[c].where(~mean, table[c] // models) for c in ("steps", "contexts") if c in table})


def several(done: pd.DataFrame) -> pd.DataFrame:
    """The rows of triples of which UCM counts a step around the target, so that UCM and accuracy speak of the same."""
    keys = ["source", "triple_id"]
    known = done.loc[counted(done) & (done["twin"] == "target"), keys].drop_duplicates()
    return done.merge(known, on=keys)


def classes(done: pd.DataFrame, column: str) -> pd.Series:
    """A number of each triple as one of at most three classes of about as many triples, within its source.

    Returns:
        Labels such as ``2`` or ``3 to 5``, one per row. Equal numbers stay together.
    """
    labels = pd.Series("", index=done.index)
    for _, part in done.groupby("source", sort=False):
        values = part.drop_duplicates("triple_id")[column]
        cuts = np.unique(np.quantile(values, np.arange(1, THIRDS) / THIRDS, method="lower"))
        place = np.searchsorted(cuts, part[column])
        for number in np.unique(place):
            own = part.loc[place == number, column]
            ends = list(dict.fromkeys([own.min(), own.max()]))
            labels[own.index] = " to ".join(f"{end:,}" for end in ends)
    return labels


def lowest(label: str) -> int:
    """The least number of a class of ``classes``, to sort by."""
    return int(label.partition(" ")[0].replace(",", ""))


def measured(
    rows: pd.DataFrame, columns: Sequence[Column], measure: Callable[[Array], Array], seed: int = 0
) -> tuple[float, float, float]:
    """A number made of several means, with its 95% interval over triples; one draw of triples serves all means.

    Args:
        rows: n rows with ``triple_id``.
        columns: d pairs of n values and of which rows count.
        measure: maps means of shape (..., d) to numbers of shape (...).
        seed: of the bootstrap.

    Returns:
        Estimate, low and high; nan where one of the means has no row.
    """
    values = np.column_stack([np.asarray(value, dtype=float) for value, _ in columns])
    included = np.column_stack([np.asarray(which, dtype=float) for _, which in columns])
    if not included.sum(0).all():
        return float("nan"), float("nan"), float("nan")
    values = np.where(included > 0, values, 0.0)
    means = values.sum(0) / included.sum(0)
    drawn = resampled_means(values, rows["triple_id"].tolist(), included, SAMPLES, seed)
    return (float(measure(means)), *middle(measure(drawn)))


def conclusion(claim: str, source: str, measured: str, found: tuple[float, float, float]) -> dict[str, object]:
    """One row of ``CONCLUSION``, the columns of a table of conclusions; ``holds`` as ``parts.holds`` says."""
    estimate, low, high = found
    about = {"claim": claim, "source": source, "measured": measured}
    return about | {"estimate": estimate, "low": low, "high": high, "holds": holds(low, high)}


def rises(rows: pd.DataFrame) -> pd.Series:
    """Whether the centre's rank improves at a step."""
    return rows["rc_centre"] < 0


def falls(rows: pd.DataFrame) -> pd.Series:
    """Whether the centre's rank worsens at a step."""
    return rows["rc_centre"] > 0


def sided(low: float, high: float, words: tuple[str, str, str], at: float = 0.0) -> str:
    """The first word where an interval lies above a value, the second below it, else the third."""
    return words[0] if low > at else words[1] if high < at else words[2]
