"""An executed page as one file, and what it answers."""

from __future__ import annotations

from pathlib import Path

from probekit.files import write_atomically
from probekit.files.reading import read_object
from probekit.report.html.document import document
from probekit.report.html.writer import as_text
from probekit.report.markup import Markup, inert

ANSWER = "**The answer.** "


def blocks(notebook: Path) -> list[Markup]:
    """What an executed page shows, cell by cell and output by output, in MyST; its code is not shown.

    HTML of an output is used where there is no MyST, and made inert.
    """
    import nbformat

    found = []
    for cell in nbformat.read(notebook, as_version=4).cells:
        if cell.cell_type == "markdown":
            found.append(Markup(cell.source))
        for output in cell.get("outputs", []):
            shown = output.get("data", {})
            if text := shown.get("text/markdown"):
                found.append(Markup(text))
            elif markup := shown.get("text/html"):
                found.append(Markup(inert(markup)))
    return found


def answer(notebook: Path) -> str:
    """The page's message as plain text; empty where it has none."""
    said = [block.removeprefix(ANSWER) for block in blocks(notebook) if block.startswith(ANSWER)]
    return as_text(Markup(said[0])) if said else ""


def write_page(notebook: Path) -> Path:
    """Write an executed page as one HTML file beside it, its figures and tables inside; returns the file."""
    text = Markup("\n\n").join(blocks(notebook))
    head, _, rest = text.partition("\n")
    titled = head.startswith("# ")
    title, body = (Markup(head[2:]), Markup(rest)) if titled else (notebook.stem, text)
    target = notebook.with_suffix(".html")
    write_atomically(target, document(title, body, notebook.parent).encode())
    return target


def cautions(notebook: Path) -> list[str]:
    """What an executed page warns of; nothing of one without a manifest."""
    manifest = notebook.with_suffix("") / "manifest.json"
    return list(read_object(manifest).get("cautions", [])) if manifest.is_file() else []
