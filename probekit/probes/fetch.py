"""Public data by name: addresses, and hashes where one is known, the licence shown first, no wrong download kept."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from probekit.errors import ProbeError, meant
from probekit.files import alone, named, write_atomically
from probekit.files.reading import file_digest, read_object, tar_files
from probekit.probes.data import data_root
from probekit.probes.download import download

HASHES = ".fetched.json"  # in the data folder: hashes of what came without one that is known, and of what it held
UNPACKED = ".jsonl"  # so ends what is taken from an archive


@cache
def sources() -> dict[str, dict[str, Any]]:
    """Downloadable data sets by name: title, licence, base address, and files with their SHA-256, or an archive."""
    return dict(yaml.safe_load((files("probekit.probes") / "sources.yml").read_text("utf-8")))


def fetch(
    name: str,
    accept: Callable[[str], bool],
    into: Path | None = None,
    base: str | None = None,
    trust: bool = False,
) -> list[Path]:
    """Download a data set in its publisher's layout; files that are there and right are left alone.

    Args:
        name: of ``sources()``.
        accept: is shown title and licence, and answers whether the user takes them.
        into: the data folder; ``data_root()`` by default.
        base: another address that serves the same files, such as a mirror of your own.
        trust: take a file of which no hash is known; its hash is kept, and any other content refused from then on.

    Returns:
        The files, all present and of the right hash; what of an archive was there before is kept unchecked.

    Raises:
        ProbeError: unknown name, licence not accepted, a file without a known hash, or a download that fails or has
            another hash (it is not kept).
        StoreError: the folder cannot be written.
    """
    folder = into or data_root()
    if present := at_hand(name, folder):
        return present
    source = sources()[name]
    notice = f"{source['title']}\nLicence: {source['licence']}\n{source['licence_url']}\n{source['missing']}"
    if not accept(notice):
        raise ProbeError(f"{name} was not fetched: its licence was not accepted")
    at = (base or source["base"]).rstrip("/") + "/"
    with named(folder, "write to"), alone(folder, "the files", ".fetch.lock", wait=True):
        if "archive" in source:
            return at_hand(name, folder) or _archive(source, at, folder, trust)
        for relative, file in source["files"].items():
            download(at + file["path"], folder / relative, expected=file["sha256"])
    return [folder / relative for relative in source["files"]]


def at_hand(name: str, folder: Path) -> list[Path]:
    """The files of a data set, where a data folder holds all of them and they are right; else none.

    Raises:
        ProbeError: unknown name, or a file that cannot be read.
    """
    known = sources()
    if name not in known:
        raise ProbeError(f"nothing called {name!r} can be fetched{meant(name, known)}; there is {', '.join(known)}")
    if "archive" in known[name]:
        record = read_object(folder / HASHES) if (folder / HASHES).is_file() else {}
        digests = record.get(known[name]["archive"]["path"], {}).get("files", {})
    else:
        digests = {relative: file["sha256"] for relative, file in known[name]["files"].items()}
    paths = [_holding(folder / relative, expected) for relative, expected in digests.items()]
    return [path for path in paths if path] if all(paths) else []


def _holding(path: Path, expected: str) -> Path | None:
    """The file, or a packed one beside it, whose content has this SHA-256; any content will do where none is given."""
    if path.is_file() and (not expected or file_digest(path) == expected):
        return path
    with suppress(OSError, EOFError, zlib.error), gzip.open(f"{path}.gz") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() == expected:
            return path.with_name(f"{path.name}.gz")
    return None


def _archive(source: Mapping[str, Any], at: str, folder: Path, trust: bool) -> list[Path]:
    """Fetch a ``.tar.gz`` and take from it the files below the folders that the source names; those there stay."""
    record = read_object(folder / HASHES) if (folder / HASHES).is_file() else {}
    address = at + source["archive"]["path"]
    entry = record.get(source["archive"]["path"], {})
    expected = source["archive"].get("sha256") or entry.get("sha256", "")
    if not expected and not trust:
        raise ProbeError(
            f"no hash of {address} is known, so nobody vouches for what comes: add --trust to take it and keep its hash"
        )
    local = folder / f".{address.rpartition('/')[2].rpartition('=')[2]}"
    received = download(address, local, expected=expected)
    digests = dict[str, str]()
    place_of = partial(_unpacked, source["unpack"])
    try:
        for name, data in tar_files(local, lambda name: bool(place_of(name))):
            path = folder / place_of(name)
            if not path.is_file():
                write_atomically(path, data)
            digests[place_of(name)] = file_digest(path)
    finally:
        local.unlink(missing_ok=True)
    if not digests:
        raise ProbeError(f"{address} holds no {UNPACKED} file below {', '.join(source['unpack'].values())}")
    record[source["archive"]["path"]] = {"sha256": received, "files": digests}
    write_atomically(folder / HASHES, json.dumps(record, indent=1).encode())
    return [folder / relative for relative in digests]


def _unpacked(unpack: Mapping[str, str], name: str) -> str:
    """Where a file of an archive belongs below the data folder; empty where it is not taken."""
    folders = [(place, f"{begin}/") for place, begin in unpack.items() if name.startswith(f"{begin}/")]
    places = [f"{place}/{name.removeprefix(begin)}" for place, begin in folders if name.endswith(UNPACKED)]
    return places[0] if places else ""


def holding(relative: str) -> str:
    """The name of the data set that a path below the data folder comes with, or of the one that its first folder is
    named after; else empty."""
    listed = sources()
    for name, source in listed.items():
        places = [*source.get("files", ()), *source.get("unpack", ())]
        if relative in places or any(relative.startswith(f"{place}/") for place in source.get("unpack", ())):
            return name
    top = relative.partition("/")[0]
    return top if top in listed else ""


def listing(into: Path | None = None) -> Iterator[str]:
    """What there is to fetch, some lines each: size, files at hand or an archive, pinned, tried, address, licence."""
    folder = into or data_root()
    for name, source in sources().items():
        listed = source.get("files", {})
        pinned = all(file.get("sha256") for file in listed.values()) if listed else "sha256" in source["archive"]
        present = sum((folder / path).is_file() or (folder / f"{path}.gz").is_file() for path in listed)
        parts = [
            f"{source['size'] / 1e6:,.1f} MB" if source["size"] else "size not known",
            f"{len(listed):,} files, {present:,} at hand" if listed else "an archive",
            "pinned" if pinned else "not pinned: needs --trust",
            "download tried" if source["tried"] else "download never tried",
        ]
        yield f"{name:20} {'; '.join(parts)}"
        address = source["base"] + source.get("archive", {}).get("path", "")
        yield from (
            f"    {line}" for line in (source["title"], address, f"{source['licence']}, {source['licence_url']}")
        )
