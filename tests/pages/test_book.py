"""The book as a reader gets it, rendered from the committed pages as right after a clone.

A run of two pages stands among them, as a reader's own.
What live pages asked prompt by prompt is no part of a clone; for each such file that a page links to, a row stands in.
"""

import json
import re
import shutil
from zipfile import ZipFile

import pandas as pd
import pytest
from bs4 import BeautifulSoup

from probekit import __version__
from probekit.errors import ReportError
from probekit.paths import root
from probekit.report import explorer
from probekit.report.book import PLACES, STAGED, list_runs, place, render
from probekit.report.fingerprint import page_hash
from probekit.report.outcomes import RANKS, Outcomes
from probekit.report.sources import TYPES, complete, pages, parameters, studies

pytestmark = pytest.mark.slow

ROOT = root()
PAGES = ROOT / "book" / "studies"
COMMITTED = [(name, profile) for profile in PLACES for name in pages(profile)]


def named(case):
    return "/".join(filter(None, (PLACES[case[1]], case[0]))) if isinstance(case, tuple) else None


@pytest.mark.parametrize("name", studies())
def test_parameters_are_typed_and_explained(name):
    found = parameters(name)
    assert "out" in found and ("recorded" in found or "lab" not in studies()[name]["profiles"])
    for about in found.values():
        assert about["type"] in TYPES and about["help"], about


def test_every_page_is_in_the_table_of_contents_once():
    listed = re.findall(r"book/studies/(\S+)", (ROOT / "_toc.yml").read_text())
    assert sorted(listed) == sorted(map(named, COMMITTED))


@pytest.mark.parametrize("case", COMMITTED, ids=named)
def test_the_committed_page_is_of_today_and_whole(case):
    name, profile = case
    text = (PAGES / PLACES[profile] / f"{name}.ipynb").read_text("utf-8")
    outputs = [out for cell in json.loads(text)["cells"] for out in cell.get("outputs", [])]
    assert outputs
    assert not [out for out in outputs if out["output_type"] in ("error", "stream")]
    values = complete(name, {}, profile)
    values.pop("out")
    assert page_hash(name, values) in text, "run `make pages`"


@pytest.fixture(scope="session")
def html(tmp_path_factory):
    source, out, run = (tmp_path_factory.mktemp(name) for name in ("source", "book", "my_run"))
    for name in STAGED:
        place = ROOT / name
        if place.is_dir():
            shutil.copytree(place, source / name, ignore=shutil.ignore_patterns(RANKS))
        else:
            shutil.copy2(place, source / name)
    for own in ("12_accuracy", "91_printed"):
        shutil.copy2(PAGES / f"{own}.ipynb", run)
        shutil.copytree(PAGES / own, run / own, ignore=shutil.ignore_patterns(RANKS))
    row = Outcomes()
    row.add("rank", pd.DataFrame({"model": ["m"], "probe": ["p"], "prompt_id": ["0"], "rank": [1]}))
    for page in [*source.glob("book/studies/**/*.ipynb"), *run.glob("*.ipynb")]:
        for linked in re.findall(rf"<([^<>]+/{RANKS})>", page.read_text("utf-8")):
            row.write(page.parent / linked)
    list_runs(source, [run])
    explorer.write(source)
    render(source, out)
    return out / "_build" / "html"


def test_an_own_page_leads_to_pages_that_the_run_has_not(html):
    (place,) = html.glob("book/studies/own/*/12_accuracy.html")
    links = {link["href"] for link in BeautifulSoup(place.read_text("utf-8"), "html.parser").select("article a")}
    assert "../../11_datasets.html" in {link.partition("#")[0] for link in links}


def soups(html):
    for page in sorted(html.rglob("*.html")):
        yield page, BeautifulSoup(page.read_text("utf-8"), "html.parser")


def test_no_page_asks_the_network_for_anything(html):
    for page, soup in soups(html):
        for tag, attribute in (("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src")):
            for node in soup.find_all(tag):
                assert not re.match(r"(https?:)?//", node.get(attribute) or ""), (page.name, node)


