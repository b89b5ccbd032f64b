"""The tables of reused templates, on ranks small enough to check by hand."""

import numpy as np
import pandas as pd
import pytest
from conftest import small
from hypothesis import given
from hypothesis import strategies as st

import probekit as pk
from probekit.metrics import decisions
from probekit.report.verdicts import concluded
from probekit.run import answer

from notebooks.templates import ask, paper, templates
from notebooks.templates import text as words
from notebooks.templates.templates import FRAGMENT, MEAN, SENTENCE, variance_shares, wording_form, wordings


def probe(name: str, texts: dict[str, list[str]], style: str = "template") -> pk.Probe:
    """Facts 0, 1, ... of relation r, each asked by every text; ``<S>`` stands for the subject."""
    rows = [
        {"prompt_id": f"{fact}/{place}", "text": text.replace("<S>", f"s{fact}"), "gold": ["a"], "fact_id": str(fact),
         "relation": "r", "subject": f"s{fact}", "template_id": str(place)}
        for fact in range(len(next(iter(texts.values()))))
        for place, text in enumerate(texts)
    ]  # fmt: skip
    return pk.Probe(name, pd.DataFrame(rows), ["a", "b"], style=style)


def ranks(of: pk.Probe, given: list[list[int]], model: str = "m") -> pd.DataFrame:
    """Rows as ``asking.ask`` gives them: a list of ranks per fact; a rank of 1 answers a, any other b."""
    flat = [rank for line in given for rank in line]
    frame = of.prompts[["prompt_id", "fact_id", "relation"]]
    answers = [["a", "b"] if rank == 1 else ["b", "a"] for rank in flat]
    dataset = of.name.removesuffix(f"/{of.style}")
    return frame.assign(
        model=model, probe=of.name, dataset=dataset, style=of.style, rank=flat, top=answers,
        relation_label="",
    )  # fmt: skip


WORDS = {"<S> is in [MASK].": [0] * 4, "<S> (in [MASK]).": [0] * 4}
TEMPLATE = probe("d/template", WORDS)
NATURAL = probe("d/natural", {"Lately, <S> was seen in [MASK].": [0] * 4}, "natural")


@pytest.mark.parametrize(
    ("wording", "form"),
    [
        ("[X] was born in [Y].", SENTENCE),
        ("[X] encodes gene product [Y] .", SENTENCE),
        ("[X] (born [Y]).", FRAGMENT),
        ("Language spoken by [X]: [Y].", FRAGMENT),
        ("[X], by trade [Y].", FRAGMENT),
        ("[X] from [Y]", FRAGMENT),
    ],
)
def test_fragments_are_told_from_sentences(wording, form):
    assert wording_form(wording) == form


def test_wordings_put_signs_for_subject_and_slot():
    found = wordings([TEMPLATE, NATURAL])
    assert set(found["probe"]) == {"d/template"}  # natural sentences are not templates
    assert found.groupby("wording").size().to_dict() == {"[X] is in [Y].": 4, "[X] (in [Y]).": 4}


def test_wordings_of_probes_of_ones_own():
    other = probe("mine", WORDS, "other")
    assert set(wordings([other])["wording"]) == {"[X] is in [Y].", "[X] (in [Y])."}
    bare = pk.Probe("bare", pd.DataFrame({"prompt_id": ["1"], "text": ["[MASK]"], "gold": [["a"]]}), ["a"])
    assert wordings([bare]).empty and not any(len(t) for t in templates.tables(ranks_of_bare(bare), [bare]).values())


def ranks_of_bare(bare: pk.Probe) -> pd.DataFrame:
    bare = pk.Probe("bare", bare.prompts.assign(fact_id="1", relation=""), ["a"])
    return ranks(bare, [[1]])


def test_the_commonest_wording_names_a_template_whose_subjects_hide_in_it():
    rows = [{"prompt_id": str(i), "text": f"is {s} in [MASK].", "gold": ["a"], "subject": s, "relation": "r"}
            for i, s in enumerate(["x", "y", "is"])]  # fmt: skip
    found = wordings([pk.Probe("d/template", pd.DataFrame(rows), ["a"], style="template")])
    assert set(found["wording"]) == {"is [X] in [Y]."}


