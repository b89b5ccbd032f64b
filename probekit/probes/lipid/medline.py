"""PubMed's records: their PMID, date, title and abstract."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from probekit.probes.xml_records import ARTICLE, DELETED, elements, flat

RECORDS, NO_PMID, NO_ABSTRACT = "records", "records without a PMID", "records without an abstract"
NOTICES = "notices of deleted records"
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


def abstracts(element: ElementTree.Element, counts: Counter[str]) -> Iterator[Citation]:
    """The records of an element (see ``xml_records.elements``) that have a PMID; counted are those without an abstract,
    and notices of deletion."""
    for record in _citations(element, counts):
        if record.deleted:
            counts[NOTICES] += 1
        elif not record.sections:
            counts[NO_ABSTRACT] += 1
        yield record


def read_records(path: Path, counts: Counter[str]) -> Iterator[Citation]:
    """All records of a PubMed file (``.xml``, or gzipped) that have a PMID, and its deletions, in file order.

    Args:
        path: of ``PubmedArticleSet`` (baseline and update files) or ``MedlineCitationSet`` (before 2017).
        counts: raised by what was met: records, those without PMID, and the faults of ``xml_records.elements``.

    Raises:
        ProbeError: the file cannot be opened.
    """
    for element in elements(path, counts):
        yield from _citations(element, counts)


def _citations(element: ElementTree.Element, counts: Counter[str]) -> Iterator[Citation]:
    if element.tag == DELETED:
        yield from (Citation(pmid, deleted=True) for pmid in map(_pmid, element) if pmid)
    elif element.tag != ARTICLE:
        counts[RECORDS] += 1
        if citation := _citation(element):
            yield citation
        else:
            counts[NO_PMID] += 1


def _pmid(element: ElementTree.Element | None) -> int:
    """The number that a ``PMID`` holds, 0 where it holds none."""
    text = flat(element)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else 0


def _citation(record: ElementTree.Element) -> Citation | None:
    citation = record.find("MedlineCitation") if record.tag == "PubmedArticle" else record
    pmid = _pmid(citation.find("PMID")) if citation is not None else 0
    if citation is None or not pmid:
        return None
    sections = tuple(filter(None, map(flat, citation.iterfind("Article/Abstract/AbstractText"))))
    return Citation(pmid, _date(record, citation), flat(citation.find("Article/ArticleTitle")), sections)


def _date(record: ElementTree.Element, citation: ElementTree.Element) -> str:
    """When the record came to PubMed, else the next best date; an incomplete one counts as its first day."""
    history = {d.get("PubStatus"): d for d in record.iterfind("PubmedData/History/PubMedPubDate")}
    others = ("DateCreated", "Article/ArticleDate", "Article/Journal/JournalIssue/PubDate", "DateCompleted")
    for element in (history.get("entrez"), history.get("pubmed"), *map(citation.find, others)):
        if element is None:
            continue
        year, month, day = (flat(element.find(field)) for field in ("Year", "Month", "Day"))
        year = year or flat(element.find("MedlineDate"))[:4]
        if YEAR.fullmatch(year):
            name = month[:3].lower()
            number = MONTHS.index(name) + 1 if name in MONTHS else _within(month, 12)
            return f"{year}-{number:02}-{_within(day, 31):02}"
    return ""


def _within(text: str, most: int) -> int:
    """A number from 1 to ``most`` as a text has it, and 1 where it has none."""
    number = int(text) if NUMBER.fullmatch(text) else 1
    return number if 1 <= number <= most else 1