def test_links_lead_somewhere_and_pictures_are_described(html):
    ids = {page: {node["id"] for node in soup.find_all(id=True)} for page, soup in soups(html)}
    for page, soup in soups(html):
        for picture in soup.select("article img:not(.toggler)"):
            assert len(picture.get("alt", "")) > 20 and (page.parent / picture["src"]).exists(), (page.name, picture)
        for link in soup.find_all("a", href=True):
            path, _, anchor = link["href"].partition("#")
            if re.match(r"[a-z]+:", path):
                continue
            target = (page.parent / path).resolve() if path else page.resolve()
            assert target.exists(), (page.name, link["href"])
            if anchor and target.suffix == ".html":
                assert anchor in ids[target], (page.name, link["href"])


@pytest.mark.parametrize("case", COMMITTED, ids=named)
def test_a_page_is_one_that_people_finish(html, case):
    """At most 1,000 words and 5 tables before anything is unfolded; the cells of tables do not count."""
    soup = BeautifulSoup((html / "book" / "studies" / f"{named(case)}.html").read_text("utf-8"), "html.parser")
    article = soup.find("article")
    assert "Page hash" in article.get_text() and "Make it again" in article.get_text()
    for folded in article.select("details, script, style, div.cell_input, .toggle-hidden, footer, .prev-next-footer"):
        folded.decompose()
    assert len(article.select("table")) <= 5
    for body in article.select("table tbody"):
        body.decompose()
    assert len(re.findall(r"\w+", article.get_text(" "))) <= 1000
    assert not article.select("table:not(:has(caption))")


@pytest.mark.parametrize("case", COMMITTED, ids=named)
def test_tables_hold_numbers_and_come_with_the_page(html, case):
    soup = BeautifulSoup((html / "book" / "studies" / f"{named(case)}.html").read_text("utf-8"), "html.parser")
    for link in soup.select("a.download"):
        assert link["href"].endswith((".csv", ".json", ".parquet"))
    for path in (PAGES / named(case)).glob("*.csv"):
        assert not re.search(r"\d \[-?\d", path.read_text("utf-8")), path


def test_maths_is_in_the_page(html):
    assert BeautifulSoup((html / "book" / "methods.html").read_text("utf-8"), "html.parser").select("math")


def test_published_numbers_and_demo_numbers_are_never_in_one_table(html):
    for page, soup in soups(html):
        for table in soup.select("table.sortable"):
            text = table.get_text()
            assert not ("zoo/" in text and "Published" in text), page.name


def test_a_page_tells_others_its_answer(html):
    for name in ("methods", "studies/12_accuracy", "studies/demo/12_accuracy"):
        soup = BeautifulSoup((html / "book" / f"{name}.html").read_text("utf-8"), "html.parser")
        told = {node.get("name") or node.get("property"): node["content"] for node in soup.select("meta[content]")}
        assert told["description"] == told["og:description"] and told["description"].endswith((".", "?"))
        assert told["description"] in " ".join(soup.find("article").get_text().split())
        assert f"<strong>The answer.</strong> {told['description'][:20]}" in str(soup) or name == "methods"
        assert told["og:title"] in soup.find("h1").get_text()
        card = (html / "book" / name).parent / told["og:image"]
        assert card.read_bytes()[16:24] == bytes([0, 0, 4, 176, 0, 0, 2, 118])  # 1200 by 630
        assert f"probekit {__version__}" in soup.select_one(".edition").get_text()


def test_the_software_and_the_papers_are_cited_as_bibtex(html):
    text = BeautifulSoup((html / "book" / "cite.html").read_text("utf-8"), "html.parser").select_one("pre").get_text()
    keys = ["probekit", "shaier2024", "yao2023", "rationales", "fairbelief2024"]
    assert re.findall(r"^@\w+\{(\w+),$", text, re.MULTILINE) == keys
    assert f"version = {{{__version__}}}" in text and "von der Wense, Katharina" in text
    assert text.count("{") == text.count("}")


