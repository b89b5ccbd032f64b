"""An index on disk: it gives what a pass over all documents gives, and survives being killed."""

import gzip
import json
import os
import random
import signal
import sqlite3
import tempfile
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from conftest import pubmed_record, pubmed_xml, write_lines
from hypothesis import given, settings
from hypothesis import strategies as st

import probekit as pk
from probekit.cli import main
from probekit.contexts import index as index_module
from probekit.contexts.folder import Folder
from probekit.contexts.index import ABOUT, DATABASE, Index, build_index, is_index
from probekit.contexts.matching import pool
from probekit.contexts.resources import DOCUMENTS, EMPTY, OTHER, REVISED, Document, read_documents
from probekit.contexts.retrieval import (
    BEYOND,
    COVERED,
    HOLDING,
    NAMED,
    PAIRS,
    READ,
    TRIPLES,
    Found,
    draw_key,
    retrieve,
    triples,
)
from probekit.contexts.sources import look_up, own_contexts
from probekit.errors import ProbeError, StoreError
from probekit.probes.lipid.medline import NO_ABSTRACT, NOTICES

# Words that trip a tokenizer up: case that changes with place or length, signs, scripts without spaces, short capitals
WORDS = [
    *("lung", "Lung", "cancer", "IT", "it", "AIDS", "aids", "HMB-45", "hmb", "45", "C++", "+", "beta_2", "_", "'", '"'),
    *("İzmir", "izmir", "ΟΔΟΣ", "οδος", "οδοσ", "ΟΔΟΣ'Α", "straße", "STRASSE", "e\u0301", "肺癌", "肺", "癌", "。"),
    *("AND", "OR", "NOT", "NEAR", "*", "a:b", "a\ue02b", "a\x01", "١٢", "𝒜", "of the"),
]  # fmt: skip
name = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
text = st.lists(st.sampled_from([*WORDS, ",", ".", "(", "\n"]), max_size=12)
joined = st.builds(lambda words, glue: glue.join(words), text, st.sampled_from([" ", " ", "", "-"]))
row = st.tuples(name, st.lists(name, max_size=2), name, st.lists(name, max_size=2), st.sampled_from("rs"))


def probe_of(rows: list[tuple[str, list[str], str, list[str], str]]) -> pk.Probe:
    subjects, others, targets, forms, relations = map(list, zip(*rows, strict=True))
    columns = {"relation": relations, "subject": subjects, "subject_aliases": others}
    columns |= {"prompt_id": [str(n) for n in range(len(rows))], "text": [f"{n} [MASK]." for n in range(len(rows))]}
    columns["aliases"] = [{target: names} for target, names in zip(targets, forms, strict=True)]
    columns["gold"] = [[target] for target in targets]
    return pk.Probe("drawn", pd.DataFrame(columns), sorted(set(targets)))


def both(
    folder: Path, rows: list[tuple[str, list[str], str, list[str], str]], documents: list[Document], most: int | None
) -> tuple[list[Found], Counter[str], list[Found], Counter[str]]:
    """What a pass over all documents gives, and what the index gives, with the counts of both."""
    write_lines(folder / "a.jsonl", *(json.dumps(vars(one), ensure_ascii=False) for one in documents))
    build_index([folder / "a.jsonl"], folder / "index")
    asked = triples(probe_of(rows))
    told = asked.attrs["aliases"]
    pools = {name: pool(entities, told.get(name)) for name, entities in asked.attrs["entities"].items()}
    counts, others = Counter[str](), Counter[str]()
    scanned = list(retrieve(asked, read_documents(folder / "a.jsonl", Counter()), pools, counts, most))
    return scanned, counts, Index(folder / "index").retrieve(asked, pools, others, most), others


@settings(max_examples=25)
@given(st.lists(row, min_size=1, max_size=6), st.lists(st.tuples(joined, st.none() | name), max_size=12), st.data())
def test_the_index_gives_what_a_pass_over_all_documents_gives(rows, texts, data):
    most = data.draw(st.sampled_from([None, 1, 2]))
    held = data.draw(st.lists(st.sampled_from([0, 2, *range(len(rows))]), max_size=8))  # documents that hold a triple
    texts += [(f"{rows[n][0]} {data.draw(joined)} {rows[n][2]}", None) for n in held if n < len(rows)]
    documents = [Document(str(number), words, subject or "") for number, (words, subject) in enumerate(texts)]
    with tempfile.TemporaryDirectory() as folder:
        scanned, counts, found, others = both(Path(folder), rows, documents, most)
    assert found == scanned
    assert {key: others[key] for key in (READ, HOLDING, PAIRS, TRIPLES, COVERED)} == {
        key: counts[key] for key in (READ, HOLDING, PAIRS, TRIPLES, COVERED)
    }
    assert NAMED not in others and BEYOND not in others


