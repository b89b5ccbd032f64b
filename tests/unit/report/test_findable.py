"""What the search is given of a page: what readers call it, beside the titles that it has."""

from __future__ import annotations

from pathlib import Path

import pytest

docutils = pytest.importorskip("docutils.utils")
nodes = pytest.importorskip("docutils.nodes")

ROOT = Path(__file__).parents[3]


@pytest.fixture
def findable(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "book" / "_ext"))
    import findable

    return findable


def test_what_readers_call_a_page_is_a_title_for_the_search_alone_and_once(findable):
    page = docutils.new_document("page")
    section = nodes.section("", nodes.title("", "More than one machine"), ids=["more"])
    page += section
    section += nodes.section("", nodes.title("", "kubernetes"), ids=["kubernetes"])
    before = page.pformat()
    indexed = findable.called("book/cluster", findable.readable(page))
    titles = [title.astext() for title in indexed.findall(nodes.title)]
    assert titles[0] == "More than one machine" and "SSH" in titles and "Kubernetes" not in titles
    assert page.pformat() == before


def test_pages_that_readers_call_otherwise_are_there(findable):
    named = {ROOT / name for name in findable.CALLED}
    assert [path for path in named if not any(path.with_suffix(end).exists() for end in (".md", ".ipynb"))] == []
