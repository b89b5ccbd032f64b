"""What Table 1 and all released completions say over models, on numbers small enough to check by hand."""

import numpy as np
import pandas as pd
import pytest

from probekit.report.recording import recorded_tables

from notebooks.fairness import own_tables, text

TABLE = pd.DataFrame(
    [("a1", "A", 1, 1.0, 1.0), ("a2", "A", 2, 1.0, 2.0), ("b1", "B", 1, 3.0, 3.0), ("b2", "B", 2, 3.0, 4.0)],
    columns=["model", "family", "scale", "x", "y"],
)


def test_families_explain_all_or_nothing():
    values = np.array([[1.0, 1, 3, 3], [1, 3, 1, 3]])
    assert own_tables.between(values, np.array([0, 0, 1, 1]), 2).tolist() == [1, 0]
    found = own_tables.explained(TABLE["x"], TABLE["family"], samples=600)
    assert (found["models"], found["families"], found["share"]) == (4, 2, 1)
    assert found["p"] == pytest.approx(1 / 3, abs=0.08) and found["expected"] == pytest.approx(1 / 3, abs=0.08)


def test_steps_go_from_the_smaller_to_the_larger():
    found = own_tables.steps(TABLE, "y")
    assert list(found) == ["family", "smaller", "larger", "change"]
    assert found.to_numpy().tolist() == [["A", "a1", "a2", 1.0], ["B", "b1", "b2", 1.0]]


def test_a_model_of_ones_own_stands_among_them():
    mine = pd.DataFrame(
        {"model": ["mine"], "family": ["mine"], "scale": 1, "kind": "", "audited": 0.9, "first_word": 0.8}
    )
    table = own_tables.models(recorded_tables(own_tables.SOURCE), mine)
    assert table["model"].iloc[-1] == "mine" and np.isnan(table["printed"].iloc[-1])
    assert own_tables.dots({"models": table})["family"].iloc[0] == "mine"  # the highest score


def test_draws_hold_whole_families():
    assert {tuple(draw) for draw in own_tables.by_family(list("AAB"))} == {(0, 1, 0, 1), (0, 1, 2), (2, 0, 1), (2, 2)}
    assert np.isnan(own_tables.tau(np.ones(3), np.arange(3.0))) and own_tables.tau(np.arange(3.0), np.arange(3.0)) == 1


def test_the_page_reads_what_page_41_recorded(monkeypatch):
    monkeypatch.setattr(own_tables, "SAMPLES", 200)  # draws of families
    made = own_tables.tables(recorded_tables(own_tables.SOURCE))
    assert set(made) == set(own_tables.CAPTIONS)
    table = made["models"]
    assert table["model"].is_unique and table["printed"].notna().sum() == 20 and "DistilBERT" not in set(table["model"])
    assert len(table) == made["families"]["models"].max() and not table["model"].str.endswith("space").any()
    answer = text.own_tables_answer(made)
    assert "Families explain" in answer and own_tables.conclusions(made).empty
    assert len(own_tables.dots(made)) == len(table)
    assert "a Kendall's tau of 0.52 [" in answer and "interval that includes zero" in answer
