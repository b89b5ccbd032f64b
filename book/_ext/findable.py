"""The search index holds titles, sentences, captions and the glossary, and neither code nor the cells of tables."""

from docutils import nodes

LEFT_OUT = (nodes.literal_block, nodes.tbody)


def readable(doctree):
    """A copy of a page without what nobody looks for by a word."""
    kept = doctree.deepcopy()
    for node in list(kept.findall(nodes.Element)):
        if isinstance(node, LEFT_OUT) or "cell_input" in node.get("classes", ()):
            node.parent.remove(node)
    return kept


def trim(app):
    if index_page := getattr(app.builder, "index_page", None):
        app.builder.index_page = lambda name, doctree, title: index_page(name, readable(doctree), title)


def setup(app):
    app.connect("builder-inited", trim)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
