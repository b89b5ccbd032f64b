"""Figures to explore, opened from the disk: they show what their tables hold, by pointer and by keyboard."""

from urllib.parse import parse_qs, unquote

import pandas as pd
import pytest

from probekit.paths import root
from probekit.report.text import title
from tests.browser.visit import HTML, PHONE, STILL, WIDE, WIDER, Visitor, lacking

STUDIES = HTML / "book" / "studies"
MOST = 500_000  # bytes of the libraries, with their licences
EXPLORED = {  # page -> its figures
    "12_accuracy": 2,
    "22_ucm": 2,
    "31_saliency": 1,
    "41_hurtfulness": 1,
    "46_audit": 1,
    "90_claims": 1,
    "94_compare": 1,
    "demo/12_accuracy": 2,
}
HOSTILE = ["<img src=x onerror=alert(1)>", "__proto__", "constructor", "<script>alert(2)</script>", "$&` \u202e"]


def test_the_libraries_are_small_and_licensed():
    vendor = root() / "book" / "_static" / "vendor"
    files = [path for name in ("d3", "plot") for path in (vendor / name).iterdir()]
    assert sum(path.stat().st_size for path in files) < MOST
    assert [path.parent.name for path in files if path.name == "LICENSE.txt"] == ["d3", "plot"]


@pytest.fixture(scope="module")
def visitor(browser):
    if not STUDIES.is_dir():
        lacking("no _build/html here: run `make book` first")
    return Visitor(browser, f"{HTML.as_uri()}/")


def opened(visitor, name, size=WIDE):
    """The page, fresh, with all its figures explored."""
    page = visitor.page
    page.goto("about:blank")
    page.set_viewport_size(size)
    visitor.visit = type(visitor.visit)()
    page.goto(f"{STUDIES.as_uri()}/{name}.html")
    explore(page)
    return page


def explore(page):
    for button in page.locator(".figure-files[data-plot] > button").all():
        button.click()
    page.wait_for_function("!document.querySelector('.figure-files [aria-busy=true]')")
    page.wait_for_selector(".explored .hit a")


def table(name):
    return pd.read_csv(root() / "book" / "studies" / f"{name}.csv")


def shown(row, estimate="difference"):
    return f"{row[estimate]:.3f} [{row['low']:.3f}, {row['high']:.3f}]"


@pytest.mark.slow
def test_libraries_and_data_come_when_a_figure_is_explored(visitor):
    asked = []
    visitor.page.on("request", lambda request: asked.append(request.url))
    visitor.page.goto(f"{STUDIES.as_uri()}/12_accuracy.html")
    assert visitor.page.locator(".plot").count() == 0
    assert not [url for url in asked if "/vendor/plot/" in url or "/vendor/d3/" in url or "/tables/" in url]
    explore(visitor.page)
    assert len([url for url in asked if "/vendor/plot/" in url]) == 1
    assert all(url.startswith("file://") for url in asked)
    visitor.page.get_by_role("button", name="Back to the still figure").first.click()
    assert visitor.page.locator("img.chart").first.is_visible()


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPLORED)
def test_figures_open_in_light_and_dark_wide_and_on_a_phone(visitor, name):
    for size in (WIDE, PHONE):
        page = opened(visitor, name, size)
        assert page.locator("figure.explored .plot").count() == EXPLORED[name]
        assert not page.locator("figure.explored img.chart").first.is_visible()
        assert visitor.visit.errors + visitor.visit.abroad == []
        wide, window = page.evaluate(WIDER)
        assert wide <= window
    page.add_style_tag(content=STILL)  # else a button that fades in is too faint while it does
    assert visitor.axe() == []
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert visitor.axe(runOnly=["color-contrast"]) == []


@pytest.mark.slow
def test_a_mark_tells_the_number_of_the_table_by_keyboard_and_pointer(visitor):
    page = opened(visitor, "12_accuracy")
    rows = table("12_accuracy/pairs").query("subset == 'all' and k == 1 and dataset == 'trex'").to_dict("records")
    figure = page.locator("figure.explored").last
    tip = figure.locator(".plot-tip")
    for row in rows[:2]:
        mark = figure.locator(f".hit a[aria-label*='{title(row['model'])}'][aria-label*='T\u2011REx']").first
        mark.hover()
        assert shown(row) in tip.inner_text() and f"{row['facts']:,} facts" in tip.inner_text()
    page.mouse.move(0, 0)
    assert not tip.is_visible()
    marks = figure.locator(".hit a")
    marks.first.focus()
    page.keyboard.press("ArrowRight")
    assert marks.nth(1).evaluate("(mark) => mark === document.activeElement")
    assert marks.nth(1).get_attribute("aria-label").split("; ")[1] in tip.inner_text()
    page.keyboard.press("Escape")
    assert not tip.is_visible()


