"""Page 91: which tables of the papers are transcribed, what each holds, and on which pages it has its place."""

from __future__ import annotations

import pandas as pd
import yaml

from probekit.paths import root
from probekit.report.published import MISSING, published
from probekit.report.text import Markup, plain

TEXT = "text"


def tables() -> dict[tuple[str, str], tuple[str, tuple[str, ...]]]:
    """(Paper, table) -> what it holds and the pages with ours beside it, from ``book/published/NNN_tables.yml``."""
    contents = {}
    for file in sorted((root() / "book" / "published").glob("*_tables.yml")):
        for table, entry in yaml.safe_load(file.read_text("utf-8")).items():
            contents[file.name[:3], table] = (entry["holds"], tuple(entry["pages"]))
    return contents


def index() -> pd.DataFrame:
    """One row per transcribed table: ``paper, table, holds, cells, missing, pages``.

    ``cells`` have a number or a text as printed, ``missing`` cannot be read in the copies at hand; a table of which no
    cell can be read has ``cells`` 0. ``pages`` are separated by spaces.
    """
    rows = []
    for (paper, table), (holds, pages) in tables().items():
        missing = int((published(paper, table)["value"] == MISSING).sum())
        cells = len(published(paper, table)) - missing
        rows.append([paper, table, holds, cells, missing, " ".join(pages)])
    return pd.DataFrame(rows, columns=["paper", "table", "holds", "cells", "missing", "pages"])


def as_printed(paper: str, table: str) -> pd.DataFrame:
    """A table with its rows and columns as in print, all cells text; of the running text, a row per number."""
    cells = published(paper, table)
    if table == TEXT:
        return cells.drop(columns="paper").rename(columns={"table": "place"})
    wide = cells.pivot(index="row", columns="column", values="value")
    return wide.loc[cells["row"].unique(), cells["column"].unique()].reset_index()


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """``index`` for reading, linked to the printed tables and to the pages that show ours beside them."""
    rows = [
        {
            "Paper": row["paper"],
            "Table": ref(name(row["table"]), row["paper"], row["table"]),
            "What it holds": row["holds"],
            "Cells": plain(row["cells"]),
            "Missing": plain(row["missing"]) if row["cells"] else "all",
            "Page of ours": Markup(", ").join(see(page) for page in row["pages"].split()),
        }
        for row in table.to_dict("records")
    ]
    return pd.DataFrame(rows, dtype=object)


def label(paper: str, table: str) -> str:
    """The anchor of a printed table."""
    return f"printed-{paper}-{table}"


def ref(words: str, paper: str, table: str) -> Markup:
    """A link to a printed table; all of it is the book's own."""
    return Markup("{{ref}}`{} <{}>`").format(Markup(words), Markup(label(paper, table)))


def see(page: str) -> Markup:
    """A link to a page of the book, by its title."""
    return Markup("{{doc}}`/book/studies/{}`").format(Markup(page))


def name(table: str) -> str:
    """A table as people call it."""
    return "text and figures" if table == TEXT else f"Table {table}"
