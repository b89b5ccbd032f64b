"""The one family of errors; each message names what was found, where, and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class ProbekitError(Exception):
    """Anything this package refuses, in words its user can act on."""


class ProbeError(ProbekitError, ValueError):
    """A probe, a data file or a data folder does not hold what it should."""


class ModelError(ProbekitError):
    """A model cannot be found, loaded, or asked this way."""


class StoreError(ProbekitError):
    """Results cannot be written or read."""


class ClusterError(ProbekitError):
    """Work cannot be sent to other processes, or one of them could not do it."""


class ReportError(ProbekitError):
    """A notebook, its parameters, the book or the ledger cannot be processed."""


def meant(name: str, known: Iterable[str]) -> str:
    """Which known name may be meant by one that is not: of ``realtion``, a question after ``relation`` in brackets."""
    near = difflib.get_close_matches(name.lower(), [one for one in known if one != name], n=1, cutoff=0.75)
    return f" (is {near[0]!r} meant?)" if near else ""


def said(error: BaseException) -> str:
    """The first line of what a library's error says, else its type."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
