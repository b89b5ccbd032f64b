"""What a run measured of each model, counted again from its ``ranks.parquet``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from probekit.errors import ReportError
from probekit.files.reading import read_object
from probekit.metrics import Interval, bootstrap_ci, share_ci
from probekit.report.outcomes import RANKS, read_outcomes

ACC, MRR, HURTFUL = "accuracy", "mean_reciprocal_rank", "hurtful_share"  # kinds of measures
KS = {"rank": (1, 10), "step": (1,), "filling": (1, 3)}  # of a kind of rows, the k of Acc@k
SLOT = "share of slots whose right answer is among the first {k} of {among}"
UNITS = {"rank": "facts", "step": "documents", "filling": "originals"}  # what intervals draw
TOLD = {
    "rank": (SLOT, "all candidates"),
    "step": (SLOT + ", any right answer counting, at the last step of each context", "all candidates"),
    "filling": (SLOT, "all fillings of the vocabulary"),
}


@dataclass(frozen=True)
class Measure:
    """One number of one model.

    Args:
        model, probe: as in ``ranks.parquet``.
        kind: ``ACC``, ``MRR`` or ``HURTFUL``; of the last, lower is better.
        name: for reading, such as ``Acc@10``.
        told: what it is, in words.
        k: of Acc@k; 0 of the others.
        variant: how the prompts were asked, where there are several ways.
        found: the value, between 0 and 1, with its 95% interval. Hurtful completions have none: theirs would cross
            identities with what is said of them, which the page alone knows.
        units: what the interval draws.
        rows: those counted, of ``ranks.parquet``, with ``hit`` (the value of each).
    """

    model: str
    probe: str
    kind: str
    name: str
    told: str
    k: int
    variant: str
    found: Interval
    units: str
    rows: pd.DataFrame


@dataclass(frozen=True)
class Run:
    """A page's folder as others are told of it: its manifest, its conclusions and its outcomes."""

    folder: Path
    manifest: dict[str, Any]
    conclusions: pd.DataFrame
    outcomes: pd.DataFrame

    @property
    def made(self) -> float:
        """When the page was run, in seconds since 1970."""
        return (self.folder / "manifest.json").stat().st_mtime

    def measures(self) -> list[Measure]:
        """All measures of all models, in the order of the rows; what was ranked is told with its score."""
        every = [(one, self.score(one.model)) for one in measures(self.outcomes)]
        return [replace(one, told=f"{one.told}, by their score {score}") if score else one for one, score in every]

    def score(self, model: str) -> str:
        """By which score a model's candidates were ranked; empty where it ranked none, or the run did not note it."""
        return str(self.manifest["models"].get(model, {}).get("score", ""))


def read_run(folder: Path) -> Run:
    """What ``probekit run`` wrote of one page.

    Args:
        folder: of the page, such as ``my_run/12_accuracy``, or the folder of a run with one page in it.

    Raises:
        ReportError: no such page, several, or one that asked no model prompt by prompt.
    """
    pages = [folder] if (folder / "manifest.json").is_file() else [p.parent for p in folder.glob("*/manifest.json")]
    if len(pages) != 1:
        names = f": name one of {', '.join(sorted(page.name for page in pages))}" if pages else ": see `probekit run`"
        raise ReportError(f"{folder} is no folder of one page{names}")
    (page,) = pages
    if not (page / RANKS).is_file():
        raise ReportError(f"{page} has no {RANKS}: it asked no model prompt by prompt, or shows what was recorded")
    conclusions = page / "conclusions.csv"
    return Run(
        page,
        read_object(page / "manifest.json"),
        pd.read_csv(conclusions) if conclusions.is_file() else pd.DataFrame(),
        read_outcomes(page),
    )


def measures(outcomes: pd.DataFrame) -> Iterator[Measure]:
    """Acc@k and MRR of rankings, Acc@1 with a context, accuracy of fillings, share of hurtful completions.

    Word scores have no measure here: what they are worth needs all of a page.

    Args:
        outcomes: of ``read_outcomes``.
    """
    keys = ["kind", "model", "probe", "variant"]
    for (kind, model, probe, variant), rows in outcomes.fillna({"variant": ""}).groupby(keys, sort=False):
        about = str(model), str(probe)
        if kind == "step":
            rows = rows[rows["last"].eq(True) & (rows["twin"] == "target")].assign(rank=lambda table: table["rank_any"])
        if kind in KS and len(rows):
            words, among = TOLD[kind]
            for k in (k for k in KS[kind] if not (rows["candidates"] <= k).all()):  # which could not be missed
                hits = rows.assign(hit=(rows["rank"] <= k).astype(float))  # no rank is no hit
                told = words.format(k=k, among=among)
                found = share_ci(hits["hit"], _units(hits, kind))
                yield Measure(*about, ACC, f"Acc@{k}", told, k, variant, found, UNITS[kind], hits)
        if kind == "rank":
            hits = rows.assign(hit=1 / rows["rank"])
            told, found = "mean of one over the rank of the right answer", bootstrap_ci(hits["hit"], _units(hits, kind))
            yield Measure(*about, MRR, "MRR", told, 0, variant, found, UNITS[kind], hits)
        if kind == "completions" and rows["hurtful"].notna().all():
            once = rows[rows["asked"].isna() | ~rows["asked"].duplicated()]
            hits = once.assign(hit=[float(sum(one)) / len(one) for one in once["hurtful"]])
            told = (
                "mean share of completions that hold a word of the lexicon, by the audited rules, of distinct templates"
            )
            found = Interval(float(hits["hit"].mean()), float("nan"), float("nan"), len(hits), len(hits), 0.0)
            yield Measure(*about, HURTFUL, "Hurtful completions", told, 0, variant, found, "", hits)


def _units(rows: pd.DataFrame, kind: str) -> list[str]:
    return list(rows["document" if kind == "step" else "fact_id"].fillna(rows["prompt_id"]))
