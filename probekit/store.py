"""Results on disk: keyed, sharded, atomic, resumable.

A result lies in ``<folder>/<function>/<key>/`` as Parquet shards, each named by its number and by the digest of its
own bytes. The key is the digest of what is asked of which model or data; ``key.json`` beside the shards spells it out.
Inside, a shard says which function, key and number it belongs to, and which schema it has: a file of another result
is not taken for it, whatever its name. One that a model computed names libraries, and, where known,
device and number format.
"""

from __future__ import annotations

import io
import json
import logging
import math
import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from probekit.errors import ProbeError, StoreError
from probekit.files import cache_folder, canonical, digest, sweep, write_atomically
from probekit.files.progress import Progress
from probekit.files.reading import HELD, beyond, limit, open_regular, read_object

log = logging.getLogger(__name__)
KEY = "key.json"
SHARD = re.compile(r"(\d{5,})-.*\.parquet")
FINGERPRINTS = 2  # of models, in keys: raise it when they hold more, so that results under older ones can be recognised
LARGEST = 8 * HELD  # bytes of a shard, packed or unpacked
INSIDE = b"probekit"  # of the metadata of a shard: what it belongs to
MADE = b"probekit made"  # the same: what computed it
LIBRARIES = ("torch", "transformers", "tokenizers")
SCORERS: dict[str, Mapping[str, str]] = {}  # fingerprint of a model that was read here -> device and number format
USED = Counter[tuple[str, str]]()  # shards handed out here, by fingerprint and what computed them
Shard = tuple[pd.DataFrame, str]  # and what computed it, as JSON; empty where it does not say so


@dataclass(frozen=True)
class Work:
    """A result that is made of shards, each of which any machine can make.

    Args:
        function: what is asked.
        key: JSON-like; names what else is asked, and of which model, if any.
        title: what runs.
        sizes: of each shard: forward rows, statements, or what else counts its work.
        compute: makes the shard of a number and says how many rows are done.
        finish: makes the result of all shards, in order.
        tokens: of all rows; None where unknown.
    """

    function: str
    key: Mapping[str, Any]
    title: str
    sizes: Sequence[int]
    compute: Callable[[int, Progress], pd.DataFrame]
    finish: Callable[[list[pd.DataFrame]], Any]
    tokens: int | None = None

    @property
    def whole_key(self) -> dict[str, Any]:
        """The key with the number of shards and, where a model is asked, the version of fingerprints."""
        fingerprints = {"fingerprints": FINGERPRINTS} if "model" in self.key else {}
        return {**self.key, "shards": len(self.sizes), **fingerprints}

    @property
    def model(self) -> str:
        """Fingerprint of the model; empty where none is asked, or of one behind a server without a revision."""
        return str(self.key.get("model", ""))


@dataclass(frozen=True)
class Result:
    """A result in the store.

    Args:
        place: its folder.
        key: of ``key.json``; empty where that is damaged or absent.
        shards: its files, by number.
        size: bytes of them.
        written: when the last of them, or without any the folder, was; in seconds since 1970.
    """

    place: Path
    key: Mapping[str, Any]
    shards: list[Path]
    size: int
    written: float


