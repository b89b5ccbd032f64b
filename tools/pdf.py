"""The built book as one PDF: ``python -m tools.pdf`` prints ``_build/html`` to ``_build/probekit.pdf``.

All articles are put into one document in the order of the contents, links between them lead inside it, and Chromium
prints it with its outline. Folds are left out but for solutions: what they hold is on the site, and in its archive of
all tables.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path, PurePosixPath
from posixpath import normpath
from urllib.parse import unquote

from bs4 import BeautifulSoup, Tag
from playwright.sync_api import sync_playwright

BUILD = Path(__file__).parents[1] / "_build"
FOLDED = "details:not(:has(> summary:-soup-contains('Solution')))"
LEFT_OUT = f"{FOLDED}, script, noscript, .headerlink, .figure-files, div.cell_input, .prev-next-footer"
MARGIN = {"top": "18mm", "bottom": "18mm", "left": "16mm", "right": "16mm"}
PAGE_NUMBER = '<p style="font-size: 8px; width: 100%; text-align: center"><span class="pageNumber"></span></p>'


def chromium() -> str | None:
    """The program, of whatever name it has here."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def read(place: Path) -> BeautifulSoup:
    return BeautifulSoup(place.read_text("utf-8"), "html.parser")


def contents(html: Path) -> list[str]:
    """The pages of the book in order, seen from ``html``."""
    start = read(html / "index.html").find("meta", {"http-equiv": "Refresh"})
    landing = normpath(re.split("url=", str(start["content"]), flags=re.IGNORECASE)[1]) if start else "index.html"
    above = PurePosixPath(landing).parent
    links = read(html / landing).select("nav.bd-docs-nav a.reference.internal")
    found = [normpath((above / unquote(str(link["href"]).partition("#")[0])).as_posix()) for link in links]
    return list(dict.fromkeys([landing, *(page for page in found if (html / page).is_file())]))


def label(page: str, anchor: str = "") -> str:
    """An identifier of the one document for a page or a place on it."""
    return f"{page}--{anchor}" if anchor else page


def article(html: Path, page: str, pages: list[str]) -> Tag:
    """A page's article with unfolded solutions; its ids and links are those of the one document."""
    found = read(html / page).select_one("article.bd-article")
    if found is None:
        raise SystemExit(f"{page} has no article: is _build/html a built book?")
    for node in found.select(LEFT_OUT):
        node.decompose()
    for node in found.find_all("details"):
        node["open"] = ""
    for node in found.find_all(id=True):
        node["id"] = label(page, str(node["id"]))
    above = PurePosixPath(page).parent
    for node in found.find_all("img"):
        node["src"] = f"html/{normpath((above / str(node['src'])).as_posix())}"
    for node in found.find_all("a", href=True):
        place, _, anchor = str(node["href"]).partition("#")
        if re.match(r"https?:|mailto:", place):
            continue
        target = normpath((above / unquote(place)).as_posix()) if place else page
        if target in pages:
            node["href"] = f"#{label(target, anchor)}"
        else:
            node.unwrap()  # a file of the site, which is not in here
    found["id"] = page
    found["style"] = "break-before: page"
    return found


def one(html: Path) -> str:
    """The whole book as one HTML document that stands beside the folder ``html``."""
    pages = contents(html)
    head = read(html / pages[0])
    above = PurePosixPath(pages[0]).parent
    sheets = [
        normpath((above / str(link["href"]).partition("?")[0]).as_posix())
        for link in head.select("link[rel=stylesheet]")
    ]
    links = "".join(f'<link rel="stylesheet" href="html/{sheet}">' for sheet in sheets)
    body = "".join(str(article(html, page, pages)) for page in pages)
    title = "probekit: fill in the blank"
    return (
        f'<!DOCTYPE html><html lang="en" data-theme="light"><head><meta charset="utf-8"><title>{title}</title>{links}'
        f'</head><body><div class="bd-content">{body}</div></body></html>'
    )


def main() -> None:
    if not (program := chromium()):
        raise SystemExit("no Chromium here: install one, such as Debian's package `chromium`")
    if not (BUILD / "html" / "index.html").is_file():
        raise SystemExit("no book here: run `make book` first")
    source, target = BUILD / "print.html", BUILD / "probekit.pdf"
    source.write_text(one(BUILD / "html"), "utf-8")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])  # it reads our pages alone
        page = browser.new_page(color_scheme="light")
        page.goto(source.as_uri())
        page.pdf(
            path=target, format="A4", outline=True, tagged=True, print_background=True, margin=MARGIN,
            display_header_footer=True, header_template="<p></p>", footer_template=PAGE_NUMBER,
        )  # fmt: skip
        browser.close()
    print(f"{target}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
