"""Executed pages show what models and files wrote: of MyST they may use little, and of HTML what does nothing.

Only the directives and roles of ``probekit.report.html.permitted`` are known on them, these without any option that
reads a file; HTML passes ``probekit.report.markup.inert``; pictures and downloads lie beside the page;
links lead into the book or to the web.
Pages that are written by hand use what they need.
"""

import re

from docutils import nodes
from myst_nb.sphinx_ import Parser
from sphinx.addnodes import download_reference
from sphinx.util import logging

from probekit.report.html.permitted import Permitted
from probekit.report.markup import inert

logger = logging.getLogger(__name__)
ABROAD = re.compile(r"(?!https?://|mailto:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)
ELSEWHERE = re.compile(r"/|\\|[a-z][a-z0-9+.-]*:|(.*/)?\.\.(/|$)", re.IGNORECASE)


class Executed(Parser):
    """Pages as ``myst_nb`` reads them; on executed ones nothing acts."""

    def parse(self, inputstring, document):
        if not document["source"].endswith(".ipynb"):
            return super().parse(inputstring, document)
        with Permitted():
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
