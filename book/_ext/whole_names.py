"""What stays together at the end of a line: words of code, but for those longer than a line of a phone, names with a
hyphen, and a number with what it counts. Tables that one searches keep what one types."""

import re

from docutils import nodes

LINE = 34  # letters of code on a line of a phone
HYPHEN = re.compile(r"\b(T|Google|N|GPT|p)-(?=(?:REx|RE|M|2|values?)\b)")
SPACE = re.compile(r"\b([Ss]eed|Tables?|Figures?|Fig\.|[Pp]ages?) (?=\d)")
APART = (nodes.literal, nodes.FixedTextElement, nodes.math, nodes.raw)


def hold(app, doctree, docname):
    hold_words(doctree)
    hold_names(doctree)


def hold_words(doctree):
    for name in list(doctree.findall(nodes.literal)):
        if all(isinstance(part, nodes.Text) for part in name.children):
            words = re.split(r"(\s+)", name.astext())
            name.children = []
            name += [
                nodes.inline("", word, classes=["whole"]) if 0 < len(word.strip()) <= LINE else nodes.Text(word)
                for word in words
            ]


def hold_names(doctree):
    for text in list(doctree.findall(nodes.Text)):
        whole = SPACE.sub("\\1\N{NO-BREAK SPACE}", HYPHEN.sub("\\1\N{NON-BREAKING HYPHEN}", text))
        if whole != text and not any(apart(node) for node in above(text)):
            text.parent.replace(text, nodes.Text(whole))


def above(node):
    while node := node.parent:
        yield node


def apart(node):
    return isinstance(node, APART) or "filterable" in node.get("classes", ())


def setup(app):
    app.connect("doctree-resolved", hold)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
