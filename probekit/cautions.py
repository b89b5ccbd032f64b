"""What is warned of while a page runs: cautions for its first lines, the readers' warnings for how it was made."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

CAUTIONS = "probekit.cautions"  # the logger of ``caution``
LOGGERS = ("probekit.probes", "probekit.contexts", CAUTIONS)


def caution(text: str) -> None:
    """Warn of what may be meant but changes what a result says; a page shows it in its first lines.

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
        kept = self.cautions if record.name == CAUTIONS else self.texts
        kept += [text] * (text not in kept)


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
