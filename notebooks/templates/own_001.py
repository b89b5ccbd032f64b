"""What the checks of paper 001 share: its tables, its models, its pairs of sizes."""

from __future__ import annotations

import pandas as pd

from probekit.report.published import cell, numbers

PAPER = "001"
MEAN = "Average"
PAIRS = (("BERT-base", "BERT-large"), ("RoBERTa-base", "RoBERTa-large"), ("ALBERT-base", "ALBERT-large"))


def table5() -> pd.DataFrame:
    """Perplexity, one row per model and one column per dataset, without the printed means."""
    return numbers(PAPER, "5").drop(index=MEAN)


def table6() -> pd.DataFrame:
    """Accuracy, one row per model, columns such as ``CTD Original A@1``, without the printed means."""
    return numbers(PAPER, "6").drop(index=MEAN)


def number(section: str, row: str, column: str) -> float:
    """One number of the running text."""
    return float(cell(PAPER, "text", row, column, section))
