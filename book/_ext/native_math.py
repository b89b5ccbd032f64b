"""Render TeX as MathML while building: no script and no CDN in the page."""

import re

from docutils.nodes import SkipNode
from sphinx.util import logging

from probekit.report.html.formulas import mathml

logger = logging.getLogger(__name__)
LEFT_OVER = re.compile(r"<m\w+[^>]*>(\\\w+|&amp;)</m")  # what the converter did not understand


def checked(node, **display):
    markup = mathml(node.astext(), **display)
    for found in LEFT_OVER.findall(markup):
        logger.warning("maths not understood at %r in %r", found, node.astext(), location=node)
    return markup


def inline(self, node):
    self.body.append(checked(node))
    raise SkipNode


def block(self, node):
    self.body.append(self.starttag(node, "div", CLASS="math-block notranslate"))
    if node["number"]:
        self.body.append(f'<span class="eqno">({node["number"]})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append(checked(node, display="block") + "</div>\n")
    raise SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
