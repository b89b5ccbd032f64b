"""Study 2: what its pages share: means over models, triples that count, and numbers made of several means."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, wraps
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.demo.world.exposure import YES, has_read
from probekit.demo.zoo import ZOO
from probekit.metrics import Interval, best_of, constant_hits, interval, resampled_means, spread
from probekit.metrics.bootstrap import share_ci
from probekit.metrics.context import counted, ucm_table
from probekit.metrics.decisions import FLOOR
from probekit.models.registry import printed_name
from probekit.report.tables import per, pick, readable

from notebooks.contexts.ask import DOMAINS
from notebooks.contexts.paper import ONCE, PAPER, POOLED

Array = npt.NDArray[np.float64]
Column = tuple[npt.ArrayLike, npt.ArrayLike]  # values, and which rows count
Row = dict[str, Any]
OfGroups = Callable[[pd.DataFrame, list[str]], pd.DataFrame]  # of rows, and the columns whose combinations are groups
Tables = Mapping[str, pd.DataFrame]
MEAN = "mean over models"  # above the floor, where several are
THEIRS = "the paper's"
CONTROLLED = "002-12c"  # a claim whose rows are of models that pass a positive control, in place of the floor
THIRDS = 3
RANK = "rank without context"  # a value of the table ``telling``: what a measure of knowledge is compared with
SAMPLES = 2000
FEW = 20  # triples of a source below which its intervals are given and no judgement
LEAST = 5  # triples of a group below which an interval would rest on too few
FLOORS = "Acc@1 without context, any correct object, beside that of the commonest answer of each relation"
FLOOR_COLUMNS = ["source", "model", "questions", "documents", "accuracy", "constant", "overall"]
FLOOR_COLUMNS += ["gain", "gain_low", "gain_high", "floor"]
DIRECTION = ["claim", "source", "model", "measured", "estimate", "low", "high", "n", "units"]
UNDEFINED = Interval(math.nan, math.nan, math.nan, 0, 0, 0)


# ---- rows and tables ------------------------------------------------------------------------------------------------


def above_floor(rows: pd.DataFrame, floor: pd.DataFrame) -> pd.DataFrame:
    """The rows of models that are above the floor of their source (of ``floors``); all of a source where none is."""
    low = set(pick(floor, floor=True)[["source", "model"]].itertuples(index=False, name=None))
    above = np.array([pair not in low for pair in zip(rows["source"], rows["model"], strict=True)], dtype=bool)
    some = set(rows.loc[above, "source"])
    return rows[above | ~rows["source"].isin(some).to_numpy()]


def grouped(row: Callable[[pd.DataFrame], Row]) -> OfGroups:
    """Let a function that describes one group of rows make a table of all, as ``by_model`` needs it."""

    @wraps(row)
    def table(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
        return per(*keys)(row)(rows)

    return table


def by_model(
    rows: pd.DataFrame, table: OfGroups, by: Sequence[str] = (), floor: pd.DataFrame | None = None
) -> pd.DataFrame:
    """A table of each source and model and, where several models are above the floor, of each source over these.

    All models were asked the same steps, so that a share over the rows of several is the mean of their shares, and one
    draw of documents serves them all.

    Args:
        rows: of ``ask.ask_all``.
        table: makes it of rows and of the columns whose combinations are its groups.
        by: further columns of the groups.
        floor: of ``floors``: its models at the floor are in no mean (see ``above_floor``); without, all are.
    """
    each = table(rows, ["source", "model", *by])
    pooled = rows if floor is None else above_floor(rows, floor)
    pooled = pooled[pooled.groupby("source")["model"].transform("nunique") > 1]
    if pooled.empty:
        return each
    return pd.concat([each, table(pooled, ["source", *by]).assign(model=MEAN)], ignore_index=True)


def overall(table: pd.DataFrame, floor: pd.DataFrame, **values: object) -> pd.DataFrame:
    """The rows with these values that stand for a source: those of ``MEAN``, or of the only model above its floor."""
    rows = pick(table, **values)
    single = above_floor(rows[rows["model"] != MEAN], floor)
    alone = single.groupby("source")["model"].transform("nunique") == 1
    single = single[alone]
    means = rows[(rows["model"] == MEAN) & ~rows["source"].isin(set(single["source"]))]
    return pd.concat([single, means])


def one_row(table: pd.DataFrame, floor: pd.DataFrame, **values: object) -> pd.Series:
    """The single row of ``overall``."""
    rows = overall(table, floor, **values)
    if len(rows) != 1:
        raise ValueError(f"{len(rows)} rows speak for {values}, where one is needed")
    return rows.astype(object).iloc[0]


def spoken(table: pd.DataFrame, low: pd.DataFrame) -> pd.DataFrame:
    """Of the table ``telling``: the rows that speak: means over seeds, or else those of ``overall``."""
    seeds = table[table["seeds"] > 1]
    return seeds if len(seeds) else overall(table, low)


def main_contrast(table: pd.DataFrame, low: pd.DataFrame, source: str) -> pd.DataFrame:
    """Of the table ``telling``: the first contrast of a source, over the models that read the text; of several kinds of
    training with seeds the one of most triples whose bare rank tells what was told, else of most triples."""
    rows = spoken(pick(table, source=source, read=YES), low) if len(table) else table
    if rows.empty:
        return rows
    rows = pick(rows, contrast=rows["contrast"].iloc[0])
    ranks = rows[rows["value"] == RANK]
    first = ranks.assign(knows=ranks["auc_low"] > 0.5).sort_values(["knows", "told"], ascending=False, kind="stable")
    return pick(rows, model=first["model"].iloc[0])


by_document = partial(ucm_table, once=True)  # each document counts once


def both_ways(rows: pd.DataFrame, by: Sequence[str], floor: pd.DataFrame) -> pd.DataFrame:
    """``ucm_table`` of all steps and by documents, told apart by ``measure``: ``POOLED`` or ``ONCE``."""
    pooled, once = by_model(rows, ucm_table, by, floor), by_model(rows, by_document, by, floor)
    return pd.concat([pooled.assign(measure=POOLED), once.assign(measure=ONCE)], ignore_index=True)


def several(ranked: pd.DataFrame) -> pd.DataFrame:
    """The rows of triples of which UCM counts a step around the target, so that UCM and accuracy speak of the same."""
    keys = ["source", "triple_id"]
    counting = ranked.loc[counted(ranked) & (ranked["twin"] == "target"), keys].drop_duplicates()
    return ranked.merge(counting, on=keys)


def sources_shown(counts: pd.Series) -> list[str]:
    """Of counts of triples by source, the sources with ``FEW`` or more, most first; else the one that has most."""
    ordered = counts.sort_values(ascending=False, kind="stable")
    return [str(name) for name in ordered.index if ordered[name] >= FEW] or [str(ordered.index[0])]


def in_order(table: pd.DataFrame, *columns: str, **orders: Sequence[object]) -> pd.DataFrame:
    """A table sorted by columns, the values of each in the order given or, of ``columns``, of first appearance."""
    order_of = {name: list(table[name].unique()) for name in columns} | {name: list(v) for name, v in orders.items()}
    return table.sort_values(
        list(order_of), key=lambda x: x.map(order_of[str(x.name)].index), kind="stable", ignore_index=True
    )


def spans(*names: str) -> list[str]:
    """The columns of estimates and the ends of their intervals: ``x, x_low, x_high``."""
    return [f"{name}{end}" for name in names for end in ("", "_low", "_high")]


def for_reading(rows: pd.DataFrame, headings: Mapping[str, str] = {}, digits: int = 3) -> pd.DataFrame:
    """``readable`` without the column of a single source."""
    return readable(rows if rows["source"].nunique() > 1 else rows.drop(columns="source"), headings, digits)


def classes(ranked: pd.DataFrame, column: str) -> pd.Series:
    """A number of each triple as one of at most three classes of about as many triples, within its source.

    Returns:
        Labels such as ``2`` or ``3 to 5``, one per row. Equal numbers stay together.
    """
    labels = pd.Series("", index=ranked.index)
    for _, group in ranked.groupby("source", sort=False):
        values = group.drop_duplicates("triple_id")[column]
        cuts = np.unique(np.quantile(values, np.arange(1, THIRDS) / THIRDS, method="lower"))
        for _, members in group[column].groupby(np.searchsorted(cuts, group[column])):
            ends = dict.fromkeys([members.min(), members.max()])
            labels[members.index] = " to ".join(f"{end:,}" for end in ends)
    return labels


def lowest(label: str) -> int:
    """The least number of a class of ``classes``, to sort by."""
    return int(label.partition(" ")[0].replace(",", ""))


def read_text(source: str, model: str) -> str:
    """Whether a model of the demo world was trained on the text of a source of it: ``YES``, ``NO`` or ``UNKNOWN``."""
    return has_read(model, DOMAINS.get(source, "general"), ZOO)


# ---- numbers and their intervals ------------------------------------------------------------------------------------


def rises(rows: pd.DataFrame) -> pd.Series:
    """Whether the centre's rank improves at a step."""
    return rows["rc_centre"] < 0


