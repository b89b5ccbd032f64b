"""Paper 002's Tables 2 and 3 as printed, and which of their models are of general text and which are larger."""

from __future__ import annotations

import pandas as pd

from probekit.report.published import numbers

PAPER = "002"
FULL = {"RoBERTa": "RoBERTa-base-PM"}  # a model's name where Table 3 prints less of it
GENERAL = ("BERT-base", "BERT-large", "RoBERTa-base", "RoBERTa-large")  # rows of Table 2 without biomedical text
LARGER = (  # (base, large) of one kind, as Tables 2 and 3 name them
    ("BERT-base", "BERT-large"),
    ("RoBERTa-base", "RoBERTa-large"),
    ("RoBERTa-base-PM-M3", "RoBERTa-large-PM-M3"),
    ("BlueBERT-base-PM-M3", "BlueBERT-large-PM-M3"),
)


def table2() -> pd.DataFrame:
    """Table 2, one row per model."""
    return numbers(PAPER, "2")


def table3() -> pd.DataFrame:
    """Table 3, one row per model."""
    return numbers(PAPER, "3")
