"""References as plain blocks: the ARIA roles that docutils gives them are deprecated, and wrong in a list."""

from docutils import nodes


def visit(self, node):
    self.body.append(self.starttag(node, "div", CLASS="citation"))


def depart(self, node):
    self.body.append("</div>\n")


def setup(app):
    app.add_node(nodes.citation, override=True, html=(visit, depart))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
