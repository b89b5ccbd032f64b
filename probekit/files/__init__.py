"""Files: the cache folder, whole-or-nothing writes, what killed runs left unfinished, digests."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import socket
import tempfile
import time
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from probekit.errors import StoreError

UNFINISHED = re.compile(r"\.(?:.*@(?P<host>[\w.-]*)@(?P<process>\d+)@\w+|\w{8}\.part)(?:\.part)?")  # see ``unfinished``
OLD = 7 * 24 * 3600  # seconds after which nobody is still at it, where no process can be asked


def cache_folder() -> Path:
    """``PROBEKIT_CACHE``, else ``probekit`` in the user's cache folder (``XDG_CACHE_HOME`` or ``~/.cache``)."""
    given = os.environ.get("PROBEKIT_CACHE")
    return Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "probekit"


def digest(*parts: bytes | str, length: int = 16) -> str:
    """Hexadecimal BLAKE2b digest of the parts, in order, each with its length (so that no two splits collide)."""
    return digest_of(parts, length)


def digest_of(parts: Iterable[bytes | str | memoryview], length: int = 16) -> str:
    """``digest`` of parts of which one at a time need be in memory."""
    state = hashlib.blake2b(digest_size=length // 2)
    for chunk in parts:
        data = chunk.encode() if isinstance(chunk, str) else chunk
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


def contents(place: Path) -> Iterator[bytes | str]:
    """Names and bytes of all files below a place but hidden ones, as locks, in a fixed order."""
    files = [place] if place.is_file() else sorted(p for p in place.rglob("*") if p.is_file())
    for file in files:
        if file.suffix != ".pyc" and not file.name.startswith("."):
            yield file.relative_to(place.parent).as_posix()
            yield file.read_bytes()


def canonical(value: Any) -> str:
    """One JSON text for equal values, whatever the order of their keys."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def unfinished(name: str = "") -> str:
    """How the name of something half written begins: hidden, and with the host and the process that write it."""
    return f".{name}@{_host()}@{os.getpid()}@"


def sweep(folder: Path) -> list[Path]:
    """Remove from a folder the unfinished files of processes that have ended; what cannot be removed stays.

    Whether a process of this host runs is looked up. One of another host or container, of before the last start, or
    whose number was given again, counts as ended when nothing was written for a week; so does a file without a writer.

    Returns:
        What was removed.
    """
    leftovers, removed = [], []
    with contextlib.suppress(OSError):
        leftovers = [(path, match) for path in sorted(folder.iterdir()) if (match := UNFINISHED.fullmatch(path.name))]
    for path, match in leftovers:
        with contextlib.suppress(OSError):
            if _abandoned(path, match["host"], match["process"]):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
                removed.append(path)
    return removed


def _abandoned(path: Path, host: str | None, process: str | None) -> bool:
    if host == _host() and process and os.name == "posix" and not _runs(int(process)):
        return True
    inside = path.rglob("*") if path.is_dir() else ()
    return time.time() - max(file.stat().st_mtime for file in (path, *inside)) > OLD


@cache
def _host() -> str:
    """Where a process number means one process: the host since its start, or a container on it."""
    boot = ""
    with contextlib.suppress(OSError):  # Linux alone tells these
        start = Path("/proc/sys/kernel/random/boot_id").read_text()
        boot = digest(start, os.readlink("/proc/self/ns/pid"), length=8)
    return re.sub(r"[^\w.-]", "_", f"{socket.gethostname()}-{boot}")


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # of another user
        return True
    return True


def refuse_special(path: Path) -> None:
    """Refuse to write a file where something else is: a folder, a device, a pipe or a socket.

    Raises:
        StoreError: it is; names it.
    """
    if path.exists() and not path.is_file():
        raise StoreError(f"{path} is {'a folder' if path.is_dir() else 'no plain file'}: name a file")


@contextlib.contextmanager
def alone(folder: Path, what: str, name: str = ".lock", wait: bool = False) -> Iterator[None]:
    """Inside, no other process makes ``what`` in a folder; it is free again when this one ends, however it does.

    Args:
        name: of the file that is locked.
        wait: until another process ends, in place of an error.

    Raises:
        StoreError: another process is at it, or the folder cannot be written.
    """
    from filelock import FileLock, Timeout

    with named(folder, "write"):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / name, timeout=-1 if wait else 0)
        try:
            lock.acquire()
        except Timeout as error:
            raise StoreError(f"another process makes {what} in {folder}: let it end, then run again") from error
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def named(path: Path, verb: str) -> Iterator[None]:
    """Inside, what the system refuses is a StoreError that names the path, and what could not be done with it."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"cannot {verb} {path}: {error.strerror or error}; make room or choose another folder, "
            "then run again: what was finished is kept"
        ) from error


@contextlib.contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """A folder to fill; at the end of the block it takes the place of ``out``, which appears whole or not at all.

    Raises:
        StoreError: it cannot be written; ``out`` is then as it was.
    """
    made = None
    try:
        with named(out, "write"):
            out.parent.mkdir(parents=True, exist_ok=True)
            made = Path(tempfile.mkdtemp(dir=out.parent, prefix=unfinished(out.name)))
            yield made
            for path in made.iterdir():
                path.chmod(0o644)
            made.chmod(0o755)
            shutil.rmtree(out, ignore_errors=True)
            made.replace(out)
    finally:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)


def write_atomically(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path``: a reader finds the whole file or none, also after a crash.

    Where ``path`` is a link, it stays, and the file that it leads to is written.

    Raises:
        StoreError: the folder cannot be written, the disk is full, or something that is no file is there; ``path`` is
            then as it was.
    """
    temporary = None
    try:
        with named(path, "write"):
            refuse_special(path)
            target = Path(os.path.realpath(path))
            target.parent.mkdir(parents=True, exist_ok=True)
            where, begin = target.parent, unfinished()
            with tempfile.NamedTemporaryFile(dir=where, prefix=begin, suffix=".part", delete=False) as file:
                temporary = Path(file.name)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(0o644)
            temporary.replace(target)
    finally:
        if temporary is not None:  # gone when all went well; left by any failure, a killed run's interrupt included
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
