"""The recorded tables of study 4: each has a caption, each claim its rows, and sentences follow from them."""

from importlib import import_module

import pandas as pd
import pytest

from probekit.report.claims import load_claims
from probekit.report.recording import recorded_tables
from probekit.report.verdicts import conclusions_of, judge

from notebooks.fairness import hurtfulness, lemmas, samples, text
from notebooks.fairness.words import CATEGORIES

PAIRS = {"004-02j": 99, "004-02k": 12, "004-03b": 20, "004-03c": 19, "004-05a": 10}  # comparisons by either rules
ROWS = {  # page -> claim -> its rows
    "41_hurtfulness": {"004-01a": 1, "004-01b": 1, "004-18a": 1} | {claim: 2 * count for claim, count in PAIRS.items()},
    "42_likelihood": {"004-04g": 2 * 9, "004-06a": 2 * 22 + 2 * 21, "004-06b": 2 * 22 + 2 * 21}
    | {"004-02j": 2 * 9 * 20, "004-02k": 2 * 3 * 8, "004-03c": 2 * 20, "004-05a": 2 * 2 * 6}  # further models
    | {"004-08a": 3 * 21, "004-09": 2 * 21}
    | {f"004-{claim}": 21 for claim in ["15a", "15b", "15c", "15e", "15f", "15g", "17a", "17b", "17c", "17d", "17e"]},
    "43_groups": {
        "004-08a": 3 * 22,
        "004-08b": 3 * 22,
        "004-08c": 2,
        "004-09": 2 * 22,
        "004-09b": 21,
        "004-20a": 4,
        "004-20b": 48,
    },
    "44_agreement": {
        "004-10a": 21,
        "004-10b": 21,
        "004-11a": 12,
        "004-13a": 3,
        "004-13b": 3,
        "004-14a": 1,
        "004-12c": 14,
    },
    "45_samples": {f"004-15{c}": 44 for c in "abcdefg"} | {f"004-17{c}": 22 for c in "abcde"},
    "47_lemmas": {"004-19": 1},
    "48_measure": {},
}
UNMADE = {"against", "sample"}  # of one's own models


@pytest.mark.parametrize("page", ROWS)
def test_every_table_has_a_caption_and_every_claim_its_rows(page):
    tables, rows = recorded_tables(page), conclusions_of(page)
    captions = import_module(f"notebooks.fairness.{page[3:]}").CAPTIONS
    assert set(captions) - UNMADE <= set(tables) <= set(captions)
    assert rows.groupby("claim").size().to_dict() == ROWS[page]
    claims = [claim for claim in load_claims() if getattr(claim.on_paper_data, "page", "") == page]
    assert {claim.id for claim in claims} <= set(ROWS[page])
    assert "not run" not in {judge(claim, "on_paper_data", rows).verdict for claim in claims}


def test_table_1_agrees_to_the_last_digit():
    tables = recorded_tables("41_hurtfulness")
    rows = hurtfulness.conclusions(tables).set_index("claim")
    assert rows.loc[["004-01a", "004-01b"], "estimate"].tolist() == [147, 21]
    assert tables["versions"].to_numpy().tolist() == [["1.3.6", 147, 21], ["1.3.8", 144, 20], ["1.4.0", 123, 14]]
    assert "147 of 147" in text.versions(tables) and text.versions({"versions": []}) == ""
    shown = hurtfulness.as_in_paper(tables)
    assert len(shown) == 21 and shown["Model"].str.contains(hurtfulness.SPACED).sum() == 10
    assert (shown["Published"] == shown["Paper's rules"]).all() and shown["Audited"].str.startswith("0.").all()


def test_a_model_of_random_weights_is_never_judged():
    rows = conclusions_of("43_groups")
    assert set(rows[rows["model"] == "DistilBERT"]["verdict"]) == {"at the floor"}


def test_words_as_recorded():
    tables = recorded_tables("45_samples")
    assert set(tables["categories"]["list"]) == set(CATEGORIES)
    answer = text.samples_answer(tables, conclusions_of("45_samples"))
    assert "94 of 1,000" in answer and "24 of 1,000" in answer and "12 observations" in answer
    assert text.models_of(tables) == "20 models" and "in 17% of pairs" in text.one_meaning(tables)
    assert "004-16b, open" in text.one_meaning(tables) and "They alone" in text.of_they(tables)
    rows = pd.concat([tables[name] for name in ("words", "categories", "directions")])
    assert not (rows["low"] == rows["high"]).any()
    assert len(samples.means(tables)) == 17


def test_lemmas_as_recorded():
    tables = recorded_tables("47_lemmas")
    assert set(tables["categories"]["category"]) == set(CATEGORIES)
    assert tables["lemmas"]["share"].is_monotonic_decreasing and len(tables["lemmas"]) == 2 * lemmas.TOP
    assert (tables["artefacts"]["lemma"].head(2) == ["operator", "grind"]).all()
    said = [*text.phrases(tables), *text.artefacts_read(tables), *text.read_twice(tables)]
    assert len(said) == 2 + 2 + 3 and all(one.holds for one in said)
    assert "“know” and “do”" in text.lemmas_answer(tables) and "prostitution (pr)" in text.said_of_whom(tables)
    assert len(lemmas.carried(tables)) == len(lemmas.CONTRASTS) and len(lemmas.women_and_men(tables)) == 18


def test_stored_curves_are_those_of_letters():
    figures = {page: recorded_tables(page)["stored"] for page in ("42_likelihood", "43_groups")}
    assert [len(table) for table in figures.values()] == [24, 48]
    for table in figures.values():
        moved = set(table.loc[table["gap"] > 1e-9, "model"])
        assert moved <= {"DistilBERT", "BART small"}  # of random weights, and of another state of the release
        assert table["highest"].max() < 0.012 < table["words"].drop(table.index[table["model"] == "DistilBERT"]).min()
        assert len(text.stored_scores(table)) == 2


def test_two_measures_as_recorded():
    tables = recorded_tables("48_measure")
    assert tables["agreement"]["measure"].tolist() == ["vader", "linear"] * 2
    assert all(said.holds for said in (*text.measure_answer(tables), *text.measure_orders(tables)))
    whole = tables["pairs"].query("bias_type == 'all pairs'")
    assert whole["pairs"].tolist() == [1508, 1508] and whole["equal"].tolist() == [1092, 444]
    said = text.preferred(tables["pairs"])
    assert len(said) == 2 * 2 and all(one.holds for one in said)
