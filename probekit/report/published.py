"""The numbers the papers print, as transcribed into ``book/published``, and what checks of them are made of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pandas as pd

from probekit.errors import ReportError
from probekit.files.reading import read_frame
from probekit.paths import root
from probekit.report.claims import Verdict
from probekit.report.tables import pick

COLUMNS = ["paper", "table", "row", "column", "value"]
MISSING = "not available"
Finding = tuple[Verdict, str]
Check = Callable[[], Finding]


def published(paper: str, table: str) -> pd.DataFrame:
    """The transcribed cells of one table, or of the running text (``table="text"``).

    Returns:
        A row per transcribed cell, columns ``paper, table, row, column, value``, or one for a whole table that is
        ``not available``. Of the running text, ``table`` is the section, figure or caption, ``row`` what is measured,
        ``column`` its unit or kind, and numbers are in digits.

    Raises:
        ReportError: the file is absent or has other columns.
    """
    path = _path(paper, table)
    if not path.is_file():
        raise ReportError(f"{path} is not there: transcribe the table into it, or name one that is in {path.parent}")
    frame = read_frame(path, dtype=str, keep_default_na=False)
    if list(frame.columns) != COLUMNS:
        raise ReportError(f"{path} has the columns {list(frame.columns)}: make them {COLUMNS}")
    return frame


def numbers(paper: str, table: str) -> pd.DataFrame:
    """The same table with rows and columns as in print (float64, NaN where the value is not available).

    Raises:
        ReportError: a cell stands there twice, or is no number.
    """
    frame = published(paper, table)
    twice = frame[frame.duplicated(["row", "column"])]
    if len(twice):
        row, column = twice.iloc[0][["row", "column"]]
        raise ReportError(f"{_path(paper, table)}: row {row!r}, column {column!r} is there twice: keep one")
    wide = frame.pivot(index="row", columns="column", values="value").replace(MISSING, "nan")
    try:
        return wide.loc[frame["row"].unique(), frame["column"].unique()].astype(float)
    except ValueError as error:
        raise ReportError(f"{_path(paper, table)}: {error}: write a number or {MISSING!r}") from error


def cell(paper: str, table: str, row: str, column: str, section: str | None = None) -> str:
    """One value as transcribed; ``section`` picks the section when ``table="text"``.

    Raises:
        ReportError: no such cell, or more than one.
    """
    cells = pick(published(paper, table), row=row, column=column, **({"table": section} if section else {}))
    if len(cells) != 1:
        place = f"{_path(paper, table)}: {len(cells)} cells for section {section!r}, row {row!r}, column {column!r}"
        raise ReportError(f"{place}: transcribe it once")
    return str(cells["value"].iloc[0])


def _path(paper: str, table: str) -> Path:
    return root() / "book" / "published" / (f"{paper}_text.csv" if table == "text" else f"{paper}_table{table}.csv")


def registry() -> tuple[dict[str, Check], Callable[[str], Callable[[Check], Check]]]:
    """An empty registry (claim id -> check) and the decorator ``@check("001-01c")`` that fills it."""
    checks: dict[str, Check] = {}

    def check(claim: str) -> Callable[[Check], Check]:
        if claim in checks:
            raise ReportError(f"claim {claim} has a check already: give this one another id")
        return lambda function: checks.setdefault(claim, function)

    return checks, check


def status(holds: bool) -> Literal["holds", "fails"]:
    """What to call a claim whose paper's numbers do, or do not, bear it out."""
    return "holds" if holds else "fails"
