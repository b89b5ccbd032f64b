"""XML of PubMed and PMC as a stream of records: constant memory, faults counted, nothing fetched from outside."""

from __future__ import annotations

import codecs
import logging
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers import expat

from probekit.files.reading import DEPTH, RECORD, BrokenOff, beyond, blocks, limit

log = logging.getLogger(__name__)

BROKEN, NOT_UTF8 = "files broken off (malformed)", "files not UTF-8"
DELETED = "DeleteCitation"  # at the end of an update file: PMIDs of records that PubMed took back
ARTICLE = "article"  # of JATS; the root of a file, or one of many in it


class _Refused(Exception):
    """What stands in a file is not read: a document type of its own, or something beyond a limit."""


class _Utf8:
    """Blocks of a file with bytes that are not UTF-8 replaced by U+FFFD; ``faulty`` tells whether there were any."""

    def __init__(self, path: Path) -> None:
        self.path, self.faulty = path, False

    def blocks(self) -> Iterator[bytes]:
        """The blocks, and an empty one at the end."""
        decoder, sign = codecs.getincrementaldecoder("utf-8")("replace"), "\ufffd"
        for block in chain(blocks(self.path), [b""]):
            held = decoder.getstate()[0] + block
            text = decoder.decode(block, not block)
            self.faulty |= text.count(sign) > held.count(sign.encode())
            if text:
                yield text.encode()
        yield b""


class _Records:
    """The records of a file from its blocks, each taken apart by itself: nothing is held between them.

    A document type with declarations of its own is refused, as published files have none: entities and default
    attributes can exhaust the memory.
    """

    def __init__(self) -> None:
        self.number = 0
        self.fed = self.at = self.depth = self.outside = 0  # bytes; begin of what is not finished; elements open
        self.wanted, self.fault = tuple[str, ...](), ""
        self.finished: list[ElementTree.Element] = []
        self.builder: ElementTree.TreeBuilder | None = None  # of the record that is open
        self.parser = parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler, parser.SkippedEntityHandler = self._doctype, self._entity
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end

    def feed(self, block: bytes, last: bool) -> list[ElementTree.Element]:
        """The records, and lists of deletions, that end in a block; ``fault`` is why no more can follow."""
        self.finished = []
        try:
            self.parser.Parse(block, last)
            self.fed += len(block)
            if self.builder is None:
                self.at = max(self.at, self.parser.CurrentByteIndex)
            if self.fed - self.at > limit(RECORD):
                raise self._beyond("the record", RECORD, "bytes")
        except (expat.ExpatError, _Refused) as error:
            self.fault = str(error)
        return self.finished

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
            self.wanted = ("MedlineCitation" if tag == "MedlineCitationSet" else "PubmedArticle", ARTICLE, DELETED)
        if self.builder is None and tag in self.wanted:
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
                self.finished.append(self.builder.close())
                self.number += 1
                self.builder = self.parser.CharacterDataHandler = None


def elements(path: Path, counts: Counter[str]) -> Iterator[ElementTree.Element]:
    """The records of a file (``.xml``, or gzipped) in order: ``PubmedArticle``, or ``MedlineCitation`` in a file of
    before 2017; ``DeleteCitation``; and JATS's ``article``.

    Args:
        counts: raised by a file that breaks off or is not UTF-8. A broken file yields every whole record before the
            fault, and so does one with a record beyond the limits of ``probekit.files.reading``; a warning says so.

    Raises:
        ProbeError: the file cannot be opened.
    """
    source, records = _Utf8(path), _Records()
    try:
        for block in source.blocks():
            yield from records.feed(block, not block)
            if records.fault:
                raise _Refused(records.fault)
    except (_Refused, BrokenOff) as error:
        counts[BROKEN] += 1
        log.warning("%s breaks off after %d records: %s; what stands before is used", path, records.number, error)
    if source.faulty:
        counts[NOT_UTF8] += 1
        log.warning("%s is not all UTF-8; the bytes that are not were replaced", path)


def flat(element: ElementTree.Element | None) -> str:
    """All text inside an element, with single spaces."""
    return "" if element is None else " ".join("".join(element.itertext()).split())
