"""Where a command writes: what lies there is replaced only by the same command again, or with ``--force``.

A command that writes several files leaves a record of them, ``.made.json``: what made them, and the digest of each. A
file that the record does not know, or that was changed since, is somebody's own and is never deleted.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from probekit.errors import ProbeError, StoreError
from probekit.files import digest, named, refuse_special, sweep, unfinished, write_atomically
from probekit.files.reading import read_object

MADE = ".made.json"
FORCE = "take another folder with --out, or replace it with --force"


def write_output(path: Path, data: bytes, force: bool = False) -> None:
    """Write one file, unless another one is there already.

    Raises:
        StoreError: it is there, holds something else, and ``force`` is not given; or it cannot be written.
    """
    refuse_other(path, force, data)
    sweep(path.parent)
    write_atomically(path, data)


def refuse_other(path: Path, force: bool = False, data: bytes | None = None) -> None:
    """Refuse to write a file where another one is, or what is no file.

    Raises:
        StoreError: something is there that ``force`` does not allow to replace, or cannot be read or written.
    """
    with named(path, "read"):
        refuse_special(path)
        if path.exists() and not force and (data is None or path.read_bytes() != data):
            raise StoreError(f"{path} is there already and holds something else: name another file, or add --force")
    if data is None:  # asked before the work that makes it, which would be in vain
        with named(path, "write"):
            tempfile.TemporaryFile(dir=next(place for place in path.absolute().parents if place.exists())).close()


@contextmanager
def staged(folder: Path, names: Sequence[str], record: str, key: str, force: bool = False) -> Iterator[Path]:
    """A hidden folder to write into, whose content takes its place in ``folder`` only when all went well.

    Of what lies below ``names`` there, the same command's own files are replaced. Others are refused before anything
    is written; with ``force`` they stay, and one whose name is needed gets the ending ``.old``. A failure leaves all as
    it was, without a new folder.

    Args:
        folder: made if need be.
        names: the files and folders in it that the command may write.
        record: where the record of the files lies: a folder among ``names``, or nothing for ``folder`` itself.
        key: of the command, its parameters included.

    Raises:
        StoreError: something else is there, or the folder cannot be written; names it.
    """
    _refuse(folder, names, record, key, force)
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        with named(folder, "write into"):
            folder.mkdir(parents=True, exist_ok=True)
            sweep(folder)
            work = Path(tempfile.mkdtemp(dir=folder, prefix=unfinished(record)))
            work.chmod(0o755)
        try:
            yield work
            with named(folder, "write into"):
                _move(work, folder, names, record, key)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    finally:
        for place in missing:
            with contextlib.suppress(OSError):  # not empty: all went well
                place.rmdir()


def _refuse(folder: Path, names: Sequence[str], record: str, key: str, force: bool) -> None:
    for place in (folder, *folder.parents):
        if place.exists() and not place.is_dir():
            raise StoreError(f"{place} is a file: name a folder after --out")
    with named(folder, "read"):
        made = _record(folder / record)
        present = [] if force else _below(folder, names)
        foreign = [path for path in present if _digest(folder / path) not in made["files"].get(path, [])]
        if foreign:
            more = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
            raise StoreError(f"{folder / foreign[0]}{more} was not made by a run, or was changed since: {FORCE}")
        if present and made["key"] != key:
            raise StoreError(f"{folder / names[0]} is there already, with other models or parameters: {FORCE}")


def _move(work: Path, folder: Path, names: Sequence[str], record: str, key: str) -> None:
    """File by file: what is killed in between leaves whole files, all of them in the record."""
    made, new = _record(folder / record)["files"], _below(work, names)
    old = _below(folder, names)
    fresh = {path: [_digest(work / path)] for path in new}
    recorded = [path for path in old if _digest(folder / path) in made.get(path, [])]
    for path in set(new) & set(old) - set(recorded):
        if _digest(folder / path) not in fresh[path]:
            _put_aside(folder / path)
    both = {path: [*made.get(path, []), *fresh.get(path, [])] for path in sorted({*recorded, *new})}
    _write(folder / record, key, both)
    for path in new:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).replace(folder / path)
    for path in set(recorded) - set(new):
        (folder / path).unlink()
    _write(folder / record, key, fresh)


def _put_aside(path: Path) -> None:
    number, place = 1, path.with_name(f"{path.name}.old")
    while place.exists():
        number, place = number + 1, path.with_name(f"{path.name}.old{number + 1}")
    path.rename(place)


def _below(folder: Path, names: Sequence[str]) -> list[str]:
    """What lies at or below ``names`` and is no folder, seen from ``folder``, without records."""
    paths = [path for name in names for path in (folder / name, *sorted((folder / name).rglob("*")))]
    there = [p for p in paths if p.is_symlink() or (p.exists() and not p.is_dir())]
    return [p.relative_to(folder).as_posix() for p in there if p.name != MADE]


def _record(folder: Path) -> dict[str, Any]:
    """``key`` and ``files`` (name -> digests that it may have) of a record; empty where there is none of this form."""
    with contextlib.suppress(ProbeError, TypeError, KeyError, AttributeError):
        record = read_object(folder / MADE)
        return {"key": str(record["key"]), "files": {name: list(may) for name, may in record["files"].items()}}
    return {"key": "", "files": {}}


def _write(folder: Path, key: str, files: dict[str, list[str]]) -> None:
    write_atomically(folder / MADE, (json.dumps({"key": key, "files": files}, indent=1) + "\n").encode())


def _digest(path: Path) -> str:
    return digest(path.read_bytes()) if path.is_file() else ""
