"""A result a file: what an input file gives lies in the store under the digest of its bytes, whoever read it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pandas as pd

from probekit.elsewhere import Left
from probekit.errors import ProbeError, heard, warn_again
from probekit.files import digest
from probekit.files.progress import bar
from probekit.files.reading import file_digest
from probekit.store import Store


@dataclass(frozen=True)
class InputFile:
    """A file to read.

    Args:
        path: where it lies.
        name: what its table hangs on beside its bytes; empty if on these alone.
    """

    path: Path
    name: str = ""

    @cached_property
    def content(self) -> str:
        """SHA-256 of its bytes, when they were first asked for."""
        return file_digest(self.path)


Read = Callable[[InputFile, Counter[str]], pd.DataFrame]  # makes the table of a file and counts what it met


def each_file(
    store: Store | None, function: str, key: Mapping[str, Any], files: Sequence[InputFile], read: Read, title: str
) -> Iterator[pd.DataFrame]:
    """The table of each file, in order, one in memory at a time; ``attrs["counts"]`` is what its reading counted.

    A file is read once for a store, and what it warned of is said again where its table is found. Where work is taken
    by others, the files that they are to read are passed over, and ``Left`` follows the last table.

    Args:
        store: where tables are kept; None keeps nothing.
        function, key: as in ``Store.place``; name and content of the file are added.
        files: in order.
        read: makes a table; must be known on other machines by its name, and its arguments be small.
        title: of the progress.

    Raises:
        ProbeError: a file cannot be read, or was changed meanwhile.
        StoreError: see ``Store.frames``.
    """
    left: Left | None = None
    for file in bar(title, len(files), " files", items=files):
        made: list[bool] = []
        compute = partial(_table, file, read, made)
        if store is None:
            yield compute(0)
            continue
        place = {"name": digest(os.fsencode(file.name)), "content": file.content}
        try:
            (table,) = store.frames(function, {**key, **place}, 1, compute)
        except Left as later:
            left = later
            continue
        if not made:
            warn_again(*table.attrs["warned"])
        yield table
    if left is not None:
        raise left


def _table(file: InputFile, read: Read, made: list[bool], _: int) -> pd.DataFrame:
    made.append(True)
    counts = Counter[str]()
    with heard() as messages:
        table = read(file, counts)
    if "content" in vars(file) and file_digest(file.path) != file.content:
        raise ProbeError(
            f"{file.path} was changed while it was to be read, or is another file on this machine: "
            "let all machines see the same files, then run again"
        )
    table.attrs = {"counts": dict(counts), "warned": [messages.texts, messages.cautions]}
    return table
