"""What a page says of itself: its answer to search engines and to who gets a link to it, and how the book is cited.

``CITATION.cff`` beside the book is the one source of version and authors; ``{citation}`` shows it as BibTeX.
"""

import html
import re
import subprocess
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from probekit.files.reading import yaml_value
from probekit.paths import root

ANSWER = "The answer. "
CARD = "_static/card.png"  # drawn by tools/card.py
SENTENCE = re.compile(r".+?[.!?](?=\s+[A-Z\"“]|$)", re.DOTALL)


def description(doctree):
    """A page's answer, its first sentence; of a page without one, the first paragraph's."""
    texts = [" ".join(node.astext().split()) for node in doctree.findall(nodes.paragraph)]
    answers = [text.removeprefix(ANSWER) for text in texts if text.startswith(ANSWER)]
    first = next((text for text in answers or texts if len(text) > 20), "")
    found = SENTENCE.match(first)
    return found[0] if found else first


def describe(app, pagename, templatename, context, doctree):
    """Meta tags of a page; without the book's address (``html_baseurl``) the card's is relative."""
    context["edition"] = app.env.probekit_edition
    if doctree is None:
        return
    title = nodes.unescape(re.sub(r"<[^>]+>", "", context["title"]))
    base = app.config.html_baseurl
    card = f"{base.rstrip('/')}/{CARD}" if base else context["pathto"](CARD, 1)
    told = description(doctree)
    named = {"description": told, "twitter:card": "summary_large_image"}
    properties = {
        "og:type": "article",
        "og:site_name": app.config.html_title,
        "og:title": html.unescape(title),
        "og:description": told,
        "og:image": card,
        "og:image:alt": "probekit: a sentence with a gap, and the words that a model puts there",
    }
    for attribute, values in (("name", named), ("property", properties)):
        for key, value in values.items():
            context["metatags"] += f'\n<meta {attribute}="{key}" content="{html.escape(value)}" />'


def bibtex(cff, year):
    """The software of ``CITATION.cff`` as BibTeX."""
    names = " and ".join(f"{{{person['name']}}}" for person in cff["authors"])
    fields = {"title": f"{{{cff['title']}}}", "author": names, "year": year}
    fields |= {key: cff[key] for key in ("version", "license")}
    return "@software{probekit,\n" + "".join(f"  {key} = {{{value}}},\n" for key, value in fields.items()) + "}"


def of(paper, entry):
    """Whether an entry of a bibliography is of a paper: by its first author and year."""
    first = paper["authors"][0]
    return f"{{{first['family-names']}, {first['given-names']}" in entry and f"year = {{{paper['year']}}}" in entry


class Citation(SphinxDirective):
    """The software and the papers that ``CITATION.cff`` names as BibTeX, these as in the book's references."""

    def run(self):
        cff = citation(self.env.srcdir)
        known = (Path(self.env.srcdir) / "book" / "references.bib").read_text("utf-8")
        papers = [
            next(entry for entry in re.findall(r"^@.*?^\}", known, re.MULTILINE | re.DOTALL) if of(paper, entry))
            for paper in cff["references"]
        ]
        text = "\n\n".join([bibtex(cff, self.config.copyright), *papers])
        return [nodes.literal_block(text, text, language="bibtex")]


def citation(place):
    return yaml_value((Path(place) / "CITATION.cff").read_text("utf-8"), "CITATION.cff")


def edition(app, env, *others):
    """Version, and the day of the last change where the book is made of a checkout."""
    asked = ["git", "-C", str(root()), "log", "-1", "--format=%cs", "--", "."]  # of a folder that ignores us, none
    try:
        day = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        day = ""
    env.probekit_edition = ", ".join(filter(None, [citation(app.srcdir)["version"], day]))


def setup(app):
    app.add_directive("citation", Citation)
    app.connect("env-before-read-docs", edition)
    app.connect("html-page-context", describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
