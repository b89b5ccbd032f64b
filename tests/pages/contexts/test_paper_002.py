"""Paper 002 against its own tables: other numbers, other findings; the tests of page 29 by hand from their cells."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from conftest import Values, doctor

from probekit.report.claims import load_claims
from probekit.report.published import numbers, published

from notebooks.contexts import paper, text
from notebooks.contexts.paper import (
    BIOMEDICAL,
    CHECKS,
    CLINICAL,
    DIRECTIONS,
    GENERAL,
    LARGER,
    MISUNDERSTAND,
    RIGHT,
    STARTS,
    UNDERSTAND,
)

PUBLISHED = Path(__file__).resolve().parents[3] / "book" / "published"
WITHOUT, WITH, U3, M3, NEGATIVE = "without context ", "with context ", "target U", "target M", "negative-target "

# claim, what it is now, the table to change, and the values that make it the other
FLIPS: list[tuple[str, str, str, Values]] = [
    ("002-03a", "holds", "table1", {("BioBERT", "O_a correct: O_t"): "0.1"}),
    ("002-03d", "holds", "table1", {("BERT", "O_a incorrect: O_t"): "-0.1"}),
    ("002-04j", "holds", "table2", {("ClinicalBERT", WITHOUT + "acc@1"): "0.227"}),
    ("002-05a", "holds", "table2", {("BioBERT", WITH + "acc@1"): "0.2"}),
    ("002-05b", "holds", "table2", {("BERT-base", WITH + "acc@5"): "0.57"}),
    ("002-07a", "holds", "table2", {("BERT-large", "M"): "0.115"}),
    ("002-07b", "holds", "table2", {("RoBERTa-large", "U"): "0.287"}),
    ("002-07c", "holds", "table2", {("RoBERTa-large-PM-M3", "C"): "0.453"}),
    ("002-12a", "holds", "table3", {("BioBERT", NEGATIVE + "U"): "0.2"}),
    ("002-13a", "holds", "table2", {("BERT-base", "C"): "0.790"}),
    ("002-13b", "holds", "table3", {("BERT-large", "target C"): "0.70"}),
    ("002-13c", "fails", "table3", {("RoBERTa-large", NEGATIVE + "C"): "0.84"}),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "now", "table", "values"), FLIPS, ids=[flip[0] for flip in FLIPS])
def test_other_numbers_give_the_other_status(printed: Path, claim: str, now: str, table: str, values: Values) -> None:
    before, finding = CHECKS[claim]()
    doctor(printed / f"002_{table}.csv", values)
    after, other = CHECKS[claim]()
    assert (before, {before, after}) == (now, {"holds", "fails"})
    assert finding != other


def every(models: tuple[str, ...], value: str, *columns: str) -> Values:
    return {(model, column): value for model in models for column in columns}


MEDICAL = ("BioBERT", "ClinicalBERT", "RoBERTa-base-PM", "RoBERTa-base-PM-M3", "RoBERTa-large-PM-M3")
BARE = (WITHOUT + "acc@1", WITHOUT + "acc@5")
# claim, what it is now by a test, the table to change, and the values with which a test finds for or against it
TESTED: list[tuple[str, str, str, Values, Values]] = [
    ("002-04i", "open", "table2", every(MEDICAL, "0", *BARE) | every(tuple(STARTS), "0.5", *BARE),
     every(MEDICAL, "0.9", *BARE)),
    ("002-09a", "open", "table3", every(tuple(STARTS), "0.1", U3), every(tuple(STARTS), "0.9", U3)),
    ("002-09b", "open", "table3", every(CLINICAL, "0.9", U3), every(CLINICAL, "0.1", U3)),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "now", "table", "fits", "fails"), TESTED, ids=[one[0] for one in TESTED])
def test_a_test_decides_and_not_the_order_in_print(
    printed: Path, claim: str, now: str, table: str, fits: Values, fails: Values
) -> None:
    assert CHECKS[claim]()[0] == now
    for values, outcome in ((fits, "holds"), (fails, "fails")):
        doctor(printed / f"002_{table}.csv", values)
        assert CHECKS[claim]()[0] == outcome


def test_misunderstand_is_told_beside_understand() -> None:
    for claim, told in (("002-09a", "M is lower for 0."), ("002-09b", "0.099, 0.115, 0.112")):
        assert told in CHECKS[claim]()[1]


@pytest.mark.parametrize(("claim", "column", "value"), [("002-08a", U3, "0.9"), ("002-08b", M3, "0.001")])
def test_always_fails_by_one_pair_that_is_not_better(printed: Path, claim: str, column: str, value: str) -> None:
    before, text = CHECKS[claim]()
    assert before == "fails" and "BlueBERT-large-PM-M3" in text and "of 4 pairs" in text
    doctor(printed / "002_table3.csv", every(tuple(large for _, large in LARGER), value, column))
    assert CHECKS[claim]() == ("holds", "Not better in 0 of 4 pairs of Table 3: none.")


def test_four_starts_say_nothing_of_how_opposite_two_shares_are() -> None:
    status, found = CHECKS["002-12b"]()
    assert status == "open" and found.count("4 starts, too few for any test") == 2


def test_a_nearness_without_a_number_decides_nothing() -> None:
    status, found = CHECKS["002-06a"]()
    assert status == "open" and "ClinicalBERT 0.812" in found and "general: BERT-base 0.68" in found


def test_table_1_bears_out_all_directions_that_the_page_checks() -> None:
    table = published("002", "1")
    assert len(table) == 24 and table["row"].nunique() == 3 and set(table["paper"]) == {"002"}
    assert {CHECKS[claim]()[0] for claim in DIRECTIONS} == {"holds"}


def test_tables_are_whole() -> None:
    assert (numbers("002", "2").shape, numbers("002", "3").shape) == ((9, 7), (12, 6))
    for table in ("2", "3"):
        frame = pd.read_csv(PUBLISHED / f"002_table{table}.csv", dtype=str, keep_default_na=False)
        assert set(frame["paper"]) == {"002"} and set(frame["table"]) == {table}
        assert numbers("002", table).ge(0).all(axis=None) and numbers("002", table).le(1).all(axis=None)
    assert numbers("002", "2").loc["BERT-base", WITHOUT + "acc@1"] == 0.0038
    assert numbers("002", "3").loc["BlueBERT-large-PM-M3", NEGATIVE + "M"] == 0.095


@pytest.fixture(scope="module")
def made():
    return paper.tables()


def test_every_model_goes_on_from_a_general_one(made):
    table = paper.table3()
    assert len(table) == 12 and {name for names in STARTS.values() for name in names} == set(table.index)
    assert table.loc["RoBERTa-base-PM", ["U", "other M"]].tolist() == [0.301, 0.168]  # printed as RoBERTa
    rows = made["shares"]
    assert rows.groupby("text")["model"].nunique().to_dict() == {BIOMEDICAL: 8, GENERAL: 4}
    assert rows["start"].drop_duplicates().tolist() == list(STARTS)


def test_shares_and_gains_by_hand(made):
    rows = made["shares"].set_index(["model", "share"])["value"]
    assert rows["BERT-large", UNDERSTAND] == 0.199
    assert rows["BERT-large", RIGHT] == pytest.approx(0.199 / 0.244)
    assert paper.gains(UNDERSTAND)["BERT-large"] == pytest.approx(0.388 - 0.199)
    assert paper.gains(MISUNDERSTAND)["RoBERTa-base"] == pytest.approx((0.115 + 0.112) / 2 - 0.099)


def test_tests_by_hand(made):
    tests = made["tests"].set_index(["statement", "compared"])
    context = tests.loc["Context raises accuracy"]
    assert context["p"].tolist() == [2 / 16] * 2  # all nine models gain, but they go on from four
    assert context["estimate"].iloc[0] == pytest.approx(paper._gain("acc@1").groupby(paper.starts()).mean().mean())
    moves = tests.loc["Right and wrong entities move ranks in opposite ways"].iloc[0]
    assert (moves["estimate"], moves["p"], moves["verdict"]) == (0.5, 0.5, "too few")  # all signs, two starts
    mirror = tests.loc["They are almost completely opposite"].iloc[0]
    assert (mirror["n"], mirror["p"], mirror["verdict"]) == (4, 2 / 16, "too few")
    starts = tests[tests["unit"] == "start"]
    assert set(starts["least"]) == {0.125, 0.5, 1.0} and set(starts["verdict"]) == {"too few"}
    size = tests.loc["Large models are always better"]
    # Table 3, U: BERT -0.006, RoBERTa +0.095, its PM-M3 +0.011, BlueBERT -0.019: sums of 0.081 or more in 6 of 16.
    assert (size.iloc[2]["estimate"], size.iloc[2]["p"]) == (pytest.approx(0.081 / 4), pytest.approx(12 / 16))


def test_measures_side_by_side(made):
    rows = made["metrics"].set_index(["first", "second"])
    assert rows.loc[("with context acc@5", "M"), "r"] == pytest.approx(0.955, abs=1e-3)
    assert rows.loc[("without context acc@1", "without context acc@5"), "tau"] == pytest.approx(8 / 36)


def test_conclusions_name_claims_that_are_there(made):
    rows = paper.conclusions(made)
    assert set(rows["claim"]) <= {claim.id for claim in load_claims()}
    assert set(rows["verdict"]) <= {"agrees", "contradicts", "undecided", ""}
    more, ways = text.own_tables(made)
    assert "in 12 of 100 steps more" in more.text and "for 2 of 4 starting points" in ways.text
    assert more.holds and ways.holds and text.mirrored().holds
