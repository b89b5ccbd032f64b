"""The sentences of paper 003 on its own tables: checked on tables made here, on the printed and on changed ones."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from conftest import Values, doctor

from probekit.probes.rationales import DIMENSIONS
from probekit.report.claims import Judged, load_claims
from probekit.report.verdicts import conclusions_of, judge

from notebooks.rationales import paper
from notebooks.rationales.paper import CHECKS


def table_of(value: Callable[[str, str], float], rows: list[str], columns: list[str]) -> pd.DataFrame:
    names = [f"{dimension} {column}" for dimension in DIMENSIONS for column in columns]
    return pd.DataFrame([[value(row, name) for name in names] for row in rows], index=rows, columns=names)


ACCURACIES = [f"{part} top{top}" for part in ("all", "original", "perturbed") for top in (1, 3)]


def given(monkeypatch: pytest.MonkeyPatch, table: pd.DataFrame) -> None:
    monkeypatch.setattr(paper, "numbers", lambda *_: table)


@pytest.mark.parametrize(("falls", "said"), [((2.0, 1.6, 2.5, 0.1), "holds"), ((2.0, 1.4, 2.6, 0.1), "fails")])
def test_most_models_must_lose_about_two(monkeypatch: pytest.MonkeyPatch, falls: tuple[float, ...], said: str) -> None:
    rows = ["a", "b", "c", "d"]
    lost = dict(zip(rows, falls, strict=True))
    given(monkeypatch, table_of(lambda r, c: 60 - lost[r] * ("perturbed" in c), rows, ACCURACIES))
    assert CHECKS["003-07a"]()[0] == said


def test_one_exception_breaks_a_claim_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [f"{model} {method}" for model in ("x", "y") for method in ("ATT", "IG")]
    table = table_of(lambda r, _: 0.6 if "ATT" in r else 0.5, rows, ["F1", "MAP", "PCC", "MAP*"])
    given(monkeypatch, table)
    assert CHECKS["003-08a"]()[0] == "holds"
    assert CHECKS["003-09a"]()[0] == "fails"  # in knowledge it is always better here
    assert CHECKS["003-11b"]()[0] == "holds"
    table.loc["x IG", "knowledge F1"] = 0.6
    said = CHECKS["003-08a"]()
    assert said[0] == "holds" and said[1].endswith("9 of 10 comparisons hold, 1 is tied as printed.")
    table.loc["x IG", "knowledge F1"] = 0.5
    table.loc["y IG", ["knowledge F1", "computation F1"]] = 0.7
    said = CHECKS["003-08a"]()  # y is ahead on average
    assert said[0] == "holds" and said[1].endswith("8 of 10 comparisons hold; not: y knowledge, y computation.")
    assert CHECKS["003-09a"]()[0] == "holds"
    table.loc["y IG", ["grammar F1", "knowledge PCC", "computation PCC", "grammar PCC"]] = 0.8
    assert CHECKS["003-08a"]()[0] == "fails" and "for 1 of 2 models" in CHECKS["003-08a"]()[1]
    assert CHECKS["003-11b"]() == ("fails", "In Table 5 the two name the same method for 1 of 2 models.")


def test_the_printed_tables_bear_out_some_sentences_and_not_others() -> None:
    found = {claim: check() for claim, check in CHECKS.items()}
    assert {claim for claim, (said, _) in found.items() if said == "fails"} == {
        *("003-06a", "003-08c", "003-15a", "003-18b"),
    }
    assert {claim for claim, (said, _) in found.items() if said == "open"} == {
        *("003-10d", "003-12h", "003-13a", "003-17a"),
    }
    assert "smaller in PCC for 4 of 4 models" in found["003-11a"][1] and "too few dimensions" in found["003-13a"][1]
    assert "attention: -0.25, p 0.994, undecided" in found["003-12h"][1]
    assert "BERT-base 0.1, RoBERTa-base 2.5, ERNIE-base 2.4, ERNIE-large 1.6" in found["003-07a"][1]
    assert "semantics, important 0.004 against 0.008" in found["003-15a"][1]
    assert "MAP of Table 10 is lowest under transformation in: semantics, knowledge, reasoning." in found["003-14b"][1]
    ties = {claim: text for claim, (_, text) in found.items() if "tied as printed" in text}
    assert {"003-08a", "003-10d", "003-17a"} <= set(ties)
    assert "2 are tied" in ties["003-08a"] and "1 is tied" in ties["003-17a"]


# claim, what it is now, the table to change, and the values that make it the other
FLIPS: list[tuple[str, str, str, Values]] = [
    ("003-02b", "holds", "8", {("BERT-base", "reasoning all top1"): "73.6"}),
    (
        "003-08e",
        "holds",
        "9",
        {
            ("BERT-base IG", f"{dimension} MAP"): "0.99"
            for dimension in ("grammar", "semantics", "knowledge", "reasoning")
        },
    ),
    ("003-12f", "holds", "3", {("grammar", "Chinese RRL"): "45.0"}),
    ("003-12f", "holds", "3", {("reasoning", "Chinese RRL"): "35.0"}),
    (
        "003-12g",
        "holds",
        "3",
        {
            (dimension, f"{language} RRL"): str(90 - 15 * place)
            for place, dimension in enumerate(("grammar", "semantics", "reasoning", "knowledge", "computation"))
            for language in ("Chinese", "English")
        },
    ),
    ("003-13b", "holds", "6", {("change", "grammar dispensable"): "-40.0"}),
    ("003-14a", "holds", "7", {("computation", "transformation MAP"): "0.900"}),
    ("003-14b", "holds", "10", {("reasoning", "important MAP"): "0.7"}),
    ("003-15a", "fails", "7", {("semantics", "important F1 delta"): "0.009"}),
    ("003-15b", "holds", "7", {("grammar", "dispensable F1 delta"): "0.100"}),
    ("003-15b", "holds", "7", {("grammar", "important MAP"): "0.990"}),
    (
        "003-15c",
        "holds",
        "10",
        {("semantics", "transformation F1 delta"): "0.000", ("reasoning", "transformation F1 delta"): "0.000"},
    ),
    ("003-18b", "fails", "11", {("change", "semantics dispensable"): "-2.2"}),
]


@pytest.mark.parametrize(("claim", "now", "table", "values"), FLIPS)
def test_other_numbers_give_the_other_status(printed: Path, claim: str, now: str, table: str, values: Values) -> None:
    before, finding = CHECKS[claim]()
    doctor(printed / f"003_table{table}.csv", values)
    after, other_finding = CHECKS[claim]()
    assert (before, {before, after}) == (now, {"holds", "fails"})
    assert finding != other_finding


def test_what_only_the_papers_records_tell_is_not_run_and_says_why() -> None:
    sources = {claim.id: claim.on_paper_data for claim in load_claims()}
    for claim in ("003-01a", "003-07a", "003-12f"):
        assert "two were found in public" in str(sources[claim])


def test_what_is_said_of_the_papers_own_models_waits_for_them() -> None:
    """No page judges these: the ledger says why, whatever a run finds of other models."""
    for claim in load_claims():
        if isinstance(claim.beyond, Judged) and claim.beyond.missing and claim.paper == "003":
            rows = conclusions_of(claim.beyond.page)
            assert claim.id not in set(rows["claim"]) and judge(claim, "beyond", rows).verdict == "not run"
