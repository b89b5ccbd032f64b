"""Paper 002 against its own tables: other numbers, other findings; and the tables as transcribed."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from conftest import Values, doctor

from probekit.report.published import numbers, published

from notebooks.contexts.checks import CHECKS
from notebooks.contexts.own_tables import CLINICAL
from notebooks.contexts.paper import GENERAL, LARGER
from notebooks.contexts.rank_change import DIRECTIONS

PUBLISHED = Path(__file__).resolve().parents[2] / "book" / "published"
WITHOUT, WITH, U3, M3, NEGATIVE = "without context ", "with context ", "target U", "target M", "negative-target "

# claim, what it is now, the table to change, and the values that make it the other
FLIPS: list[tuple[str, str, str, Values]] = [
    ("002-03a", "consistent", "table1", {("BioBERT", "O_a correct: O_t"): "0.1"}),
    ("002-03d", "consistent", "table1", {("BERT", "O_a incorrect: O_t"): "-0.1"}),
    ("002-04j", "consistent", "table2", {("ClinicalBERT", WITHOUT + "acc@1"): "0.227"}),
    ("002-05a", "consistent", "table2", {("BioBERT", WITH + "acc@1"): "0.2"}),
    ("002-05b", "consistent", "table2", {("BERT-base", WITH + "acc@5"): "0.57"}),
    ("002-07a", "consistent", "table2", {("BERT-large", "M"): "0.115"}),
    ("002-07b", "consistent", "table2", {("RoBERTa-large", "U"): "0.287"}),
    ("002-07c", "consistent", "table2", {("RoBERTa-large-PM-M3", "C"): "0.453"}),
    ("002-12a", "consistent", "table3", {("BioBERT", NEGATIVE + "U"): "0.2"}),
    ("002-13a", "consistent", "table2", {("BERT-base", "C"): "0.790"}),
    ("002-13b", "consistent", "table3", {("BERT-large", "target C"): "0.70"}),
    ("002-13c", "inconsistent", "table3", {("RoBERTa-large", NEGATIVE + "C"): "0.84"}),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "now", "table", "values"), FLIPS, ids=[flip[0] for flip in FLIPS])
def test_other_numbers_give_the_other_status(printed: Path, claim: str, now: str, table: str, values: Values) -> None:
    before, finding = CHECKS[claim]()
    doctor(printed / f"002_{table}.csv", values)
    after, other = CHECKS[claim]()
    assert (before, {before, after}) == (now, {"consistent", "inconsistent"})
    assert finding != other


def every(models: tuple[str, ...], value: str, *columns: str) -> Values:
    return {(model, column): value for model in models for column in columns}


BIOMEDICAL = ("BioBERT", "ClinicalBERT", "RoBERTa-base-PM", "RoBERTa-base-PM-M3", "RoBERTa-large-PM-M3")
BARE = (WITHOUT + "acc@1", WITHOUT + "acc@5")
# claim, what it is now by a test, the table to change, and the values with which a test finds for or against it
TESTED: list[tuple[str, str, str, Values, Values]] = [
    ("002-04i", "not checkable", "table2", every(BIOMEDICAL, "0", *BARE) | every(GENERAL, "0.5", *BARE),
     every(BIOMEDICAL, "0.9", *BARE)),
    ("002-09a", "consistent", "table3", every(GENERAL, "0.1", U3), every(GENERAL, "0.9", U3)),
    ("002-09b", "not checkable", "table3", every(CLINICAL, "0.9", U3), every(CLINICAL, "0.1", U3)),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "now", "table", "fits", "fails"), TESTED, ids=[one[0] for one in TESTED])
def test_a_test_decides_and_not_the_order_in_print(
    printed: Path, claim: str, now: str, table: str, fits: Values, fails: Values
) -> None:
    assert CHECKS[claim]()[0] == now
    for values, outcome in ((fits, "consistent"), (fails, "inconsistent")):
        doctor(printed / f"002_{table}.csv", values)
        assert CHECKS[claim]()[0] == outcome


def test_misunderstand_is_told_beside_understand() -> None:
    for claim, told in (("002-09a", "M: biomedical less general models +0.019"), ("002-09b", "0.099, 0.115, 0.112")):
        assert told in CHECKS[claim]()[1]


@pytest.mark.parametrize(("claim", "column", "value"), [("002-08a", U3, "0.9"), ("002-08b", M3, "0.001")])
def test_four_pairs_decide_nothing_whatever_they_show(printed: Path, claim: str, column: str, value: str) -> None:
    before, text = CHECKS[claim]()
    assert before == "not checkable" and "BlueBERT-large-PM-M3" in text and "4 pairs, too few" in text
    doctor(printed / "002_table3.csv", every(tuple(large for _, large in LARGER), value, column))
    after, other = CHECKS[claim]()
    assert after == "not checkable" and other.endswith("Not better as printed: none.")


def test_shares_of_one_size_are_no_longer_against_the_strong_reading(printed: Path) -> None:
    assert CHECKS["002-12b"]()[0] == "inconsistent" and "p < 0.001" in CHECKS["002-12b"]()[1]
    table = numbers("002", "3")
    doctor(
        printed / "002_table3.csv",
        {(str(name), NEGATIVE + "M"): str(share) for name, share in table["target U"].items()},
    )
    assert CHECKS["002-12b"]()[0] == "not checkable"


def test_a_nearness_without_a_number_decides_nothing() -> None:
    status, found = CHECKS["002-06a"]()
    assert status == "not checkable" and "ClinicalBERT 0.812" in found and "general: BERT-base 0.68" in found


def test_table_1_bears_out_all_directions_that_the_page_checks() -> None:
    table = published("002", "1")
    assert len(table) == 24 and table["row"].nunique() == 3 and set(table["paper"]) == {"002"}
    assert {CHECKS[claim]()[0] for claim in DIRECTIONS} == {"consistent"}


def test_tables_are_whole() -> None:
    assert (numbers("002", "2").shape, numbers("002", "3").shape) == ((9, 7), (12, 6))
    for table in ("2", "3"):
        frame = pd.read_csv(PUBLISHED / f"002_table{table}.csv", dtype=str, keep_default_na=False)
        assert set(frame["paper"]) == {"002"} and set(frame["table"]) == {table}
        assert numbers("002", table).ge(0).all(axis=None) and numbers("002", table).le(1).all(axis=None)
    assert numbers("002", "2").loc["BERT-base", WITHOUT + "acc@1"] == 0.0038
    assert numbers("002", "3").loc["BlueBERT-large-PM-M3", NEGATIVE + "M"] == 0.095