def test_a_name_of_many_forms_and_a_long_one(tmp_path):
    long = " ".join(f"w{n}" for n in range(300))
    rows = [("gout", [f"name {n}" for n in range(1500)], long, [f"alias {n}" for n in range(1500)], "r")]
    texts = {"a": f"Name 1499 and {long}.", "b": "Gout, alias 77.", "c": f"gout {long[:-2]}"}
    scanned, _, found, _ = both(tmp_path, rows, [Document(*one) for one in texts.items()], None)
    assert [one.document.doc_id for one in found] == ["a", "b"] and found == scanned


# Versions of a document

revised = st.tuples(st.sampled_from("abcde"), joined | st.just(""))


@settings(max_examples=25)
@given(
    st.lists(st.lists(revised, max_size=6), min_size=1, max_size=4), st.sampled_from([None, 1, 2]), st.integers(0, 9)
)
def test_the_last_of_each_id_counts_and_the_draw_knows_no_order(files, most, seed):
    """By a naive way: a dictionary of the last of each id, and the documents of a triple sorted by their keys."""
    lines = [(doc_id, f"lung {text} IT" if text.strip() else text) for rows in files for doc_id, text in rows]
    last = {doc_id: (number, text) for number, (doc_id, text) in enumerate(lines)}
    standing = [doc_id for doc_id, (_, text) in sorted(last.items(), key=lambda item: item[1][0]) if text.strip()]
    asked, pools, counts = triples(probe_of([("lung", [], "IT", [], "r")])), {"r": pool(["IT"])}, Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        place, number = Path(folder) / "in", 0
        for name, rows in enumerate(files):
            kept = [{"doc_id": doc_id, "text": lines[number + row][1]} for row, (doc_id, _) in enumerate(rows)]
            write_lines(place / f"{name}.jsonl", *kept)
            number += len(rows)
        documents = list(read_documents(place, counts))
        told = build_index([place], Path(folder) / "out")
        index, kept = Index(Path(folder) / "out"), Counter[str]()
        assert list(index) == documents and [one.doc_id for one in documents] == standing
        assert all(one.text == last[one.doc_id][1] for one in documents)
        assert told == +counts and counts[REVISED] == sum(bool(text.strip()) for _, text in lines) - len(standing)
        scanned = retrieve(asked, documents, pools, Counter(), most, seed)
        assert index.retrieve(asked, pools, Counter(), most, seed) == scanned
        assert Folder(place, kept).retrieve(asked, pools, Counter(), most, seed=seed) == scanned and +kept == +counts
    holding = [one.document.doc_id for one in retrieve(asked, documents, pools, Counter())]
    chosen = sorted(holding, key=lambda doc_id: draw_key(seed, doc_id))[:most]
    assert [one.document.doc_id for one in scanned] == [doc_id for doc_id in holding if doc_id in chosen]
    turned = retrieve(asked, documents[::-1], pools, Counter(), most, seed)
    assert turned == scanned[::-1]


def test_another_seed_draws_others_and_each_is_as_likely():
    asked, pools = triples(probe_of([("gout", [], "tea", [], "r")])), {"r": pool(["tea"])}
    documents = [Document(str(number), "Gout: tea.") for number in range(20)]
    often = Counter(
        one.document.doc_id for seed in range(500) for one in retrieve(asked, documents, pools, Counter(), 5, seed)
    )
    assert len(often) == 20 and min(often.values()) > 90 and max(often.values()) < 160  # 125 expected, SD 9.7


def medline(*records: tuple[int, str], deleted: tuple[int, ...] = ()) -> bytes:
    """A file as PubMed has them; a record without a text is one without an abstract."""
    cited = [pubmed_record(pmid, *([text] if text else [])) for pmid, text in records]
    notice = "".join(f'<PMID Version="1">{pmid}</PMID>' for pmid in deleted)
    notices = [f"<DeleteCitation>{notice}</DeleteCitation>"] if deleted else []
    articles = [f"<PubmedArticle>{one}</PubmedArticle>" for one in cited]
    return gzip.compress(pubmed_xml(*articles, *notices, root="PubmedArticleSet").encode())


