"""Articles in JATS, the XML of PubMed Central: what is read as running text, without tables, figures, references."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

from probekit.probes.xml_records import flat

IDS = ("pmcid", "pmc", "pmid", "doi", "publisher-id")  # the first that there is names the article
ASIDE = {"fig", "fig-group", "ref-list", "supplementary-material", "table-wrap", "table-wrap-group", "tex-math"}


def read_article(element: ElementTree.Element) -> tuple[str, str]:
    """The id of an ``article`` of JATS (empty where it has none), and what it says in its title, abstracts and body.

    A paragraph is an outermost ``p``. Tables, figures, references and formulas in TeX are left out with all they hold;
    headings are no paragraphs. An id of PubMed Central is written with ``PMC`` before its digits.
    """
    front = element.find("front/article-meta")
    front = element.find("front-stub") if front is None else front
    held = [] if front is None else front.findall("article-id")
    ids = {node.get("pub-id-type"): flat(node) for node in reversed(held)}
    kind = next((kind for kind in IDS if ids.get(kind)), "")
    name = ids.get(kind, "")
    if kind in ("pmc", "pmcid") and name.isdigit():
        name = f"PMC{name}"
    title = None if front is None else front.find("title-group/article-title")
    parts = [*([] if front is None else front.findall("abstract")), *element.findall("body")]
    return name, " ".join(filter(None, [_text(title), *(text for section in parts for text in _paragraphs(section))]))


def _paragraphs(element: ElementTree.Element) -> Iterator[str]:
    for inside in element:
        if inside.tag == "p":
            yield _text(inside)
        elif inside.tag not in ASIDE:
            yield from _paragraphs(inside)


def _text(element: ElementTree.Element | None) -> str:
    return "" if element is None else " ".join("".join(_pieces(element)).split())


def _pieces(element: ElementTree.Element) -> Iterator[str]:
    yield element.text or ""
    for inside in element:
        if inside.tag not in ASIDE:
            yield from _pieces(inside)
        yield inside.tail or ""