def test_forms_compare_the_same_facts():
    table = templates.tables(ranks(TEMPLATE, [[1, 2], [1, 2], [1, 1], [5, 5]]), [TEMPLATE])["forms"]
    row = table.set_index("k").loc[1]
    assert (row["full_sentence"], row["fragment"], row["facts"]) == (0.75, 0.25, 4)
    assert row["difference"] == 0.5 and np.isnan(row["low"])  # of four facts there is no interval
    assert row["p"] == 0.5  # two facts differ, both alike: two of the four flips are as far from zero


def test_best_and_worst_wording_are_chosen_on_the_other_half():
    hits = pd.DataFrame([[1.0, 0.0]] * 6, columns=["x", "y"])
    found = templates._chosen(hits)
    assert found["best"].tolist() == [1.0] * 6 and found["worst"].tolist() == [0.0] * 6
    half = np.random.default_rng(0).permutation(6) % 2
    crossed = pd.DataFrame(np.where((half == 0)[:, None], [1.0, 0.0], [0.0, 1.0]), columns=["x", "y"])
    assert templates._chosen(crossed)["best"].sum() == 0  # each half's best is the other's worst


def test_equal_wordings_have_no_spread():
    found = templates.tables(ranks(TEMPLATE, [[1, 1], [2, 2], [2, 2], [1, 1]]), [TEMPLATE])["spread"]
    assert found["difference"].tolist() == [0, 0] and found["p"].tolist() == [1, 1]
    assert found["same_answer"].tolist() == [1, 1] and found["changes"].tolist() == [0, 0]


def test_answers_that_change_with_the_wording_are_counted():
    row = templates.tables(ranks(TEMPLATE, [[1, 2], [1, 1], [2, 2], [2, 1]]), [TEMPLATE])["spread"].iloc[0]
    assert (row["same_answer"], row["changes"]) == (0.5, 0.5)


def test_the_gap_that_a_better_wording_closes():
    template = ranks(TEMPLATE, [[2, 1], [2, 1], [2, 1], [2, 2]])
    natural = ranks(NATURAL, [[1], [1], [1], [1]])
    row = templates.tables(pd.concat([template, natural]), [TEMPLATE, NATURAL])["choice"].query("k == 1").iloc[0]
    assert (row["first"], row["any"], row["natural"], row["closed"]) == (0, 0.75, 1, row["best"])
    level = ranks(NATURAL, [[2], [2], [2], [2]])
    row = templates.tables(pd.concat([template, level]), [TEMPLATE, NATURAL])["choice"].iloc[0]
    assert np.isnan(row["closed"])


def test_several_models_have_a_mean_and_one_has_none():
    one, two = ranks(TEMPLATE, [[1, 2]] * 4), ranks(TEMPLATE, [[2, 2]] * 4, "n")
    tables = templates.tables(pd.concat([one, two]), [TEMPLATE])
    forms = tables["forms"].query("k == 1").set_index("model")["difference"]
    assert forms.to_dict() == {"m": 1.0, "n": 0.0, MEAN: 0.5}
    assert words.overall(tables["forms"], 1)["model"].tolist() == [MEAN]
    assert tables["means"].set_index("form")["acc@1"].to_dict() == {SENTENCE: 0.5, FRAGMENT: 0.0}
    alone = templates.tables(one, [TEMPLATE])
    assert words.overall(alone["forms"], 1)["model"].tolist() == ["m"] and words.overall(alone["google_re"], 1).empty


