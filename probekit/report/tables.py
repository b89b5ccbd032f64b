"""Tidy tables of numbers, and how people read them: an estimate and its interval in one cell, plain headings, titles.

A table holds an estimate and the ends of its 95% interval in columns of their own. The interval of a column ``x`` is
``x_low`` and ``x_high``, that of ``acc@k`` is ``low@k`` and ``high@k``, and plain ``low`` and ``high`` belong to the
column that stands before ``low``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec

import pandas as pd

from probekit.report.text import interval, number, plain, title

P = ParamSpec("P")
Row = Mapping[str, Any]
OfGroup = Callable[Concatenate[pd.DataFrame, P], Row | Iterable[Row] | None]
OfTable = Callable[Concatenate[pd.DataFrame, P], pd.DataFrame]
# columns whose values have titles
NAMED = ("model", "probe", "dataset", "source", "first", "second", "data", "subset", "measure", "other")
HEADINGS = {"mrr": "MRR", "macro@1": "Macro Acc@1", "p": "p", "k": "k", "sd": "SD", "id": "Id", "n": "n", "auc": "AUC"}


def pick(table: pd.DataFrame, /, **values: Any) -> pd.DataFrame:
    """The rows whose columns have these values, each a value or a list of them; of an empty table none."""
    for column, value in values.items():
        if len(table):
            table = table[table[column].isin(value) if isinstance(value, (list, tuple)) else table[column] == value]
    return table


def by(table: pd.DataFrame, keys: Sequence[str]) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """The groups of a table in order of first appearance: the values of the keys, and the rows."""
    if len(table):
        for values, rows in table.groupby(list(keys), sort=False, dropna=False):
            yield dict(zip(keys, values, strict=True)), rows


def per(*keys: str) -> Callable[[OfGroup[P]], OfTable[P]]:
    """Let a function that describes one group of rows make a table of all groups, the values of the keys in front.

    The function returns the columns of one row, or several such rows; nothing, or None, where a group has none. Groups
    come in order of first appearance (``by``); a table without rows has no columns.

    >>> @per("model")
    ... def best(rows):
    ...     return {"prompts": len(rows), "best": rows["score"].max()}
    >>> best(pd.DataFrame({"model": ["b", "a", "b"], "score": [1, 2, 3]}))
      model  prompts  best
    0     b        2     3
    1     a        1     2
    """

    def decorate(function: OfGroup[P]) -> OfTable[P]:
        @wraps(function)
        def table(rows: pd.DataFrame, *args: P.args, **options: P.kwargs) -> pd.DataFrame:
            results: list[dict[str, Any]] = []
            for values, group in by(rows, keys):
                made = function(group, *args, **options) or ()
                results += [{**values, **row} for row in ([made] if isinstance(made, Mapping) else made)]
            return pd.DataFrame(results)

        return table

    return decorate


def ends(columns: Sequence[str], name: str) -> tuple[str, str] | None:
    """The columns that hold the interval of a column, or None."""
    names = list(columns)
    plain_ends = "low" in names and names.index("low") > 0 and names[names.index("low") - 1] == name
    candidates = [(f"{name}_low", f"{name}_high")]
    candidates += [(name.replace("acc@", "low@"), name.replace("acc@", "high@"))] if name.startswith("acc@") else []
    candidates += [("low", "high")] if plain_ends else []
    return next((pair for pair in candidates if set(pair) <= set(names)), None)


def cell(row: Mapping[str, Any], name: str = "estimate", digits: int = 3) -> str:
    """One estimate of a row with its interval, where it has one: ``0.174 [0.163, 0.186]``."""
    pair = ends(list(row), name)
    return interval(row[name], row[pair[0]], row[pair[1]], digits) if pair else number(row[name], digits)


def readable(table: pd.DataFrame, headings: Mapping[str, str] = {}, digits: int = 3) -> pd.DataFrame:
    """A table for reading, all cells text: intervals beside their estimates, plain headings, titles, ``< 0.001``.

    Args:
        table: of numbers, see above. A column ``model`` that names one model in several rows is left out.
        headings: of columns whose name, with blanks for underscores, would not do.
        digits: decimals in columns of floats and of intervals.
    """
    columns = list(table.columns)
    used = {end for name in columns for end in ends(columns, name) or ()}
    out: dict[str, list[str]] = {}
    for name in columns:
        if name in used or (name == "model" and len(table) > 1 and table[name].nunique() == 1):
            continue
        values = table[name].tolist()
        if pair := ends(columns, name):
            spans = zip(values, table[pair[0]], table[pair[1]], strict=True)
            out[heading(name, headings)] = [interval(*span, digits) for span in spans]
        elif table[name].dtype.kind == "f":
            small = [name in ("p", "p_holm") and value < 0.001 for value in values]
            shown = zip(values, small, strict=True)
            out[heading(name, headings)] = ["< 0.001" if tiny else number(value, digits) for value, tiny in shown]
        else:
            out[heading(name, headings)] = [title(str(v)) if name in NAMED else plain(v) for v in values]
    return pd.DataFrame(out)


def across(
    table: pd.DataFrame,
    rows: Sequence[str],
    columns: str = "model",
    estimate: str = "estimate",
    headings: Mapping[str, str] = {},
    digits: int = 3,
) -> pd.DataFrame:
    """A long table for reading, turned: a row per thing asked, a column per model, an estimate in each cell.

    Args:
        table: names a combination of ``rows`` and ``columns`` once at most.
        rows: columns that say what was asked.
        columns: the column whose values stand across.
        estimate: the column whose values, with their intervals, fill the cells.
        headings, digits: as for ``readable``.
    """
    if table.empty:
        return table
    keys = table[[*rows]].drop_duplicates(ignore_index=True)
    result = readable(keys, headings, digits)
    for value, group in table.groupby(columns, sort=False):
        beside = keys.merge(group, how="left", on=[*rows], validate="1:1").to_dict("records")
        result[title(str(value))] = [cell(row, estimate, digits) for row in beside]
    return result


def stacked(
    table: pd.DataFrame, keys: Sequence[str], names: Mapping[str, str], label: str, estimate: str
) -> pd.DataFrame:
    """Several estimates of each row one below another, as charts take them.

    Args:
        table: of numbers, see above.
        keys: columns that stay.
        names: column of an estimate with an interval -> the text that stands for it in the column ``label``.
        label: name of that column.
        estimate: name of the column of all estimates; that of their intervals follows from it.
    """
    rows = []
    for row in table.to_dict("records"):
        for name, text in names.items():
            low, high = ends(list(table), name) or (name, name)
            numbers = {estimate: row[name], f"{estimate}_low": row[low], f"{estimate}_high": row[high]}
            rows.append({key: row[key] for key in keys} | {label: text} | numbers)
    return pd.DataFrame(rows)


def heading(name: str, headings: Mapping[str, str] = {}) -> str:
    """A column's heading: one that was given, else its name with blanks for underscores and a capital."""
    texts = {**HEADINGS, **headings}
    spoken = name.replace("_", " ")
    return texts.get(name, spoken[:1].upper() + spoken[1:])
