"""The ledger at a glance: counts by paper, reasons told once, and the place of every transcribed table."""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest
import yaml

from probekit.report.claims import COLUMNS, Verdict, load_claims
from probekit.report.published import MISSING
from probekit.report.recording import recorded_tables
from probekit.report.sources import studies
from probekit.report.tables import pick
from probekit.report.text import Markup
from probekit.report.verdicts import Decision, coloured, conclusions_of, counts, findings, ledger

from notebooks.claims import claims as overview
from notebooks.claims import printed as tables
from notebooks.claims import start, text

ROOT = Path(__file__).resolve().parents[3]


def line(claim: str, *verdicts: Verdict, **about: object) -> dict[str, object]:
    """A row of the ledger with a verdict in each column."""
    row = {"id": claim, "paper": claim[:3], "where": "1", "statement": "a", "published": None, "related": None}
    decisions = {column: Decision(verdict, "So.")._asdict() for column, verdict in zip(COLUMNS, verdicts, strict=True)}
    return row | {"page": ""} | decisions | about


CLAIMS = [
    line("001-01a", "holds", "not run", "not run"),
    line("001-02a", "fails", "data", "not applicable"),
    line("002-01a", "not applicable", "not run", "open"),
]


def test_claims_are_counted_by_paper_and_column() -> None:
    found = counts(CLAIMS).set_index(["paper", "column"])
    assert (found.sum(axis=1).groupby("paper").unique().map(list) == pd.Series({"001": [2], "002": [1]})).all()
    assert found.loc[("001", "in_print"), ["holds", "fails", "open"]].tolist() == [1, 1, 0]
    assert found.loc[("001", "on_paper_data"), ["not run", "data"]].tolist() == [1, 1]
    assert found.loc[("002", "beyond"), "open"] == 1


def test_the_landing_table_never_adds_up_columns_and_counts_data_apart() -> None:
    table = start.verdicts(counts(CLAIMS)).set_index("paper")
    assert table.loc["Shaier 2024"].tolist() == [2, "1 holds, 1 fails", "–", "–", 1]
    assert table.loc["Yao 2023"].tolist() == [1, "–", "–", "1 open", 0]


def test_the_map_has_a_square_for_every_claim_that_a_column_can_ask() -> None:
    table = counts(CLAIMS)
    figure = overview.draw(pd.DataFrame(CLAIMS))
    *lines, blank = figure.axes[0].get_lines()
    drawn = {line.get_label(): len(line.get_xdata()) for line in lines}
    counted = {f"{sign} {verdict}".strip(): table[verdict].sum() for verdict, (_, sign) in overview.SIGNS.items()}
    assert drawn == {label: count for label, count in counted.items() if count}
    assert sum(drawn.values()) < 9 and blank.get_label() == "no square: not applicable"  # one cannot be asked
    plt.close(figure)
    assert text.ledger_alt(table).startswith("Map of 3 claims of 2 papers")


def test_a_row_tells_its_reasons_and_leads_to_its_page_and_printed_table() -> None:
    about = {"where": "5.6, Table 6", "statement": "a *b*", "published": 0.1, "page": "17_entities"}
    row = line("001-13a", "holds", "not run", "fails", **about)
    row["beyond"] = Decision("fails", "<Far>.", 1, 3)._asdict()
    (shown,) = overview.shown(pd.DataFrame([row])).to_dict("records")
    assert shown["Claim"].startswith("a \\*b\\* <details><summary>why</summary><b>In print\\: holds\\.</b> So\\.")
    assert shown["Claim"].endswith("<b>Beyond\\: fails\\.</b> \\<Far\\>\\.</details>")
    assert shown["See"] == ("{doc}`/book/studies/17_entities` {ref}`Table 6 <printed-001-6>`")
    assert (shown["Printed"], shown["Ours"]) == ("0.1", "1 of 3") and ">fails<" in shown["Beyond"]
    flat = overview.flat(pd.DataFrame([row])).iloc[0]
    assert (flat["beyond"], flat["beyond_n"], flat["in_print_reason"]) == ("fails", 1, "So.")


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


def test_every_card_says_something_that_holds_and_the_one_on_contexts_of_models_above_the_floor():
    assert all(any(one.holds for one in make().said) for make in (start.templates, start.rationales, start.fairness))
    assert re.search(r"one by one, “\w+” changes", start.fairness().said[1].text)  # and no set of several
    known = pick(recorded_tables("22_ucm")["floors"], source="trex").set_index("model")["floor"].astype(bool)
    first, _ = start.contexts().said
    assert (
        known.any()
        and first.holds
        and f"Of {len(known)} models, {(~known).sum()} beat{'s' * int((~known).sum() == 1)} the commonest" in first.text
    )


@pytest.mark.slow
def test_page_ledger_and_landing_page_say_the_same() -> None:
    rows = ledger()
    table, verdicts = counts(rows), {row["id"]: [row[column]["verdict"] for column in COLUMNS] for row in rows}
    for study in {source.page for claim in load_claims() for source in claim.judged.values()}:
        found = findings(study, conclusions_of(study), studies()[study].get("claims", []))
        assert {row["claim"]: [row[c] for c in COLUMNS] for row in found.to_dict("records")}.items() <= verdicts.items()
    landing, said = start.verdicts(table), start.says(rows)
    assert landing["claims"].sum() == len(rows)
    shown = [[cell or None for cell in row] for row in said[[*COLUMNS.values()]].to_numpy().tolist()]
    assert shown == [[v if v not in start.SILENT else None for v in verdicts[claim]] for claim, _ in start.SAYS]
    assert (said[[*COLUMNS.values()]] != "").any(axis=1).all()  # each says something
    cells = [cell for cell in coloured(said).to_numpy().ravel() if 'verdict fails">fails<' in cell]
    assert cells and all(isinstance(cell, Markup) for cell in cells)  # else it would be escaped
    for column, name in COLUMNS.items():
        said = sum(int(n) for cell in landing[name] for n in re.findall(r"(\d+) hold", cell))
        assert said == sum(row[column]["verdict"] == "holds" for row in rows)
        assert f"{said} " in text.ledger_answer(table)
