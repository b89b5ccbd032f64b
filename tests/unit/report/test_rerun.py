"""The reviewer's command: which printed numbers of two pages differ, and by how much."""

import json

import pytest

from probekit import cli
from probekit.metrics.reprinted import compare
from probekit.report.rerun import printed


def test_numbers_are_compared_in_place():
    same = ["Acc@1 is 0.50 of 1,300 facts."]
    assert compare(same, same) == {"numbers": 3, "differ": 0, "beyond": 0, "largest": 0.0, "first": ""}
    found = compare([*same, "| 0.174 [0.157, 0.191] |"], [*same, "| 0.174 [0.158, 0.195] |"])
    assert (found["numbers"], found["differ"], found["beyond"]) == (6, 2, 1) and abs(found["largest"] - 0.004) < 1e-12
    assert found["first"] == "| 0.174 [0.157, 0.191] | -> | 0.174 [0.158, 0.195] |"


@pytest.mark.parametrize(
    ("old", "new", "beyond"),
    [
        ("0.174", "0.175", 0),
        ("0.174", "0.173", 0),
        ("0.174", "0.176", 1),
        ("-0.0 %", "0.1 %", 0),
        ("2.5e-05", "2.6e-05", 0),
        ("2.5e-05", "2.5e-04", 1),
        ("1,300 of 0.5", "1,301 of 0.6", 1),
        ("0.174 is more", "0.175 is less", 1),
        ("0.174 and 0.2", "0.174 and", 1),
    ],
)
def test_one_unit_of_the_last_decimal_is_within_the_tolerance(old, new, beyond):
    assert compare([old], [new])["beyond"] == beyond


def test_another_sentence_and_a_missing_line_differ_too():
    assert compare(["so it is"], ["so it is not"])["differ"] == 1
    assert compare(["1", "2"], ["1"])["differ"] == 1


def test_links_and_the_making_of_a_page_are_left_out(tmp_path):
    link = '<a href="../explorer.html#9">'
    outputs = [{"data": {"text/markdown": text}} for text in (f"Said 1.\n{link}And 2.", "Page hash | 3")]
    (tmp_path / "p.ipynb").write_text(json.dumps({"cells": [{"outputs": outputs}, {}]}))
    assert printed(tmp_path / "p.ipynb") == ["Said 1.", "And 2."]


@pytest.mark.parametrize(("new", "status"), [("0.175", 0), ("0.274", 1)])
def test_the_command_names_a_page_beyond_the_tolerance(monkeypatch, capsys, new, status):
    row = {"page": "10_page"} | compare(["0.174"], [new])
    monkeypatch.setattr("probekit.report.rerun.rerun", lambda pages: iter([row]))
    assert cli.main(["check", "--rerun"]) == status
    said = capsys.readouterr()
    assert "1 of      1 printed numbers differ" in said.out
    assert ("last decimal on 10_page" in said.err) == bool(status)
