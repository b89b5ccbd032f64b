"""Extensions of the book: plain links of prose are roles, and the search is given what readers call a page."""

import re
from importlib import import_module

import pytest
from docutils import nodes
from docutils.utils import new_document

from probekit.paths import root

BOOK = root() / "book"
PROSE = ["cluster", "faults", "methods", "make", "reading", "rerun", "results", "run_page", "speed"]


@pytest.fixture
def extension(monkeypatch):
    """Imports a module of ``book/_ext``."""
    monkeypatch.syspath_prepend(str(BOOK / "_ext"))
    return import_module


@pytest.mark.parametrize(
    ("plain", "role"),
    [
        ("a [verdict](glossary.md) is", "a {term}`verdict` is"),
        ('[fingerprints](glossary.md "fingerprint")', "{term}`fingerprints <fingerprint>`"),
        ("[`probekit.rank_targets`](api.md)", "{func}`probekit.rank_targets`"),
        ("[API](api.md), [Glossary](glossary.md)", "{doc}`API <api>`, {doc}`Glossary <glossary>`"),
        ("[The ledger](studies/90_claims.ipynb)", "{doc}`The ledger <studies/90_claims>`"),
        ("[CSV](recorded/speed.csv) [x](https://a.b/c.md)", "[CSV](recorded/speed.csv) [x](https://a.b/c.md)"),
    ],
)  # fmt: skip
def test_a_link_is_the_role_that_it_stands_for(extension, plain, role):
    assert extension("plain_links").as_roles(plain) == role


@pytest.mark.parametrize("page", PROSE)
def test_no_page_of_prose_has_raw_links_or_holes(extension, page):
    text = (BOOK / f"{page}.md").read_text("utf-8")
    assert re.findall(r"\{(?:term|doc|func|download|glue:?\w*)\}`[^`]*`|^```\{math\}", text, re.MULTILINE) == []
    glossary = (BOOK / "glossary.md").read_text("utf-8")
    known = {term.lower() for term in re.findall(r"^(\S.*)(?=(?:\n\S.*)*\n  \S)", glossary, re.MULTILINE)}
    roles = extension("plain_links").as_roles(text)
    named = re.findall(r"\{term\}`(?:[^`<]+ <)?([^`>]+)>?`", roles)
    assert [term for term in named if term.lower() not in known] == []
    targets = re.findall(r"\]\((?!\w+:)([\w./-]+)", text)
    assert targets and [t for t in targets if not (BOOK / t).is_file()] == []


def test_what_readers_call_a_page_is_a_title_for_the_search_alone_and_once(extension):
    findable, page = extension("findable"), new_document("page")
    section = nodes.section("", nodes.title("", "More than one machine"), ids=["more"])
    page += section
    section += nodes.section("", nodes.title("", "kubernetes"), ids=["kubernetes"])
    before = page.pformat()
    indexed = findable.called("book/cluster", findable.readable(page))
    titles = [title.astext() for title in indexed.findall(nodes.title)]
    assert titles[0] == "More than one machine" and "SSH" in titles and "Kubernetes" not in titles
    assert page.pformat() == before


def test_pages_that_readers_call_otherwise_are_there(extension):
    named = {root() / name for name in extension("findable").CALLED}
    assert [path for path in named if not any(path.with_suffix(end).exists() for end in (".md", ".ipynb"))] == []


def test_names_of_the_second_paper_have_their_ends_lowered_but_not_in_code(extension):
    page = new_document("page")
    page += nodes.paragraph("", "", nodes.Text("By UCM_k, O_cor and O_of."), nodes.literal("", "UCM_k"))
    extension("lowered").lower(None, page, "page")
    assert [node.astext() for node in page.findall(nodes.subscript)] == ["k", "cor"]
    assert page.astext() == "By UCMk, Ocor and O_of.UCM_k"
