"""A Chromium of the system, for all tests of pages."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.visit import lacking
from tools.pdf import chromium


@pytest.fixture(scope="module")  # while it runs, no other test can run a loop of its own
def browser() -> Iterator[Browser]:
    if (program := chromium()) is None:
        lacking("no Chromium here: install one, such as Debian's package `chromium`")
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])  # it reads our pages alone
        yield opened
        opened.close()
