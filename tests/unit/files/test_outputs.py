"""What lies where a command writes: its own files are replaced, those of others never without a word."""

import os
import resource
from functools import partial

import pytest

from probekit.errors import StoreError
from probekit.files import unfinished, write_atomically
from probekit.files.outputs import MADE, refuse_other, staged, write_output

NAMES = ("p.ipynb", "p")


def make(folder, key="k", force=False, **files):
    with staged(folder, NAMES, "p", key, force) as work:
        (work / "p").mkdir()
        (work / "p.ipynb").write_text(files.pop("page", "page"))
        for name, text in files.items():
            (work / "p" / name).write_text(text)


def lying(folder):
    found = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file() and p.name != MADE}
    return {name: path.read_text() for name, path in sorted(found.items())}


def test_the_same_command_replaces_its_files_and_drops_those_it_no_longer_makes(tmp_path):
    make(tmp_path, a="1", b="1")
    make(tmp_path, a="2", c="2")
    assert lying(tmp_path) == {"p.ipynb": "page", "p/a": "2", "p/c": "2"}


def test_another_command_is_refused_until_it_is_forced(tmp_path):
    make(tmp_path, a="1", b="1")
    with pytest.raises(StoreError, match=r"p.ipynb is there already, with other models or parameters.*--force"):
        make(tmp_path, "other", a="2")
    assert lying(tmp_path) == {"p.ipynb": "page", "p/a": "1", "p/b": "1"}
    make(tmp_path, "other", force=True, a="2")
    assert lying(tmp_path) == {"p.ipynb": "page", "p/a": "2"}


def test_files_of_others_are_refused_and_never_deleted(tmp_path):
    (tmp_path / "beside.txt").write_text("mine")
    make(tmp_path, a="1", b="1")  # what lies beside is in nobody's way
    (tmp_path / "p" / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match=r"p/notes.txt was not made by a run, or was changed since.*--force"):
        make(tmp_path, a="2")
    for text in ("2", "3"):
        (tmp_path / "p" / "a").write_text(f"edited before {text}")
        make(tmp_path, force=True, a=text)
    assert lying(tmp_path) == {
        "beside.txt": "mine", "p.ipynb": "page", "p/a": "3", "p/a.old": "edited before 2",
        "p/a.old2": "edited before 3", "p/notes.txt": "mine",
    }  # fmt: skip


@pytest.mark.parametrize("before", [False, True])
def test_a_failure_leaves_all_as_it_was(tmp_path, before):
    out = tmp_path / "new" / "out"
    if before:
        make(out, a="1")
    kept = lying(out)
    with pytest.raises(TypeError):
        make(out, a=None)
    assert lying(out) == kept and (tmp_path / "new").exists() == before


def test_a_kill_between_two_files_leaves_nothing_that_is_strange_to_the_next_run(tmp_path, monkeypatch):
    make(tmp_path, a="1", b="1")
    path, moved = type(tmp_path), []
    replace = path.replace

    def killed(self, target):
        if self.parent.name == "p" and not self.name.endswith(".part"):
            moved.append(self)
            if len(moved) == 2:
                raise KeyboardInterrupt
        return replace(self, target)

    monkeypatch.setattr(path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        make(tmp_path, a="2", b="2")
    monkeypatch.undo()
    assert lying(tmp_path)["p/a"] == "2" and lying(tmp_path)["p/b"] == "1"
    make(tmp_path, a="3", b="3")
    assert lying(tmp_path) == {"p.ipynb": "page", "p/a": "3", "p/b": "3"}


def test_a_file_where_a_folder_is_needed_is_named(tmp_path):
    (tmp_path / "file").write_text("mine")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(StoreError, match="file is a file: name a folder after --out"):
            make(out, force=True)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_file_cannot_be_where_it_is_needed(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError, match="is a folder: name a file"):
        write_output(tmp_path / "folder", b"x", force=True)
    path = tmp_path / "file"
    write_output(path, b"x")
    write_output(path, b"x")
    with pytest.raises(StoreError, match="is there already and holds something else"):
        write_output(path, b"y")
    write_output(path, b"y", force=True)
    assert path.read_bytes() == b"y"


def test_a_pipe_stays_what_it_is_and_a_link_leads_to_the_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path / "link"):
        for write in (partial(write_output, force=True), write_atomically):
            with pytest.raises(StoreError, match="is no plain file: name a file"):
                write(path, b"x")
    (tmp_path / "to").symlink_to(tmp_path / "file")
    for text in (b"x", b"y"):
        write_output(tmp_path / "to", text, force=True)
        assert (tmp_path / "to").is_symlink() and (tmp_path / "file").read_bytes() == text


def test_a_pipe_in_a_folder_is_never_replaced(tmp_path):
    os.mkfifo(tmp_path / "p.ipynb")
    with pytest.raises(StoreError, match="p.ipynb was not made by a run"):
        make(tmp_path)
    make(tmp_path, force=True)
    assert (tmp_path / "p.ipynb.old").is_fifo() and lying(tmp_path) == {"p.ipynb": "page"}


@pytest.mark.parametrize(
    "record", ['{"key": "k", "files": {"p.ipynb": 3}}', '{"key": "k", "files": []}', "[1]", "[" * 99_999]
)
def test_a_record_of_another_form_is_none(tmp_path, record):
    make(tmp_path)
    (tmp_path / "p" / MADE).write_text(record)
    with pytest.raises(StoreError, match="p.ipynb was not made by a run, or was changed since"):
        make(tmp_path)
    make(tmp_path, force=True)
    assert lying(tmp_path) == {"p.ipynb": "page"}


def test_a_full_disk_is_named_and_keeps_what_was_there(tmp_path):
    make(tmp_path, a="1")
    kept, limits = lying(tmp_path), resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with (
            pytest.raises(StoreError, match=r"cannot write .*File too large; make room"),
            staged(tmp_path, NAMES, "p", "k"),
        ):
            resource.setrlimit(resource.RLIMIT_FSIZE, (1, limits[1]))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert lying(tmp_path) == kept


def test_what_dead_processes_left_is_swept(tmp_path):
    name = unfinished("p").rsplit("@", 2)[0] + "@4194399@abcdefgh"  # no process has this number
    (tmp_path / name).mkdir()
    make(tmp_path)
    assert not (tmp_path / name).exists()


def test_a_place_that_cannot_be_written_is_refused_before_the_work(tmp_path, monkeypatch):
    def full(**_):
        raise PermissionError(13, "Permission denied")

    refuse_other(tmp_path / "new" / "page.html")
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr("probekit.files.outputs.tempfile.TemporaryFile", full)
    with pytest.raises(StoreError, match="cannot write .*page.html: Permission denied"):
        refuse_other(tmp_path / "page.html")
