"""What a page asks of models, result by result, without asking it: its own code is run and hands in what it misses."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from probekit import elsewhere
from probekit.elsewhere import Left, Taker, Wanted
from probekit.errors import ProbekitError, ReportError
from probekit.files import canonical, digest
from probekit.models import load_model, registry
from probekit.models.model import Model
from probekit.models.source import Source
from probekit.report.paths import source
from probekit.report.run import environment, found_paths
from probekit.report.sources import complete, load_source, pages, studies

STAND_INS = {"masked": "zoo/bert-tiny", "causal": "zoo/llama-tiny", "seq2seq": "zoo/t5-tiny"}
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}


@dataclass(frozen=True)
class Cell:
    """One result of a page.

    Args:
        function, title: what runs, as the store and its progress call it.
        model: its name.
        gigabytes: of its weights; None where unknown.
        rows, tokens: of forward passes that are missing; of all, where some are finished. None where unknown.
        shards, missing: pieces of the result, and those not finished; ``missing`` is all where the weights were never
            read, since results are kept by them.
        note: why a number is no more than an estimate; else empty.
        place: digest of what the result hangs on: the same on all pages that share it.
    """

    function: str
    title: str
    model: str
    gigabytes: float | None
    rows: int
    tokens: int | None
    shards: int
    missing: int
    note: str
    place: str

    def seconds(self, rate: float) -> float | None:
        """At so many tokens a second."""
        return None if self.tokens is None else self.tokens / rate


def walk(name: str, given: Mapping[str, Any], profile: str, taker: Taker) -> ProbekitError | Left | None:
    """Run the code of a page up to its tables and hand what it asks for to a taker; see ``elsewhere``.

    Returns:
        What ended it before, after something was left; None where it came to its tables.

    Raises:
        ProbekitError: an unknown page or parameter, or what fails before anything is left, such as data not at hand.
    """
    values = {key: found_paths(value) for key, value in complete(name, given, profile).items()} | {"out": name}
    codes = [cell for cell in load_source(name).cells if cell.cell_type == "code"]
    page: dict[str, Any] = {"__name__": "__main__"}
    with environment(), _apart(), contextlib.redirect_stdout(io.StringIO()), elsewhere.handing_to(taker):
        try:
            for cell in codes:
                exec(compile(cell.source, name, "exec"), page)
                if "parameters" in cell.metadata.get("tags", []):
                    page.update(values)
        except Left as left:
            return None if str(left) == name else left
        except Exception as error:
            if not elsewhere.any_left():
                raise
            return error if isinstance(error, ProbekitError) else None
    return None


@contextmanager
def _apart() -> Iterator[None]:
    """A folder to work in, gone afterwards."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


class _Listing:
    """Lists what is asked for. A model that is not here is stood for by a small one of its kind."""

    def __init__(self) -> None:
        self.cells: list[Cell] = []
        self.models: dict[str, tuple[str, float | None, str]] = {}  # by fingerprint: name, gigabytes, note

    def result(self, wanted: Wanted) -> bool:
        if "model" not in wanted.key:  # of files, which say what models are asked
            return False
        name, gigabytes, note = self.models.get(str(wanted.key.get("model")), ("", None, ""))
        rows = sum(wanted.sizes[i] for i in wanted.missing) if wanted.sizes else 0
        share = len(wanted.missing) / wanted.shards if wanted.shards else 0
        tokens = None if wanted.tokens is None else round(wanted.tokens * share)
        size, missing = wanted.shards, len(wanted.missing)
        place = digest(wanted.function, canonical(wanted.key))
        cell = Cell(wanted.function, wanted.title, name, gigabytes, rows, tokens, size, missing, note, place)
        self.cells.append(cell)
        return True

    def weights(self, source: Source) -> str:
        known = source.known or f"not read: {source.key}"
        about = self.models.get(known)
        if about is None:
            size = sum(p.numel() * p.element_size() for p in source.outline.parameters()) / 1e9
            self.models[known] = (source.name, size, "" if source.known else "weights were never read here")
        return known

    def absent(self, name: str, error: Exception) -> Model:
        entry = registry().get(name)
        if entry is None:
            raise error
        stand_in = load_model(STAND_INS[entry.kind]).renamed(name)
        size = _gigabytes(name)
        note = f"not at hand: rows and tokens are those of {STAND_INS[entry.kind]}, which cuts words smaller"
        fingerprint = f"absent: {name}"
        self.models[fingerprint] = (name, size, note)
        stand_in.__dict__["fingerprint"] = fingerprint
        return stand_in