@pytest.mark.slow
def test_a_switch_changes_the_numbers(visitor):
    page = opened(visitor, "12_accuracy")
    figure = page.locator("figure.explored").last
    figure.get_by_label("k", exact=True).select_option("5")
    row = table("12_accuracy/pairs").query("subset == 'all' and k == 5 and dataset == 'trex'").iloc[0]
    label = f".hit a[aria-label*='{title(row['model'])}'][aria-label*='T\u2011REx']"
    assert shown(row) in figure.locator(label).first.get_attribute("aria-label")


@pytest.mark.slow
def test_a_model_stands_out_in_all_figures_and_tables(visitor):
    page = opened(visitor, "12_accuracy")
    page.locator(".plot-highlight").first.select_option("Untuned")
    for figure in page.locator("figure.explored").all():
        assert {mark.get_attribute("data-key") for mark in figure.locator(".hit a:not(.dim)").all()} == {"Untuned"}
        assert figure.locator(".plot-highlight").input_value() == "Untuned"
    named = page.locator("table.sortable tr.named")
    assert named.count() and all("Untuned" in row for row in named.all_text_contents())


@pytest.mark.slow
def test_a_click_leads_to_the_row_in_the_explorer(visitor):
    page = opened(visitor, "12_accuracy")
    mark = page.locator("figure.explored").last.locator(".hit a").nth(3)
    asked = parse_qs(unquote(mark.get_attribute("href").partition("?")[2]))
    mark.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/explorer.html**")
    page.wait_for_selector("#table-view tbody tr")
    rows = page.locator("#table-view tbody tr")
    assert rows.count() == 1 and asked["model"][0][1:] in rows.first.inner_text()
    assert page.get_by_label("Filter model", exact=True).input_value() == asked["model"][0]


def changed(visitor, columns, values):
    """A page with all figures explored, in whose tables some columns hold other values in turn."""
    page = visitor.page
    page.goto("about:blank")
    visitor.visit = type(visitor.visit)()
    page.goto(f"{STUDIES.as_uri()}/12_accuracy.html")
    page.evaluate("window.alert = () => { window.hurt = true; }; null")
    page.evaluate(
        """([changed, values]) => {
          const append = document.head.append.bind(document.head);
          document.head.append = (script) => {
            const loaded = script.onload;
            if (script.src.includes("/tables/")) script.onload = () => {
              for (const { columns, rows } of Object.values(TABLES)) for (const column of changed) {
                const at = columns.indexOf(column);
                if (at >= 0) rows.forEach((row, i) => { row[at] = values[i % values.length]; });
              }
              loaded();
            };
            append(script);
          };
        }""",
        [columns, values],
    )
    explore(page)
    return page


@pytest.mark.slow
def test_an_interval_with_one_end_is_told_with_one(visitor):
    page = changed(visitor, ["high"], [None])
    labels = [mark.get_attribute("aria-label") for mark in page.locator("figure.explored").last.locator(".hit a").all()]
    assert labels and all(", –]" in label for label in labels) and visitor.visit.errors == []


@pytest.mark.slow
def test_names_of_others_stay_text(visitor):
    page = changed(visitor, ["model", "tuned"], HOSTILE)
    figure = page.locator("figure.explored").last
    labels = " ".join(mark.get_attribute("aria-label") for mark in figure.locator(".hit a").all())
    assert all(name in labels for name in HOSTILE[:4])
    figure.locator(".hit a").first.focus()
    for name in HOSTILE:
        figure.locator(".plot-highlight").select_option(name)
    assert page.locator(".plot :is(img, script, iframe)").count() == 0
    assert page.evaluate("window.hurt") is None
    assert all(mark.get_attribute("href").startswith("file://") for mark in figure.locator(".hit a").all())
