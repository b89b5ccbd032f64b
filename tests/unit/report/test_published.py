"""The papers' numbers as transcribed: well-formed files, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from probekit.errors import ReportError
from probekit.report.published import MISSING, cell, numbers, published

PUBLISHED = Path(__file__).resolve().parents[3] / "book" / "published"
FILES = sorted(path.name for path in PUBLISHED.glob("001_*.csv"))
HEAD = "paper,table,row,column,value\n"


@pytest.mark.parametrize("name", FILES)
def test_transcribed_files_are_well_formed(name: str) -> None:
    frame = pd.read_csv(PUBLISHED / name, dtype=str, keep_default_na=False)
    assert list(frame.columns) == ["paper", "table", "row", "column", "value"]
    assert set(frame["paper"]) == {"001"}
    assert (frame != "").all(axis=None)
    assert not frame.duplicated(["table", "row", "column"]).any()
    numeric = frame[~frame["column"].isin(["data", "category"])]["value"]
    pd.to_numeric(numeric[numeric != MISSING])
    assert len(numeric) > (numeric == MISSING).sum() or name in ("001_table3.csv", "001_table4.csv")


def test_tables_are_whole() -> None:
    assert [name[4:-4] for name in FILES] == ["table2", "table3", "table4", "table5", "table6", "text"]
    assert (numbers("001", "5").shape, numbers("001", "6").shape) == ((17, 10), (17, 18))
    assert published("001", "2")["row"].nunique() == 16
    assert numbers("001", "3").isna().all(axis=None)
    assert published("001", "6")["value"].iloc[0] == cell("001", "6", "PubMedBERT", "SQuAD Original A@1") == "0.18"


def test_what_cannot_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "studies.yml").touch()
    monkeypatch.setenv("PROBEKIT_HOME", str(tmp_path))
    path = tmp_path / "book" / "published" / "001_table5.csv"
    path.parent.mkdir(parents=True)
    with pytest.raises(ReportError, match=r"001_table5\.csv is not there"):
        published("001", "5")
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(ReportError, match=r"001_table5\.csv has the columns \['a', 'b'\]"):
        published("001", "5")
    path.write_text(f"{HEAD}001,5,BERT,CTD,many\n", encoding="utf-8")
    with pytest.raises(ReportError, match=r"001_table5\.csv.*'many'"):
        numbers("001", "5")
    with pytest.raises(ReportError, match=r"0 cells .*'Nobody'"):
        cell("001", "5", "Nobody", "CTD")
    path.write_text(f"{HEAD}001,5,BERT,CTD,1\n001,5,BERT,CTD,1\n", encoding="utf-8")
    with pytest.raises(ReportError, match=r"'BERT', column 'CTD' is there twice"):
        numbers("001", "5")
