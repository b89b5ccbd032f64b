"""The ledger: how claims are read and refused, verdicts on conclusions, and the claims that are there."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from probekit.errors import ProbekitError
from probekit.metrics.decisions import direction
from probekit.report import claims, verdicts
from probekit.report.claims import COLUMNS, Claim, Judged, Related, Unjudged, load_claims
from probekit.report.recording import recorded_manifest
from probekit.report.verdicts import Decision, checks, concluded, conclusions_of, findings, ledger, said
from probekit.report.verdicts import judge as judge_column

ROOT = Path(__file__).resolve().parents[3]
KEYS = ["id", "paper", "where", "statement", "published", "tolerance", *COLUMNS, "related", "related_note", "page"]
ROW = (
    "{id: 001-77, paper: '001', where: '4', statement: s, published: 1, tolerance: 0, "
    "on_paper_data: {not_applicable: no run}, beyond: {not_run: no data}}"
)
PAGE = "on_paper_data: {not_applicable: no run}, beyond: {page: 12_accuracy, rule: number, where: {a: b}}"
RELATED = "related: {table: a.csv, where: {a: b}, column: c, note: ours}"
GAP = "{not_run: no data}"
NONE = Unjudged("not run", "no data")
NUMBER = Claim("001-77", "001", "4", "a count", 305, 2, NONE, Judged("12_accuracy", "number", {}))
SIDE = replace(NUMBER, beyond=Judged("12_accuracy", "direction", {"dataset": "x"}))
CONFOUNDED = {claim.id for claim in load_claims() if any(source.confounded for source in claim.judged.values())}
NEAR = Related("12_accuracy/datasets.csv", {"probe": "squad"}, "facts", "on other models")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A report of our own: the transcribed numbers copied, nothing recorded."""
    shutil.copytree(ROOT / "book" / "published", tmp_path / "book" / "published")
    shutil.copy2(ROOT / "studies.yml", tmp_path)
    (tmp_path / "notebooks").symlink_to(ROOT / "notebooks")
    monkeypatch.setenv("PROBEKIT_HOME", str(tmp_path))
    return tmp_path


def judge(claim: Claim, table: pd.DataFrame) -> Decision:
    return judge_column(claim, "beyond", table)


def rows(**columns: object) -> pd.DataFrame:
    return concluded(pd.DataFrame([{"claim": "001-77", "dataset": "x", "estimate": 0.5, **columns}]))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (", tolerance: 0", "", "001-77.*'tolerance' is a required property"),
        ("where: '4'", "where: 5.5", "001-77.*'where'.*5.5"),
        ("where: '4'", "where: '4', wher: x", "001-77.*wher"),
        ("where: '4'", "where: '4', where: '5'", "'where' is there twice"),
        ("statement: s", "statement: ' '", "001-77.*'statement'"),
        ("paper: '001'", "paper: 001", "001-77.*'paper'.*1"),
        ("paper: '001'", "paper: '002'", "001-77.*'id'"),
        ("id: 001-77", "id: 001-7", "001-7.*'id'"),
        ("published: 1", "published: .nan", "001-77.*'published'.*nan"),
        ("published: 1", "published: true", "001-77.*'published'.*True"),
        ("tolerance: 0", "tolerance: -1", "001-77.*'tolerance'.*-1"),
        ("tolerance: 0", "tolerance: 5e-05", "001-77.*'tolerance'.*5e-05"),
        ("{not_run: no data}", "no data", "001-77.*'beyond'"),
        ("{not_run: no data}", "{not_run: no data, table: a.csv}", "001-77.*'beyond'"),
        ("{not_run: no data}", "{page: 12_accuracy}", "001-77.*'beyond'"),
        ("{not_run: no data}", "{page: 12_accuracy, rule: guess}", "001-77.*'beyond'"),
        ("{not_run: no data}", "{page: 12_accuracy, rule: number, where: {a: 1}}", "001-77.*'beyond'"),
        ("{not_run: no data}", "{page: 12_accuracy, rule: number, where: {a: [b]}}", "001-77.*'beyond'"),
        ("{not_run: no data}", "{page: 12_accuracy, rule: number, missing: ''}", "001-77.*'beyond'"),
        ("{not_run: no data}", "{page: 12_accuracy, rule: all, effect: 0}", "001-77.*'beyond'"),
        (", beyond: {not_run: no data}", "", "001-77.*'beyond' is a required"),
        (ROW[ROW.index("published") : -1], f"published: x, tolerance: 0, {PAGE}", "001-77.*numbers"),
        (ROW[ROW.index("tolerance") : -1], f"tolerance: null, {PAGE}", "001-77.*numbers"),
        (GAP, f"{GAP}, {RELATED.replace(', note: ours', '')}", "001-77.*related.*'note' is a required"),
        (GAP, f"{GAP}, {RELATED.replace('note: ours', 'note: 1')}", "001-77.*related.*'note'"),
        (GAP, f"{GAP}, {RELATED.replace('a.csv', '/a.csv')}", "001-77.*related.*'table'"),
        (GAP, f"{GAP}, {RELATED.replace('a: b', 'a: 1')}", "001-77.*related.*'where'.*'a'"),
        (GAP, f"{GAP}, related: null", "001-77.*'related'"),
        (ROW[ROW.index("on_paper") : -1], f"{PAGE}, {RELATED}", "leave one"),
    ],
)
def test_a_bad_claim_is_refused_by_name(tmp_path: Path, old: str, new: str, words: str) -> None:
    path = tmp_path / "claims.yml"
    path.write_text(f"- {ROW}\n", encoding="utf-8")
    assert load_claims(path) == [Claim("001-77", "001", "4", "s", 1, 0, Unjudged("not applicable", "no run"), NONE)]
    path.write_text(f"- {ROW.replace(old, new)}\n", encoding="utf-8")
    with pytest.raises(ProbekitError, match=words):
        load_claims(path)


