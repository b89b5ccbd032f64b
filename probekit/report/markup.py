"""Everything foreign is text: what a page shows of names, data and models passes ``escape`` at its door.

Of text only a ``Markup`` is read as MyST. It is made from words of our own and filled by ``format``, which escapes; an
f-string or a sum makes plain text of it, of which the reader then sees the signs. HTML is written anew by ``inert``.
A text cell of a CSV file that a spreadsheet would run is kept behind an apostrophe.
"""

from __future__ import annotations

import html
import io
import json
import re
from collections.abc import Callable, Iterable
from html.parser import HTMLParser
from typing import Any

import pandas as pd

from probekit.files import digest

# every ASCII punctuation mark but a comma, the point of a number and its sign
_PUNCTUATION = re.compile(r"(?!,|[.-]\d)([!-/:-@\[-`{-~])")
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)
_TAG = re.compile("<[^>]*>")
_TAGS = {"b", "br", "details", "em", "i", "li", "mark", "p", "small", "span", "strong", "sub", "summary", "ul"}
_INSIDE = re.compile(r"(\.\./)+explorer\.html#[\w.@+=,/%-]+")  # the one place to which a link of our own leads


class Markup(str):
    """Words of our own in MyST; what ``format`` and ``join`` bring into it is escaped."""

    def format(self, *values: object, **named: object) -> Markup:
        """Fill the places; a text is escaped unless it is ``Markup``, a number stays."""
        texts = (escape(value) if isinstance(value, str) else value for value in values)
        return Markup(super().format(*texts, **{k: escape(v) if isinstance(v, str) else v for k, v in named.items()}))

    def join(self, parts: Iterable[str]) -> Markup:
        """The parts with this between them; each is escaped unless it is ``Markup``."""
        return Markup(super().join(map(escape, parts)))


def escape(value: Any) -> Markup:
    """The text as MyST that shows it and does nothing else: ASCII punctuation that could do anything is escaped.

    Control characters and line ends become spaces, so that no text can leave its table cell or line.
    """
    if isinstance(value, Markup):
        return value
    text = "".join(c if c.isprintable() or c == "\N{NO-BREAK SPACE}" else " " for c in str(value))
    return Markup(_PUNCTUATION.sub(r"\\\1", text))


def file_name(name: str) -> str:
    """A name of a table or a figure as a file is called; of any other signs than these a digest stands for them."""
    plain = re.sub(r"[^\w-]", "_", name)
    return plain if plain == name else f"{plain[:80]}-{digest(name, length=8)}"


def code_block(text: str) -> Markup:
    """A text as a block of code, which it cannot end."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return Markup(f"{fence}bash\n{text}\n{fence}")


def option(text: str) -> Markup:
    """A text as the value of a directive's option."""
    return Markup(json.dumps(" ".join(text.split()), ensure_ascii=False))


def table(
    shown: pd.DataFrame, caption: str, below: Markup | None = None, folded: bool = False, classes: str = ""
) -> Markup:
    """A numbered, sortable table in MyST, every cell escaped; folded, it stands behind its caption.

    Args:
        shown: what a reader sees, heads included.
        caption: what it holds.
        below: a line under it, such as a link to its CSV.
        folded: hide it until a reader opens it.
        classes: further ones, such as ``filterable filter-paper`` (see ``book/_static/tables.js``).
    """
    cells = io.StringIO()
    shown.map(escape).rename(columns=escape).to_csv(cells, index=False, lineterminator="\n")
    lengths = [
        max(6, min(60, int(shown[c].astype(str).str.replace(_TAG, "", regex=True).str.len().mean()))) for c in shown
    ]
    wordy = max(lengths) > 30  # then the columns share the width by their mean length
    widths = " ".join(map(str, lengths)) if wordy else "auto"
    kinds = " ".join(["sortable", *classes.split(), *["wordy"] * wordy])
    text = Markup(
        f"~~~~{{csv-table}} {escape(caption)}\n:header-rows: 1\n:class: {kinds}\n:widths: {widths}\n\n"
        f"{cells.getvalue()}~~~~\n\n{below or ''}\n"
    )
    return Markup("~~~~~{{dropdown}} {}\n{}~~~~~\n").format(caption, text) if folded else text


def inert(markup: str) -> str:
    """HTML written anew from a few tags that do nothing, with ``class`` and ``title`` alone; other tags are text.

    It is one line, and links lead to the explorer of the book alone.
    """
    reader = _Inert()
    reader.feed(markup)
    reader.close()
    return " ".join("".join(reader.parts).splitlines())


class _Inert(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        safe = {name: value for name, value in given.items() if name in {"class", "title"}}
        if inside := tag == "a" and _INSIDE.fullmatch(given.get("href", "")):
            safe["href"] = inside[0]
        if inside or tag in _TAGS:
            words = [tag, *(f'{name}="{html.escape(value)}"' for name, value in safe.items())]
            self.parts.append(f"<{' '.join(words)}>")
        else:
            self.handle_data(self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        self.parts.append(f"</{tag}>" if tag in {"a", *_TAGS} else html.escape(f"</{tag}>"))

    def handle_data(self, data: str) -> None:
        self.parts.append(html.escape(data))

    def handle_comment(self, data: str) -> None:
        self.handle_data(f"<!--{data}-->")

    def handle_decl(self, decl: str) -> None:
        self.handle_data(f"<!{decl}>")

    def handle_pi(self, data: str) -> None:
        self.handle_data(f"<?{data}>")

    def unknown_decl(self, data: str) -> None:
        self.handle_data(f"<![{data}]>")


def quoted(value: Any) -> Any:
    """A cell for a CSV file: a text that begins with ``= + - @``, tab or CR, and is no number, behind an apostrophe.

    So is one that begins with apostrophes before these, so that ``unquoted`` gives back what was there.
    """
    held = isinstance(value, str) and _FORMULA.match(value) and not _NUMBER.fullmatch(value)
    return f"'{value}" if held else value


def unquoted(value: Any) -> Any:
    """What ``quoted`` was given."""
    return value[1:] if isinstance(value, str) and value[:1] == "'" and _FORMULA.match(value) else value


def with_texts(table: pd.DataFrame, change: Callable[[Any], Any]) -> pd.DataFrame:
    """A table whose heads and text cells are changed by ``quoted`` or ``unquoted``."""
    texts = table.select_dtypes(exclude=["number", "bool"]).map(change)
    return table.assign(**{name: texts[name] for name in texts}).rename(columns=change)
