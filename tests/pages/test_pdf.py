"""The book as one document: every page once and in order, links inside it, ids apart, folds gone but solutions."""

import pytest
from bs4 import BeautifulSoup

from tools import pdf

pytestmark = pytest.mark.slow

PAGE = """<html><head><link rel="stylesheet" href="../_static/a.css?v=1"></head><body>
<nav class="bd-docs-nav"><a class="reference internal" href="#">A</a>
<a class="reference internal" href="b%20b.html">B</a><a class="reference internal" href="gone.html">C</a></nav>
<article class="bd-article">{}</article></body></html>"""
FIRST = """<h1 id="top">A<a class="headerlink" href="#top">#</a></h1><a href="b%20b.html#top">to B</a>
<a href="#top">up</a><a href="https://example.org/">web</a><a href="t.csv">table</a><img src="../_images/x.svg">
<script>1</script><details><summary>All tables</summary>hidden</details>
<details><summary>Solution</summary>shown</details>"""


@pytest.fixture
def html(tmp_path):
    (tmp_path / "book").mkdir()
    (tmp_path / "index.html").write_text('<meta http-equiv="Refresh" content="0; url=book/a.html" />')
    (tmp_path / "book" / "a.html").write_text(PAGE.format(FIRST))
    (tmp_path / "book" / "b b.html").write_text(PAGE.format('<h1 id="top">B</h1>'))
    return tmp_path


def test_pages_are_found_in_the_order_of_the_contents(html):
    assert pdf.contents(html) == ["book/a.html", "book/b b.html"]


def test_one_document_has_every_page_and_its_links_lead_inside(html):
    made = BeautifulSoup(pdf.one(html), "html.parser")
    ids = [node["id"] for node in made.find_all(id=True)]
    assert sorted(ids) == ["book/a.html", "book/a.html--top", "book/b b.html", "book/b b.html--top"]
    links = {node.get_text(): node["href"] for node in made.find_all("a")}
    assert links == {
        "to B": "#book/b b.html--top", "up": "#book/a.html--top", "web": "https://example.org/",
    }  # fmt: skip
    assert made.find("link")["href"] == "html/_static/a.css" and made.find("img")["src"] == "html/_images/x.svg"
    text = made.get_text()
    assert "table" in text and "shown" in text and "hidden" not in text and not made.find("script")
    assert made.find("details").has_attr("open")


def test_what_is_no_book_is_told(html):
    (html / "book" / "a.html").write_text("<p>")
    with pytest.raises(SystemExit, match="has no article"):
        pdf.one(html)
