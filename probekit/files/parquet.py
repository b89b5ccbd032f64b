"""Parquet files of others within the limits of ``probekit.files.reading``."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from probekit.errors import ProbeError
from probekit.files.reading import HELD, RECORD, STREAMED, beyond, limit, open_regular

OBJECT = 32  # bytes that a value in a list, or a row, takes at least


def parquet_rows(path: Path, columns: Collection[str] | None = None, total: int = STREAMED) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet file, some hundreds read at a time: all columns, or those of ``columns``, in any case.

    Some bytes can stand for a value that each row has again, so rows are measured before they become Python's.

    Raises:
        ProbeError: it cannot be read, is no Parquet or damaged, a row is larger than a record may be, or all of them
            than ``total``.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with open_regular(path) as source, pq.ParquetFile(source, pre_buffer=False) as file:
            every, given = file.schema_arrow.names, 0
            names = {
                name: name.lower() if columns else name for name in every if not columns or name.lower() in columns
            }
            at_once, lists = _bounds(path, file, tuple(names), total)
            file = pq.ParquetFile(source, metadata=file.metadata, read_dictionary=lists, pre_buffer=False)
            for batch in file.iter_batches(at_once, columns=list(names), use_threads=False):
                size = _measured(batch)
                if (given := given + size) > limit(total):
                    raise beyond(str(path), "the file, unpacked,", total)
                whole = size <= limit(RECORD)
                for chunk in [batch] if whole else (batch.slice(row, 1) for row in range(len(batch))):
                    if not whole and _measured(chunk) > limit(RECORD):
                        raise beyond(str(path), "a row", RECORD)
                    for row in chunk.to_pylist():
                        yield {names[name]: value for name, value in row.items()}
    except (pa.ArrowException, OSError, ValueError, LookupError) as error:
        if isinstance(error, ProbeError):
            raise
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        raise ProbeError(f"{path} cannot be read as Parquet: {reason}; get the file again") from error


def _bounds(path: Path, file: Any, names: tuple[str, ...], total: int) -> tuple[int, list[str]]:
    """How many rows fit into what may be held, and the columns of texts in lists, which are not to be filled in."""
    largest, lists = 1, set[str]()
    groups = list(map(file.metadata.row_group, range(file.num_row_groups)))
    size = sum(group.total_byte_size for group in groups)
    if size > limit(total) or (size > limit(HELD) and size > 100 * path.stat().st_size):  # no text is packed so well
        raise beyond(str(path), "the file, unpacked,", total if size > limit(total) else HELD)
    file.scan_contents(list(names))  # raises of a damaged column, at which what follows would end the process
    roots = {name.partition(".")[0] for name in names}
    for group in groups:
        for number, schema in enumerate(map(file.schema.column, range(group.num_columns))):
            if schema.path.partition(".")[0] not in roots:
                continue
            column = group.column(number)
            size = column.total_uncompressed_size
            if schema.max_repetition_level:
                if column.num_values * max(OBJECT, schema.length) > limit(HELD):
                    raise beyond(str(path), f"column {schema.path} of a row group", HELD // OBJECT, "values")
                texts = schema.physical_type == "BYTE_ARRAY" and column.num_values * size > limit(HELD)
                lists |= {schema.path} if texts else set()
            else:
                largest = max(largest, size, schema.length)
    return max(1, min(256, limit(HELD) // largest)), sorted(lists)


def _measured(array: Any) -> int:
    """Bytes of an array or of a batch of rows, each value counted where it stands."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(array, pa.RecordBatch):
        return OBJECT * len(array) + sum(map(_measured, array.columns))
    kind = array.type
    if pa.types.is_map(kind):
        array = array.cast(pa.list_(pa.struct([kind.key_field, kind.item_field])))
    if pa.types.is_nested(kind):
        inside = array.flatten()
        return sum(map(_measured, inside)) if isinstance(inside, list) else OBJECT * len(inside) + _measured(inside)
    if pa.types.is_dictionary(kind):
        return pc.sum(pc.binary_length(array.dictionary).take(array.indices)).as_py() or 0
    return int(array.nbytes)
