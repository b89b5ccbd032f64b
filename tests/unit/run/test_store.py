"""Results on disk: computed once, resumed, repaired, shared, and whole or absent whatever goes wrong."""

import errno
import io
import json
import logging
import multiprocessing
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probekit import files
from probekit import store as store_module
from probekit.cli import main
from probekit.errors import StoreError
from probekit.files import canonical, digest, sweep, unfinished, write_atomically
from probekit.store import FINGERPRINTS, SCORERS, USED, Store, Work, answer, scored_by

KEY = {"model": "m", "fingerprints": FINGERPRINTS, "options": {"top": 3, "ties": "mid"}}


class Computer:
    """Makes shards and notes which were asked for; ``broken`` ones raise."""

    def __init__(self, broken: tuple[int, ...] = ()) -> None:
        self.asked: list[int] = []
        self.broken = broken

    def __call__(self, number: int) -> pd.DataFrame:
        self.asked.append(number)
        if number in self.broken:
            raise KeyboardInterrupt
        return shard(number)


def shard(number: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "prompt_id": [f"p{number}", f"q{number}"],
            "rank": [number + 1, 7],
            "score": np.array([-0.1 * number, -2.5], dtype=np.float32),
            "near": [True, False],
            "top": [["Río Negro", "x"], []],
            "top_scores": [[-0.5, -1.25], []],
        }
    )


def work(function: str, key: dict, shards: int) -> Work:
    return Work(function, key, "ranks", [2] * shards, lambda number, _: shard(number), pd.concat)


def stored(folder: Path, shards: int = 1) -> Store:
    """A store with one result."""
    store = Store(folder)
    store.frames(work("rank", KEY, shards), shard)
    return store


def computed(store: Store, shards: int = 1) -> list[int]:
    """Which shards of that result the store asks for."""
    compute = Computer()
    frames = store.frames(work("rank", KEY, shards), compute)
    assert [frame["rank"][0] for frame in frames] == list(range(1, shards + 1))
    return compute.asked


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def shard_path(store: Store, number: int) -> Path:
    (path,) = store.folder.rglob(f"{number:05d}-*.parquet")
    return path


