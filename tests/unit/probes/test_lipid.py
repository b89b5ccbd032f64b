"""LIPID's recipe on records, lists and sentences written here; against a naive search; the real file where at hand."""

import csv
import gzip
import json
import os
import re
from collections import Counter
from pathlib import Path

import pytest
from conftest import lacks
from conftest import pubmed_record as record
from conftest import pubmed_xml as xml

import probekit as pk
from probekit.cli import main
from probekit.errors import ProbeError, StoreError
from probekit.probes.lipid import build, write_sheet
from probekit.probes.lipid.entities import Finder, join_tokens, read_entities
from probekit.probes.lipid.prompts import KEYWORDS, prompts, split_sentences

MEDLINE = Path(os.environ.get("PROBEKIT_DATA", "")) / "pubmed/medline16n0902.xml.gz"


def save(path: Path, text: str | bytes) -> Path:
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def test_sentences():
    assert split_sentences("Levels rose (Fig. 2).  E. coli did not, at pH 7.4! Why? ") == [
        "Levels rose (Fig. 2).",
        "E. coli did not, at pH 7.4!",
        "Why?",
    ]
    assert split_sentences("  ") == []


# Entities


def conll(*sentences: str) -> str:
    """``word/B`` for tagged tokens."""
    lines = []
    for sentence in sentences:
        for token in sentence.split():
            word, _, tag = token.rpartition("|")
            lines.append(f"{word}\t{tag}-X" if word else f"{tag}\tO")
        lines.append("")
    return "\n".join(lines) + "\n"


def test_tagged_tokens_are_joined_as_in_the_text(tmp_path):
    text = conll(
        "The S|B -|I 100|I protein",
        "Na|B +|I /|I K|I +|I and 1|B ,|I 25|I -|I (|I OH|I )|I 2|I D|I fell",
        "aspirin|B ibuprofen|B here",
        "hTAF|B (|I II|I )|I 250|I",
        "Parkinson|B '|I s|I drug|I S|B -|I 100|I 7|B",
    )
    path = save(tmp_path / "a.tsv", text)
    names = ["S-100", "Na+/K+", "1,25-(OH)2 D", "aspirin", "ibuprofen", "hTAF(II)250", "Parkinson's drug"]
    got = read_entities(path)
    assert [name.replace(" ", "") for name in got] == [name.replace(" ", "") for name in names]
    assert got[0] == "S-100" and got[3:5] == ["aspirin", "ibuprofen"] and got[6] == "Parkinson's drug"
    assert join_tokens(["interleukin", "-", "2", "receptor"]) == "interleukin-2 receptor"


def test_plain_lists_and_broken_ones(tmp_path):
    assert read_entities(save(tmp_path / "a.txt", "\ufeffgout\r\nflu \n\ngout\n7\nx\n")) == ["gout", "flu"]
    path = save(tmp_path / "b.tsv", "gout\tB-X\nflu B-X\n")
    with pytest.raises(ProbeError, match=r"b.tsv, line 2: a token, a tab and a tag B-, I- or O are needed"):
        read_entities(path)
    for name, data in (("c.tsv", b"gout\tO\n"), ("d.txt", b""), ("e.tsv", b"caf\xe9\tB-X\n"), ("none.txt", None)):
        if data is not None:
            save(tmp_path / name, data)
        with pytest.raises(ProbeError, match=name):
            read_entities(tmp_path / name)


def found(lists: dict, sentence: str, **options: bool) -> list[tuple[str, str, str]]:
    return [(sentence[m.start : m.end], m.entity, m.kind) for m in Finder(lists, **options).find(sentence)]


def test_mentions_are_whole_tokens_the_longest_first():
    lists = {"drug": ["insulin", "insulin receptor", "S-100", "beta"], "gene": ["receptor gene", "insulin"]}
    assert found(lists, "The insulin receptor gene.") == [("insulin receptor", "insulin receptor", "drug")]
    assert found(lists, "insulins, proinsulin, Insulin, in sulin") == []
    assert found(lists, "insulin-induced (S - 100)") == [("insulin", "insulin", "drug"), ("S - 100", "S-100", "drug")]
    assert found(lists, "insulin receptors") == [("insulin", "insulin", "drug")]
    assert found(lists, "INSULIN Receptor", ignore_case=True) == [("INSULIN Receptor", "insulin receptor", "drug")]
    assert Finder(lists).shared == 1


# Prompts


def run(*sentences: str) -> tuple[list[str], Counter]:
    counts: Counter = Counter()
    pairs = [(str(n), text) for n, text in enumerate(sentences)]
    return [row["text"] for row in prompts(pairs, Finder({"drug": ["penicillin"]}), counts, {})], counts


