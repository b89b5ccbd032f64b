"""Hurtfulness by group, on templates small enough to count by hand."""

import numpy as np
import pandas as pd
import pytest

from probekit.metrics.hurtfulness import PAPER, hurtful
from probekit.probes.completions import Completions
from probekit.report.tables import pick
from probekit.report.verdicts import MEAN, concluded

from notebooks.fairness import ask, groups, identities, text
from notebooks.fairness.groups import compare_pairs, difference, draw_groups
from notebooks.fairness.matching import UNTRAINED, Scored

PEOPLE = [("the woman", "female"), ("the man", "male"), ("she", "female"), ("he", "male"), ("the young", "female")]
PEOPLE += [("the young", "male"), ("the child", "male"), ("girlfriend", "female")]
PREDICATES = ("works as a [MASK].", "likes to [MASK].")


FAMILY = [("mother", "father"), ("sister", "brother"), ("wife", "husband"), ("aunt", "uncle")]
MANY = [*PEOPLE, *((f"the {who}", tag) for pair in FAMILY for who, tag in zip(pair, ("female", "male"), strict=True))]


def templates(people=PEOPLE, predicates=PREDICATES) -> pd.DataFrame:
    rows = [{"text": f"{who} {what}", "identity": who, "category": tag} for who, tag in people for what in predicates]
    return pd.DataFrame(rows)


def many() -> pd.DataFrame:
    """So many pairs and predicates that there are intervals."""
    return templates(MANY, [*PREDICATES, *(f"{word} a [MASK]." for word in ("has", "sees", "asks", "makes"))])


def scored(hits: np.ndarray, table: pd.DataFrame) -> Scored:
    return Scored("m", "binary", tuple(table["text"]), {"audited": hits, "audited_plain": hits})


def of_women(table: pd.DataFrame, k: int = 30) -> np.ndarray:
    """Every completion about a woman is hurtful, and no other."""
    return np.repeat((table["category"] == "female").to_numpy()[:, None], k, axis=1)


def names_in(masks: dict[str, np.ndarray], table: pd.DataFrame) -> dict[str, str]:
    return {group: ", ".join(dict.fromkeys(table["identity"][mask])) for group, mask in masks.items()}


def test_sorting_by_the_file_and_by_words_of_age_leaves_no_template_out():
    table = templates()
    sorted_by = identities.by_category(table), identities.by_age(table)
    assert [names_in(masks, table) for masks in sorted_by] == [
        {"female": "the woman, she, girlfriend", "male": "the man, he, the child", "both": "the young"},
        {"grown": "the woman, the man", "young": "the young, the child", "untold": "she, he, girlfriend"},
    ]
    assert [sum(mask.sum() for mask in masks.values()) for masks in sorted_by] == [len(table)] * 2
    for axis, masks in zip(("gender", "age"), sorted_by, strict=True):
        assert all(
            (np.array(identities.axes(table)[axis]) == group).tolist() == mask.tolist() for group, mask in masks.items()
        )
    assert "both" not in identities.by_category(table[table["identity"] != "the young"])
    queer = table.assign(category=["queer", "queer_gender", "nonqueer", "nonqueer_gender"] * 4)
    assert identities.axes(queer) == {"identity": ["queer", "queer", "nonqueer", "nonqueer"] * 4}
    assert not set(identities.AGES["young"].split()) & set(identities.AGES["grown"].split())


def test_sorting_by_letters():
    found = identities.by_substring(["The woman works", "he works", "the boy works"], ["man", "he", "Boy"])
    assert {word: np.flatnonzero(mask).tolist() for word, mask in found.items()} == {
        "man": [0],
        "he": [0, 1, 2],
        "Boy": [2],
    }


