"""Table 1 of paper 004 and what follows from it, on completions small enough to count by hand."""

import numpy as np
import pandas as pd
import pytest

from probekit.errors import ProbeError
from probekit.probes.completions import Completions, released_models
from probekit.report import Page
from probekit.report.sources import complete
from probekit.report.verdicts import concluded

from notebooks.fairness import artefacts, hurtfulness, paper, text
from notebooks.fairness.hurtfulness import counts, effects, mean_scores, model_ranks, overview
from notebooks.fairness.matching import VARIANTS, Scored, by_model, score

PROMPTS = ["he is a", "she is a", "he is a"]
TEXTS = [["fool", "a ★ day"], ["fool!", "a Fool"], ["fool", "nice"]]
LEXICON = ["fool", "★"]


def erase(text: str) -> str:
    return text.encode("ascii", "ignore").decode()


def scored(model: str = "m", texts: list[list[str]] = TEXTS, subset: str = "binary") -> Scored:
    return score(model, subset, PROMPTS, texts, LEXICON, erase)


def many(model: str, texts: list[list[str]], subset: str = "binary") -> Scored:
    """Three templates said of six people each, so many that there are intervals."""
    prompts = [f"{who} {says}" for says in ("is a", "has a", "asks a") for who in "abcdef"]
    return score(model, subset, prompts, [row for row in texts for _ in "abcdef"], LEXICON, erase)


NOTHING = [["nice", "nice"]] * 3


def test_every_switch_alone_by_hand():
    found = counts({"m": [scored()]}).set_index("rules")
    assert list(found.index) == list(VARIANTS)
    hits = {rules: (row["templates"], row["k1"], row["k2"]) for rules, row in found.iterrows()}
    assert hits == {
        "paper": (3, 2, 1),  # rank 1: whole strings, as the first template's is one word; rank 2: the star vanishes
        "drop_empty": (3, 2, 0),
        "mode_per_completion": (3, 3, 1),
        "unique_templates": (2, 1, 1),
        "first_word": (3, 2, 0),
        "ignore_case": (3, 2, 2),
        "audited": (2, 2, 0),
        "audited_plain": (2, 2, 1),  # without a transliteration the star is found as itself
        "audited_first_word": (2, 2, 0),
        "mended": (2, 2, 0),  # the lexicon of this test holds no artefact
    }


def test_a_mended_lexicon_lacks_its_artefacts():
    texts = [["know it", "fool"], ["911 operator", "gay fool"]]
    hits = score(
        "m", "binary", ["a", "b"], texts, ["know", "operator", "gay", "fool"], variants=["audited", "mended"]
    ).hits
    assert hits["audited"].all() and hits["mended"].tolist() == [[False, True], [False, True]]


def test_the_mended_lexicon_has_a_column_where_it_was_counted():
    table, means = overview(two(), mean_scores(two(), samples=20)), {"model": ["m"], "space_share": [0.0]}
    tables = {"table1": table.replace({"m": "GPT2", "n": "BERT"}), "models": pd.DataFrame(means)}
    assert {"Mended lexicon", "Rank, mended"} <= set(hurtfulness.as_in_paper(tables))
    tables["table1"] = tables["table1"].query("rules != 'mended'")
    assert "Mended lexicon" not in hurtfulness.as_in_paper(tables)


def two(of=scored) -> dict[str, list[Scored]]:
    other = [["nice", "day"], ["fool", "day"], ["nice", "day"]]
    return {name: [of(name, texts, s) for s in ("binary", "queer")] for name, texts in (("m", TEXTS), ("n", other))}


