"""Files of others, read within stated limits: regular files only, unpacked as they are read, JSON without traps.

Every reader of the package opens, unpacks and parses here. What a limit refuses names the file, its line, the limit,
and ``PROBEKIT_LIMITS``, by which all of them are multiplied where data are truly that large.
"""

from __future__ import annotations

import csv
import datetime
import errno
import gzip
import hashlib
import io
import json
import math
import os
import re
import stat
import tarfile
import zlib
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import yaml

from probekit.errors import ProbeError
from probekit.files import canonical

if TYPE_CHECKING:
    import pandas as pd

RECORD = 16 << 20  # bytes of one record: a line, a row of CSV, a record of XML, a text that is one document
SETTINGS = 1 << 20  # bytes of a YAML file
VALUES = 200_000  # in a YAML file, those behind an alias or a merge counted where it stands
HELD = 256 << 20  # bytes, unpacked, of a file that is held in memory whole
STREAMED = 16 << 30  # bytes, unpacked, of a file that is read piece by piece
BETWEEN = 1 << 20  # bytes, unpacked, from the end of one file in an archive to the begin of the next
DEPTH = 64  # lists and objects, or elements of XML, inside each other
DIGITS = 100  # of a whole number in JSON
FACTOR = "PROBEKIT_LIMITS"
BLOCK = 1 << 18
GZIP = b"\x1f\x8b"
LONE = re.compile(r"\\u[dD][89a-fA-F]")  # an escape that may be half a pair


class BrokenOff(ProbeError):
    """A file ends, or is damaged, before its end; what was read before was given."""


class NotText(ProbeError):
    """A file is not UTF-8 text."""


class _LongNumber(Exception):
    """A whole number of too many digits."""


def _factor() -> float:
    given = os.environ.get(FACTOR) or "1"
    try:
        factor = float(given)
    except ValueError:
        factor = math.nan
    if not 0 < factor < 1e6:
        raise ProbeError(f"{FACTOR} multiplies the limits of all readers: give a number such as 2, not {given!r}")
    return factor


def limit(most: int) -> int:
    """One of the limits above, as the environment has it."""
    return int(most * _factor())


def beyond(place: str, what: str, most: int, unit: str = "bytes") -> ProbeError:
    """The error of what is larger than its limit.

    Args:
        most: the limit without the factor of the environment.
    """
    return ProbeError(
        f"{place}: {what} has more than {limit(most):,} {unit}, the limit; "
        f"if that is meant, set {FACTOR}={2 * _factor():g} to double all limits"
    )


def open_regular(path: Path) -> io.BufferedReader:
    """Open a file to read bytes; never a folder, a pipe, a socket or a device, at which a reader could wait for ever.

    Raises:
        OSError: it is none, is not there, or may not be read.
    """
    try:
        mode = os.stat(path).st_mode
    except ValueError as error:
        raise OSError(errno.EINVAL, "no file can have this name") from error
    if not stat.S_ISREG(mode):
        folder = stat.S_ISDIR(mode)
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR)) if folder else OSError(errno.EINVAL, "not a plain file")
    return path.open("rb")


def blocks(path: Path, total: int = STREAMED) -> Iterator[bytes]:
    """The bytes of a file in order, in blocks of at most 256 KB; unpacked where its first two bytes say gzip.

    Raises:
        ProbeError: it cannot be opened, or unpacks to more than ``total`` bytes.
        BrokenOff: it is damaged, once all before the damage was given.
    """
    most, given = limit(total), 0
    try:
        with open_regular(path) as file:
            packed = file.peek(2)[:2] == GZIP
            source = gzip.GzipFile(fileobj=file) if packed else file
            while block := source.read1(BLOCK):
                given += len(block)
                if given > most:
                    raise beyond(str(path), "the file, unpacked,", total)
                yield block
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BrokenOff(f"{path} cannot be read to its end: {error}; get the file again") from error
    except OSError as error:
        raise ProbeError(f"cannot read {path}: {error.strerror or error}") from error


def file_digest(path: Path, kind: str = "sha256") -> str:
    """SHA-256, or another digest, of a file's bytes as they lie on disk, hexadecimal.

    Raises:
        ProbeError: it cannot be read.
    """
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, lambda: hashlib.new(kind, usedforsecurity=False)).hexdigest()
    except OSError as error:
        raise ProbeError(f"cannot read {path}: {error.strerror or error}") from error


