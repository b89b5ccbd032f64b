"""The ledger: how claims are read and refused, the verdicts on recorded cells, and the claims that are there."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from probekit.report.ledger.claims import Cell, Claim, NotRun, Related, ledger, load_claims
from probekit.report.ledger.own_tables import CHECKS

from probekit.errors import ReportError
from probekit.report.recording import recorded_manifest

PUBLISHED = Path(__file__).resolve().parents[1] / "book" / "published"
KEYS = ["id", "paper", "where", "statement", "published", "ours", "tolerance", "verdict", "own_table", "reason"]
KEYS += ["related", "related_note"]
ROW = "{id: 001-77, paper: '001', where: '4', statement: s, published: 1, tolerance: 0, source: {not_run: no data}}"
TABLE = "source: {table: a.csv, where: {a: b}, column: c}"
RELATED = "related: {table: a.csv, where: {a: b}, column: c, note: ours}"
GAP = "{not_run: no data}"
CELL = Cell("12_accuracy/datasets.csv", {"probe": "squad"}, "facts")
CLAIM = Claim("001-77", "001", "4", "a count", 305, 2, CELL)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A report of our own: the transcribed numbers copied, nothing recorded."""
    shutil.copytree(PUBLISHED, tmp_path / "book" / "published")
    (tmp_path / "studies.yml").touch()
    monkeypatch.setenv("PROBEKIT_HOME", str(tmp_path))
    return tmp_path


def record(home: Path, text: str | bytes) -> None:
    path = home / "book" / "recorded" / CELL.table
    path.parent.mkdir(parents=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (", tolerance: 0", "", "001-77.*'tolerance' is missing"),
        ("where: '4'", "where: 5.5", "001-77.*'where'.*5.5"),
        ("where: '4'", "where: '4', wher: x", "001-77.*'wher' is unknown"),
        ("where: '4'", "where: '4', where: '5'", "'where' is there twice"),
        ("statement: s", "statement: ' '", "001-77.*'statement'"),
        ("paper: '001'", "paper: 001", "001-77.*'paper'.*1"),
        ("paper: '001'", "paper: '002'", "001-77.*'id'"),
        ("id: 001-77", "id: 001-7", "001-7.*'id'"),
        ("published: 1", "published: .nan", "001-77.*'published'.*nan"),
        ("published: 1", "published: true", "001-77.*'published'.*True"),
        ("tolerance: 0", "tolerance: -1", "001-77.*'tolerance'.*-1"),
        ("tolerance: 0", "tolerance: 5e-05", "001-77.*'tolerance'.*5e-05"),
        ("{not_run: no data}", "no data", "001-77.*'source'"),
        ("{not_run: no data}", "{not_run: no data, table: a.csv}", "001-77.*'source'.*'table' is unknown"),
        ("{not_run: no data}", "{table: ../a.csv, where: {a: b}, column: c}", "001-77.*'table'.*a.csv"),
        ("{not_run: no data}", "{table: a.csv, where: {a: 1}, column: c}", "001-77.*'where', 'a'"),
        (ROW[ROW.index("published") : -1], f"published: x, tolerance: 0, {TABLE}", "001-77.*numbers"),
        (ROW[ROW.index("tolerance") : -1], f"tolerance: null, {TABLE}", "001-77.*numbers"),
        (GAP, f"{GAP}, {RELATED.replace(', note: ours', '')}", "001-77.*related.*'note' is missing"),
        (GAP, f"{GAP}, {RELATED.replace('note: ours', 'note: 1')}", "001-77.*related.*'note'"),
        (GAP, f"{GAP}, {RELATED.replace('a.csv', '/a.csv')}", "001-77.*related.*'table'"),
        (GAP, f"{GAP}, {RELATED.replace('a: b', 'a: 1')}", "001-77.*related.*'where', 'a'"),
        (GAP, f"{GAP}, related: null", "001-77.*'related'"),
        (f"published: 1, tolerance: 0, source: {GAP}", f"published: 1, tolerance: 0, {TABLE}, {RELATED}", "leave one"),
    ],
)
def test_a_bad_claim_is_refused_by_name(tmp_path: Path, old: str, new: str, words: str) -> None:
    path = tmp_path / "claims.yml"
    path.write_text(f"- {ROW}\n", encoding="utf-8")
    assert load_claims(path) == [Claim("001-77", "001", "4", "s", 1, 0, NotRun("no data"))]
    path.write_text(f"- {ROW.replace(old, new)}\n", encoding="utf-8")
    with pytest.raises(ReportError, match=words):
        load_claims(path)


@pytest.mark.parametrize("text", [f"- {ROW}\n- {ROW}\n", "a: 1", "", "- !!python/object:os.system {}", "- [", "- \xff"])
def test_a_bad_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "claims.yml").write_text(text, encoding="latin-1")
    with pytest.raises(ReportError, match=r"claims\.yml"):
        load_claims(tmp_path / "claims.yml")


@pytest.mark.parametrize(
    ("facts", "verdict", "ours"),
    [("305", "reproduced", 305), ("307.0", "reproduced", 307), ("303", "reproduced", 303), ("302.9", "differs", 302.9)],
)
def test_verdict_follows_the_tolerance(home: Path, facts: str, verdict: str, ours: float) -> None:
    record(home, f"probe,facts\nother,305\nsquad,{facts}\n")
    (row,) = ledger([CLAIM])
    assert (row["verdict"], row["ours"]) == (verdict, ours)