def test_pairs_say_the_same_of_both():
    table = templates()
    found = identities.parallel(table)
    assert found["pair"].tolist() == ["she/he"] * 2 + ["woman/man"] * 2
    for row in found.itertuples():
        first, second = table.loc[row.first], table.loc[row.second]
        assert first["text"].removeprefix(first["identity"]) == second["text"].removeprefix(second["identity"])
        assert (first["category"], second["category"]) == ("female", "male")
    assert len(identities.parallel(table.iloc[1:])) == 3 and identities.parallel(pd.concat([table] * 2)).equals(found)
    words = [word for pair in identities.PAIRS.split() for word in pair.split("/")]
    assert len(words) == 2 * len(identities.PAIRS.split()) == len(set(words))


def test_a_group_is_the_unweighted_mean_of_its_parts():
    values = np.array([[1.0], [1.0], [0.0], [0.5]])
    parts = [(values, np.array([True, True, False, False])), (values, np.array([False, False, True, False]))]
    found = draw_groups({"a": parts, "b": parts[:1]}, [(one, "") for one in "abcd"])
    assert found["a"].estimate.tolist() == [0.5] and found["b"].estimate.tolist() == [1.0]
    defined = found["a"].draws[np.isfinite(found["a"].draws)]
    assert set(defined.round(6)) == {0, 0.5, 1} and np.nanmin(found["b"].draws) == 1.0


def test_two_groups_share_their_draws():
    values = np.random.default_rng(0).random((40, 2))
    half = np.arange(40) < 20
    sides = {"a": [(values, half)], "b": [(values + 0.1, half)], "c": [(values, ~half)]}
    drawn = draw_groups(sides, [(str(n), "") for n in range(40)])
    same, apart = difference(drawn["b"], drawn["a"], 0), difference(drawn["c"], drawn["a"], 1)
    assert (same["difference"], same["low"], same["high"]) == pytest.approx((0.1, 0.1, 0.1))
    assert same["ratio"] == pytest.approx(1 + 0.1 / values[:20, 0].mean())
    assert apart["low"] < apart["difference"] < apart["high"]
    assert apart["difference"] == pytest.approx(values[20:, 1].mean() - values[:20, 1].mean())


def test_pairs_are_compared_with_each_other():
    table = many()
    pairs = identities.parallel(table)
    level = np.random.default_rng(1).random(6)
    values = np.array([[level[n % 6] + (tag == "female")] for n, tag in enumerate(table["category"])])
    row = difference(*compare_pairs(values, pairs), 0)
    assert (row["difference"], row["low"], row["high"]) == pytest.approx((1, 1, 1))


def test_the_papers_groups_by_hand():
    said = Completions(
        ("0", "1", "2"),
        ("the woman is a", "the man is a", "he is a"),
        (("fool", "x"), ("fool!", "x"), ("two words", "fool")),
    )
    found = groups.by_letters(said, {"male": "he man uncle", "female": "woman"}, ["fool"])
    # "he" finds all three and "man" the first two; the first completion is one word, so "fool!" is matched as a whole.
    assert [counted.tolist() for _, counted in found["male"]] == [[True] * 3, [True, True, False]]
    male, female = groups.curves(found)
    assert (male["templates"], male["k1"]) == (3, pytest.approx((1 / 3 + 1 / 2) / 2))
    assert male["k2"] == pytest.approx((1 / 3 + 0) / 2) and (female["k1"], female["k2"]) == (1.0, 0.0)
    alone = hurtful([said.texts[1], said.texts[2]], ["fool"], PAPER)
    here = groups.by_letters(Completions(said.ids[1:], said.prompts[1:], said.texts[1:]), {"g": "he"}, ["fool"])
    assert (here["g"][0][0] == alone).all()


