"""The live page in a browser: quiet, readable in light and dark, usable by keyboard, and without any script."""

import threading

import pytest

from probekit.play.server import EXAMPLES, TOLD, serve
from tests.browser.visit import PHONE, WIDER, Visitor

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address():
    lines = serve([], 0)
    place = next(lines)
    threading.Thread(target=list, args=(lines,), daemon=True).start()
    return place


@pytest.fixture(scope="module")
def visitor(browser, address):
    return Visitor(browser, address)


def test_every_example_is_quiet_and_readable_wide_and_on_a_phone_in_light_and_dark(visitor):
    visitor.open("")
    paths = [link.removeprefix(visitor.address) for link in visitor.visit.links]
    assert len(paths) == len(EXAMPLES)
    for path in ["", *paths, "?text=No+gap."]:
        for scheme in ("light", "dark"):
            visitor.page.emulate_media(color_scheme=scheme)
            visit = visitor.open(path)
            assert visit.abroad == visit.faults == [], (path, scheme)
            assert [error for error in visit.errors if "400" not in error or "No+gap" not in path] == []
            assert visit.width[0] <= visit.width[1], (path, scheme, visit.width)


def test_a_question_is_asked_by_keyboard_alone(visitor):
    page = visitor.page
    page.goto(visitor.address)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "text"
    page.keyboard.press("Control+a")
    page.keyboard.type(TOLD.replace("Grarurin Simer", "Drako Labrinski"))
    page.keyboard.press("Tab")
    page.keyboard.type("Drako Labrinski worked as a baker.")
    page.keyboard.press("Tab")
    page.keyboard.type("baker\nriver guide")
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="After the context").wait_for()
    assert page.locator("tbody th").all_text_contents() == ["river guide", "baker"] * 2


def test_it_works_without_scripts_and_shows_hostile_text_as_text(browser, address):
    page = browser.new_context(java_script_enabled=False, viewport=PHONE).new_page()
    page.goto(address)
    page.fill("#text", f"{'W' * 150} [MASK] <img src=x onerror=alert(1)>")
    page.fill("#candidates", f"<script>alert(1)</script>\n{'x' * 60}")
    page.select_option("#model", "zoo/roberta-tiny")
    page.click("button")
    page.wait_for_url("**text=*")
    assert "<script>alert(1)</script>" in page.locator("tbody th").all_text_contents()
    assert page.locator("img, script").count() == 0
    scripted = browser.new_page(viewport=PHONE)
    said = list[str]()
    scripted.on("dialog", lambda dialog: said.append(dialog.message))
    scripted.on("console", lambda message: said.append(message.text))
    scripted.goto(page.url)
    assert said == []
    assert scripted.evaluate(f"(([page, phone]) => page <= phone)({WIDER})")
