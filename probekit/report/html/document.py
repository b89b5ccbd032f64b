"""One HTML file that is whole by itself: it opens from a disk, in a mail and on a phone, in light and in dark."""

from __future__ import annotations

import html
from importlib.resources import files
from pathlib import Path

from probekit import __version__
from probekit.report.html.glossary import bibliography, glossary
from probekit.report.html.writer import File, as_html, as_text
from probekit.report.markup import Markup

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
