"""Which of our rows may stand beside what paper 003 prints, and which sets of a run are of its kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from probekit.models.registry import registry
from probekit.report.page import Page

from notebooks.rationales.ask import DEMO, OWN, SETS
from notebooks.rationales.paper import PAPER


def below(printed: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    """Printed rows and ours, what we have of a model of the paper right below its printed rows; others last."""
    table, order, cards = pd.concat([printed, ours], ignore_index=True), [*printed["model"].unique()], registry()
    names = [cards[name].names.get(PAPER, name) if name in cards else name for name in table["model"]]
    place = pd.Series([order.index(name) if name in order else len(order) for name in names])
    return table.loc[place.sort_values(kind="stable").index].reset_index(drop=True)


def like_the_paper(dataset: str) -> bool:
    """Whether a set holds records of the paper's kind: the own items, and a reader's own file.

    The public data of other papers and the demo world are none.
    """
    return dataset.startswith(OWN) or dataset not in SETS


def outside_demo(table: pd.DataFrame, page: Page) -> pd.DataFrame:
    """The rows that may stand beside a paper's: not on a set of the demo world, nor of a model that read it alone.

    Args:
        table: with ``dataset`` and ``model``.
        page: knows what the models of its run have read.
    """
    readers = demo_readers(page)
    named = zip(table.get("dataset", ()), table.get("model", ()), strict=True)
    return table.loc[[not str(dataset).startswith(DEMO) and model not in readers for dataset, model in named]]


def demo_readers(page: Page) -> list[str]:
    """Models whose texts are all of those that ``probekit text`` generates, and the small models of the zoo."""
    models: Mapping[str, Mapping[str, Any]] = (page.past or page.manifest)["models"]
    return [
        name
        for name, facts in models.items()
        if name.startswith("zoo/")
        or (facts.get("texts") and all(Path(text).stem.startswith("demo-") for text in facts["texts"]))
    ]


def first_set(datasets: Iterable[str], demo: bool) -> str:
    """The set that a page speaks of: the first, on a page of the demo world the first that is of it."""
    names = list(datasets)
    return next((name for name in names if demo and name.startswith(DEMO)), names[0])


def sets_by_language(page: Page) -> dict[str, list[str]]:
    """Language -> the sets of the page's run that are of the paper's kind."""
    languages: dict[str, list[str]] = {}
    for name, facts in (page.past or page.manifest)["probes"].items():
        if like_the_paper(name):
            language = facts.get("language", name.removeprefix(OWN))  # runs recorded earlier noted none
            languages.setdefault(language, []).append(name)
    return languages
