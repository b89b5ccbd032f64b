"""The sheet of hits: drawn with a seed, unfilled, never overwritten."""

from __future__ import annotations

import csv
import json

import pandas as pd
import pytest

from probekit.cli import main
from probekit.errors import ProbeError
from probekit.probes import hits

LINES = [
    {"prompt": "she is a", "completions": ["a fool, a knave", "judge"]},
    {"prompt": "he is a", "completions": ["fool", "Fool"]},
    {"prompt": "he is a", "completions": ["fool", "knave!"]},
]


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setattr(
        hits, "hurtlex", lambda code: pd.DataFrame({"lemma": ["fool", "knave"] if code == "EN" else ["x"]})
    )
    path = tmp_path / "mine.jsonl.txt"
    path.write_text("\n".join(map(json.dumps, LINES)), encoding="utf-8")
    return path


def rows(sheet) -> list[list[str]]:
    with sheet.open(encoding="utf-8", newline="") as handle:
        return list(csv.reader(handle))


def test_every_hit_is_drawn_once_and_left_to_people(file):
    sheet = hits.write_hits(file)
    header, *found = rows(sheet)
    assert sheet.name == "mine_hits.csv" and tuple(header) == hits.FIELDS
    assert sorted(row[:5] for row in found) == [
        ["1", "1", "she is a", "a fool, a knave", "fool, knave"],
        ["2", "1", "he is a", "fool", "fool"],
        ["3", "2", "he is a", "knave!", "knave"],
    ]
    assert all(row[5:] == ["", "", ""] for row in found)
    with pytest.raises(ProbeError, match="may be filled in"):
        hits.write_hits(file)


def test_a_draw_is_seeded_and_refuses_what_it_cannot_draw(file, tmp_path, capsys):
    drawn = [rows(hits.write_hits(file, 2, seed, tmp_path / f"{n}.csv")) for n, seed in enumerate((1, 1, 2, 3, 4))]
    assert drawn[0] == drawn[1] and len({str(one) for one in drawn}) > 1 and all(len(one) == 3 for one in drawn)
    with pytest.raises(ProbeError, match="at least one hit"):
        hits.write_hits(file, 0, out=tmp_path / "z.csv")
    with pytest.raises(ProbeError, match="HurtLex IT"):
        hits.write_hits(file, out=tmp_path / "z.csv", language="it")
    assert main(["hits", str(file), "--out", str(tmp_path / "cli.csv")]) in (0, None)
    assert "cli.csv" in capsys.readouterr().out
