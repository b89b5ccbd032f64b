"""Documents on disk with an index of their words, so that large corpora are read once (paper 002, "Context
Segmentation and Retrieval").

The index only proposes documents: those that hold the words, up to eight, of a name of the subject, or are known
to be about it, and those of the target. Matching then decides as ``retrieve`` does in a pass over all, so that both
ways give the same. Words of a document that a later one revised or deleted stay in it, and propose nothing.

It is an SQLite database with FTS5, which Python brings along. On a sample of 10,000 abstracts, words of each in one
text, it was built in 0.42 s of one core, took 2.4 MB and answered a query of two words in 34 microseconds; tantivy
took 0.38 s, 2.4 MB and 37 microseconds, a sorted table of DuckDB 0.68 s, 6.6 MB and 2,900 microseconds, and DuckDB's
own full text must be downloaded. ``python -m benchmarks.corpora`` measures the whole.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sqlite3
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from itertools import accumulate, groupby, islice
from pathlib import Path
from typing import Any

import pandas as pd

from probekit.contexts.matching import pool
from probekit.contexts.resources import DOCUMENTS, KINDS, OTHER, REVISED, Document, files_at, read_file
from probekit.contexts.retrieval import COVERED, HOLDING, PAIRS, READ, TRIPLES, Found, Matcher, draw_key
from probekit.errors import ProbeError, StoreError
from probekit.files import digest, write_atomically
from probekit.files.processes import on_each_core
from probekit.files.progress import Status, bar
from probekit.files.reading import RECORD, beyond, file_digest, limit, open_regular, read_object
from probekit.probes.lipid.entities import TOKEN, Finder, Mention
from probekit.probes.per_file import InputFile, each_file
from probekit.store import Store, Work

DATABASE, ABOUT, PARTS = "probekit-index.sqlite", "probekit-index.json", "probekit-parts"
VERSION = 3  # raise it with every change of what is stored
MADE = VERSION * 10**6 + int(unicodedata.unidata_version.replace(".", ""))  # the tables of Unicode decide on words
OURS = 0x70726F62  # the application id in the database's first bytes
AT_ONCE = 10_000  # documents between two commits: what a killed build writes again, at most
LARGEST = 100 << 20  # bytes of a file that a process other than the writer reads, and holds whole
GROUP = 1 << 30  # bytes of files whose parts are on disk before they are written
HELD = 64 << 20  # bytes that SQLite holds of its pages, and of words not yet written
CACHED = 10_000  # documents whose matches are remembered, as triples have candidates in common
CANDIDATES = (
    "SELECT number, doc_id FROM words JOIN documents ON number = words.rowid WHERE words MATCH ? ORDER BY words.rowid"
)
PUT = "INSERT OR REPLACE INTO documents(doc_id, subject, digest, text) VALUES (?, ?, ?, ?)"
STORED = "SELECT doc_id, subject, digest, text FROM documents"
WORDS = 8  # of a name, the longest, that a candidate must hold; the matcher sees to the others
SIGNS = {code: 0xE000 + code for code in range(128) if not chr(code).isalnum() and chr(code) != " "}
SUBJECT = "\uf000"  # before the digest of a subject that a document is known to be about; no token of a text has both
TABLES = f"""
PRAGMA application_id = {OURS};
PRAGMA user_version = {MADE};
CREATE TABLE files (number INTEGER PRIMARY KEY, name TEXT, digest TEXT, done INTEGER DEFAULT 0, counts TEXT DEFAULT '');
CREATE TABLE documents (
    number INTEGER PRIMARY KEY AUTOINCREMENT, doc_id TEXT UNIQUE, subject TEXT, digest TEXT, text BLOB
);
CREATE VIRTUAL TABLE words USING fts5(held, content='', detail=none, columnsize=0, tokenize='ascii');
INSERT INTO words(words, rank) VALUES ('hashsize', {HELD});
"""
COLUMNS = ("doc_id", "subject", "digest", "text", "words")  # of a document, its text packed
Row = tuple[str, str, str, bytes, str]
DIGITS = 32  # of a document's digest


# ---- build -----------------------------------------------------------------------------------------------------------


def build_index(places: Sequence[str | Path], out: Path, force: bool = False, processes: int = 1) -> dict[str, int]:
    """Write an index of documents into a folder; of a killed build the same call goes on, unless it has ``force``.

    Files may be added at the end of those that were indexed before; of several documents of one id the last stays, as
    in ``read_documents``. The index is the same whatever was killed, and however many processes read.

    Args:
        places: files and folders, as ``read_documents`` takes them, in the order to be read.
        out: the folder, made if need be.
        force: replace an index that is there.
        processes: that read files of up to 100 MB side by side, a gigabyte of them before this one writes; with one,
            and of a larger file, this one reads document by document.

    Returns:
        The documents, and what was left out, as ``read_documents`` counts it.

    Raises:
        ProbeError: see ``read_documents``; no file is of a kind that is read, one was changed meanwhile,
            or no process is to read.
        StoreError: such as another or a damaged index there, another process that writes it, one that reads and was
            ended, or a folder that cannot be written.
    """
    if processes < 1:
        raise ProbeError(f"--processes is 1 or more, not {processes}")
    files = [file for place in places for file in files_at(place)]
    read = [InputFile(path, name) for path, name in files if name.endswith(KINDS)]
    if not read:
        raise ProbeError(f"no file of documents is given; {', '.join(KINDS)} files are read")
    database = out / DATABASE
    with _guarded(database):
        out.mkdir(parents=True, exist_ok=True)
        if database.exists():
            _refuse_strange(database)
            _refuse_written(database)
        if force:
            for path in (out / ABOUT, database, database.with_name(f"{DATABASE}-journal")):
                path.unlink(missing_ok=True)
        with closing(sqlite3.connect(database, timeout=1)) as connection:
            _begin(connection, read, out)
            if not (finished := (out / ABOUT).exists()):
                _fill(connection, read, out, processes)
                counts, content = _summary(connection)
    if not finished:
        counts[OTHER] = len(files) - len(read)
        about = {"version": VERSION, "unicode": unicodedata.unidata_version, "files": len(read), "counts": +counts}
        about |= {"digest": content, "sha256": file_digest(database), **_stamp(database)}
        write_atomically(out / ABOUT, (json.dumps(about, indent=2) + "\n").encode())
    return dict(Index(out).counts)


def _stamp(database: Path) -> dict[str, int]:
    status = database.stat()
    return {"bytes": status.st_size, "changed": status.st_mtime_ns}


def _refuse_strange(database: Path) -> None:
    with open_regular(database) as file:
        head = file.read(100)
    if head and (head[:15] != b"SQLite format 3" or head[68:72] != OURS.to_bytes(4, "big")):
        raise StoreError(f"{database} is no index of this package: move it away, or take another folder with --out")


def _refuse_written(database: Path) -> None:
    with closing(sqlite3.connect(database, timeout=1)) as connection:
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.DatabaseError as error:  # what else is wrong with it is found later, or replaced
            if "locked" in str(error):
                raise


def _begin(connection: sqlite3.Connection, files: Sequence[InputFile], out: Path) -> None:
    """Make the tables, or refuse those of other files; the record goes where files are added."""
    for pragma in ("page_size = 16384", "synchronous = NORMAL", f"cache_size = -{HELD >> 10}"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        connection.executescript(f"BEGIN EXCLUSIVE; {TABLES} COMMIT;")
    connection.execute("BEGIN EXCLUSIVE")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != MADE:
        raise StoreError(f"{out} holds an index of another version, or of another Python: replace it with --force")
    given = [(file.name, file.content) for file in files]
    before = connection.execute("SELECT name, digest FROM files ORDER BY number").fetchall()
    if given[: len(before)] != before:
        raise StoreError(
            f"{out} holds an index of other files, or of files that were changed since: "
            "take another folder with --out, or replace it with --force"
        )
    if len(given) > len(before):
        (out / ABOUT).unlink(missing_ok=True)
    rows = [(number, *given[number]) for number in range(len(before), len(given))]
    connection.executemany("INSERT INTO files(number, name, digest) VALUES (?, ?, ?)", rows)
    connection.commit()


def _fill(connection: sqlite3.Connection, files: Sequence[InputFile], out: Path, processes: int) -> None:
    """Add the documents of all files, from where a killed build stopped."""
    todo = connection.execute("SELECT number, done FROM files WHERE counts = '' ORDER BY number").fetchall()
    small = (number for number, _ in todo if files[number].path.stat().st_size <= LARGEST)
    shared = dict.fromkeys(small if processes > 1 else ())
    tables, status = _tables([files[number] for number in shared], out, processes), Status()
    try:
        for number, done in todo:
            counts, file = Counter[str](), files[number]
            if number in shared:
                table = next(tables)
                counts.update(table.attrs["counts"])
                documents: Iterable[Row] = table.iloc[done:].itertuples(index=False, name=None)
            else:
                documents = map(_row, islice(read_file(file.path, file.name, counts), done, None))
            for place, row in enumerate(documents, done + 1):
                _put(connection, row)
                if place % AT_ONCE == 0:
                    connection.execute("UPDATE files SET done = ? WHERE number = ?", (place, number))
                    connection.commit()
                    status.show(f"file {number + 1:,} of {len(files):,}: {place:,} documents")
            if number not in shared:
                file.check()
            connection.execute("UPDATE files SET counts = ? WHERE number = ?", (json.dumps(counts), number))
            connection.commit()
        status.show("joining the parts of the index")
        connection.execute("INSERT INTO words(words) VALUES ('optimize')")
        connection.commit()
    finally:
        status.clear()
    shutil.rmtree(out / PARTS, ignore_errors=True)


def _summary(connection: sqlite3.Connection) -> tuple[Counter[str], str]:
    """The counts of all files, and the digest of the content: the sum of those of the documents."""
    counts = Counter[str]()
    for (counted,) in connection.execute("SELECT counts FROM files"):
        counts.update(json.loads(counted))
    ((written,),) = connection.execute("SELECT coalesce(max(seq), 0) FROM sqlite_sequence")
    ((counts[DOCUMENTS],),) = connection.execute("SELECT count(*) FROM documents")
    counts[REVISED] = written - counts[DOCUMENTS]
    content = sum(int(one, 16) for (one,) in connection.execute("SELECT digest FROM documents"))
    return counts, f"{content % 16**DIGITS:0{DIGITS}x}"


def _tables(files: Sequence[InputFile], out: Path, processes: int) -> Iterator[pd.DataFrame]:
    """The rows of the documents of each file, which other processes make, some files ahead."""
    store = Store(out / PARTS)
    key = {"version": VERSION, "unicode": unicodedata.unidata_version}

    def fill(works: Sequence[Work]) -> None:
        try:
            on_each_core(_finish, [(store, work) for work in works], "files read", " files", _hush, processes)
        except BrokenProcessPool as error:
            raise StoreError(
                "a process that read documents was ended, perhaps for want of memory: run again, with fewer "
                "--processes; what was finished is kept"
            ) from error

    ends = accumulate(file.path.stat().st_size for file in files)
    for _, group in groupby(zip(files, ends, strict=True), lambda pair: pair[1] // GROUP):
        yield from each_file(store, "documents", key, [file for file, _ in group], _table, "files written", fill)
        shutil.rmtree(store.folder, ignore_errors=True)


def _hush() -> None:
    """What a process warns of is said where its table is used."""
    logging.getLogger().addHandler(logging.NullHandler())


def _finish(store: Store, work: Work) -> None:
    store.finish(work, 0)


def _table(file: InputFile, counts: Counter[str]) -> pd.DataFrame:
    return pd.DataFrame(map(_row, read_file(file.path, file.name, counts)), columns=COLUMNS)


def _row(document: Document) -> Row:
    """A document as it is stored; without a text, and words, where it is taken back."""
    if not document.text:
        return document.doc_id, "", "", b"", ""
    words = {token.lower() for token in set(TOKEN.findall(document.text))}
    words |= {_subject(document.subject)} if document.subject else set()
    packed = zlib.compress(document.text.encode(), 1)
    return document.doc_id, document.subject, _digest(document), packed, _written(sorted(words))


def _digest(document: Document) -> str:
    return digest(document.doc_id, document.subject, document.text, length=DIGITS)


def _put(connection: sqlite3.Connection, row: Row) -> None:
    if row[3]:
        put = connection.execute(PUT, row[:4])
        connection.execute("INSERT INTO words(rowid, held) VALUES (?, ?)", (put.lastrowid, row[4]))
    else:
        connection.execute("DELETE FROM documents WHERE doc_id = ?", row[:1])


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
        about: what is recorded of it, such as ``files`` (number), ``bytes``, ``digest`` (of its documents, however and
            in whatever order they came there), ``version``, ``unicode`` (of the tables that decide on words).

    Raises:
        StoreError: it is not there, not finished, damaged, or of another version. Where the size or the time of the
            database is another than at the build, the whole is compared with its digest; of each document that is done
            when it is asked for.
    """

    def __init__(self, folder: str | Path) -> None:
        self.database, record = Path(folder) / DATABASE, Path(folder) / ABOUT
        if not record.exists():
            if self.database.exists():
                raise StoreError(f"{folder}: the index is not finished; give the same `probekit index build` again")
            raise StoreError(f"{folder}: no index is here; `probekit index build --out {folder}` makes one")
        with _guarded(self.database):
            try:
                stored = read_object(record)
            except ProbeError as error:
                raise StoreError(f"{error}; build the index again with --force") from error
            counts, stamp = stored.get("counts"), _stamp(self.database)
            whole = isinstance(counts, dict) and all(isinstance(count, int) for count in counts.values())
            if not whole or not {"files", "digest"} <= {*stored}:
                fault = f"{record} was not written by `probekit index build`:"
            elif (stored.get("version"), stored.get("unicode")) != (VERSION, unicodedata.unidata_version):
                fault = f"{folder}: an index of another version, or of another Python;"
            elif stamp != {name: stored.get(name) for name in stamp} and not self._is_copy(stored):
                fault = f"{self.database} was changed or damaged since it was built:"
            else:
                fault = ""
            if fault:
                raise StoreError(f"{fault} build it again with --force")
        self.counts, self.about = Counter[str](counts), stored

    def _is_copy(self, stored: Mapping[str, Any]) -> bool:
        """Whether the database has the bytes of the build, and only its time is another; it is then set back."""
        if stored.get("sha256") != file_digest(self.database):
            return False
        changed: Any = stored.get("changed")
        with suppress(OSError, TypeError, OverflowError):
            os.utime(self.database, ns=(changed, changed))
        return True

    def __len__(self) -> int:
        return self.counts[DOCUMENTS]

    def __iter__(self) -> Iterator[Document]:
        with self._opened() as connection:
            yield from map(self._document, connection.execute(f"{STORED} ORDER BY number"))

    def _document(self, row: tuple[str, str, str, bytes]) -> Document:
        with suppress(TypeError, AttributeError, UnicodeError, zlib.error):  # of values that are no text, or broken
            document = Document(row[0], _text(row[3]), row[1])
            if _digest(document) == row[2]:
                return document
        raise StoreError(f"{self.database} is damaged, in document {row and row[0]!r}: build it again with --force")

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        address = f"{self.database.resolve().as_uri()}?mode=ro&immutable=1"
        with _guarded(self.database), closing(sqlite3.connect(address, uri=True)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute(f"PRAGMA cache_size = -{HELD >> 10}")
            yield connection

    def search(self, names: Sequence[str]) -> Iterator[tuple[Document, Mention]]:
        """The documents that hold all of some names, in the order in which they were read, each with the first mention
        of one; names are found as ``pool`` says.

        Raises:
            ProbeError: no name holds a word or a sign.
            StoreError: the index was damaged meanwhile.
        """
        finder = pool(names)
        if not (forms := finder.forms()):
            raise ProbeError(f"nothing can be looked for in {list(names)}: give names of words or signs")
        query = " AND ".join(f"({_query(of_name)})" for of_name in forms.values())
        with self._opened() as connection:
            for number, _ in connection.execute(CANDIDATES, (query,)).fetchall():
                document = self._document(connection.execute(f"{STORED} WHERE number = ?", (number,)).fetchone())
                mentions = finder.find(document.text)
                if {mention.kind for mention in mentions} == set(forms):
                    yield document, mentions[0]

    def retrieve(
        self,
        asked: pd.DataFrame,
        pools: Mapping[str, Finder],
        counts: Counter[str],
        most: int | None = None,
        seed: int = 0,
    ) -> list[Found]:
        """The documents of every triple, as ``retrieval.retrieve`` finds them in a pass over all, in the same order.

        A triple with more than ``most`` candidates tries them in the order of the draw, until it has enough.

        Args:
            asked: of ``triples``.
            pools: by the names in ``asked["pool"]``.
            counts: raised as there; but not by the documents that hold a subject, nor by the pairs left out, for which
                all documents would have to be read.
            most, seed: as there.

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
                row = connection.execute(f"{STORED} WHERE number = ?", (number,)).fetchone()
                all_matches = matcher.find(self._document(row))[1]
                return {match.triple: (place, match) for place, match in enumerate(all_matches)}

            for triple, (subject, name, target) in enumerate(bar("looked up", len(asked), " triples", items=rows)):
                if of_target := forms[name].get(target):
                    query = f"({_query(subjects.get(subject, ()), _subject(subject))}) AND ({_query(of_target)})"
                    candidates = connection.execute(CANDIDATES, (query,)).fetchall()
                    if most and len(candidates) > most:
                        candidates.sort(key=lambda candidate: draw_key(seed, candidate[1]))
                    held = ((n, *matches(n)[triple]) for n, _ in candidates if triple in matches(n))
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
    unpacked, most = zlib.decompressobj(), 4 * limit(RECORD)
    text = unpacked.decompress(packed, most)
    if not unpacked.eof:
        raise beyond("a document of the index", "its text", 4 * RECORD) if len(text) == most else zlib.error
    return text.decode()


@contextmanager
def _guarded(database: Path) -> Iterator[None]:
    """Say what became of a database, or its folder, in words of the package."""
    try:
        yield
    except (sqlite3.Error, OSError, UnicodeDecodeError) as error:  # its own messages may be broken, too
        reason = getattr(error, "strerror", None) or str(error)
        if "locked" in reason:
            raise StoreError(f"{database} is being written by another process: let it end, then run again") from error
        other = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) != sqlite3.SQLITE_ERROR  # than what it holds
        if isinstance(error, OSError) or (isinstance(error, sqlite3.OperationalError) and other):
            raise StoreError(
                f"cannot use {database}: {reason}; make room or choose another folder, then run again: what was "
                "finished is kept"
            ) from error
        raise StoreError(f"{database} is damaged: {reason}; build it again with --force") from error
