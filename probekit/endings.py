"""How a command ends: what an error says to whoever typed it, the exit status, and the signal that stops it."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from probekit.errors import ProbekitError


class Stopped(KeyboardInterrupt):
    """The system asked the command to end (SIGTERM)."""


@contextmanager
def stoppable() -> Iterator[None]:
    """Let SIGTERM end what runs here as Ctrl-C does, so that kernels, half-written files and locks are cleared away."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _stop(*_: object) -> None:
    raise Stopped


def explained(error: BaseException) -> tuple[str, int]:
    """What an error says to whoever typed the command, and the exit status."""
    import yaml

    first = next(iter(str(error).strip().splitlines()), "")
    if isinstance(error, ProbekitError):
        return str(error), 1
    if isinstance(error, KeyboardInterrupt):
        return "stopped; what was stored is kept, run again to go on", 143 if isinstance(error, Stopped) else 130
    if isinstance(error, BrokenPipeError):  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return "", 141
    if isinstance(error, ModuleNotFoundError):
        name = error.name or "probekit"
        if name.partition(".")[0] not in ("probekit", "notebooks"):
            return f"this needs {name}: pip install 'probekit[book]'", 1
    if isinstance(error, MemoryError):
        return "no memory is left: take a smaller model or fewer prompts; what was stored is kept", 1
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}; see to the path, its permissions and the room on the disk, then run again", 1
    if isinstance(error, yaml.YAMLError):
        return f"a file is not YAML: {' '.join(str(error).split())}", 1
    return f"not foreseen: {type(error).__name__}: {first}\nrun the command again with --debug to see where", 1
