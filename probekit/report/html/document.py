"""One HTML file that is whole by itself: it opens from a disk, in a mail and on a phone, in light and in dark.

It holds a text, or what an executed page shows.
"""

from __future__ import annotations

import html
from importlib.resources import files
from pathlib import Path

from probekit import __version__
from probekit.files import write_atomically
from probekit.files.reading import read_object
from probekit.report.html.glossary import bibliography, glossary
from probekit.report.html.writer import File, as_html, as_text
from probekit.report.markup import Markup, inert

ANSWER = "**The answer.** "  # so begins a page's message
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def document(title: str, body: Markup, folder: Path | None = None) -> str:
    """Wrap a text into one HTML file that asks nothing of any other machine.

    Terms and works that the text names are explained in two lists at its end.

    Args:
        title: the heading; a ``str`` is escaped, ``Markup`` is read as MyST.
        body: MyST with headings from the second level on. What is foreign in it is escaped by ``Markup.format``.
        folder: where the pictures and downloads lie that the body names; they are held inside the file.

    Returns:
        The file's text.

    Raises:
        ReportError: the report's glossary and references are not found.
    """
    file = File(folder)
    heading = Markup("{}").format(title)
    text = as_html(Markup(f"# {heading}\n\n{body}\n"), file)
    file.complete = True
    data = files("probekit.report.html")
    style, script = (data.joinpath(f"document.{kind}").read_text("utf-8") for kind in ("css", "js"))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(as_text(heading))}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"<main>\n{text}\n{_terms(file)}{_works(file)}</main>\n<footer>Made by probekit {__version__}.</footer>\n"
        f"<script>\n{script}</script>\n</body>\n</html>\n"
    )


def _terms(file: File) -> str:
    entries = []
    for key, place in sorted(file.terms.items()):
        term, definition = glossary()[key]
        entries.append(f'<dt id="{place}">{html.escape(term)}</dt>\n<dd>{as_html(Markup(definition), file)}</dd>\n')
    return f"<h2>Terms</h2>\n<dl>\n{''.join(entries)}</dl>\n" if entries else ""


def _works(file: File) -> str:
    works = (f'<li id="{file.works[key]}">{text}</li>\n' for key, text in bibliography(file.works).items())
    return f"<h2>References</h2>\n<ul>\n{''.join(works)}</ul>\n" if file.works else ""


def blocks(notebook: Path) -> list[Markup]:
    """What an executed page shows, cell by cell and output by output, in MyST; its code is not shown.

    HTML of an output is used where there is no MyST, and made inert.
    """
    import nbformat

    shown = []
    for cell in nbformat.read(notebook, as_version=4).cells:
        if cell.cell_type == "markdown":
            shown.append(Markup(cell.source))
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if text := data.get("text/markdown"):
                shown.append(Markup(text))
            elif markup := data.get("text/html"):
                shown.append(Markup(inert(markup)))
    return shown


def answer(notebook: Path) -> str:
    """The page's message as plain text; empty where it has none."""
    answers = [block.removeprefix(ANSWER) for block in blocks(notebook) if block.startswith(ANSWER)]
    return as_text(Markup(answers[0])) if answers else ""


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