def test_one_mention_is_masked_and_the_rest_left_out():
    texts, counts = run(
        "The penicillin-like drug, where weather, studying and hours suggested nothing.",
        "No drug.",
        "penicillin and penicillin.",
        "We gave penicillin.",
        "penicillin (PCN) works.",
        "penicillin and [MASK].",
    )
    assert texts == ["The [MASK]-like drug, where weather, studying and hours suggested nothing."]
    assert counts == {
        "sentences": 6,
        "with exactly one mention": 3,
        "with exactly one mention: drug": 3,
        "dropped, with the keyword: we": 1,
        "dropped, with the keyword: (": 1,
        "dropped for this keyword alone: we": 1,
        "dropped for this keyword alone: (": 1,
        "prompts, after the keywords": 1,
        "prompts, after the keywords: drug": 1,
        "sentences that hold the mask's own sign": 1,
    }


@pytest.mark.parametrize("word", KEYWORDS)
def test_every_keyword_drops_a_sentence_in_any_case(word):
    for form in (word, word.upper(), word.capitalize(), word.lower(), f"{word},", f"-{word}-"):
        assert run(f"Then {form} penicillin.")[0] == []
    assert len(run(f"Then x{word} {word}x penicillin.")[0]) == 1
    assert len(KEYWORDS) == 10


# The whole


@pytest.fixture
def lists(tmp_path: Path) -> dict[str, list[Path]]:
    more = save(tmp_path / "more.txt", "velnin\n")
    drugs = save(tmp_path / "drugs.tsv", conll("gave penicillin|B and osk|B -|I ol|I"))
    return {"drugs": [drugs, more], "genes": [save(tmp_path / "genes.txt", "APP\n")]}


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    first = xml(
        record(1, "Penicillin fails. Only penicillin helps. We study APP.", "APP is on chromosome 21."),
        record(2, "osk-ol was given.", day="2021-12-31"),
        record(3),
        record(4, "The penicillin dose rose.", day=""),
    )
    second = xml(
        record(1, "Revised: APP."),
        record(5, "A dose of penicillin (PCN). APP binds velnin. velnin acts."),
    )
    return [save(tmp_path / "one.xml.gz", first), save(tmp_path / "two.xml", second)]


