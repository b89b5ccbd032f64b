"""A page while its notebook runs: one run, its answer, tables, figures and findings, and at the end how it was made."""

from __future__ import annotations

import json
import logging
import os
import platform
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from probekit import __version__
from probekit.errors import ReportError, caution, listen
from probekit.files import write_atomically
from probekit.files.naming import shown_values, tell_apart
from probekit.probes.probe import Probe
from probekit.report import explorer
from probekit.report.charts import ALT, as_svg
from probekit.report.claims import COLUMNS
from probekit.report.examples import PROMPTS, examples
from probekit.report.fingerprint import page_hash
from probekit.report.html.writer import as_html
from probekit.report.markup import Markup, escape, file_name, inert, option, table
from probekit.report.outcomes import CAPTION, RANKS, RECORDED_CAPTION, Outcomes, of_demo_world
from probekit.report.provenance import provenance
from probekit.report.recording import read_table, recorded_manifest, recorded_ranks, recorded_tables, table_bytes
from probekit.report.sentences import Sentence
from probekit.report.sources import RECORDED, pages, parameters, studies
from probekit.report.tables import readable
from probekit.report.text import in_a_row, plain, shown_name, title
from probekit.report.verdicts import coloured, concluded, findings
from probekit.run.answers import Answer, Asking, QuestionT
from probekit.scoring.scores import Score, unlike
from probekit.store import USED, scored_by

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from probekit.models.model import Model

log = logging.getLogger(__name__)
STRICT = "PROBEKIT_STRICT"  # set to 1: a sentence that does not hold is an error
FEW = 5  # models that the line under a title names
LONG = 20  # rows from which on a table is folded
VERSIONS = ("torch", "transformers", "tokenizers", "numpy", "pandas", "scipy")
DEMO = Markup(
    "```{{admonition}} Demo world\n:class: warning\n"
    "Live on an invented world, with small models that read invented texts alone: these numbers show that the "
    "machinery works and what a probe can measure, and say nothing of real models.{}\n```"
)
HEADINGS = {"claim": "Claim", "statement": "The paper says", "published": "Printed", "here": "Here", "why": "Why"}
SPAN = re.compile(r"\d \[[-\d]")  # an interval written out


