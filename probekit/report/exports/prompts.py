"""Prompt by prompt: one HTML file in which the questions of a run, their golds, ranks and answers can be filtered."""

from __future__ import annotations

import pandas as pd

from probekit.report.exports.measures import Run
from probekit.report.html.document import document
from probekit.report.markup import Markup, table
from probekit.report.outcomes import RANKS, sample

SHOWN = 250_000  # characters of the table
CAPTION = "What was asked, the gold, its rank, and the best answers"
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


def prompts_page(run: Run) -> dict[str, str]:
    """``prompts.html`` -> its text; of a large run a sample by prompt with the rows of all models, and it says so."""
    heads, rows = sample(run.folder / RANKS, SHOWN)
    shown = pd.DataFrame(rows, columns=heads)
    shown = shown[[name for name in HEADINGS if name in shown]].rename(columns=HEADINGS)
    count, every = len(shown), len(run.outcomes)
    whole, drawn = "All {:,} rows.", "{:,} of {:,} rows: prompts drawn at random, each with all its rows."
    extent = whole.format(every) if count == every else drawn.format(count, every)
    body = Markup(
        "{} The file {} beside the page holds every row and column; its columns are listed on the book's page "
        "*What a run gives*. Of long lists the first answers are shown.\n\n{}"
    ).format(Markup(extent), RANKS, table(shown, CAPTION, classes="filterable"))
    return {"prompts.html": document(Markup("Prompt by prompt: {}").format(run.manifest["study"]), body)}
