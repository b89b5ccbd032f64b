"""The search index holds titles, sentences, captions, the glossary and what rows of tables are about, and no code."""

from docutils import nodes


def readable(doctree):
    """A copy of a page without what nobody looks for by a word."""
    kept = doctree.deepcopy()
    for node in list(kept.findall(nodes.Element)):
        if isinstance(node, nodes.literal_block) or "cell_input" in node.get("classes", ()):
            node.parent.remove(node)
        elif isinstance(node, nodes.title) and isinstance(node.parent, nodes.table):
            node.replace_self(nodes.paragraph("", node.astext()))  # a caption is no title
    for body in list(kept.findall(nodes.tbody)):
        for row in body.findall(nodes.row):
            del row.children[1:]
    return kept


def trim(app):
    if index_page := getattr(app.builder, "index_page", None):
        app.builder.index_page = lambda name, doctree, title: index_page(name, readable(doctree), title)


def setup(app):
    app.connect("builder-inited", trim)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
