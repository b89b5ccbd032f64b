"""The sentences of paper 003 on Tables 4, 5, 8 and 9, checked on tables made here and on the printed ones."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from notebooks.rationales import own_003


def printed(value: Callable[[str, str], float], rows: list[str], columns: list[str]) -> pd.DataFrame:
    names = [f"{dimension} {column}" for dimension in own_003.DIMENSIONS for column in columns]
    return pd.DataFrame([[value(row, name) for name in names] for row in rows], index=rows, columns=names)


ACCURACIES = [f"{part} top{top}" for part in ("all", "original", "perturbed") for top in (1, 3)]


def given(monkeypatch: pytest.MonkeyPatch, table: pd.DataFrame) -> None:
    monkeypatch.setattr(own_003, "numbers", lambda *_: table)


def test_all_must_be_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    right = printed(lambda _, c: {"original": 50.2, "perturbed": 50.1}.get(c.split()[1], 50.1), ["m"], ACCURACIES)
    given(monkeypatch, right)
    assert own_003.CHECKS["003-04a"]()[0] == "consistent"
    right.loc["m", "reasoning all top3"] = 50.4
    said = own_003.CHECKS["003-04a"]()
    assert said[0] == "inconsistent" and "not: m top 3 reasoning" in said[1] and "9 of 10" in said[1]


@pytest.mark.parametrize(
    ("falls", "said"), [((2.0, 1.6, 2.5, 0.1), "consistent"), ((2.0, 1.4, 2.6, 0.1), "inconsistent")]
)
def test_most_models_must_lose_about_two(monkeypatch: pytest.MonkeyPatch, falls: tuple[float, ...], said: str) -> None:
    rows = ["a", "b", "c", "d"]
    lost = dict(zip(rows, falls, strict=True))
    given(monkeypatch, printed(lambda r, c: 60 - lost[r] * ("perturbed" in c), rows, ACCURACIES))
    assert own_003.CHECKS["003-07a"]()[0] == said


def test_one_exception_breaks_a_claim_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [f"{model} {method}" for model in ("x", "y") for method in ("ATT", "IG")]
    table = printed(lambda r, _: 0.6 if "ATT" in r else 0.5, rows, ["F1", "MAP", "PCC", "MAP*"])
    given(monkeypatch, table)
    assert own_003.CHECKS["003-08a"]()[0] == "consistent"
    assert own_003.CHECKS["003-09a"]()[0] == "inconsistent"  # in knowledge it is always better here
    table.loc["y IG", ["knowledge F1", "computation F1"]] = 0.7
    said = own_003.CHECKS["003-08a"]()
    assert said[0] == "inconsistent" and said[1].endswith("8 of 10 comparisons hold; not: y knowledge, y computation.")
    assert own_003.CHECKS["003-09a"]()[0] == "consistent"


def test_the_printed_tables_bear_out_some_sentences_and_not_others() -> None:
    found = {claim: check() for claim, check in own_003.CHECKS.items()}
    assert {claim for claim, (said, _) in found.items() if said == "inconsistent"} == {
        "003-06a",
        "003-08a",
        "003-08d",
        "003-09a",
        "003-10d",
        "003-11a",
        "003-17a",
    }
    assert "BERT-base 0.1, RoBERTa-base 2.5, ERNIE-base 2.4, ERNIE-large 1.6" in found["003-07a"][1]
    assert "not: BERT knowledge" in found["003-17a"][1]
