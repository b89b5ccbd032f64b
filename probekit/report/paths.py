"""Where the report lives: the folder that holds ``studies.yml``, ``notebooks/`` and ``book/``."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from probekit.errors import ReportError


def root() -> Path:
    """The report's folder: ``PROBEKIT_HOME``, else the checkout this package was installed from, else the
    nearest parent of the working folder that holds ``studies.yml``.

    Raises:
        ReportError: none of them holds ``studies.yml``.
    """
    given = os.environ.get("PROBEKIT_HOME")
    places = [Path(given)] if given else [Path(__file__).resolve().parents[2], Path.cwd(), *Path.cwd().parents]
    for place in places:
        if (place / "studies.yml").is_file():
            return place
    raise ReportError(
        f"no studies.yml in {' or '.join(str(p) for p in places[:2])}: "
        "run inside a clone of the report, or name it in PROBEKIT_HOME"
    )


def on_path() -> None:
    """Let ``import notebooks.templates.accuracy`` find the analysis that lies beside the pages."""
    with contextlib.suppress(ReportError):
        if (home := str(root())) not in sys.path:
            sys.path.append(home)


def source(page: str) -> Path:
    """The notebook of a page, ``notebooks/STUDY/NN_name.py``.

    Raises:
        ReportError: there is none, or more than one.
    """
    found = sorted((root() / "notebooks").glob(f"*/{page}.py"))
    if len(found) != 1:
        raise ReportError(f"{len(found)} notebooks are named {page}.py below {root() / 'notebooks'}: one is needed")
    return found[0]


def module(page: str) -> str:
    """The analysis of a page by its import name: of ``12_accuracy``, ``notebooks.templates.accuracy``."""
    return f"notebooks.{source(page).parent.name}.{page.partition('_')[2]}"
