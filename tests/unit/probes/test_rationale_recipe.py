"""Records from public items, and the annotators' sheet with the paper's thresholds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest import write_lines

from probekit import cli
from probekit.errors import ProbeError
from probekit.probes.rationales import RationaleSet
from probekit.probes.rationales.recipe import build_records
from probekit.probes.rationales.sheet import SCORES, read_sheet, write_sheet


def alternative(choice: str, question: str) -> dict[str, Any]:
    return {"premise": "The glass fell.", "choice1": "x y.", "choice2": choice, "question": question, "label": 1}


@pytest.mark.parametrize(
    ("source", "item", "context", "gold"),
    [
        ("copa", alternative("It broke.", "effect"), "The glass fell, so it [MASK].", "broke"),
        ("copa", alternative("Tom pushed it.", "cause"), "The glass fell because Tom pushed [MASK].", "it"),
        (
            *("questions", {"question": "Which country is located east of Belgium?", "answer": "Germany"}),
            *("The country [MASK] is located east of Belgium.", "Germany"),
        ),
        ("questions", {"question": "Who wrote Emma?", "answer": "Austen"}, "[MASK] wrote Emma.", "Austen"),
        (
            *("problems", {"question": "A tree grows 5 feet a year. How many years will it take to be 29 feet?"}),
            *("A tree grows 5 feet a year. It will take [MASK] years to be 29 feet.", "5"),
        ),
        (
            *("problems", {"question": "Tom had 3 pens and bought 2. How many pens does Tom have now?"}),
            *("Tom had 3 pens and bought 2. Tom has [MASK] pens now.", "5"),
        ),
        ("problems", {"question": "How many eggs did she buy?"}, "She bought [MASK] eggs.", "5"),
        ("problems", {"question": "How many eggs are there in all?"}, "There are [MASK] eggs in all.", "5"),
        ("problems", {"question": "How many eggs were left?"}, "[MASK] eggs were left.", "5"),
    ],
)
def test_items_become_records(tmp_path: Path, source: Any, item: dict[str, Any], context: str, gold: str) -> None:
    records, counts = build_records(write_lines(tmp_path / "a.jsonl", {"answer": 5} | item), source)
    assert [(one["context"], one["golds"]) for one in records] == [(context, [gold])] and counts["records"] == 1
    assert RationaleSet("made here", pd.DataFrame(records)).items["id"].tolist() == ["a-1"]


@pytest.mark.parametrize(
    ("source", "item", "reason"),
    [
        ("copa", alternative("Broken.", "effect"), "the alternative is one word"),
        ("copa", alternative("It broke.", "why"), "asks neither for a cause nor for an effect"),
        ("questions", {"question": "Where did Emma live?", "answer": "Highbury"}, "its wh-phrase is not the subject"),
        ("questions", {"question": "Who wrote Emma?", "answer": " "}, "no answer"),
        ("problems", {"question": "How many?", "answer": 1, "equation": "x=1+2*3-4"}, "an equation of more than two"),
    ],
)
def test_what_is_left_out_is_counted(tmp_path: Path, source: Any, item: dict[str, Any], reason: str) -> None:
    records, counts = build_records(write_lines(tmp_path / "a.jsonl", item), source)
    assert records == [] and counts["records"] == 0
    assert any(name.startswith(f"left out: {reason}") and count == 1 for name, count in counts.items())


def test_faults_name_the_item(tmp_path: Path) -> None:
    for item in ({"answer": 1}, {"answer": 1, "question": 3}):
        with pytest.raises(ProbeError, match="line 1, field 'question': missing, or of the wrong kind"):
            build_records(write_lines(tmp_path / "a.jsonl", item), "questions")
    with pytest.raises(ProbeError, match="no recipe 'poems'"):
        build_records(tmp_path / "a.jsonl", "poems")  # type: ignore[arg-type]


GOOD = dict(zip(SCORES, [4, 3, 3, 3, 3, 3, 4, 4, 3], strict=True))


def filled(path: Path, *changes: dict[str, Any]) -> Path:
    records, _ = build_records(write_lines(path.with_suffix(".jsonl"), alternative("It broke.", "effect")), "copa")
    write_sheet(records, path)
    (row,) = pd.read_csv(path, dtype=str, keep_default_na=False).to_dict("records")
    assert row["words"] == "0:The 1:glass 2:fell 3:, 4:so 5:it 6:[MASK] 7:." and row["uniqueness_1"] == ""
    rows = [row | {"rationale": "1 2|2"} | GOOD | {"id": f"r{n}"} | change for n, change in enumerate(changes)]
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def test_a_sheet_is_read_by_the_papers_thresholds(tmp_path: Path) -> None:
    changed = {"original_id": "r0", "perturbation": "dispensable", "context": "Then the glass fell, so it [MASK]."}
    orphan = changed | {"original_id": "r1"}
    changes = [
        {},
        {"uniqueness_3": 2},
        {"sufficiency_1": 2},
        {"compactness_1": 3},
        {"compactness_1": ""},
        changed,
        orphan,
    ]
    items, counts = read_sheet(filled(tmp_path / "a.csv", *changes))
    assert items.items["id"].tolist() == ["r0", "r5"] and items.items["rationales"][0] == [[1, 2], [2]]
    assert items.items["compactness"][0] == pytest.approx(11 / 3) and items.items["sufficiency"][0] == 3
    assert counts == {
        "rows": 7,
        "left out: uniqueness below 3, or not rated": 1,
        "left out: sufficiency below 3, or not rated": 1,
        "left out: compactness below 3.6, or not rated": 2,
        "left out: the original is": 1,
        "kept": 2,
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"uniqueness_1": 5}, "line 2, column 'uniqueness_1': 1 to 4"),
        ({"sufficiency_2": "good"}, "line 2, column 'sufficiency_2': 1 to 3"),
        ({"rationale": "glass"}, "line 2, column 'rationale': positions"),
        ({"uniqueness_1": ""}, "no record reaches the thresholds"),
        ({"rationale": "6"}, "6 is not the position"),
    ],
)
def test_a_wrong_sheet_is_refused(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    with pytest.raises(ProbeError, match=said):
        read_sheet(filled(tmp_path / "a.csv", change))


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items = write_lines(tmp_path / "b.jsonl", alternative("It broke.", "effect"), alternative("x", "effect"))
    assert cli.main(["rationales", "build", "copa", str(items), "--out", str(tmp_path / "b.csv")]) == 0
    assert "1  left out: the alternative is one word" in capsys.readouterr().out
    sheet = filled(tmp_path / "a.csv", {})
    assert cli.main(["rationales", "keep", str(sheet), "--out", str(tmp_path / "kept.jsonl")]) == 0
    assert "1  kept" in capsys.readouterr().out
    kept = RationaleSet.from_file(tmp_path / "kept.jsonl")
    assert kept.items["golds"].tolist() == [["broke"]] and kept.items["uniqueness"][0] == pytest.approx(10 / 3)
