"""Files within limits: what is no file, what is too large, too deep or damaged, and where it says so."""

import csv
import gzip
import io
import json
import os
import socket
import tarfile
import tracemalloc
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from probekit.contexts.resources import read_documents
from probekit.errors import ModelError, ProbeError, ProbekitError
from probekit.files import parquet, reading
from probekit.files.parquet import parquet_rows
from probekit.files.reading import (
    BrokenOff,
    blocks,
    csv_rows,
    json_value,
    lines,
    read_bytes,
    read_frame,
    tar_files,
    yaml_value,
)
from probekit.probes.completions import read_completions
from probekit.probes.lipid.entities import read_entities
from probekit.probes.lipid.medline import read_records
from probekit.probes.probe import Probe
from probekit.report import sources


def written(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


# What is no file


def pipe(folder: Path) -> Path:
    os.mkfifo(folder / "a.jsonl")
    return folder / "a.jsonl"


def door(folder: Path) -> Path:
    with socket.socket(socket.AF_UNIX) as one:
        os.chdir(folder)  # the name of a socket has 108 characters at most
        one.bind("a.jsonl")
    return folder / "a.jsonl"


@pytest.mark.parametrize("make", [pipe, door, lambda _: Path("/dev/zero")])
@pytest.mark.parametrize(
    "read",
    [
        lambda path: Probe.from_file(path if path.suffix else path / "a.jsonl"),
        read_completions,
        read_entities,
        lambda path: list(read_records(path, Counter())),
        lambda path: list(lines(path)),
    ],
)
def test_pipes_sockets_and_devices_are_refused_at_once(tmp_path, monkeypatch, make, read):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProbeError, match=r"cannot read .*(not a plain file|Not a directory)"):
        read(make(tmp_path))


def test_a_name_that_no_file_can_have_is_refused():
    with pytest.raises(ProbeError, match="no file can have this name"):
        read_bytes(Path("a\0b"))


# What is too large


@pytest.fixture
def small(monkeypatch):
    for name, most in (("RECORD", 100), ("HELD", 1000), ("STREAMED", 2000)):
        monkeypatch.setattr(reading, name, most)


def test_a_long_line_is_named_with_the_limit_and_the_way_on(tmp_path, small, monkeypatch):
    path = written(tmp_path / "a.txt", "short\n" + "x" * 101 + "\n")
    said = rf"{path}, line 2: the line has more than 100 bytes, the limit; .* set PROBEKIT_LIMITS=2 to double"
    with pytest.raises(ProbeError, match=said):
        list(lines(path))
    monkeypatch.setenv("PROBEKIT_LIMITS", "2")
    assert [number for number, _ in lines(path)] == [1, 2]


def test_a_long_row_over_several_lines_is_named_where_it_begins(tmp_path, small):
    path = written(tmp_path / "a.csv", "a\nb\n" + '"' + "x\n" * 60 + '"\n')
    with pytest.raises(ProbeError, match=r"line 3: the row has more than 100 bytes"):
        list(csv_rows(path))
    assert csv.field_size_limit() == 131072  # of the whole process, as it was


def test_what_a_file_unpacks_to_is_bounded(tmp_path):
    path = written(tmp_path / "a.gz", gzip.compress(b"\n" * 3_000_000))
    assert path.stat().st_size < 4000
    tracemalloc.start()
    with pytest.raises(ProbeError, match=r"the file, unpacked, has more than 1,000,000 bytes"):
        for _ in blocks(path, 1_000_000):
            pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000


@pytest.mark.parametrize("given", ["0", "-1", "many", "nan", "1e9"])
def test_a_factor_that_is_none_is_named(tmp_path, monkeypatch, given):
    monkeypatch.setenv("PROBEKIT_LIMITS", given)
    with pytest.raises(ProbeError, match="PROBEKIT_LIMITS multiplies the limits"):
        list(lines(written(tmp_path / "a.txt", "x\n")))


# gzip


