"""Documents on disk with an index of their words, so that large corpora are read once (paper 002, "Retrieval").

The index only proposes documents: those that hold all words of a name of the subject, and of the target. ``Matcher``
then decides as it does in a pass over all documents, so that both ways give the same.

It is an SQLite database with FTS5, which Python brings along. On a sample of 10,000 abstracts, words of each in one
text, it was built in 0.42 s of one core, took 2.4 MB and answered a query of two words in 34 microseconds; tantivy
took 0.38 s, 2.4 MB and 37 microseconds, a sorted table of DuckDB 0.68 s, 6.6 MB and 2,900 microseconds, and DuckDB's
own full text must be downloaded. ``python -m benchmarks.corpora`` measures the whole.
"""

from __future__ import annotations

import json
import sqlite3
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pandas as pd

from probekit.contexts.resources import DOCUMENTS, EMPTY, KINDS, OTHER, TWICE, Document, files_at, read_file
from probekit.contexts.retrieval import COVERED, HOLDING, PAIRS, READ, TRIPLES, Found, Matcher
from probekit.errors import ProbeError, StoreError
from probekit.files import digest, write_atomically
from probekit.files.progress import Status, bar
from probekit.files.reading import RECORD, beyond, file_digest, limit, open_regular, read_object
from probekit.probes.lipid.entities import TOKEN, Finder

DATABASE, ABOUT = "probekit-index.sqlite", "probekit-index.json"
VERSION = 1  # raise it with every change of what is stored
OURS = 0x70726F62  # the application id in the database's first bytes
AT_ONCE = 10_000  # documents between two commits: what a killed build does again, at most
HELD = 64 << 20  # bytes that SQLite holds of its pages, and of words not yet written
FIRST = 20  # candidates of a triple in the first round where all its documents are wanted
WORDS = 8  # of a name, the longest, that a candidate must hold; the matcher sees to the others
SIGNS = {code: 0xE000 + code for code in range(128) if not chr(code).isalnum() and chr(code) != " "}
SUBJECT = "\uf000"  # before the digest of a subject that a document is known to be about; no token of a text has both
TABLES = f"""
PRAGMA application_id = {OURS};
CREATE TABLE files (number INTEGER PRIMARY KEY, name TEXT, digest TEXT, read INTEGER, added INTEGER, counts TEXT);
CREATE TABLE documents (number INTEGER PRIMARY KEY, doc_id TEXT UNIQUE, text BLOB, subject TEXT);
CREATE VIRTUAL TABLE words USING fts5(held, content='', detail=none, columnsize=0, tokenize='ascii');
INSERT INTO words(words, rank) VALUES ('hashsize', {HELD});
"""


# ---- build -----------------------------------------------------------------------------------------------------------


def build_index(places: Sequence[str | Path], out: Path, force: bool = False) -> dict[str, int]:
    """Write an index of documents into a folder; what a killed build finished is kept, and the same call goes on.

    Files may be added at the end of those that were indexed before; of several documents of one id the first stays.

    Args:
        places: files and folders, as ``read_documents`` takes them, in the order to be read.
        out: the folder, made if need be.
        force: replace an index of other files.

    Returns:
        The documents, and what was left out, as ``read_documents`` counts it.

    Raises:
        ProbeError: a place is not there, or a file cannot be read to its end.
        StoreError: an index of other files is there, another process writes it, or the folder cannot be written.
    """
    files = [file for place in places for file in files_at(place)]
    read = [(path, name) for path, name in files if name.endswith(KINDS)]
    if not read:
        raise ProbeError(f"no file of documents is given; {', '.join(KINDS)} files are read")
    database = out / DATABASE
    with _guarded(database):
        out.mkdir(parents=True, exist_ok=True)
        if database.exists():
            _refuse_strange(database)
        if force:
            (out / ABOUT).unlink(missing_ok=True)
            for path in (database, database.with_name(f"{DATABASE}-journal")):
                path.unlink(missing_ok=True)
        with closing(sqlite3.connect(database, timeout=1, isolation_level=None)) as connection:
            counts = _fill(connection, read, out)
    counts[OTHER] = len(files) - len(read)
    told = {name: count for name, count in counts.items() if count}
    if not (out / ABOUT).exists():
        about = {"version": VERSION, "unicode": unicodedata.unidata_version, "counts": told}
        about |= {"bytes": database.stat().st_size, "sha256": file_digest(database)}
        write_atomically(out / ABOUT, (json.dumps(about, indent=2) + "\n").encode())
    return told


def _refuse_strange(database: Path) -> None:
    with open_regular(database) as file:
        head = file.read(100)
    if head and (head[:15] != b"SQLite format 3" or head[68:72] != OURS.to_bytes(4, "big")):
        raise StoreError(f"{database} is no index of this package: move it away, or take another folder with --out")


