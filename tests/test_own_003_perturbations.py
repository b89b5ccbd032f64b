"""The checks of paper 003 on rationale length and perturbations: other printed numbers, other findings."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from conftest import Values, doctor

from notebooks.rationales.own_003_perturbations import CHECKS

# claim, what it is now, the table to change, and the values that make it the other
FLIPS: list[tuple[str, str, str, Values]] = [
    ("003-12f", "consistent", "3", {("grammar", "Chinese RRL"): "10.7"}),
    ("003-12f", "consistent", "3", {("reasoning", "Chinese RRL"): "63.4"}),
    ("003-12g", "consistent", "5", {("BERT-base ATT", "grammar F1"): "0.99"}),
    (
        "003-12h",
        "inconsistent",
        "3",
        {("semantics", "Chinese RRL"): "40", ("computation", "Chinese RRL"): "90", ("grammar", "Chinese RRL"): "60"},
    ),
    ("003-13a", "consistent", "6", {("change", "reasoning important"): "-40.0"}),
    ("003-13b", "consistent", "6", {("change", "grammar dispensable"): "-40.0"}),
    ("003-13c", "consistent", "6", {("change", "grammar dispensable"): "-1.5"}),
    ("003-14a", "consistent", "7", {("computation", "transformation MAP"): "0.900"}),
    ("003-14b", "consistent", "10", {("reasoning", "important MAP"): "0.7"}),
    ("003-15a", "inconsistent", "7", {("semantics", "important F1 delta"): "0.009"}),
    ("003-15b", "consistent", "7", {("grammar", "dispensable F1 delta"): "0.100"}),
    ("003-15b", "consistent", "7", {("grammar", "important MAP"): "0.990"}),
    (
        "003-15c",
        "consistent",
        "10",
        {("semantics", "transformation F1 delta"): "0.000", ("reasoning", "transformation F1 delta"): "0.000"},
    ),
    ("003-18b", "inconsistent", "11", {("change", "semantics dispensable"): "-2.2"}),
    ("003-18c", "consistent", "11", {("change", "semantics dispensable"): "1.0"}),
]


@pytest.mark.parametrize(("claim", "now", "table", "values"), FLIPS)
def test_other_numbers_give_the_other_status(printed: Path, claim: str, now: str, table: str, values: Values) -> None:
    before, finding = CHECKS[claim]()
    doctor(printed / f"003_table{table}.csv", values)
    after, other_finding = CHECKS[claim]()
    assert (before, {before, after}) == (now, {"consistent", "inconsistent"})
    assert finding != other_finding


def test_map_of_kept_pairs_may_be_a_mean_over_all_of_them(printed: Path) -> None:
    status, text = CHECKS["003-16a"]()
    assert status == "inconsistent" and "in 4 of 10 cases" in text and "semantics 0.92, outside 0.868 to 0.881" in text
    for table in ("5", "9"):
        path = printed / f"003_table{table}.csv"
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        of = pd.read_csv(printed / f"003_table{'7' if table == '5' else '10'}.csv", dtype=str, keep_default_na=False)
        means = of[of["column"] == "dispensable MAP"].set_index("row")["value"]
        mine = (frame["row"] == "RoBERTa-base ATT") & frame["column"].str.endswith(" MAP*")
        frame.loc[mine, "value"] = frame.loc[mine, "column"].str.removesuffix(" MAP*").map(means)
        frame.to_csv(path, index=False)
    assert CHECKS["003-16a"]()[0] == "consistent"


def test_what_the_findings_tell() -> None:
    assert CHECKS["003-18c"]()[1].endswith("8 are the difference; 7 cannot be read in our copy.")
    assert "semantics, important 0.004 against 0.008" in CHECKS["003-15a"]()[1]
    assert CHECKS["003-14b"]()[1].startswith(
        "MAP of Table 10 is lowest under transformation in: semantics, knowledge, reasoning."
    )