def test_gzip_is_told_by_its_content_and_may_have_several_parts(tmp_path):
    data = gzip.compress(b"one\n") + gzip.compress(os.urandom(400_000)) + b"\0" * 600 + gzip.compress(b"three")
    found = read_bytes(written(tmp_path / "plain.txt", data))
    assert found[:4] == b"one\n" and found[-5:] == b"three" and len(found) == 400_009
    assert read_bytes(written(tmp_path / "a.gz", b"no gzip")) == b"no gzip"


@pytest.mark.parametrize("tail", [b"garbage after", b"x", None])
def test_all_before_the_damage_is_given(tmp_path, tail):
    whole = os.urandom(300_000)
    packed = gzip.compress(whole)
    path = written(tmp_path / "a.gz", packed + tail if tail else packed[:-2000])
    stream, got = blocks(path), list[bytes]()
    with pytest.raises(BrokenOff, match=r"a\.gz cannot be read to its end: .*; get the file again"):
        got.extend(stream)
    found = b"".join(got)
    assert found == whole[: len(found)] and len(found) >= (len(whole) if tail else len(whole) - 3000)


# Parquet


def again(value: str, times: int) -> pa.Array:
    """A value that a file holds once."""
    return pa.DictionaryArray.from_arrays(pa.array([0] * times, pa.int32()), pa.array([value]))


SHORT_LISTS = pa.array([[1] * 9] * 100)


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (again("x" * 900, 100), "the file, unpacked, has more than 20,000 bytes"),
        (again("x" * 1500, 2), "a row has more than 1,000 bytes"),
        (pa.StructArray.from_arrays([again("x" * 1500, 2)], ["a"]), "a row has more than 1,000 bytes"),
        (pa.ListArray.from_arrays(pa.array([0, 40]), again("x" * 400, 40)), "a row has more than 1,000 bytes"),
        (pa.MapArray.from_arrays(pa.array([0, 40]), again("x" * 400, 40), range(40)), "a row has more than 1,000"),
        (pa.array([[1] * 200] * 2), "a row has more than 1,000 bytes"),
        (SHORT_LISTS, "column a.list.element of a row group has more than 625 values"),
    ],
)
def test_rows_of_parquet_are_measured_with_what_they_repeat(tmp_path, monkeypatch, column, said):
    pq.write_table(pa.table({"a": column}), tmp_path / "a.parquet")
    monkeypatch.setattr(parquet, "RECORD", 1000)
    monkeypatch.setattr(parquet, "HELD", 20_000)
    with pytest.raises(ProbeError, match=said):
        list(parquet_rows(tmp_path / "a.parquet", total=20_000))


def test_a_value_that_each_row_repeats_is_not_filled_in_for_hundreds_of_rows(tmp_path, monkeypatch):
    table = pa.table({"text": again("x" * (1 << 20), 256), "more": SHORT_LISTS.take(pa.array([0] * 256))})
    pq.write_table(table, tmp_path / "a.parquet", compression="zstd")
    monkeypatch.setattr(parquet, "HELD", 10 << 20)
    pool, usual = pa.proxy_memory_pool(pa.system_memory_pool()), pa.default_memory_pool()
    pa.set_memory_pool(pool)
    try:
        rows = Counter(len(row["text"]) for row in parquet_rows(tmp_path / "a.parquet"))
    finally:
        pa.set_memory_pool(usual)
    assert rows == {1 << 20: 256} and pool.max_memory() < 60 << 20


def test_damaged_metadata_of_parquet_are_read_or_refused_and_end_no_process(tmp_path):
    pq.write_table(pa.table({"text": ["One."], "gold": [["a"]]}), tmp_path / "a.parquet")
    data, ends = (tmp_path / "a.parquet").read_bytes(), Counter[str]()
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    for at in range(start, start + 150):
        path = written(tmp_path / "b.parquet", data[:at] + bytes([data[at] ^ 8]) + data[at + 1 :])
        try:
            ends[f"{len(list(parquet_rows(path)))} row"] += 1
        except ProbeError:
            ends["refused"] += 1
    assert ends["refused"] > 9 and ends["1 row"] > 9


