"""PubMed's files as NCBI publishes them, update files after a day or the yearly ones by number, checked by MD5."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from probekit.errors import ProbeError
from probekit.files import alone, named
from probekit.files.progress import bar
from probekit.probes.download import download, text_at
from probekit.probes.lipid.build import is_day

BASE = "https://ftp.ncbi.nlm.nih.gov/pubmed/updatefiles/"
BASELINE = "https://ftp.ncbi.nlm.nih.gov/pubmed/baseline/"
NOTICE = """PubMed files, courtesy of the U.S. National Library of Medicine
Licence: NLM's terms and conditions; abstracts may be under copyright
https://www.nlm.nih.gov/databases/download/terms_and_conditions.html"""
LISTED = re.compile(r'href="([\w.-]+\.xml\.gz)"[^\n]*?\b(\d{4}-\d\d-\d\d)\b')  # one file a line, as Apache lists them
NUMBERED = re.compile(r'href="((?:pubmed|medline)\d\dn(\d{4})\.xml\.gz)"')
SUM = re.compile(r"\b([0-9a-f]{32})\s*$", re.IGNORECASE)  # MD5(NAME)= SUM


def fetch_updates(after: str, into: Path, accept: Callable[[str], bool], base: str = BASE) -> list[Path]:
    """Download the files that the folder lists with a date later than a day (paper 001, section 3.2.3, first step).

    A file is streamed to ``.NAME.part`` and gets its name when its MD5 is right. A part that was cut off is taken up
    where it ends, if the server can; files that are there and right are left alone. Calls into one folder wait for each
    other.

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
    if not is_day(after):
        raise ProbeError(f"after takes a day as YYYY-MM-DD, not {after!r}")
    base = _agreed(base, accept)
    listed = dict(LISTED.findall(text_at(base)))
    later = sorted(name for name, day in listed.items() if day > after)
    if not later:
        last = f"the last of {len(listed)} is of {max(listed.values())}" if listed else "none is listed with a date"
        raise ProbeError(f"{base} lists no .xml.gz file later than {after}: {last}")
    return _all(base, later, into)


def fetch_baseline(
    numbers: Sequence[int], into: Path, accept: Callable[[str], bool], base: str = BASELINE
) -> list[Path]:
    """Download files of the yearly baseline, which holds all of PubMed, by their numbers; else as ``fetch_updates``.

    Args:
        numbers: from 1; the files' names end in them.

    Raises:
        ProbeError: as there, or a number that is not listed; nothing is fetched then.
    """
    base = _agreed(base, accept)
    listed = {int(number): name for name, number in NUMBERED.findall(text_at(base))}
    if unlisted := [number for number in numbers if number not in listed]:
        listing = f"it has {min(listed)} to {max(listed)}" if listed else "it lists none"
        raise ProbeError(f"{base} lists no file of number {unlisted[0]}: {listing}")
    return _all(base, sorted(listed[number] for number in set(numbers)), into)


def _agreed(base: str, accept: Callable[[str], bool]) -> str:
    if not accept(NOTICE):
        raise ProbeError("PubMed's files were not fetched: the licence was not accepted")
    return base.rstrip("/") + "/"


def _all(base: str, names: list[str], into: Path) -> list[Path]:
    with named(into, "write to"), alone(into, "the files", ".fetch.lock", wait=True):
        for name in bar("PubMed", len(names), " files", items=names):
            if not (md5 := SUM.search(text_at(f"{base}{name}.md5"))):
                raise ProbeError(f"{base}{name}.md5 holds no MD5 sum; the file was not fetched")
            download(base + name, into / name, "md5", md5[1].lower())
    return [into / name for name in names]
