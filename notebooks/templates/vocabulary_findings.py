"""What the paper finds on vocabulary and model size (paper 001, sections 4 to 6), beside the tables of this book."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import pandas as pd
from probekit.report.parts import Finding, agreement, title

from probekit.report.text import interval

NO_PAIR = "not tested: no model family in two sizes was asked"
NO_RUN = "not asked in this run"
Tables = Mapping[str, pd.DataFrame]


def findings(real: Tables, demo: Tables) -> list[Finding]:
    """The paper's findings with what real data and the demo world say of each.

    Args:
        real: tables of ``vocabulary`` and ``sizes`` (``settings, accuracy_pairs, style_pairs, perplexity_pairs``) from
            real data, empty where there are none.
        demo: the same from the demo world.
    """
    told = (
        (
            "001-07h",
            "Vocabulary is not the whole reason: the settings differ on the same golds",
            _gap,
        ),
        ("001-08a", "In natural sentences the larger model of a family is the more accurate", _natural),
        ("001-08g", "By template this fails: size gains less there than in natural sentences", _styles),
        ("001-12a", "By template the smaller model often has the lower perplexity", _template_perplexity),
        ("001-12b", "In natural sentences the larger model has the lower perplexity", _natural_perplexity),
    )
    return [Finding(claim, text, cell(real), cell(demo)) for claim, text, cell in told]


def _gap(tables: Tables) -> str:
    rows = _of(tables, "settings", gold="one token")
    return _cell(tables, rows, "no data set of this run has both settings", "difference", ("low", "high"))


def _natural(tables: Tables) -> str:
    return _cell(tables, _of(tables, "accuracy_pairs", style="natural"), NO_PAIR, "difference", ("low", "high"))


def _styles(tables: Tables) -> str:
    return _cell(tables, _of(tables, "style_pairs"), NO_PAIR, "difference", ("low", "high"))


def _template_perplexity(tables: Tables) -> str:
    rows = _of(tables, "perplexity_pairs", style="template")
    return _cell(tables, rows, NO_PAIR, "ratio", ("ratio_low", "ratio_high"))


def _natural_perplexity(tables: Tables) -> str:
    rows = _of(tables, "perplexity_pairs", style="natural")
    return _cell(tables, rows, NO_PAIR, "ratio", ("ratio_low", "ratio_high"), "below")


def _of(tables: Tables, name: str, **where: str) -> pd.DataFrame:
    """Rows of a table with these values; empty where the table is."""
    table = tables.get(name, pd.DataFrame())
    for column, value in where.items():
        table = table[table[column] == value] if len(table) else table
    if name == "perplexity_pairs" and len(table):
        table = table[table["same_tokens"].astype(bool)]
    return table


def _cell(
    tables: Tables,
    rows: pd.DataFrame,
    without: str,
    value: str,
    bounds: tuple[str, str],
    expected: Literal["above", "below"] = "above",
) -> str:
    """A word of ``parts.agreement``, or ``mixed``, and the number of every data set."""
    if not tables:
        return NO_RUN
    if rows.empty:
        return without
    words, numbers = [], []
    for row in rows.to_dict("records"):
        low, high = row[bounds[0]], row[bounds[1]]
        words.append(agreement(low, high, expected))
        pair = f"{row['larger']} over {row['smaller']}, " if rows.get("larger", pd.Series()).nunique() > 1 else ""
        numbers.append(f"{pair}{title(row['dataset'])} {interval(row[value], low, high)}")
    word = words[0] if len(set(words)) == 1 else "mixed"
    return f"{word}: {'; '.join(numbers)}"