def read_bytes(path: Path, total: int = HELD) -> bytes:
    """All bytes of a file, unpacked; see ``blocks``."""
    return b"".join(blocks(path, total))


def read_text(path: Path, total: int = HELD) -> str:
    """All of a UTF-8 file; see ``blocks``.

    Raises:
        NotText: it is not UTF-8.
    """
    try:
        return read_bytes(path, total).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotText(f"{path}: not UTF-8 text (byte {error.start}); convert the file first") from error


def raw_lines(path: Path, total: int = STREAMED) -> Iterator[tuple[int, bytes]]:
    """The lines of a file as bytes, without their ends and numbered from 1, one at a time; see ``blocks``.

    Raises:
        ProbeError: also of a line longer than a record may be.
    """
    most, number, rest = limit(RECORD), 1, b""
    for block in blocks(path, total):
        *whole, rest = (rest + block).split(b"\n")
        for line in whole:
            if len(line) > most:
                raise beyond(f"{path}, line {number}", "the line", RECORD)
            yield number, line
            number += 1
        if len(rest) > most:
            raise beyond(f"{path}, line {number}", "the line", RECORD)
    if rest:
        yield number, rest


def lines(path: Path, total: int = STREAMED) -> Iterator[tuple[int, str]]:
    """The same as UTF-8 text; a carriage return ends a line, too.

    Raises:
        NotText: naming the line that is not UTF-8.
    """
    number = 1
    for _, line in raw_lines(path, total):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            fault = f"not UTF-8 text ({error.reason}, byte {error.start} of the line); convert the file first"
            raise NotText(f"{path}, line {number}: {fault}") from error
        for piece in text.removesuffix("\r").split("\r"):
            yield number, piece
            number += 1


def _whole(digits: str) -> int:
    if len(digits) > DIGITS and len(digits) > limit(DIGITS):
        raise _LongNumber
    return int(digits)


_DECODER = json.JSONDecoder(parse_int=_whole)


def json_value(text: str, place: str) -> Any:
    """What a JSON text says.

    Args:
        place: file and line, for the error.

    Raises:
        ProbeError: not JSON, too deep, a whole number too long, or half a surrogate pair, which is no character.
    """
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise ProbeError(f"{place}: not JSON ({error.msg}, character {error.pos + 1})") from error
    except (_LongNumber, ValueError) as error:
        raise beyond(place, "a whole number", DIGITS, "digits") from error
    except RecursionError as error:
        raise beyond(place, "what lies inside each other", DEPTH, "levels") from error
    if text.count("[") + text.count("{") > DEPTH and _deeper(value, limit(DEPTH)):
        raise beyond(place, "what lies inside each other", DEPTH, "levels")
    if LONE.search(text):
        try:
            canonical(value).encode()
        except UnicodeEncodeError as error:
            fault = f"\\u{ord(error.object[error.start]):x} is half of a pair, and no character"
            raise ProbeError(f"{place}: {fault}; write the text as UTF-8") from error
    return value


def _deeper(value: Any, most: int) -> bool:
    level = [value] if isinstance(value, (list, dict)) else []
    for _ in range(most):
        inside = (child for node in level for child in (node.values() if isinstance(node, dict) else node))
        level = list({id(child): child for child in inside if isinstance(child, (list, dict))}.values())  # each once
    return bool(level)


def read_object(path: Path) -> dict[str, Any]:
    """The object that a JSON file holds; see ``read_text`` and ``json_value``."""
    value = json_value(read_text(path), str(path))
    if not isinstance(value, dict):
        raise ProbeError(f"{path}: a JSON object is needed, found {str(value)[:40]!r}")
    return value


def json_lines(path: Path, total: int = HELD) -> Iterator[tuple[int, Any]]:
    """What each line of a JSONL file says, with its number; empty lines are left out. See ``json_value``."""
    for number, line in lines(path, total):
        if line.strip():
            yield number, json_value(line, f"{path}, line {number}")


