"""PubMed's daily update files, as NCBI publishes them: those after a day, each checked against its MD5 file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probekit.errors import ProbeError, StoreError
from probekit.probes.lipid.build import is_day
from probekit.progress import bar

if TYPE_CHECKING:
    from requests import Response

BASE = "https://ftp.ncbi.nlm.nih.gov/pubmed/updatefiles/"
NOTICE = """PubMed update files, courtesy of the U.S. National Library of Medicine
Licence: NLM's terms and conditions; abstracts may be under copyright
https://www.nlm.nih.gov/databases/download/terms_and_conditions.html"""
LISTED = re.compile(r'href="([\w.-]+\.xml\.gz)"[^\n]*?\b(\d{4}-\d\d-\d\d)\b')  # one file a line, as Apache lists them
SUM = re.compile(r"\b([0-9a-f]{32})\s*$", re.IGNORECASE)  # MD5(NAME)= SUM
SECONDS = 60  # without an answer
BLOCK = 1 << 20


def fetch_updates(after: str, into: Path, accept: Callable[[str], bool], base: str = BASE) -> list[Path]:
    """Download the files that the folder lists with a date later than a day (paper 001, section 3.2.3, first step).

    A file is streamed to ``.NAME.part`` and gets its name when its MD5 is right. A part that was cut off is taken up
    where it ends; files that are there and right are left alone. Calls at the same time wait for each other.

    Args:
        after: YYYY-MM-DD. The date listed is the day of publication; ``build`` looks at that of each record.
        into: folder, made if need be.
        accept: is shown title and licence, and answers whether the user takes them.
        base: address of the folder, or of a mirror that lists name and date of each file on one line.

    Returns:
        The files, by name, which is the order in which ``build`` must read them.

    Raises:
        ProbeError: no such day, licence not accepted, a listing without such files, a download that fails (its part is
            kept) or has another MD5 (it is not kept).
        StoreError: ``into`` cannot be written.
    """
    from filelock import FileLock

    if not is_day(after):
        raise ProbeError(f"after takes a day as YYYY-MM-DD, not {after!r}")
    if not accept(NOTICE):
        raise ProbeError("PubMed's files were not fetched: the licence was not accepted")
    base = base.rstrip("/") + "/"
    listed = dict(LISTED.findall(_text(base)))
    wanted = sorted(name for name, day in listed.items() if day > after)
    if not wanted:
        last = f"the last of {len(listed)} is of {max(listed.values())}" if listed else "none is listed with a date"
        raise ProbeError(f"{base} lists no .xml.gz file later than {after}: {last}")
    try:
        into.mkdir(parents=True, exist_ok=True)
        with FileLock(into / ".fetch.lock"):
            return [_fetch(base + name, into / name) for name in _bar(wanted)]
    except OSError as error:
        raise StoreError(f"cannot write to {into}: {error.strerror or error}; what was fetched is kept") from error


def _bar(names: list[str]) -> Iterable[str]:
    shown: Iterable[str] = bar("PubMed", len(names), " files", items=names)
    return shown


def _get(address: str, **options: Any) -> Response:
    import requests

    headers = {"Accept-Encoding": "identity", **options.pop("headers", {})}
    try:
        response = requests.get(address, timeout=SECONDS, headers=headers, **options)
        if response.status_code != 416:
            response.raise_for_status()
    except requests.RequestException as error:
        raise _failed(address, error) from error
    return response


def _text(address: str) -> str:
    return str(_get(address).text)


def _failed(address: str, error: Exception) -> ProbeError:
    said = str(error).splitlines()[0]
    return ProbeError(f"cannot fetch {address}: {said}; what was fetched before is kept, run again")


def _md5(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _fetch(address: str, path: Path) -> Path:
    found = SUM.search(_text(address + ".md5"))
    if not found:
        raise ProbeError(f"{address}.md5 holds no MD5 sum; the file was not fetched")
    expected, part = found[1].lower(), path.with_name(f".{path.name}.part")
    if path.is_file() and _md5(path) == expected:
        return path
    _stream(address, part)
    if _md5(part) != expected:
        part.unlink()
        raise ProbeError(f"{address}: the MD5 of what came is not the one published; nothing of it is kept, run again")
    part.replace(path)
    return path


def _stream(address: str, part: Path) -> None:
    """Bring ``part`` to its full length, from where it ends if the server can send a part of a file."""
    from urllib3.exceptions import HTTPError

    size = part.stat().st_size if part.is_file() else 0
    with _get(address, stream=True, headers={"Range": f"bytes={size}-"} if size else {}) as response:
        if response.status_code == 416:  # nothing is left to send
            return
        with part.open("ab" if response.status_code == 206 else "wb") as file:
            try:
                for block in response.raw.stream(BLOCK, decode_content=False):
                    file.write(block)
            except HTTPError as error:
                raise _failed(address, error) from error
