"""Prompt by prompt: one HTML file in which the questions of a run, their golds, ranks and answers can be filtered."""

from __future__ import annotations

import pandas as pd

from probekit.report.exports.measures import Run
from probekit.report.html.document import document
from probekit.report.markup import Markup, table
from probekit.report.outcomes import RANKS, sample

SHOWN = 250_000  # characters of the table
HEADINGS = {
    "probe": "Probe",
    "model": "Model",
    "asked": "Asked",
    "gold": "Gold",
    "rank": "Rank",
    "answers": "Best answers",
    "hurtful": "Hurtful",
    "variant": "Asked with",
    "target": "Ranked",
    "method": "Method",
    "words": "Words",
    "marked": "In the rationale",
}


def prompts_page(run: Run) -> str:
    """The file's text; of a large run a sample by prompt, each with the rows of all models, and it says so."""
    heads, rows = sample(run.folder / RANKS, SHOWN)
    shown = pd.DataFrame(rows, columns=heads)
    shown = shown[[name for name in HEADINGS if name in shown]].rename(columns=HEADINGS)
    every = len(run.outcomes)
    said = (
        "All {:,} rows."
        if len(shown) == every
        else "{:,} of {:,} rows: prompts drawn at random, each with all its rows."
    )
    body = Markup(
        said + " The file {} beside the page holds every row and column; its columns are listed on the book's page "
        "*Rerun and check*. Of long lists the first answers are shown.\n\n{}"
    ).format(*([every] if len(shown) == every else [len(shown), every]), RANKS, _table(shown))
    return document(Markup("Prompt by prompt: {}").format(run.manifest["study"]), body)


def _table(shown: pd.DataFrame) -> Markup:
    return table(shown, "What was asked, the gold, its rank, and the best answers", classes="filterable")