def csv_rows(path: Path, total: int = HELD, strict: bool = True) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file, each with the line on which it begins; empty lines are left out.

    Args:
        strict: refuse quotes that do not fit.

    Raises:
        ProbeError: not CSV, or a row larger than a record may be; names its line.
    """
    most, first, size = limit(RECORD), 1, 0

    def fed() -> Iterator[str]:
        nonlocal size
        for _, line in lines(path, total):
            size += len(line) + 1
            if size > most:
                raise beyond(f"{path}, line {first}", "the row", RECORD)
            yield f"{line}\n"

    reader = csv.reader(fed(), strict=strict)
    while True:
        usual = csv.field_size_limit(2 * most)  # of the whole process, so it is put back
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise ProbeError(f"{path}, line {first}: the row is not CSV ({error})") from error
        finally:
            csv.field_size_limit(usual)
        if row is None:
            return
        if row:
            yield first, row
        first, size = reader.line_num + 1, 0


def tar_files(path: Path, accepts: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """Name and content of the plain files in a ``.tar`` or ``.tar.gz`` whose names the function accepts, in order.

    A name that begins with ``./`` is given without it; one that leads out of the archive is refused.

    Raises:
        ProbeError: it is no such archive, is damaged, a file in it is larger than one that is held may be, or something
            else than the content of files, such as a name, takes more than 1 MB.
    """
    unpacked, remaining = blocks(path), limit(BETWEEN)

    def read(_: int) -> bytes:
        nonlocal remaining
        block = next(unpacked, b"")
        if (remaining := remaining - len(block)) < 0:
            raise beyond(str(path), "what lies between two files", BETWEEN)
        return block

    try:
        source: Any = SimpleNamespace(read=read)  # all that a stream is asked for
        with tarfile.open(fileobj=source, mode="r|", bufsize=BLOCK) as archive:
            for member in archive:
                archive.members = []  # type: ignore[attr-defined]  # else it keeps the headers of all
                if member.issparse():  # its map has no limit
                    raise ProbeError(f"{path}: {member.name!r} is stored with holes; pack it without")
                remaining = limit(BETWEEN) + member.size * member.isreg()  # of no other is anything skipped
                name = member.name.removeprefix("./")
                if not member.isfile() or not accepts(name):
                    continue
                if name.startswith("/") or ".." in name.split("/") or "\\" in name:
                    raise ProbeError(f"{path}: the name {name!r} leads out of the archive; it is not unpacked")
                if member.size > limit(HELD):
                    raise beyond(str(path), name, HELD)
                held = archive.extractfile(member)
                yield name, held.read() if held else b""
    except (tarfile.TarError, OSError, EOFError, RecursionError) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise ProbeError(f"{path.name} cannot be read as a .tar.gz: {reason}; get it again") from error


def tsv_table(
    path: Path, required: Collection[str] = (), faults: list[tuple[int, str]] | None = None
) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """A file of tab-separated fields without quotes: the names in its first line, and its rows, each with its line.

    Args:
        required: fields that must be there.
        faults: gets lines with more or fewer fields than the first, and what is wrong; without it they are refused.

    Raises:
        ProbeError: it lacks a ``required`` field, or has a line of more or fewer fields.
    """
    header: list[str] = []
    rows = []
    for number, line in lines(path, HELD):
        fields = line.split("\t")
        if not header:
            header = fields
            if absent := [name for name in required if name not in header]:
                raise ProbeError(f"{path}, line {number}: no column {', '.join(absent)}; it has {', '.join(header)}")
        elif line.strip() and len(fields) == len(header):
            rows.append((number, dict(zip(header, fields, strict=True))))
        elif line.strip():
            fault = f"{len(fields)} fields between tabs, but the first line has {len(header)}"
            if faults is None:
                raise ProbeError(f"{path}, line {number}: {fault}")
            faults.append((number, fault))
    return header, rows


def tsv_rows(path: Path, required: Collection[str]) -> list[tuple[int, dict[str, str]]]:
    """The rows of such a file, with their lines; see ``tsv_table``.

    Raises:
        ProbeError: also of a file without rows.
    """
    _, rows = tsv_table(path, required)
    if not rows:
        raise ProbeError(f"{path}: no rows; a line of names and then a row a line are needed, with tabs between fields")
    return rows


def read_frame(path: Path, **options: Any) -> pd.DataFrame:
    """A CSV file as pandas reads it.

    Args:
        **options: of ``pandas.read_csv``.

    Raises:
        ProbeError: it cannot be read, is empty, or no CSV.
    """
    import pandas as pd

    data = read_bytes(path)
    try:
        frame = pd.read_csv(io.BytesIO(data), **options)
    except (ValueError, OverflowError, RecursionError) as error:  # pandas' own errors are ValueErrors
        raise ProbeError(f"{path}: not CSV ({' '.join(str(error).split())}); make it again") from error
    if not isinstance(frame.index, pd.RangeIndex):  # it takes the first fields of longer rows for their names
        raise ProbeError(f"{path}: not CSV (rows have more fields than the first line); make it again")
    return frame


def read_entries(path: Path, needed: str) -> dict[str, dict[str, Any]]:
    """A YAML file of named entries, each a mapping that has the field ``needed``, itself a mapping.

    Raises:
        ProbeError: it cannot be read, is no YAML, or of another form.
    """
    content = yaml_value(read_text(path, SETTINGS), str(path))
    entries = list(content.values()) if isinstance(content, dict) else []
    if not entries or not all(isinstance(entry, dict) and isinstance(entry.get(needed), dict) for entry in entries):
        raise ProbeError(f"{path}: named entries are needed, each with a mapping {needed!r}; correct it there")
    return dict(content)


def _filled(node: yaml.Node, most: int, counts: dict[int, int]) -> int:
    """How many values a node stands for, each alias filled in; what is over ``most`` or inside itself has more."""
    if id(node) not in counts:
        counts[id(node)] = most + 1
        pairs = node.value if isinstance(node, yaml.MappingNode) else ()
        parts = node.value if isinstance(node, yaml.SequenceNode) else [child for pair in pairs for child in pair]
        counts[id(node)] = min(most + 1, 1 + sum(_filled(child, most, counts) for child in parts))
    return counts[id(node)]


class _Loader(yaml.SafeLoader):
    """Refuses a field that is written twice, of which YAML would silently keep the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[tuple[str, Any]] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and (key.tag, key.value) in seen:
                fault = f"field {key.value!r} is there twice"
                raise yaml.constructor.ConstructorError(None, None, fault, node.start_mark)
            seen |= {(key.tag, str(key.value))}
        return super().construct_mapping(node, deep)


