"""The explorer's data scripts and list of tables, also for cells, names and files that mean harm."""

import csv
import json
import re
from pathlib import Path

import pandas as pd
import pytest

from probekit.errors import ProbekitError
from probekit.paths import root
from probekit.report import explorer
from probekit.report.outcomes import Outcomes

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "<!--",
    'a "quoted" cell, with a comma',
    "two\nlines\r\nand \u2028 another",
    "é 漢字 \U0001f600",
    "back\\slash and `tick`",
    "=1+1",
]


@pytest.fixture
def stage(tmp_path):
    def table(place: str, rows: list[list[str]]) -> None:
        path = tmp_path / "book" / "studies" / f"{place}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)

    table("own/mine/12_accuracy/accuracy", [["<b>", 'say "x"'], *([cell, cell[::-1]] for cell in HOSTILE)])
    table("demo/12_accuracy/accuracy", [["model", "acc"], ["a", "0.5"]])
    table("12_accuracy/accuracy", [["paper", "acc", "n", "mixed", "none"], ["001", "1e-05", "-3", "7", ""]])
    table("12_accuracy/means", [["a_b", "c"]])
    table("12_accuracy/nothing", [])
    notebook = {"cells": [{"cell_type": "markdown", "source": ["(x)=\n", "# Title & more\n"]}]}
    (tmp_path / "book" / "studies" / "12_accuracy.ipynb").write_text(json.dumps(notebook))
    (tmp_path / "_toc.yml").write_text("root: book/index\nchapters:\n  - file: book/studies/12_accuracy\n")
    (tmp_path / "book" / "explorer.md").write_text((root() / "book" / "explorer.md").read_text("utf-8"))
    return tmp_path


def data(stage: Path, key: str) -> dict:
    text = (stage / "book" / "_static" / "tables" / f"{key}.js").read_text("ascii")
    before, between, after = text.partition("] = ")
    assert before == f'TABLES["{key}"' and between and after.endswith("}\n") and "\n" not in after[:-1]
    assert "<" not in text
    return json.loads(after)


def test_outcomes_are_a_table_too_and_mean_no_harm(stage):
    outcomes = Outcomes()
    rows = {"model": "m", "probe": "p", "prompt_id": list("01234567"), "asked": HOSTILE, "rank": range(8)}
    outcomes.add("rank", pd.DataFrame(rows))
    outcomes.write(stage / "book" / "studies" / "demo" / "12_accuracy" / "ranks.parquet")
    assert "demo/12_accuracy/ranks" in explorer.write(stage)
    found = data(stage, "demo/12_accuracy/ranks")
    assert found["columns"] == ["model", "probe", "prompt_id", "asked", "rank"] and found["numeric"][-1]
    assert [row[3] for row in found["rows"]] == HOSTILE and [row[4] for row in found["rows"]] == list(range(8))
    page = (stage / "book" / "explorer.md").read_text("utf-8")
    assert "{download}`PARQUET <studies/demo/12_accuracy/ranks.parquet>`" in page


def test_a_damaged_manifest_is_named(stage):
    (stage / "book" / "studies" / "12_accuracy" / "manifest.json").write_text("")
    with pytest.raises(ProbekitError, match=r"12_accuracy/manifest\.json: not JSON"):
        explorer.write(stage)


