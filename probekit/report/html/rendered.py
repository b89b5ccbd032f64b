"""MyST of our own as HTML that needs nothing beside it, as ``probekit.report.html.document`` shows it.

The book's own parser reads it, without Sphinx: the directives and roles of ``probekit.report.html.allowed`` and no
others. A term and a citation lead to the lists at the end of the file, a page of the book is named by its heading,
pictures and downloads are held inside.
"""

from __future__ import annotations

import base64
import html
import io
import logging
import mimetypes
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from docutils import core, nodes
from docutils.parsers.rst import Directive, directives
from docutils.writers.html5_polyglot import HTMLTranslator, Writer
from sphinx.util.docutils import CustomReSTDispatcher

from probekit.files import digest
from probekit.report.html.allowed import Listed
from probekit.report.html.formulas import mathml
from probekit.report.html.known import cited, glossary, page_title
from probekit.report.markup import Markup, inert

log = logging.getLogger(__name__)
EXTENSIONS = {"amsmath", "attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"}  # those of _config.yml
TITLED = re.compile(r"(.+?)\s*<(.+)>", re.DOTALL)
WEB = re.compile(r"https?://|mailto:|#")
LARGE = ".parquet"  # beside the page, not in it


@dataclass
class Used:
    """Terms of the glossary and works of the references that a text names, in their order."""

    terms: dict[str, str] = field(default_factory=dict)  # in small letters -> where its definition stands
    works: dict[str, str] = field(default_factory=dict)


def rendered(text: Markup, used: Used, folder: Path | None = None, more: bool = True) -> str:
    """MyST as HTML.

    Args:
        text: with one heading of the first level at most.
        used: takes what the text names.
        folder: where the pictures and downloads that the text names lie.
        more: whether what is named takes its place in ``used``; else what has none there stands without a link.

    Returns:
        The inside of a ``main``.
    """
    from myst_parser.parsers.docutils_ import Parser

    said = io.StringIO()
    settings = {
        "doctitle_xform": False,
        "embed_stylesheet": False,
        "file_insertion_enabled": False,
        "initial_header_level": 1,
        "line_length_limit": len(text) + 1,  # a table or a sentence in colours is one line
        "myst_enable_extensions": EXTENSIONS,
        "output_encoding": "unicode",
        "syntax_highlight": "none",
        "warning_stream": said,
    }
    with _Here(used, more):
        tree = core.publish_doctree(text, parser=Parser(), settings_overrides=settings)
    _hold(tree, folder)
    tree.settings.warning_stream = said
    found = core.publish_from_doctree(tree, writer=_Writer(), settings_overrides=settings)
    if said.getvalue():
        log.warning("a page's text was not understood: %s", said.getvalue().strip())
    return found.partition("<main>")[2].rpartition("</main>")[0].strip()


def as_text(text: Markup) -> str:
    """MyST as plain text in one line."""
    from myst_parser.parsers.docutils_ import Parser

    with _Here(Used(), False):
        tree = core.publish_doctree(text, parser=Parser(), settings_overrides={"report_level": 5})
    return " ".join(tree.astext().split())


class _Dropdown(Directive):
    """A fold: its summary, and what it holds."""

    has_content, optional_arguments, final_argument_whitespace = True, 1, True
    option_spec: ClassVar = {"class": directives.class_option}

    def run(self) -> list[nodes.Node]:
        words, messages = self.state.inline_text(" ".join(self.arguments), self.lineno)
        fold = nodes.container("", nodes.caption("", "", *words), classes=["dropdown"])
        self.state.nested_parse(self.content, self.content_offset, fold)
        return [fold, *messages]