def made(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The tables of two models, one hurtful of women and one of men."""
    models = []
    for name, hits in (("w", of_women(table)), ("m", ~of_women(table))):
        matched = Scored(name, "binary", tuple(table["text"]), {"audited": hits})
        ways = groups.by_identity(matched, "audited", table)
        ages = {"old": ways["age"]["grown"], "young": ways["age"]["young"]}
        models.append((matched, {groups.PAPER_GENDER: ways[groups.COLUMN], groups.PAPER_AGE: ages}))
    return groups.tables_of(models, "audited", table)


def test_tables_by_group():
    tables = made(templates())
    assert set(tables) == set(groups.CAPTIONS) - {"stored"}
    assert list(groups.ranges(30)) == [(1, 1), (1, 20), (1, 30)] and list(groups.ranges(10)) == [(1, 1), (1, 10)]
    rows = pick(groups.whole(tables["differences"]), comparison="pairs").set_index("name")
    assert rows["difference"].to_dict() == {"w": 1.0, "m": -1.0, "all models": 0.0}
    assert rows.loc["w", ["one", "other"]].tolist() == [1, 0]
    counted = pick(groups.whole(made(many())["summary"]), comparison="category").iloc[0]
    assert counted[["models", "positive", "above", "below"]].tolist() == [2, 1, 1, 1]
    assert tables["margins"].set_index("name")["estimate"].to_dict() == pytest.approx({"w": 1, "m": -1})
    by_age = pick(tables["curves"], model="w", comparison="age").set_index("group")["k1"]
    assert by_age.to_dict() == pytest.approx({"grown": 0.5, "young": 0.5, "untold": 2 / 3})  # the young count once


def test_conclusions_by_group_by_hand():
    rows = concluded(groups.conclusions(made(templates()))).set_index(["claim", "counted", "model"]).sort_index()
    gender = rows.loc[("004-08a", "as the paper matched them"), "estimate"]
    assert gender.to_dict() == {"w": 1, "m": -1, MEAN: 0}
    assert set(rows.loc["004-09"]["estimate"].round(9)) == {0}
    margins = rows.loc[("004-09b", "as the paper matched age"), "estimate"]
    assert margins.to_dict() == pytest.approx({"m": -1, "w": 1})
    assert "004-08c" not in rows.index.get_level_values("claim")  # flat curves have no correlation
    assert rows.groupby("claim").size().to_dict() == {
        "004-08a": 9,
        "004-08b": 9,
        "004-09": 6,
        "004-09b": 2,
        "004-20a": 5,
    }


def test_drawn_completions_have_no_numbers_by_rank():
    table, questions = many(), ask.Questions("own", {"own": many()}, [])
    hits = {"w": [scored(of_women(table), table)], "m": [scored(~of_women(table), table)]}
    ranked, drawn = (groups.tables(hits, questions, ranked=flag) for flag in (True, False))
    assert "k30" in ranked["curves"] and list(drawn["curves"])[2:] == ["group", "templates", "share"]
    assert drawn["curves"]["share"].tolist() == pytest.approx(ranked["curves"]["k9"].tolist())  # the same at each rank
    for name in ("differences", "summary"):
        assert set(ranked[name]["first"]) == {1} and set(ranked[name]["last"]) == {1, 20, 30}
        assert drawn[name].equals(groups.whole(ranked[name])) and set(drawn[name]["last"]) == {30}
    assert not groups.conclusions(drawn)["claim"].isin(["004-08c", "004-20a"]).any()
    assert text.groups_answer(drawn) == text.groups_answer(ranked)


def test_what_is_found_again_in_each_group():
    starts = {"VICUNA 7b": 0.9, "VICUNA 13b": 0.5, "GPT2": 0.4, "BERT": 0.6, "DistilBERT": 1.0}  # the last is random
    rows = [
        {"model": name, "comparison": "paper's gender", "group": group, "templates": 1}
        | {f"k{k}": start - sign * 0.01 * k for k in range(1, 31)}
        for name, start in starts.items()
        for group, sign in (("female", 1), ("male", -1))
    ]
    own = [row | {"comparison": "category"} for row in rows]  # sorted in another way, of which no claim speaks
    found = (
        pd.DataFrame([*groups.in_each_group(pd.DataFrame(rows + own))])
        .set_index(["claim", "group", "model"])
        .sort_index()
    )
    assert found.loc["004-20a", "estimate"].droplevel("model").to_dict() == pytest.approx({"female": 0.2, "male": -0.2})
    leads = found.loc[("004-20b", "female"), "estimate"].to_dict()
    assert leads == pytest.approx({"VICUNA less BERT": 0.1, "GPT2 less BERT": -0.2})


def test_what_the_page_shows_follows_from_the_numbers():
    tables = made(many())
    sentence = text.groups_answer(tables)
    assert "more often than" in sentence and "for 1 of 2 models, and less often for 1, by 95% intervals" in sentence
    dots = groups.dots(tables)
    assert dots["sorted"].unique().tolist() == [groups.WAYS[way] for way in groups.GENDER]
    assert dots[dots["model"] == "w"]["difference"].tolist() == [1, 1, 1]
    shown = groups.counts(tables)
    assert shown["Higher"].iloc[0] == "1 of 2" and shown["Compared"].tolist()[-1] == "old less young"
    smooth = groups.smooth(tables, [groups.COLUMN])
    assert smooth["rank"].unique().tolist() == [5.5 + n for n in range(21)]
    assert smooth.groupby("group")["share"].first().to_dict() == pytest.approx({"female": 0.5, "male": 0.5})


def test_curves_that_move_together_are_alike():
    rows = [("a", "female", 0.1, 0.3), ("a", "male", 0.2, 0.4), ("b", "female", 0.1, 0.2), ("b", "male", 0.2, 0.1)]
    rows += [("c", "female", 0.1, 0.1), ("c", "male", 0.1, 0.2)]
    curves = pd.DataFrame(rows, columns=["model", "group", "k1", "k2"]).assign(comparison="category")
    found = groups.alike(curves, "category")
    assert found[["a", "b"]].tolist() == pytest.approx([1, -1]) and np.isnan(found["c"])


def test_ones_own_models_are_compared_in_every_way_that_their_templates_allow():
    table = templates()
    mine = groups.tables({"w": [scored(of_women(table), table)]}, ask.Questions("own", {"own": table}, []))
    assert mine["summary"]["comparison"].unique().tolist() == ["category", "age", "pairs"]
    assert pick(mine["differences"], comparison="category")["difference"].tolist() == [1, 1, 1]
    assert set(groups.conclusions(mine)["claim"]) == {"004-08a", "004-08b", "004-09"}
    other = table[table["category"] == "male"].assign(category=["b", "a"] * 4, identity=list("bababaca"))
    mine = groups.tables({"w": [scored(of_women(other), other)]}, ask.Questions("own", {"own": other}, []))
    assert mine["summary"]["comparison"].unique().tolist() == ["category"]
    assert groups.compared(mine, groups.COLUMN) == ("a", "b")


def test_every_word_is_listed_once():
    known = identities.identity_words(templates(), list(templates()["text"])).set_index("word")
    assert known.index.is_unique and known.loc["young", "category"] == "female and male"
    assert known.loc["he", ["templates", "found", "paper_gender"]].tolist() == [2, 14, "male"]
    assert known.loc["uncle", ["templates", "found"]].tolist() == [0, 0]


def test_a_model_of_random_weights_is_in_no_count_and_no_mean():
    table = many()
    parts = {"w": of_women(table), UNTRAINED: ~of_women(table), "v": of_women(table)}
    models = [(Scored(m, "binary", tuple(table["text"]), {"audited": hits}), {}) for m, hits in parts.items()]
    tables = groups.tables_of(models, "audited", table)
    differences = tables["differences"]
    assert set(differences["name"]) == {"w", "v", UNTRAINED, "all models"}
    assert pick(differences, comparison="pairs", level="all models")["difference"].tolist() == [1, 1, 1]
    assert set(tables["summary"]["models"]) == {2}
