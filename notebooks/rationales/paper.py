"""Paper 003 as this study uses it: its printed tables by dimension, and which of our rows may stand beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from probekit.models.registry import registry
from probekit.probes.rationales import DIMENSIONS, PERTURBATIONS
from probekit.report.page import Page
from probekit.report.published import numbers
from probekit.report.text import title

from notebooks.rationales.ask import ATTENTION, DEMO, GRADIENTS, OWN, SETS

PAPER = "003"
LEARNED, UNLEARNED = ("grammar", "semantics"), ("knowledge", "reasoning", "computation")  # section 5.2
WEAK, THREE = ("knowledge", "computation"), ("grammar", "semantics", "reasoning")  # as section 5.2 groups them
SHORT, LONG = LEARNED, UNLEARNED  # rationales of about .3 and about .5 of the words, section 5.3
LANGUAGES = {"en": "English", "zh": "Chinese"}
ENGLISH, CHINESE = "own/en", "own/zh"  # the sets of the paper's kind that its models are asked
BERT, ROBERTA = "bert-base-chinese", "chinese-roberta-wwm-ext"  # the Chinese models, as they are registered
ERNIE, ERNIE_LARGE = "ernie-base-chinese", "ernie-large-chinese"
ROBERTA_EN = "roberta-base"
ACCURACY = {"en": "8", "zh": "4"}  # language -> the table that prints it
SCORES = {"en": "9", "zh": "5"}
CHANGES = {"en": "11", "zh": "6"}
REASONS = {"en": "10", "zh": "7"}
TABLES = {"en": "8 to 11", "zh": "4 to 7"}
METHODS = {ATTENTION: "ATT", GRADIENTS: "IG"}  # as Tables 5 and 9 shorten them
ALL = "all"
PARTS = (ALL, "original", "perturbed")
PRINTED = ("F1", "MAP", "PCC", "MAP*")  # metrics of Tables 5 and 9
AS_IT_STANDS, ABOVE = "as it stands", "above random scores"  # how a claim on word scores is measured
FEW = 5  # records or pairs below which a mean is not shown


def models(language: str) -> list[str]:
    """The registered names of the paper's models of a language; no other model speaks of what it says of its own."""
    known = registry().items()
    return [name for name, entry in known if PAPER in entry.names and entry.language == language]


def accuracy(table: str, part: str = "all", top: int = 1) -> pd.DataFrame:
    """Accuracies of Table 4 (Chinese) or 8 (English), in percent: models down, dimensions across."""
    printed = numbers(PAPER, table)
    return pd.DataFrame({name: printed[f"{name} {part} top{top}"] for name in DIMENSIONS})


def scores(table: str, metric: str, method: str) -> pd.DataFrame:
    """A metric of Table 5 (Chinese) or 9 (English) by one method (ATT or IG): models down, dimensions across."""
    printed = numbers(PAPER, table)
    rows = {str(name).removesuffix(f" {method}"): name for name in printed.index if str(name).endswith(f" {method}")}
    return pd.DataFrame(
        {name: [printed.loc[row, f"{name} {metric}"] for row in rows.values()] for name in DIMENSIONS}, index=[*rows]
    )


def accuracy_rows(language: str) -> pd.DataFrame:
    """Table 4 or 8 as rows: ``model, data, part, top, dimension, estimate`` in percent."""
    table = ACCURACY[language]
    parts = {(part, top): accuracy(table, part, top) for part in PARTS for top in (1, 3)}
    return _as_rows(parts, ["part", "top"], table)


def score_rows(language: str) -> pd.DataFrame:
    """Table 5 or 9 as rows: ``model, data, metric, method, dimension, estimate``."""
    table = SCORES[language]
    parts = {(m, method): scores(table, m, short) for m in PRINTED for method, short in METHODS.items()}
    return _as_rows(parts, ["metric", "method"], table)


def below(printed: pd.DataFrame, own: pd.DataFrame) -> pd.DataFrame:
    """Printed rows and ours, what we have of a model of the paper right below its printed rows; others last."""
    table, order, known = pd.concat([printed, own], ignore_index=True), [*printed["model"].unique()], registry()
    names = [known[name].names.get(PAPER, name) if name in known else name for name in table["model"]]
    place = pd.Series([order.index(name) if name in order else len(order) for name in names])
    return table.loc[place.sort_values(kind="stable").index].reset_index(drop=True)


def _as_rows(parts: Mapping[tuple[Any, ...], pd.DataFrame], keys: Sequence[str], table: str) -> pd.DataFrame:
    """Tables with models down and dimensions across, one under the other, a row per cell."""
    long = pd.concat(dict(parts), names=[*keys, "model"]).rename_axis(columns="dimension").stack().rename("estimate")
    return long.reset_index().assign(data=f"paper, Table {table}")


def by_kind(table: str, row: str = "", column: str = "") -> pd.DataFrame:
    """One row per dimension, one column per kind: a row of Tables 6 and 11, or a column of Tables 7 and 10."""
    printed = numbers(PAPER, table)
    if row:
        cells = printed.loc[row]
        names = sorted({str(name).rpartition(" ")[0] for name in cells.index}, key=DIMENSIONS.index)
        return pd.DataFrame({kind: [cells[f"{name} {kind}"] for name in names] for kind in PERTURBATIONS}, index=names)
    return pd.DataFrame({kind: printed[f"{kind} {column}"] for kind in PERTURBATIONS})


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
    readers = _readers(page)
    named = zip(table.get("dataset", ()), table.get("model", ()), strict=True)
    return table.loc[[not str(dataset).startswith(DEMO) and model not in readers for dataset, model in named]]


def _readers(page: Page) -> list[str]:
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


def invented(page: Page) -> str:
    """What a page says of sets of the demo world and of models that read it alone; empty without such, and on a page
    of the demo world, whose banner says it."""
    if page.demo:
        return ""
    sets = [title(name) for name in (page.past or page.manifest)["probes"] if name.startswith(DEMO)]
    readers = [title(name) for name in _readers(page)]
    sentences = [f"The facts of {' and '.join(sets)} are invented."] if sets else []
    sentences += (
        [f"{' and '.join(readers)} has read invented text alone: its results show the method, not a real model."]
        if readers
        else []
    )
    return " ".join([*sentences, "Such results stand beside no paper's."]) if sentences else ""


def not_judged(page: Page) -> str:
    """Which of the paper's languages no model of the run was asked in, and why; empty on a page of the demo world."""
    run = page.past or page.manifest
    given = {"en": run["parameters"].get("models"), "zh": run["parameters"].get("chinese")}
    lacking = [language for language in LANGUAGES if not given[language]]
    if page.demo or not lacking:
        return ""
    return " ".join(
        f"What the paper says of {LANGUAGES[language]} (Tables {TABLES[language]}) is not "
        f"judged: this run had no {LANGUAGES[language]} model. The one of the demo world has read invented text alone, "
        "and so speaks for nothing here."
        for language in lacking
    )


def listed(models: Sequence[str], every: Sequence[str]) -> str:
    """Those of ``every`` model for whom something holds, as a sentence names them."""
    chosen = [title(name) for name in every if name in models]
    if len(every) > 1 and len(chosen) == len(every):
        return "both models" if len(every) == 2 else f"all {len(every)} models"
    if len(chosen) > 3:
        return f"{len(chosen)} of {len(every)} models"
    return " and ".join(chosen) or "no model"