def test_update_files_of_pubmed_revise_and_delete_records(tmp_path):
    place = tmp_path / "in"
    place.mkdir()
    every = [(pmid, "Colchicine helps.") for pmid in range(1, 7)]
    (place / "pubmed26n0001.xml.gz").write_bytes(medline(*every))
    (place / "pubmed26n0002.xml.gz").write_bytes(medline((2, "Colchicine does not help."), (3, ""), deleted=(4, 5, 99)))
    (place / "pubmed26n0003.xml.gz").write_bytes(medline((5, "Colchicine again."), deleted=(1,)))
    counts = Counter[str]()
    documents = list(read_documents(place, counts))
    assert {one.doc_id: one.text for one in documents} == {
        "6": "On 6. Colchicine helps.",
        "2": "On 2. Colchicine does not help.",
        "5": "On 5. Colchicine again.",
    }
    assert counts[DOCUMENTS] == 3 and counts[REVISED] == 5 and counts[NOTICES] == 4 and counts[NO_ABSTRACT] == 1
    build_index([place / "pubmed26n0001.xml.gz"], tmp_path / "out")
    assert asked_of(tmp_path / "out", "on") == [str(pmid) for pmid in range(1, 7)]
    assert build_index(sorted(place.iterdir()), tmp_path / "out") == +counts  # the updates come later
    assert held(tmp_path / "out") == documents and asked_of(tmp_path / "out", "on") == ["6", "2", "5"]


@pytest.mark.slow
def test_several_processes_write_the_same_index(tmp_path, monkeypatch, caplog):
    generator = random.Random(0)
    words = ["gout", "colchicine", "pain", " "]
    for number in range(5):
        texts = [" ".join(generator.choices(words, k=3)) for _ in range(40)]
        write(tmp_path / f"{number}.jsonl", texts, 30 * number)
    (tmp_path / "a.xml.gz").write_bytes(medline((1, "Colchicine."), deleted=(7,)))
    (tmp_path / "no.csv").write_text("a,b")
    files = sorted(tmp_path.iterdir())
    one = build_index(files, tmp_path / "one")
    caplog.clear()
    monkeypatch.setattr(index_module, "GROUP", files[0].stat().st_size * 2)
    monkeypatch.setattr(index_module, "LARGEST", max(file.stat().st_size for file in files) - 1)  # one is too large
    assert build_index(files, tmp_path / "two", processes=2) == one
    assert "no.csv is left out: it has no column 'text'" in caplog.text
    assert (tmp_path / "one" / DATABASE).read_bytes() == (tmp_path / "two" / DATABASE).read_bytes()
    assert sorted(path.name for path in (tmp_path / "two").iterdir()) == [ABOUT, DATABASE]
    assert Index(tmp_path / "one").about["digest"] == Index(tmp_path / "two").about["digest"]
    put, left = index_module._put, iter(range(50))

    def stopped(*given):
        if next(left, None) is None:
            raise KeyboardInterrupt
        put(*given)

    monkeypatch.setattr(index_module, "AT_ONCE", 20)
    monkeypatch.setattr(index_module, "_put", stopped)
    with pytest.raises(KeyboardInterrupt):
        build_index(files, tmp_path / "three", processes=2)
    monkeypatch.setattr(index_module, "_put", put)
    with sqlite3.connect(tmp_path / "three" / DATABASE) as connection:
        assert connection.execute("SELECT sum(done) FROM files").fetchone()[0] % 20 == 0
    assert build_index(files, tmp_path / "three", processes=2) == one
    assert held(tmp_path / "three") == held(tmp_path / "one")
    assert Index(tmp_path / "three").about["digest"] == Index(tmp_path / "one").about["digest"]
    (tmp_path / "bad.parquet").write_bytes(b"no")
    with pytest.raises(ProbeError, match="cannot be read as Parquet"):
        build_index([*files, tmp_path / "bad.parquet"], tmp_path / "two", processes=2)
    with pytest.raises(StoreError, match="the index is not finished"):
        Index(tmp_path / "two")


# The folder


def write(path: Path, texts: list[str], first: int = 0) -> Path:
    return write_lines(path, *({"doc_id": f"d{number}", "text": text} for number, text in enumerate(texts, first)))


def held(folder: Path) -> list[Document]:
    return list(Index(folder))


