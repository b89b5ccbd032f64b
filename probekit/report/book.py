"""Make the book: run what changed in a staging copy, render it, leave the checkout as it was."""

from __future__ import annotations

import logging
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

import yaml

from probekit.errors import ReportError
from probekit.files import alone, contents, digest
from probekit.files.processes import on_each_core
from probekit.files.reading import read_object
from probekit.paths import built, root
from probekit.report import explorer
from probekit.report.fingerprint import PACKAGE, page_hash
from probekit.report.forked import fork_kernels
from probekit.report.page import refuse_false
from probekit.report.run import run
from probekit.report.sources import complete, pages
from probekit.report.tables import heading

log = logging.getLogger(__name__)

STAGED = ("book", "_config.yml", "_toc.yml", "CITATION.cff", "CHANGELOG.md")
PLACES = {"recorded": "", "demo": "demo"}  # profile -> folder of its pages below book/studies
EXPLORER = "../explorer.html#"  # from a page of the main part; others lie deeper
SIBLING = re.compile(r"(\{doc\}`(?:[^`<]*<)?)(\d\d_\w+)")  # a link to a page beside the one that it stands on
TARGET = re.compile(r'(?<=")\([\w-]+\)=(?=\\n")')  # a line of a notebook that names the place for links
HEADING = re.compile(r'(?<=")(# [^"\\]+)')  # the first of a notebook
RUNS = "my_run"  # where `probekit run` puts its pages, if nothing else is said
YOURS = "Your runs"


def page(name: str, profile: str) -> Path:
    """Folder holding the executed page of a profile, under the hash that is printed on it; runs it if that changed.

    Raises:
        ReportError: it failed, or a sentence of a page that was run before does not hold (see ``Page.answer``).
    """
    values = complete(name, {}, profile)
    values.pop("out")
    folder = built() / "pages" / PLACES[profile] / f"{name}-{page_hash(name, values)}"
    if not (folder / f"{name}.ipynb").is_file():
        log.warning("running %s, %s", name, profile)
        run(name, {}, folder, profile, embedded=True)
    if (manifest := folder / name / "manifest.json").is_file():
        refuse_false(*read_object(manifest).get("left_out", []))
    return folder


def made() -> list[tuple[str, Path]]:
    """Profile and folder of every page; runs what changed, one page on each core."""
    # Neighbours are of different studies, by the first digit: of two at once that ask the same models both would score.
    jobs = [(name, profile) for profile in PLACES for name in sorted(pages(profile), key=lambda name: name[1])]
    jobs.reverse()  # the live pages, which take longer, first
    folders = on_each_core(page, jobs, "the book", " pages", fork_kernels)
    return [(profile, folder) for (_, profile), folder in zip(jobs, folders, strict=True)]


def build(update_pages: bool = False, runs: Sequence[Path] = ()) -> Path:
    """Run every page that changed and render the book; what is up to date is left alone.

    Args:
        update_pages: also copy the executed pages to ``book/studies``, where they are kept under version control.
        runs: folders of `probekit run`, whose pages stand in a part of their own.

    Returns:
        The landing page, ``_build/html/index.html``.

    Raises:
        ReportError: a page failed, or the book has warnings.
        StoreError: another process makes the book of this checkout.
    """
    with alone(built(), "the book"):
        stage = built() / "stage"
        shutil.rmtree(stage, ignore_errors=True)
        stage.mkdir(parents=True)
        for entry in STAGED:
            source = root() / entry
            shutil.copytree(source, stage / entry) if source.is_dir() else shutil.copy2(source, stage / entry)
        studies = stage / "book" / "studies"
        shutil.rmtree(studies, ignore_errors=True)
        for profile, folder in made():
            place(folder, studies, PLACES[profile])
        if update_pages:
            shutil.rmtree(root() / "book" / "studies", ignore_errors=True)
            shutil.copytree(studies, root() / "book" / "studies")
        list_runs(stage, runs or [folder for folder in [built().parent / RUNS] if folder.is_dir()])
        explorer.write(stage)
        index, made_of = built() / "html" / "index.html", built() / "html.hash"
        now = digest(*contents(stage), *contents(PACKAGE), *contents(root() / "notebooks"))
        if index.is_file() and made_of.is_file() and made_of.read_text() == now:
            return index
        made_of.unlink(missing_ok=True)
        shutil.rmtree(index.parent, ignore_errors=True)  # with pages that are no more, such as former own runs
        render(stage, built().parent)
        made_of.write_text(now)
        return index


