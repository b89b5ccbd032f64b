"""What four studies find of a model, in one file: pages are run on it, and of each stands what it answers."""

from __future__ import annotations

import logging
import os
import re
import shlex
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from probekit.errors import ModelError, ProbekitError
from probekit.files.naming import shown_name, shown_values, tell_apart, without_folders
from probekit.files.processes import on_each_core
from probekit.files.reading import read_object
from probekit.models import load_model
from probekit.models.registry import entry_of
from probekit.report.card.spec import PageSpec, own_data, page_specs
from probekit.report.forked import fork_kernels
from probekit.report.html.document import ANSWER, blocks, document
from probekit.report.markup import Markup, code_block, table
from probekit.report.page import of_demo
from probekit.report.provenance import computed, shown_parameters
from probekit.report.recording import read_table, recorded_tables
from probekit.report.run import run
from probekit.report.scored import competing
from probekit.report.tables import pick, readable
from probekit.report.text import plain
from probekit.run.answers import LOADING
from probekit.scoring.scores import chosen_score

log = logging.getLogger(__name__)

HEADINGS = {"estimate": "F1", "mean": "Share", "n": "Records", "ranks": "Completions each", "relation_label": "Label"}
HEADINGS |= {"margin_right": "Lead where right", "margin_wrong": "Lead where wrong"}
MEAN = "mean over models"  # as pages name it among the models
HERE, THERE = "this card", "recorded"
SMALL = 0.5e9  # parameters up to which each study has a copy of the model: of each 2 GB at most


class Done(NamedTuple):
    """A page of a card after its run: seconds it took, and why it failed, if it did."""

    seconds: float
    fault: str = ""


def pages(
    models: Sequence[str], data: Path | None = None, full: bool = False, how: Mapping[str, Any] = {}
) -> list[PageSpec]:
    """What the card of these models asks.

    Args:
        models: names, Hub ids or folders.
        data: a file that names data of one's own (``own_data``).
        full: all of the data, and not a sample.
        how: parameters of the pages that have them, such as ``score`` and ``device``.

    Raises:
        ModelError: a model is not found, or is none that can be asked, or not by this score, or not so loaded.
        ReportError: the file is not understood.
    """
    chosen_score(how.get("score", "auto"), models)
    loading = {name: how[name] for name in LOADING if name in how}
    writing = any(load_model(name, read=False, **loading).kind != "masked" for name in models)
    return page_specs(models, writing, own_data(data) if data else {}, full, how)


def at_once(given: Mapping[str, Any]) -> int:
    """How many studies run at the same time, by the parameters of a page: one on each core, but only one where the
    device is no processor, whose memory they would share, or where a model is no ``SMALL`` one. Reads no weights."""
    loading = {name: given[name] for name in LOADING if name in given}
    with suppress(ModelError):  # each page says why
        models = [load_model(name, **loading, read=False) for name in given["models"]]
        sizes = [getattr(model.outline, "num_parameters", int)() for model in models]  # 0 of a server's
        small = max(sizes) <= SMALL and all(model.device.type == "cpu" for model in models)
        return (os.cpu_count() or 1) if small and not loading.get("device_map") else 1
    return 1


