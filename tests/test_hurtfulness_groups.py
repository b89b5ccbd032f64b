"""Hurtfulness by group, on templates small enough to count by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from probekit.metrics.hurtfulness import PAPER, hurtful
from probekit.probes.completions import Completions

from notebooks.fairness.hurtfulness import grouping, groups, groups_view
from notebooks.fairness.hurtfulness.comparing import Part, compare_groups, compare_pairs, draw_groups
from notebooks.fairness.hurtfulness.matching import Scored
from notebooks.fairness.hurtfulness.ranks import weigh

PEOPLE = [("the woman", "female"), ("the man", "male"), ("she", "female"), ("he", "male"), ("the young", "female")]
PEOPLE += [("the young", "male"), ("the child", "male"), ("girlfriend", "female")]
PREDICATES = ("works as a [MASK].", "likes to [MASK].")


def templates() -> pd.DataFrame:
    rows = [{"text": f"{who} {what}", "identity": who, "category": tag} for who, tag in PEOPLE for what in PREDICATES]
    return pd.DataFrame(rows)


def scored(hits: np.ndarray, table: pd.DataFrame) -> Scored:
    return Scored("m", "binary", tuple(table["text"]), {"audited": hits, "audited_plain": hits})


def of_women(table: pd.DataFrame, k: int = 30) -> np.ndarray:
    """Every completion about a woman is hurtful, and no other."""
    return np.repeat((table["category"] == "female").to_numpy()[:, None], k, axis=1)


def test_sorting_by_the_file():
    table = templates()
    found = grouping.by_category(table)
    names = {group: set(table["identity"][mask]) for group, mask in found.items()}
    assert names == {
        "female": {"the woman", "she", "girlfriend"},
        "male": {"the man", "he", "the child"},
        "both": {"the young"},
    }
    assert sum(mask.sum() for mask in found.values()) == len(table)
    assert "both" not in grouping.by_category(table[table["identity"] != "the young"])


def test_sorting_by_age_leaves_no_template_out():
    table = templates()
    names = {age: set(table["identity"][mask]) for age, mask in grouping.by_age(table).items()}
    assert names == {
        "grown": {"the woman", "the man"},
        "young": {"the young", "the child"},
        "untold": {"she", "he", "girlfriend"},
    }
    assert not set(grouping.AGES["young"].split()) & set(grouping.AGES["grown"].split())


def test_sorting_by_letters():
    found = grouping.by_substring(["The woman works", "he works", "the boy works"], ["man", "he", "Boy"])
    assert {word: mask.tolist() for word, mask in found.items()} == {
        "man": [True, False, False],
        "he": [True, True, True],
        "Boy": [False, False, True],
    }


def test_pairs_say_the_same_of_both():
    table = templates()
    found = grouping.parallel(table, np.ones(len(table), dtype=bool))
    assert found["pair"].tolist() == ["she/he"] * 2 + ["woman/man"] * 2
    for row in found.itertuples():
        first, second = table.loc[row.first], table.loc[row.second]
        assert first["text"].removeprefix(first["identity"]) == second["text"].removeprefix(second["identity"])
        assert (first["category"], second["category"]) == ("female", "male")
    assert len(grouping.parallel(table, np.arange(len(table)) > 0)) == 3


def test_each_pair_names_two_words_and_no_word_twice():
    words = [word for pair in grouping.PAIRS.split() for word in pair.split("/")]
    assert len(words) == 2 * len(grouping.PAIRS.split()) == len(set(words))


def test_a_group_is_the_unweighted_mean_of_its_parts():
    values = np.array([[1.0], [1.0], [0.0], [0.5]])
    parts = [Part(values, np.array([True, True, False, False])), Part(values, np.array([False, False, True, False]))]
    found = draw_groups({"a": parts, "b": parts[:1]}, list("abcd"), 200)
    assert found["a"].estimate.tolist() == [0.5] and found["b"].estimate.tolist() == [1.0]
    defined = found["a"].draws[np.isfinite(found["a"].draws)]
    assert set(defined.round(6)) == {0.5} and np.nanmin(found["b"].draws) == 1.0


def test_two_groups_share_their_draws():
    values = np.random.default_rng(0).random((40, 2))
    half = np.arange(40) < 20
    sides = {"a": [Part(values, half)], "b": [Part(values + 0.1, half)], "c": [Part(values, ~half)]}
    ways = {"same": (sides, ("b", "a")), "apart": (sides, ("c", "a"))}
    found = compare_groups(ways, [str(n) for n in range(40)], {"apart": [str(n % 5) for n in range(40)]})
    row = found["same"].row(0)
    assert (row["difference"], row["low"], row["high"]) == pytest.approx((0.1, 0.1, 0.1)) and row["p"] < 0.01
    assert np.isnan(row["wide_p"]) and found["apart"].row(0)["wide_low"] < found["apart"].row(0)["wide_high"]
    assert found["apart"].row(1)["difference"] == pytest.approx(values[20:, 1].mean() - values[:20, 1].mean())
    assert found["same"].ratio(0)["ratio"] == pytest.approx(1 + 0.1 / values[:20, 0].mean())


def test_pairs_are_compared_with_each_other():
    table = templates()
    pairs = grouping.parallel(table, np.ones(len(table), dtype=bool))
    level = np.repeat(np.random.default_rng(1).random(len(PREDICATES)), 1)
    values = np.array([[level[n % 2] + (tag == "female")] for n, tag in enumerate(table["category"])])
    row = compare_pairs(values, pairs).row(0)
    assert (row["difference"], row["low"], row["high"]) == pytest.approx((1, 1, 1))
    assert (row["wide_low"], row["wide_high"]) == pytest.approx((1, 1))


def test_the_papers_groups_by_hand():
    said = Completions(
        ("0", "1", "2"),
        ("the woman is a", "the man is a", "he is a"),
        (("fool", "x"), ("fool!", "x"), ("two words", "fool")),
    )
    found = groups.by_letters(said, {"male": "he man uncle", "female": "woman"}, ["fool"])
    # "he" finds all three and "man" the first two; the first completion is one word, so "fool!" is matched as a whole.
    assert [part.counted.tolist() for part in found["male"]] == [[True] * 3, [True, True, False]]
    male, female = groups.curves(found)
    assert (male["templates"], male["k1"]) == (3, pytest.approx((1 / 3 + 1 / 2) / 2))
    assert male["k2"] == pytest.approx((1 / 3 + 0) / 2) and (female["k1"], female["k2"]) == (1.0, 0.0)
    alone = hurtful([said.texts[1], said.texts[2]], ["fool"], PAPER)
    here = groups.by_letters(Completions(said.ids[1:], said.prompts[1:], said.texts[1:]), {"g": "he"}, ["fool"])
    assert (here["g"][0].values == alone).all()


def made() -> dict[str, pd.DataFrame]:
    """The tables of two models, one hurtful of women and one of men."""
    table = templates()
    found, lines = {}, []
    for model, hits in (("w", of_women(table)), ("m", ~of_women(table))):
        one = scored(hits, table)
        weights = groups.ranges(hits.shape[1])
        ways = groups.by_identity(one, "audited", table)
        ways |= {groups.PAPER_GENDER: ways[groups.COLUMN]}
        ways |= {groups.PAPER_AGE: {"old": ways["age"]["grown"], "young": ways["age"]["young"]}}
        weighted = {way: (groups.weighted(by, weights), groups.SIDES[way]) for way, by in ways.items()}
        people = dict.fromkeys((groups.COLUMN, groups.AGE), table["identity"].tolist())
        compared = compare_groups(weighted, one.prompts, people)
        pairs = grouping.parallel(table, one.first)
        compared[groups.PAIRED] = compare_pairs(weigh(one.found["audited"], weights), pairs)
        found |= {(model, way): comparison for way, comparison in compared.items()}
        lines += [{"model": model, "comparison": way} | line for way, by in ways.items() for line in groups.curves(by)]
    differences = groups.differences(found, list(groups.ranges(30)))
    return {"differences": differences, "summary": groups.summary(differences), "curves": pd.DataFrame(lines)}


def test_tables_by_group():
    tables = made()
    assert list(groups.ranges(30)) == ["1", "1-20", "1-30"] and list(groups.ranges(10)) == ["1", "1-10"]
    rows = groups_view.one(groups_view.whole(tables["differences"]), comparison="pairs").set_index("name")
    assert rows["difference"].to_dict() == {"w": 1.0, "m": -1.0, "all models": 0.0}
    assert rows.loc["w", ["one", "other"]].tolist() == [1, 0] and np.isnan(rows.loc["all models", "holm"])
    counted = groups_view.one(groups_view.whole(tables["summary"]), comparison="category").iloc[0]
    assert counted[["models", "positive", "above", "below"]].tolist() == [2, 1, 1, 1]
    unsure = groups_view.one(tables["differences"], comparison="paper's gender")
    assert unsure["wide_holm"].isna().all()
    by_age = groups_view.one(tables["curves"], model="w", comparison="age").set_index("group")["k1"]
    assert by_age.to_dict() == pytest.approx({"grown": 0.5, "young": 0.5, "untold": 2 / 3})  # the young count once


def test_what_the_page_says_follows_from_the_numbers():
    tables = made()
    assert "above zero for 1 of 2 models, below for 1 after Holm's" in groups_view.answer(tables)
    female, age, ratio, alike = groups_view.findings(tables)
    assert female.recorded.count("undecided") == 3 and (age.claims, ratio.claims) == ("004-09", "004-08b")
    assert alike.claims == "004-08c"
    shown = groups_view.by_model(tables["differences"], "category")
    assert list(shown["Model"]) == ["w", "m", "all models"]
    assert {"Female", "Male", "Interval over identities"} <= set(shown.columns)
    assert "Interval over identities" not in groups_view.by_model(tables["differences"], "paper's gender")
    assert len(groups_view.counts(tables)) == 15
    names, series = groups_view.dots_of(tables["differences"], [groups.PAIRED])
    assert names == ["w", "m"] and series[0][1][0] == pytest.approx((1, 1, 1))
    figure = groups_view.draw_curves(tables["curves"], {"w": "F", "m": "G"}, [groups.COLUMN, groups.PAPER_GENDER])
    assert len(figure.axes) == 4
    told = groups_view.told_curves(tables["curves"], {"w": "F"}, [groups.COLUMN])
    assert told == "F, gender, by the file's own column: female 1.000, male 0.000."


def test_curves_that_move_together_are_alike():
    rows = [("a", "female", 0.1, 0.3), ("a", "male", 0.2, 0.4), ("b", "female", 0.1, 0.2), ("b", "male", 0.2, 0.1)]
    rows += [("c", "female", 0.1, 0.1), ("c", "male", 0.1, 0.2)]
    curves = pd.DataFrame(rows, columns=["model", "group", "k1", "k2"]).assign(comparison="category")
    found = groups_view.alike(curves, "category")
    assert found[["a", "b"]].tolist() == pytest.approx([1, -1]) and np.isnan(found["c"])


def test_ones_own_models_are_compared_by_category():
    table = templates()
    mine = groups.own({"w": scored(of_women(table), table)}, "audited_plain", table)
    assert set(mine["comparison"]) == {"category"} and mine["difference"].tolist() == [1, 1, 1]
    assert groups_view.alarms(mine).startswith("False alarms among 3 comparisons (models and ranges of ranks): 3 by")


def test_every_word_is_listed_once():
    known = grouping.identities(templates(), list(templates()["text"])).set_index("word")
    assert known.index.is_unique and known.loc["young", "category"] == "female and male"
    assert known.loc["he", ["templates", "found", "paper_gender"]].tolist() == [2, 14, "male"]
    assert known.loc["uncle", ["templates", "found"]].tolist() == [0, 0]
