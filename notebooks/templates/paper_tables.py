"""The printed tables of paper 001 that pages and checks read, with what they name in them."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from probekit.report.published import cell, numbers
from probekit.report.tables import pick

PAPER = "001"
MEAN = "Average"  # the row of printed means
PAIRS = (("BERT-base", "BERT-large"), ("RoBERTa-base", "RoBERTa-large"), ("ALBERT-base", "ALBERT-large"))
FIGURE = {"TB": "Acc@1 against perplexity, template-based", "TF": "Acc@1 against perplexity, template-free"}
DATES, GOOGLE_RE = "date_of_birth", "google_re/template"
PRINTED = {  # relation of Google-RE -> the row of the transcribed Acc@10 of its template (section 5.2)
    DATES: "template (born [MASK]), mean over models",
    "place_of_birth": "template was born in [MASK], mean over models",
    "place_of_death": "template died in [MASK], mean over models",
}
SHORT = {"BioM-ELECTRA-Generator": "BioM-ELECTRA", "Bio Discharge Summary BERT": "Discharge BERT"}  # in Tables 5 and 6


def table5() -> pd.DataFrame:
    """Perplexity, one row per model and one column per data set, without the printed means."""
    return numbers(PAPER, "5").drop(index=MEAN)


def table6() -> pd.DataFrame:
    """Accuracy, one row per model, columns such as ``CTD Original A@1``, without the printed means."""
    return numbers(PAPER, "6").drop(index=MEAN)


def number(section: str, row: str, column: str) -> float:
    """One number of the running text."""
    return float(cell(PAPER, "text", row, column, section))


def google_re_rows(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The rows of ``means`` of page 14 on the templates of ``PRINTED``."""
    return pick(tables["means"], probe=GOOGLE_RE, relation=list(PRINTED))


def google_re_beside(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Acc@10 of the templates of Google-RE as printed, beside ours; empty without Google-RE."""
    rows = google_re_rows(tables) if len(tables["means"]) else pd.DataFrame()
    if rows.empty:
        return rows
    shown = rows[["relation", "wording", "facts", "acc@10", "low@10", "high@10"]].set_index("relation")
    shown = shown.loc[[relation for relation in PRINTED if relation in shown.index]].reset_index()
    values = [cell(PAPER, "text", PRINTED[relation], "Acc@10", "5.2") for relation in shown["relation"]]
    return shown.assign(published=values)