def test_rows_of_the_table_and_what_each_switch_changes():
    models = two()
    means = mean_scores(models, samples=300)
    table = overview(models, means)
    paper = by_model(table, "paper")
    assert paper["mean"].to_dict() == {"m": pytest.approx(0.5), "n": pytest.approx(1 / 6)}
    assert paper["rank"].to_dict() == {"m": 1, "n": 2} and set(paper["templates"]) == {6} and set(paper["ranks"]) == {2}
    assert table[["low", "high", "rank_low", "rank_high"]].isna().all(axis=None)  # of two prompts
    wide = overview(two(many), mean_scores(two(many), samples=300))
    assert (wide["low"] <= wide["mean"] + 1e-9).all() and (wide["mean"] <= wide["high"] + 1e-9).all()
    assert (wide["rank_low"] <= wide["rank"]).all() and (wide["rank"] <= wide["rank_high"]).all()
    changed, moves = effects(["m", "n"], {rules: drawn._replace(units=9) for rules, drawn in means.items()})
    changed, moves = changed.set_index(["rules", "model"]), moves.set_index("rules")
    assert changed.loc[("drop_empty", "m"), "change"] == pytest.approx(-1 / 6)
    assert changed.loc[("drop_empty", "n"), ["change", "low", "high", "rank_change"]].tolist() == [0, 0, 0, 0]
    assert moves.loc["drop_empty", "change"] == pytest.approx(-1 / 12) and set(moves["moved"]) == {0}
    assert "paper" not in moves.index and moves.loc["drop_empty", "tau"] == 1.0


def test_models_must_have_been_asked_the_same():
    other = Scored("n", "binary", ("a", "b", "c"), scored().hits)
    with pytest.raises(ValueError, match="not asked the same templates of binary"):
        mean_scores({"m": [scored()], "n": [other]})


def test_equal_scores_share_the_better_rank():
    assert model_ranks([0.1, 0.3, 0.3, 0.2]).tolist() == [4, 1, 1, 3]
    assert model_ranks([[1, 2], [2, 1]]).tolist() == [[2, 1], [1, 2]]


def test_figures_of_completions_by_hand():
    said = Completions(("0", "1", "2"), ("he is a ", "she is a", "he is a "), tuple(map(tuple, TEXTS)))
    rows = artefacts.per_template(said, scored())
    assert rows[["hits", "empty", "digit", "words", "distinct", "first_words"]].iloc[0].tolist() == [2, 1, 0, 4, 2, 2]
    assert rows["space"].tolist() == [True, False, True]
    figures = artefacts.model_figures("m", [rows, rows])
    assert [figures[name] for name in ("hits", "empty_share", "words")] == pytest.approx([6, 1 / 3, 1.5])
    digits = Completions(said.ids, said.prompts, ((" 4 of", "a"), ("b", "7"), ("c", "")))
    assert artefacts.per_template(digits, scored())["digit"].tolist() == [1, 1, 0]
    assert artefacts.overlaps({"a": [said] * 2, "b": [digits, said]})["overlap"].tolist() == [0, 2]


def test_facts_of_templates_and_lexicon():
    rows = [("the man", "male"), ("they", "female"), ("they", "male"), ("he", "male"), ("he", "male")]
    frame = pd.DataFrame([{"text": f"{i} is", "identity": i, "category": c} for i, c in rows])
    facts = artefacts.template_facts(frame)
    assert list(facts.values()) == [5, 2, 3, 1, 5, 2]  # two are repeated, one identity of both, "he" in "the", "they"
    assert list(artefacts.lexicon_facts(["a", "a", "★"], erase).values()) == [3, 2, 1]


def test_directions_of_the_released_models_by_hand():
    models = {}
    for name, about in released_models().items():
        if about.in_table:
            hits = np.zeros((8, 4), dtype=bool)
            hits[: 6 if about.family in paper.LEADERS else 2] = True
            models[name] = [Scored(name, "binary", tuple("abcdefgh"), {"paper": hits, "audited": ~hits})]
    made = hurtfulness.directions(models, mean_scores(models, samples=50))
    means = made.groupby(["claim", "rules"])["estimate"].agg(["min", "max"])
    assert means.loc[("004-02j", "paper")].tolist() == [0.5, 0.5]
    assert means.loc[("004-02k", "audited")].tolist() == [-0.5, -0.5]
    assert means.loc[("004-05a", "paper")].tolist() == [0, 0]


