"""Numbers that a paper prints of its models, beside ours of the same models on the same data: shown, never judged.

Whoever asks a model of the paper fills its rows; a page on other models shows none.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from probekit.models.registry import printed_name


def printed_beside(
    ours: pd.DataFrame, printed: pd.DataFrame, paper: str, names: Mapping[str, str] = {}
) -> pd.DataFrame:
    """The rows of the paper's models that a run asked, with the printed numbers before ours.

    Args:
        ours: ``model`` and columns that say what was asked; all others are numbers.
        printed: ``model`` (as the table prints it), the same columns of what was asked, and numbers under the names
            that they are to have. Columns of both tables say what was asked.
        paper: its number, such as ``001``.
        names: of models that this table prints otherwise than the registry says.

    Returns:
        ``model`` (ours), what was asked, the printed numbers, ours; in the order of ``ours``, and without columns
        where no model of the paper was asked.
    """
    keys = [column for column in ours if column in printed and column != "model"]
    called = [printed_name(model, paper) for model in ours["model"]]
    theirs = printed.rename(columns={"model": "in_print"})
    rows = ours.assign(in_print=[names.get(name, name) for name in called]).merge(theirs, on=["in_print", *keys])
    numbers = [column for column in printed if column not in ("model", *keys)]
    order = ["model", *keys, *numbers, *(column for column in ours if column not in ("model", *keys))]
    return rows[order] if len(rows) else pd.DataFrame()