def render(source: Path, out: Path) -> None:
    """Render a staged book into ``out/_build/html``.

    Raises:
        ReportError: it has warnings or errors.
    """
    program = [sys.executable, "-P", "-c", "from jupyter_book.cli.main import main; main()"]
    command = [*program, "build", str(source), "--all", "-W", "-n", "--keep-going", "--path-output", str(out)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    log.info("%s", done.stdout)
    if done.returncode:
        raise ReportError(f"the book has warnings or errors:\n{(done.stdout + done.stderr)[-6000:]}")


def place(folder: Path, studies: Path, below: str) -> None:
    """Put executed pages and their files below ``book/studies``; links to the explorer follow the depth."""
    target = studies / below
    target.mkdir(parents=True, exist_ok=True)
    link = "../" * len(Path(below).parts) + EXPLORER + f"{below}/" * bool(below)
    for notebook in folder.glob("*.ipynb"):
        text = notebook.read_text("utf-8").replace(EXPLORER, link)
        if below == PLACES["demo"] and notebook.stem in pages("recorded"):
            text = HEADING.sub(r"\1 (demo world)", text, count=1)
        (target / notebook.name).write_text(text, "utf-8")
        if (files := folder / notebook.stem).is_dir():
            shutil.copytree(files, target / notebook.stem, ignore=shutil.ignore_patterns(".*"), dirs_exist_ok=True)


def lead_out(page: Path, beside: Collection[str]) -> None:
    """Let links of an own page to pages that are not beside it lead to the recorded ones, or to those of the demo; what
    others link to stays theirs."""

    def led(link: re.Match[str]) -> str:
        places = ["/".join(filter(None, ("/book/studies", PLACES[name]))) for name in PLACES if link[2] in pages(name)]
        return f"{link[1]}{places[0]}/{link[2]}" if places and link[2] not in beside else link[0]

    page.write_text(TARGET.sub("", SIBLING.sub(led, page.read_text("utf-8"))), "utf-8")


def list_runs(stage: Path, runs: Sequence[Path]) -> None:
    """Add a reader's own runs, if there are any, to the staged pages and to the table of contents.

    Raises:
        ReportError: a folder without a page.
    """
    chapters, titles = [], [folder.resolve().name for folder in runs]
    for number, (folder, title) in enumerate(zip(runs, titles, strict=True)):
        pages = sorted(folder.glob("[0-9][0-9]_*.ipynb"))
        if not pages:
            raise ReportError(f"{folder} holds no page: name a folder that `probekit run --out` wrote")
        title += f" {same + 1}" if (same := titles[:number].count(title)) else ""
        below = f"own/{title.replace(' ', '-')}"
        place(folder, stage / "book" / "studies", below)
        for page in pages:
            lead_out(stage / "book" / "studies" / below / page.name, {page.stem for page in pages})
            named = f"{heading(page.stem[3:])} ({title})"
            chapters.append({"file": f"book/studies/{below}/{page.stem}", "title": named})
    if chapters:
        toc = yaml.safe_load((stage / "_toc.yml").read_text("utf-8"))
        toc["parts"].insert(-1, {"caption": YOURS, "chapters": chapters})
        (stage / "_toc.yml").write_text(yaml.safe_dump(toc, allow_unicode=True, sort_keys=False), "utf-8")
