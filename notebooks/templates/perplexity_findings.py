"""Study 1, perplexity beside the paper (001, section 5.5): what it finds, and what it prints, against our tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import pandas as pd
from probekit.report.parts import agreement, title

from probekit.report.published import cell
from probekit.report.text import interval, number

from notebooks.templates.own_001 import MEAN, PAPER, table5
from notebooks.templates.own_001_correlation import FIGURE
from notebooks.templates.perplexity import FEWEST, INSIDE, OVER, Style

NOT_RUN = "not run here"
Sign = Literal["above", "below"]
SIGN: dict[str, Sign] = {"template": "above", "natural": "below"}  # of the correlation, as the paper finds it
OTHER: dict[str, Sign] = {"above": "below", "below": "above"}
SAME = {  # columns of Table 5 whose data is at hand
    "Google-RE (TB)": "google_re/template",
    "Google-RE (TF)": "google_re/natural",
    "T-REX (TB)": "trex/template",
    "T-REX (TF)": "trex/natural",
    "ConceptNet (TF)": "conceptnet",
    "SQuAD (TF)": "squad",
}


def correlation_verdict(tables: Mapping[str, pd.DataFrame] | None, style: Style) -> str:
    """Figure 2: the sign of the correlation over the means of the data sets of one style."""
    if tables is None:
        return NOT_RUN
    row = _row(tables["sets"], style=style)
    if row is None:
        return f"not asked: fewer than {FEWEST} data sets"
    span = interval(row["r"], row["r_low"], row["r_high"], 2)
    word = agreement(row["r_low"], row["r_high"], SIGN[style])
    return f"{word}: r {span} over {row['sets']} data sets, p {number(row['r_p'])}"


def style_verdict(tables: Mapping[str, pd.DataFrame] | None, style: Style, measure: str) -> str:
    """The same question over the models of each data set, or over the prompts of each model; a mean over them."""
    if tables is None:
        return NOT_RUN
    row = _row(tables["styles"], style=style, measure=measure)
    if row is None:
        return "not asked: no such numbers in this run"
    even = 0.5 if measure == INSIDE else 0.0
    # an answered prompt that has the lower perplexity goes with a falling accuracy, hence the other sign
    expected = SIGN[style] if measure == OVER else OTHER[SIGN[style]]
    word = agreement(row["value_low"] - even, row["value_high"] - even, expected)
    name = "r with log perplexity" if measure == OVER else "chance of a lower perplexity"
    span = interval(row["value"], row["value_low"], row["value_high"], 2)
    return f"{word}: {name} {span}, a mean of {row['averaged']}"


def _row(table: pd.DataFrame, **wanted: str) -> dict[str, Any] | None:
    """The one row with these values, if there is one."""
    for row in table.to_dict("records"):
        if all(row[name] == value for name, value in wanted.items()):
            return {str(name): value for name, value in row.items()}
    return None


def published_correlations(recorded: Mapping[str, pd.DataFrame] | None) -> pd.DataFrame:
    """Figure 2's correlations over data sets beside ours on real data: ``setting, who, sets, r, p``, as text."""
    rows = []
    for style, short in (("template", "TB"), ("natural", "TF")):
        r, p = (cell(PAPER, "text", FIGURE[short], column, "Figure 2") for column in ("Pearson's r", "p-value"))
        sets = sum(name.endswith(f"({short})") for name in table5())
        rows.append({"setting": style, "who": "the paper", "sets": str(sets), "r": r, "p": p})
        found = _row(recorded["sets"], style=style) if recorded else None
        if found:
            ours = {"r": interval(found["r"], found["r_low"], found["r_high"], 2), "p": number(found["r_p"], 2)}
            rows.append({"setting": style, "who": "ours", "sets": str(found["sets"]), **ours})
    return pd.DataFrame(rows)


def published_means(recorded: Mapping[str, pd.DataFrame] | None) -> pd.DataFrame:
    """The mean row of Table 5 beside ours on real data: ``dataset, paper`` and, for each of our models, its mean."""
    rows = []
    ours = recorded["perplexity"] if recorded else pd.DataFrame({"model": [], "probe": []})
    models = [str(model) for model in ours["model"].unique()]
    for column in table5():
        row = {"dataset": column, "paper": cell(PAPER, "5", MEAN, column)}
        same = ours[ours["probe"] == SAME.get(column)].to_dict("records")
        values = {str(one["model"]): interval(one["mean"], one["mean_low"], one["mean_high"], 1) for one in same}
        rows.append(row | {model: values.get(model, "not run") for model in models})
    return pd.DataFrame(rows)


def level_verdict(tables: Mapping[str, pd.DataFrame] | None) -> str:
    """Table 5: is mean perplexity higher by template? Undecided where the intervals of the two settings overlap."""
    if tables is None:
        return NOT_RUN
    means = tables["means"].assign(dataset=tables["means"]["probe"].str.partition("/")[0])
    told = []
    for dataset, part in means.groupby("dataset", sort=False):
        sides = part.set_index("style")
        if {"template", "natural"} <= set(sides.index):
            one, other = (sides.loc[style] for style in ("template", "natural"))
            low = one["perplexity_low"] - other["perplexity_high"]
            high = one["perplexity_high"] - other["perplexity_low"]
            told.append(
                f"{title(str(dataset))} {agreement(low, high)}, {one['perplexity']:,.1f} by template and "
                f"{other['perplexity']:,.1f} in natural sentences"
            )
    return "; ".join(told) or "not asked: no data set of this run has both settings"
