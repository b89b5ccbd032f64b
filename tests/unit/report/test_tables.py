"""Tidy tables and how people read them: intervals found by name, rows picked, long tables turned."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probekit.report.recording import read_table, table_bytes
from probekit.report.tables import across, cell, ends, heading, per, pick, readable
from probekit.report.text import in_a_row, number

SPACE = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("columns", "name", "found"),
    [
        (["model", "estimate", "low", "high"], "estimate", ("low", "high")),
        (["difference", "low", "high", "p"], "p", None),
        (["auc", "auc_low", "auc_high"], "auc", ("auc_low", "auc_high")),
        (["acc@5", "low@5", "high@5"], "acc@5", ("low@5", "high@5")),
        (["mean", "sd", "low", "high"], "mean", None),  # the interval belongs to what stands before it
        (["low", "high"], "high", None),
    ],
)
def test_an_interval_is_found_by_the_names_of_its_columns(columns, name, found):
    assert ends(columns, name) == found


def test_rows_are_picked_by_values_and_lists_of_them():
    table = pd.DataFrame({"a": [1, 1, 2], "b": ["x", "y", "x"]})
    assert pick(table, a=1, b=["x", "z"]).index.tolist() == [0]
    assert pick(table).equals(table) and pick(pd.DataFrame(), a=1).empty


ASKED = pd.DataFrame({"model": ["b", "a", "b"], "probe": ["x", "x", "y"], "rank": [1, 2, 4]})


@pytest.mark.parametrize(
    ("keys", "describe", "rows"),
    [
        (["model"], lambda part: {"best": part["rank"].min()}, [("b", 1), ("a", 2)]),
        (["model"], lambda part: ({"rank": rank} for rank in part["rank"]), [("b", 1), ("b", 4), ("a", 2)]),
        (["model"], lambda part: {"prompts": 2} if len(part) == 2 else None, [("b", 2)]),
        (["probe", "model"], lambda part: [{"n": len(part)}], [("x", "b", 1), ("x", "a", 1), ("y", "b", 1)]),
        (["model"], lambda part: [], []),
    ],
)
def test_what_describes_a_group_makes_a_table_of_all_groups(keys, describe, rows):
    assert [*per(*keys)(describe)(ASKED).itertuples(index=False, name=None)] == rows
    assert per(*keys)(describe)(ASKED[:0]).empty and per(*keys)(describe)(pd.DataFrame()).empty


def test_a_description_of_groups_takes_options_and_keeps_its_name():
    @per("model")
    def reached(part: pd.DataFrame, first: int, *, last: int) -> dict[str, int]:
        """How many ranks lie between."""
        return {"reached": int(part["rank"].between(first, last).sum())}

    assert reached(ASKED, 2, last=4).to_dict("list") == {"model": ["b", "a"], "reached": [1, 1]}
    assert (reached.__name__, reached.__doc__) == ("reached", "How many ranks lie between.")


def test_a_cell_has_the_interval_where_there_is_one():
    row = {"gain": 0.5, "gain_low": 0.25, "gain_high": 0.75, "n": 3.0}
    assert cell(row, "gain", 2) == f"0.50 [0.25,{SPACE}0.75]" and cell(row, "n", 0) == "3"
    assert cell({"estimate": float("nan"), "low": 0.0, "high": 1.0}) == "–"


def test_a_table_for_reading_holds_text_with_plain_headings():
    table = pd.DataFrame(
        {
            "model": ["lab/untuned", "mine"],
            "probe": ["trex/natural", "squad"],
            "acc@1": [0.5, 0.25],
            "low@1": [0.0, 0.1],
            "high@1": [1.0, 0.4],
            "own_prompts": [1000, 2],
            "p": [0.0001, 0.25],
        }
    )
    shown = readable(table, {"own_prompts": "Prompts"})
    assert shown.columns.tolist() == ["Model", "Probe", "Acc@1", "Prompts", "p"]
    assert shown.iloc[0].tolist() == [
        "Untuned", "T\N{NON-BREAKING HYPHEN}REx natural", f"0.500 [0.000,{SPACE}1.000]", "1,000", "< 0.001",
    ]  # fmt: skip
    assert "Model" not in readable(table.assign(model="mine"))  # one model need not be named in every row


def test_a_long_table_is_turned_to_a_column_per_model():
    long = pd.DataFrame(
        [("a", "x", 0.5, 0.25, 0.75), ("a", "y", 0.1, 0.0, 0.2), ("b", "y", 1.0, 0.9, 1.0)],
        columns=["model", "relation", "acc@1", "low@1", "high@1"],
    )
    found = across(long, ["relation"], estimate="acc@1", headings={"relation": "Asked"})
    assert found.columns.tolist() == ["Asked", "a", "b"]
    assert found.to_numpy().tolist() == [
        ["x", f"0.500 [0.250,{SPACE}0.750]", "–"],
        ["y", f"0.100 [0.000,{SPACE}0.200]", f"1.000 [0.900,{SPACE}1.000]"],
    ]
    with pytest.raises(pd.errors.MergeError):  # two rows of one model would hide each other
        across(pd.concat([long, long]), ["relation"], estimate="acc@1")
    assert across(pd.DataFrame(), ["relation"]).empty


@given(st.text(min_size=1))
def test_a_heading_is_the_name_with_a_capital(name):
    assert heading(name, {name: "x"}) == "x"
    assert heading(f"b{name}").startswith("B")


def test_a_text_that_turns_the_carriage_back_stays_in_its_row(tmp_path):
    table = pd.DataFrame({"a": ["\r=1 x", "b\r\nc", "d"], "flag": [True, False, True]})
    (path := tmp_path / "t.csv").write_bytes(table_bytes(table))
    pd.testing.assert_frame_equal(read_table(path), table)


def test_an_interval_that_no_row_has_is_read_back_as_numbers(tmp_path) -> None:
    none = float("nan")
    table = pd.DataFrame({"tau": [none], "tau_low": [none], "share": [1.0], "low": [none], "note": [""]})
    table = table.assign(tau_high=none, high=none)
    (path := tmp_path / "t.csv").write_bytes(table_bytes(table))
    found = read_table(path)
    assert found[["tau", "tau_low", "tau_high", "low", "high"]].isna().all(axis=None)
    assert found["note"].tolist() == [""]


def test_no_number_is_a_negative_zero_and_names_with_commas_stand_between_semicolons():
    assert [number(value, 2) for value in (-0.004, -0.006, 0.004)] == ["0.00", "-0.01", "0.00"]
    assert (in_a_row(["a", "b"]), in_a_row(["a, seed 0", "b"])) == ("a, b", "a, seed 0; b")