def card(todo: Sequence[PageSpec], command: Sequence[str]) -> str:
    """Run the pages, several studies ``at_once``, and put what they answer into one HTML file.

    Args:
        todo: of ``pages``; a page that fails is listed with the reason, and the others go on.
        command: the words of the command that makes the card again.

    Returns:
        The file's text.
    """
    start, folder = time.monotonic(), Path(tempfile.mkdtemp(prefix="probekit-card-"))
    try:
        parts = groupby(todo, key=lambda page: page.heading)
        jobs = [(folder, [(page.page, dict(page.given)) for page in part]) for _, part in parts]
        studies = on_each_core(_study, jobs, "the card", " studies", fork_kernels, at_once(todo[0].given))
        done = [page for study in studies for page in study]
        tell_apart([page.given for page in todo])
        models = [shown_name(name) for name in todo[0].given["models"]]
        texts = [_models(folder)]
        for page, result, above in zip(todo, done, [None, *todo], strict=False):
            if above is None or page.heading != above.heading:
                texts.append(Markup("## {}\n\n{}").format(page.heading, page.intro))
            elif "title" in page.shown:
                texts.append(Markup("### {}").format(page.shown["title"]))
            texts.append(_page(page, result, folder))
        texts.append(_made(todo, done, command, time.monotonic() - start))
        return document(f"Card of {' and '.join(models)}", Markup("\n\n").join(texts), folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _study(folder: Path, requested: Sequence[tuple[str, dict[str, Any]]]) -> list[Done]:
    """Run pages one after another; of each, its notebook and its files come to lie in the folder."""
    done = []
    for page, given in requested:
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


def _page(page: PageSpec, done: Done, folder: Path) -> Markup:
    """The answer of a page, its main figure, the models beside the recorded ones, and what it left out."""
    left_out = Markup("")
    if page.absent:
        how = Markup("; ").join(Markup("`probekit fetch {}`").format(Markup(name)) for name in page.absent)
        left_out = Markup("Not at hand and left out: {}. To have it: {}.").format(", ".join(page.absent), how)
    if done.fault:
        return Markup("```{{admonition}} Not asked\n:class: warning\n{}\n```\n\n{}").format(done.fault, left_out)
    every = blocks(folder / f"{page.page}.ipynb")
    manifest = read_object(folder / page.page / "manifest.json")
    demo = of_demo(manifest["probes"], manifest["models"])

    def holding(*texts: str) -> list[Markup]:
        return [block for block in every if all(text in block for text in texts)]

    texts = [block for block in holding(":class: warning") if block.startswith("```{admonition}")]
    texts += [block for block in every if block.startswith(ANSWER)]
    if "figure" in page.shown:
        texts += holding(f"{{figure}} {page.page}/{page.shown['figure']}.svg")
    alike = not demo and page.given.get("candidates") != "relation"  # which no recorded run had
    texts.append(_beside(page.page, page.shown["beside"], folder, alike))
    texts += holding("{csv-table}", f"<{page.page}/against.csv>")
    if "more" in page.shown:
        texts.append(_beside(page.page, page.shown["more"], folder, False, folded=True))
    printed = page.shown.get("printed", {"paper": "", "tables": ()})
    if not demo and any((entry := entry_of(name)) and printed["paper"] in entry.papers for name in manifest["models"]):
        for name in printed["tables"]:
            texts += holding("{csv-table}", f"<{page.page}/{name}.csv>")
    return Markup("\n\n").join([*texts, left_out])


def _beside(page: str, spec: Mapping[str, Any], folder: Path, recorded: bool, folded: bool = False) -> Markup:
    """A table of the page, and below its models those that were recorded on the same data."""
    path = folder / page / f"{spec['table']}.csv"
    if not path.is_file():
        return Markup("")
    columns = ["model", *spec["columns"]]
    mine = _rows(read_table(path), spec, columns)
    rows = [mine.assign(asked=HERE)]
    if recorded and len(past := _rows(recorded_tables(page).get(spec["table"], pd.DataFrame()), spec, columns)):
        keys = [name for name in ("probe", "source", "dataset", "method", "ranks") if name in columns]
        alike = past.merge(mine[keys].drop_duplicates()) if keys else past
        rows.append(alike[~alike["model"].isin(mine["model"])].assign(asked=THERE))
    both = pd.concat(rows, ignore_index=True)
    order = [name for name in ("probe", "source", "dataset") if name in both]
    both = both.sort_values(order, kind="stable") if order else both
    shown = readable(both[[*order, "model", "asked", *(c for c in columns if c not in [*order, "model"])]], HEADINGS)
    return table(shown, spec["caption"], folded=folded)


def _rows(rows: pd.DataFrame, spec: Mapping[str, Any], columns: Sequence[str]) -> pd.DataFrame:
    if rows.empty:
        return rows
    single = rows[rows["model"] != MEAN]
    return pick(single, **spec.get("rows", {})).reindex(columns=columns)


def _models(folder: Path) -> Markup:
    """The models as the first page met them, and which entities competed there."""
    for path in sorted(folder.glob("*/manifest.json")):
        run = read_object(path)
        rows = [{"model": name} | entry | {"scores": computed(entry)} for name, entry in run["models"].items()]
        columns = ["model", "kind", "score", "dtype", "licence", "revision", "fingerprint", "scores"]
        shown = pd.DataFrame(rows).reindex(columns=columns).map(lambda value: plain(value or None))
        asked = table(shown.rename(columns=str.capitalize), "What was asked")
        return Markup("{}\n\n{}").format(asked, competing(run["probes"]))
    return Markup("")


def _made(todo: Sequence[PageSpec], done: Sequence[Done], command: Sequence[str], seconds: float) -> Markup:
    """How long it took, and how to do it again."""
    times = [(page.heading, page.page, f"{result.seconds:,.0f}") for page, result in zip(todo, done, strict=True)]
    runs = "\n".join(
        f"probekit run {page.page} {shown_parameters(shown_values(page.given))} --out my_run" for page in todo
    )
    return Markup(
        "## How it was made\n\nIt took {} seconds.\nRecorded models were asked all of each data set, those of a card a "
        "sample unless it is full: compare intervals, and look at the counts.\n\n{}\n\n"
        "{}\n\nEach page with all of its tables and its limits:\n\n{}"
    ).format(
        f"{seconds:,.0f}",
        table(
            pd.DataFrame(times, columns=["part", "page", "seconds"]),
            "Seconds that each page took, some at the same time",
        ),
        code_block(shlex.join(map(shown_name, command))),
        code_block(runs),
    )