def test_a_difference_of_exactly_the_tolerance_is_no_matter_of_binary_fractions(home: Path) -> None:
    record(home, "probe,facts\nsquad,0.4\n")
    assert 0.4 - 0.3 > 0.1
    assert ledger([replace(CLAIM, published=0.3, tolerance=0.1)])[0]["verdict"] == "reproduced"
    assert ledger([replace(CLAIM, published=0.3, tolerance=0.09)])[0]["verdict"] == "differs"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "is not there"),
        ("", "cannot be read"),
        (b"probe,facts\nsquad,\xff\n", "cannot be read"),
        ("probe,facts\nother,305\n", "0 rows with probe = squad"),
        ("probe,facts\nsquad,305\nsquad,305\n", "2 rows with probe = squad"),
        ("probe,prompts\nsquad,305\n", "no column facts"),
        ("probe,facts\nsquad,nan\n", "no number"),
        ("probe,facts\nsquad,\n", "no number"),
    ],
)
def test_what_is_not_recorded_is_not_run(home: Path, text: str | bytes | None, words: str) -> None:
    if text is not None:
        record(home, text)
    (row,) = ledger([CLAIM])
    assert (row["verdict"], row["ours"]) == ("not run", None)
    assert words in str(row["reason"])


def test_an_interval_that_includes_zero_decides_nothing(home: Path) -> None:
    record(home, "probe,facts\nsquad,undecided\n")
    (row,) = ledger([CLAIM])
    assert (row["verdict"], row["ours"]) == ("undecided", None)
    assert "includes zero" in str(row["reason"])


def test_the_reason_tells_the_verdict_first_and_then_the_own_numbers(home: Path) -> None:
    record(home, "probe,facts\nsquad,304\n")
    (row,) = ledger([replace(CLAIM, id="001-17h")])
    assert str(row["reason"]).startswith(
        "Ours, 304, is 1 away from 305 (tolerance 2). The paper's own numbers: Of the 96 "
    )
    assert row["own_table"] == "inconsistent"
    (plain,) = ledger([replace(CLAIM, source=NotRun("no such data"))])
    assert (plain["reason"], plain["own_table"]) == ("No such data.", "not checkable")


def test_the_whole_ledger(home: Path) -> None:
    rows = ledger()
    assert [list(row) for row in rows] == [KEYS] * len(load_claims())
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    assert {row["verdict"] for row in rows} == {"not run"}  # nothing is recorded here
    assert all(row["ours"] is None and row["reason"] for row in rows)
    assert {row["id"] for row in rows if row["own_table"] != "not checkable"} == set(CHECKS)


def test_recorded_counts_reach_the_claims_on_the_same_data(home: Path) -> None:
    record(
        home,
        "probe,facts,relations,sentences,prompts,entities\n"
        "google_re/template,5000,3,0,5000,9\ngoogle_re/natural,5000,3,6112,5000,9\nsquad,305,1,0,301,300\n",
    )
    verdicts = {row["id"]: (row["verdict"], row["ours"]) for row in ledger() if row["verdict"] != "not run"}
    assert verdicts == {
        "001-13h": ("differs", 300),
        "001-17a": ("reproduced", 6112),
        "001-17b": ("differs", 5000),
        "001-17c": ("reproduced", 3),
        "001-17h": ("reproduced", 305),
    }


def test_a_related_figure_is_read_and_is_no_part_of_the_verdict(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "claims.yml"
    path.write_text(f"- {ROW[:-1]}, {RELATED}}}\n", encoding="utf-8")
    (claim,) = load_claims(path)
    assert claim.related == Related(Cell("a.csv", {"a": "b"}, "c"), "ours")
    claim = replace(claim, related=Related(CELL, "on other models"))
    record(home, "probe,facts\nsquad,1\n")
    (row,) = ledger([claim])
    assert (row["verdict"], row["ours"], row["related"], row["related_note"]) == ("not run", None, 1, "on other models")
    assert row["reason"] == "No data."


def test_a_related_figure_that_is_not_recorded_is_empty_and_a_mistyped_one_is_told(home: Path) -> None:
    claim = replace(CLAIM, source=NotRun("no data"), related=Related(CELL, "on other models"))
    assert (ledger([claim])[0]["related"], ledger([claim])[0]["reason"]) == (None, "No data.")
    record(home, "probe,facts\nsquad,1\n")
    for cell, words in (
        (replace(CELL, column="fact"), "no column fact"),
        (replace(CELL, where={"probe": "squat"}), "0 rows with probe = squat"),
        (replace(CELL, table="12_accuracy/dataset.csv"), "is not there"),
    ):
        (row,) = ledger([replace(claim, related=Related(cell, "on other models"))])
        assert row["related"] is None and "Ours, other models: " in str(row["reason"]) and words in str(row["reason"])


def test_every_related_figure_of_a_recorded_study_is_there() -> None:
    found = [(row["id"], row["related"], row["reason"]) for row in ledger() if row["related_note"]]
    assert any(related is not None for _, related, _ in found)
    assert not [(claim, reason) for claim, _, reason in found if "Ours, other models: " in str(reason)]


def test_a_related_figure_is_of_the_models_its_note_names() -> None:
    cells = [claim.related for claim in load_claims() if claim.related]
    assert all("minilm-mlm" in related.note and "real-*" in related.note for related in cells)
    for study in {related.cell.table.split("/")[0] for related in cells}:
        names = sorted(recorded_manifest(study)["models"])
        assert names[0] == "minilm-mlm" and [name[:5] for name in names[1:]] == ["real-"] * 3