def falls(rows: pd.DataFrame) -> pd.Series:
    """Whether the centre's rank worsens at a step."""
    return rows["rc_centre"] > 0


def first(means: Array) -> Array:
    """The only mean."""
    return means[..., 0]


def less(means: Array) -> Array:
    """The first mean minus the second."""
    return means[..., 0] - means[..., 1]


def interaction(means: Array) -> Array:
    """The difference of the first two means minus that of the last two."""
    return less(means[..., :2]) - less(means[..., 2:])


def measured(
    rows: pd.DataFrame, columns: Sequence[Column], measure: Callable[[Array], Array] = first, once: bool = False
) -> Interval:
    """A number made of several means, with its 95% interval over documents; one draw of these serves all means.

    Args:
        rows: n rows with ``doc_id``.
        columns: d pairs of n values and of which rows count.
        measure: maps means of shape (..., d) to numbers of shape (...).
        once: each mean is one of documents, each by the mean over its rows, in place of one of rows: for steps, of
            which a few documents hold most.

    Returns:
        All nan where one of the means has no row; ``n`` are rows that count, or documents where each counts once.
    """
    values = np.column_stack([np.asarray(value, dtype=float) for value, _ in columns])
    included = np.column_stack([np.asarray(which, dtype=float) for _, which in columns])
    if not included.sum(0).all():
        return UNDEFINED
    values, documents = np.where(included > 0, values, 0.0), rows["doc_id"]
    counting = documents[(included > 0).any(1)]
    if once:
        held = pd.DataFrame(included).groupby(documents.to_numpy()).transform("sum").to_numpy()
        included = np.divide(included, held, out=np.zeros_like(included), where=included > 0)
        counting = counting.drop_duplicates()
    means = (values * included).sum(0) / included.sum(0)
    drawn = resampled_means(values, documents.tolist(), included, SAMPLES, 0)
    low, high, units = interval(measure(drawn), counting.tolist())
    return Interval(float(measure(means)), low, high, len(counting), counting.nunique(), units)


