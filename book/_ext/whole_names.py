"""Words of code stay whole at the end of a line, but for those longer than a line of a phone (``custom.css``)."""

import re

from docutils import nodes

LINE = 34  # letters of code on a line of a phone


def mark(app, doctree, docname):
    for name in list(doctree.findall(nodes.literal)):
        if all(isinstance(part, nodes.Text) for part in name.children):
            words = re.split(r"(\s+)", name.astext())
            name.children = []
            name += [
                nodes.inline("", word, classes=["whole"]) if 0 < len(word.strip()) <= LINE else nodes.Text(word)
                for word in words
            ]


def setup(app):
    app.connect("doctree-resolved", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
