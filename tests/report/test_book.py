"""The book as a reader gets it, rendered from the committed pages as right after a clone."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from probekit.report.fingerprint import page_hash
from probekit.report.paths import root
from probekit.report.sources import complete, parameters, studies

ROOT = root()
PAGES = ROOT / "book" / "studies"


@pytest.mark.parametrize("name", studies())
def test_parameters_are_typed_and_explained(name):
    found = parameters(name)
    assert "out" in found
    for about in found.values():
        assert about["type"] != "None" and about["help"], about


@pytest.mark.parametrize("name", studies())
def test_the_committed_page_is_of_today_and_whole(name):
    text = (PAGES / f"{name}.ipynb").read_text("utf-8")
    outputs = [out for cell in json.loads(text)["cells"] for out in cell.get("outputs", [])]
    assert outputs
    assert not [out for out in outputs if out["output_type"] in ("error", "stream")]
    values = complete(name, {})
    values.pop("out")
    assert page_hash(name, values) in text, "run `make pages`"
    assert 8 <= len(json.loads(text)["cells"]) <= 30


@pytest.fixture(scope="session")
def html(tmp_path_factory):
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("book")
    for name in ("_config.yml", "_toc.yml"):
        shutil.copy2(ROOT / name, source / name)
    shutil.copytree(ROOT / "book", source / "book")
    program = Path(sys.executable).with_name("jupyter-book")
    command = [program, "build", source, "--all", "-W", "-n", "--keep-going", "--path-output", out]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return out / "_build" / "html"


def pages(html):
    for page in sorted(html.rglob("*.html")):
        yield page, BeautifulSoup(page.read_text("utf-8"), "html.parser")


def test_no_page_asks_the_network_for_anything(html):
    for page, soup in pages(html):
        for tag, attribute in (("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src")):
            for node in soup.find_all(tag):
                assert not re.match(r"(https?:)?//", node.get(attribute) or ""), (page.name, node)


def test_links_lead_somewhere_and_pictures_are_described(html):
    ids = {page: {node["id"] for node in soup.find_all(id=True)} for page, soup in pages(html)}
    for page, soup in pages(html):
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


@pytest.mark.parametrize("name", studies())
def test_every_study_page_has_tables_downloads_and_its_making(html, name):
    soup = BeautifulSoup((html / "book" / "studies" / f"{name}.html").read_text("utf-8"), "html.parser")
    tables = soup.select("table.sortable")
    assert tables and all(table.select("caption") for table in tables)
    assert len(soup.select("a.download")) >= len(tables)
    assert "Page hash" in soup.get_text() and "Make it again" in soup.get_text()
    assert "</script" not in "".join(table.get_text() for table in tables)


def test_maths_is_in_the_page(html):
    assert BeautifulSoup((html / "book" / "methods.html").read_text("utf-8"), "html.parser").select("math")


def test_published_numbers_and_demo_numbers_are_never_in_one_table(html):
    for page, soup in pages(html):
        for table in soup.select("table.sortable"):
            text = table.get_text()
            assert not ("zoo/" in text and "Published" in text), page.name
