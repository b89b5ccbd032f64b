"""Page 91: which tables of the papers are transcribed, what each holds, and on which pages it has its place."""

from __future__ import annotations

import pandas as pd

from probekit.report.published import MISSING, published
from probekit.report.text import Markup, plain

TEXT = "text"
TABLES: dict[tuple[str, str], tuple[str, tuple[str, ...]]] = {
    ("001", "2"): ("models, their size and training text", ("11_datasets",)),
    ("001", "3"): ("Acc@k by natural prompts", ("12_accuracy", "13_rankings")),
    ("001", "4"): ("Acc@k by templates", ("12_accuracy", "13_rankings")),
    ("001", "5"): ("perplexity of every model and data set", ("16_perplexity", "18_vocabulary")),
    ("001", "6"): ("Acc@k with the own and an enlarged list of entities", ("17_entities",)),
    ("001", TEXT): (
        "numbers of the running text and the figures",
        ("11_datasets", "12_accuracy", "14_templates", "16_perplexity", "17_entities", "19_lipid"),
    ),
    ("002", "1"): ("changes of ranks when an entity is added", ("21_rank_change",)),
    ("002", "2"): ("accuracy with and without context, beside UCM at rank k", ("20_contexts", "22_ucm")),
    ("002", "3"): ("UCM over all ranks, around the target and around a wrong answer", ("22_ucm", "23_copy")),
    ("003", "3"): ("sizes of the sets and lengths of rationales", ("30_prediction", "32_rationale_length")),
    ("003", "4"): ("accuracy of four models, Chinese", ("30_prediction",)),
    ("003", "5"): ("plausibility and faithfulness, Chinese", ("31_saliency",)),
    ("003", "6"): ("accuracy by kind of perturbation, Chinese", ("33_perturbations",)),
    ("003", "7"): ("plausibility and faithfulness by kind of perturbation, Chinese", ("33_perturbations",)),
    ("003", "8"): ("accuracy of four models, English", ("30_prediction",)),
    ("003", "9"): ("plausibility and faithfulness, English", ("31_saliency",)),
    ("003", "10"): ("plausibility and faithfulness by kind of perturbation, English", ("33_perturbations",)),
    ("003", "11"): ("accuracy by kind of perturbation, English", ("33_perturbations",)),
    ("004", "1"): ("HONEST scores and ranks of 21 models", ("41_hurtfulness",)),
}


def index() -> pd.DataFrame:
    """One row per transcribed table: ``paper, table, holds, cells, missing, pages``.

    ``cells`` have a number or a text as printed, ``missing`` cannot be read in the copies at hand; a table of which no
    cell can be read has ``cells`` 0. ``pages`` are separated by spaces.
    """
    rows = []
    for (paper, table), (holds, pages) in TABLES.items():
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
            "Table": Markup(f"{{ref}}`{name(row['table'])} <{label(row['paper'], row['table'])}>`"),
            "What it holds": row["holds"],
            "Cells": plain(row["cells"]),
            "Missing": plain(row["missing"]) if row["cells"] else "all",
            "Beside ours": Markup(", ".join(f"{{doc}}`page {page[:2]} <{page}>`" for page in row["pages"].split())),
        }
        for row in table.to_dict("records")
    ]
    return pd.DataFrame(rows, dtype=object)


def label(paper: str, table: str) -> str:
    """The anchor of a printed table."""
    return f"printed-{paper}-{table}"


def name(table: str) -> str:
    """A table as people call it."""
    return "text and figures" if table == TEXT else f"Table {table}"
