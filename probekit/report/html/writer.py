"""MyST of our own as HTML, without Sphinx: inside one file that needs nothing beside it, or for a viewer of notebooks.

The directives and roles of ``probekit.report.html.permitted`` are known and no others. In one file a term and a
citation lead to the lists at its end, a page of the book is named by its heading, pictures and downloads are held
inside. A viewer of notebooks gets words without those links, and files beside the notebook.
"""

from __future__ import annotations

import base64
import csv
import html
import json
import logging
import mimetypes
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.myst_blocks import myst_block_plugin
from mdit_py_plugins.myst_role import myst_role_plugin

from probekit.files import digest
from probekit.report.html.formulas import mathml
from probekit.report.html.glossary import cited, glossary, page_title
from probekit.report.html.permitted import DIRECTIVES, ROLES
from probekit.report.markup import escape, inert

log = logging.getLogger(__name__)
DIRECTIVE = re.compile(r"\{([\w-]+)\} ?(.*)")
OPTION = re.compile(r":([\w-]+): ?(.*)\n?")
TITLED = re.compile(r"(.+?)\s*<(.+)>", re.DOTALL)
WEB = re.compile(r"https?://|mailto:|#")
EXPLORER = re.compile(r'<a href="(\.\./)+explorer\.html#[^"]*">[^<]*</a>')  # a page that only the book has
LARGE = ".parquet"  # beside the page, not in it
NOT_UNDERSTOOD = "a page's text was not understood: %s"


@dataclass
class File:
    """What one file holds: of the glossary and the references those that its text names, in their order.

    Args:
        folder: where the pictures and downloads lie that the text names.
        terms: in small letters -> where the definition stands.
        works: key -> where the work is listed.
        complete: whether nothing takes a place any more; what has none then stands without a link.
    """

    folder: Path | None = None
    terms: dict[str, str] = field(default_factory=dict)
    works: dict[str, str] = field(default_factory=dict)
    complete: bool = False

    def link(self, words: str, places: dict[str, str], key: str, kind: str) -> str:
        """Words that lead to their explanation."""
        if not self.complete:
            places.setdefault(key, f"{kind}-{digest(key, length=8)}")
        return f'<a href="#{places[key]}">{html.escape(words)}</a>' if key in places else html.escape(words)

    def holds(self, place: str) -> str:
        """A file as the address that holds it, or nothing where it does not lie below the folder."""
        path = self.folder and (self.folder / place).resolve()
        if not (path and self.folder and path.is_relative_to(self.folder.resolve()) and path.is_file()):
            return ""
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def as_html(text: str, file: File | None = None) -> str:
    """MyST as HTML; a ``str`` that is no ``Markup`` is one paragraph of what it says.

    Args:
        text: with one heading of the first level at most.
        file: that is made of it; None for a viewer of notebooks.
    """
    return str(_parser().render(EXPLORER.sub("", escape(text)), {"file": file})).strip()


