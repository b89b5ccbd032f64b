"""What four studies find of a model, in one file: pages are run on it, and of each stands what it answers."""

from __future__ import annotations

import logging
import re
import shlex
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd

from probekit.errors import ProbekitError
from probekit.files.naming import shown_name, shown_values, tell_apart, without_folders
from probekit.files.processes import on_each_core
from probekit.files.reading import read_object
from probekit.models import load_model
from probekit.models.registry import entry_of
from probekit.report.card.asked import Asked, asked, own_data
from probekit.report.forked import fork_kernels
from probekit.report.html.document import document
from probekit.report.html.page import ANSWER, blocks
from probekit.report.markup import Markup, code_block, table
from probekit.report.page import of_demo
from probekit.report.provenance import computed, shown_parameters
from probekit.report.recording import read_table, recorded_tables
from probekit.report.run import run
from probekit.report.tables import pick, readable
from probekit.report.text import plain

log = logging.getLogger(__name__)

HEADINGS = {"estimate": "F1", "mean": "Share", "n": "Records", "ranks": "Completions each", "relation_label": "Label"}
HEADINGS |= {"margin_right": "Lead where right", "margin_wrong": "Lead where wrong"}
MEAN = "mean over models"  # as pages name it among the models
HERE, THERE = "this card", "recorded"


@dataclass(frozen=True)
class Done:
    """A page of a card after its run: seconds it took, and why it failed, if it did."""

    seconds: float
    fault: str = ""


def pages(models: Sequence[str], data: Path | None = None, full: bool = False) -> list[Asked]:
    """What the card of these models asks.

    Args:
        models: names, Hub ids or folders.
        data: a file that names data of one's own (``share.asked.own_data``).
        full: all of the data, and not a sample.

    Raises:
        ModelError: a model is not found, or is none that can be asked.
        ReportError: the file is not understood.
    """
    writing = any(load_model(name).kind != "masked" for name in models)
    return asked(models, writing, own_data(data) if data else {}, full)