class Page:
    """Collects what a notebook shows and used.

    A page is one run. It shows what was recorded (parameter ``recorded``) or what it computes on the models and data of
    its parameters; its notebook need not know which.

    Args:
        study: its name in ``studies.yml``.
        namespace: ``globals()`` of the notebook, of which the names in the tagged cell are its parameters; ``out`` is
            the folder for tables, figures and ``manifest.json``, to which the page links.

    Raises:
        ReportError: a recorded page is given other values than its run had, defaults aside; or a name twice.
    """

    def __init__(self, study: str, namespace: Mapping[str, Any]) -> None:
        declared = parameters(study)
        given = {name: namespace[name] for name in declared}
        self.study, self.out = study, Path(given.pop("out"))
        self.parameters = given
        self._distinct_names()
        self.recorded = bool(given.get(RECORDED))
        self.past = recorded_manifest(study) if self.recorded else {}
        past = self.past.get("parameters", {})
        shown = {name: (past.get(name, value), declared[name]["default"]) for name, value in given.items()}
        if ignored := [name for name, values in shown.items() if name != RECORDED and given[name] not in values]:
            asked = f"whatever is given for {', '.join(ignored)}: give a profile that computes, such as lab"
            raise ReportError(f"{study} shows what was recorded, {asked}")
        self.hash = page_hash(study, given)
        self.models, self.probes = dict[str, dict[str, Any]](), dict[str, dict[str, Any]]()
        self.runs: dict[str, dict[str, int]] = {}
        self.asking, self.prompts = Asking(given), Outcomes()
        self.libraries = {name: version(name) for name in VERSIONS}  # and their versions; a run adds those of its own
        self.messages = listen()
        self.conclusions = pd.DataFrame(columns=["claim"])
        self._before = USED.copy()
        self._kept: dict[str, tuple[str, int]] = {}
        self.left_out: list[str] = []  # sentences that do not hold
        self._warned: list[str] = []
        self._made: list[str] = []  # tables of the run, which can be recorded

    def ask(self, questions: Sequence[QuestionT]) -> list[Answer[QuestionT]]:
        """What models answer, in order, each of them noted; of one that fails no answer stays."""
        answers = self.asking.ask(questions, self.used)
        for name in map(shown_name, self.asking.failed):
            self.models.pop(name, None)
            self.runs = {run: counts for run, counts in self.runs.items() if not run.startswith(f"{name} on ")}
        return answers

    def _forget(self) -> None:
        for noted in (self.models, self.probes, self.runs, self.prompts):
            noted.clear()

    def used(self, *things: Model | Probe, candidates: str = "") -> None:
        """Note models and probes for the provenance table; what else was noted of a model stays.

        ``candidates``: where others compete than the probe says.
        """
        for thing in things:
            facts: dict[str, Any] = {"fingerprint": thing.fingerprint, "licence": thing.licence}
            if isinstance(thing, Probe):
                sizes = {"prompts": len(thing.prompts), "entities": len(thing.entities)}
                facts |= sizes | {"candidates": candidates or thing.candidates, "counts": dict(thing.counts)}
                self.probes[shown_name(thing.name)] = facts
            else:
                facts |= {"kind": thing.kind, "dtype": thing.dtype}
                self.models.setdefault(shown_name(thing.name), {}).update(facts, revision=thing.revision)

    def checked(self, model: str, faults: Sequence[str]) -> None:
        """Note why a model fails a sanity check; a run with such a model is shown but not recorded."""
        if faults:
            self.models[model]["faults"] = list(faults)

    def read(self, name: str, fingerprint: str, lines: int) -> None:
        """Note data that is no probe, such as templates or a lexicon."""
        self.probes[name] = {"fingerprint": fingerprint, "lines": lines}

    def ran(
        self, model: str, probe: Probe, counts: Mapping[str, int], task: str = "", score: Score | Literal[""] = ""
    ) -> None:
        """Note what a ranking, or another ``task``, had to run and to count, and by which score (``attrs`` of it)."""
        name = f"{model} on {shown_name(probe.name)}"
        self.runs[f"{name}, {task}" if task else name] = dict(counts)
        if score:
            self.models[model]["score"] = score

    @property
    def model_names(self) -> list[str]:
        """Names of the models behind the tables of the page, in order."""
        return list((self.past or self.manifest)["models"])

    @property
    def demo(self) -> bool:
        """Whether the numbers are of the demo world or its models, and so never stand beside a paper's."""
        return of_demo(self.probes, self.models)

    def tables(
        self, compute: Callable[[], Mapping[str, pd.DataFrame]], captions: Mapping[str, str]
    ) -> dict[str, pd.DataFrame]:
        """The tables of the page's run: read back where they were recorded, else computed; shown nowhere yet.

        Each that has rows is kept as CSV at full precision and stands, with its caption, in the list at the end of the
        page. Computed ones are read back from there too, so that a page sees the same whether it was recorded or not.

        Args:
            compute: makes the tables by name; not called where they were recorded.
            captions: name -> caption, of all tables that there can be. One that was not made is empty.

        Raises:
            ReportError: a table without a caption, or a cell with an interval written out in place of its numbers.
        """
        made = recorded_tables(self.study) if self.recorded else self.asking.settled(compute, self._forget)
        if unnamed := [name for name in made if name not in captions]:
            raise ReportError(f"{self.study}: table {unnamed[0]!r} has no caption: give it one")
        if difference := unlike(self.models):
            caution(difference)
        frames, self._made = {}, [name for name in captions if len(made.get(name, ()))]
        for name, caption in captions.items():
            table = made.get(name, pd.DataFrame())
            frames[name] = read_table(self.keep(table, name, caption)) if len(table) else table
        self.say(self._kind())
        self._warn()
        return frames

    def _kind(self) -> Markup:
        """What the page is, recorded or live, and where its twin stands."""
        twin = "{doc}`%s </book/studies/%s>`"
        if self.demo:
            real = Markup(" Real data: " + twin % ("the recorded page", self.study) + ".")
            return DEMO.format(real if self.study in pages(RECORDED) else Markup())
        if not self.recorded:
            return Markup()
        names = [title(name) for name in self.model_names]
        asked = in_a_row(names) if len(names) <= FEW else f"{len(names)} models"
        said = [
            Markup("*Recorded on real data; asked: {}.*" if names else "*Recorded; no model was asked.*").format(asked)
        ]
        if names and self.study != "05_laboratory":
            said.append(Markup(twin % ("Who was asked", "05_laboratory") + "."))
        if self.study in pages("demo"):
            said.append(Markup("Live: " + twin % ("the same page on the demo world", f"demo/{self.study}") + "."))
        return Markup(" ").join(said)

    def _distinct_names(self) -> None:
        """Let no two models or data sets of the run have one name."""
        given = {name: value for name, value in self.parameters.items() if isinstance(value, list)}
        for name, value in given.items():
            if twice := [entry for entry in value if isinstance(entry, str) and value.count(entry) > 1]:
                raise ReportError(f"{self.study}: {name} names {twice[0]!r} twice: give each once")
        tell_apart(self.parameters)

    def _warn(self) -> None:
        """The cautions that were not shown yet, also those of the recorded run."""
        cautions = [*self.past.get("cautions", []), *self.messages.cautions]
        new = [text for text in dict.fromkeys(cautions) if text not in self._warned]
        self._warned += new
        if new:
            lines = Markup("\n- ").join(new)
            self.say(Markup("```{{admonition}} Take care\n:class: warning\n- {}\n```").format(lines))

    def answer(self, *sentences: str | Sentence) -> None:
        """The page's message in a few sentences; see ``say``."""
        if text := self.true(sentences):
            self.say(Markup("**The answer.** {}").format(text))

    def say(self, *sentences: str | Sentence) -> None:
        """Prose with numbers computed by the notebook, or nothing; MyST is read in ``Markup`` alone.

        A sentence that does not hold is left out, with a line in the log.

        Raises:
            ReportError: one does not on a recorded or demo page, and ``PROBEKIT_STRICT`` is 1.
        """
        if text := self.true(sentences):
            _display(escape(text), as_html(text))

    def true(self, sentences: Sequence[str | Sentence]) -> str:
        """Those that hold, in one; see ``say``."""
        kept = []
        for said in sentences:
            text, holds = (said.text, said.holds) if isinstance(said, Sentence) else (said, True)
            if not holds:
                fault = f"{self.study}: the sentence does not hold: {text}"
                if self.recorded or self.demo:
                    refuse_false(fault)
                    self.left_out.append(fault)
                log.warning("%s; left out", fault)
            elif text:
                kept.append(text)
        return kept[0] if len(kept) == 1 else Markup(" ").join(map(escape, kept))

    def markup(self, markup: str) -> None:
        """HTML of the page's own making: a few tags and links to the explorer; other tags are shown as text."""
        _display(None, inert(markup))

    def table(
        self,
        frame: pd.DataFrame,
        name: str,
        caption: str,
        shown: pd.DataFrame | None = None,
        fold: bool | None = None,
        classes: str = "",
    ) -> None:
        """A numbered, sortable table with its CSV for download, every cell but ``Markup`` escaped; of no rows, a line.

        Args:
            frame: what the CSV holds: numbers, intervals in columns of their own.
            name: of the file.
            caption: what it holds.
            shown: what the page shows; by default ``readable(frame)``.
            fold: hide the table behind its caption until a reader opens it; by default from 20 rows on.
            classes: further ones, such as ``filterable filter-paper`` (see ``book/_static/tables.js``).
        """
        if frame.empty:
            return self.say(Markup("*{}*: none.").format(caption))
        path = self.keep(frame, name, caption)
        link = self._link(path, "Download as CSV")
        self._show(readable(frame) if shown is None else shown, caption, link, fold, classes)

    def _show(
        self, shown: pd.DataFrame, caption: str, link: Markup, fold: bool | None = None, classes: str = ""
    ) -> None:
        text = table(shown, caption, link, len(shown) >= LONG if fold is None else fold, classes)
        rest = f"<p>{len(shown) - LONG} more rows</p>" * (len(shown) > LONG)
        _display(text, as_html(table(shown.head(LONG), caption)) + rest)

    def keep(self, frame: pd.DataFrame, name: str, caption: str) -> Path:
        """Write a table of numbers as CSV beside the page and into its list of tables; returns where.

        Raises:
            ReportError: a cell holds an interval written out in place of its numbers.
        """
        for column in frame.select_dtypes(exclude="number"):
            if frame[column].astype(str).str.contains(SPAN).any():
                raise ReportError(f"{self.study}: column {column!r} of {name} holds written intervals: keep numbers")
        path = self.out / f"{file_name(name)}.csv"
        write_atomically(path, table_bytes(frame))
        self._kept[path.name] = (caption, len(frame))
        return path

    def figure(self, figure: Figure, name: str, caption: str, alt: str) -> None:
        """A numbered figure, saved as SVG; ``alt`` says in a sentence what it shows, cut to 160 letters."""
        place, words = self.draw(figure, name), option(shorten(alt, ALT, placeholder=" …"))
        text = Markup("~~~~{{figure}} {}\n:alt: {}\n:class: chart\n\n{}\n~~~~\n").format(place, words, caption)
        _display(text, as_html(text))

    def examples(
        self, prompts: int = PROMPTS, fold: bool = False, what: str = "the first answers of models", warning: str = ""
    ) -> None:
        """A few of the run's prompts and what some models made of them, where their texts may be shown.

        Args:
            prompts: how many, at most; drawn by their names.
            fold: behind the caption.
            what: what they are shown with, as the caption begins.
            warning: of what the answers hold, in the caption.
        """
        rows = self.prompts.rows(recorded_ranks(self.study) if self.recorded else None)
        if len(shown := examples(rows, prompts)):
            caption = f"{what[0].upper()}{what[1:]} on {len(shown)} prompts{warning}"
            self._show(shown, caption, Markup(), fold)

    def draw(self, figure: Figure, name: str) -> Markup:
        """Save a figure as SVG beside the page without showing it; returns its place, seen from the page."""
        path = self.out / f"{file_name(name)}.svg"
        write_atomically(path, as_svg(figure))
        return Markup(f"{self.out.name}/{path.name}")

    def conclude(self, rows: pd.DataFrame) -> None:
        """Keep what the page's analysis concludes, one row per claim and result (see ``probekit.report.verdicts``)."""
        lists = [value for value in self.parameters.values() if isinstance(value, list)]
        given = {shown_name(name): name for names in lists for name in names if isinstance(name, str)}
        self.conclusions = concluded(rows, given)
        if len(self.conclusions):
            self.keep(self.conclusions, "conclusions", "Conclusions, one row per claim and result")

    def findings(self) -> None:
        """Of the claims that ``studies.yml`` gives to this page those it judges or concludes on: verdicts, or why none.

        A page on the demo world links to them: its numbers never stand beside a paper's.
        """
        if self.demo:
            there = f"{{doc}}`the page of the recorded results </book/studies/{self.study}>`"
            return self.say(Markup(f"The paper's claims stand on {there}."))
        rows = findings(self.study, self.conclusions, studies()[self.study].get("claims", []))
        ledger = "{doc}`ledger </book/studies/90_claims>`"
        caption = Markup(f"What the paper claims, what came of it here, and the verdicts of the {ledger}")
        waiting = rows[list(COLUMNS)[1:]].isin(["not run", "not applicable"]).all(axis=1) & (rows["here"] == "")
        for_later = rows.loc[waiting, ["claim", "statement", "why"]].rename(columns=HEADINGS)
        if len(rows := rows[~waiting].drop(columns="why")):
            rows = rows.drop(columns=["published"] * bool((rows["published"] == plain(None)).all()))
            file = self._link(self.out / "conclusions.csv", "Download all conclusions as CSV")
            link = file if "conclusions.csv" in self._kept else Markup()
            self._show(coloured(rows.rename(columns=HEADINGS)), caption, link, classes="claims")
        if len(for_later):
            self._show(for_later, "Claims that no run here decides, and why", Markup(), fold=True)

    def close(self) -> None:
        """Write ``manifest.json``; show the folded list of all tables and the folded provenance table."""
        self._warn()
        past = recorded_ranks(self.study) if self.recorded else None
        scores = {name: model["score"] for name, model in self.models.items() if "score" in model}
        pools = {name: data["candidates"] for name, data in self.probes.items() if scores and "candidates" in data}
        if count := self.prompts.write(self.out / RANKS, past, scores=scores, candidates=pools):
            self._kept[RANKS] = (RECORDED_CAPTION if self.recorded else CAPTION, count)
            self.say(Markup(explorer.link(f"{self.study}/ranks", "Prompt by prompt")))
        data = json.dumps(self.manifest, indent=2, ensure_ascii=False) + "\n"
        write_atomically(self.out / "manifest.json", data.encode())
        if self._kept:
            head = "````{dropdown} All tables of this page\n| Table | Rows | | |\n| --- | --- | --- | --- |\n"
            rows = "".join(
                f"| {escape(caption)} | {count:,} | {self._link(self.out / name, Path(name).suffix[1:].upper())} | "
                f"{explorer.link(f'{self.study}/{Path(name).stem}')} |\n"
                for name, (caption, count) in self._kept.items()
            )
            self.say(Markup(f"{head}{rows}````"))
        title = "How this page was made"
        text = provenance(self.manifest, title, self._link(self.out / "manifest.json", "manifest.json"))
        _display(text, f"<p>{title}: page hash {self.hash}</p>")

    def _link(self, path: Path, words: str) -> Markup:
        return Markup(f"{{download}}`{words} <{self.out.name}/{path.name}>`")

    @property
    def manifest(self) -> dict[str, Any]:
        """What ``manifest.json`` holds, such as parameters, models, probes, warnings, and a recorded run's manifest."""
        content = {
            "study": self.study,
            "hash": self.hash,
            "parameters": shown_values(self.parameters),
            "models": {
                name: model | {"scored": scored_by(model.get("fingerprint", ""), self._before)}
                for name, model in self.models.items()
            },
            "probes": self.probes,
            "runs": self.runs,
            "failed": {shown_name(name): reason for name, reason in self.asking.failed.items()},
            "cautions": self.messages.cautions,
            "messages": self.messages.texts,
            "tables": self._made,
            "captions": {Path(name).stem: caption for name, (caption, _) in self._kept.items()},
            "versions": {"probekit": __version__, "python": platform.python_version()} | self.libraries,
        }
        content |= {"left_out": self.left_out} if self.left_out else {}
        return content | ({"recorded": self.past} if self.past else {})


def refuse_false(*faults: str) -> None:
    """End where sentences of a recorded or demo page do not hold, in strict mode.

    Raises:
        ReportError: ``PROBEKIT_STRICT`` is 1, and there is one.
    """
    if faults and os.environ.get(STRICT) == "1":
        raise ReportError(f"{faults[0]}; write another one, or the comparison that it makes")


def of_demo(probes: Iterable[str], models: Iterable[str]) -> bool:
    """Whether any of these, as a page names them, is of the demo world."""
    return any(map(of_demo_world, probes)) or any(name.startswith("zoo/") for name in models)


def _display(markdown: Markup | None, html: str) -> None:
    """MyST for the book, if any, and HTML, also for a reader who opens the executed notebook itself."""
    from IPython.display import display

    display(({"text/markdown": markdown} if markdown else {}) | {"text/html": html}, raw=True)
