"""The whole book with hostile names and texts in every recorded table, in a browser: nothing acts.

It takes an hour or so, and is tried where ``HOSTILE_PAGES`` names pages, or says ``all``.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from robust.hostile import DONE, MODELS, SECRET, active, executed, foreign, poisoned, recorded_in, shown_on

from probekit.paths import root
from probekit.report import book
from probekit.report.sources import pages

NAMED = os.environ.get("HOSTILE_PAGES", "").split()
PAGES = pages("recorded") if NAMED == ["all"] else NAMED

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not PAGES, reason="HOSTILE_PAGES says which pages")]


def runs(name: str, place: Path, columns: frozenset[str], figures: bool = True) -> bool:
    """Whether a page runs with these columns poisoned; it then lies in ``place / "run"``."""
    for folder in ("recorded", "run"):
        shutil.rmtree(place / folder, ignore_errors=True)
        (place / folder).mkdir()
    poisoned(place / "recorded", place / "secret.txt", shown_on(name), columns)
    try:
        with recorded_in(place / "recorded"):
            executed(name, place / "run", figures)
    except Exception:
        return False
    return True


def poisonable(name: str, place: Path) -> frozenset[str]:
    """The columns of a page that may hold anything; in the others are words of the page's own."""
    if runs(name, place, foreign(name)):
        return foreign(name)
    columns: frozenset[str] = frozenset()
    for some in (foreign(name) & MODELS, *({column} for column in sorted(foreign(name) - MODELS))):
        columns |= some if runs(name, place, columns | some, figures=False) else set()
    return columns


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Where the HTML of the poisoned book lies."""
    place = tmp_path_factory.mktemp("hostile")
    stage = place / "stage"
    (place / "secret.txt").write_text(SECRET)
    shutil.copytree(root() / "book", stage / "book", ignore=shutil.ignore_patterns("recorded", "published"))
    for entry in set(book.STAGED) - {"book"}:
        shutil.copy2(root() / entry, stage / entry)
    studies = stage / "book" / "studies"
    for name in PAGES:
        assert runs(name, place, poisonable(name, place)), name
        shutil.rmtree(studies / name, ignore_errors=True)
        shutil.copytree(place / "run" / name, studies / name)
        shutil.copy2(place / "run" / f"{name}.ipynb", studies)
    book.explorer.write(stage)
    program = Path(sys.executable).with_name("jupyter-book")
    subprocess.run([program, "build", stage, "--all", "--path-output", place], check=True, capture_output=True)
    return place / "_build" / "html" / "book"


@pytest.fixture(scope="module")
def title(browser):
    """Asks Chromium for the title of a page after its scripts ran."""
    tab = browser.new_page()

    def title(address: str) -> str:
        tab.goto("about:blank")
        tab.goto(address)
        return tab.title()

    return title


@pytest.mark.parametrize("name", PAGES)
def test_nothing_on_a_page_acts(built, title, name):
    page = built / "studies" / f"{name}.html"
    assert active(page.read_text("utf-8"), "article.bd-article") == []
    assert DONE not in title(page.as_uri())
    for table in sorted(path for path in (built / "studies" / name).iterdir() if path.suffix in (".csv", ".parquet")):
        assert DONE not in title(f"{(built / 'explorer.html').as_uri()}#{name}/{table.stem}")
