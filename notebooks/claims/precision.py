"""Page 93: what weights of fewer digits change in ranks and accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from probekit.metrics import accuracy_at_k, bootstrap_ci
from probekit.probes import load_probe
from probekit.report import Page, forest
from probekit.report.scored import scoring
from probekit.run import Rank

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXACT, TOP = "float32", 10
CAPTIONS = {
    "accuracy": "Accuracy in either format, and the difference with its 95% interval over facts",
    "ranks": "How ranks agree: shares of prompts, mean overlap of the ten best, and how far ranks move",
}


def questions(given: Mapping[str, Any]) -> list[Rank]:
    """What the page asks by its parameters: every model ranks the entities of every probe in both formats."""
    how, limit = scoring(given), given["limit"] or None
    probes = [load_probe(name, limit=limit).among(given["candidates"]) for name in given["probes"]]
    golds = {probe.name: [[gold[0]] for gold in probe.prompts["gold"]] for probe in probes}
    return [
        Rank(model, probe, golds[probe.name], TOP, dtype=kind, title=f"{model}, {kind}", **how)
        for model in given["models"]
        for kind in (EXACT, given["dtype"])
        for probe in probes
    ]


def ask(page: Page) -> pd.DataFrame:
    """Ranks, scores and best candidates of each prompt in both formats: columns ``rank, rank_other`` and so on."""
    answers = page.ask(questions(page.parameters))
    probes = {answer.question.probe.name: answer.question.probe for answer in answers}.values()
    page.used(*probes)
    by_format: dict[tuple[str, str, str], pd.DataFrame] = {}
    for answer in answers:
        question = answer.question
        page.ran(answer.name, question.probe, **answer.result.attrs)
        by_format[question.name, question.probe.name, question.dtype] = answer.result.drop(columns="target")
    tables = []
    for model in page.asking.remaining(page.parameters["models"]):
        for probe in probes:
            exact, other = (by_format[model, probe.name, kind] for kind in (EXACT, page.parameters["dtype"]))
            both = exact.merge(other, on="prompt_id", suffixes=("", "_other"))
            both.attrs = {}
            tables.append(both.assign(model=model, probe=probe.name, fact=list(probe.facts)))
    return pd.concat(tables, ignore_index=True)


def tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Accuracy at 1 and 10 by format, and agreement, of each model on each probe."""
    accuracy, ranks = [], []
    for (model, probe), group in rows.groupby(["model", "probe"], sort=False):
        labels = {"model": model, "probe": probe, "prompts": len(group)}
        for k in (1, TOP):
            gap = bootstrap_ci((group["rank_other"] <= k).astype(float) - (group["rank"] <= k), group["fact"].tolist())
            means = {"exact": accuracy_at_k(group["rank"], k), "other": accuracy_at_k(group["rank_other"], k)}
            accuracy.append(labels | {"k": k, **means, **gap.row("difference")})
        moved = np.log2(group["rank_other"] / group["rank"]).abs()
        shared = [len({*a} & {*b}) / len(a) for a, b in zip(group["top"], group["top_other"], strict=True)]
        inside = (group["rank"] <= TOP) == (group["rank_other"] <= TOP)
        row = {"same_rank": (group["rank"] == group["rank_other"]).mean(), "same_side": inside.mean()}
        row |= {"same_answer": np.mean([a[0] == b[0] for a, b in zip(group["top"], group["top_other"], strict=True)])}
        row |= {"overlap": np.mean(shared), "moved": 2 ** moved.quantile(0.95), "farthest": 2 ** moved.max()}
        row |= {"score": (group["score_other"] - group["score"]).replace([np.inf, -np.inf], np.nan).abs().max()}
        ranks.append(labels | row)
    return {"accuracy": pd.DataFrame(accuracy), "ranks": pd.DataFrame(ranks)}


HEADINGS = {
    "exact": "float32",
    "other": "Other format",
    "same_rank": "Equal ranks",
    "same_side": "In or out of the ten best in both",
    "same_answer": "Equal first answer",
    "overlap": "Overlap of the ten best",
    "moved": "Ranks move by a factor, 95% below",
    "farthest": "At most",
    "score": "Largest change of a score",
}


def chart(tables: dict[str, pd.DataFrame]) -> Figure:
    """The differences of accuracy, a panel for each k."""
    shown = tables["accuracy"].assign(at=[f"Acc@{k}" for k in tables["accuracy"]["k"]])
    return forest(shown, "difference", series="probe", panel="at", columns=2, line=0.0, zero=False)
