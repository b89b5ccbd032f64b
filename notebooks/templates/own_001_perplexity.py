"""Paper 001 against its own Table 5: mean perplexities and model size."""

from __future__ import annotations

from functools import partial

import pandas as pd

from probekit.report.checks import Finding, fit, registry, show, status
from probekit.report.published import cell, published

from notebooks.templates.own_001 import MEAN, PAIRS, PAPER, table5

CHECKS, check = registry()
DATASETS = {
    "a": "Google-RE (TB)",
    "b": "Google-RE (TF)",
    "c": "T-REX (TB)",
    "d": "T-REX (TF)",
    "e": "ConceptNet (TF)",
    "f": "SQuAD (TF)",
    "g": "LIPID-Gene (TF)",
    "h": "LIPID-Chem (TF)",
    "i": "Biomed-Wikidata (TB)",
    "j": "CTD (TB)",
}


def mean_of(column: str) -> Finding:
    """Is the printed mean of ``column`` the mean of its rows; if not, without which model, or with which cell?"""
    rows, printed = table5()[column], cell(PAPER, "5", MEAN, column)
    text = f"The {len(rows)} printed rows of {column} have the mean {rows.mean():.2f}; printed is {printed}"
    how = fit(rows.mean(), printed)
    if how != "neither":
        return status(True), f"{text} ({how})."
    for model in rows.index:
        if fit(rows.drop(model).mean(), printed) != "neither":
            notes = published(PAPER, "text")["row"].str.startswith(f"mean of {column}: footnote")
            noted = "a footnote, whose text our copy lacks, stands at it" if notes.any() else "no footnote says so"
            return status(bool(notes.any())), f"{text}, which is the mean without {model}; {noted}."
    return status(False), f"{text}, and leaving out any one model does not give it.{_one_cell(rows, printed)}"


def _one_cell(rows: pd.Series, printed: str) -> str:
    """The value that each model printed with another's value would need for the printed mean to hold."""
    twins = rows[rows.duplicated(keep=False)]
    needed = {model: rows.size * float(printed) - (rows.sum() - value) for model, value in twins.items()}
    cells = [f"{model} prints {show(twins[model])} and would need {show(value)}" for model, value in needed.items()]
    return f" Rows with the same value: {'; '.join(cells)}." if cells else ""


for _letter, _column in DATASETS.items():
    check(f"{PAPER}-11{_letter}")(partial(mean_of, _column))


def smaller_is_lower(setting: str) -> tuple[list[str], int]:
    """The pairs (in words) whose smaller model has the lower perplexity, and the number of pairs compared."""
    table = table5()
    columns = [name for name in table.columns if name.endswith(f"({setting})")]
    lower = [
        f"{small} on {name} ({table.loc[small, name]:.2f} against {table.loc[large, name]:.2f})"
        for name in columns
        for small, large in PAIRS
        if table.loc[small, name] < table.loc[large, name]
    ]
    return lower, len(columns) * len(PAIRS)


@check("001-12a")
def size_template_based() -> Finding:
    """Section 5.5: template-based, the smaller model often has the lower perplexity: oftener than template-free?"""
    lower, pairs = smaller_is_lower("TB")
    others, other_pairs = smaller_is_lower("TF")
    text = f"{len(lower)} of {pairs} base and large pairs ({'; '.join(lower)}), against {len(others)} of {other_pairs}"
    return status(len(lower) / pairs > len(others) / other_pairs), f"{text} template-free."


@check("001-12b")
def size_template_free() -> Finding:
    """Section 5.5: template-free, it happens once, for BERT on ConceptNet."""
    lower, pairs = smaller_is_lower("TF")
    once = len(lower) == 1 and lower[0].startswith("BERT-base on ConceptNet")
    return status(once), f"{len(lower)} of {pairs} base and large pairs: {'; '.join(lower) or 'none'}."
