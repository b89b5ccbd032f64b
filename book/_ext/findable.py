"""The search index holds titles, sentences, captions, the glossary and what rows of tables are about, and no code;
and of some pages what readers call their subject, where the page has other words."""

from docutils import nodes

CALLED = {
    "book/reading": "confidence interval, error bars",
    "book/methods": "how are intervals computed, what is a bootstrap",
    "book/run_page": "use my own model, checkpoint",
    "book/your_data": "use my own data, file",
    "book/teaching": "lesson plan, course, class, students",
    "book/studies/14_templates": "does the wording of a prompt matter, prompt sensitivity, paraphrases",
    "book/studies/23_copy": "copying from context",
    "book/studies/25_conflict": "hallucination, knowledge conflict, contradiction",
    "book/studies/31_saliency": "attention vs integrated gradients, attribution, explanation, interpretability",
    "book/studies/41_hurtfulness": "toxicity, toxic, harmful, offensive language",
    "book/studies/43_groups": "gender bias, sexism, discrimination",
}


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


def called(name, page):
    """The page with what readers call it."""
    if name in CALLED:
        page.append(nodes.paragraph("", CALLED[name]))
    return page


def trim(app):
    if index_page := getattr(app.builder, "index_page", None):
        app.builder.index_page = lambda name, doctree, title: index_page(name, called(name, readable(doctree)), title)


def setup(app):
    app.connect("builder-inited", trim)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