def plan(name: str, given: Mapping[str, Any], profile: str = "demo") -> tuple[list[Cell], ProbekitError | Left | None]:
    """The results that a page asks for, in order, and what ended the list early, where anything did.

    No weights are read, and nothing is fetched. What hangs on results that are not finished, such as ranks of what
    was predicted, is not listed.

    Raises:
        ProbekitError: see ``walk``.
    """
    listing = _Listing()
    ended = walk(name, given, profile, listing)
    return listing.cells, ended


def named(name: str, profile: str) -> list[str]:
    """A page; or those of a profile whose names begin so, or that lie in the folder of ``notebooks`` of this name.

    Raises:
        ReportError: there is none.
    """
    if name in studies():
        return [name]
    found = [page for page in pages(profile) if page.startswith(name) or source(page).parent.name == name]
    if not found:
        raise ReportError(
            f"no study {name!r}, and none of profile {profile!r} begins so, or lies in a folder of this name"
        )
    return found


def _gigabytes(name: str) -> float | None:
    """Of a registered model's weights; None where unknown."""
    entry = registry().get(name)
    return None if entry is None or entry.parameters is None else entry.parameters * 1e6 * BYTES["float32"] / 1e9


def _without_data(page: str, given: Mapping[str, Any], profile: str) -> list[Cell]:
    """The models that a page asks, where it could not read what it asks them."""
    with contextlib.suppress(ProbekitError):
        models = complete(page, given, profile).get("models", [])
        note = "what it is asked cannot be read here"
        return [
            Cell("models", str(one), str(one), _gigabytes(str(one)), 0, None, 0, 0, note, digest(page, str(one)))
            for one in models
        ]
    return []


def as_rows(
    name: str, given: Mapping[str, Any], profile: str, rate: float
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The cells of the ``named`` pages, with ``study`` and ``seconds``; and what ended which list.

    Raises:
        ReportError: see ``named``.
    """
    names = named(name, profile)
    rows: list[dict[str, Any]] = []
    ended: dict[str, str] = {}
    for page in names:
        try:
            cells, error = plan(page, given, profile)
        except ProbekitError as fault:
            cells, error = _without_data(page, given, profile), fault
        rows += [{"study": page, **asdict(cell), "seconds": cell.seconds(rate)} for cell in cells]
        if error:
            later = f"what hangs on {error} is listed once they are finished"
            failed = f"what comes next waits for these, or fails: {error}"
            ended[page] = later if isinstance(error, Left) else failed
    return rows, ended


def as_lines(rows: Sequence[Mapping[str, Any]], ended: Mapping[str, str], rate: float) -> list[str]:
    """``as_rows`` in words; in the sum a result that several pages share counts once."""
    lines = []
    for row in rows:
        size = "? GB" if row["gigabytes"] is None else f"{row['gigabytes']:.3g} GB"
        work = "? tokens" if row["tokens"] is None else f"{row['tokens']:,} tokens, {row['seconds']:,.0f} s"
        pieces = f"{row['missing']:,} of {row['shards']:,} shards missing"
        note = f" ({row['note']})" if row["note"] else ""
        lines.append(
            f"{row['study']} {row['function']}: {row['title']}: {pieces}, {row['rows']:,} rows, {work}, {size}{note}"
        )
    lines += [f"{page}: {said}" for page, said in ended.items()]
    once = {row["place"]: row for row in rows}.values()
    tokens, unknown = sum(row["tokens"] or 0 for row in once), sum(row["tokens"] is None for row in once)
    lines.append(
        f"{len(once):,} results, {sum(row['missing'] for row in once):,} shards missing, {tokens:,} tokens, "
        f"{tokens / rate / 3600:,.1f} hours at {rate:,.0f} tokens a second"
        + (f"; of {unknown:,} results the tokens are unknown" if unknown else "")
    )
    return lines
