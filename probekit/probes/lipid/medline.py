"""PubMed XML as a stream of abstracts: constant memory, faults counted, nothing fetched from outside the file."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import logging
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from xml.etree import ElementTree
from xml.parsers import expat

from probekit.errors import ProbeError

log = logging.getLogger(__name__)

RECORDS, NO_PMID, NO_ABSTRACT = "records", "records without a PMID", "records without an abstract"
DELETED = "DeleteCitation"  # at the end of an update file: PMIDs of records that PubMed took back
BROKEN, NOT_UTF8 = "files broken off (malformed)", "files not UTF-8"
BLOCK = 1 << 18
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@dataclass(frozen=True)
class Citation:
    """One record. ``date`` is ISO, or empty where it holds none; ``sections`` are the abstract's parts, if it has one.

    ``deleted`` is a notice that PubMed has taken the record back, and holds nothing else.
    """

    pmid: int
    date: str = ""
    title: str = ""
    sections: tuple[str, ...] = ()
    deleted: bool = False


class _Declared(Exception):
    """A document type that declares entities of its own."""


class _Utf8:
    """Blocks of a file with bytes that are not UTF-8 replaced by U+FFFD; ``faulty`` tells whether there were any."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.faulty = file, False
        self.strict, self.lenient = (codecs.getincrementaldecoder("utf-8")(e) for e in ("strict", "replace"))

    def blocks(self) -> Iterator[str]:
        while True:
            block = self.file.read(BLOCK)
            if self.faulty:
                yield self.lenient.decode(block, not block)
            else:
                held = self.strict.getstate()
                try:
                    yield self.strict.decode(block, not block)
                except UnicodeDecodeError:
                    self.faulty = True
                    self.lenient.setstate(held)
                    yield self.lenient.decode(block, not block)
            if not block:
                return


def _root(text: str) -> str:
    """Name of the root of a document that begins with ``text``; empty where it is still to come.

    A document that declares entities is refused: PubMed's never do, and their expansion can exhaust the memory.
    """
    names: list[str] = []

    def declared(*_: object) -> None:
        raise _Declared("it declares entities of its own")

    parser = expat.ParserCreate("utf-8")
    parser.EntityDeclHandler = declared
    parser.StartElementHandler = lambda name, _: names.append(name)
    with contextlib.suppress(expat.ExpatError):  # the reader proper reports it
        parser.Parse(text, False)
    return names[0] if names else ""


def _open(path: Path) -> IO[bytes]:
    try:
        file = path.open("rb")
        zipped = file.read(2) == b"\x1f\x8b"
        file.seek(0)
    except OSError as error:
        raise ProbeError(f"cannot read {path}: {error.strerror}") from error
    return gzip.GzipFile(fileobj=file) if zipped else file  # type: ignore[return-value]


def read_medline(path: Path, counts: Counter[str]) -> Iterator[Citation]:
    """The records of a PubMed file that have a PMID and an abstract, in file order; see ``read_records``.

    Args:
        counts: raised as there, and by the records without an abstract.
    """
    for record in read_records(path, counts):
        if record.sections:
            yield record
        elif not record.deleted:
            counts[NO_ABSTRACT] += 1


def read_records(path: Path, counts: Counter[str]) -> Iterator[Citation]:
    """All records of a PubMed file (``.xml``, or gzipped) that have a PMID, and its deletions, in file order.

    Args:
        path: of ``PubmedArticleSet`` (baseline and update files) or ``MedlineCitationSet`` (before 2017).
        counts: raised by what was met: records, those without PMID, a file that breaks off or is not UTF-8. A broken
            file yields what stands before the fault.

    Raises:
        ProbeError: the file cannot be opened.
    """
    with _open(path) as file:
        source = _Utf8(file)
        parser: Any = ElementTree.XMLPullParser(("end",))
        try:
            root = prolog = ""
            for block in source.blocks():
                if not root:
                    prolog += block
                    root = _root(prolog)
                parser.feed(block)
                wanted = "MedlineCitation" if root == "MedlineCitationSet" else "PubmedArticle"
                for _, element in parser.read_events():
                    if element.tag == wanted:
                        counts[RECORDS] += 1
                        if found := _citation(element):
                            yield found
                        else:
                            counts[NO_PMID] += 1
                        element.clear()
                    elif element.tag == DELETED:
                        yield from (Citation(pmid, deleted=True) for pmid in map(_pmid, element) if pmid)
                        element.clear()
            parser.close()
        except (ElementTree.ParseError, _Declared, EOFError, zlib.error, OSError) as error:
            counts[BROKEN] += 1
            log.warning("%s breaks off: %s; what stands before is used", path, error)
        if source.faulty:
            counts[NOT_UTF8] += 1
            log.warning("%s is not all UTF-8; the bytes that are not were replaced", path)


def _flat(element: ElementTree.Element | None) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())


def _pmid(element: ElementTree.Element | None) -> int:
    """The number that a ``PMID`` holds, 0 where it holds none."""
    text = _flat(element)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else 0


def _citation(record: ElementTree.Element) -> Citation | None:
    citation = record.find("MedlineCitation") if record.tag == "PubmedArticle" else record
    pmid = _pmid(citation.find("PMID")) if citation is not None else 0
    if citation is None or not pmid:
        return None
    sections = tuple(filter(None, map(_flat, citation.iterfind("Article/Abstract/AbstractText"))))
    return Citation(pmid, _date(record, citation), _flat(citation.find("Article/ArticleTitle")), sections)


def _date(record: ElementTree.Element, citation: ElementTree.Element) -> str:
    """When the record came to PubMed, else the next best date; an incomplete one counts as its first day."""
    history = {d.get("PubStatus"): d for d in record.iterfind("PubmedData/History/PubMedPubDate")}
    others = ("DateCreated", "Article/ArticleDate", "Article/Journal/JournalIssue/PubDate", "DateCompleted")
    for element in (history.get("entrez"), history.get("pubmed"), *map(citation.find, others)):
        if element is None:
            continue
        year, month, day = (_flat(element.find(part)) for part in ("Year", "Month", "Day"))
        year = year or _flat(element.find("MedlineDate"))[:4]
        if year.isdigit() and len(year) == 4:
            name = month[:3].lower()
            number = int(month) if month.isdigit() else MONTHS.index(name) + 1 if name in MONTHS else 1
            return f"{year}-{number:02}-{int(day) if day.isdigit() else 1:02}"
    return ""