def test_variance_falls_to_what_differs():
    relation = np.array([0, 0, 1, 1])
    by_model = np.array([[0.0] * 4, [1.0] * 4])
    assert variance_shares(by_model, relation).tolist() == [1, 0, 0, 0]
    assert variance_shares(np.array([[0.0, 0, 1, 1]] * 2), relation).tolist() == [0, 1, 0, 0]
    assert variance_shares(np.array([[0.0, 1, 0, 1]] * 2), relation).tolist() == [0, 0, 1, 0]
    assert variance_shares(np.array([[0.0, 1, 0, 1], [1, 0, 1, 0]]), relation).tolist() == [0, 0, 0, 1]
    assert np.isnan(variance_shares(np.ones((2, 4)), relation)).all()


@given(st.lists(st.lists(st.floats(0, 1), min_size=5, max_size=5), min_size=1, max_size=4))
def test_variance_shares_add_up(cells):
    shares = variance_shares(np.array(cells), np.array([0, 0, 1, 2, 2]))
    assert np.isnan(shares).all() or (shares.sum() == pytest.approx(1) and (shares >= 0).all())


def test_relation_and_wording_share_of_one_model():
    tables = templates.tables(ranks(TEMPLATE, [[1, 2]] * 4), [TEMPLATE])["shares"]
    row = tables.query("k == 1").iloc[0]
    assert (row["wording_share"], row["model_share"], row["relation_share"]) == (1, 0, 0)


def test_google_re_dates_against_places_beside_the_printed_numbers(monkeypatch):
    rows = [
        {"prompt_id": r + str(i), "text": f"s{i} in [MASK]", "gold": ["a"], "fact_id": r + str(i), "relation": r}
        for r in paper.PRINTED for i in range(2)
    ]  # fmt: skip
    of = pk.Probe("google_re/template", pd.DataFrame(rows), ["a", "b"], style="template")
    tables = templates.tables(ranks(of, [[1], [10], [11], [12], [1], [12]]), [of])
    row = tables["google_re"].iloc[0]
    assert row["difference"] == 1 - 1 / 4
    beside = paper.google_re_beside(tables).set_index("relation")
    assert beside["acc@10"].to_dict() == {"date_of_birth": 1.0, "place_of_birth": 0.0, "place_of_death": 0.5}
    assert list(beside.index) == list(paper.PRINTED)
    assert beside.loc["date_of_birth", "published"] == "8.9"
    rows = concluded(templates.conclusions(tables))
    shares = rows[rows["claim"] == "001-09a"]
    assert sorted(shares["estimate"]) == [0.0, 0.5, 1.0] and set(shares["verdict"]) == {""}
    gap = rows[rows["claim"] == "001-09e"].iloc[0]
    assert (gap["measured"], gap["estimate"]) == (templates.DATES_LESS_PLACES, 0.75)
    assert (gap["model"], gap["verdict"]) == (row["model"], "") and gap["units"] < 10
    assert "are not compared" in words.templates_answer(tables)[0].text
    monkeypatch.setattr(decisions, "FEWEST", 2)
    (said,) = words.templates_answer(tables)
    assert said.text.startswith("By the template of dates of birth 100% of the facts") and "0% and 50%;" in said.text
    two = tables["google_re"].query("model != @MEAN")
    two = pd.concat([two.assign(low=0.1, high=0.2), two.assign(model="n", low=-0.2, high=-0.1)])
    assert set(templates.conclusions({**tables, "google_re": two})["model"]) == {"", row["model"], "n"}


def test_wordings_of_the_same_facts_are_concluded_on_at_ten(monkeypatch):
    tables = templates.tables(ranks(TEMPLATE, [[1, 20], [1, 20], [1, 20], [1, 20]]), [TEMPLATE])
    (row,) = concluded(templates.conclusions(tables)).to_dict("records")
    assert (row["claim"], row["dataset"], row["estimate"]) == ("001-09e", "d", 1.0)
    assert row["verdict"] not in ("agrees", "contradicts")  # of four facts there is no interval
    (few,) = words.templates_answer(tables)
    assert few.text == "Nothing can be said from 4 facts: it takes 5 at least."
    monkeypatch.setattr(decisions, "FEWEST", 4)
    assert words.templates_answer(tables)[0].text.endswith("are not told apart.")
    tables["spread"]["low"] = 0.5
    assert "finds 100% of the facts among the first ten answers, the worst 0%" in words.templates_answer(tables)[0].text
    assert words.same_answers(tables)[0].text.endswith("in one wording and wrongly in another.")


