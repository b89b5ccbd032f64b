"""Results on disk: keyed, sharded, atomic, resumable.

A result lies in ``<folder>/<function>/<key>/`` as Parquet shards, each named by its number and by the digest of its
own bytes. The key is the digest of everything that decides the result; ``key.json`` beside the shards spells it out.
"""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from probekit.errors import StoreError
from probekit.files import cache_folder, canonical, digest, write_atomically

log = logging.getLogger(__name__)


class Store:
    """A folder of finished shards. Two runs may share it: whole files replace whole files.

    Args:
        folder: where results lie; ``results`` in the cache folder by default.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = Path(folder) if folder is not None else cache_folder() / "results"

    def place(self, function: str, key: Mapping[str, Any]) -> Path:
        """Folder of one result; ``key`` is JSON-like and names all that decides it, the number of shards included."""
        return self.folder / function / digest(canonical(key))

    def frames(
        self, function: str, key: Mapping[str, Any], shards: int, compute: Callable[[int], pd.DataFrame]
    ) -> list[pd.DataFrame]:
        """All shards of a result, in order; ``compute(i)`` is called only for those not found whole.

        A shard is written as soon as it is computed, so that a killed run loses at most one. A shard whose bytes are
        not those it was named after is named in a warning and computed again.

        Raises:
            StoreError: a shard cannot be read or written (disk full, no permission); finished ones are kept.
        """
        key = {**key, "shards": shards}
        place = self.place(function, key)
        if not (place / "key.json").is_file():
            write_atomically(place / "key.json", (canonical(key) + "\n").encode())
        found = [self._read(place, index) for index in range(shards)]
        if any(frame is not None for frame in found):
            log.info("%s: %d of %d shards found in %s", function, sum(f is not None for f in found), shards, place)
        for index in range(shards):
            if found[index] is None:
                data = _to_bytes(compute(index))
                write_atomically(place / f"{index:05d}-{digest(data)}.parquet", data)
                found[index] = _from_bytes(data)
        return [frame for frame in found if frame is not None]

    def _read(self, place: Path, index: int) -> pd.DataFrame | None:
        for path in sorted(place.glob(f"{index:05d}-*.parquet")):
            try:
                data = path.read_bytes()
                whole = digest(data) == path.stem.partition("-")[2]
                if not whole:
                    log.warning("damaged shard %s: its bytes are not what it was named after; computing it again", path)
                    path.unlink(missing_ok=True)
            except FileNotFoundError:  # a run that shares the store found it damaged first
                continue
            except OSError as error:
                raise StoreError(
                    f"cannot read or remove {path}: {error.strerror}; see to its permissions or choose another folder"
                ) from error
            if whole:
                return _from_bytes(data)
        return None


def _to_bytes(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), buffer, compression="zstd")
    return buffer.getvalue()


def _from_bytes(data: bytes) -> pd.DataFrame:
    # not read_table: a thread of its scanner may outlive the call, and abort a process that ends then (Arrow 39862)
    with pq.ParquetFile(pa.BufferReader(data)) as file:
        frame: pd.DataFrame = file.read(use_threads=False).to_pandas(use_threads=False)
    return frame
