"""What a browser meets on a page: messages, requests, bytes, links, and what axe says of it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from probekit.paths import root

HTML = root() / "_build" / "html"
DOOR = "index.html"  # it only leads on
PAGES = sorted(
    {place.relative_to(HTML).as_posix() for place in HTML.rglob("*.html") if not place.is_relative_to(HTML / "_static")}
    - {DOOR}
)
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
HREFS = "[...new Set([...document.querySelectorAll('a[href]')].map((a) => a.href))]"
SETTLED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
WIDER = "[document.documentElement.scrollWidth, window.innerWidth]"
STILL = "*, *::before, *::after { transition: none !important; animation: none !important; }"


def lacking(what: str) -> None:
    """Skip, and say so where pytest sums up its warnings."""
    warnings.warn(f"NOT TRIED IN A BROWSER: {what}", stacklevel=2)
    pytest.skip(what)


@dataclass
class Visit:
    """One page, opened with an empty cache."""

    errors: list[str] = field(default_factory=list)
    abroad: list[str] = field(default_factory=list)
    weight: int = 0  # bytes of the page and all that it loads
    links: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    width: tuple[int, int] = (0, 0)  # of the page on a phone, and of the phone


class Visitor:
    """One tab that opens page after page, and adds to them what a page's own rules may forbid."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.address, self.page = address, browser.new_page(viewport=WIDE, bypass_csp=True)
        self.visit = Visit()
        self.page.on("console", lambda said: said.type == "error" and self.visit.errors.append(said.text))
        self.page.on("pageerror", lambda error: self.visit.errors.append(str(error)))
        self.page.on("response", lambda got: got.status >= 400 and self.visit.errors.append(f"{got.status} {got.url}"))
        self.page.on("request", lambda asked: self._asked(asked.url))
        devtools = self.page.context.new_cdp_session(self.page)
        devtools.send("Network.enable")
        devtools.send("Network.setCacheDisabled", {"cacheDisabled": True})
        devtools.on("Network.loadingFinished", self._loaded)

    def _asked(self, url: str) -> None:
        if not url.startswith((self.address, "data:", "blob:")):
            self.visit.abroad.append(url)

    def _loaded(self, event: dict[str, Any]) -> None:
        self.visit.weight += event["encodedDataLength"]

    def open(self, name: str, *, thorough: bool = False) -> Visit:
        """Open a page wide and ask axe, of a page to be tried thoroughly also in the dark; then as on a phone."""
        self.page.goto("about:blank")
        self.page.set_viewport_size(WIDE)
        self.visit = visit = Visit()
        self.page.goto(self.address + name)
        self.page.evaluate("document.fonts.ready.then(() => true)")
        self.page.add_style_tag(content=STILL)
        visit.links = self.page.evaluate(HREFS)
        visit.faults = self.axe(whole=thorough)
        if thorough:
            self.page.evaluate("document.documentElement.dataset.theme = 'dark'")
            visit.faults += [f"dark: {fault}" for fault in self.axe(runOnly=["color-contrast"])]
        self.page.set_viewport_size(PHONE)
        self.page.evaluate(SETTLED)
        visit.width = tuple(self.page.evaluate(WIDER))
        return visit

    def axe(self, whole: bool = False, **options: Any) -> list[str]:
        """What is found, each with its first places; of the contents at the side only on the ``whole``."""
        asked = {"resultTypes": ["violations"], "preload": False} | options
        part = None if whole else {"exclude": [[".bd-sidebar-primary"]]}
        found = Axe().run(self.page, part, asked).response["violations"]
        return [
            f"{one['id']}: {one['help']}: " + ", ".join(str(node["target"]) for node in one["nodes"][:3])
            for one in found
        ]
