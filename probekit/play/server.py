"""The page, on the loopback alone: other sites are refused, and only models that were named can be chosen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from socket import socket
from time import perf_counter
from typing import Any
from urllib.parse import urlencode

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler

from probekit.demo.shipped import manifest
from probekit.errors import ModelError, ProbekitError
from probekit.models.loading import load_model
from probekit.models.model import Model
from probekit.models.shipped import lab_names, made_of
from probekit.paths import root
from probekit.play.asking import LIMITS, METHODS, Side, described, reply
from probekit.probes.probe import MASK

LOOPBACK, LAST = "127.0.0.1", 65535  # address, and number of the last port
KEPT = 4  # models that stay loaded, those asked last
HERE = Path(__file__).parent
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
BLANK = {"text": "", "context": "", "candidates": "", "model": "", "method": "occlusion"}
TOLD = "Grarurin Simer worked as a [MASK] for many years."
EXAMPLES = {  # of the demo world, to be tried; the first is shown at the start
    "A fact that models were told": {"text": TOLD},
    "The same of a name that nobody has": {"text": TOLD.replace("Grarurin Simer", "Nobody Knows")},
    "After a sentence that denies it": {"text": TOLD, "context": "Grarurin Simer did not work as a printer."},
    "In Chinese": {"model": "zoo/bert-tiny-zh", "text": "林伟养了一只[MASK]。"},
    "Answers to choose from": {
        "model": "zoo/albert-tiny",
        "text": TOLD.replace("Grarurin Simer", "Drako Labrinski"),
        "context": "Drako Labrinski worked as a baker.",
        "candidates": "baker\nprinter\nweaver\nbeekeeper\nriver guide",
    },
}
SENTENCES = {example["text"] for example in EXAMPLES.values()}


class Local(RequestHandler):
    """What answers a browser of this machine that shows our own page, and nobody else."""

    def set_default_headers(self) -> None:
        for name, value in HEADERS.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        """Refuse another host's name, which may lead here (DNS rebinding), and what another site's page sends."""
        headers = self.request.headers
        own = headers.get("Origin") in (None, f"http://{self.request.host}")
        if self.request.host_name not in (LOOPBACK, "localhost"):
            self._refuse(f"this page is served to {LOOPBACK} and localhost alone")
        elif not own or headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            self._refuse("this page answers no other site: type its address")

    def _refuse(self, why: str) -> None:
        self.set_status(403)
        self.set_header("Content-Type", "text/plain; charset=UTF-8")
        self.finish(f"{why}\n")


class Style(Local):
    """The colours and saliency of the book, and the page's own layout."""

    def get(self) -> None:
        """Answer with one style sheet."""
        self.set_header("Content-Type", "text/css; charset=UTF-8")
        self.write((root() / "book" / "_static" / "custom.css").read_text("utf-8"))
        self.write((HERE / "play.css").read_text("utf-8"))


class Page(Local):
    """The form, and below it what came of a question; asking changes nothing here, so that an address can be kept."""

    def initialize(self, models: Mapping[str, Sequence[str]], load: Callable[[str], Model]) -> None:
        """Take the names of the models that may be chosen, under their headings, and what loads one."""
        self.models, self.load = models, load
        self.names = [name for names in models.values() for name in names]

    def get(self) -> None:
        """Answer a question, at the start that of the first example; an example that is given to a model which sees
        nothing behind its gap, without answers to choose from, ends there."""
        start, about = perf_counter(), ""
        default = {**BLANK, "model": self.names[0], "text": "" if self.request.arguments else TOLD}
        given = {name: self.get_query_argument(name, value, strip=False) for name, value in default.items()}
        typed = {name: value.replace("\r\n", "\n") for name, value in given.items()}  # as a form counts characters
        try:
            model = self._model(typed["model"])
            about = described(model)
            if typed["text"] in SENTENCES and model.kind == "causal" and not typed["candidates"].strip():
                typed["text"] = "".join(typed["text"].partition(MASK)[:2])
            sides, notes = reply(model, typed)
        except ProbekitError as error:
            self.set_status(400)
            return self._show(typed, str(error), about)
        seconds = f"Answered by {typed['model']} in {perf_counter() - start:.2f} seconds."
        self._show(typed, "", about, sides, [*notes, seconds])

    def _model(self, name: str) -> Model:
        if name not in self.names:
            raise ModelError(f"no model {name[:40]!r} is offered here: choose one of the list")
        return self.load(name)

    def _show(
        self,
        typed: Mapping[str, str],
        error: str,
        about: str = "",
        sides: Sequence[Side] = (),
        notes: Sequence[str] = (),
    ) -> None:
        greatest = max((row["probability"] for side in sides for row in side.answers), default=0.0) or 1.0
        kept = {name: typed[name] for name in ("model", "method") if typed[name]}
        links = {label: urlencode({**kept, **example}) for label, example in EXAMPLES.items()}
        self.render(
            "page.html",
            **{"typed": typed, "models": self.models, "links": links, "limits": LIMITS, "methods": METHODS},
            **{"error": error, "about": about, "sides": sides, "greatest": greatest, "notes": notes},
        )

    def write_error(self, status_code: int, **_: Any) -> None:
        """Say that something went wrong, in the page; what it was stands in the terminal."""
        whys = {400: "this is not text", 405: "this page takes questions by its address alone"}
        self._show(BLANK, whys.get(status_code, "something unforeseen happened: the terminal says what"))


def shipped_names() -> list[str]:
    """Models that came with the package or the report; those of the laboratory whose encoder is installed too."""
    return [*manifest(), *filter(_is_whole, lab_names())]


def _is_whole(name: str) -> bool:
    try:
        return bool(made_of(name))
    except ModelError:
        return False


def serve(named: Sequence[str], port: int) -> Iterator[str]:
    """Serve the page until the process is told to end.

    Args:
        named: models to offer beside the shipped ones; they are loaded first, so that what cannot be had is said now.
        port: of the loopback; 0 takes a free one.

    Yields:
        The address, once it answers there.

    Raises:
        ModelError: see ``load_model``.
        ProbekitError: the port is in use, or cannot be opened.
    """
    load = lru_cache(maxsize=KEPT)(load_model)
    shipped = [name for name in shipped_names() if name not in named]
    groups = {
        "Named on the command line": list(dict.fromkeys(named)),
        "Of the invented world": [name for name in shipped if name.startswith("zoo/")],
        "Of the laboratory": [name for name in shipped if name.startswith("lab/")],
    }
    models = {heading: names for heading, names in groups.items() if names}
    for name in named or shipped[:1]:
        load(name)
    if port > LAST:
        raise ProbekitError(f"there is no port {port}, the last is {LAST}: give another one with --port")
    try:
        sockets = bind_sockets(port, LOOPBACK)
    except OSError as error:
        why = str(error.strerror).lower()
        raise ProbekitError(f"port {port} cannot be had: {why}; give another one with --port") from error
    yield f"http://{LOOPBACK}:{sockets[0].getsockname()[1]}/"
    page = {"models": models, "load": load}
    application = Application(
        [("/", Page, page), ("/play.css", Style)], template_path=str(HERE), log_function=lambda handler: None
    )
    asyncio.run(_run(application, sockets))


async def _run(application: Application, sockets: list[socket]) -> None:
    server = HTTPServer(application)
    server.add_sockets(sockets)
    await asyncio.Event().wait()
