"""The printed tables of paper 001 that pages and checks read, with what they name in them."""

from __future__ import annotations

import pandas as pd

from probekit.models.registry import registry
from probekit.report.published import cell, numbers

PAPER = "001"
MEAN = "Average"  # the row of printed means
PAIRS = (("BERT-base", "BERT-large"), ("RoBERTa-base", "RoBERTa-large"), ("ALBERT-base", "ALBERT-large"))
FIGURE = {"TB": "Acc@1 against perplexity, template-based", "TF": "Acc@1 against perplexity, template-free"}
SHORT = {"BioM-ELECTRA-Generator": "BioM-ELECTRA", "Bio Discharge Summary BERT": "Discharge BERT"}  # in Tables 5 and 6


def row_of(model: str) -> str:
    """The row of Tables 5 and 6 that prints a registered model; empty of another."""
    entry = registry().get(model)
    name = entry.names.get(PAPER, "") if entry else ""
    return SHORT.get(name, name)


def table5() -> pd.DataFrame:
    """Perplexity, one row per model and one column per data set, without the printed means."""
    return numbers(PAPER, "5").drop(index=MEAN)


def table6() -> pd.DataFrame:
    """Accuracy, one row per model, columns such as ``CTD Original A@1``, without the printed means."""
    return numbers(PAPER, "6").drop(index=MEAN)


def number(section: str, row: str, column: str) -> float:
    """One number of the running text."""
    return float(cell(PAPER, "text", row, column, section))