class _Part(Directive):
    """A group of cards, or one card with its title."""

    has_content, optional_arguments, final_argument_whitespace = True, 1, True
    option_spec: ClassVar = {"class": directives.class_option, "gutter": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        part = nodes.container("", classes=[self.name])
        if self.arguments and self.name != "grid":
            words, _ = self.state.inline_text(" ".join(self.arguments), self.lineno)
            part += nodes.paragraph("", "", nodes.strong("", "", *words))
        self.state.nested_parse(self.content, self.content_offset, part)
        return [part]


class _Book(CustomReSTDispatcher):
    """What the book has from Sphinx and its extensions."""

    def __init__(self, used: Used, more: bool) -> None:
        super().__init__()
        self.used, self.more = used, more

    def directive(self, name: str, language: Any, document: Any) -> tuple[Any, list[Any]]:
        own = {"dropdown": _Dropdown, "grid": _Part, "grid-item-card": _Part}
        return (own[name], []) if name in own else super().directive(name, language, document)

    def role(self, name: str, language: Any, line: int, reporter: Any) -> tuple[Any, list[Any]]:
        return self._named, []

    def _named(self, role: str, raw: str, text: str, *_: Any) -> tuple[list[nodes.Node], list[nodes.Node]]:
        titled = TITLED.fullmatch(text)
        words, name = titled.groups() if titled else (text, text)
        if role == "term":
            if name.lower() not in glossary():
                log.warning("no term %r in the glossary", name)
                return [nodes.inline(raw, words)], []
            return [self._link(words, self.used.terms, name.lower(), "term")], []
        if role in ("cite:t", "cite:p"):
            shape = "{} ({})" if role == "cite:t" else "{}, {}"
            keys = [key.strip() for key in name.split(",")]
            links = [self._link(shape.format(*cited(key)), self.used.works, key, "work") for key in keys]
            return _between(links, role), []
        if role == "download":
            return [nodes.reference(raw, words, refuri=name, classes=["download"])], []
        if role in ("func", "mod", "class"):
            return [nodes.literal(raw, words)], []
        return [nodes.emphasis(raw, words if titled else page_title(name))], []

    def _link(self, words: str, places: dict[str, str], key: str, kind: str) -> nodes.Node:
        if self.more:
            places.setdefault(key, f"{kind}-{digest(key, length=8)}")
        return nodes.reference("", words, refuri=f"#{places[key]}") if key in places else nodes.inline("", words)


class _Here(Listed, _Book):
    """Both: what a text may use, and what that is without Sphinx."""


def _between(links: list[nodes.Node], role: str) -> list[nodes.Node]:
    parts = [part for link in links for part in (nodes.Text("; "), link)][1:]
    return [nodes.Text("("), *parts, nodes.Text(")")] if role == "cite:p" else parts


def _hold(tree: nodes.document, folder: Path | None) -> None:
    """Make raw HTML inert, and put the files that lie below ``folder`` into the tree; other places become words."""
    for raw in list(tree.findall(nodes.raw)):
        raw[:] = [nodes.Text(inert(raw.astext()))]
    for image in list(tree.findall(nodes.image)):
        image["uri"] = _inside(image["uri"], folder) or "data:,"
    for link in list(tree.findall(nodes.reference)):
        place = link.get("refuri", "")
        held = "download" in link["classes"] and not place.endswith(LARGE)
        if held and (data := _inside(place, folder)):
            link["refuri"], link["name"] = data, Path(place).name
        elif not WEB.match(place):
            link.replace_self(nodes.inline("", "", *link.children))


def _inside(place: str, folder: Path | None) -> str:
    """A file as the address that holds it, or nothing where it does not lie below the folder."""
    if (
        folder is None
        or not (path := (folder / place).resolve()).is_relative_to(folder.resolve())
        or not path.is_file()
    ):
        return ""
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


class _Translator(HTMLTranslator):
    def visit_container(self, node: nodes.container) -> None:
        self.body.append("<details>" if "dropdown" in node["classes"] else self.starttag(node, "div"))

    def depart_container(self, node: nodes.container) -> None:
        self.body.append("</details>\n" if "dropdown" in node["classes"] else "</div>\n")

    def visit_caption(self, node: nodes.caption) -> None:
        if isinstance(node.parent, nodes.container):
            self.body.append("<summary>")
        else:
            super().visit_caption(node)

    def depart_caption(self, node: nodes.caption) -> None:
        if isinstance(node.parent, nodes.container):
            self.body.append("</summary>\n")
        else:
            super().depart_caption(node)

    def visit_table(self, node: nodes.table) -> None:
        self.body.append('<div class="wide">')
        super().visit_table(node)

    def depart_table(self, node: nodes.table) -> None:
        super().depart_table(node)
        self.body.append("</div>\n")

    def visit_reference(self, node: nodes.reference) -> None:
        super().visit_reference(node)
        if "name" in node and "download" in node["classes"]:
            self.body[-1] = self.body[-1].replace("<a ", f'<a download="{html.escape(node["name"])}" ', 1)

    def visit_math(self, node: nodes.math, math_env: str = "") -> None:
        self.body.append(mathml(node.astext()))
        raise nodes.SkipNode

    def visit_math_block(self, node: nodes.math_block, math_env: str = "") -> None:
        self.body.append(f'<div class="wide">{mathml(node.astext(), display="block")}</div>\n')
        raise nodes.SkipNode


class _Writer(Writer):
    def __init__(self) -> None:
        super().__init__()
        self.translator_class = _Translator
