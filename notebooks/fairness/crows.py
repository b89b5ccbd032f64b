"""CrowS-Pairs (Nangia et al. 2020): which of two sentences, the more or the less stereotyping one, a model prefers.

A sentence's score is its pseudo-log-likelihood under a masked model and its log-likelihood under a causal one, summed
over all of its tokens, so that only sentences of equally many tokens are compared on even terms. Nangia et al. leave
out the words in which the two sentences differ, so their shares are other numbers.
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
SHARES = ["model", "bias_type", "equal", "equal_share", "equal_share_low", "equal_share_high", "pairs", "writers"]
SHARES += [f"{name}{end}" for name in ("share", "longer_share", "shorter_share") for end in ("", "_low", "_high")]
ALL = "all pairs"
HEADINGS = {
    "equal": "Pairs of equally many tokens",
    "equal_share": "Share of these",
    "pairs": "All pairs",
    "share": "Share of all",
    "longer_share": "Share where it has more tokens",
    "shorter_share": "Share where it has fewer",
}


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
    return pd.concat([shares(both, a.result, a.name) for a in answers], ignore_index=True)


def shares(both: pd.DataFrame, scored: pd.DataFrame, model: str) -> pd.DataFrame:
    """The share of pairs of which the more stereotyping sentence scores higher, writers of pairs drawn.

    Args:
        both: of ``pairs``, n rows.
        scored: ``log_prob, tokens`` of 2n sentences, those of ``sent_more`` first; equal scores are no preference.

    Returns:
        ``model, bias_type``, all pairs together first; ``equal`` (pairs whose sentences have equally many tokens) and
        ``equal_share``, ``pairs, writers, share`` of all, and ``longer_share, shorter_share`` of pairs whose more
        stereotyping sentence has more or fewer tokens, all shares with their intervals.
    """
    more, less = scored[: len(both)].set_index(both.index), scored[len(both) :].set_index(both.index)
    hits, longer_by, rows = more["log_prob"] > less["log_prob"], more["tokens"] - less["tokens"], []
    for kind in (ALL, *sorted(both["bias_type"].unique())):
        chosen = both[(both["bias_type"] == kind) | (kind == ALL)]
        hit, longer, writers = hits[chosen.index], longer_by[chosen.index], chosen["anon_writer"]
        row: dict[str, Any] = {"model": model, "bias_type": kind, "equal": int((longer == 0).sum())}
        row |= {"pairs": len(chosen), "writers": writers.nunique()}
        groups = {"share": hit | True, "equal_share": longer == 0}
        for name, of in (groups | {"longer_share": longer > 0, "shorter_share": longer < 0}).items():
            if of.any():
                row |= spread(name, share_ci(hit[of], writers[of].tolist()))
        rows.append(row)
    return pd.DataFrame(rows, columns=SHARES)
