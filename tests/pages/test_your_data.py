"""The examples of the page on one's own data do what it says: files are written, checked, and asked by their pages."""

import shlex
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from test_readme import fenced

from probekit import cli
from probekit.files.reading import assignment
from probekit.report.run import absolute_paths, environment
from probekit.report.sources import complete, load_source

PAGE = "book/your_data.md"


def example(page: str) -> tuple[str, list[list[str]]]:
    """The example that runs a page: what writes its files, and the commands after it."""
    (block,) = [block for block in fenced(PAGE, "bash") if f"probekit run {page}" in block]
    files, mark, commands = block.partition("probekit check-data")
    return files, [shlex.split(line)[1:] for line in (mark + commands).splitlines()]


def tables_of(command: list[str]) -> dict[str, Any]:
    """The tables of a page that is run here, in this process."""
    given = dict(assignment(text) for option, text in pairwise(command) if option == "-p")
    values = {key: absolute_paths(value) for key, value in complete(command[1], given).items()} | {"out": "page"}
    names: dict[str, Any] = {"__name__": "__main__"}
    with environment():
        for cell in load_source(command[1]).cells:
            if cell.cell_type == "code":
                exec(compile(cell.source, command[1], "exec"), names)
                names.update(values if "parameters" in cell.metadata.get("tags", []) else {})
    return dict(names["tables"])


@pytest.fixture
def asked(tmp_path, monkeypatch, capsys):
    def ask(page: str) -> dict[str, Any]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path / "cache"))
        files, (check, run) = example(page)
        subprocess.run(["bash", "-e", "-c", files], check=True)
        assert cli.main(check) == 0, capsys.readouterr().out
        return tables_of(run)

    return ask


def test_facts_in_two_styles_are_compared_fact_by_fact(asked):
    tables = asked("12_accuracy")
    assert set(tables["accuracy"]["probe"]) == {"capitals/template", "capitals/natural"}
    pairs = tables["pairs"]
    assert set(pairs["dataset"]) == {"capitals"} and set(pairs["facts"]) == {2}
    assert {"natural", "template", "difference", "low", "high", "p"} <= set(pairs)


def test_facts_are_found_in_documents(asked):
    moved = asked("21_rank_change")["rank_change"]
    assert set(moved["source"]) == {"notes"} and {True, False} <= set(moved["added_correct"])


def test_records_with_rationales_are_asked(asked):
    accuracy = asked("30_prediction")["accuracy"]
    assert set(accuracy["dataset"]) == {"reasons.jsonl"} and accuracy["records"].max() == 2


def test_completions_of_templates_are_counted_by_words_of_ones_own(asked):
    own = asked("41_hurtfulness")["own"]
    assert set(own["model"]) == {"said"}
    assert set(own["mean"]) == {0.25}  # fool, of four completions


def test_the_page_names_every_kind_that_is_checked():
    from probekit.contexts import checking

    text = (Path(__file__).parents[2] / PAGE).read_text("utf-8")
    kinds = (
        checking.PROBE,
        checking.DOCUMENTS,
        checking.RECORDS,
        checking.COMPLETIONS,
        checking.LEXICON,
        checking.TEMPLATES,
    )
    assert all(kind.replace("probe", "prompts") in text for kind in kinds)