@pytest.mark.parametrize("held", [reading.HELD, 10_000])
def test_lists_of_parquet_are_read_as_they_are(tmp_path, monkeypatch, held):
    monkeypatch.setattr(parquet, "HELD", held)
    rows = [{"a": [f"{n}", "same" * 30, None], "b": {"c": [["x"], []]}, "d": "text"} for n in range(100)]
    pq.write_table(pa.Table.from_pylist([*rows, {"a": None}]), tmp_path / "a.parquet")
    assert list(parquet_rows(tmp_path / "a.parquet")) == [*rows, {"a": None, "b": None, "d": None}]


# Archives


def header(kind: bytes, size: int, name: str = "x") -> bytes:
    about = tarfile.TarInfo(name)
    about.type, about.size = kind, size
    return about.tobuf(tarfile.USTAR_FORMAT)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        *(
            (header(kind, 9_000_000) + bytes(9_000_000), "between two files has more")
            for kind in (b"x", b"g", b"L", b"K")
        ),
        (header(tarfile.DIRTYPE, 9_000_000) + header(b"x", 9_000_000) + bytes(9_000_000), "between two files has more"),
        ((header(b"x", 0)) * 2000, "cannot be read as a .tar.gz"),
        (header(tarfile.GNUTYPE_SPARSE, 0), "is stored with holes"),
    ],
)
def test_what_is_no_content_of_an_archive_is_bounded(tmp_path, data, said):
    path = written(tmp_path / "a.tar.gz", gzip.compress(data))
    tracemalloc.start()
    with pytest.raises(ProbeError, match=said):
        list(tar_files(path, bool))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000


def test_large_files_of_an_archive_are_skipped_and_read(tmp_path):
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        for name in ("no", "a" * 300, "yes"):
            about = tarfile.TarInfo(name)
            about.size = 3_000_000
            archive.addfile(about, io.BytesIO(bytes(about.size)))
    found = {name: len(data) for name, data in tar_files(tmp_path / "a.tar.gz", lambda name: name != "no")}
    assert found == {"a" * 300: 3_000_000, "yes": 3_000_000}


def test_headers_of_an_archive_are_not_kept(tmp_path):
    """Each member copies all global keys: of thousands, those of one are held."""
    keys = {f"key{number}": "x" * 20 for number in range(2000)}
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz", format=tarfile.PAX_FORMAT, pax_headers=keys) as archive:
        for number in range(300):
            archive.addfile(tarfile.TarInfo(str(number)))
    tracemalloc.start()
    assert len(list(tar_files(tmp_path / "a.tar.gz", lambda name: True))) == 300
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


# JSON


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("9" * 5000, "a whole number has more than 100 digits"),
        ("9" * 101, "a whole number has more than 100 digits"),
        ("[" * 65 + "]" * 65, "what lies inside each other has more than 64 levels"),
        ('{"a":' * 30_000 + "1" + "}" * 30_000, "what lies inside each other has more than 64 levels"),
        ('"\\ud800"', r"\\ud800 is half of a pair"),
        ('{"\\uDC00": 1}', r"\\udc00 is half of a pair"),
        ('{"a"', "not JSON"),
    ],
)
def test_json_that_breaks_other_code_is_refused(text, said):
    with pytest.raises(ProbeError, match=rf"a\.jsonl, line 3: {said}"):
        json_value(text, "a.jsonl, line 3")


def test_json_within_the_limits_is_read():
    deep = "[" * 64 + "]" * 64
    for text in (deep, "[" + "[],[]," * 99 + "1]", '"\\ud83d\\ude00"', "9" * 100, '"\\\\ud800"', "-" + "9" * 99):
        assert json_value(text, "") == json.loads(text)


# YAML and tables