def asked_of(folder: Path, subject: str = "gout", target: str = "colchicine") -> list[str]:
    asked = triples(probe_of([(subject, [], target, [], "r")]))
    return [one.document.doc_id for one in Index(folder).retrieve(asked, {"r": pool([target])}, Counter())]


def test_files_may_be_added_and_others_are_refused(tmp_path):
    one = write(tmp_path / "a.jsonl", ["Gout.", "Colchicine."])
    two = write(tmp_path / "b.jsonl", ["x", "y", "Gout; colchicine."])
    build_index([one], tmp_path / "out")
    assert asked_of(tmp_path / "out") == []
    (tmp_path / "picture.png").write_bytes(b"")
    assert build_index([one, two, tmp_path / "picture.png"], tmp_path / "out") == {DOCUMENTS: 3, REVISED: 2, OTHER: 1}
    assert asked_of(tmp_path / "out") == ["d2"] and len(Index(tmp_path / "out")) == 3
    before = [(tmp_path / "out" / name).read_bytes() for name in (DATABASE, ABOUT)]
    build_index([one, two], tmp_path / "out")  # nothing to do
    assert before == [(tmp_path / "out" / name).read_bytes() for name in (DATABASE, ABOUT)]
    for others in ([two], [one], [two, one]):
        with pytest.raises(StoreError, match=r"index of other files.* --out, or replace it with --force"):
            build_index(others, tmp_path / "out")
    assert asked_of(tmp_path / "out") == ["d2"]
    write(one, ["Gout and colchicine."])
    with pytest.raises(StoreError, match="changed since"):
        build_index([one, two], tmp_path / "out")
    assert build_index([one, two], tmp_path / "out", force=True) == {DOCUMENTS: 3, REVISED: 1}
    assert asked_of(tmp_path / "out") == ["d2"]


