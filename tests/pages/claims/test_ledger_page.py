"""The ledger at a glance: counts by paper, reasons told once, and the place of every transcribed table."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest
import yaml

from probekit.report.published import MISSING
from probekit.report.recording import recorded_tables
from probekit.report.tables import pick
from probekit.report.text import title
from probekit.report.verdicts import ledger

from notebooks.claims import claims as overview
from notebooks.claims import printed as tables
from notebooks.claims import start, text

ROOT = Path(__file__).resolve().parents[3]
CLAIMS = pd.DataFrame(
    [
        ("001-01a", "001", "1", "a", "not run", "not checkable", "No data."),
        ("001-01b", "001", "1", "b", "not run", "consistent", "No data. The paper's own numbers: It is so."),
        ("001-02a", "001", "2", "c", "differs", "inconsistent", "Ours is 1. The paper's own numbers: It is not."),
        ("002-01a", "002", "1", "d", "undecided", "not checkable", "The interval includes zero."),
        ("002-02a", "002", "1", "e", "not run", "not checkable", "No model."),
    ],
    columns=["id", "paper", "where", "statement", "verdict", "own_table", "reason"],
)


def test_claims_are_counted_by_paper() -> None:
    found = overview.counts(CLAIMS).set_index("paper")
    assert found.loc["001"].to_dict() == {
        "claims": 3, "reproduced": 0, "differs": 1, "undecided": 0, "confounded": 0, "not run": 2,
        "consistent": 1, "inconsistent": 1, "not checkable": 1,
    }  # fmt: skip
    assert found.loc["002", ["claims", "undecided", "not run", "not checkable"]].tolist() == [2, 1, 1, 2]


def test_bars_stand_end_to_end_and_are_told_in_words() -> None:
    table = overview.counts(CLAIMS)
    figure = overview.draw(table)
    for ax, kinds in zip(figure.axes, overview.PARTS.values(), strict=True):
        ends = [0.0, 0.0]
        for bars, kind in zip(ax.containers, kinds, strict=True):
            assert [bar.get_x() for bar in bars] == ends
            assert [bar.get_width() for bar in bars] == table[kind].tolist()
            ends = [bar.get_x() + bar.get_width() for bar in bars]
        assert ends == table["claims"].tolist()
    plt.close(figure)
    assert "paper 002: reproduced 0, differs 0, undecided 1, confounded 0, not run 1" in text.ledger_alt(table)


def test_a_row_tells_its_reason_and_leads_to_its_page_and_printed_table() -> None:
    row = {
        "id": "001-13a",
        "paper": "001",
        "where": "5.6, Table 6",
        "statement": "a *b*",
        "published": 0.1,
        "ours": 0.2,
    }
    row |= {"verdict": "differs", "own_table": "consistent", "reason": "Far.", "found": "<So>.", "related": None}
    (shown,) = overview.shown(pd.DataFrame([row | {"page": "17_entities"}])).to_dict("records")
    assert shown["Claim"] == "a \\*b\\* <details><summary>why</summary>Far\\. \\<So\\>\\.</details>"
    assert shown["See"] == ("{doc}`page 17 </book/studies/17_entities>` {ref}`Table 6 <printed-001-6>`")
    assert (shown["Printed"], shown["Ours"]) == ("0.1", "0.2")


def test_every_transcribed_table_has_its_place() -> None:
    names = {f"{paper}_{tables.TEXT if table == tables.TEXT else f'table{table}'}" for paper, table in tables.tables()}
    assert names == {path.stem for path in (ROOT / "book" / "published").glob("*.csv")}
    studies = yaml.safe_load((ROOT / "studies.yml").read_text("utf-8"))
    assert {page for _, pages in tables.tables().values() for page in pages} <= set(studies)
    assert all(pages for _, pages in tables.tables().values())


def test_the_index_counts_what_can_be_read() -> None:
    found = tables.index().set_index(["paper", "table"])
    assert found.loc[("001", "3"), ["cells", "missing"]].tolist() == [0, 1]
    assert found.loc[("003", "11"), ["cells", "missing"]].tolist() == [31, 14]
    assert found.loc[("004", "1"), ["cells", "missing"]].tolist() == [21 * 8, 0]


def test_a_table_is_written_as_printed() -> None:
    found = tables.as_printed("001", "5")
    assert (found.shape, found.columns[:2].tolist()) == ((17, 11), ["row", "Google-RE (TB)"])
    assert found.iloc[0, :2].tolist() == ["PubMedBERT", "76.80"]
    assert (tables.as_printed("003", "11") == MISSING).sum().sum() == 14
    assert tables.as_printed("001", "text").columns.tolist() == ["place", "row", "column", "value"]


def test_the_card_on_contexts_speaks_of_models_above_the_floor_and_says_not_that_text_harms():
    known = pick(recorded_tables("22_ucm")["floors"], source="trex").set_index("model")["floor"].astype(bool)
    assert known.any() and not known.all()
    card = start.contexts()
    assert f"(mean of {(~known).sum()} models)" in card.answer
    assert [name for name in map(title, known.index) if f"{name}," in card.alt] == list(map(title, known.index[~known]))
    assert card.answer.startswith("Yes: with a text, or the names in it,")
    assert "for 61 of 100 questions, without one for 44" in card.answer
    assert card.answer.endswith("rises in 13% of a document's steps and falls in 31%.")  # each document once
    assert "by template and 10 in natural sentences" in start.templates().answer  # of facts no model was tuned on


@pytest.mark.slow
def test_claims_of_the_ledger_are_counted_once_by_verdict_check_and_reason() -> None:
    rows = pd.DataFrame(ledger())
    counts = overview.counts(rows)
    for kinds in overview.PARTS.values():
        assert (counts[list(kinds)].sum(axis=1) == counts["claims"]).all()
    why = rows[rows["verdict"] == "not run"]["because"].value_counts()
    assert set(why.index) == set(text.BECAUSE) and why.sum() == (rows["verdict"] == "not run").sum()
    sentence, answer = str(text.ledger_sentence(rows)), text.ledger_answer(rows)
    for kind in text.BECAUSE:
        assert f"{why[kind]} {text.BECAUSE[kind]}" in sentence and str(why[kind]) in answer
    assert set(rows[rows["because"] == "no limit"]["id"]) >= {"002-11a", "004-08b", "004-16b"}
    table = start.verdicts(rows)
    assert (table.drop(columns=["paper", "claims"]).sum(axis=1) == table["claims"]).all()
    assert table["same number"].sum() + table["same direction"].sum() == (rows["verdict"] == "reproduced").sum()
