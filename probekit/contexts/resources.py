"""Documents to take contexts from: plain text, JSONL, CSV, Parquet, XML (paper 002, "Context Segmentation and
Retrieval")."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from probekit.errors import ProbeError, caution, meant
from probekit.files.parquet import parquet_rows
from probekit.files.reading import RECORD, STREAMED, NotText, csv_rows, json_value, lines, read_text
from probekit.probes.jats import read_article
from probekit.probes.lipid.medline import abstracts
from probekit.probes.xml_records import ARTICLE, elements

log = logging.getLogger(__name__)

DOCUMENTS, REVISED = "documents", "left out: documents revised or deleted by a later one of their id"
NOT_TEXT, OTHER = "left out: files that are not UTF-8 text", "left out: files of another kind"
EMPTY, BROKEN = "left out: empty documents", "left out: lines that are not a record with a text"
NO_TEXT = "left out: files without a column 'text'"
ROWS, XML = (".jsonl", ".jsonl.gz", ".csv", ".csv.gz", ".parquet"), (".xml", ".xml.gz", ".nxml", ".nxml.gz")
KINDS = (".txt", *ROWS, *XML)
FIELDS = ("doc_id", "text", "subject")  # of a record
IDS = ("doc_id", "row_id")  # the first that there is names a document
Item = TypeVar("Item")


@dataclass(frozen=True)
class Document:
    """A text to take contexts from.

    Args:
        doc_id: unique in its resource; of several documents of one id in files the last counts.
        text: as it stands, characters are counted in it; empty where the document is taken back.
        subject: where the whole text is known to be about one subject; it then counts as holding this subject alone.
    """

    doc_id: str
    text: str
    subject: str = ""


def read_documents(place: str | Path, counts: Counter[str]) -> Iterator[Document]:
    """The documents of a file, or of all files below a folder in the order of their names.

    A ``.txt`` file is one document. A line of a ``.jsonl`` file is one: an object with ``text`` and, if it likes,
    ``doc_id`` and ``subject``; so is a row of a ``.csv`` or ``.parquet`` file with these columns, in any case
    (``ROW_ID`` is read as ``doc_id``, as in the notes of MIMIC-III). A PubMed record with abstract (``.xml``) is one,
    its title and abstract, and an article in JATS (``.xml``, ``.nxml``), as PubMed Central has them: title, abstract
    and paragraphs. All but ``.txt`` are read in pieces; JSONL, CSV and XML may end in ``.gz``.

    Of several documents of one id the last counts, whatever it holds, and none that an update file of PubMed deletes
    after it. Which that is, a first reading of all files tells.

    Args:
        counts: raised by the documents read and, by reason, by what was left out, such as files of another kind,
            without a column ``text``, binary or not UTF-8, broken lines, empty documents, those that are not the last
            of their id; and by what XML held, such as faults and records of PubMed without an abstract.

    Raises:
        ProbeError: the place is not there, a file cannot be opened; or one other than XML cannot be read to its end, or
            holds a record beyond a limit, which the message names.
    """
    files = files_at(place)

    def every(counts: Counter[str]) -> Iterator[Document]:
        return (document for path, name in files for document in read_file(path, name, counts))

    ids = (document.doc_id for document in every(Counter()))
    yield from standing(ids, ((one.doc_id, bool(one.text), one) for one in every(counts)), counts)


def standing(ids: Iterable[str], items: Iterable[tuple[str, bool, Item]], counts: Counter[str]) -> Iterator[Item]:
    """Of things each with its id and whether it has a text, those that have, and are the last of their id.

    Args:
        ids: of all things, in order; gone through before the first of them is looked at.
        counts: raised by those that are left, and by those revised or deleted.
    """
    last = {doc_id: number for number, doc_id in enumerate(ids)}
    for number, (doc_id, full, item) in enumerate(items):
        if full:
            stands = last.get(doc_id) == number
            counts[DOCUMENTS if stands else REVISED] += 1
            if stands:
                yield item


def files_at(place: str | Path) -> list[tuple[Path, str]]:
    """A file, or all files below a folder in the order of their names; each with its name, seen from the folder.

    Raises:
        ProbeError: the place is not there.
    """
    place = Path(place)
    if not place.exists():
        raise ProbeError(f"no folder or file of documents at {place}; {', '.join(KINDS)} files are read")
    root = place if place.is_dir() else place.parent
    files = sorted(path for path in place.rglob("*") if path.is_file()) if place.is_dir() else [place]
    names = (path.relative_to(root).as_posix() for path in files)  # a byte that is no UTF-8 stands there as \udcff
    return [(path, name.encode(errors="backslashreplace").decode()) for path, name in zip(files, names, strict=True)]


def read_file(path: Path, name: str, counts: Counter[str]) -> Iterator[Document]:
    """All documents of one file in order, those that a later one of their id revises, or takes back, among them.

    Args:
        name: tells the kind, and goes into the ids of documents without one.
        counts: see ``read_documents``.
    """
    if name.endswith(XML):
        yield from _xml(path, name, counts)
    elif not name.endswith(KINDS):
        counts[OTHER] += 1
    else:
        try:
            yield from _documents(path, name, counts)
        except NotText:
            counts[NOT_TEXT] += 1
            log.warning("%s is left out from where it is binary, or not UTF-8 text", path)


def _xml(path: Path, name: str, counts: Counter[str]) -> Iterator[Document]:
    for number, element in enumerate(elements(path, counts), 1):
        if element.tag == ARTICLE:
            doc_id, text = read_article(element)
            yield _document(doc_id or f"{name}:{number}", text, "", counts)
        for record in abstracts(element, counts):
            text = " ".join(filter(None, (record.title, *record.sections))) if record.sections else ""
            yield Document(str(record.pmid), text)


def _documents(path: Path, name: str, counts: Counter[str]) -> Iterator[Document]:
    if name.endswith(".txt"):
        yield _document(name, _checked(read_text(path, RECORD), path), "", counts)
        return
    read = _parquet if name.endswith(".parquet") else _csv if name.endswith((".csv", ".csv.gz")) else _lines
    for number, row in read(path, counts):
        if isinstance(row.get("text"), str):
            doc_id = next((str(row[column]) for column in IDS if row.get(column) not in (None, "")), f"{name}:{number}")
            yield _document(doc_id, _checked(row["text"], path), str(row.get("subject") or ""), counts)
        else:
            counts[BROKEN] += 1


def _document(doc_id: str, text: str, subject: str, counts: Counter[str]) -> Document:
    empty = not text.strip()
    counts[EMPTY] += empty
    return Document(doc_id, "" if empty else text, subject)


def _checked(text: str, path: Path) -> str:
    if "\0" in text:
        raise NotText(f"{path}: binary, since it holds a zero character")
    return text


def _lines(path: Path, _: Counter[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The record of each line; empty where it is none."""
    for number, line in lines(path):
        if _checked(line, path).strip():
            try:
                value = json_value(line, "")
            except ProbeError:
                value = None
            row = value if isinstance(value, dict) else {}
            if number == 1:
                _name_slips(path, row)
            yield number, {field: row[field] for field in FIELDS if field in row}


def _csv(path: Path, counts: Counter[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The row of each record; empty where it has more or fewer fields than the first."""
    rows = csv_rows(path, STREAMED, strict=False)
    _, names = next(rows, (0, []))
    header = [column.strip().lower() for column in names]
    _name_slips(path, header)
    if "text" in header:
        yield from ((n, dict(zip(header, row, strict=True)) if len(row) == len(header) else {}) for n, row in rows)
    else:
        counts[NO_TEXT] += 1
        log.warning("%s is left out: it has no column 'text', but %s", path, ", ".join(header) or "none")


def _parquet(path: Path, counts: Counter[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, row in enumerate(parquet_rows(path, (*FIELDS, "row_id")), 1):
        if "text" not in row:
            counts[NO_TEXT] += 1
            log.warning("%s is left out: it has no column 'text'", path)
            return
        yield number, row


def _name_slips(path: Path, names: Collection[str]) -> None:
    """Warn of fields whose names look like a misspelt one that is read; records may have any others."""
    absent = [field for field in FIELDS if field not in names]
    for name in names:
        if slip := meant(name, absent) if name not in (*FIELDS, "row_id") else "":
            caution(f"{path.name}: the field {name!r} is not read{slip}.")