def as_text(text: str) -> str:
    """MyST as plain text in one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", as_html(text))).split())


@cache
def _parser() -> MarkdownIt:
    """The reader of the book, as ``_config.yml`` sets it, but for attributes."""
    reader = MarkdownIt("commonmark").enable("table").use(myst_block_plugin).use(myst_role_plugin)
    reader.use(amsmath_plugin).use(colon_fence_plugin).use(deflist_plugin).use(dollarmath_plugin)
    reader.core.ruler.push("paragraphs", _unhidden)
    reader.renderer = _Writer(reader)
    return reader


def _unhidden(state: Any) -> None:
    """Let the items of every list be paragraphs."""
    for token in state.tokens:
        token.hidden = False


class _Writer(RendererHTML):
    """A rule for each type of token; ``env`` carries the ``File``, if any."""

    def __init__(self, parser: MarkdownIt) -> None:
        super().__init__(parser)
        self._parser = parser
        same = {"html_inline": "html_block", "math_inline_double": "math_inline", "amsmath": "math_block"}
        same |= dict.fromkeys(("myst_target", "myst_line_comment", "myst_block_break"), "nothing")
        self.rules |= {kind: self.rules[rule] for kind, rule in (same | {"colon_fence": "fence"}).items()}

    def nothing(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return ""

    def html_block(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return inert(tokens[idx].content)

    def math_inline(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return mathml(tokens[idx].content)

    def math_block(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f'<div class="wide">{mathml(tokens[idx].content, display="block")}</div>\n'

    def table_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return '<div class="wide"><table>\n'

    def table_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return "</table></div>\n"

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        leads = WEB.match(str(tokens[idx].attrs["href"]))
        return self.renderToken(tokens, idx, options, env) if leads else "<span>"

    def link_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        (*_, opening) = (token for token in tokens[:idx] if token.type == "link_open")
        return "</a>" if WEB.match(str(opening.attrs["href"])) else "</span>"

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        alt = self.renderInlineAsText(tokens[idx].children, options, env)
        return _picture(str(tokens[idx].attrs["src"]), {"alt": alt}, env["file"])

    def myst_role(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        role, text, file = tokens[idx].meta["name"], tokens[idx].content, env["file"]
        titled = TITLED.fullmatch(text)
        words, name = titled.groups() if titled else (text, text)
        shown = html.escape(words)
        if role not in ROLES:
            log.warning(NOT_UNDERSTOOD, f"role {role}")
        elif role == "download":
            return _download(shown, name, file)
        elif file and role == "term" and name.lower() in glossary():
            return str(file.link(words, file.terms, name.lower(), "term"))
        elif file and role == "term":
            log.warning("no term %r in the glossary", name)
        elif file and role.startswith("cite:"):
            shape = "{} ({})" if role == "cite:t" else "{}, {}"
            keys = [key.strip() for key in name.split(",")]
            links = "; ".join(file.link(shape.format(*cited(key)), file.works, key, "work") for key in keys)
            return f"({links})" if role == "cite:p" else links
        elif role in ("func", "mod", "class"):
            return f"<code>{shown}</code>"
        elif file:
            return f"<em>{shown if titled else html.escape(page_title(name))}</em>"
        return shown

    def fence(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        token = tokens[idx]
        directive = DIRECTIVE.fullmatch(token.info.strip())
        if directive is None:
            return super().fence(tokens, idx, options, env)
        name, argument = directive.groups()
        if name not in DIRECTIVES:
            log.warning(NOT_UNDERSTOOD, f"directive {name}")
            return f"<pre>{html.escape(token.content)}</pre>\n"
        given, content = dict[str, str](), token.content.lstrip("\n")
        while option := OPTION.match(content):
            given[option[1]], content = option[2], content[option.end() :].lstrip("\n")
        title, classes = self._parser.renderInline(argument, env), html.escape(given.get("class", ""))
        if name == "csv-table":
            return self._csv_table(title, classes, given.get("widths", "auto"), content, env)
        if name in ("figure", "image"):
            picture = _picture(argument, {"alt": json.loads(given.get("alt", '""')), "class": classes}, env["file"])
            caption = f"<figcaption>\n{self._parser.render(content, env)}</figcaption>\n"
            return f"<figure>\n{picture}\n{caption}</figure>\n" if name == "figure" else picture
        body = self._parser.render(content, env)
        if name == "admonition":
            return f'<aside class="admonition {classes}">\n<p class="admonition-title">{title}</p>\n{body}</aside>\n'
        if name == "dropdown":
            return f"<details>\n<summary>{title}</summary>\n{body}</details>\n"
        head = f"<p><strong>{title}</strong></p>\n" * (name == "grid-item-card")  # a grid's argument is its columns
        return f'<div class="{name}">\n{head}{body}</div>\n'

    def _csv_table(self, caption: str, classes: str, widths: str, content: str, env: Any) -> str:
        """A table with a line of heads, as ``probekit.report.markup.table`` writes it."""
        heads, *rows = (
            [self._parser.renderInline(cell, env) for cell in row] for row in csv.reader(content.splitlines())
        )
        shares = [] if widths == "auto" else [int(width) for width in widths.split()]
        columns = "".join(f'<col style="width: {share / sum(shares):.1%}">' for share in shares)
        body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>\n" for row in rows)
        return (
            f'<div class="wide"><table class="{classes}">\n<caption>{caption}</caption>\n'
            + f"<colgroup>{columns}</colgroup>\n" * bool(columns)
            + f"<thead>\n<tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>\n</thead>\n"
            + f"<tbody>\n{body}</tbody>\n</table></div>\n"
        )


def _picture(place: str, attributes: dict[str, str], file: File | None) -> str:
    source = file.holds(place) or "data:," if file else quote(place)
    given = "".join(f' {name}="{html.escape(value)}"' for name, value in attributes.items() if value or name == "alt")
    return f'<img src="{source}"{given}>'


def _download(words: str, place: str, file: File | None) -> str:
    if file is None:
        return f'<a href="{quote(place)}">{words}</a>'
    address = "" if place.endswith(LARGE) else file.holds(place)
    return f'<a download="{html.escape(Path(place).name)}" href="{address}">{words}</a>' if address else words
