"""How far work is that takes over two seconds: over itself on a terminal, else a line every half minute.

``TQDM_DISABLE`` silences all of it. The kernel of a page has no terminal: it leaves its line in a file that
``PROBEKIT_PROGRESS`` names, and whoever runs the page shows it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

PLACE = "PROBEKIT_PROGRESS"
FORMAT = "{desc}: {n_fmt} of {total_fmt}{unit}, {rate_fmt}, {remaining} left"
DELAY = 2.0  # seconds before anything is shown
APART = 30.0  # seconds between lines where there is no terminal


def bar(title: str, total: int, unit: str, initial: int = 0, items: Iterable[Any] | None = None) -> Any:
    """A bar of tqdm that shows itself where its reader looks.

    Args:
        total, initial: number of units, all and done before.
        unit: with a space before it.
        items: to be gone through, in place of calls of ``update``.
    """
    from tqdm import tqdm
    from tqdm.auto import tqdm as fitting

    options: dict[str, Any] = {
        "desc": title,
        "total": total,
        "unit": unit,
        "initial": initial,
        "delay": DELAY,
        "leave": False,
        "disable": quiet() and PLACE not in os.environ,  # whoever runs the page asked for it
    }
    if place := os.environ.get(PLACE):
        return tqdm(items, file=_File(Path(place)), bar_format=FORMAT, mininterval=1, **options)
    if _terminal() or "ipykernel" in sys.modules:
        return fitting(items, **options)
    return tqdm(items, file=_Lines(), bar_format=FORMAT, mininterval=APART, **options)


class Progress:
    """Rows per second and what remains of some shards, of which those found finished count as no speed.

    Args:
        title: what runs.
        sizes: forward rows of each shard.
    """

    def __init__(self, title: str, sizes: Sequence[int]) -> None:
        self.title, self.sizes = title, sizes
        self.bar: Any = None

    def reach(self, shard: int) -> None:
        """Shards before this one are done; those not computed here count as found, not as speed."""
        before = sum(self.sizes[:shard])
        if self.bar is None:
            self.bar = bar(self.title, sum(self.sizes), " rows", before)
        elif not self.bar.disable and before > self.bar.n:
            self.bar.initial += before - self.bar.n
            self.bar.update(before - self.bar.n)

    def add(self, rows: int) -> None:
        """So many more rows are done."""
        if self.bar is not None:
            self.bar.update(rows)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.close()


def quiet() -> bool:
    """Whether no progress is wanted."""
    return os.environ.get("TQDM_DISABLE", "0") not in ("", "0")


def say(text: str) -> None:
    """A line for whoever looks, in place of progress."""
    if place := os.environ.get(PLACE):
        _File(Path(place)).write(text)
    elif "ipykernel" not in sys.modules:
        _Lines().write(text)


class Status:
    """The line of a command; a process beside others, of which each has one, writes it like one without a terminal."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.last = self.begun
        self.over = _terminal() and multiprocessing.parent_process() is None
        self.open = False

    def show(self, text: str) -> None:
        """Show a text, if it is time for one."""
        now = time.monotonic()
        if quiet() or now - (self.begun if self.over else self.last) < (DELAY if self.over else APART):
            return
        self.last, self.open = now, self.over
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write(f"\r\x1b[K{text[:width]}" if self.over else f"{text}\n")
        sys.stderr.flush()

    def clear(self) -> None:
        """Leave the terminal's line empty for what comes next."""
        if self.open:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
        self.open = False


def _terminal() -> bool:
    return bool(getattr(sys.stderr, "isatty", bool)())


class _File:
    """Keeps the last line in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, text: str) -> None:
        with contextlib.suppress(OSError):
            self.path.write_text(text.strip(), "utf-8")


class _Lines:
    """A line for each line, none over another."""

    def write(self, text: str) -> None:
        if text.strip():
            sys.stderr.write(f"{text.strip()}\n")
            sys.stderr.flush()