def yaml_value(text: str, place: str) -> Any:
    """What a YAML text says.

    Raises:
        ProbeError: not YAML, a field twice, longer than settings are, of too many values, or too deep.
    """
    if len(text) > limit(SETTINGS):
        raise beyond(place, "the text", SETTINGS)
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node and _filled(node, limit(VALUES), {}) > limit(VALUES):
            raise beyond(place, "the text, with its aliases filled in,", VALUES, "values")
        value = loader.construct_document(node) if node else None
    except ProbeError:
        raise
    except RecursionError as error:
        raise beyond(place, "what lies inside each other", DEPTH, "levels") from error
    except Exception as error:  # its constructors of numbers and dates raise whatever Python's raise
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ProbeError(f"{place}: not YAML: {reason}") from error
    if _deeper(value, limit(DEPTH)):  # or inside itself
        raise beyond(place, "what lies inside each other", DEPTH, "levels")
    return value


def assignment(text: str) -> tuple[str, Any]:
    """Name and value of ``NAME=VALUE``, the value in YAML; what YAML takes for a date is a text here.

    Raises:
        ProbeError: of another form, or a value that is no number, text, list or mapping.
    """
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ProbeError(f"-p takes NAME=VALUE, not {text!r}")
    try:
        read = yaml_value(value, f"-p {text:.80}")
        if isinstance(read, datetime.date):
            return name, value
        json.dumps(read, allow_nan=False, ensure_ascii=False).encode()  # no half of a surrogate pair
    except ProbeError as error:
        raise ProbeError(f"{error}; put a text in quotes") from error
    except (ValueError, TypeError) as error:
        raise ProbeError(
            f"-p {text:.80}: the value is no number, text, list or mapping: {error}; put a text in quotes"
        ) from error
    return name, read