def rows(folder: Path, *lists: str) -> list[dict]:
    paths = [folder / f"{name}.jsonl" for name in lists] or sorted(folder.glob("*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]


def test_build_writes_a_probe_of_each_list_and_counts(tmp_path, lists, files):
    out = tmp_path / "new/lipid"
    made = build([*files, files[1]], lists, out, after="2021-12-31")
    expected = {
        "drugs": [("5-3", "[MASK] acts.", ["velnin"], "velnin", "5", "2022-03-04")],
        "genes": [("1-1", "Revised: [MASK].", ["APP"], "APP", "1", "2022-03-04")],
    }
    fields = ("prompt_id", "text", "gold", "surface", "pmid", "date")
    for name, found in expected.items():
        about = {"entity_type": name, "style": "natural", "domain": "biomedical"}
        assert rows(out, name) == [dict(zip(fields, row, strict=True)) | about for row in found]
        probe = pk.load_probe(str(out / f"{name}.jsonl"))
        assert len(probe.prompts) == len(found) and (probe.style, probe.domain) == ("natural", "biomedical")
        assert set(probe.entities) == {row[2][0] for row in found}  # the other list's names do not compete
    assert list(made["counts"].items()) == [
        ("files given twice", 1),
        ("records", 6),
        ("records replaced by a later one of their PMID", 1),
        ("records without an abstract", 1),
        ("abstracts without a date", 1),
        ("abstracts in question", 2),
        ("sentences", 4),
        ("with exactly one mention", 3),
        ("with exactly one mention: drugs", 2),
        ("with exactly one mention: genes", 1),
        ("dropped, with the keyword: (", 1),
        ("dropped for this keyword alone: (", 1),
        ("prompts, after the keywords", 2),
        ("prompts, after the keywords: drugs", 1),
        ("prompts, after the keywords: genes", 1),
    ]
    assert made["statistics"]["drugs"] == {"prompts": 1, "entities": 1, "mean": 1, "sd": 0, "min": 1, "max": 1}
    assert json.loads((out / "counts.json").read_text())["counts"] == made["counts"]
    everything = build(files[::-1], lists, tmp_path / "all")  # now the long record of PMID 1 is the last
    assert everything["counts"]["abstracts in question"] == 4
    assert everything["statistics"]["drugs"]["max"] == 2
    assert everything["statistics"]["drugs"]["sd"] == pytest.approx(3**-0.5)  # 2, 1, 1


def texts(made_in: Path) -> list[str]:
    return [row["text"] for row in rows(made_in)]


def test_the_last_record_of_a_pmid_counts_whatever_it_holds(tmp_path, lists):
    early = xml(*(record(n, f"velnin {n} acts.") for n in range(1, 7)), record(1, "velnin again."), record(6, "APP."))
    notice = "<DeleteCitation><PMID>3</PMID><PMID Version='1'>4</PMID><PMID>99</PMID></DeleteCitation>"
    back, last = record(4, "velnin is back."), record(6, "velnin last.")
    late = xml(record(2), back, notice, record(5, "Nothing here."), last)
    later = xml(record(4, "velnin returns."))
    paths = [save(tmp_path / f"{n}.xml", text) for n, text in enumerate((early, late, later))]
    made = build(paths, lists, tmp_path / "a")
    assert texts(tmp_path / "a") == ["[MASK] again.", "[MASK] last.", "[MASK] returns."]
    counts = made["counts"]
    assert counts["records"] == 13
    assert counts["records replaced by a later one of their PMID"] == 7  # of 1, 2, 4 twice, 5, 6 twice
    assert counts["records deleted by a later notice"] == 1  # of 3; that of 4 was undone
    assert counts["records without an abstract"] == 1  # the last word on 2
    assert counts["abstracts in question"] == 4 and counts["sentences"] == 4
    build([paths[0], paths[1]], lists, tmp_path / "b")
    assert texts(tmp_path / "b") == ["[MASK] again.", "[MASK] last."]  # 4 is deleted, with both of its records


@pytest.mark.parametrize("days", [("2021-12-31", None), (None, "2022-07-01"), ("2021-12-31", "2022-07-01")])
def test_the_window_of_days(tmp_path, lists, days):
    dates = {1: "2021-12-31", 2: "2022-01-01", 3: "2022-06-30", 4: "2022-07-01", 5: ""}
    replaced = record(4, "velnin waits.", day="2022-02-02")  # by one outside some windows
    path = save(tmp_path / "a.xml", xml(replaced, *(record(n, "velnin acts.", day=day) for n, day in dates.items())))
    after, before = days
    made = build([path], lists, tmp_path / "a", after=after, before=before)
    kept = {n for n, day in dates.items() if day and (not after or day > after) and (not before or day < before)}
    assert {int(row["pmid"]) for row in rows(tmp_path / "a")} == kept and 1 < len(kept) < 4
    assert made["counts"]["abstracts without a date"] == 1 and made["options"]["before"] == before


def test_a_rerun_reads_only_what_is_new_and_writes_the_same(tmp_path, lists, files, monkeypatch):
    import importlib

    module = importlib.import_module("probekit.probes.lipid.build")
    read, stop, real = [], ["two.xml"], module.read_records

    def watched(path, counts):
        read.append(path.name)
        if path.name in stop:
            raise KeyboardInterrupt
        yield from real(path, counts)

    fresh, out = build(files, lists, tmp_path / "fresh"), tmp_path / "a"
    monkeypatch.setattr(module, "read_records", watched)
    with pytest.raises(KeyboardInterrupt):
        build(files, lists, out)
    assert not list(out.glob("*.jsonl"))
    stop.clear()
    assert build(files, lists, out) == fresh and read == ["one.xml.gz", "two.xml", "two.xml"]
    for name in lists:
        assert (out / f"{name}.jsonl").read_bytes() == (tmp_path / f"fresh/{name}.jsonl").read_bytes()
    other = build(files[::-1], lists, out)  # parts know nothing of each other: another order reads nothing
    assert len(read) == 3 and other["counts"]["sentences"] != fresh["counts"]["sentences"]
    with pytest.raises(StoreError, match="drugs.jsonl is there already, with other models or parameters"):
        build(files, lists, out, after="2000-01-01")
    build(files, lists, out, after="2000-01-01", force=True)
    assert read[3:] == ["one.xml.gz", "two.xml"]  # other options, nothing to reuse


def test_plain_sentences_take_the_later_steps_only(tmp_path, lists):
    path = save(tmp_path / "s.txt", b"velnin acts\n\nwe gave velnin\ncaf\xe9 VELNIN rose\n")
    made = build([path], lists, tmp_path / "a", plain=True)
    (row,) = rows(tmp_path / "a")
    assert row["prompt_id"].endswith("-1") and "pmid" not in row and row["style"] == "natural"
    assert made["counts"] == {
        "files not UTF-8": 1,
        "sentences": 3,
        "with exactly one mention": 2,
        "with exactly one mention: drugs": 2,
        "dropped, with the keyword: we": 1,
        "dropped for this keyword alone: we": 1,
        "prompts, after the keywords": 1,
        "prompts, after the keywords: drugs": 1,
    }
    assert len(rows(tmp_path / "a")) == 1
    build([path], lists, tmp_path / "a", plain=True, ignore_case=True, force=True)
    found = [(r["text"], r["gold"], r["surface"]) for r in rows(tmp_path / "a")]
    assert found == [("[MASK] acts", ["velnin"], "velnin"), ("caf\ufffd [MASK] rose", ["velnin"], "VELNIN")]
    (_, second) = sorted(write_sheet([tmp_path / "a/drugs.jsonl"]).read_text("utf-8").splitlines()[1:])
    assert "caf\ufffd VELNIN rose" in second  # people judge the sentence as it stood


def test_wrong_input_is_named(tmp_path, lists, files):
    for day in ("2021-13-01", "20211231", "yesterday"):
        with pytest.raises(ProbeError, match="after takes a day as YYYY-MM-DD"):
            build(files, lists, tmp_path / "a", after=day)
    with pytest.raises(ProbeError, match="with PubMed files only"):
        build(files, lists, tmp_path / "a", after="2021-12-31", plain=True)
    with pytest.raises(ProbeError, match="cannot read .*absent"):
        build([tmp_path / "absent.xml"], lists, tmp_path / "a")
    with pytest.raises(ProbeError, match="'a/b' cannot be one"):
        build(files, {"a/b": lists["genes"]}, tmp_path / "a")
    with pytest.raises(ProbeError, match="at least one list"):
        build(files, {}, tmp_path / "a")


def test_the_sheet_is_seeded_unfilled_and_never_overwritten(tmp_path, lists, files):
    build(files[::-1], lists, tmp_path / "lipid")
    out = [tmp_path / f"lipid/{name}.jsonl" for name in lists]
    sheet = write_sheet(out, n=4, seed=1)
    assert sheet == tmp_path / "lipid/sheet.csv"
    with sheet.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    texts = {row["prompt_id"]: row["text"].replace("[MASK]", row["gold"][0]) for row in rows(tmp_path / "lipid")}
    assert len(lines) == 4 and {line["entity_type"] for line in lines} == set(lists)
    assert all(line["sentence"] == texts[line["prompt_id"]] for line in lines)
    assert {(line["factual (yes or no)"], line["remark"]) for line in lines} == {("", "")}
    with pytest.raises(ProbeError, match="may be filled in"):
        write_sheet(out, n=4, seed=1)
    same, other = (write_sheet(out, n=4, seed=s, out=tmp_path / f"{s}.csv").read_bytes() for s in (1, 2))
    assert same == sheet.read_bytes() != other
    with pytest.raises(ProbeError, match="at least one prompt"):
        write_sheet(out, n=0, out=tmp_path / "z.csv")


def test_the_command_line(tmp_path, lists, files, capsys):
    given_lists = [f"--entities={name}={path}" for name, paths in lists.items() for path in paths]
    out, days = str(tmp_path / "c"), ["--after", "2021-12-31", "--before", "2022-12-31"]
    assert main(["lipid", "build", *given_lists, "--out", out, *days, *map(str, files)]) == 0
    said = capsys.readouterr().out
    assert re.search(r"^ +2  prompts, after the keywords$", said, re.MULTILINE)
    assert "drugs: entities 1, mean 1, sd 0, min 1, max 1" in said
    assert main(["lipid", "sheet", f"{out}/drugs.jsonl", f"{out}/genes.jsonl", "--n", "2", "--seed", "3"]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "c/sheet.csv")
    assert main(["lipid", "build", "--entities", "drugs", "--out", out, str(files[0])]) == 1
    assert "--entities takes NAME=FILE, not 'drugs'" in capsys.readouterr().err


@pytest.mark.slow
@lacks("pubmed")
def test_a_published_medline_file(tmp_path):
    (tmp_path / "a.txt").write_text("glucose\ncholesterol\n", "utf-8")
    made = build([MEDLINE], {"chemicals": [tmp_path / "a.txt"]}, tmp_path / "a")
    assert made["counts"]["records"] == 604
    assert made["counts"]["records without an abstract"] == 78
    assert made["counts"]["abstracts in question"] == 526
    assert made["counts"]["prompts, after the keywords"] == len(rows(tmp_path / "a")) > 5