def test_one_archive_holds_every_table_and_manifest(html):
    with ZipFile(html / "book" / "all_tables.zip") as archive:
        names = [name for name in archive.namelist() if "/own/" not in name]
        assert archive.read("all_tables/12_accuracy/models.csv") == (PAGES / "12_accuracy/models.csv").read_bytes()
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    wanted = [path for path in PAGES.rglob("*") if path.suffix == ".csv" or path.name == "manifest.json"]
    assert names == sorted(f"all_tables/{path.relative_to(PAGES).as_posix()}" for path in wanted)


def test_every_chart_is_there_as_files_too(html):
    count = 0
    for page, soup in soups(html):
        for chart in soup.select("figure img.chart"):
            png, svg, data = chart.find_parent("figure").find_next_sibling(class_="figure-files").select("a")
            assert svg["href"] == chart["src"]
            assert (page.parent / png["href"]).read_bytes().startswith(b"\x89PNG"), png
            place, _, anchor = data["href"].partition("#")
            assert (page.parent / place).is_file() if place else soup.find("details", id=anchor)
            count += 1
    assert count > 60


def test_no_page_names_a_place_on_the_machine_that_made_it(html):
    assert [page.name for page in html.rglob("*.html") if str(ROOT) in page.read_text("utf-8")] == []


def test_no_page_loads_what_it_does_not_need(html):
    for page, soup in soups(html):
        loaded = [node["src"] for node in soup.select("script[src]") if not page.is_relative_to(html / "_static")]
        assert not [name for name in loaded if "fontawesome" in name]
        assert page.name == "search.html" or not [name for name in loaded if "searchindex" in name]


def test_a_readers_runs_stand_in_a_part_of_their_own(tmp_path):
    run, stage = tmp_path / "my_run", tmp_path / "stage"
    (run / "12_accuracy").mkdir(parents=True)
    (run / "12_accuracy" / "t.csv").write_text("a\n1\n")
    (run / "12_accuracy.ipynb").write_text('<a href="../explorer.html#12_accuracy/t">open</a>')
    (stage / "book" / "studies").mkdir(parents=True)
    shutil.copy2(ROOT / "_toc.yml", stage)
    list_runs(stage, [run])
    assert "Your runs" in (stage / "_toc.yml").read_text()
    assert "book/studies/own/my_run/12_accuracy\n    title: Accuracy (my_run)" in (stage / "_toc.yml").read_text()
    page = stage / "book/studies/own/my_run/12_accuracy.ipynb"
    assert page.read_text() == '<a href="../../../explorer.html#own/my_run/12_accuracy/t">open</a>'
    assert (page.parent / "12_accuracy/t.csv").is_file()
    place(run, stage / "book/studies", "demo")
    assert "../../explorer.html#demo/12_accuracy/t" in (stage / "book/studies/demo/12_accuracy.ipynb").read_text()


def test_runs_of_one_name_stay_apart_and_nothing_but_pages_is_taken(tmp_path):
    stage = tmp_path / "stage"
    (stage / "book" / "studies").mkdir(parents=True)
    shutil.copy2(ROOT / "_toc.yml", stage)
    for above in ("a", "b"):
        run = tmp_path / above / "my_run"
        (run / "12_accuracy").mkdir(parents=True)
        (run / "12_accuracy" / "t.csv").write_text(above)
        (run / "12_accuracy" / ".made.json").write_text("{}")
        (run / "12_accuracy.ipynb").write_text(above)
        (run / "thesis").mkdir()
        (run / "thesis" / "secret.txt").write_text("mine")
    list_runs(stage, [tmp_path / "a/my_run", tmp_path / "b/my_run"])
    own = stage / "book/studies/own"
    assert {p.relative_to(own).as_posix(): p.read_text() for p in own.rglob("*") if p.is_file()} == {
        "my_run/12_accuracy.ipynb": "a", "my_run/12_accuracy/t.csv": "a",
        "my_run-2/12_accuracy.ipynb": "b", "my_run-2/12_accuracy/t.csv": "b",
    }  # fmt: skip
    assert "title: Accuracy (my_run 2)" in (stage / "_toc.yml").read_text()
    with pytest.raises(ReportError, match="thesis holds no page: name a folder"):
        list_runs(stage, [tmp_path / "a/my_run/thesis"])
