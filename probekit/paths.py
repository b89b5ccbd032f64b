"""Where the report lives: the folder that holds ``studies.yml``, ``notebooks/`` and ``book/``."""

from __future__ import annotations

import contextlib
import os
import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from pathlib import Path

from probekit.errors import ReportError

CARRIED = Path(__file__).resolve().parent / "_report"  # in a wheel, see setup.py


def root() -> Path:
    """The report's folder: ``PROBEKIT_HOME``, else the one that came with this package, in a checkout or in a wheel.

    Raises:
        ReportError: it holds no ``studies.yml``.
    """
    came = CARRIED if CARRIED.is_dir() else Path(__file__).resolve().parents[1]
    place = Path(os.environ.get("PROBEKIT_HOME") or came).resolve()
    if not (place / "studies.yml").is_file():
        raise ReportError(f"no studies.yml in {place}: name the folder of a report in PROBEKIT_HOME")
    return place


def models() -> Path:
    """The folder with the models that are shipped as adapters."""
    return root() / "book" / "models"


def built() -> Path:
    """The folder ``_build``: in the report's own, or in the working folder where the report came in a wheel."""
    return (Path.cwd() if root() == CARRIED else root()) / "_build"


def on_path() -> None:
    """Let ``import notebooks.templates.accuracy`` find the analysis beside the pages, whatever else is so named."""
    with contextlib.suppress(ReportError):
        if (home := str(root())) not in sys.path:
            sys.path.append(home)
        spec = find_spec("notebooks")
        places = list(spec.submodule_search_locations or []) if spec else []
        if not any((Path(place).parent / "studies.yml").is_file() for place in places):  # a package of the user's
            ours = ModuleSpec("notebooks", None, is_package=True)
            ours.submodule_search_locations = [str(Path(home) / "notebooks"), *places]
            sys.modules["notebooks"] = module_from_spec(ours)


def source(page: str) -> Path:
    """The notebook of a page, ``notebooks/STUDY/NN_name.py``.

    Raises:
        ReportError: there is none, or more than one.
    """
    matches = sorted((root() / "notebooks").glob(f"*/{page}.py"))
    if len(matches) != 1:
        raise ReportError(f"{len(matches)} notebooks are named {page}.py below {root() / 'notebooks'}: one is needed")
    return matches[0]


def module(page: str) -> str:
    """The analysis of a page by its import name: of ``12_accuracy``, ``notebooks.templates.accuracy``."""
    return f"notebooks.{source(page).parent.name}.{page.partition('_')[2]}"
