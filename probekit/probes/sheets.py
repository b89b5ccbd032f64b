"""Sheets of prompts or completions, which people open as a table and fill in: drawn once, never written over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from probekit.errors import ProbeError
from probekit.files import write_atomically


def refuse_filled(out: Path, rows: int, what: str) -> None:
    """Refuse to draw less than one row, or into a file that is there.

    Raises:
        ProbeError: one of the two.
    """
    if rows < 1:
        raise ProbeError(f"a sheet needs at least one {what}, not {rows}")
    if out.exists():
        raise ProbeError(f"{out} is there and may be filled in; move it away, or name another file")


def write_unfilled(out: Path, fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows as CSV; the fields that they lack at their ends are for people to fill in."""
    table = pd.DataFrame([[*row, *[""] * (len(fields) - len(row))] for row in rows], columns=[*fields])
    write_atomically(out, table.to_csv(index=False, lineterminator="\r\n").encode())
