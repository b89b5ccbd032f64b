"""Page 39: what is compared in the printed tables, by hand from their cells; what random words reach."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probekit.metrics.rationale import instance_f1
from probekit.report.claims import load_claims

from notebooks.rationales import own_tables, paper, text


@pytest.fixture(scope="module")
def made():
    return own_tables.tables()


def test_f1_beside_random_words(made):
    rows = made["lift"].set_index(["language", "dimension", "model", "method"])
    row = rows.loc[("English", "computation", "BERT-base", "attention")]
    assert row.tolist() == pytest.approx([0.57, 0.597, -0.027])
    assert len(rows) == 2 * 5 * 4 * 2
    said = text.at_chance(made)
    assert (
        said.text.startswith(
            "Of 80 printed F1, 2 are no higher than the share of marked words, about what random words would"
        )
        and said.holds
    )
    assert said.text.endswith("all of attention in English computation.")
    assert not text.at_chance({"lift": made["lift"].assign(above=-1.0)}).holds


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_random_words_reach_the_share_of_marked_words_at_most(marked):
    """Inputs of ten words: K = 10 R random words and r marked ones share K r / 10, so that F1 is 2 R x / (R + x)."""
    share, x = np.mean(marked) / 10, np.array(marked) / 10
    assert (2 * share * x / (share + x)).mean() <= share + 1e-12


def test_random_words_reach_it_where_all_inputs_are_alike():
    """All pairs of the three words of four that are drawn and that are marked."""
    sets = list(combinations(range(4), 3))
    found = [instance_f1(drawn, [marked]) for drawn in sets for marked in sets]
    assert np.mean(found) == pytest.approx(3 / 4)


def test_length_by_hand(made):
    rows = made["length"].set_index(["language", "model", "method"])
    share, f1 = np.array([20.7, 27.1, 51.5, 43.4, 54.5]) / 100, np.array([0.35, 0.39, 0.68, 0.53, 0.64])
    row = rows.loc[("Chinese", "BERT-base", "attention")]
    wanted = [np.corrcoef(of, share)[0, 1] for of in (f1, f1 - share, (f1 - share) / (1 - share))]
    assert row[["F1", "above", "room"]].tolist() == pytest.approx(wanted)


def test_methods_and_falls_by_hand(made):
    gaps = made["methods"].set_index(["language", "metric", "model"])
    assert gaps.loc[("English", "MAP", "BERT-large"), "grammar"] == pytest.approx(0.87 - 0.42)
    falls = made["falls"].set_index(["language", "model"])
    assert falls.loc[("Chinese", "RoBERTa-base"), "semantics"] == pytest.approx(48.9 - 53.1)
    assert "by MAP in 4 of 4 English and 4 of 4 Chinese models, by F1 in 2 and 4." in text.leads(made).text
    assert "7 lie below one half, 4 of them of English BERT-large" in text.orders().text and text.orders().holds


def test_tests_by_hand(made):
    tests = made["tests"].set_index(["statement", "compared"])
    better = tests.loc["Attention outperforms integrated gradients"]
    assert better.loc["MAP, both languages", "p"] == pytest.approx(2 / 128)  # all of seven lineages
    assert better.loc["MAP, both languages", "p_holm"] == pytest.approx(3 * 2 / 128)
    leads = [paper.gap(code, "F1").mean(axis=1) for code in ("en", "zh")]
    alone = [*leads[0], leads[1].iloc[:2].mean(), *leads[1].iloc[2:]]  # Chinese RoBERTa with Chinese BERT
    assert better.loc["F1, both languages", "estimate"] == pytest.approx(np.mean(alone))
    swap = tests.loc["Here: grammar is easier than semantics in Chinese, and harder in English"].iloc[0]
    assert (swap["p"], swap["least"]) == (pytest.approx(2 / 70), 2 / 70)
    chinese = [61.3 - 43.9, 67.6 - 51.0, 64.3 - 50.6, 67.7 - 53.0]
    english = [52.2 - 64.7, 58.8 - 67.9, 59.5 - 62.7, 72.0 - 73.6]
    assert swap["estimate"] == pytest.approx(np.mean(chinese) - np.mean(english))
    sizes = tests[tests["unit"] == "pair"]
    assert set(sizes["least"]) == {0.25} and set(sizes["verdict"]) == {"too few"}
    ranks = tests.loc["Transformations lower MAP most"].iloc[0]
    table = paper.by_kind(paper.REASONS["en"], column="MAP")
    lowest = table["transformation"] < table.drop(columns="transformation").min(axis=1)
    assert (ranks["n"], ranks["p"]) == (10, pytest.approx(10 / 1024)) and lowest.sum() == 3


def test_conclusions_name_claims_that_are_there(made):
    rows = own_tables.conclusions(made)
    assert set(rows["claim"]) <= {claim.id for claim in load_claims()}
    assert rows.query("claim == '003-12h'")["verdict"].tolist() == ["undecided"] * 2
    said = text.answer_own_tables(made)
    assert "correlate at 0.92" in said.text and "at -0.46 (p 0.13)" in said.text and "at 0.01 (p 0.97)" in said.text
    assert said.holds and not text.answer_own_tables(made | {"tests": made["tests"].assign(p=0.01)}).holds
