"""Executed pages show what models and files wrote: of MyST they may use little, and of HTML what does nothing.

Only the directives and roles below are known on them, these without any option that reads a file; HTML passes
``probekit.markup.inert``; pictures and downloads lie beside the page; links lead into the book or to the web.
Pages that are written by hand use what they need.
"""

import re

from docutils import nodes
from myst_nb.sphinx_ import Parser
from sphinx.addnodes import download_reference
from sphinx.util import logging
from sphinx.util.docutils import CustomReSTDispatcher

from probekit.markup import inert

logger = logging.getLogger(__name__)
DIRECTIVES = {  # name -> its options
    "admonition": {"class"},
    "csv-table": {"class", "header-rows", "widths"},
    "dropdown": {"class"},
    "figure": {"alt", "class"},
    "grid": {"gutter"},
    "grid-item-card": {"class"},
    "image": {"alt", "class"},
}
ROLES = {"cite:p", "cite:t", "class", "doc", "download", "func", "mod", "ref", "term"}
ABROAD = re.compile(r"(?!https?://|mailto:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)
ELSEWHERE = re.compile(r"/|\\|[a-z][a-z0-9+.-]*:|(.*/)?\.\.(/|$)", re.IGNORECASE)


class Listed(CustomReSTDispatcher):
    """While it is entered, no directive, option or role but these is known."""

    def directive(self, name, language, document):
        if name not in DIRECTIVES:
            return None, []
        found, messages = super().directive(name, language, document)
        options = {key: value for key, value in found.option_spec.items() if key in DIRECTIVES[name]}
        return type(found.__name__, (found,), {"option_spec": options}), messages

    def role(self, name, language, line, reporter):
        return super().role(name, language, line, reporter) if name in ROLES else (None, [])


class Executed(Parser):
    """Pages as ``myst_nb`` reads them; on executed ones nothing acts."""

    def parse(self, inputstring, document):
        if not document["source"].endswith(".ipynb"):
            return super().parse(inputstring, document)
        with Listed():
            super().parse(inputstring, document)
        for node in list(document.findall(nodes.raw)):
            node[:] = [nodes.Text(inert(node.astext()))]
        for node in list(document.findall(nodes.image)) + list(document.findall(download_reference)):
            if ELSEWHERE.match(node.get("uri") or node.get("reftarget", "")):
                refuse(node)
        for node in list(document.findall(nodes.reference)):
            if ABROAD.match(node.get("refuri", "")):
                refuse(node)


def refuse(node):
    logger.warning("not on an executed page: %s", node, location=node)
    node.replace_self(nodes.literal("", node.get("uri") or node.astext()))


def setup(app):
    app.add_source_parser(Executed, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
