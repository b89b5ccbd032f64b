"""The page that reads completions closely, as its reader sees it."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from probekit.report.parts import MEAN, Finding, agreement

from probekit.report.text import interval, number

from notebooks.fairness.agreement.shown import subset_name
from notebooks.fairness.samples.claims import CONCLUSIONS

ABSENT = "not asked: its people have neither these identities nor these words"
WARNING = """```{admonition} Content warning
:class: warning
The folded table below holds what language models wrote about people, drawn at random.
Such text can be offensive, whatever the templates ask.
```"""


def mean_rows(table: pd.DataFrame, axes: Sequence[str] = ("gender", "identity")) -> pd.DataFrame:
    """The rows of the mean over models, of the given axes."""
    return table[(table["model"] == MEAN) & table["axis"].isin(axes)]


def by_group(rows: pd.DataFrame, heading: str) -> pd.DataFrame:
    """One row per list of words, one column per group, each a share with its interval and mean place."""
    cells = rows.assign(
        cell=[
            interval(row["share"], row["low"], row["high"])
            + (f", place {number(row['rank'], 1)}" if row.get("rank", float("nan")) == row.get("rank") else "")
            for row in rows.to_dict("records")
        ]
    )
    wide = cells.pivot(index="list", columns="group", values="cell").loc[rows["list"].unique(), rows["group"].unique()]
    return wide.rename_axis(heading).rename(columns=lambda name: str(name).capitalize()).reset_index()


def by_model(table: pd.DataFrame, heading: str) -> pd.DataFrame:
    """One row per model and group, one column per list, shares alone: their intervals lie in the CSV."""
    rows = ["Model", "Templates", f"Group / {heading}"]  # a list of words may itself be called "model"
    cells = table.assign(
        cell=[number(share) for share in table["share"]], subset=[subset_name(subset) for subset in table["subset"]]
    ).rename(columns=dict(zip(["model", "subset", "group"], rows, strict=True)))
    wide = cells.pivot(index=rows, columns="list", values="cell")
    order = cells[rows].drop_duplicates().itertuples(index=False, name=None)
    return wide.loc[list(order), list(cells["list"].unique())].reset_index()


def lists(words: dict[str, tuple[str, ...]]) -> pd.DataFrame:
    """The word lists for reading."""
    return pd.DataFrame({"List": list(words), "Words": [", ".join(of) for of in words.values()]})


def findings(conclusions: pd.DataFrame) -> list[Finding]:
    """Whether recorded results agree with each sentence."""
    found = []
    for claim, text in CONCLUSIONS.items():
        told = [
            f"{subset_name(row['subset'])}: {agreement(row['low'], row['high'])}, "
            f"{interval(row['estimate'], row['low'], row['high'])}"
            for row in conclusions[conclusions["claim"] == claim].to_dict("records")
        ]
        found.append(Finding(claim, text, "; ".join(told) or "not available", ABSENT))
    return found