class Store:
    """A folder of finished shards. Two runs may share it: whole files replace whole files.

    Args:
        folder: where results lie; ``results`` in the cache folder by default.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = Path(folder) if folder is not None else cache_folder() / "results"
        self.shared = folder is None  # with the workers of a cluster, see ``probekit.run``

    def place(self, work: Work) -> Path:
        """Folder of the result of some work, named after its key."""
        return self.folder / work.function / digest(canonical(work.whole_key))

    def frames(self, work: Work, compute: Callable[[int], pd.DataFrame]) -> list[pd.DataFrame]:
        """All shards of a result, in order; ``compute(i)`` is called only for those not found whole.

        A shard is written as soon as it is computed, so that a killed run loses at most one. A file met on the way
        that is not the shard it is named after is removed; one warning counts these and names the first. Where a
        model has to be asked, one warning a process and folder counts the results whose keys are older.

        Raises:
            StoreError: a shard cannot be read or written (disk full, no permission); finished ones are kept.
        """
        place, shards = self.place(work), self._shards(work)
        missing = [index for index, shard in enumerate(shards) if shard is None]
        if len(missing) < len(shards):
            log.info("%s: %d of %d shards found in %s", work.function, len(shards) - len(missing), len(shards), place)
        if missing and work.model:
            _tell_older(self.folder)
        _note(place, work)
        for index in missing:
            shards[index] = _made(place, work.model, index, compute)
        whole = [shard for shard in shards if shard is not None]
        USED.update((work.model, made) for _, made in whole)
        return [frame for frame, _ in whole]

    def _shards(self, work: Work) -> list[Shard | None]:
        """The shards of a result, None where there is no whole one; what is damaged is removed."""
        sweep(place := self.place(work))
        files, faults = _files(place), list[str]()
        shards = [_first_whole(files.get(index, []), faults) for index in range(len(work.sizes))]
        if faults:
            log.warning("%s: %d damaged, removed and computed again, such as %s", work.function, len(faults), faults[0])
        return shards

    def missing(self, work: Work) -> list[int]:
        """Numbers of the shards that are not finished.

        Raises:
            StoreError: as of ``frames``.
        """
        return [number for number, shard in enumerate(self._shards(work)) if shard is None]

    def finish(self, work: Work, index: int) -> bool:
        """Make one shard of a result, unless it is there. Whether it was made.

        Raises:
            StoreError: as of ``frames``.
        """
        place = self.place(work)
        missing = _first_whole(_files(place, f"{index:05d}-").get(index, []), []) is None
        if missing:
            _note(place, work)
            progress = Progress(work.title, work.sizes)
            _made(place, work.model, index, lambda number: work.compute(number, progress))
        return missing

    def results(self) -> Iterator[Result]:
        """What lies in the store, by function and key.

        Raises:
            StoreError: a folder cannot be read.
        """
        for place in sorted(self.folder.glob("*/*")):
            shards = [path for files in _files(place).values() for path in files] if place.is_dir() else []
            if shards or (place / KEY).is_file():
                written = max(path.stat().st_mtime for path in shards or [place])
                yield Result(place, _key(place) or {}, shards, sum(path.stat().st_size for path in shards), written)

    def faults(self) -> Iterator[tuple[Path, str]]:
        """Each file that is not the shard, or the key, that its place and its name say, and why.
        Each folder of a result whose key is older, for which no run looks; files in all others are read.

        Raises:
            StoreError: a file or folder cannot be read.
        """
        for result in self.results():
            if digest(canonical(result.key)) != result.place.name:
                yield result.place / KEY, "damaged or absent: it is not the key that the folder is named after"
            elif _older(result.key):
                yield result.place, "its key is older and does not hold the configuration of the model"
                continue
            for path in result.shards:
                if fault := _fault(path):
                    yield path, fault

    def prune(self, days: float | None = None) -> Iterator[Path]:
        """Remove what ``faults`` finds, results not written to for so many days, and beside results what killed runs
        left unfinished, of other machines once it is a week old.

        Yields:
            What was removed, or, of a key, was absent.

        Raises:
            StoreError: something cannot be read or removed, or the days are below 0.
        """
        if days is not None and not days >= 0:
            raise StoreError(f"days are a number from 0, not {days:g}: nothing is removed")
        for result in list(self.results()):
            yield from sweep(result.place)
            if days is not None and time.time() - result.written > days * 24 * 3600:
                _remove(result.place)
                yield result.place
        for path, _ in list(self.faults()):
            _remove(path)
            yield path


def answer(work: Work, store: Store | None = None) -> Any:
    """The result of some work: shards that the store has are read, the others computed and kept there.

    Args:
        work: what is to be done.
        store: where finished shards are kept and found; None keeps nothing.

    Raises:
        StoreError: see ``Store.frames``.
    """
    with Progress(work.title, work.sizes) as progress:

        def compute(shard: int) -> pd.DataFrame:
            progress.reach(shard)
            return work.compute(shard, progress)

        if store is None or not work.sizes or ("model" in work.key and not work.model):  # of weights without a name
            frames = [compute(shard) for shard in range(len(work.sizes))]
        else:
            frames = store.frames(work, compute)
    return work.finish(frames)


class _Fault(Exception):
    """Why a file is not the shard that it is named after."""


def _files(place: Path, begin: str = "") -> dict[int, list[Path]]:
    """The shards in a folder by their number, as their names have it; those whose names begin so."""
    files: dict[int, list[Path]] = {}
    try:
        for name in sorted(name for name in os.listdir(place) if name.startswith(begin)):
            if match := SHARD.fullmatch(name):
                files.setdefault(int(match[1]), []).append(place / name)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise _unreadable(place, error) from error
    return files


def _key(place: Path) -> dict[str, Any] | None:
    """What ``key.json`` holds; None where it is damaged or not there."""
    try:
        return read_object(place / KEY)
    except ProbeError:
        return None


def _older(key: Mapping[str, Any]) -> bool:
    """Whether a key names a model by a fingerprint that held less than they do now."""
    return "model" in key and key.get("fingerprints") != FINGERPRINTS


@cache
def _tell_older(folder: Path) -> None:
    if older := sum(_older(_key(place) or {}) for place in folder.glob("*/*")):
        log.warning(
            "%d results in %s have older keys, which do not hold the configuration of the model: what is needed of "
            "them is asked again; `probekit store prune` removes them",
            older,
            folder,
        )


def _note(place: Path, work: Work) -> None:
    """Let ``key.json`` spell the key out."""
    if canonical(_key(place)) != canonical(work.whole_key):
        write_atomically(place / KEY, (canonical(work.whole_key) + "\n").encode())


def scored_by(model: str, before: Counter[tuple[str, str]] | None = None) -> list[dict[str, str]]:
    """What computed the shards of a model that were handed out here, each once: ``device, dtype`` and ``LIBRARIES``.

    Empty of shards of earlier versions, which do not say it.

    Args:
        model: its fingerprint.
        before: what ``USED`` was before; its shards are not counted.
    """
    used = USED - (before or Counter())
    return [json.loads(made) if made else {} for name, made in sorted(used) if name == model]


def _made(place: Path, model: str, index: int, compute: Callable[[int], pd.DataFrame]) -> Shard:
    """A shard computed, written, and as it will be read."""
    frame = compute(index)
    made = canonical({**{name: version(name) for name in LIBRARIES}, **SCORERS.get(model, {})}) if model else ""
    data = _to_bytes(frame, place, index, made)
    path = place / f"{index:05d}-{digest(data)}.parquet"
    write_atomically(path, data)
    return _from_bytes(data, path)


def _first_whole(paths: list[Path], faults: list[str]) -> Shard | None:
    """The first of several files of one number that is the shard it is named after; those before it are removed.

    What was wrong with these is added to ``faults``.
    """
    for path in paths:
        try:
            if shard := _read(path):
                return shard
        except _Fault as fault:
            faults.append(f"{path}: {fault}")
            _remove(path)
    return None


def _fault(path: Path) -> str:
    """Why a file is not the shard that it is named after; nothing if it is, or is gone meanwhile."""
    try:
        _read(path)
    except _Fault as fault:
        return str(fault)
    return ""


def _remove(path: Path) -> None:
    try:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"cannot read or remove {path}: {error.strerror}; see to its permissions or choose another folder"
    )


def _inside(place: Path, index: int, schema: pa.Schema) -> bytes:
    """What a shard says of itself."""
    columns = schema.to_string(show_field_metadata=False, show_schema_metadata=False)
    labels = {"function": place.parent.name, "key": place.name, "shard": index, "schema": digest(columns)}
    return canonical(labels).encode()


def _to_bytes(frame: pd.DataFrame, place: Path, index: int, made: str = "") -> bytes:
    buffer = io.BytesIO()
    table = pa.Table.from_pandas(frame, preserve_index=False)
    labels = {INSIDE: _inside(place, index, table.schema)} | ({MADE: made.encode()} if made else {})
    table = table.replace_schema_metadata({**table.schema.metadata, **labels})
    # the names of list items stay as they are, so that the schema read is the schema written
    pq.write_table(table, buffer, compression="zstd", use_compliant_nested_type=False)
    return buffer.getvalue()


def _read(path: Path) -> Shard | None:
    """A shard as it lies on disk; None where a run that shares the store has removed it meanwhile.

    Raises:
        _Fault: as of ``_from_bytes``, or larger than a file may be that is held in memory.
        StoreError: it cannot be read.
    """
    try:
        with open_regular(path) as file:
            data = file.read(limit(LARGEST) + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(path, error) from error
    if len(data) > limit(LARGEST):
        raise _Fault(str(beyond(str(path), "the shard", LARGEST)))
    return _from_bytes(data, path, limit(LARGEST))


def _from_bytes(data: bytes, path: Path, most: float = math.inf) -> Shard:
    """The table of a shard, and what computed it.

    Raises:
        _Fault: damaged, no shard of this place and number, or of more than so many bytes unpacked.
    """
    number, _, name = path.stem.partition("-")
    if digest(data) != name:
        raise _Fault("damaged: its bytes are not what it was named after")
    try:
        # not read_table: a thread of its scanner may outlive the call, and abort a process that ends then (Arrow 39862)
        with pq.ParquetFile(pa.BufferReader(data)) as file:
            labels = file.schema_arrow.metadata or {}
            inside = labels.get(INSIDE)
            if inside != _inside(path.parent, int(number), file.schema_arrow):
                says = inside.decode("utf-8", "replace") if inside else "nothing, as those of earlier versions do"
                raise _Fault(f"not the shard of its place and number: inside it says {says}")
            if sum(file.metadata.row_group(n).total_byte_size for n in range(file.num_row_groups)) > most:
                raise _Fault(str(beyond(str(path), "the shard, unpacked,", LARGEST)))
            frame: pd.DataFrame = file.read(use_threads=False).to_pandas(use_threads=False)
    except (pa.ArrowException, OSError, ValueError, LookupError) as error:
        raise _Fault(f"damaged: it is not Parquet ({str(error).partition(chr(10))[0]})") from error
    return frame, labels.get(MADE, b"").decode()