@contextmanager
def without_rights(folder: Path) -> Iterator[None]:
    """Run as a user who may read the folder and write nothing in it (root may write anywhere)."""
    inner = [folder, *(p for p in folder.rglob("*") if p.is_dir())]
    root = os.geteuid() == 0
    for path in inner:
        path.chmod(0o555)
    try:
        if root:
            os.seteuid(65534)
            if not os.access(folder, os.R_OK | os.X_OK, effective_ids=True):
                pytest.skip(f"no other user may enter {folder.parent}")
        yield
    finally:
        if root:
            os.seteuid(0)
        for path in inner:
            path.chmod(0o755)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that another user can reach (pytest's own are closed to others)."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


# Computed once


def test_work_is_done_without_a_store_or_once_for_it(tmp_path):
    compute = Computer()
    ranks = replace(work("rank", KEY, 3), compute=lambda number, _: compute(number))
    alone, *stored = (answer(ranks, store) for store in (None, Store(tmp_path), Store(tmp_path)))
    assert all(table["rank"].tolist() == alone["rank"].tolist() for table in stored)
    assert compute.asked == [0, 1, 2] * 2
    assert len(Store(tmp_path).frames(work("rank", KEY, 3), Computer((0, 1, 2)))) == 3, (
        "under the key and number of its shards"
    )


def test_a_shard_computed_and_a_shard_read_are_alike_lists_included(tmp_path):
    whole = stored(tmp_path, 2)
    for store in (whole, Store(str(tmp_path))):
        frame = store.frames(work("rank", KEY, 2), Computer((0, 1)))[1]
        lists = {name: frame[name].map(list) for name in ("top", "top_scores")}
        pd.testing.assert_frame_equal(frame.assign(**lists), shard(1))


def test_another_key_function_or_number_of_shards_is_another_result(tmp_path):
    store, compute = Store(tmp_path), Computer()
    store.frames(work("rank", KEY, 2), compute)
    store.frames(work("rank", {**KEY, "model": "n"}, 2), compute)
    store.frames(work("perplexity", KEY, 2), compute)
    assert compute.asked == [0, 1] * 3
    # the shards of another split hold other rows, although their numbers are the same
    store.frames(work("rank", KEY, 3), compute)
    store.frames(work("rank", dict(reversed(KEY.items())), 3), compute)  # the order of the fields does not matter
    assert compute.asked == [0, 1] * 3 + [0, 1, 2]


def test_the_key_lies_in_words_beside_the_shards(tmp_path):
    store = stored(tmp_path, 2)
    place = store.place(work("rank", KEY, 2))
    assert json.loads((place / "key.json").read_text("utf-8")) == {**KEY, "shards": 2}
    assert {path.name[:6] for path in place.glob("*.parquet")} == {"00000-", "00001-"}
    assert place.parent == tmp_path / "rank"


def test_a_shard_says_what_computed_it_whoever_reads_it(tmp_path, monkeypatch):
    key, on = (
        {"model": "one of this test", "fingerprints": FINGERPRINTS},
        {"device": "cuda (A GPU)", "dtype": "bfloat16"},
    )
    monkeypatch.setitem(SCORERS, key["model"], on)
    monkeypatch.setattr(store_module, "version", lambda _: "1")
    store, before = Store(tmp_path), USED.copy()
    store.frames(work("rank", key, 1), shard)
    made = on | {"torch": "1", "transformers": "1", "tokenizers": "1"}
    assert scored_by(key["model"], before) == [made]
    monkeypatch.delitem(SCORERS, key["model"])
    monkeypatch.setattr(store_module, "version", lambda _: "2")
    before = USED.copy()
    store.frames(work("rank", key, 1), Computer(broken=(0,)))
    assert scored_by(key["model"], before) == [made] and scored_by("another", before) == []
    place = store.place(work("rank", key, 1))
    data = store_module._to_bytes(shard(0), place, 0)  # as shards were before they said it
    shutil.rmtree(place)
    write_atomically(place / f"00000-{digest(data)}.parquet", data)
    before = USED.copy()
    store.frames(work("rank", key, 1), Computer(broken=(0,)))
    assert scored_by(key["model"], before) == [{}]


def test_a_result_may_have_no_shards_or_empty_ones(tmp_path):
    store = Store(tmp_path)
    assert store.frames(work("rank", KEY, 0), Computer((0,))) == []
    (empty,) = store.frames(work("rank", KEY, 1), lambda _: shard(0)[:0])
    assert empty.empty
    assert list(empty.columns) == list(shard(0).columns)


# Resumed and repaired


def test_a_killed_run_loses_the_shard_it_was_at_and_no_other(tmp_path, caplog):
    store, killed = Store(tmp_path), Computer(broken=(2,))
    with pytest.raises(KeyboardInterrupt):
        store.frames(work("rank", KEY, 4), killed)
    assert killed.asked == [0, 1, 2]
    before = contents(tmp_path)
    with caplog.at_level(logging.INFO, "probekit"):
        assert computed(store, 4) == [2, 3]
    assert "rank: 2 of 4 shards found" in caplog.text
    after = contents(tmp_path)
    assert before.items() <= after.items() and len(after) == 5
    stored(tmp_path / "whole", 4)
    assert contents(tmp_path / "whole") == after


def test_only_missing_shards_are_computed(tmp_path):
    store = stored(tmp_path, 5)
    whole = contents(tmp_path)
    for number in (1, 4):
        shard_path(store, number).unlink()
    assert computed(store, 5) == [1, 4]
    assert contents(tmp_path) == whole


def flip(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def test_every_flipped_byte_is_found(tmp_path):
    store = stored(tmp_path)
    path = shard_path(store, 0)
    data = path.read_bytes()
    for at in range(0, len(data), max(1, len(data) // 60)):
        path.write_bytes(flip(data, at))
        assert computed(store) == [0]
        assert path.read_bytes() == data


def test_a_damaged_shard_beside_a_whole_one_costs_nothing(tmp_path, caplog):
    store = stored(tmp_path)
    damaged = shard_path(store, 0).with_name("00000-0000000000000000.parquet")
    damaged.write_bytes(b"not a shard")
    assert computed(store) == []
    assert not damaged.exists()
    assert "damaged" in caplog.text


def test_files_that_are_no_shards_are_left_alone(tmp_path):
    store = stored(tmp_path)
    place = shard_path(store, 0).parent
    for name in (".abc.part", "notes.txt", "00001-0000000000000000.parquet"):
        (place / name).write_bytes(b"x")
    assert computed(store) == []
    assert {p.name for p in place.iterdir()} >= {".abc.part", "notes.txt", "00001-0000000000000000.parquet"}


# A shard says what it is


def named_after_itself(path: Path, data: bytes) -> Path:
    """Put other bytes in the place of a shard, under a name that is right for them."""
    path.unlink()
    other = path.with_name(f"{path.name[:5]}-{digest(data)}.parquet")
    other.write_bytes(data)
    return other


def without_metadata(data: bytes) -> bytes:
    """The shard as earlier versions wrote it."""
    table, buffer = pq.read_table(io.BytesIO(data)), io.BytesIO()
    pq.write_table(table.replace_schema_metadata({b"pandas": table.schema.metadata[b"pandas"]}), buffer)
    return buffer.getvalue()


def of_other_columns(data: bytes) -> bytes:
    table, buffer = pq.read_table(io.BytesIO(data)), io.BytesIO()
    pq.write_table(table.drop_columns(["near"]), buffer, use_compliant_nested_type=False)
    return buffer.getvalue()


def with_broken_metadata(data: bytes) -> bytes:
    """The shard, whose metadata lacks what pandas looks for."""
    table, buffer = pq.read_table(io.BytesIO(data)), io.BytesIO()
    said = {"index_columns": table.column_names[:1], "column_indexes": [], "columns": [{"name": table.column_names[0]}]}
    table = table.replace_schema_metadata({**table.schema.metadata, b"pandas": json.dumps(said).encode()})
    pq.write_table(table, buffer, use_compliant_nested_type=False)
    return buffer.getvalue()


@pytest.mark.parametrize("change", [lambda d: d[: len(d) // 2], lambda d: d + b"\0", lambda _: b""])
def test_a_damaged_shard_is_named_and_computed_again(tmp_path, caplog, change):
    store = stored(tmp_path, 3)
    whole, path = contents(tmp_path), shard_path(store, 1)
    path.write_bytes(change(path.read_bytes()))
    assert computed(store, 3) == [1] and contents(tmp_path) == whole
    (said,) = [record.getMessage() for record in caplog.records]
    assert str(path) in said and "damaged" in said


@pytest.mark.parametrize(
    "change",
    [without_metadata, of_other_columns, with_broken_metadata, lambda _: b"no shard", lambda d: d[:-9] + d[-8:]],
)
def test_a_file_of_other_bytes_is_computed_again_although_its_name_is_right(tmp_path, caplog, change):
    store = stored(tmp_path, 3)
    whole, path = contents(tmp_path), shard_path(store, 1)
    foreign = named_after_itself(path, change(path.read_bytes()))
    assert computed(store, 3) == [1]
    assert str(foreign) in caplog.text and contents(tmp_path) == whole


@pytest.mark.parametrize("source", [("rank", {**KEY, "model": "n"}, 1), ("other", KEY, 1), ("rank", KEY, 0)])
def test_a_shard_of_another_key_function_or_number_is_computed_again(tmp_path, caplog, source):
    function, key, number = source
    store, there = stored(tmp_path / "here", 2), Store(tmp_path / "there")
    there.frames(work(function, key, 2), lambda i: shard(i).assign(rank=99))
    whole = contents(store.folder)
    named_after_itself(shard_path(store, 1), shard_path(there, number).read_bytes())
    assert computed(store, 2) == [1]
    assert "not the shard of its place and number" in caplog.text and contents(store.folder) == whole


def test_many_damaged_shards_take_one_line(tmp_path, caplog):
    store = stored(tmp_path, 3)
    for path in tmp_path.glob("rank/*/*.parquet"):
        path.write_bytes(b"nothing")
    assert computed(store, 3) == [0, 1, 2]
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.startswith("rank: 3 damaged") and "00000-" in said


def test_a_damaged_key_is_written_again(tmp_path):
    store = stored(tmp_path)
    whole, path = contents(tmp_path), next(tmp_path.rglob("key.json"))
    for text in ("{", '{"model":"other"}', "[" * 100_000):
        path.write_text(text)
        assert computed(store) == [] and contents(tmp_path) == whole


def test_the_folder_is_listed_once_however_many_shards_there_are(tmp_path, monkeypatch):
    store = stored(tmp_path, 30)
    listed, listing = [], os.listdir
    monkeypatch.setattr(os, "listdir", lambda path: listed.append(path) or listing(path))
    monkeypatch.setattr(Path, "glob", lambda *_: pytest.fail("listed by a pattern"))
    assert computed(store, 30) == []
    assert len(listed) <= 2  # for shards, and for what a killed run left


# What killed runs leave

DEAD = "import os; from probekit.files import unfinished; print(unfinished('page'))"


def of_a_dead_process() -> str:
    done = subprocess.run([sys.executable, "-c", DEAD], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_parts_of_ended_processes_are_swept_by_the_next_run(tmp_path):
    store, name = stored(tmp_path), of_a_dead_process()
    place = shard_path(store, 0).parent
    (place / f"{name}abc.part").write_bytes(b"half")
    (place / f"{unfinished()}abc.part").write_bytes(b"at work")
    assert computed(store) == []
    assert [path.name for path in place.glob(".*")] == [f"{unfinished()}abc.part"]


def test_what_is_swept_goes_by_process_host_and_age(tmp_path):
    dead = of_a_dead_process()
    here, number = dead.split("@")[1:3]
    elsewhere = [".page@another-host@1@abc", f".page@{socket.gethostname()}@{number}@abc"]  # a container has this name
    kept = [
        *elsewhere,
        f"{unfinished('page')}abc",
        f".page@{here}@0x@abc",
        ".notes",
        "page@x@1@abc",
        ".12_accuracy-old",
    ]
    for name in (*kept, f"{dead}folder"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "half.ipynb").write_text("half")
    (tmp_path / f"{dead}file.part").write_text("half")
    (tmp_path / ".abcdefgh.part").write_text("of an earlier version")
    assert {path.name for path in sweep(tmp_path)} == {f"{dead}folder", f"{dead}file.part"}
    assert {path.name for path in tmp_path.iterdir()} == {*kept, ".abcdefgh.part"}
    old = time.time() - files.OLD - 60
    for path in [*tmp_path.rglob("*")]:
        os.utime(path, (old, old))
    os.utime(tmp_path / f"{unfinished('page')}abc" / "half.ipynb")  # still written to
    assert {path.name for path in sweep(tmp_path)} == {*elsewhere, ".abcdefgh.part"}


def test_a_folder_that_is_not_there_or_closed_is_not_swept(tmp_path, open_folder):
    assert sweep(tmp_path / "nothing") == []
    (open_folder / f"{of_a_dead_process()}a.part").write_text("half")
    with without_rights(open_folder):
        assert sweep(open_folder) == []


# Seen, checked, cleared


def test_the_store_lists_verifies_and_clears_itself(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path))
    assert main(["store", "list"]) == main(["store", "verify"]) == main(["store", "prune"]) == 0
    store = stored(tmp_path / "results", 3)
    path = shard_path(store, 1)
    path.write_bytes(b"damaged")
    store.frames(work("perplexity", KEY, 1), shard)
    left = path.with_name(f"{of_a_dead_process()}a.part")
    left.write_text("half")
    capsys.readouterr()
    assert main(["store", "list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split("/")[0] for line in listed[:2]] == ["perplexity", "rank"] and "3 of 3 shards" in listed[1]
    assert main(["store", "verify"]) == 1
    said = capsys.readouterr()
    assert f"{path}: damaged" in said.out and "4 shards read" in said.out and "1 files are not used" in said.err
    assert main(["store", "prune"]) == 0
    assert set(capsys.readouterr().out.splitlines()[:2]) == {str(path), str(left)}
    assert main(["store", "verify"]) == 0 and not path.exists() and not left.exists()
    assert computed(store, 3) == [1]


def test_a_copied_result_is_no_result_of_its_new_place(tmp_path):
    store = stored(tmp_path, 2)
    shutil.copytree(store.place(work("rank", KEY, 2)), tmp_path / "rank" / "0123456789abcdef")
    assert {path.parent.name for path, _ in store.faults()} == {"0123456789abcdef"}
    assert len(list(store.faults())) == 3  # its key and both shards


def test_results_under_older_keys_are_told_once_and_removed_when_asked(tmp_path, monkeypatch, capsys, caplog):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path))
    monkeypatch.setattr(store_module, "FINGERPRINTS", FINGERPRINTS - 1)
    for function in ("rank", "perplexity"):
        Store().frames(work(function, {"model": "m"}, 1), shard)
    Store().frames(work("lipid", {"files": ["a"]}, 1), shard)  # asks no model
    monkeypatch.setattr(store_module, "FINGERPRINTS", FINGERPRINTS)
    store_module._tell_older.cache_clear()  # as in another process
    compute = Computer()
    Store().frames(work("lipid", {"files": ["a"]}, 1), compute)
    assert not compute.asked and not caplog.records
    for number in range(2):
        Store().frames(work("rank", {"model": "m"}, 1 + number), compute)
    assert compute.asked == [0, 0, 1]
    (said,) = (record.getMessage() for record in caplog.records)
    assert said.startswith(f"2 results in {tmp_path / 'results'} have older keys") and "store prune" in said
    assert main(["store", "prune"]) == 0
    assert "2 files and folders removed" in capsys.readouterr().out and len(list(Store().results())) == 3


def test_old_results_are_removed_when_asked(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path))
    store = stored(tmp_path / "results")
    store.frames(work("rank", {"other": 1}, 1), shard)
    place, old = store.place(work("rank", KEY, 1)), time.time() - 10 * 24 * 3600
    os.utime(next(place.glob("*.parquet")), (old, old))
    for days in ("-1", "nan", "-inf"):
        assert main(["store", "prune", f"--days={days}"]) == 1 and place.is_dir()
        assert "days are a number from 0, not" in capsys.readouterr().err
    assert main(["store", "prune", "--days", "30"]) == 0 and place.is_dir()
    assert main(["store", "prune", "--days", "9"]) == 0 and not place.exists()
    assert len(list(store.results())) == 1


# Disk full, no permission


def full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


REAL_FILE: Callable = tempfile.NamedTemporaryFile


def full_while_writing(*args: object, **options: object) -> object:
    """A file that takes half of what is written to it, as a full disk does."""
    file = REAL_FILE(*args, **options)
    file.write = lambda data: full(file.file.write(data[: len(data) // 2]))
    return file


@pytest.mark.parametrize(
    ("function", "failing"),
    [("tempfile.NamedTemporaryFile", full), ("tempfile.NamedTemporaryFile", full_while_writing), ("os.fsync", full)],
)
def test_a_full_disk_keeps_finished_shards_and_leaves_no_part(tmp_path, monkeypatch, function, failing):
    store, compute = Store(tmp_path), Computer()

    def fill_up(number: int) -> pd.DataFrame:
        if number == 2:
            monkeypatch.setattr(function, failing)
        return compute(number)

    with pytest.raises(StoreError) as caught:
        store.frames(work("rank", KEY, 4), fill_up)
    for words in ("00002-", str(tmp_path), "No space left on device", "run again"):
        assert words in str(caught.value)
    assert compute.asked == [0, 1, 2]  # nothing is computed that cannot be kept
    kept = contents(tmp_path)
    assert len(kept) == 3
    assert not [name for name in kept if not name.endswith(("key.json", ".parquet"))]
    monkeypatch.undo()
    assert computed(store, 4) == [2, 3]
    assert kept.items() <= contents(tmp_path).items()


def test_a_disk_full_from_the_start_says_so_before_anything_is_computed(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", full)
    compute = Computer()
    with pytest.raises(StoreError, match=r"key\.json: No space left on device"):
        Store(tmp_path).frames(work("rank", KEY, 2), compute)
    assert not compute.asked
    assert not contents(tmp_path)


@pytest.mark.parametrize("fault", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_file_is_replaced_whole(tmp_path, monkeypatch, fault):
    def fail(_: int) -> None:
        raise fault

    path = tmp_path / "deep/er/a.bin"
    write_atomically(path, b"old")
    with monkeypatch.context() as here:
        here.setattr(os, "fsync", fail)
        with pytest.raises((StoreError, KeyboardInterrupt), match=r"^$|a\.bin: No space left"):
            write_atomically(path, b"new")
    assert contents(tmp_path) == {"deep/er/a.bin": b"old"}
    write_atomically(path, b"new")
    assert contents(tmp_path) == {"deep/er/a.bin": b"new"}
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_store_where_a_file_stands_is_refused(tmp_path):
    (tmp_path / "taken").write_text("")
    compute = Computer()
    with pytest.raises(StoreError, match=r"cannot write .*taken"):
        Store(tmp_path / "taken").frames(work("rank", KEY, 1), compute)
    assert not compute.asked


def test_a_read_only_store_gives_what_it_holds_and_refuses_the_rest(open_folder, caplog):
    store, key = stored(open_folder, 2), {"other": 1}
    store.frames(work("rank", key, 2), shard)
    damaged = next(store.place(work("rank", key, 2)).glob("00001-*"))
    damaged.write_bytes(b"damaged")
    whole, compute = contents(open_folder), Computer()
    with without_rights(open_folder):
        assert [f["rank"][0] for f in store.frames(work("rank", KEY, 2), compute)] == [1, 2]
        with pytest.raises(StoreError, match=r"cannot write .*key\.json: Permission denied"):
            store.frames(work("rank", {"new": 1}, 2), compute)
        with pytest.raises(StoreError, match=r"cannot read or remove .*00001-.*: Permission denied"):
            store.frames(work("rank", key, 2), compute)
    assert not compute.asked
    assert contents(open_folder) == whole


@pytest.mark.parametrize(
    ("make", "message"),
    [(os.mkdir, r"cannot read or remove .*00000-.*: Is a directory"), (os.mkfifo, "not a plain file")],
)
def test_what_is_no_file_among_the_shards_is_named_and_not_waited_for(tmp_path, make, message):
    store = stored(tmp_path)
    path = shard_path(store, 0)
    path.unlink()
    make(path)
    with pytest.raises(StoreError, match=message):
        store.frames(work("rank", KEY, 1), shard)


def test_a_shard_that_another_run_removed_meanwhile_is_computed_again(tmp_path, monkeypatch):
    store = stored(tmp_path)
    read = store_module.open_regular

    def vanish(path: Path) -> BinaryIO:
        path.unlink()
        return read(path)

    monkeypatch.setattr(store_module, "open_regular", vanish)
    assert computed(store) == [0]


def test_a_shard_beyond_the_limit_is_computed_again(tmp_path, monkeypatch, caplog):
    store = stored(tmp_path)
    monkeypatch.setattr(store_module, "LARGEST", 100)
    assert computed(store) == [0] and "has more than 100 bytes, the limit" in caplog.text


# Shared


def run_shared(folder: str, name: str, start: object) -> None:
    """Compute one result together with others, and write down which shards this process computed."""
    start.wait(60)
    asked = [number for shards in (12, 13, 14) for number in computed(Store(folder), shards)]
    (Path(folder).parent / f"{name}.json").write_text(json.dumps(asked))


def test_two_processes_sharing_a_store_give_whole_results(tmp_path):
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(2)
    workers = [context.Process(target=run_shared, args=(str(tmp_path / "shared"), str(i), start)) for i in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(90)
    assert [worker.exitcode for worker in workers] == [0, 0]
    asked = [json.loads((tmp_path / f"{i}.json").read_text()) for i in range(2)]
    assert len(asked[0]) + len(asked[1]) >= 12 + 13 + 14
    for shards in (12, 13, 14):
        stored(tmp_path / "alone", shards)
    assert contents(tmp_path / "shared") == contents(tmp_path / "alone")  # whole files, no part left, none twice


# Digests


@settings(deadline=None)
@given(st.binary(max_size=12), st.data())
def test_where_the_parts_are_cut_changes_the_digest(data, draw):
    cuts = st.lists(st.integers(0, len(data)), max_size=3).map(sorted)

    def split(at: list[int]) -> list[bytes]:
        return [data[a:b] for a, b in zip([0, *at], [*at, len(data)], strict=True)]

    one, two = draw.draw(cuts), draw.draw(cuts)
    assert (digest(*split(one)) == digest(*split(two))) == (split(one) == split(two))


def test_a_digest_is_of_the_length_asked_and_stays_what_it_was():
    assert [len(digest("a", length=length)) for length in (8, 16, 32)] == [8, 16, 32]
    assert digest("Osk", b"\x00") == digest(b"Osk", "\x00") != digest("Osk\x00")
    assert digest() != digest("") != digest("", "")
    assert digest("probe", "é") == "aca428f3449cd9f1"  # a change would orphan every stored result


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=3), st.one_of(st.integers(), st.text(max_size=3), st.none())), st.randoms())
def test_canonical_text_sees_no_order_of_keys_and_all_else(value, random):
    items = list(value.items())
    random.shuffle(items)
    assert canonical(dict(items)) == canonical(value)
    assert json.loads(canonical(value)) == value
    assert canonical({**value, "more": 1}) != canonical({**value, "more": "1"})


def test_the_cache_folder_is_the_users_own_unless_named(monkeypatch):
    monkeypatch.setenv("PROBEKIT_CACHE", "/one")
    monkeypatch.setenv("XDG_CACHE_HOME", "/two")
    assert files.cache_folder() == Path("/one")
    monkeypatch.delenv("PROBEKIT_CACHE")
    assert files.cache_folder() == Path("/two/probekit")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", "/elsewhere/me")
    assert files.cache_folder() == Path("/elsewhere/me/.cache/probekit")
