"""What the tables of repeated answers say, in words (paper 001, section 5.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import pandas as pd
from probekit.report.parts import Finding, agreements, overall, title

from probekit.report.text import escape, interval

from notebooks.templates.answers import GOLD


def by_dataset(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """A table with ``probe`` in parts of one data set each, in order."""
    if len(table):
        for name, part in table.groupby(_dataset(table), sort=False):
            yield str(name), part


def _dataset(table: pd.DataFrame) -> pd.Series:
    return table["probe"].str.replace(r"/(template|natural)$", "", regex=True)


def answers(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """One sentence per data set: how often two prompts of one relation get the same first answer.

    Args:
        tables: of ``overconfidence.tables``.
    """
    told = []
    for dataset, part in by_dataset(tables["variety"]):
        known = part[part["model"] == GOLD]["repetition"].astype(float).iloc[0]
        means = part[part["model"] != GOLD].groupby("probe", sort=False)["repetition"].mean()
        models = part[part["model"] != GOLD]["model"].nunique()
        who = f"the mean over {models} models" if models > 1 else escape(part["model"].iloc[0])
        text = (
            f"**{title(dataset)}.** Two prompts of one relation get the same first answer in "
            + " and in ".join(f"{share:.1%} of cases on {title(str(probe))}" for probe, share in means.items())
            + f" ({who}); their right answers are the same in {known:.1%}."
        )
        gaps = tables["gaps"]
        if len(gaps):
            gaps = gaps[(gaps["dataset"] == dataset) & (gaps["measure"] == "repetition")]
        for row in overall(gaps).itertuples():
            text += f" Template less natural: {interval(float(row.difference), float(row.low), float(row.high))}."
        told.append(text)
    return told


def frequent(entities: pd.DataFrame) -> pd.DataFrame:
    """The most frequent entities of the first model, a column per probe, each with its share of prompts."""
    named = entities[entities["model"] == entities["model"].iloc[0]]
    columns = {}
    for probe, part in named.groupby("probe", sort=False):
        shares = zip(part["entity"], part["share"].astype(float), strict=True)
        columns[title(str(probe))] = pd.Series([f"{name} ({share:.0%})" for name, share in shares])
    table = pd.DataFrame(columns).fillna("\N{EN DASH}")
    table.insert(0, "Place", range(1, len(table) + 1))
    return table


def findings(real: Mapping[str, pd.DataFrame] | None, demo: Mapping[str, pd.DataFrame] | None) -> list[Finding]:
    """The findings of section 5.4 beside the tables of real data and those of the demo world.

    Args:
        real: tables of ``overconfidence.tables``; None where nothing was recorded.
        demo: likewise; None where the demo world was not asked.
    """

    def gap(tables: Mapping[str, pd.DataFrame], measure: str) -> str:
        gaps = tables["gaps"]
        return agreements(overall(gaps[gaps["measure"] == measure]) if len(gaps) else gaps)

    def paying(tables: Mapping[str, pd.DataFrame]) -> str:
        return agreements(tables["performance"], "below", ("tau", "tau_low", "tau_high"))

    def row(claim: str, finding: str, say: Callable[[Mapping[str, pd.DataFrame]], str]) -> Finding:
        recorded = "not recorded" if real is None else say(real)
        return Finding(claim, finding, recorded, "not asked" if demo is None else say(demo))

    return [
        row("001-14a", "Two prompts get the same answer more often by template", partial(gap, measure="repetition")),
        row(
            "5.4, heading",
            "Overconfident: wrong answers by template have the larger margin",
            partial(gap, measure="margin_wrong"),
        ),
        row("001-14b", "Models that repeat their answers perform worse (tau over models below zero)", paying),
    ]
