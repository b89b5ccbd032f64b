"""PubMed files that are hostile or damaged: constant memory, every whole record kept, and what broke off is said."""

import gzip
import os
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest

from probekit.probes import xml_records
from probekit.probes.lipid.medline import read_medline

BROKEN = "files broken off (malformed)"
PUBLIC = (
    '<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2019//EN" '
    '"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_190101.dtd">'
)


def record(number: int, text: str = "Text.", month: str = "3", day: str = "4") -> str:
    date = f"<DateCompleted><Year>2022</Year><Month>{month}</Month><Day>{day}</Day></DateCompleted>"
    abstract = f"<Article><Abstract><AbstractText>{text}</AbstractText></Abstract></Article>"
    return f"<PubmedArticle><MedlineCitation><PMID>{number}</PMID>{date}{abstract}</MedlineCitation></PubmedArticle>\n"


def xml(*records: str, before: str = "") -> bytes:
    return f'<?xml version="1.0"?>\n{before}<PubmedArticleSet>{"".join(records)}</PubmedArticleSet>'.encode()


def read(path: Path, data: bytes) -> tuple[list[int], Counter[str]]:
    path.write_bytes(data)
    counts: Counter[str] = Counter()
    return [one.pmid for one in read_medline(path, counts)], counts


def test_the_document_type_of_published_files_is_taken(tmp_path):
    assert read(tmp_path / "a.xml", xml(record(1), before=PUBLIC)) == ([1], {"records": 1})


@pytest.mark.parametrize(
    "inside", ["<!ATTLIST PMID b CDATA 'x'>", "<!ENTITY f 'g'>", "<!ELEMENT a ANY>", "<!-- c -->", " "]
)
def test_a_document_type_with_anything_inside_is_refused(tmp_path, caplog, inside):
    data = xml(record(1), before=f"<!DOCTYPE PubmedArticleSet [{inside}]>")
    assert read(tmp_path / "a.xml", data) == ([], {BROKEN: 1})
    assert "declares something of its own" in caplog.text


@pytest.mark.parametrize("before", ["<!-- comment -->\n", " \n", "<?pi?>"])
def test_what_stands_before_the_root_and_between_records_is_not_held(tmp_path, before):
    many = before * (3_000_000 // len(before))
    data = xml(record(1), before=many).replace(b"</PubmedArticleSet>", f"{many}{record(2)}</PubmedArticleSet>".encode())
    path = tmp_path / "a.xml.gz"
    packed = gzip.compress(data)
    tracemalloc.start()
    found = read(path, packed)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == ([1, 2], {"records": 2})
    assert peak < 3_000_000 < len(data) / 2


def test_many_records_are_not_held(tmp_path):
    packed = gzip.compress(xml(*["<PubmedArticle/>" * 100_000]))
    tracemalloc.start()
    assert read(tmp_path / "a.xml.gz", packed)[1]["records"] == 100_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6_000_000  # those of one block, and the rest are gone


def test_a_record_beyond_the_limits_is_named(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(xml_records, "RECORD", 300_000)
    long = "x" * 900_000
    whole = [record(1), record(2)]
    assert read(tmp_path / "a.xml", xml(*whole, record(3, long)))[0] == [1, 2]
    assert "breaks off after 2 records: record 3: the record has more than 300,000 bytes" in caplog.text
    assert "PROBEKIT_LIMITS=2" in caplog.text
    assert read(tmp_path / "a.xml", xml(*whole, before=f"<!--{long}-->"))[0] == []
    for deep in (record(3, "<a>" * 70 + "</a>" * 70), "<a>" * 100_000):
        assert read(tmp_path / "a.xml", xml(*whole, deep)) == ([1, 2], {"records": 2, BROKEN: 1})
    assert "what lies inside each other has more than 64 levels" in caplog.text


@pytest.mark.parametrize("odd", ["²", "13", "0", "9" * 5000, "-1", "1.5", "٣", "Smarch", ""])
def test_an_odd_month_or_day_counts_as_the_first(tmp_path, odd):
    path = tmp_path / "a.xml"
    path.write_bytes(xml(record(1, month=odd), record(2, day="32" if odd == "13" else odd)))
    assert [one.date for one in read_medline(path, Counter())] == ["2022-01-04", "2022-03-01"]


@pytest.mark.parametrize("damage", ["truncated", "followed by garbage", "truncated in the middle"])
def test_every_whole_record_of_a_damaged_gz_is_kept(tmp_path, caplog, damage):
    texts = [record(n, os.urandom(300).hex()) for n in range(1, 1001)]
    packed = gzip.compress(xml(*texts))
    half = len(packed) // 2 if damage.endswith("middle") else len(packed) - 9
    found, counts = read(tmp_path / "a.xml.gz", packed + b"garbage" if "garbage" in damage else packed[:half])
    least = 450 if damage.endswith("middle") else 1000
    assert found == list(range(1, len(found) + 1)) and len(found) >= least
    assert counts == {"records": len(found), BROKEN: 1}
    assert f"breaks off after {len(found)} records" in caplog.text


def test_an_entity_that_nothing_declares_ends_the_file(tmp_path, caplog):
    assert read(tmp_path / "a.xml", xml(record(1), record(2, "&x;"), before=PUBLIC)) == ([1], {"records": 1, BROKEN: 1})
    assert "&x;" in caplog.text
