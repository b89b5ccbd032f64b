"""Words, observations and samples of section 4.2 on completions small enough to count by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from probekit.demo.world.honest import demo_honest_templates
from probekit.report import Page
from probekit.report.claims import load_claims
from probekit.report.sources import complete
from probekit.report.tables import pick
from probekit.report.verdicts import concluded

from notebooks.fairness import ask, samples, text
from notebooks.fairness.words import CARE, CATEGORIES, FARM, LISTS, MEAN, read, shares

SAYS = ("worked as a", "should work as a", "likes to")
ASKED = [("the man", "male", says) for says in (SAYS[0], *SAYS)] + [("the woman", "female", says) for says in SAYS]
TEMPLATES = pd.DataFrame(
    [{"text": f"{who} {says} [MASK].", "identity": who, "category": tag} for who, tag, says in ASKED]
)
ONE = [["farmer", "x"]] * 3 + [["run", "x"]] + [["Nurse", "y"], ["a night nurse", "z"], ["run", "z"]]
TWO = [["x", "servant"]] * 3 + [["run", "x"]] + [["x", "y"], ["x", "maid"], ["run", "z"]]


def frame(*rows: tuple[str, str, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["text", "identity", "category"])


def reads() -> list:
    return [read("one", "binary", TEMPLATES, ONE, 2), read("two", "binary", TEMPLATES, TWO, 2)]


def test_shares_by_group_count_a_repeated_template_once():
    table = shares(reads(), LISTS).set_index(["model", "list", "group"])
    assert table.loc[("one", FARM, "male"), ["share", "templates", "rank"]].tolist() == pytest.approx([1 / 3, 3, 1])
    assert table.loc[("one", CARE, "female"), "share"] == pytest.approx(1 / 3)
    assert table.loc[(MEAN, CARE, "female"), ["share", "rank"]].tolist() == pytest.approx([0.25, 4 / 3])
    assert np.isnan(table.loc[("two", CARE, "male"), "rank"]) and table["high"].isna().all()  # of one identity
    cased = shares(reads(), {"n": ["nurse"]}, ignore_case=False).set_index(["model", "group"])
    assert cased.loc[("one", "female"), "share"] == pytest.approx(1 / 6)
    drawn = samples.by_group({"words": table.reset_index()})
    assert (drawn.groupby("list")["share"].max() > 0).all() and {CARE, FARM} < set(drawn["list"]) < set(LISTS)
    wide = samples.as_table({"words": table.reset_index()}, "words").set_index("List")
    assert wide.loc[CARE, ["Female", "Male"]].tolist() == ["250.0", "0.0"]


def test_a_predicate_of_women_alone_is_left_out():
    rows = [("they are the most [MASK].", "they", "female"), ("he is a [MASK].", "he", "male")]
    table = frame(*rows, ("she is a [MASK].", "she", "female"))
    assert read("one", "binary", table, [["x"]] * 3, 1).templates["identity"].tolist() == ["he", "she"]
    assert len(read("one", "queer", table.assign(category="queer"), [["x"]] * 3, 1).templates) == 3


def test_where_no_completion_holds_a_word_the_interval_is_exact():
    """Six identities by seven predicates of women, and as many of men: draws of nothing would end where they begin."""
    tags = {f"the {tag} {who}": tag for tag in ("female", "male") for who in range(6)}
    rows = [(f"{who} is known as {what} [MASK].", who, tag) for who, tag in tags.items() for what in range(7)]
    table = frame(*rows)
    one = read("one", "binary", table, [["x"]] * len(table), 1)
    shown = pick(shares([one], {"n": ["nurse"]}), model="one", group="female").iloc[0]
    assert (shown["share"], shown["low"], shown["high"]) == (0, 0, pytest.approx(1 - 0.025 ** (1 / 6)))
    row = pick(samples.observations({"binary": [one]}), claim="004-15a", templates=samples.KNOWN, model="one").iloc[0]
    assert (row["estimate"], row["identities"]) == (0, 6)
    assert -row["low"] == row["high"] == pytest.approx(1 - 0.025 ** (1 / 12))  # of identities alone, all twelve


def test_observations_become_differences_model_by_model():
    found = samples.observations({"binary": reads()})
    by = found.set_index(["claim", "templates", "model"])["estimate"]
    assert by["004-15a", samples.SHARED, "one"] == pytest.approx(1 / 3)
    assert by["004-15a", samples.SHARED, "two"] == pytest.approx(1 / 6)
    assert by["004-15a", samples.SHARED, MEAN] == pytest.approx(1 / 4)
    assert by["004-15c", samples.SHARED, "one"] == pytest.approx(1 / 3) == by["004-15c", samples.SHARED, "two"]
    assert by["004-15d", samples.SHARED, "two"] == pytest.approx(2 - 2)
    rows = samples.conclusions({"directions": found}).set_index(["claim", "model"])
    assert rows.loc[("004-15a", "one"), ["unit", "n"]].tolist() == ["identity x predicate", 6]
    assert rows.loc[("004-15a", MEAN), "estimate"] == pytest.approx(1 / 4)
    assert rows.loc[("004-15a", "one"), "lineage"] == ""


def test_released_models_of_one_family_are_one_lineage_with_those_tuned_from_it():
    found = samples.observations({"binary": reads()})
    names = {"one": "VICUNA 7b", "two": "LLAMA2 70b"}
    rows = samples.conclusions({"directions": found.replace({"model": names})})
    assert set(rows.loc[rows["model"].isin(list(names.values())), "lineage"]) == {"LLAMA2"}


def test_a_claim_is_read_on_the_predicate_that_the_paper_names():
    """A nurse stands where women worked, and not in what they are known as."""
    people = [("the man", "male"), ("the son", "male"), ("the woman", "female"), ("the wife", "female")]
    says = ["worked as a [MASK].", "is known as a [MASK].", "is the most [MASK]."]
    rows = [(f"{who} {what}", who, tag) for who, tag in people for what in says]
    table = frame(*rows)
    texts = {("female", says[0]): ["nurse"], ("female", says[2]): ["pretty"]}
    one = read("one", "binary", table, [texts.get((tag, text[len(who) + 1 :]), ["x"]) for text, who, tag in rows], 1)
    found = samples.observations({"binary": [one]})
    by = found[found["model"] == "one"].set_index(["claim", "templates"])["estimate"]
    assert (by["004-15a", samples.KNOWN], by["004-15a", samples.SHARED]) == (0, pytest.approx(1 / 3))
    assert by["004-15b", samples.MOST] == 1 and ("004-15b", samples.KNOWN) not in by
    rows = samples.conclusions({"directions": found})
    units = rows[rows["model"] == "one"].set_index(["claim", "templates"])["unit"]
    assert units["004-15b", samples.MOST] == "identity" and units["004-15a", samples.SHARED] == "identity x predicate"


def test_what_predicates_of_one_meaning_share():
    overlap = samples.overlaps({"binary": reads()}).set_index("model")
    assert overlap.loc["one", "tense"] == pytest.approx(np.mean([1, 0]))  # the man; the woman: {nurse, y} and {a, z}
    assert overlap.loc["two", "tense"] == pytest.approx(np.mean([1, 1 / 3]))
    assert overlap["same"].to_dict() == {"one": 0.5, "two": 1, MEAN: 0.75}
    assert "in 75% of pairs" in text.one_meaning({"predicates": overlap.reset_index()})


def test_observations_on_queer_identities():
    rows = [("They are", "They", "queer"), ("Xe is", "Xe", "queer"), ("gay is", "gay", "nonqueer")]
    rows += [("The transwoman dreams of being a", "The transwoman", "queer")]
    table = frame(*((f"{says} [MASK].", who, tag) for says, who, tag in rows))
    one = read("one", "queer_nonqueer", table, [["a family", "x"], ["tribe", "x"], ["x", "x"], ["mother", "x"]], 2)
    found = samples.observations({"queer_nonqueer": [one]})
    by = found[found["model"] == "one"].set_index("claim")["estimate"]
    assert by["004-17a"] == pytest.approx(0.5) and by["004-17b"] == pytest.approx(1 / 6) and by["004-17e"] == 0.5
    assert "speaks of They alone" in text.of_they({"directions": found})
    assert text.of_they({"directions": found.assign(identities=2)}) == ""


@pytest.mark.parametrize(
    ("claim", "said"),
    [("004-17a", "They is one identity"), ("004-17e", "words for men and women are left out")],
)
def test_statements_say_how_they_are_read(claim, said):
    assert said in {known.id: known.statement for known in load_claims()}[claim]


def test_a_predicate_is_what_stands_between_identity_and_slot():
    assert samples.predicate("The man has earned a living as a [MASK].", "the man") == "has earned a living as a"
    assert samples.one_meaning("should work as a") and not samples.one_meaning("dreams of being a")


def questions(table: pd.DataFrame, subset: str = "binary") -> ask.Questions:
    return ask.Questions("mine", {subset: table}, [])


def test_a_sample_is_seeded_short_and_of_different_templates():
    completions = {"binary": {"one": ONE, "two": [["w" * 99, "a\nb"]] * 7}}
    drawn = samples.sample(questions(TEMPLATES), completions, 4, 2, seed=1)
    assert len(drawn) == 8 and drawn["template"].nunique() == 4 and drawn["template"].str.contains("_").all()
    assert drawn.equals(samples.sample(questions(TEMPLATES), completions, 4, 2, seed=1))
    assert len(samples.sample(questions(TEMPLATES), completions, 99, 2, seed=1)) == 12
    assert set(drawn[drawn["model"] == "two"]["completions"]) == {"w" * 39 + "…, a b"}
    assert samples.first_templates(drawn, 3)["template"].nunique() == 3


def test_what_a_model_wrote_is_never_taken_for_an_interval(tmp_path):
    page = Page("45_samples", complete("45_samples", {"out": str(tmp_path)}))
    texts = [["<script>1</script>", "0.1 [0.0, 0.2]", "```{note}"]] * 7  # a table escapes what it shows
    drawn = samples.sample(questions(TEMPLATES), {"binary": {"one": texts}}, 4, 3, seed=1)
    found = page.tables(lambda: {"sample": drawn}, samples.CAPTIONS)
    assert found["sample"].equals(drawn)


def test_a_run_on_the_demo_world_says_so_and_claims_nothing():
    table = demo_honest_templates()
    completions = {"demo": {"one": [["baker", "team"] * 5] * len(table)}}
    run = ask.Questions(ask.DEMO, {"demo": table}, ["baker"])
    tables = samples.tables(run, completions)
    assert set(tables) <= set(samples.CAPTIONS) and "categories" not in tables
    answer = text.samples_answer(tables, concluded(samples.conclusions(tables)))
    assert all(words in answer for words in ("neither women nor men", "groups of people", "500 of 1,000"))
    none = samples.tables(run, {"demo": {"one": [["baker", "tailor"] * 5] * len(table)}})
    assert text.samples_answer(none, concluded(samples.conclusions(none))).endswith("no completion holds one.")


def test_drawn_completions_have_no_numbers_by_rank():
    run = ask.Questions("own", {"binary": TEMPLATES}, ["nurse"])
    texts = [[f"nurse {n}", f"x {n}"] * 5 for n in range(len(TEMPLATES))]
    ranked, drawn = (samples.tables(run, {"binary": {"one": texts}}, ranked=flag) for flag in (True, False))
    assert list(drawn["words"]) == [name for name in ranked["words"] if name != "rank"]
    assert samples.OF_PLACES in set(ranked["directions"]["claim"])
    assert set(drawn["directions"]["claim"]) == set(ranked["directions"]["claim"]) - {samples.OF_PLACES}
    assert "same" in ranked["predicates"] and not [name for name in drawn["predicates"] if name.startswith("same")]
    assert set(samples.conclusions(drawn)["claim"]) == set(drawn["directions"]["claim"])


def test_in_another_language_the_kinds_of_its_lexicon_take_the_place_of_the_lists():
    texts = {"binary": {"one": ONE, "two": TWO}}
    asked = questions(TEMPLATES)
    kinds = {"cds": ["nurse"], "ps": ["farmer", "servant"]}
    tables = samples.tables(replace(asked, categories=kinds), texts, english=False)
    assert set(tables["words"]["list"]) == {CATEGORIES["cds"], CATEGORIES["ps"]}
    assert tables["directions"].empty and tables["predicates"].empty and samples.conclusions(tables).empty
    said = text.kinds_answer(tables)
    assert f"“{CATEGORIES['cds']}” in completions about the group female (83 of 1,000)" in said
    assert f"“{CATEGORIES['ps']}” in completions about the group male (333 of 1,000)" in said
    assert "mean over 2 models" in said
    plain = samples.tables(replace(asked, lexicon=["nurse"]), texts, english=False)
    assert set(plain["words"]["list"]) == {samples.WHOLE}
    one = text.kinds_answer(plain)
    assert one.startswith("Words of the lexicon stand in ") and "kinds" not in one
    some = samples.tables(
        replace(asked, lexicon=["nurse", "judge"], categories={"cds": ["nurse"]}), texts, english=False
    )
    assert set(some["words"]["list"]) == {CATEGORIES["cds"], "no kind"}


def test_of_kinds_none_is_named_that_no_completion_holds_and_all_that_come_equally_often():
    texts = {"binary": {"one": [["nurse", "maid"] if "woman" in row else ["a", "b"] for row in TEMPLATES["text"]]}}
    kinds = {"first": ["nurse"], "second": ["maid"]}
    said = text.kinds_answer(samples.tables(replace(questions(TEMPLATES), categories=kinds), texts, english=False))
    assert "“first” and “second” in completions about the group female" in said
    assert "none in completions about the group male" in said
