"""Prose pages read well on disk: their links are plain Markdown, lead to files, and are roles in the book."""

import re
import sys

import pytest

from probekit.paths import root

BOOK = root() / "book"
PROSE = ["cluster", "faults", "methods", "make", "reading", "rerun", "results", "run_page", "speed"]


@pytest.fixture(scope="module")
def plain_links():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BOOK / "_ext"))
        import plain_links

        yield plain_links
    sys.modules.pop("plain_links")


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
def test_a_link_is_the_role_that_it_stands_for(plain_links, plain, role):
    assert plain_links.as_roles(plain) == role


@pytest.mark.parametrize("page", PROSE)
def test_no_page_of_prose_has_raw_links_or_holes(plain_links, page):
    text = (BOOK / f"{page}.md").read_text("utf-8")
    assert re.findall(r"\{(?:term|doc|func|download|glue:?\w*)\}`[^`]*`|^```\{math\}", text, re.MULTILINE) == []
    glossary = (BOOK / "glossary.md").read_text("utf-8")
    known = {term.lower() for term in re.findall(r"^(\S.*)(?=(?:\n\S.*)*\n  \S)", glossary, re.MULTILINE)}
    roles = plain_links.as_roles(text)
    named = re.findall(r"\{term\}`(?:[^`<]+ <)?([^`>]+)>?`", roles)
    assert [term for term in named if term.lower() not in known] == []
    targets = re.findall(r"\]\((?!\w+:)([\w./-]+)", text)
    assert targets and [t for t in targets if not (BOOK / t).is_file()] == []