@pytest.mark.parametrize("text", [f"- {ROW}\n- {ROW}\n", "a: 1", "", "- !!python/object:os.system {}", "- [", "- \xff"])
def test_a_bad_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "claims.yml").write_text(text, encoding="latin-1")
    with pytest.raises(ProbekitError, match=r"claims\.yml"):
        load_claims(tmp_path / "claims.yml")


@pytest.mark.parametrize(("ours", "verdict"), [(305, "holds"), (307.0, "holds"), (303, "holds"), (302.9, "fails")])
def test_a_number_is_judged_by_the_tolerance(ours: float, verdict: str) -> None:
    found = judge(NUMBER, rows(estimate=ours))
    assert (found.verdict, found.estimate) == (verdict, ours)
    counted = judge(replace(NUMBER, beyond=Judged("12_accuracy", "count", {})), rows(estimate=ours))
    assert counted == found._replace(verdict="data")  # what a file holds is no finding


def test_a_difference_of_exactly_the_tolerance_is_no_matter_of_binary_fractions() -> None:
    assert 0.4 - 0.3 > 0.1
    claims = [replace(NUMBER, published=0.3, tolerance=tolerance) for tolerance in (0.1, 0.09)]
    assert [judge(claim, rows(estimate=0.4)).verdict for claim in claims] == ["holds", "fails"]


def test_a_direction_needs_an_interval_on_one_side_of_zero() -> None:
    assert direction(0.01, 0.2) == direction(-0.2, -0.01, "below") == "agrees"
    assert direction(-0.2, -0.01) == direction(0.01, 0.2, "below") == "contradicts"
    assert direction(-0.1, 0.1) == direction(0.0, 0.1) == direction(float("nan"), float("nan")) == "undecided"


@pytest.mark.parametrize(
    ("low", "high", "expected", "sign", "verdict"),
    [
        (0.1, 0.9, "", "agrees", "holds"),
        (0.1, 0.9, "below", "contradicts", "fails"),
        (-0.1, 0.9, "", "undecided", "open"),
    ],
)
def test_a_row_has_the_verdict_of_its_interval(low: float, high: float, expected: str, sign: str, verdict: str) -> None:
    table = rows(low=low, high=high, expected=expected)
    assert table["verdict"].tolist() == [sign]
    found = judge(SIDE, table)
    assert (found.verdict, found.estimate, found.low, found.high) == (verdict, 0.5, low, high)
    numbers = ["estimate", "low", "high", "n", "units", "detectable"]
    assert list(table) == ["claim", "column", "dataset", "unit", "expected", *numbers, "verdict"]
    assert table["detectable"].iloc[0] == pytest.approx((high - low) / 2 * (1.96 + 0.84) / 1.96, rel=0.05)
    ruled = rows(low=low, high=high, expected=expected, verdict="contradicts")  # by another rule, which stays
    assert (ruled["verdict"].tolist(), rows()["verdict"].tolist()) == (["contradicts"], [""])


@pytest.mark.parametrize("table", [pd.DataFrame(columns=["claim"]), rows(claim="001-78"), pd.concat([rows(), rows()])])
def test_without_one_row_that_decides_a_claim_is_not_run(table: pd.DataFrame) -> None:
    found = judge(SIDE, table)
    assert (found.verdict, found.estimate) == ("not run", None)
    assert "conclusions with claim = 001-77, dataset = x" in found.reason


def test_a_page_tells_few_results_and_counts_many() -> None:
    few = pd.concat([rows(low=0.1, high=0.9), rows(dataset="trex", low=-0.1, high=0.9)])
    assert said(few).split("; ") == [
        "x: 0.500 [0.100,\N{NO-BREAK SPACE}0.900], agrees",
        "T\N{NON-BREAKING HYPHEN}REx: 0.500 [-0.100,\N{NO-BREAK SPACE}0.900], undecided",
    ]
    assert said(pd.concat([few] * 3)) == "6 results: 3 agree, 3 undecided"
    assert said(pd.concat([few.iloc[1:]] * 5)) == "5 results, all undecided"
    assert said(rows(estimate=305.0)) == "x: 305"


