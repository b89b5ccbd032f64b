"""Make the book: run what changed in a staging copy, render it, leave the checkout as it was."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import groupby, zip_longest
from multiprocessing import get_context
from pathlib import Path

from probekit.errors import ReportError
from probekit.files import digest
from probekit.report.fingerprint import PACKAGE, contents, page_hash
from probekit.report.paths import root
from probekit.report.run import run
from probekit.report.sources import complete, studies

log = logging.getLogger(__name__)

STAGED = ("book", "_config.yml", "_toc.yml")


def page_folder(name: str) -> Path:
    """Where the executed page of a study with its default parameters is kept: under the hash that is printed on it."""
    values = complete(name, {})
    values.pop("out")
    return root() / "_build" / "pages" / f"{name}-{page_hash(name, values)}"


def is_made(name: str) -> bool:
    """Whether the page of a study is up to date."""
    return (page_folder(name) / f"{name}.ipynb").is_file()


def page(name: str) -> Path:
    """Folder holding the executed page of a study with its default parameters; runs it if anything changed."""
    folder = page_folder(name)
    if not is_made(name):
        log.warning("running %s", name)
        run(name, {}, folder, embedded=True)
    return folder


def pages() -> list[Path]:
    """Folders of all pages; runs what changed, one page on each core."""
    stale = [name for name in studies() if not is_made(name)]
    if stale:
        with ProcessPoolExecutor(min(len(stale), os.cpu_count() or 1), get_context("spawn"), _one_thread) as pool:
            for _ in pool.map(page, by_turns(stale)):
                pass
    return [page(name) for name in studies()]


def by_turns(names: Sequence[str]) -> list[str]:
    """The pages in an order in which neighbours are of different studies, as far as there are such.

    Pages of one study (of one first digit) ask the same models much the same. Of two at once both would score it; one
    after the other, the second finds it in the store.
    """
    groups = [list(group) for _, group in groupby(sorted(names), key=lambda name: name[0])]
    return [name for turn in zip_longest(*groups) for name in turn if name]


def _one_thread() -> None:
    """Two kernels with a thread for every core each would stand in each other's way."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def build(update_pages: bool = False) -> Path:
    """Run every study on the embedded default and render the book; what is up to date is left alone.

    Args:
        update_pages: also copy the executed pages to ``book/studies``, where they are kept under version control.

    Returns:
        The landing page, ``_build/html/index.html``.

    Raises:
        ReportError: a study failed, or the book has warnings.
    """
    stage = root() / "_build" / "stage"
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(parents=True)
    for entry in STAGED:
        source = root() / entry
        shutil.copytree(source, stage / entry) if source.is_dir() else shutil.copy2(source, stage / entry)
    shutil.rmtree(stage / "book" / "studies", ignore_errors=True)
    for folder in pages():
        shutil.copytree(folder, stage / "book" / "studies", dirs_exist_ok=True)
    if update_pages:
        shutil.rmtree(root() / "book" / "studies", ignore_errors=True)
        shutil.copytree(stage / "book" / "studies", root() / "book" / "studies")
    index, made_of = root() / "_build" / "html" / "index.html", root() / "_build" / "html.hash"
    now = digest(*contents(stage), *contents(PACKAGE))
    if index.is_file() and made_of.is_file() and made_of.read_text() == now:
        return index
    made_of.unlink(missing_ok=True)
    program = Path(sys.executable).with_name("jupyter-book")
    command = [str(program), "build", str(stage), "--all", "-W", "-n", "--keep-going", "--path-output", str(root())]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    log.info("%s", done.stdout)
    if done.returncode:
        raise ReportError(f"the book has warnings or errors:\n{(done.stdout + done.stderr)[-6000:]}")
    made_of.write_text(now)
    return index
