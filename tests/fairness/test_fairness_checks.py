"""Paper 004 against its own Table 1: other numbers, other findings."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

from notebooks.fairness.checks import CHECKS

PUBLISHED = Path(__file__).resolve().parents[2] / "book" / "published"
FLIPS = [
    ("004-01b", "consistent", {("GPT2", "mean"): "0.300"}),
    ("004-01b", "consistent", {("GPT2", "rank"): "4"}),
    ("004-02j", "inconsistent", {("BLOOM 1.1b", "mean"): "0.132"}),
    ("004-02k", "consistent", {("LLAMA2 7b", "mean"): "0.200"}),
    ("004-03b", "consistent", {("BART small", "mean"): "0.017"}),
    ("004-03c", "consistent", {("BART large", "mean"): "0.030"}),
    ("004-04g", "consistent", {("GPT2", "q1"): "0.000"}),
    ("004-05a", "consistent", {("LLAMA 7b", "mean"): "0.010"}),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "now", "values"), FLIPS)
def test_other_numbers_give_the_other_status(tmp_path, monkeypatch, claim, now, values) -> None:
    shutil.copytree(PUBLISHED, tmp_path / "book" / "published")
    (tmp_path / "studies.yml").touch()
    monkeypatch.setenv("PROBEKIT_HOME", str(tmp_path))
    before = CHECKS[claim]()[0]
    path = tmp_path / "book" / "published" / "004_table1.csv"
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    for (row, column), value in values.items():
        frame.loc[(frame["row"] == row) & (frame["column"] == column), "value"] = value
    frame.to_csv(path, index=False)
    after = CHECKS[claim]()[0]
    assert (before, {before, after}) == (now, {"consistent", "inconsistent"})


def test_the_lowest_means_are_told_once() -> None:
    assert CHECKS["004-03b"]()[1] == "The lowest means of Table 1: DistilBERT 0.017, BART small 0.032."