def test_findings_are_of_the_claims_that_have_conclusions_or_are_judged_here() -> None:
    judged = [c for c in load_claims() if "11_datasets" in {source.page for source in c.judged.values()}]
    claim = judged[0]
    found = findings("11_datasets", rows(claim=claim.id, estimate=float(claim.published or 0)), ["001"])
    assert set(found["claim"]) == {c.id for c in judged}
    assert found.set_index("claim").loc[claim.id, [*COLUMNS]].tolist() == ["not applicable", "data", "not applicable"]
    assert findings("11_datasets", rows(), ["009"]).empty


def test_a_page_tells_what_decides_a_claim_before_what_does_not() -> None:
    claim = next(c for c in load_claims() if c.id == "001-18a")
    about = {"claim": claim.id, "low": 0.1, "high": 0.9}
    both = pd.concat([rows(model=m, tuned=t, **about) for m, t in (("n", "templates"), ("m", "neither"))])
    (here,) = findings("12_accuracy", both.reset_index(drop=True), ["001-18"])["here"]
    assert here.startswith("x, m") and "; not judged: x, n" in here
    many = pd.concat([both, *[both[both["tuned"] == "templates"]] * 4], ignore_index=True)
    (here,) = findings("12_accuracy", many, ["001-18"])["here"]
    assert here.startswith("x, m") and here.endswith("; 5 more, not judged")


@pytest.mark.slow
def test_the_whole_ledger(home: Path) -> None:
    table = ledger()
    assert [list(row) for row in table] == [KEYS] * len(load_claims())
    assert json.loads(json.dumps(table, allow_nan=False)) == table
    ours = [row[column] for row in table for column in verdicts.OURS]
    assert {made["verdict"] for made in ours} == {"not run", "not applicable", "open"}  # nothing is recorded here
    assert all(made["estimate"] is None and made["reason"] for made in ours)
    assert {row["id"] for row in table if row["in_print"]["verdict"] != "not applicable"} == set(checks())


@pytest.mark.slow
def test_the_recorded_ledger_holds_every_claim_its_place_and_its_related_figure() -> None:
    table = ledger()
    places = {row["id"]: row["page"] for row in table}  # the page that names a claim most closely
    assert (places["001-13e"], places["001-07a"]) == ("17_entities", "13_rankings")
    for row in table:
        assert not row["related_note"] or row["related"] is not None, row
        for column in verdicts.OURS:
            made = row[column]
            said = any(words in made["reason"] for words in ("would decide", "would bear", "A coin would"))
            reason = said or not made["of"]
            assert made["verdict"] != "open" or reason or row["id"] in CONFOUNDED, row


@pytest.mark.slow
def test_every_judged_claim_has_the_row_that_decides_it() -> None:
    made = {page: conclusions_of(page) for claim in load_claims() for page in {s.page for s in claim.judged.values()}}
    for claim in load_claims():
        for column, source in claim.judged.items():
            found = judge_column(claim, column, made[source.page])
            awaited = source.missing.lower().startswith(found.reason[:-1].lower())
            assert awaited if found.verdict == "not run" else (found.of, found.estimate) != (None, None), (
                claim.id,
                found,
            )


def test_a_related_figure_is_read_and_is_no_part_of_the_verdict(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def judged(claim: Claim) -> dict[str, object]:
        monkeypatch.setattr(verdicts, "load_claims", lambda: [claim])
        return ledger()[0]

    claim = replace(NUMBER, beyond=NONE, related=NEAR)
    row = judged(claim)
    assert (row["related"], row["related_note"]) == (None, "on other models")  # the page was not recorded
    path = home / "book" / "recorded" / NEAR.table
    path.parent.mkdir(parents=True)
    path.write_text("probe,facts\nsquad,1\n")
    row = judged(claim)
    assert (row["related"], row["related_note"]) == (1, "on other models")
    assert row["beyond"] == Decision("not run", "No data.")._asdict()
    for wrong in (
        replace(NEAR, column="fact"),
        replace(NEAR, where={"probe": "squat"}),
        replace(NEAR, table="12_accuracy/dataset.csv"),
    ):
        row = judged(replace(claim, related=wrong))
        assert row["related"] is None and wrong.table in str(row["related_note"])


def test_a_related_figure_says_whose_it_is() -> None:
    cells = [claim.related for claim in load_claims() if claim.related]
    assert all("recorded model" in related.note for related in cells)
    assert all(recorded_manifest(related.table.split("/")[0])["models"] for related in cells)


def test_claims_are_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    load_claims()
    monkeypatch.setattr(claims, "yaml_value", None)
    assert load_claims()
