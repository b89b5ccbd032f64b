"""What goes wrong and what is doubtful: a family of errors, whose messages name what was found and, mostly, where and
what to do; and warnings, of which a page shows cautions in the text and the readers' own under how it was made.
"""

from __future__ import annotations

import difflib
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

CAUTIONS = "probekit.cautions"  # the logger of ``caution``
LOGGERS = ("probekit.probes", "probekit.contexts", CAUTIONS)


class ProbekitError(Exception):
    """What this package refuses, in words its user can act on; some wrong arguments raise ``ValueError``."""


class ProbeError(ProbekitError, ValueError):
    """A probe, a data file or a data folder does not hold what it should."""


class ModelError(ProbekitError):
    """A model cannot be found, loaded, asked, trained or shipped this way."""


class StoreError(ProbekitError):
    """Results, an index or other files cannot be written or read."""


class ClusterError(ProbekitError):
    """Work cannot be sent to other processes, or one of them could not do it."""


class ReportError(ProbekitError):
    """A notebook, its parameters, the book or the ledger cannot be processed."""


def meant(name: str, names: Iterable[str]) -> str:
    """In brackets, which other name may be meant, as ``(is 'relation' meant?)`` of ``realtion``; or nothing."""
    names = list(names)
    near = [] if name in names else difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.75)
    return f" (is {near[0]!r} meant?)" if near else ""


def counted(count: int, singular: str, plural: str = "") -> str:
    """A number with the noun that agrees with it: ``1 row``, ``2 rows``."""
    return f"{count:,} {singular if count == 1 else plural or f'{singular}s'}"


def said(error: BaseException) -> str:
    """The first line of what a library's error says, else its type."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def once() -> Callable[[logging.LogRecord], bool]:
    """A filter of the log that lets each different message through once."""
    records = dict[str, logging.LogRecord]()
    return lambda record: records.setdefault(record.getMessage(), record) is record


def caution(text: str) -> None:
    """Warn of what may be meant but changes what a result says; a page shows it.

    Args:
        text: a sentence, of a path only its last part.
    """
    logging.getLogger(CAUTIONS).warning("%s", text)


class Messages(logging.Handler):
    """Keeps each different warning once, in order; of a path only its last part, so that it names no machine."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []
        self.cautions: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one warning."""
        given = record.args if isinstance(record.args, tuple) else ()
        text = record.msg % tuple(a.name if isinstance(a, Path) else a for a in given) if given else record.getMessage()
        target = self.cautions if record.name == CAUTIONS else self.texts
        target += [text] * (text not in target)


def listen() -> Messages:
    """Keep warnings from now on; whoever listened before no longer does."""
    messages = Messages()
    for logger in map(logging.getLogger, LOGGERS):
        logger.handlers = [handler for handler in logger.handlers if not isinstance(handler, Messages)] + [messages]
    return messages


@contextmanager
def heard() -> Iterator[Messages]:
    """Inside, what is warned of is kept too, beside whoever else listens."""
    messages = Messages()
    loggers = [logging.getLogger(name) for name in LOGGERS]
    for logger in loggers:
        logger.addHandler(messages)
    try:
        yield messages
    finally:
        for logger in loggers:
            logger.removeHandler(messages)


def warn_again(texts: Iterable[str], cautions: Iterable[str]) -> None:
    """Warn of what was ``heard`` before."""
    for text in texts:
        logging.getLogger(LOGGERS[0]).warning("%s", text)
    for text in cautions:
        caution(text)
