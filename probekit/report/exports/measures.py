"""What a run measured of each model, counted again from its ``ranks.parquet``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from probekit.errors import ReportError
from probekit.files.reading import read_object
from probekit.metrics import Interval, bootstrap_ci, share_ci
from probekit.report.outcomes import RANKS, read_outcomes

ACC, MRR, HURTFUL = "accuracy", "mean_reciprocal_rank", "hurtful_share"  # kinds of measures
KS = {"rank": (1, 10), "step": (1,), "filling": (1, 3)}  # of a kind of rows, the k of Acc@k
SLOT = "share of slots whose right answer is among the first {k} of {among}"
UNITS = {"rank": "facts", "step": "documents", "filling": "originals"}  # what intervals draw
MEANINGS = {
    "rank": (SLOT, "all {most:,} candidates"),
    "step": (SLOT + ", any right answer counting, at the last step of each context", "all candidates"),
    "filling": (SLOT, "all fillings of the vocabulary"),
}
WITHIN = {"relation": "the {fewest:,} to {most:,} candidates of its relation"}
WITHIN |= {"pool": "the {fewest:,} to {most:,} candidates of its type or, where it has none, relation"}


@dataclass(frozen=True)
class Measure:
    """One number of one model.

    Args:
        model, probe: as in ``ranks.parquet``.
        kind: ``ACC``, ``MRR`` or ``HURTFUL``; of the last, lower is better.
        name: for reading, such as ``Acc@10``.
        meaning: what it is, in words.
        k: of Acc@k; 0 of the others.
        variant: how the prompts were asked, where there are several ways.
        interval: the value, between 0 and 1, with its 95% interval. Hurtful completions have none: theirs would cross
            identities with what is said of them, which the page alone knows.
        units: what the interval draws.
        rows: those counted, of ``ranks.parquet``, with ``hit`` (the value of each).
    """

    model: str
    probe: str
    kind: str
    name: str
    meaning: str
    k: int
    variant: str
    interval: Interval
    units: str
    rows: pd.DataFrame

    @property
    def ends(self) -> tuple[float, float] | None:
        """Of the interval, where there is one."""
        return None if self.interval.low != self.interval.low else (self.interval.low, self.interval.high)


@dataclass(frozen=True)
class Run:
    """A page's folder as the formats of others tell of it: its manifest, its conclusions and its outcomes."""

    folder: Path
    manifest: dict[str, Any]
    conclusions: pd.DataFrame
    outcomes: pd.DataFrame

    @property
    def made(self) -> float:
        """When the page was run, in seconds since 1970."""
        return (self.folder / "manifest.json").stat().st_mtime

    def measures(self) -> dict[str, list[Measure]]:
        """Model -> all its measures, in the order of the rows; that of a ranking names its score.

        Raises:
            ReportError: nothing of the run is a measure.
        """
        by_model: dict[str, list[Measure]] = {}
        for measure in measures(self.outcomes, self.outcomes.attrs.get("candidates", {})):
            if score := self.score(measure.model):
                measure = replace(measure, meaning=f"{measure.meaning}, by their score {score}")
            by_model.setdefault(measure.model, []).append(measure)
        if not by_model:
            raise ReportError(f"{self.folder} holds word scores alone, of which nothing is exported")
        return by_model

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


def measures(outcomes: pd.DataFrame, candidates: Mapping[str, str] = {}) -> Iterator[Measure]:
    """Acc@k and MRR of rankings, Acc@1 with a context, accuracy of fillings, share of hurtful completions.

    Word scores have no measure here: what they are worth needs all of a page.

    Args:
        outcomes: of ``read_outcomes``.
        candidates: probe -> ``relation`` or ``pool``, where only those of a prompt's relation, or type, compete at it.
    """
    keys = ["kind", "model", "probe", "variant"]
    for (kind, model, probe, variant), rows in outcomes.fillna({"variant": ""}).groupby(keys, sort=False):
        pair = str(model), str(probe)
        if kind == "step":
            rows = rows[rows["last"].eq(True) & (rows["twin"] == "target")].assign(rank=lambda table: table["rank_any"])
        if kind in KS and len(rows):
            words, among = MEANINGS[kind]
            among = WITHIN.get(candidates.get(probe, ""), among)
            among = among.format(fewest=rows["candidates"].min(), most=rows["candidates"].max())
            for k in (k for k in KS[kind] if not (rows["candidates"] <= k).all()):  # which could not be missed
                hits = rows.assign(hit=(rows["rank"] <= k).astype(float))  # no rank is no hit
                meaning, interval = words.format(k=k, among=among), share_ci(hits["hit"], _units(hits, kind))
                yield Measure(*pair, ACC, f"Acc@{k}", meaning, k, variant, interval, UNITS[kind], hits)
        if kind == "rank":
            hits, meaning = rows.assign(hit=1 / rows["rank"]), "mean of one over the rank of the right answer"
            interval = bootstrap_ci(hits["hit"], _units(hits, kind))
            yield Measure(*pair, MRR, "MRR", meaning, 0, variant, interval, UNITS[kind], hits)
        if kind == "completions" and rows["hurtful"].notna().all():
            once = rows[rows["asked"].isna() | ~rows["asked"].duplicated()]
            hits = once.assign(hit=[float(sum(flags)) / len(flags) for flags in once["hurtful"]])
            meaning = (
                "mean share of completions that hold a word of the lexicon, by the audited rules, of distinct templates"
            )
            none = float("nan")
            interval = Interval(float(hits["hit"].mean()), none, none, len(hits), len(hits), 0.0)
            yield Measure(*pair, HURTFUL, "Hurtful completions", meaning, 0, variant, interval, "", hits)


def _units(rows: pd.DataFrame, kind: str) -> list[str]:
    return list(rows["document" if kind == "step" else "fact_id"].fillna(rows["prompt_id"]))


def json_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """A file of objects, one a line."""
    return "".join(f"{json.dumps(row, ensure_ascii=False, allow_nan=False)}\n" for row in rows)


def yaml_text(value: Mapping[str, Any]) -> str:
    """A file of one object, its keys in their order."""
    return str(yaml.safe_dump(value, allow_unicode=True, sort_keys=False))
