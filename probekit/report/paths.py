"""Where the report lives: the folder that holds ``studies.yml``, ``notebooks/`` and ``book/``."""

from __future__ import annotations

import os
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