def mean_of(rows: pd.DataFrame, value: npt.ArrayLike) -> Interval:
    """The mean of a value of each row over documents, each of which counts once."""
    return measured(rows, [(value, np.ones(len(rows)))], once=True)


def share_of(rows: pd.DataFrame, value: pd.Series, among: pd.Series | None = None) -> Interval:
    """A share of some rows, or of all, with its interval over documents, exact where it is 0 or 1."""
    member = pd.Series(True, rows.index) if among is None else among
    if value[member].nunique() == 1:
        return share_ci(value[member].to_numpy(float), rows.loc[member, "doc_id"].tolist())
    return measured(rows, [(value, member)])


def within_relations(
    rows: pd.DataFrame, columns: Sequence[Column], measure: Callable[[Array], Array], once: bool = False
) -> Interval:
    """``measured`` in each relation that has rows for every mean, averaged with the relations' triples as weights, or,
    where each document counts once, their documents.

    Groups of facts that hold relations in unlike shares would differ by these alone.
    """
    chosen = [np.asarray(which, dtype=bool) for _, which in columns]
    cells: list[Column] = []
    counts = []
    for name, group in rows.groupby("relation", sort=False):
        inside = (rows["relation"] == name).to_numpy()
        if all(which[inside].any() for which in chosen):
            counts.append(group["doc_id" if once else "triple_id"].nunique())
            cells += [(value, which & inside) for (value, _), which in zip(columns, chosen, strict=True)]
    if not cells:
        return UNDEFINED
    weights = np.array(counts, dtype=float)

    def averaged(means: Array) -> Array:
        each = measure(means.reshape(*means.shape[:-1], len(weights), len(columns)))
        there = np.isfinite(each)
        return np.asarray(np.nansum(each * weights, axis=-1) / (there * weights).sum(axis=-1))

    return measured(rows, cells, averaged, once)


