"""Whether recorded results agree with a paper's sentences, counted for the findings and told in full in a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
from probekit.report.parts import Finding, agreement

from probekit.report.text import interval

from notebooks.rationales.asking import title


def findings(table: pd.DataFrame, measured: Sequence[str], texts: Mapping[str, str], absent: str) -> list[Finding]:
    """Each sentence with how many results agree with it and contradict it; a result is of one set, model and method.

    Args:
        table: of ``lengths.conclusions`` or ``perturbation_claims.conclusions``, without the demo world.
        measured: in the order in which they are told.
        texts: claim -> sentence.
        absent: why the demo world is not asked.
    """
    found = []
    for claim, text in texts.items():
        told = []
        for name in measured:
            rows = table[(table["claim"] == claim) & (table["measured"] == name)] if len(table) else table
            sides = [agreement(row["low"], row["high"]) for row in rows.to_dict("records")]
            if sides:
                agree, not_so = sides.count("agrees"), sides.count("contradicts")
                told.append(f"{name}: of {len(sides)} results {agree} agree and {not_so} contradict")
        found.append(Finding(claim, text, "; ".join(told) or "not available", absent))
    return found


def rows(table: pd.DataFrame, measured: Sequence[str], texts: Mapping[str, str]) -> pd.DataFrame:
    """Every one of these results, each with its interval and what follows from it.

    Args:
        table, measured, texts: as in ``findings``.
    """
    found = []
    keys = ["claim", "dataset", "model", "method"]
    for (claim, dataset, model, method), group in table.groupby(keys, sort=False) if len(table) else []:
        spans = {str(one["measured"]): one for one in group.to_dict("records")}
        row = {
            "The paper finds": texts[str(claim)],
            "Data": title(str(dataset)),
            "Model": model,
            "Scores": method or "–",
        }
        for name in measured:
            one = spans.get(name)
            row[name.capitalize()] = (
                f"{agreement(one['low'], one['high'])}, {interval(one['estimate'], one['low'], one['high'])}"
                if one
                else "–"
            )
        found.append(row)
    return pd.DataFrame(found)