def _fill(connection: sqlite3.Connection, files: Sequence[tuple[Path, str]], out: Path) -> Counter[str]:
    for pragma in ("page_size = 16384", "synchronous = NORMAL", f"cache_size = -{HELD >> 10}"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        connection.executescript(f"BEGIN EXCLUSIVE; {TABLES} COMMIT;")
    connection.execute("BEGIN EXCLUSIVE")
    before = connection.execute("SELECT name, digest FROM files ORDER BY number").fetchall()
    given = [(name, file_digest(path)) for path, name in files]
    if given[: len(before)] != before:
        raise StoreError(
            f"{out} holds an index of other files, or of files that were changed since: "
            "take another folder with --out, or replace it with --force"
        )
    if len(given) > len(before):
        (out / ABOUT).unlink(missing_ok=True)
    rows = [(number, *given[number], 0, 0, "") for number in range(len(before), len(given))]
    connection.executemany("INSERT INTO files VALUES (?, ?, ?, ?, ?, ?)", rows)
    connection.execute("COMMIT")
    status = Status()
    try:
        for number, (path, name) in enumerate(files):
            _add(connection, number, path, name, status, f"file {number + 1:,} of {len(files):,}")
        if not (out / ABOUT).exists():
            status.show("joining the parts of the index")
            connection.execute("INSERT INTO words(words) VALUES ('optimize')")
    finally:
        status.clear()
    counts = Counter[str]()
    for added, told in connection.execute("SELECT added, counts FROM files"):
        counts.update({DOCUMENTS: added} | json.loads(told))
    return counts


def _add(connection: sqlite3.Connection, number: int, path: Path, name: str, status: Status, place: str) -> None:
    """Add the documents of a file, without those that were added before; each commit holds how far it is."""
    done, added, told = connection.execute(
        "SELECT read, added, counts FROM files WHERE number = ?", (number,)
    ).fetchone()
    if told:
        return
    read, counts = 0, Counter[str]()

    def commit(told: str = "") -> None:
        row = (read, added, told, number)
        connection.execute("UPDATE files SET read = ?, added = ?, counts = ? WHERE number = ?", row)
        connection.execute("COMMIT")
        status.show(f"{place}: {read:,} documents")

    connection.execute("BEGIN")
    try:
        for document in read_file(path, name, counts):
            empty = not document.text.strip()
            counts[EMPTY] += empty
            read += 1
            if read > done and not empty:
                added += _insert(connection, document)
            if read > done and read % AT_ONCE == 0:
                commit()
                connection.execute("BEGIN")
        counts[TWICE] = read - counts[EMPTY] - added
        commit(json.dumps(counts))
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _insert(connection: sqlite3.Connection, document: Document) -> bool:
    text = zlib.compress(document.text.encode(), 1)
    row = connection.execute(
        "INSERT OR IGNORE INTO documents(doc_id, text, subject) VALUES (?, ?, ?)",
        (document.doc_id, text, document.subject),
    )
    if row.rowcount:
        words = {token.lower() for token in set(TOKEN.findall(document.text))}
        words |= {_subject(document.subject)} if document.subject else set()
        connection.execute("INSERT INTO words(rowid, held) VALUES (?, ?)", (row.lastrowid, _written(words)))
    return bool(row.rowcount)


def _subject(name: str) -> str:
    return f"{SUBJECT}{digest(name)}"


def _written(words: Iterable[str]) -> str:
    """Words as FTS5's tokenizer ``ascii`` tells them apart: split at spaces, with no sign of ASCII inside."""
    return " ".join(words).translate(SIGNS)


# ---- look up ---------------------------------------------------------------------------------------------------------


def is_index(place: str | Path) -> bool:
    """Whether a folder holds an index, finished or not."""
    return any((Path(place) / name).exists() for name in (DATABASE, ABOUT))


class Index:
    """The documents of a finished index, in the order in which they were read.

    Args:
        folder: of ``build_index``.

    Attributes:
        counts: what ``build_index`` returned.

    Raises:
        StoreError: it is not finished, damaged, or of another version.
    """

    def __init__(self, folder: str | Path) -> None:
        self.database, about = Path(folder) / DATABASE, Path(folder) / ABOUT
        if not about.exists():
            raise StoreError(f"{folder}: the index is not finished; give the same `probekit index build` again")
        with _guarded(self.database):
            try:
                told = read_object(about)
            except ProbeError as error:
                raise StoreError(f"{error}; build the index again with --force") from error
            counts = told.get("counts")
            if not isinstance(counts, dict) or not all(isinstance(count, int) for count in counts.values()):
                raise StoreError(
                    f"{about} was not written by `probekit index build`: build the index again with --force"
                )
            if (told.get("version"), told.get("unicode")) != (VERSION, unicodedata.unidata_version):
                raise StoreError(
                    f"{folder}: an index of another version, or of another Python; build it again with --force"
                )
            if self.database.stat().st_size != told.get("bytes") or file_digest(self.database) != told.get("sha256"):
                raise StoreError(
                    f"{self.database} was changed or damaged since it was built: build it again with --force"
                )
        self.counts = Counter[str](counts)

    def __len__(self) -> int:
        return self.counts[DOCUMENTS]

    def __iter__(self) -> Iterator[Document]:
        with self._opened() as connection:
            for doc_id, text, subject in connection.execute(
                "SELECT doc_id, text, subject FROM documents ORDER BY number"
            ):
                yield Document(doc_id, _text(text), subject)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        address = f"{self.database.resolve().as_uri()}?mode=ro&immutable=1"
        with _guarded(self.database), closing(sqlite3.connect(address, uri=True)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute(f"PRAGMA cache_size = -{HELD >> 10}")
            yield connection

    def retrieve(
        self, asked: pd.DataFrame, pools: Mapping[str, Finder], counts: Counter[str], most: int | None = None
    ) -> list[Found]:
        """The documents of every triple, as ``retrieval.retrieve`` finds them in a pass over all, in the same order.

        In rounds: each triple that lacks documents is given its next candidates, in reading order and twice as many as
        in the round before; each candidate is read once, for all triples.

        Args:
            asked: of ``triples``.
            pools: by the names in ``asked["pool"]``.
            counts: raised as there; but not by the documents that hold a subject, nor by the pairs left out, for which
                all documents would have to be read.
            most: documents of a triple, the first in reading order; all by default.

        Raises:
            ProbeError: a pool is missing.
            StoreError: the index was damaged meanwhile.
        """
        matcher = Matcher(asked, pools)
        subjects, forms = matcher.subjects.forms(), {name: finder.forms() for name, finder in pools.items()}
        rows = zip(asked["subject"], asked["pool"], asked["target"], strict=True)
        queries = [
            f"({_query(subjects.get(s, ()), _subject(s))}) AND ({_query(forms[name].get(t, ()))})"
            for s, name, t in rows
        ]
        after = dict.fromkeys((n for n, query in enumerate(queries) if not query.endswith("()")), 0)
        kept: dict[int, dict[int, tuple[int, Found]]] = {}  # triple -> number of a document -> place in it, match
        read, batch = set[int](), most or FIRST
        progress = bar("looked up", len(after), " triples")
        with self._opened() as connection, progress:
            while after:
                ended = set[int]()
                wanted = set[int]()
                for triple in after:
                    candidates = _candidates(connection, queries[triple], after[triple], batch)
                    wanted.update(candidates)
                    if len(candidates) < batch:
                        ended.add(triple)
                    else:
                        after[triple] = candidates[-1]
                for number in sorted(wanted - read):
                    for place, one in enumerate(matcher.find(_document(connection, number))[1]):
                        here = kept.setdefault(one.triple, {})
                        here[number] = place, one
                        if most and len(here) > most:
                            del here[max(here)]
                read |= wanted
                if most:
                    ended |= {n for n, last in after.items() if sum(d <= last for d in kept.get(n, ())) >= most}
                for triple in ended:
                    del after[triple]
                progress.update(len(ended))
                batch *= 2
        pairs = sorted((number, *match) for found in kept.values() for number, match in found.items())
        counts[READ] += len(self)
        counts[HOLDING] += len({number for number, _, _ in pairs})
        counts[PAIRS] += len(pairs)
        counts[TRIPLES] += len(asked)
        counts[COVERED] += len(kept)
        return [found for _, _, found in pairs]


def _query(forms: Iterable[Sequence[str]], *others: str) -> str:
    """FTS5's expression for documents that hold all words of a form; signs count where a form has nothing else."""
    found = list(others and [f'"{_written(others)}"'])
    for tokens in forms:
        words = [token for token in tokens if token[0].isalnum()] or tokens
        longest = sorted({word.lower() for word in words}, key=lambda word: (-len(word), word))[:WORDS]
        found.append(" AND ".join(f'"{_written([word])}"' for word in longest))
    return " OR ".join(f"({one})" for one in found)


def _candidates(connection: sqlite3.Connection, query: str, after: int, most: int) -> list[int]:
    asked = "SELECT rowid FROM words WHERE words MATCH ? AND rowid > ? ORDER BY rowid LIMIT ?"
    return [number for (number,) in connection.execute(asked, (query, after, most))]


def _document(connection: sqlite3.Connection, number: int) -> Document:
    asked = "SELECT doc_id, text, subject FROM documents WHERE number = ?"
    doc_id, text, subject = connection.execute(asked, (number,)).fetchone()
    return Document(doc_id, _text(text), subject)


def _text(packed: bytes) -> str:
    unpacked = zlib.decompressobj()
    text = unpacked.decompress(packed, 4 * limit(RECORD))
    if not unpacked.eof:
        raise beyond("a document of the index", "its text", 4 * RECORD)
    return text.decode()


@contextmanager
def _guarded(database: Path) -> Iterator[None]:
    """Say what became of a database, or its folder, in words of the package."""
    try:
        yield
    except (sqlite3.Error, OSError, zlib.error) as error:
        said = getattr(error, "strerror", None) or str(error)
        if "locked" in said:
            raise StoreError(f"{database} is being written by another process: let it end, then run again") from error
        if isinstance(error, sqlite3.OperationalError | OSError):
            raise StoreError(
                f"cannot use {database}: {said}; make room or choose another folder, then run again: what was "
                "finished is kept"
            ) from error
        raise StoreError(f"{database} is damaged: {said}; build it again with --force") from error
