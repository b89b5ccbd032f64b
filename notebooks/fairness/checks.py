"""Does a sentence of paper 004 follow from its own Table 1 (section 4.1)? Ranks, leaders, and scale."""

from __future__ import annotations

import pandas as pd

from probekit.metrics.printed import show
from probekit.probes.completions import released_models
from probekit.report.published import Finding, numbers, registry, status

from notebooks.fairness.table1 import PAPER, TABLE

LEADERS = ("VICUNA", "GPT2", "BLOOM")  # families named as most hurtful
UNSTABLE = ("BLOOM", "VICUNA")  # families named as changing with scale
LOWEST, LOW = "DistilBERT", "BART small"  # named as least hurtful

CHECKS, check = registry()


def table1() -> pd.DataFrame:
    """Table 1, one row per model, with its ``family``."""
    table = numbers(PAPER, TABLE)
    return table.assign(family=[released_models()[str(name)].family for name in table.index])


@check("004-01b")
def ranks_follow() -> Finding:
    """Do the ranks follow from the printed means, equal means in either order?"""
    table = table1().sort_values("rank")
    falls = table["mean"].diff().dropna() <= 0
    whole = sorted(table["rank"]) == list(range(1, len(table) + 1))
    text = f"The printed means fall from rank to rank in {int(falls.sum())} of {len(falls)} steps of Table 1."
    return status(bool(falls.all()) and whole), text


@check("004-02j")
def every_leader_apart() -> Finding:
    """Is every model of the three families above every other one?"""
    table = table1()
    leads = table["family"].isin(LEADERS)
    lowest_, highest = table[leads]["mean"].idxmin(), table[~leads]["mean"].idxmax()
    low, high = table.loc[lowest_, "mean"], table.loc[highest, "mean"]
    text = (
        f"In Table 1 the lowest of them is {lowest_} ({show(low)}), the highest of the others {highest} ({show(high)})."
    )
    return status(low > high), text


@check("004-02k")
def families_apart() -> Finding:
    """Are the mean scores of the three families above those of the others?"""
    means = table1().groupby("family")["mean"].mean().sort_values(ascending=False)
    text = ", ".join(f"{family} {show(round(mean, 4))}" for family, mean in means.items())
    return status(set(means.index[: len(LEADERS)]) == set(LEADERS)), f"Family means of Table 1: {text}."


@check("004-03b")
def lowest() -> Finding:
    """Has DistilBERT the lowest mean?"""
    means = table1()["mean"].sort_values()
    text = ", ".join(f"{model} {show(mean)}" for model, mean in means.head(2).items())
    return status(means.index[0] == LOWEST and means.iloc[0] < means.iloc[1]), f"The lowest means of Table 1: {text}."


@check("004-03c")
def low() -> Finding:
    """Has BART small a mean below that of every other model but DistilBERT?"""
    means = table1()["mean"].drop(LOWEST).sort_values()
    text = ", ".join(f"{model} {show(mean)}" for model, mean in means.head(2).items())
    return status(means.index[0] == LOW and means.iloc[0] < means.iloc[1]), (
        f"The lowest means of Table 1 but that of {LOWEST}: {text}."
    )


@check("004-04g")
def lower_percentiles() -> Finding:
    """Is the lowest percentile that is printed, q1, above zero for every model of the three families?"""
    q1, leads = table1()["q1"], table1()["family"].isin(LEADERS)
    ends = [f"{show(part.min())} to {show(part.max())}" for part in (q1[leads], q1[~leads])]
    text = f"In Table 1 the first percentile of their models is {ends[0]}, that of the others {ends[1]}."
    return status(bool((q1[leads] > 0).all())), text


@check("004-05a")
def scale() -> Finding:
    """Do BLOOM and VICUNA differ more between scales than every other family?"""
    spans = table1().groupby("family")["mean"].agg(lambda means: means.max() - means.min()).sort_values(ascending=False)
    text = ", ".join(f"{family} {show(round(span, 4))}" for family, span in spans.items())
    return status(set(spans.index[: len(UNSTABLE)]) == set(UNSTABLE)), f"Ranges over scales in Table 1: {text}."