def test_conclusions_by_hand():
    facts = pd.DataFrame({"what": [paper.AGREEING, "numbers", paper.RANKED, "rows"], "value": [3, 4, 1, 2]})
    made = {
        "facts": facts,
        "printed": pd.DataFrame({"model": ["GPT2"]}),
        "overlaps": pd.DataFrame({"completions": [100]}),
        "directions": pd.DataFrame(
            [("004-02j", "paper", "a", "b", 0.2, 0.1, 0.3), ("004-02j", "audited", "a", "b", -0.2, -0.3, 0.1)],
            columns=["claim", "rules", "first", "second", "estimate", "low", "high"],
        ),
    }
    rows = concluded(hurtfulness.conclusions(made))
    single = rows[rows["claim"] != "004-02j"].set_index("claim")
    assert single.loc[["004-01a", "004-01b", "004-18a"], "estimate"].tolist() == [3, 1, 100]
    pair = rows[rows["claim"] == "004-02j"]
    assert pair["counted"].tolist() == ["paper's rules", "audited rules"]
    assert pair["verdict"].tolist() == ["agrees", "undecided"]
    assert hurtfulness.conclusions(dict.fromkeys(made, pd.DataFrame())).empty


def test_a_place_among_the_recorded_models_is_given_for_as_many_completions():
    recorded = pd.DataFrame({"model": ["x", "y"], "rules": "audited", "mean": [0.9, 0.01], "ranks": 2})
    own = overview(two(), mean_scores(two(), samples=20))
    made = {"own": own, "table1": recorded}
    for table, place in ((recorded, "2 of 3"), (recorded.assign(ranks=100), "–")):
        shown = hurtfulness.beside(made | {"table1": table}, comparable=True)
        assert shown["Place"].tolist() == [place] * 2 and "Printed" not in shown  # neither is a model of the paper
    assert "Place" not in hurtfulness.beside(made, comparable=False)
    names = dict(zip(own["model"].unique(), ["llama2-70b", "mine"], strict=True))
    same = {"own": own.assign(model=own["model"].map(names)), "table1": recorded}
    assert hurtfulness.beside(same, comparable=True)["Printed"].tolist() == [paper.as_printed("LLAMA2 70b"), "–"]
    assert "Printed" not in hurtfulness.beside(same, comparable=False)
    sentence = text.hurtfulness_answer({"table1": pd.DataFrame(), "own": own.assign(templates=5)})
    assert sentence.startswith("Of 2 models, m names a word of the lexicon most often, in 75.0 of 100 completions")


def test_the_release_needs_its_data(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBEKIT_DATA", str(tmp_path))
    with pytest.raises(ProbeError):
        hurtfulness.tables(Page("41_hurtfulness", complete("41_hurtfulness", {"out": str(tmp_path)})), [])


def test_where_nothing_hurts_the_interval_is_exact():
    exact = hurtfulness.run_rows({name: [many(name, NOTHING)] for name in "ab"})
    assert (exact["mean"] == 0).all() and (exact["low"] == 0).all() and exact["high"].min() > 0.05


@pytest.mark.parametrize(
    ("texts", "templates", "said"),
    [
        ([NOTHING] * 2, 2, "Nothing can be said from 2 templates"),
        ([NOTHING] * 2, 5, "All 2 models name a word of the lexicon in 0.0 of 100 completions."),
        ([TEXTS, NOTHING, NOTHING], 5, "; 2 do so least often, in 0.0 of 100 completions."),
        (
            [TEXTS, [["nice", "day"], ["fool", "day"], ["nice", "day"]]],
            5,
            "Of 2 models, a names a word of the lexicon most",
        ),
    ],
)
def test_a_tie_is_told_and_nothing_of_few_templates(texts, templates, said):
    own = hurtfulness.run_rows({name: [scored(name, rows)] for name, rows in zip("abc", texts, strict=False)})
    assert said in text.run_answer(own.assign(templates=templates))


def test_two_models_of_ones_own_are_compared_on_the_same_draws():
    other = [["nice", "nice"], ["fool", "nice"], ["nice", "nice"]]
    both = {"a": [many("a", TEXTS)], "b": [many("b", other)]}
    found, table = hurtfulness.against(both), hurtfulness.run_rows(both)
    for row in found.to_dict("records"):
        means = by_model(table, row["rules"])["mean"]
        assert row["difference"] == pytest.approx(means["a"] - means["b"]) and row["first"] == "a"
        assert row["low"] <= row["difference"] <= row["high"]
    assert set(found["rules"]) == set(table["rules"]) and found["difference"].max() > 0
    assert hurtfulness.against({"a": [scored("a")]}).empty and hurtfulness.against(both | {"c": [scored("c")]}).empty
