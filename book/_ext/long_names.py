"""Names in code that are longer than a line of a phone, which may break; all others stay whole (``custom.css``)."""

from docutils import nodes

LINE = 34  # letters of code on a line of a phone


def mark(app, doctree, docname):
    for name in doctree.findall(nodes.literal):
        if max(map(len, name.astext().split()), default=0) > LINE:
            name["classes"].append("long")


def setup(app):
    app.connect("doctree-resolved", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
