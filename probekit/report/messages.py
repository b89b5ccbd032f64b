"""What the readers of data warn of while a page runs, kept for its provenance table."""

from __future__ import annotations

import logging
from pathlib import Path

READERS = ("probekit.probes", "probekit.contexts")


class Messages(logging.Handler):
    """Keeps each different warning once, in order; of a path only its last part, so that it names no machine."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one warning."""
        given = record.args if isinstance(record.args, tuple) else ()
        told = record.msg % tuple(a.name if isinstance(a, Path) else a for a in given) if given else record.getMessage()
        if told not in self.texts:
            self.texts.append(told)


def listen() -> Messages:
    """Keep the readers' warnings from now on; whoever listened before no longer does."""
    messages = Messages()
    for name in READERS:
        logger = logging.getLogger(name)
        for handler in [handler for handler in logger.handlers if isinstance(handler, Messages)]:
            logger.removeHandler(handler)
        logger.addHandler(messages)
    return messages
