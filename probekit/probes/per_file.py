"""A result a file: what an input file gives lies in the store under the digest of its bytes, whoever read it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from probekit.errors import ProbeError, heard, warn_again
from probekit.files import digest
from probekit.files.progress import Progress, bar
from probekit.files.reading import file_digest
from probekit.store import Store, Work, answer


@dataclass(frozen=True)
class InputFile:
    """A file to read.

    Args:
        path: where it lies.
        name: decides its table beside its bytes; empty if these alone do.
    """

    path: Path
    name: str = ""

    @cached_property
    def content(self) -> str:
        """SHA-256 of its bytes, computed once."""
        return file_digest(self.path)

    def check(self) -> None:
        """Read its bytes again.

        Raises:
            ProbeError: they are not those of ``content``.
        """
        if file_digest(self.path) != self.content:
            raise ProbeError(
                f"{self.path} was changed while it was to be read, or is another file on this machine: "
                "let all machines see the same files, then run again"
            )


Read = Callable[[InputFile, Counter[str]], pd.DataFrame]  # makes the table of a file and counts what it met
Fill = Callable[[Sequence[Work]], object]  # makes elsewhere what a store lacks of some works


def each_file(
    store: Store | None,
    function: str,
    key: Mapping[str, Any],
    files: Sequence[InputFile],
    read: Read,
    title: str,
    fill: Fill | None = None,
) -> Iterator[pd.DataFrame]:
    """The table of each file, in order, one in memory at a time; ``attrs["counts"]`` is what its reading counted.

    A file is read once for a store, and what it warned of is said again where its table is found.

    Args:
        store: where tables are kept; None keeps nothing.
        function, key: as in ``Store.place``; name and content of the file are added.
        files: in order.
        read: makes a table; must be known on other machines by its name, and its arguments be small.
        title: of the progress.
        fill: is given the work of every file before the first is read; see ``probekit.run.fill``.

    Raises:
        ProbeError: a file cannot be read, or was changed meanwhile.
        StoreError: see ``Store.frames``.
    """
    readings = [_Reading(file, read) for file in files]
    if store is not None and fill is not None:
        fill([reading.work(function, key) for reading in readings])
    for reading in bar(title, len(files), " files", items=readings):
        yield reading(0) if store is None else answer(reading.work(function, key), store)


@dataclass
class _Reading:
    """Reads a file into its table, once; ``done`` here, so that its warnings were heard."""

    file: InputFile
    read: Read
    done: bool = False

    def work(self, function: str, key: Mapping[str, Any]) -> Work:
        identity = {"name": digest(os.fsencode(self.file.name)), "content": self.file.content}
        return Work(function, {**key, **identity}, str(self.file.path), [1], self, self.finish)

    def __call__(self, _: int, __: Progress | None = None) -> pd.DataFrame:
        self.done = True
        counts = Counter[str]()
        with heard() as messages:
            table = self.read(self.file, counts)
        if "content" in vars(self.file):
            self.file.check()
        table.attrs = {"counts": dict(counts), "warned": [messages.texts, messages.cautions]}
        return table

    def finish(self, frames: list[pd.DataFrame]) -> pd.DataFrame:
        (table,) = frames
        if not self.done:
            warn_again(*table.attrs["warned"])
        return table