def sure(value: Interval) -> Row:
    """A number as a row of ``DIRECTION``, with the effective documents that it rests on."""
    return value.row() | {"units": value.effective}


def sided(low: float, high: float, words: tuple[str, str, str], at: float = 0.0) -> str:
    """The first word where an interval lies above a value, the second below it, else the third."""
    return words[0] if low > at else words[1] if high < at else words[2]


# ---- floors and conclusions -----------------------------------------------------------------------------------------


def floors(ranked: pd.DataFrame) -> pd.DataFrame:
    """Whether a model knows more of a source than always naming the commonest answer of a question's relation.

    Args:
        ranked: of ``ask.ask_all``; each question (subject and relation) counts once.

    Returns:
        One row per source and model: ``questions``, ``documents``, ``accuracy`` (Acc@1 without context, any correct
        object), ``constant`` (of the object that is right most often in each relation, see ``metrics.floors``),
        ``overall`` (of one object for all relations), ``gain`` (accuracy less constant) with its interval over
        documents, and ``floor`` (whether that reaches zero, so that nothing follows from the model).
    """
    keys = ["source", "model", "relation", "subject"]
    questions = ranked[(ranked["step"] == 1) & (ranked["twin"] == "target")].drop_duplicates(keys)
    return _floor(questions).reindex(columns=FLOOR_COLUMNS)


@per("source", "model")
def _floor(questions: pd.DataFrame) -> Row:
    hits = (questions["any_before"] == 1).to_numpy(float)
    constant, overall = (constant_hits(questions["correct"], group) for group in (questions["relation"], ""))
    bar = best_of([constant, overall], questions["relation"])
    gain = measured(questions, [(hits - bar, np.ones(len(questions)))])
    row = {"questions": len(questions), "documents": questions["doc_id"].nunique(), "accuracy": hits.mean()}
    row |= {"constant": bar.mean(), "overall": overall.mean()}
    return row | spread("gain", gain) | {"floor": not gain.low > 0}


def directed(*keys: str) -> Callable[[Callable[..., Iterable[Row]]], Callable[..., pd.DataFrame]]:
    """``per`` for what a page concludes: rows of ``DIRECTION`` from each group with ``FEW`` triples or more, without
    numbers that nothing defines."""

    def decorate(function: Callable[..., Iterable[Row]]) -> Callable[..., pd.DataFrame]:
        @wraps(function)
        def table(rows: pd.DataFrame, *args: Any) -> pd.DataFrame:
            enough = rows.groupby(list(keys), sort=False)["triple_id"].transform("nunique") >= FEW
            return per(*keys)(function)(rows[enough], *args).reindex(columns=DIRECTION).dropna(subset=["estimate"])

        return table

    return decorate


def conclusions(tables: Tables) -> pd.DataFrame:
    """The table ``directions`` of a page as conclusions: rows of ``DIRECTION``, above zero where the claim holds.

    Those of models at the floor (of ``floors``) say so, also of a pair, ``one less other``. ``models`` is ``THEIRS``
    where these are all the paper's and the text is not the demo world's: what the paper says of its own models is
    judged by such rows alone.
    """
    rows = tables["directions"]
    if rows.empty:
        return pd.DataFrame(columns=[*DIRECTION, "models", "unit", "verdict"])
    low = set(pick(tables["floors"], floor=True)[["source", "model"]].itertuples(index=False, name=None))
    pairs = [(source, model.split(" less ")) for source, model in zip(rows["source"], rows["model"], strict=True)]
    at = [FLOOR if low & {(source, name) for name in models} else "" for source, models in pairs]
    at = ["" if claim == CONTROLLED else flag for claim, flag in zip(rows["claim"], at, strict=True)]
    all_printed = [
        source not in DOMAINS and all(printed_name(name, PAPER) for name in models) for source, models in pairs
    ]
    rows = rows.reindex(columns=DIRECTION)
    return rows.assign(models=[THEIRS * flag for flag in all_printed], unit="document", verdict=at)
