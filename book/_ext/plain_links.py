"""Prose pages link in plain Markdown, so that they read well on disk; in the book these links are roles.

``[word](glossary.md)`` is the term of that word, ``[words](glossary.md "word")`` shows others, ``[`name`](api.md)`` is
a function of the reference, and a link to another page is one to its document.
"""

from __future__ import annotations

import re
from typing import Any

LINK = re.compile(r'\[([^\]\[]+)\]\((?!\w+:)([\w./-]+)\.(?:md|ipynb)(?: "([^"]+)")?\)')


def as_roles(text: str) -> str:
    """The MyST of a prose page whose links are plain."""
    return LINK.sub(_role, text)


def _role(link: re.Match[str]) -> str:
    shown, page, target = link.groups()
    if page == "glossary" and shown != "Glossary":
        return f"{{term}}`{shown} <{target}>`" if target else f"{{term}}`{shown}`"
    if page == "api" and shown.startswith("`"):
        return f"{{func}}{shown}"
    return f"{{doc}}`{shown} <{page}>`"


def _read(app: Any, name: str, source: list[str]) -> None:
    if app.env.doc2path(name).endswith(".md"):
        source[0] = as_roles(source[0])


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", _read)
    return {"parallel_read_safe": True}
