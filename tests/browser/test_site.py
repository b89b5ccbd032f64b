"""Every page of the built book in a browser: silent, at home, light, readable, and usable by keyboard."""

import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.browser.visit import DOOR, HTML, PAGES, PHONE, SETTLED, Visitor, lacking

pytestmark = pytest.mark.slow

HEAVIEST = 1_000_000  # bytes of a page and all that it loads, uncompressed
WHOLE = 60_000_000  # bytes of the site
SEARCHED = "PubMedBERT"
THOROUGH = [  # a page of each kind
    *(
        "search.html",
        "book/explorer.html",
        "book/methods.html",
        "book/cite.html",
        "book/teaching.html",
        "book/speed.html",
    ),
    *(f"book/studies/{name}.html" for name in ("00_start", "12_accuracy", "20_contexts", "31_saliency", "90_claims")),
    *(f"book/studies/demo/{name}.html" for name in ("10_world", "22_ucm", "45_samples")),
]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the built book is served."""
    if not PAGES:
        lacking("no _build/html here: run `make book` first")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(HTML)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture(scope="module")
def visitor(browser, address):
    return Visitor(browser, address)


@pytest.fixture(scope="module")
def visits(visitor):
    return {name: visitor.open(name, thorough=name in THOROUGH) for name in PAGES}


def test_the_site_is_no_heavier_than_it_was(address):
    sizes = [path.stat().st_size for path in HTML.rglob("*") if path.is_file()]
    assert len(sizes) > 1000 and sum(sizes) < WHOLE


def told(visits, what):
    return {name: found for name, visit in visits.items() if (found := what(visit))}


def test_no_page_has_an_error_or_asks_another_machine(visits):
    assert len(visits) > 60
    assert told(visits, lambda visit: visit.errors + visit.abroad) == {}


def test_axe_finds_nothing_in_light_or_dark(visits):
    assert set(THOROUGH) <= set(visits)
    assert told(visits, lambda visit: visit.faults) == {}


def test_no_page_scrolls_sideways_on_a_phone(visits):
    assert told(visits, lambda visit: visit.width[0] > visit.width[1] and visit.width) == {}


def test_no_page_is_heavy(visits):
    assert told(visits, lambda visit: visit.weight > HEAVIEST and visit.weight) == {}
    assert min(visit.weight for visit in visits.values() if visit.weight) > 10_000


def test_the_door_leads_to_the_landing_page(visitor):
    visitor.page.goto(visitor.address + DOOR)
    visitor.page.wait_for_url("**/00_start.html")
    assert "Fill in the blank" in visitor.page.locator("h1").first.text_content()


LOOKED_FOR = {  # words that a reader would type -> the page that should come first
    "accuracy": "12_accuracy",
    "ranking": "13_rankings",
    "overconfidence": "15_overconfidence",
    "perplexity": "16_perplexity",
    "vocabulary": "18_vocabulary",
    "LIPID": "19_lipid",
    "rank change": "21_rank_change",
    "understand": "22_ucm",
    "copy": "23_copy",
    "biases": "24_biases",
    "memory against the context": "25_conflict",
    "rationale length": "32_rationale_length",
    "hurtfulness": "41_hurtfulness",
    "lemmas": "47_lemmas",
    "ledger": "90_claims",
    "glossary": "glossary",
    "own models": "run_page",
    "slurm": "cluster",
    "teaching": "teaching",
    "LoRA": "glossary",
    "does the wording of a prompt matter": "14_templates",
    "gender bias": "43_groups",
    "toxicity": "41_hurtfulness",
    "hallucination": "25_conflict",
    "use my own model": "run_page",
    "confidence interval": "reading",
    "attention vs integrated gradients": "31_saliency",
}


def test_the_search_finds_what_readers_type(visitor):
    first = {}
    for words in LOOKED_FOR:
        visitor.page.goto(f"{visitor.address}search.html?q={words}")
        visitor.page.wait_for_selector("ul.search li a")
        first[words] = visitor.page.locator("ul.search li a").first.get_attribute("href")
    missed = {words: first[words] for words, name in LOOKED_FOR.items() if f"{name}.html" not in first[words]}
    assert len(missed) <= 2, missed


def test_the_search_is_reached_by_keyboard_from_any_page(visitor):
    page = visitor.page
    page.goto(f"{visitor.address}book/methods.html")
    page.keyboard.press("Control+k")
    page.keyboard.type(SEARCHED)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("search.html"))
    page.wait_for_selector("ul.search li a")
    assert SEARCHED in page.locator("input[name=q]").first.input_value()


def test_the_explorer_is_used_by_keyboard_alone(visitor):
    page = visitor.page
    page.set_viewport_size(PHONE)
    page.goto(f"{visitor.address}book/explorer.html#12_accuracy/accuracy")
    page.wait_for_selector("#table-view tbody tr")
    assert page.evaluate("document.activeElement.textContent") == "accuracy"
    rows = page.locator("#table-view tbody tr")
    before = rows.count()
    for _ in range(60):
        page.keyboard.press("Tab")
        if (page.evaluate("document.activeElement.ariaLabel") or "").startswith("Filter "):
            break
    page.keyboard.type("no such thing")
    page.wait_for_function("document.querySelector('#table-view tbody').textContent.includes('No row fits')")
    assert before > 1 and rows.count() == 1


def test_the_ledger_is_filtered_by_keyboard_alone(visitor):
    page = visitor.page
    page.goto(f"{visitor.address}book/studies/90_claims.html")
    page.wait_for_selector("select")
    rows = page.locator("table.filterable tbody tr")
    before = rows.count()
    page.locator("select").last.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_function(f"document.querySelectorAll('table.filterable tbody tr').length < {before}")
    assert 0 < rows.count() < before


SCROLLED = """() => Array.from(document.querySelectorAll(".bd-article *"), (box) => [box, getComputedStyle(box)])
    .filter(([box, style]) => box.checkVisibility() && /auto|scroll/.test(style.overflowX))
    .filter(([box]) => box.scrollWidth > box.clientWidth + 4)
    .map(([box, style]) => [box.className, style.maskImage.includes("48px"), Boolean(box.querySelector("caption"))])"""


@pytest.mark.parametrize("name", ["12_accuracy", "90_claims", "23_copy"])
def test_what_scrolls_sideways_on_a_phone_fades_and_its_caption_stands_still(visitor, name):
    page = visitor.page
    page.set_viewport_size(PHONE)
    page.goto(f"{visitor.address}book/studies/{name}.html")
    page.evaluate(SETTLED)
    assert [box for box in page.evaluate(SCROLLED) if box[1:] != [True, False]] == []
    captions = page.locator(".table-caption")
    assert captions.count() == page.locator("table.sortable").count() > 0
    named = page.locator("table.sortable").first.get_attribute("aria-labelledby")
    assert captions.first.get_attribute("id") == named and captions.first.text_content().startswith("Table ")