def card(todo: Sequence[Asked], command: Sequence[str]) -> str:
    """Run the pages, one study on each core, and put what they answer into one HTML file.

    Args:
        todo: of ``pages``; a page that fails is told with its reason, and the others go on.
        command: the words of the command that makes the card again.

    Returns:
        The file's text.
    """
    start, folder = time.monotonic(), Path(tempfile.mkdtemp(prefix="probekit-card-"))
    try:
        studies = [list(group) for _, group in groupby(todo, key=lambda one: one.part)]
        jobs = [(folder, [(one.page, dict(one.given)) for one in study]) for study in studies]
        done = [one for found in on_each_core(_study, jobs, "the card", " studies", fork_kernels) for one in found]
        tell_apart([one.given for one in todo])
        models = [shown_name(name) for name in todo[0].given["models"]]
        parts = [_part(one, after, folder) for one, after in zip(todo, done, strict=True)]
        told = [_models(folder), *_with_headings(todo, parts), _made(todo, done, command, time.monotonic() - start)]
        return document(f"Card of {' and '.join(models)}", Markup("\n\n").join(told), folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _study(folder: Path, wanted: Sequence[tuple[str, dict[str, Any]]]) -> list[Done]:
    """Run pages one after another; of each, its notebook and its files come to lie in the folder."""
    done = []
    for page, given in wanted:
        start, fault = time.monotonic(), ""
        try:
            made = run(page, given, folder / "runs" / page)
            shutil.move(made, folder)
            shutil.move(made.with_suffix(""), folder)
        except ProbekitError as error:
            fault = without_folders(re.sub(r"^\w+: cell \d+ failed: ", "", str(error)))
            log.warning("%s: not asked: %s", page, fault)
        done.append(Done(time.monotonic() - start, fault))
    return done


def _with_headings(todo: Sequence[Asked], parts: Sequence[Markup]) -> list[Markup]:
    told, above = [], ""
    for one, text in zip(todo, parts, strict=True):
        if one.part != above:
            told.append(Markup("## {}\n\n{}").format(one.part, one.about))
        elif "title" in one.shown:
            told.append(Markup("### {}").format(one.shown["title"]))
        told.append(text)
        above = one.part
    return told


def _part(one: Asked, done: Done, folder: Path) -> Markup:
    """The answer of a page, its main figure, the models beside the recorded ones, and what it left out."""
    left = Markup("")
    if one.absent:
        how = Markup("; ").join(Markup("`probekit fetch {}`").format(Markup(name)) for name in one.absent)
        left = Markup("Not at hand and left out: {}. To have it: {}.").format(", ".join(one.absent), how)
    if done.fault:
        return Markup("```{{admonition}} Not asked\n:class: warning\n{}\n```\n\n{}").format(done.fault, left)
    found = blocks(folder / f"{one.page}.ipynb")
    shown = [block for block in found if block.startswith("```{admonition}") and ":class: warning" in block]
    shown += [block for block in found if block.startswith(ANSWER)]
    if "figure" in one.shown:
        shown += [block for block in found if f"{{figure}} {one.page}/{one.shown['figure']}.svg" in block]
    manifest = read_object(folder / one.page / "manifest.json")
    demo = of_demo(manifest["probes"], manifest["models"])
    shown += [_beside(one.page, one.shown["beside"], folder, not demo)]
    tables = [block for block in found if "{csv-table}" in block]
    shown += [block for block in tables if f"<{one.page}/against.csv>" in block]
    if "more" in one.shown:
        shown += [_beside(one.page, one.shown["more"], folder, False, folded=True)]
    if not demo and (printed := one.shown.get("printed")) and _of_paper(manifest["models"], printed["paper"]):
        shown += [block for name in printed["tables"] for block in tables if f"<{one.page}/{name}.csv>" in block]
    return Markup("\n\n").join([*shown, left])


def _beside(page: str, wanted: Mapping[str, Any], folder: Path, recorded: bool, folded: bool = False) -> Markup:
    """A table of the page, and below its models those that were recorded on the same data."""
    path = folder / page / f"{wanted['table']}.csv"
    if not path.is_file():
        return Markup("")
    columns = ["model", *wanted["columns"]]
    mine = _rows(read_table(path), wanted, columns)
    rows = [mine.assign(asked=HERE)]
    if recorded and len(past := _rows(recorded_tables(page).get(wanted["table"], pd.DataFrame()), wanted, columns)):
        keys = [name for name in ("probe", "source", "dataset", "method", "ranks") if name in columns]
        alike = past.merge(mine[keys].drop_duplicates()) if keys else past
        rows.append(alike[~alike["model"].isin(mine["model"])].assign(asked=THERE))
    both = pd.concat(rows, ignore_index=True)
    order = [name for name in ("probe", "source", "dataset") if name in both]
    both = both.sort_values(order, kind="stable") if order else both
    shown = readable(both[[*order, "model", "asked", *(c for c in columns if c not in [*order, "model"])]], HEADINGS)
    return table(shown, wanted["caption"], folded=folded)


def _rows(found: pd.DataFrame, wanted: Mapping[str, Any], columns: Sequence[str]) -> pd.DataFrame:
    if found.empty:
        return found
    single = found[found["model"] != MEAN]
    return pick(single, **wanted.get("rows", {})).reindex(columns=columns)


def _of_paper(models: Mapping[str, Any], paper: str) -> bool:
    return any((entry := entry_of(name)) and paper in entry.papers for name in models)


def _models(folder: Path) -> Markup:
    """The models as the first page met them."""
    for path in sorted(folder.glob("*/manifest.json")):
        asked = read_object(path)["models"]
        rows = [{"model": name} | about | {"scores": computed(about)} for name, about in asked.items()]
        columns = ["model", "kind", "score", "dtype", "licence", "revision", "fingerprint", "scores"]
        shown = pd.DataFrame(rows).reindex(columns=columns).map(lambda value: plain(value or None))
        return table(shown.rename(columns=str.capitalize), "What was asked")
    return Markup("")


def _made(todo: Sequence[Asked], done: Sequence[Done], command: Sequence[str], seconds: float) -> Markup:
    """How long it took, and how to do it again."""
    rows = [
        {"part": one.part, "page": one.page, "seconds": f"{after.seconds:,.0f}"}
        for one, after in zip(todo, done, strict=True)
    ]
    runs = "\n".join(
        f"probekit run {one.page} {shown_parameters(shown_values(one.given))} --out my_run" for one in todo
    )
    return Markup(
        "## How it was made\n\nIt took {} seconds.\nRecorded models were asked all of each data set, those of a card a "
        "sample unless it is full: compare intervals, and look at the counts.\n\n{}\n\n"
        "{}\n\nEach page with all of its tables and its limits:\n\n{}"
    ).format(
        f"{seconds:,.0f}",
        table(pd.DataFrame(rows), "Seconds that each page took, some at the same time"),
        code_block(shlex.join(map(shown_name, command))),
        code_block(runs),
    )
