"""One HTML file that is whole by itself: it opens from a disk, in a mail and on a phone, in light and in dark."""

from __future__ import annotations

import html
from importlib.resources import files
from pathlib import Path

from probekit import __version__
from probekit.report.html.known import bibliography, glossary
from probekit.report.html.rendered import Used, as_text, rendered
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
    used = Used()
    heading = Markup("{}").format(title)
    text = rendered(Markup(f"# {heading}\n\n{body}\n"), used, folder)
    data = files("probekit.report.html")
    style, script = (data.joinpath(f"document.{kind}").read_text("utf-8") for kind in ("css", "js"))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(as_text(heading))}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"<main>\n{text}\n{_terms(used)}{_works(used)}</main>\n<footer>Made by probekit {__version__}.</footer>\n"
        f"<script>\n{script}</script>\n</body>\n</html>\n"
    )


def _terms(used: Used) -> str:
    if not used.terms:
        return ""
    entries = []
    for key in sorted(used.terms):
        term, said = glossary()[key]
        inside = rendered(Markup(said), used, more=False)
        entries.append(f'<dt id="{used.terms[key]}">{html.escape(term)}</dt>\n<dd>{inside}</dd>\n')
    return f"<h2>Terms</h2>\n<dl>\n{''.join(entries)}</dl>\n"


def _works(used: Used) -> str:
    if not used.works:
        return ""
    works = (f'<li id="{used.works[key]}">{said}</li>\n' for key, said in bibliography(used.works).items())
    return f"<h2>References</h2>\n<ul>\n{''.join(works)}</ul>\n"
