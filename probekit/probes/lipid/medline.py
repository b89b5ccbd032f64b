"""PubMed XML as a stream of abstracts: constant memory, faults counted, nothing fetched from outside the file."""

from __future__ import annotations

import codecs
import logging
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers import expat

from probekit.reading import DEPTH, RECORD, BrokenOff, beyond, blocks, limit

log = logging.getLogger(__name__)

RECORDS, NO_PMID, NO_ABSTRACT = "records", "records without a PMID", "records without an abstract"
DELETED = "DeleteCitation"  # at the end of an update file: PMIDs of records that PubMed took back
BROKEN, NOT_UTF8 = "files broken off (malformed)", "files not UTF-8"
YEAR, NUMBER = re.compile("[0-9]{4}"), re.compile("[0-9]{1,2}")
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


class _Refused(Exception):
    """What stands in a file is not read: a document type of its own, or something beyond a limit."""


class _Utf8:
    """Blocks of a file with bytes that are not UTF-8 replaced by U+FFFD; ``faulty`` tells whether there were any."""

    def __init__(self, path: Path) -> None:
        self.path, self.faulty = path, False
        self.strict, self.lenient = (codecs.getincrementaldecoder("utf-8")(e) for e in ("strict", "replace"))

    def blocks(self) -> Iterator[bytes]:
        for block in blocks(self.path):
            yield self._clean(block, False)
        yield self._clean(b"", True)

    def _clean(self, block: bytes, last: bool) -> bytes:
        if not self.faulty:
            held = self.strict.getstate()
            try:
                return self.strict.decode(block, last).encode()
            except UnicodeDecodeError:
                self.faulty = True
                self.lenient.setstate(held)
        return self.lenient.decode(block, last).encode()


class _Records:
    """The records of a PubMed file from its blocks, each taken apart by itself: nothing is held between them.

    A document type with declarations of its own is refused, as PubMed's have none: entities and default attributes
    can exhaust the memory.
    """

    def __init__(self) -> None:
        self.number = 0
        self.fed = self.at = self.depth = self.outside = 0  # bytes; begin of what is not finished; elements open
        self.wanted, self.fault = "", ""
        self.found: list[ElementTree.Element] = []
        self.builder: ElementTree.TreeBuilder | None = None  # of the record that is open
        self.parser = parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler, parser.SkippedEntityHandler = self._doctype, self._entity
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end

    def feed(self, block: bytes, last: bool) -> list[ElementTree.Element]:
        """The records, and lists of deletions, that end in a block; ``fault`` is why no more can follow."""
        self.found = []
        try:
            self.parser.Parse(block, last)
            self.fed += len(block)
            if self.builder is None:
                self.at = max(self.at, self.parser.CurrentByteIndex)
            if self.fed - self.at > limit(RECORD):
                raise self._beyond("the record", RECORD, "bytes")
        except (expat.ExpatError, _Refused) as error:
            self.fault = str(error)
        return self.found

    def _beyond(self, what: str, most: int, unit: str) -> _Refused:
        return _Refused(beyond(f"record {self.number + 1}", what, most, unit))

    def _doctype(self, name: str, system: str | None, public: str | None, internal: bool) -> None:
        if internal:
            raise _Refused("its document type declares something of its own")

    def _entity(self, name: str, parameter: bool) -> None:
        raise _Refused(f"nothing says what &{name}; stands for")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth > DEPTH and self.depth > limit(DEPTH):
            raise self._beyond("what lies inside each other", DEPTH, "levels")
        if not self.wanted:
            self.wanted = "MedlineCitation" if tag == "MedlineCitationSet" else "PubmedArticle"
        elif self.builder is None and tag in (self.wanted, DELETED):
            self.at, self.outside = self.parser.CurrentByteIndex, self.depth - 1
            self.builder = ElementTree.TreeBuilder()
            self.parser.CharacterDataHandler = self.builder.data
        if self.builder is not None:
            self.builder.start(tag, attributes)

    def _end(self, tag: str) -> None:
        self.depth -= 1
        if self.builder is not None:
            self.builder.end(tag)
            if self.depth == self.outside:
                self.found.append(self.builder.close())
                self.number += 1
                self.builder = self.parser.CharacterDataHandler = None


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
            file yields every whole record before the fault, and so does one with a record beyond the limits of
            ``probekit.reading``; a warning says so.

    Raises:
        ProbeError: the file cannot be opened.
    """
    source, records = _Utf8(path), _Records()
    try:
        for block in source.blocks():
            for element in records.feed(block, not block):
                if element.tag == DELETED:
                    yield from (Citation(pmid, deleted=True) for pmid in map(_pmid, element) if pmid)
                    continue
                counts[RECORDS] += 1
                if found := _citation(element):
                    yield found
                else:
                    counts[NO_PMID] += 1
            if records.fault:
                raise _Refused(records.fault)
    except (_Refused, BrokenOff) as error:
        counts[BROKEN] += 1
        log.warning("%s breaks off after %d records: %s; what stands before is used", path, records.number, error)
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
        if YEAR.fullmatch(year):
            name = month[:3].lower()
            number = MONTHS.index(name) + 1 if name in MONTHS else _within(month, 12)
            return f"{year}-{number:02}-{_within(day, 31):02}"
    return ""


def _within(text: str, most: int) -> int:
    """A number from 1 to ``most`` as a text has it, and 1 where it has none."""
    found = int(text) if NUMBER.fullmatch(text) else 1
    return found if 1 <= found <= most else 1
