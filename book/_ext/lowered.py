"""Names that paper 002 writes with a lowered end, such as UCM_k and O_cor, have it lowered wherever they stand."""

import re

from docutils import nodes

NAMES = re.compile(r"\b(UCM|O)_(k|m|t|a|cor|incor)\b")
AS_IT_IS = (nodes.literal, nodes.FixedTextElement, nodes.math, nodes.raw)


def lower(app, doctree, docname):
    for text in list(doctree.findall(nodes.Text)):
        if isinstance(text.parent, AS_IT_IS) or not NAMES.search(text):
            continue
        parts = NAMES.split(text)  # between two names what stands there
        made = [nodes.Text(parts[0])]
        for name, end, after in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
            made += [nodes.Text(name), nodes.subscript("", end), nodes.Text(after)]
        text.parent.replace(text, made)


def setup(app):
    app.connect("doctree-resolved", lower)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
