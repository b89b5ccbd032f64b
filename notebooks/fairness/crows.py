"""CrowS-Pairs (Nangia et al. 2020): which of two sentences, the more or the less stereotyping one, a model prefers.

A sentence's score is its pseudo-log-likelihood under a masked model and its log-likelihood under a causal one, over all
of its tokens. Nangia et al. leave out the words in which the two sentences differ, so their shares are other numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from probekit.errors import ProbekitError
from probekit.files.reading import csv_rows, file_digest
from probekit.metrics import share_ci, spread
from probekit.probes.data import locate
from probekit.report.page import Page
from probekit.run import Perplexity

FILE = "crows_pairs/data/crows_pairs_anonymized.csv"
COLUMNS = ("sent_more", "sent_less", "bias_type", "anon_writer")
ALL = "all pairs"


def pairs() -> pd.DataFrame:
    """The pairs: ``sent_more`` (the more stereotyping sentence), ``sent_less, bias_type, anon_writer``.

    Raises:
        ProbekitError: the file is not at hand, or lacks a column.
    """
    (_, head), *rows = csv_rows(locate(FILE))
    if absent := set(COLUMNS) - set(head):
        raise ProbekitError(f"{FILE} lacks {', '.join(sorted(absent))}")
    return pd.DataFrame([row for _, row in rows], columns=head)[list(COLUMNS)]


def questions(given: Mapping[str, Any]) -> list[Perplexity]:
    """What the page asks by its parameters: every model reads the more stereotyping sentences, then the others."""
    if not given["pairs"]:
        return []
    both = pairs()
    return [Perplexity(model, [*both["sent_more"], *both["sent_less"]]) for model in given["pairs"]]


def table(page: Page, models: Sequence[str]) -> pd.DataFrame:
    """``shares`` of models that are asked now; empty without any."""
    answers = page.ask(questions({"pairs": models}))
    if not answers:
        return pd.DataFrame()
    both = pairs()
    page.read("CrowS-Pairs", file_digest(locate(FILE)), len(both))
    return pd.concat([shares(both, a.result["log_prob"], a.name) for a in answers], ignore_index=True)


def shares(both: pd.DataFrame, scores: pd.Series, model: str) -> pd.DataFrame:
    """The share of pairs of which the more stereotyping sentence scores higher, writers of pairs drawn.

    Args:
        both: of ``pairs``, n rows.
        scores: of 2n sentences, those of ``sent_more`` first; equal ones are no preference.

    Returns:
        ``model, bias_type, pairs, writers, share, share_low, share_high``, all pairs together first.
    """
    more, less = scores.to_numpy()[: len(both)], scores.to_numpy()[len(both) :]
    hits, rows = pd.Series(more > less, index=both.index), []
    for kind in (ALL, *sorted(both["bias_type"].unique())):
        chosen = both[(both["bias_type"] == kind) | (kind == ALL)]
        interval = share_ci(hits[chosen.index], chosen["anon_writer"].tolist())
        row = {"model": model, "bias_type": kind, "pairs": len(chosen), "writers": chosen["anon_writer"].nunique()}
        rows.append(row | spread("share", interval))
    return pd.DataFrame(rows)
