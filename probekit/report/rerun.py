"""The reviewer's one command: run the demo pages again and say how many printed numbers are others."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from probekit.metrics.reprinted import compare
from probekit.paths import root
from probekit.report.book import PLACES
from probekit.report.run import run
from probekit.report.sources import pages

LINK = re.compile(r'<a href="[^"]*">')  # depends on where in the book a page stands


def rerun(names: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """Run pages of the demo world into a temporary folder and compare them with the committed ones.

    Args:
        names: pages; by default all that have the profile ``demo``.

    Yields:
        One row per page, as soon as it has run: ``page``; ``numbers`` on the committed one; what differs (``differ,
        beyond, largest``); and ``first``, the first change.
    """
    for name in names or pages("demo"):
        committed = root() / "book" / "studies" / PLACES["demo"] / f"{name}.ipynb"
        with tempfile.TemporaryDirectory() as work:
            made = run(name, {}, work, "demo", embedded=True)
            yield {"page": name} | compare(printed(committed), printed(made))


def printed(page: Path) -> list[str]:
    """What a page prints, line by line, without its hash and how it was made."""
    outputs = [out for cell in json.loads(page.read_text("utf-8"))["cells"] for out in cell.get("outputs", [])]
    texts = ["".join(out.get("data", {}).get("text/markdown", "")) for out in outputs]
    return [LINK.sub("", line) for text in texts if "Page hash" not in text for line in text.splitlines()]
