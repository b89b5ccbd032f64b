"""What a page says, as plain HTML for a viewer of executed notebooks that knows no MyST: a forge, an editor.

Directives are left out around their contents and roles around their words; what is foreign stays escaped.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from probekit.report.markup import escape

_OPENING = re.compile(r"([~`:]{3,})\{([\w-]+)\} ?(.*)")
_OPTION = re.compile(r":([\w-]+): ?(.*)")
_DOWNLOAD = re.compile(r"\{download\}`([^`<]+?)\s*<([^`>]+)>`")
_ROLE = re.compile(r"\{[\w:]+\}`([^`<]+?)(?:\s*<[^`>]+>)?`")
_LINK = re.compile(r'<a href="[^"]*">[^<]*</a>')  # to the explorer, which only the book has


@cache
def _reader() -> Any:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.core.ruler.push("alternative_texts", _whole)
    return reader


def _whole(state: Any) -> None:
    """Keep the escaped signs of a picture's alternative text, which would be left out."""
    for token in state.tokens:
        for picture in token.children or []:
            for part in picture.children or []:
                part.type = part.type.replace("text_special", "text")


def as_html(text: str) -> str:
    """Paragraphs, lists and tables of a text; of a ``str`` that is no ``Markup`` one paragraph of what it says."""
    return str(_reader().render("\n".join(_undirected(_unroled(escape(text)).splitlines())))).strip()


def words_as_html(text: Any) -> str:
    """The same of a heading, a caption or a cell, without a paragraph around it."""
    return str(_reader().renderInline(_unroled(escape(text))))


def _unroled(text: str) -> str:
    return _ROLE.sub(r"\1", _DOWNLOAD.sub(r"[\1](<\2>)", _LINK.sub("", text)))


def _undirected(lines: list[str]) -> list[str]:
    """Lines without fences of directives and their options; titles and pictures are kept."""
    kept: list[str] = []
    fences: list[str] = []
    while lines:
        line = lines.pop(0)
        if opening := _OPENING.fullmatch(line):
            fence, name, title = opening.groups()
            options = {}
            while lines and (option := _OPTION.fullmatch(lines[0])):
                options[option[1]] = option[2]
                lines.pop(0)
            fences.append(fence)
            alt = json.loads(options.get("alt", '""'))
            shown = {"figure": f"![{escape(alt)}](<{title}>)", "grid": ""}  # the title of a grid is its columns
            kept += ["", shown.get(name.replace("image", "figure"), title), ""]
        elif fences and line.strip() == fences[-1]:
            fences.pop()
            kept.append("")
        else:
            kept.append(line)
    return kept
