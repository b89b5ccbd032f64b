"""A table a file: read once, found by its bytes, with all that its reading said."""

import logging
from collections import Counter

import pandas as pd
import pytest

from probekit.contexts.folder import Folder
from probekit.contexts.matching import pool
from probekit.contexts.resources import read_documents
from probekit.contexts.retrieval import retrieve, triples
from probekit.errors import ProbeError, caution, listen
from probekit.probes.per_file import InputFile, each_file
from probekit.probes.probe import Probe
from probekit.store import Store

log = logging.getLogger("probekit.contexts")


def reading(done: list[str]):
    def read(file, counts):
        done.append(file.path.name)
        counts["read"] += 1
        caution(f"{file.path.name} may be meant otherwise.")
        log.warning("%s is odd", file.path)
        return pd.DataFrame({"text": [file.path.read_text()]})

    return read


def test_a_file_is_read_once_and_what_it_said_is_said_again(tmp_path):
    files = [InputFile(tmp_path / name) for name in ("a.txt", "b.txt")]
    for file in files:
        file.path.write_text(file.path.name)
    done: list[str] = []
    said = []
    for store in (None, Store(tmp_path / "store"), Store(tmp_path / "store")):
        messages = listen()
        tables = list(each_file(store, "files", {}, files, reading(done), "files"))
        assert [(*one["text"], one.attrs["counts"]) for one in tables] == [
            ("a.txt", {"read": 1}),
            ("b.txt", {"read": 1}),
        ]
        said.append((messages.texts, messages.cautions))
    assert done == ["a.txt", "b.txt"] * 2, "the third time all is found"
    assert said[0] == said[1] == said[2]
    assert said[0] == (["a.txt is odd", "b.txt is odd"], [f"{n}.txt may be meant otherwise." for n in "ab"])
    (tmp_path / "a.txt").write_text("other")
    list(each_file(Store(tmp_path / "store"), "files", {}, [InputFile(tmp_path / "a.txt")], reading(done), "files"))
    assert done[4:] == ["a.txt"]
    files = [InputFile(tmp_path / "b.txt", "name"), InputFile(tmp_path / "b.txt")]
    list(each_file(Store(tmp_path / "store"), "files", {}, files, reading(done), "files"))
    assert done[5:] == ["b.txt"], "a name that tables hang on tells two apart"


def test_a_file_that_changes_is_refused(tmp_path):
    file = InputFile(tmp_path / "a.txt")
    file.path.write_text("one")
    assert file.content
    file.path.write_text("two")
    with pytest.raises(ProbeError, match=r"a\.txt was changed while it was to be read"):
        list(each_file(Store(tmp_path / "store"), "files", {}, [file], reading([]), "files"))
    assert not list((tmp_path / "store").rglob("*.parquet"))


def test_others_are_given_the_work_of_every_file_before_the_first_is_read(tmp_path):
    files = [InputFile(tmp_path / name) for name in ("a.txt", "b.txt")]
    for file in files:
        file.path.write_text(file.path.name)
    done, store = list[str](), Store(tmp_path / "store")

    def fill(works):
        assert not done and [store.finish(work, 0) for work in works] == [True, True]
        assert [store.finish(work, 0) for work in works] == [False, False]

    messages = listen()
    tables = list(each_file(store, "files", {}, files, reading(done), "files", fill))
    assert [table["text"][0] for table in tables] == ["a.txt", "b.txt"] == done
    assert messages.texts == ["a.txt is odd", "b.txt is odd"]


def test_files_are_searched_once_and_what_they_hold_is_found_again(tmp_path):
    (tmp_path / "a.txt").write_text("Colchicine helps with gout.")
    (tmp_path / "b.csv").write_text("doc_id,text\n1,Gout is painful.\n1,Gout: tea.\n3, \n")
    (tmp_path / "d.png").write_bytes(b"\0")
    rows = pd.DataFrame({"prompt_id": ["p", "q"], "text": ["[MASK]", "[MASK]!"], "relation": ["r", "r"]})
    rows = rows.assign(subject="gout", gold=[["colchicine"], ["tea"]])
    asked = triples(Probe("mine", rows, ["colchicine", "tea"]))
    pools = {"r": pool(asked.attrs["entities"]["r"])}
    left, counts = Counter[str](), Counter[str]()
    expected = retrieve(asked, read_documents(tmp_path, left), pools, counts)
    assert [one.document.doc_id for one in expected] == ["a.txt", "1"]
    for store in (None, Store(tmp_path.parent / "store"), Store(tmp_path.parent / "store")):
        others, seen = Counter[str](), Counter[str]()
        assert Folder(tmp_path, others).retrieve(asked, pools, seen, None, store) == expected
        assert +seen == +counts and +others == +left
    tea = {"r": pool(["tea"])}
    only = Folder(tmp_path, Counter()).retrieve(asked, tea, Counter(), None, Store(tmp_path.parent / "store"))
    assert {one.triple for one in only} == {1}, "another pool is another search"
