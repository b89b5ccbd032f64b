"""PubMed's records: what is read of them, and of hostile or damaged files in constant memory, with what broke off."""

import gzip
import os
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest
from conftest import pubmed_record, pubmed_xml

from probekit.errors import ProbeError
from probekit.probes import xml_records
from probekit.probes.lipid.medline import Citation, abstracts, read_records

BROKEN = "files broken off (malformed)"
PUBLIC = (
    '<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2019//EN" '
    '"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_190101.dtd">'
)


def record(number: int, text: str = "Text.", dates: str = "", day: str = "") -> str:
    """A record as PubMed writes it since 2017, with the dates of its history."""
    history = f"<PubmedData><History>{dates}</History></PubmedData>"
    return f"<PubmedArticle>{pubmed_record(number, text, day=day)}{history}</PubmedArticle>\n"


def dated(status: str, day: str) -> str:
    parts = zip(("Year", "Month", "Day"), day.split("-"), strict=True)
    return f'<PubMedPubDate PubStatus="{status}">{"".join(f"<{a}>{b}</{a}>" for a, b in parts)}</PubMedPubDate>'


def xml(*records: str, before: str = "") -> bytes:
    return pubmed_xml(*records, root="PubmedArticleSet", before=before).encode()


def found(path: Path, data: bytes) -> tuple[list[Citation], Counter[str]]:
    path.write_bytes(data)
    counts: Counter[str] = Counter()
    every = (one for element in xml_records.elements(path, counts) for one in abstracts(element, counts))
    return [one for one in every if one.sections], counts


def read(path: Path, data: bytes) -> tuple[list[int], Counter[str]]:
    records, counts = found(path, data)
    return [one.pmid for one in records], counts


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_records_are_read_plain_or_zipped(tmp_path, pack):
    other = "<OtherAbstract><AbstractText>Autre.</AbstractText></OtherAbstract>"
    texts = "Two <i>odd</i>\n  words &lt; 3 &#946;.", "Part two."
    without = pubmed_record(8), pubmed_record(9, "", more=other), pubmed_record("", "A."), pubmed_record("x7", "A.")
    records, counts = found(tmp_path / "a", pack(pubmed_xml(pubmed_record(7, *texts), *without).encode()))
    assert records == [Citation(7, "2022-03-04", "On 7.", ("Two odd words < 3 β.", "Part two."))]
    assert counts == {"records": 5, "records without an abstract": 2, "records without a PMID": 2}
    with pytest.raises(ProbeError, match="cannot read"):
        list(read_records(tmp_path / "absent.xml", counts))


def test_the_date_is_the_one_of_entry_and_incomplete_ones_are_early(tmp_path):
    def issue(pmid: int, inner: str) -> str:
        journal = f"<Journal><JournalIssue><PubDate>{inner}</PubDate></JournalIssue></Journal>"
        return f"<PubmedArticle>{pubmed_record(pmid, 'A.', day='', article=journal)}</PubmedArticle>"

    dates = [dated("received", "2019-1-2"), dated("pubmed", "2022-1-9"), dated("entrez", "2022-1-8")]
    records, _ = found(
        tmp_path / "a.xml",
        xml(
            record(1, dates="".join(dates)),
            record(2, dates=dates[1]),
            record(3, day="2020-05-06"),
            issue(4, "<Year>2021</Year><Month>Dec</Month>"),
            issue(5, "<MedlineDate>2021 Nov-Dec</MedlineDate>"),
            issue(6, "<MedlineDate>Winter</MedlineDate>"),
        ),
    )
    assert [a.date for a in records] == ["2022-01-08", "2022-01-09", "2020-05-06", "2021-12-01", "2021-01-01", ""]


def test_bytes_that_are_not_utf8_are_replaced_and_counted(tmp_path):
    many = [record(n, "Plain é text.") for n in range(1, 2000)]  # over the size of a block, faults in the second
    data = xml(*many, "HERE").replace(b"HERE", record(5000, "Caf\udce9 society.").encode("utf-8", "surrogateescape"))
    records, counts = found(tmp_path / "a.xml", data)
    assert records[-1].sections == ("Caf\ufffd society.",)
    assert {a.sections for a in records[:-1]} == {("Plain é text.",)}
    assert counts == {"records": 2000, "files not UTF-8": 1}


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


@pytest.mark.parametrize("odd", ["²", "13", "0", "9" * 5000, "1.5", "٣", "Smarch", ""])
def test_an_odd_month_or_day_counts_as_the_first(tmp_path, odd):
    days = f"2022-{odd}-4", f"2022-3-{'32' if odd == '13' else odd}"
    records, _ = found(
        tmp_path / "a.xml", xml(*(record(n, dates=dated("pubmed", day)) for n, day in enumerate(days, 1)))
    )
    assert [one.date for one in records] == ["2022-01-04", "2022-03-01"]


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
    assert read(tmp_path / "a.xml", b"") == ([], {BROKEN: 1})
    assert read(tmp_path / "a.xml.gz", packed[:60] + b"\xff" * 60 + packed[120:])[1][BROKEN] == 1


def test_an_entity_that_nothing_declares_ends_the_file(tmp_path, caplog):
    assert read(tmp_path / "a.xml", xml(record(1), record(2, "&x;"), before=PUBLIC)) == ([1], {"records": 1, BROKEN: 1})
    assert "&x;" in caplog.text