@pytest.mark.parametrize(
    "text",
    [
        "a: !!int x",
        "a: !!timestamp x",
        "!!bool x",
        "&a [*a]",
        "[" * 1500,
        "a: [",
        "!!python/name:os.system ''",
        "{[]: 1}",
        "a: !!float ''",
        "a: &a {<<: *a}",
        "a: {b: 1, c: 2, b: 3}",
        *(
            "- &a0 {x: 1}\n" + "".join(f"- &a{n} {shape % ', '.join([f'*a{n - 1}'] * 9)}\n" for n in range(1, 9))
            for shape in ("{<<: [%s]}", "[%s]")
        ),
    ],
)
def test_yaml_that_breaks_its_reader_is_refused(text):
    with pytest.raises(ProbeError, match=r"^a\.yml: "):
        yaml_value(text, "a.yml")


def test_yaml_of_some_aliases_and_merges_is_read():
    text = "a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: {<<: [*b, *a], z: [*a, *a]}"
    assert yaml_value(text, "")["c"] == {"x": 1, "y": 2, "z": [{"x": 1}, {"x": 1}]}
    assert yaml_value("", "") is None


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b'a,b\n"', b"a\n1,2\n1,2,3\n", b"a\n1,2\n1,2\n"])
def test_an_empty_or_broken_table_is_named(tmp_path, data):
    with pytest.raises(ProbeError, match=r"a\.csv: not CSV"):
        read_frame(written(tmp_path / "a.csv", data))


@pytest.mark.parametrize("text", ["", "- 1", "12_a: 3", "12_a: {profiles: 1}", "a: !!int x"])
def test_a_broken_list_of_studies_is_named(tmp_path, monkeypatch, text):
    written(tmp_path / "studies.yml", text)
    monkeypatch.setenv("PROBEKIT_HOME", str(tmp_path))
    with pytest.raises(ProbekitError, match=r"studies\.yml: "):
        sources.studies()


# Documents and training text


def test_documents_beyond_a_limit_are_refused_and_broken_rows_counted(tmp_path, monkeypatch):
    counts: Counter[str] = Counter()
    written(tmp_path / "a.jsonl", '{"text": "one"}\n' + "[" * 9999 + '\n{"text": "\\ud800"}\n')
    assert [one.text for one in read_documents(tmp_path, counts)] == ["one"]
    assert sum(count for name, count in counts.items() if "not a record" in name) == 2
    monkeypatch.setattr(reading, "RECORD", 10)
    with pytest.raises(ProbeError, match=r"a\.jsonl, line 1: the line has more than 10 bytes"):
        list(read_documents(tmp_path, counts))


@pytest.mark.slow
def test_training_text_is_never_held_and_damage_is_told(tmp_path):
    from probekit.demo.training.corpus import read_text

    packed = gzip.compress(b"a line of text\n" * 400_000)
    tracemalloc.start()
    text = read_text(written(tmp_path / "a.txt.gz", packed))
    assert sum(1 for _ in text.lines) == sum(1 for _ in text.lines) == 400_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4_000_000
    for damage in (packed[:-200], packed[:500] + b"\xff" * 40 + packed[540:], packed + b"more"):
        with pytest.raises(ProbeError, match=r"a\.txt\.gz cannot be read to its end"):
            read_text(written(tmp_path / "a.txt.gz", damage))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1}', "no field 'recipe'"),
        ("[1]", "a JSON object is needed"),
        ("{", "not JSON"),
        ('{"recipe": 1, "parameters": 1, "texts": [1]}', "a field is of the wrong kind"),
        ('{"recipe": 1, "parameters": 1, "texts": [], "loss": [1]}', "a field is of the wrong kind"),
    ],
)
def test_a_damaged_training_record_is_named(tmp_path, text, said):
    from probekit.models.card import about

    written(tmp_path / "training.json", text)
    with pytest.raises(ModelError, match=rf"{tmp_path}.*{said}"):
        about(str(tmp_path))