def test_tables_are_listed_in_order_and_keep_every_cell(stage):
    """Pages come first, then the demo, then own runs; numbers are numbers, names stay text, nothing breaks out."""
    assert explorer.write(stage) == [
        "12_accuracy/accuracy",
        "12_accuracy/means",
        "12_accuracy/nothing",
        "demo/12_accuracy/accuracy",
        "own/mine/12_accuracy/accuracy",
    ]
    hostile, numbers = data(stage, "own/mine/12_accuracy/accuracy"), data(stage, "12_accuracy/accuracy")
    assert hostile["columns"] == ["<b>", 'say "x"']
    assert hostile["rows"] == [[cell, cell[::-1]] for cell in HOSTILE]
    page = (stage / "book" / "explorer.md").read_text("utf-8")
    assert "<b>" not in page and r"\<b\>" in page
    assert numbers["numeric"] == [False, True, True, True, False]
    assert numbers["rows"] == [["001", 1e-05, -3, 7, ""]]
    assert data(stage, "12_accuracy/means") == {"columns": ["a_b", "c"], "numeric": [False, False], "rows": []}
    assert data(stage, "12_accuracy/nothing") == {"columns": [], "numeric": [], "rows": []}


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1", "", "2.50"], [1, None, 2.5]),
        (["1", "two"], ["1", "two"]),
        (["0.5", "nan"], ["0.5", "nan"]),
        (["12345678901234567890"], ["12345678901234567890"]),
        (["1e400"], ["1e400"]),
        (["1٣"], ["1٣"]),
        (["1e-300"], [1e-300]),
        (["-0", "1E+3"], [0, 1000]),
    ],
)
def test_a_column_is_of_numbers_if_all_its_filled_cells_are(cells, values):
    text = explorer.script("k", ["c"], [[cell] for cell in cells])
    assert json.loads(text.partition(" = ")[2])["rows"] == [[value] for value in values]


def test_rows_are_as_long_as_the_heads(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfa,b\n1\n1,2,3\n\n\xff,4\n")
    assert explorer.read(path) == (["a", "b"], [["1", ""], ["1", "2"], ["\ufffd", "4"]])


def test_the_list_serves_a_reader_without_scripts(stage):
    explorer.write(stage)
    page = (stage / "book" / "explorer.md").read_text("utf-8")
    assert page.count("{download}`CSV <studies/") == 5
    assert '<a class="open" id="12_accuracy/accuracy" href="#12_accuracy/accuracy">accuracy</a>' in page
    assert "{download}`CSV <studies/demo/12_accuracy/accuracy.csv>`" in page
    assert re.findall("<summary>(.*)</summary>", page)[1:] == [
        "Title &amp; more",
        "Title &amp; more",
        "Title &amp; more (own: mine)",
    ]
    assert page.count("{doc}`studies/") == 1 and "{doc}`studies/12_accuracy`" in page  # only pages of the book
    assert "1 row: paper, acc" in page and r"0 rows: a\_b, c" in page and "0 rows</span>" in page


def test_twice_the_same_bytes_and_nothing_of_before(stage):
    def all_bytes():
        return {path: path.read_bytes() for path in stage.rglob("*") if path.is_file()}

    explorer.write(stage)
    first = all_bytes()
    left = stage / "book" / "_static" / "tables" / "left.js"
    left.write_text("old")
    explorer.write(stage)
    assert all_bytes() == first


def test_a_name_that_could_leave_its_link_is_left_out(stage, caplog):
    place = stage / "book" / "studies" / "own" / "a`b<c>"
    place.mkdir()
    (place / "t.csv").write_text("a\n1\n")
    assert len(explorer.write(stage)) == 5
    assert "a`b<c>" in caplog.text
    assert "a`b" not in (stage / "book" / "explorer.md").read_text("utf-8")


def test_links_go_up_from_the_page_of_the_table():
    assert explorer.link("12_accuracy/means").startswith('<a href="../explorer.html#12_accuracy/means">')
    assert 'href="../../explorer.html#demo/12_accuracy/means"' in explorer.link("demo/12_accuracy/means")
    assert 'href="../../../explorer.html#own/run%201/12_accuracy/means"' in explorer.link("own/run 1/12_accuracy/means")
    assert "&lt;i&gt;" in explorer.link("a/b", "<i>")


def test_the_committed_page_holds_no_list():
    text = (root() / "book" / "explorer.md").read_text("utf-8")
    assert text.count(explorer.BEGIN) == text.count(explorer.END) == 1 and 'class="open"' not in text
