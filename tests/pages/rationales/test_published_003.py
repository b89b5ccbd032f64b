"""Tables 1 to 11 of paper 003 as transcribed: whole, and in keeping with what the paper says of them."""

import pandas as pd
import pytest

from probekit.probes.rationales import DIMENSIONS, PERTURBATIONS
from probekit.report.published import MISSING, numbers, published

SHAPES = {"3": (5, 4), "4": (4, 30), "5": (8, 20), "6": (3, 15), "7": (5, 6), "8": (4, 30), "9": (8, 20), "10": (5, 6)}


@pytest.mark.parametrize("table", [*SHAPES, "11"])
def test_tables_are_whole(table: str) -> None:
    frame = published("003", table)
    assert list(frame.columns) == ["paper", "table", "row", "column", "value"]
    assert set(frame["paper"]) == {"003"} and set(frame["table"]) == {table}
    assert not frame.duplicated(["row", "column"]).any()
    assert numbers("003", table).shape == SHAPES.get(table, (3, 15))
    assert (frame["value"] == MISSING).sum() == (14 if table == "11" else 0)


@pytest.mark.parametrize("table", ["4", "8"])
def test_all_is_the_mean_of_original_and_perturbed(table: str) -> None:
    found = numbers("003", table)
    for dimension in DIMENSIONS:
        for top in ("top1", "top3"):
            every, original, perturbed = (
                found[f"{dimension} {kind} {top}"] for kind in ("all", "original", "perturbed")
            )
            assert ((every - (original + perturbed) / 2).abs() <= 0.1001).all(), (dimension, top)
        assert (found[f"{dimension} all top3"] >= found[f"{dimension} all top1"]).all()


@pytest.mark.parametrize("table", ["6", "11"])
def test_changes_are_differences(table: str) -> None:
    found = numbers("003", table)
    gap = found.loc["perturbed"] - found.loc["original"] - found.loc["change"]
    assert (gap.dropna().abs() <= 0.1001).all() and len(gap.dropna()) == (15 if table == "6" else 8)
    assert list(found.columns) == [f"{d} {p}" for d in DIMENSIONS for p in PERTURBATIONS]


@pytest.mark.parametrize("table", ["5", "7", "9", "10"])
def test_shares_lie_between_0_and_1(table: str) -> None:
    found = numbers("003", table)
    assert ((found >= 0) & (found <= 1)).all(axis=None)
    if table in ("5", "9"):
        maps = pd.concat([found[f"{d} MAP*"] - found[f"{d} MAP"] for d in DIMENSIONS])
        assert (maps >= 0).all()  # pairs kept for PCC agree no worse


def test_sizes() -> None:
    found = numbers("003", "3")
    assert found["English size"].sum() == 3060 and found["Chinese size"].sum() == 2911
    assert found["English RRL"].between(20, 60).all() and found["Chinese RRL"].between(20, 60).all()


def test_examples_and_sources_name_every_dimension() -> None:
    examples, sources = published("003", "1"), published("003", "2")
    assert list(examples["row"].unique()) == list(sources["row"].unique()) == list(DIMENSIONS)
    inputs = examples.loc[examples["column"] == "input with masked word", "value"]
    assert (inputs.str.count(r"\[MASK\]") == 1).all() and len(examples) == len(sources) == 10
