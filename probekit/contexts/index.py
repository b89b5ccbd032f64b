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
from functools import lru_cache
from itertools import islice
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
VERSION = 2  # raise it with every change of what is stored
OURS = 0x70726F62  # the application id in the database's first bytes
AT_ONCE = 10_000  # documents between two commits: what a killed build does again, at most
HELD = 64 << 20  # bytes that SQLite holds of its pages, and of words not yet written
CACHED = 10_000  # documents whose matches are remembered, as triples have candidates in common
CANDIDATES = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid"
WORDS = 8  # of a name, the longest, that a candidate must hold; the matcher sees to the others
SIGNS = {code: 0xE000 + code for code in range(128) if not chr(code).isalnum() and chr(code) != " "}
SUBJECT = "\uf000"  # before the digest of a subject that a document is known to be about; no token of a text has both
TABLES = f"""
PRAGMA application_id = {OURS};
CREATE TABLE files (number INTEGER PRIMARY KEY, name TEXT, digest TEXT, counts TEXT);
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
            for path in (out / ABOUT, database, database.with_name(f"{DATABASE}-journal")):
                path.unlink(missing_ok=True)
        with closing(sqlite3.connect(database, timeout=1)) as connection:
            counts = _fill(connection, read, out)
    counts[OTHER] = len(files) - len(read)
    counted = {name: count for name, count in counts.items() if count}
    if not (out / ABOUT).exists():
        summary = {"version": VERSION, "unicode": unicodedata.unidata_version, "counts": counted}
        summary |= {"bytes": database.stat().st_size, "sha256": file_digest(database)}
        write_atomically(out / ABOUT, (json.dumps(summary, indent=2) + "\n").encode())
    return counted


def _refuse_strange(database: Path) -> None:
    with open_regular(database) as file:
        head = file.read(100)
    if head and (head[:15] != b"SQLite format 3" or head[68:72] != OURS.to_bytes(4, "big")):
        raise StoreError(f"{database} is no index of this package: move it away, or take another folder with --out")


def _fill(connection: sqlite3.Connection, files: Sequence[tuple[Path, str]], out: Path) -> Counter[str]:
    """Add the documents of all files; a document that is there is not added again, so a killed build just goes on."""
    for pragma in ("page_size = 16384", "synchronous = NORMAL", f"cache_size = -{HELD >> 10}"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        connection.executescript(f"BEGIN EXCLUSIVE; {TABLES} COMMIT;")
    connection.execute("BEGIN EXCLUSIVE")
    given = [(name, file_digest(path)) for path, name in files]
    before = connection.execute("SELECT name, digest FROM files ORDER BY number").fetchall()
    if given[: len(before)] != before:
        raise StoreError(
            f"{out} holds an index of other files, or of files that were changed since: "
            "take another folder with --out, or replace it with --force"
        )
    if len(given) > len(before):
        (out / ABOUT).unlink(missing_ok=True)
    rows = [(number, *given[number], "") for number in range(len(before), len(given))]
    connection.executemany("INSERT INTO files VALUES (?, ?, ?, ?)", rows)
    connection.commit()
    status = Status()
    try:
        for number, (path, name) in enumerate(files):
            if not connection.execute("SELECT counts FROM files WHERE number = ?", (number,)).fetchone()[0]:
                counts = Counter[str]()
                for document in read_file(path, name, counts):
                    counts[READ] += 1
                    _insert(connection, document, counts)
                    if counts[READ] % AT_ONCE == 0:
                        connection.commit()
                        status.show(f"file {number + 1:,} of {len(files):,}: {counts[READ]:,} documents")
                connection.execute("UPDATE files SET counts = ? WHERE number = ?", (json.dumps(counts), number))
                connection.commit()
        if not (out / ABOUT).exists():
            status.show("joining the parts of the index")
            connection.execute("INSERT INTO words(words) VALUES ('optimize')")
            connection.commit()
    finally:
        status.clear()
    total = Counter[str]()
    for (counted,) in connection.execute("SELECT counts FROM files"):
        total.update(json.loads(counted))
    total[DOCUMENTS] = connection.execute("SELECT count(*) FROM documents").fetchone()[0]
    total[TWICE] = total.pop(READ, 0) - total[EMPTY] - total[DOCUMENTS]
    return total


def _insert(connection: sqlite3.Connection, document: Document, counts: Counter[str]) -> None:
    if not document.text.strip():
        counts[EMPTY] += 1
        return
    text = zlib.compress(document.text.encode(), 1)
    row = connection.execute(
        "INSERT OR IGNORE INTO documents(doc_id, text, subject) VALUES (?, ?, ?)",
        (document.doc_id, text, document.subject),
    )
    if row.rowcount:
        words = {token.lower() for token in set(TOKEN.findall(document.text))}
        words |= {_subject(document.subject)} if document.subject else set()
        connection.execute("INSERT INTO words(rowid, held) VALUES (?, ?)", (row.lastrowid, _written(words)))


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
        self.database, record = Path(folder) / DATABASE, Path(folder) / ABOUT
        if not record.exists():
            raise StoreError(f"{folder}: the index is not finished; give the same `probekit index build` again")
        with _guarded(self.database):
            try:
                stored = read_object(record)
            except ProbeError as error:
                raise StoreError(f"{error}; build the index again with --force") from error
            counts, size = stored.get("counts"), self.database.stat().st_size
            if not isinstance(counts, dict) or not all(isinstance(count, int) for count in counts.values()):
                fault = f"{record} was not written by `probekit index build`:"
            elif (stored.get("version"), stored.get("unicode")) != (VERSION, unicodedata.unidata_version):
                fault = f"{folder}: an index of another version, or of another Python;"
            elif (stored.get("bytes"), stored.get("sha256")) != (size, file_digest(self.database)):
                fault = f"{self.database} was changed or damaged since it was built:"
            else:
                fault = ""
            if fault:
                raise StoreError(f"{fault} build it again with --force")
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

        Each triple is given its candidates in reading order, until it has enough of them.

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
        pairs: list[tuple[int, int, Found]] = []  # number of a document, place in it, match
        covered = 0
        with self._opened() as connection:

            @lru_cache(maxsize=CACHED if most else None)  # without a limit all matches are held anyway
            def matches(number: int) -> dict[int, tuple[int, Found]]:
                """By triple, the place of its match among those of a document, and the match."""
                row = connection.execute("SELECT doc_id, text, subject FROM documents WHERE number = ?", (number,))
                doc_id, text, subject = row.fetchone()
                all_matches = matcher.find(Document(doc_id, _text(text), subject))[1]
                return {match.triple: (place, match) for place, match in enumerate(all_matches)}

            for triple, (subject, name, target) in enumerate(bar("looked up", len(asked), " triples", items=rows)):
                if of_target := forms[name].get(target):
                    query = f"({_query(subjects.get(subject, ()), _subject(subject))}) AND ({_query(of_target)})"
                    candidates = connection.execute(CANDIDATES, (query,))
                    held = ((n, *matches(n)[triple]) for (n,) in candidates if triple in matches(n))
                    chosen = list(islice(held, most))
                    pairs += chosen
                    covered += bool(chosen)
        counts[READ] += len(self)
        counts[HOLDING] += len({number for number, _, _ in pairs})
        counts[PAIRS] += len(pairs)
        counts[TRIPLES] += len(asked)
        counts[COVERED] += covered
        return [match for _, _, match in sorted(pairs, key=lambda pair: pair[:2])]


def _query(forms: Iterable[Sequence[str]], *others: str) -> str:
    """FTS5's expression for documents that hold all words of a form; signs count where a form has nothing else."""
    alternatives = list(others and [f'"{_written(others)}"'])
    for tokens in forms:
        words = [token for token in tokens if token[0].isalnum()] or tokens
        longest = sorted({word.lower() for word in words}, key=lambda word: (-len(word), word))[:WORDS]
        alternatives.append(" AND ".join(f'"{_written([word])}"' for word in longest))
    return " OR ".join(f"({alternative})" for alternative in alternatives)


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
        reason = getattr(error, "strerror", None) or str(error)
        if "locked" in reason:
            raise StoreError(f"{database} is being written by another process: let it end, then run again") from error
        if isinstance(error, sqlite3.OperationalError | OSError):
            raise StoreError(
                f"cannot use {database}: {reason}; make room or choose another folder, then run again: what was "
                "finished is kept"
            ) from error
        raise StoreError(f"{database} is damaged: {reason}; build it again with --force") from error