def killed_at(statement: int, files: list[Path], out: Path) -> bool:
    """Whether a build in a process of its own was killed as its so-manieth SQL statement began."""
    process = os.fork()
    if process:
        status = os.waitpid(process, 0)[1]
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
        return os.WIFSIGNALED(status)
    connect, left = sqlite3.connect, iter(range(statement))

    def traced(*given, **options):
        connection = connect(*given, **options)
        connection.set_trace_callback(lambda _: next(left, None) is None and os.kill(os.getpid(), signal.SIGKILL))
        return connection

    try:
        index_module.sqlite3.connect, index_module.AT_ONCE = traced, 20
        build_index(files, out)
        os._exit(0)
    finally:
        os._exit(1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_build_killed_again_and_again_ends_as_an_undisturbed_one(tmp_path, monkeypatch):
    generator = random.Random(0)
    words = ["gout", "colchicine", "pain", " "]
    files = [
        write(tmp_path / f"{n}.jsonl", [" ".join(generator.choices(words, k=3)) for _ in range(90)], 80 * n)
        for n in range(3)
    ]
    whole = build_index(files, tmp_path / "whole")
    digest = Index(tmp_path / "whole").about["digest"]
    killed, statement = 0, 1
    while killed_at(statement, files, tmp_path / "out"):
        killed, statement = killed + 1, statement + generator.randint(1, 30)
        assert is_index(tmp_path / "out")
        with pytest.raises(StoreError, match="the index is not finished; give the same `probekit index build` again"):
            Index(tmp_path / "out")
    assert killed > 10
    assert build_index(files, tmp_path / "out") == whole and whole[REVISED] > 10 and whole[EMPTY] > 1
    assert held(tmp_path / "out") == held(tmp_path / "whole") and Index(tmp_path / "out").about["digest"] == digest
    assert asked_of(tmp_path / "out") == asked_of(tmp_path / "whole") != []


def test_a_full_disk_is_said_and_what_was_finished_is_kept(tmp_path, monkeypatch):
    file = write(tmp_path / "a.jsonl", [random.Random(n).randbytes(400).hex() for n in range(400)])
    connect = sqlite3.connect

    def small(*given, **options):
        connection = connect(*given, **options)
        connection.execute("PRAGMA page_size = 16384")
        connection.execute("PRAGMA max_page_count = 20")
        return connection

    monkeypatch.setattr(index_module, "AT_ONCE", 50)
    monkeypatch.setattr(sqlite3, "connect", small)
    with pytest.raises(StoreError, match=r"is full; make room .* finished is kept"):
        build_index([file], tmp_path / "out")
    monkeypatch.setattr(sqlite3, "connect", connect)
    with sqlite3.connect(tmp_path / "out" / DATABASE) as connection:
        ((before,),) = connection.execute("SELECT count(*) FROM documents")
    assert 0 < before < 400 and before % 50 == 0
    assert build_index([file], tmp_path / "out") == {DOCUMENTS: 400}


def test_a_foreign_or_broken_index_is_refused(tmp_path, monkeypatch):
    file, out = write(tmp_path / "a.jsonl", ["Gout.", "Colchicine for gout."]), tmp_path / "out"
    build_index([file], out)
    with monkeypatch.context() as patched:
        patched.setattr(index_module, "file_digest", lambda path: pytest.fail("all of the database is read"))
        assert asked_of(out) == ["d1"]
    database, about = (out / DATABASE).read_bytes(), (out / ABOUT).read_text("utf-8")
    before = (out / DATABASE).stat()
    middle = len(database) // 2
    flipped = database[:middle] + bytes([database[middle] ^ 1]) + database[middle + 1 :]
    for damaged in (database[:-1], flipped, b"", b"x"):
        (out / DATABASE).write_bytes(damaged)
        with pytest.raises(StoreError, match="was changed or damaged since it was built: build it again with --force"):
            Index(out)
    (out / DATABASE).write_bytes(database)
    assert asked_of(out) == ["d1"] and (out / DATABASE).stat().st_mtime_ns == before.st_mtime_ns
    types = ("text = NULL", "text = 7", "text = 'x'", "text = x'78'", "digest = 1", "subject = x'ff'")
    for change in ("subject = 'flu'", *types):
        with sqlite3.connect(out / DATABASE) as connection:
            connection.execute(f"UPDATE documents SET {change} WHERE doc_id = 'd1'")
        connection.close()
        os.utime(out / DATABASE, ns=(before.st_mtime_ns, before.st_mtime_ns))
        assert (out / DATABASE).stat().st_size == before.st_size
        with pytest.raises(StoreError, match=r"is damaged, in document 'd1': build it again with --force"):
            asked_of(out)
        (out / DATABASE).write_bytes(database)
    changes = [('"version": 3', '"version": 2'), (": 2", ": []"), ('"files"', '"pages"')]
    for wrong in ("{}", "[]", "no json", *(about.replace(*change) for change in changes)):
        (out / ABOUT).write_text(wrong, "utf-8")
        with pytest.raises(StoreError, match="again with --force"):
            Index(out)
    (out / ABOUT).write_text(about, "utf-8")
    assert asked_of(out) == ["d1"]
    (out / DATABASE).unlink()
    with pytest.raises(StoreError, match="No such file"):
        Index(out)
    (out / DATABASE).write_bytes(database)
    with sqlite3.connect(out / DATABASE) as other:
        other.execute("PRAGMA user_version = 2")
    with pytest.raises(StoreError, match="another version, or of another Python: replace it with --force"):
        build_index([file], out)
    (out / DATABASE).unlink()
    with sqlite3.connect(out / DATABASE) as other:
        other.execute("CREATE TABLE mine (a)")
    with pytest.raises(StoreError, match="is no index of this package: move it away"):
        build_index([file], out, force=True)


def test_whatever_bytes_are_broken_the_index_is_said_to_be_damaged(tmp_path):
    """With the time of the build, so that the database is opened and not read whole."""
    build_index([write(tmp_path / "a.jsonl", [f"Gout {n}." for n in range(200)])], tmp_path / "out")
    database, before = (tmp_path / "out" / DATABASE).read_bytes(), (tmp_path / "out" / DATABASE).stat()
    generator, said = random.Random(0), Counter[str]()
    for number in range(300):
        broken = bytearray(database)
        for place in generator.sample(range(len(broken)), [1, 30, 300, 3000][number % 4]):
            broken[place] ^= 1 << generator.randrange(8)
        (tmp_path / "out" / DATABASE).write_bytes(broken)
        os.utime(tmp_path / "out" / DATABASE, ns=(before.st_mtime_ns, before.st_mtime_ns))
        try:
            said["whole"] += len(list(Index(tmp_path / "out"))) == 200
        except StoreError as error:
            said["damaged"] += "is damaged" in str(error) and str(error).endswith("again with --force")
    assert said["damaged"] > 100 and said.total() == 300


def test_a_name_of_other_bytes_than_utf_8_is_read_and_stored(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / os.fsdecode(b"\xff a.txt")).write_text("Gout and lung.", "utf-8")
    write(folder / os.fsdecode(b"b\n\xfe.jsonl"), ["Gout."])
    assert build_index([folder], tmp_path / "out") == {DOCUMENTS: 2}
    documents = list(Index(tmp_path / "out"))
    assert documents == list(read_documents(folder, Counter())) and documents[1].doc_id == "\\udcff a.txt"


@pytest.mark.parametrize("processes", [1, 2])
def test_a_file_that_changes_while_it_is_read_is_no_part_of_an_index(tmp_path, monkeypatch, processes):
    files = [write(tmp_path / "a.jsonl", ["Gout."]), write(tmp_path / "b.jsonl", ["Lung."])]
    begin = index_module._begin

    def changed(*given):
        begin(*given)
        write(files[1], ["Other."])

    monkeypatch.setattr(index_module, "_begin", changed)
    with pytest.raises(ProbeError, match=r"b\.jsonl was changed while it was to be read"):
        build_index(files, tmp_path / "out", processes=processes)
    with pytest.raises(StoreError, match="not finished"):
        Index(tmp_path / "out")


def test_a_text_beyond_the_limit_is_refused_and_not_cut(tmp_path, monkeypatch):
    build_index([write(tmp_path / "a.jsonl", ["Colchicine for gout. " * 9])], tmp_path / "out")
    monkeypatch.setattr(index_module, "RECORD", 40)
    with pytest.raises(ProbeError, match="its text has more than 160 bytes, the limit"):
        asked_of(tmp_path / "out")


def test_no_index_and_no_process_are_named(tmp_path):
    folder = tmp_path / "nothere"
    with pytest.raises(StoreError, match=r"no index is here; `probekit index build --out .*nothere` makes one"):
        Index(folder)
    with pytest.raises(ProbeError, match="--processes is 1 or more, not 0"):
        build_index([write(tmp_path / "a.jsonl", ["A river."])], folder, processes=0)
    assert not folder.exists()


def test_one_process_at_a_time_writes_an_index(tmp_path):
    file = write(tmp_path / "a.jsonl", ["Gout."])
    build_index([file], tmp_path / "out")
    with sqlite3.connect(tmp_path / "out" / DATABASE, isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        for force in (False, True):
            with pytest.raises(StoreError, match="is being written by another process"):
                build_index([file], tmp_path / "out", force)


def test_the_command_and_the_pages_take_an_index(tmp_path, capsys):
    demo = write(tmp_path / "a.jsonl", ["Gout is painful.", "Colchicine helps with gout.", "Colchicine, not for gout."])
    assert main(["index", "build", str(demo), "--out", str(tmp_path / "index")]) == 0
    assert capsys.readouterr().out.split() == ["3", "documents", str(tmp_path / "index")]
    assert main(["index", "search", str(tmp_path / "index"), "colchicine", "Gout", "--top", "1"]) == 0
    assert capsys.readouterr().out == "d1: Colchicine helps with gout.\n"
    assert main(["index", "search", str(tmp_path / "index"), "flu"]) == 0 and not capsys.readouterr().out
    assert main(["index", "search", str(tmp_path / "index"), " "]) == 1
    assert "nothing can be looked for in [' ']" in capsys.readouterr().err
    assert main(["index", "info", str(tmp_path / "index"), "--json"]) == 0
    said, database = json.loads(capsys.readouterr().out), tmp_path / "index" / DATABASE
    assert (said["documents"], said["files"], said["bytes"]) == (3, 1, database.stat().st_size)
    assert main(["index", "info", str(tmp_path / "index")]) == 0 and said["digest"] in capsys.readouterr().out
    probe = probe_of([("gout", [], "colchicine", [], "r")])
    for most in (None, 1):
        (asked, found), (known, matches) = (
            look_up(own_contexts("mine", probe, place), Counter(), most) for place in (tmp_path / "index", demo)
        )
        assert found == matches and len(found) == (most or 2) and asked.equals(known)
    with pytest.raises(ProbeError, match=r"documents read 3 \(documents 3\)"):
        look_up(own_contexts("mine", probe_of([("flu", [], "tea", [], "r")]), tmp_path / "index"), Counter())
    assert main(["index", "build", str(tmp_path / "nowhere"), "--out", str(tmp_path / "index")]) == 1
    (tmp_path / "a.png").write_bytes(b"")
    assert main(["index", "build", str(tmp_path / "a.png"), "--out", str(tmp_path / "index")]) == 1
    said = capsys.readouterr().err
    assert "no folder or file of documents at" in said and "no file of documents is given" in said