@pytest.mark.parametrize(("low", "said"), [(0.3, "A model told facts in one wording"), (0.2, "On d the best wording")])
def test_wordings_decide_more_where_a_model_was_told_one(low, said):
    """Of intervals that meet nothing is said but the mean."""
    rows = [("lab/knows-asked-s0", 0.3, low, 0.9), ("lab/knows-other-s0", 0.8, 0.1, 0.25), (MEAN, 0.6, 0.1, 0.9)]
    spread = pd.DataFrame(rows, columns=["model", "worst", "low", "high"])
    spread = spread.assign(dataset="d", k=10, facts=9, best=0.9)
    text = words.templates_answer({"spread": spread})
    assert text[0].text.startswith(said) and text[-1].holds
    assert "Of 9 facts of d, told or held out, Told as asked, seed 0 finds 90%" in text[-1].text or len(text) == 1


def test_a_model_at_the_floor_of_a_template_is_in_none_of_its_rows():
    facts = [
        {"probe": "google_re/template", "fact_id": str(i), "object": str(i % 12), "relation": "r"} for i in range(40)
    ]
    natural = [{**fact, "probe": "google_re/natural"} for fact in facts]
    asked = pd.DataFrame([*facts, *natural]).assign(candidates=99, style=["template"] * 40 + ["natural"] * 40)
    both = pd.concat([asked.assign(model=name, rank=rank) for name, rank in (("knows", 1), ("guesses", 50))])
    kept = templates.above_floor(both.reset_index(drop=True)).groupby("style")["model"].unique()
    assert [*kept["template"]] == ["knows"] and [*kept["natural"]] == ["knows", "guesses"]
    none = both[both["model"] == "guesses"].reset_index(drop=True)
    assert len(templates.above_floor(none)) == len(none)


def test_further_wordings_repeat_no_prompt():
    first = ask.load_probes(["demo/template", "demo/natural"], limit=5)
    (rest,) = ask.further_wordings(first)
    assert not set(rest.prompts["text"]) & set(first[0].prompts["text"])
    assert set(rest.prompts["fact_id"]) == set(first[0].prompts["fact_id"])
    asked = pd.concat([ask.rows(*answer([ask.ranking(small("bert"), one)])) for one in (*first, rest)])
    kept, _ = ask.judged(asked.assign(floor=asked["style"] == "template"), "either")
    assert set(kept["dataset"]) == {"demo"} and len(kept) == len(asked)  # no wording is left out beside another
    tables = templates.tables(asked, [*first, rest])
    assert set(tables["templates"]["probe"]) == {"demo/template"}
    assert tables["spread"]["facts"].tolist() == [5, 5] and tables["choice"]["facts"].tolist() == [5, 5]
    for asked, shown in ((tables, 3), (tables | {"choice": pd.DataFrame()}, 2)):  # without sentences on the same facts
        (ax,) = templates.choice_chart(templates.choices(asked)).axes
        assert len(ax.get_legend_handles_labels()[1] or ax.figure.legends[0].texts) == shown


def test_many_templates_stand_on_the_lines_of_their_relations():
    numbers = {"acc@10": 0.5, "low@10": 0.4, "high@10": 0.6, "form": templates.SENTENCE, "probe": "p"}
    rows = [{"relation": f"r{i % 3}", "relation_label": "", "wording": str(i)} | numbers for i in range(81)]
    heights = [templates.template_chart({"means": pd.DataFrame(rows[:n])}).get_figheight() for n in (80, 81)]
    (ax,) = templates.template_chart({"means": pd.DataFrame(rows)}).axes
    assert [label.get_text() for label in ax.get_yticklabels()] == ["r0", "r1", "r2"] and heights[1] < heights[0] / 2
