"""The tables of the rankings section, on ranks small enough to check by hand."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_accuracy import ranks

from probekit.metrics import bootstrap_ci, fact_hits, holm, interval, joint_accuracy, split_halves
from probekit.probes.halves import HELD_OUT, TAUGHT
from probekit.report.verdicts import concluded

from notebooks.templates import ask, facts_of_medlama, rankings
from notebooks.templates import text as words
from notebooks.templates.rankings import OTHER, SAME, pairings

GENERAL, TUNED, BIO = "general", "biomedical fine-tuned", "biomedical"
RIGHT, WRONG = 1, 99


def asked(shares: dict[str, tuple[int, int]], facts: int = 40, **columns) -> pd.DataFrame:
    """Every model right on so many of the facts by template and on so many in natural sentences."""
    parts = []
    for model, right in shares.items():
        for style, count in zip(("template", "natural"), right, strict=True):
            own = [RIGHT] * count + [WRONG] * (facts - count)
            parts.append(ranks(style, own, **{"model": model, "domain": "general", **columns}))
    return pd.concat(parts, ignore_index=True)


def tables(table: pd.DataFrame, candidates: int = 100, **categories: str) -> dict[str, pd.DataFrame]:
    models = dict.fromkeys(table["model"], GENERAL)
    return rankings.tables(table.assign(candidates=candidates, object=table["fact_id"]), models | categories)


def conclusions(found: dict[str, pd.DataFrame], claim: str = "") -> pd.DataFrame:
    rows = concluded(rankings.conclusions(found))
    return rows[rows["claim"] == claim] if claim else rows


def answer(found: dict[str, pd.DataFrame]) -> str:
    said = words.rankings_answer(found, rankings.conclusions(found), rankings.doses(found))
    return " ".join(one.text for one in said if one.holds)


def test_facts_are_counted_once_for_all_models_and_probes():
    table = pd.concat([ranks("template", [1, 2]), ranks("natural", [1, 1, 2], fact_id=["0", "0", "1"])])
    (found,) = fact_hits(table)
    assert found.probes == ("trex/template", "trex/natural") and found.models == ("m",)
    assert found.prompts.tolist() == [[1, 2], [1, 1]] and found.hits[:, :, 0].tolist() == [[1, 2], [0, 0]]
    assert found.accuracy()[:, 0].tolist() == [0.5, pytest.approx(2 / 3)]
    with pytest.raises(ValueError, match="not every model"):
        fact_hits(pd.concat([table, ranks("template", [1], model="other")]))


def test_one_draw_of_facts_serves_all_models():
    table = asked({"a": (20, 10), "b": (20, 30)})
    joint = joint_accuracy(fact_hits(table), samples=50)
    estimate, draws, units = joint.of("trex/template")
    assert units == 40  # facts of one size
    assert estimate.tolist() == [0.5, 0.5] and (draws[:, 0] == draws[:, 1]).all() and draws.std() > 0
    assert joint.of("trex/natural")[0].tolist() == [0.25, 0.75]


def test_joint_draws_are_those_of_the_plain_bootstrap():
    facts = ["0", "0", "1", "2", "3", "3", "4", "4", "5", "5", "6"]
    table = ranks("natural", [1, 2, 1, 1, 1, 9, 1, 9, 9, 9, 1], fact_id=facts)
    one = joint_accuracy(fact_hits(table), samples=300).of("trex/natural")
    alone = bootstrap_ci([1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 1], facts, samples=300)
    assert one.units == pytest.approx(alone.effective)
    assert interval(one.draws[:, 0], one.units)[:2] == pytest.approx((alone.low, alone.high))


def test_two_settings_are_compared_on_the_facts_that_both_ask():
    """Of 10 facts more, which natural sentences never ask, a alone knows the answers; of the others all know 20."""
    every = asked({"a": (20, 30), "b": (20, 10), "c": (20, 20)})
    more = [f"more {i}" for i in range(10)]
    extra = [ranks("template", [1 + 8 * (m != "a")] * 10, model=m, fact_id=more) for m in "abc"]
    found = tables(pd.concat([every, *extra]))
    assert found["ranks"].query("style == 'template'")["acc@1"].tolist() == [0.6, 0.4, 0.4]
    assert found["agreement"].query("facts == 'same facts'").empty  # a tie, not an order by facts asked in one way
    assert found["orders"][["same", "reversed", "undecided"]].to_numpy().tolist() == [[0, 0, 3]]


def test_halves_part_the_facts():
    halves = split_halves(fact_hits(ranks("natural", [1, 1, 9, 9]))[0], samples=30)
    assert halves.shape == (30, 2, 1, 1)
    assert np.allclose(halves.sum(1), 1.0) and halves.std() > 0  # two of four are right: the halves differ


def test_holm_worked_by_hand():
    assert holm([0.01, 0.04, 0.03]).tolist() == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.6, 0.5]).tolist() == [1.0, 1.0] and holm([]).tolist() == []
    with pytest.raises(ValueError, match="from 0 to 1"):
        holm([float("nan")])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_keeps_the_order_and_lies_between_raw_and_bonferroni(values):
    adjusted = holm(values)
    assert (adjusted >= values).all() and (adjusted <= np.minimum(1, np.array(values) * len(values))).all()
    assert (np.diff(adjusted[np.argsort(values)]) >= 0).all()


def test_ranks_count_from_the_best_and_ties_share_the_better_one():
    found = tables(asked({"a": (10, 30), "b": (30, 30), "c": (20, 1)}))["ranks"]
    template, natural = (found[found["style"] == style].set_index("model") for style in ("template", "natural"))
    assert template["rank"].to_dict() == {"b": 1, "c": 2, "a": 3} and list(template["next"]) == ["c", "a", ""]
    assert natural["rank"].to_dict() == {"a": 1, "b": 1, "c": 0}
    assert (template["rank_low"] <= template["rank"]).all() and (template["rank"] <= template["rank_high"]).all()
    assert template["uniform"].unique() == [0.01] and template["constant"].unique() == [0]  # all answers differ


@pytest.mark.parametrize(("right", "floor"), [(0, True), (1, True), (20, False)])
def test_a_model_at_chance_cannot_be_ranked(right, floor):
    found = tables(asked({"a": (right, 20)}))["ranks"].set_index("style")
    assert bool(found.loc["template", "floor"]) is floor and not found.loc["natural", "floor"]


def test_rankings_turned_round_agree_at_minus_one_and_are_reversed():
    found = tables(asked({"a": (36, 8), "b": (20, 20), "c": (8, 36)}))
    orders = found["orders"].iloc[0]
    assert (orders["same"], orders["reversed"], orders["undecided"]) == (0, 3, 0)
    assert "a before b by template" in orders["which_reversed"]
    between = found["agreement"].query("facts == 'same facts'").set_index("statistic")
    assert between["value"].tolist() == pytest.approx([-1, -1]) and between.loc["Spearman", "high"] < 0
    within = found["agreement"].query("facts == @rankings.HALVES")
    assert set(within["first"]) == {"trex/template", "trex/natural"} and (within["value"] > 0.9).all()


def test_two_models_have_no_rank_correlation():
    found = tables(asked({"a": (36, 8), "b": (20, 36)}))
    assert found["agreement"].empty and rankings.alike(found)["tau"].isna().all()
    assert found["orders"].iloc[0]["reversed"] == 1  # they swap all the same


def test_models_that_cannot_be_told_apart_keep_no_order():
    found = tables(asked({"a": (20, 21), "b": (21, 20)}))
    assert found["orders"].iloc[0][["same", "reversed", "undecided"]].tolist() == [0, 0, 1]
    stable = found["stability"].set_index("probe")
    assert stable.loc["trex/template", "ahead"] == "b" and 0.5 < stable.loc["trex/template", "ahead_in"] < 1


def test_models_at_the_floor_are_in_no_pair_and_no_correlation():
    found = tables(asked({"a": (30, 20), "b": (20, 30), "c": (10, 10), "d": (0, 0)}))
    values = found["agreement"].query("statistic == 'Kendall tau-b' and facts == @SAME").iloc[0]
    assert values["models"] == 3 and values["value"] == pytest.approx(1 / 3)
    assert found["orders"].iloc[0]["pairs"] == 3
    alone = tables(asked({"a": (30, 20), "c": (0, 0)}))
    assert alone["agreement"].empty and alone["orders"].iloc[0]["pairs"] == 0


def test_a_run_of_models_at_the_floor_shows_them_and_answers_nothing():
    found = tables(asked({"c": (0, 0), "d": (0, 0)}).assign(floor=True))
    assert (
        ask.nobody({"floors": found["ranks"]}) == ask.NOBODY and found["differences"].empty and len(found["ranks"]) == 4
    )
    assert words.differences(found) == [] and set(rankings.as_in_paper(found).iloc[:, 1]) == {rankings.MARK}


def test_differences_are_corrected_for_their_number():
    found = tables(asked({"a": (10, 30), "b": (20, 21)}))["differences"].set_index("model")
    assert found["difference"].to_dict() == {"a": 0.5, "b": pytest.approx(0.025)}
    assert found.loc["a", "p_holm"] == pytest.approx(2 * found.loc["a", "p"]) and found.loc["b", "p_holm"] == 1.0


def test_categories_lead_and_differ():
    found = tables(asked({"a": (30, 10), "b": (10, 10), "c": (10, 30), "d": (0, 0)}), c=BIO, d=BIO)
    leads = found["categories"].set_index(["style", "category"])
    assert leads.loc[("template", GENERAL), "acc@1"] == 0.5 and leads.loc[("template", GENERAL), "best_model"] == "a"
    assert leads.loc[("natural", BIO), "leads_in"] == 1.0 and leads.loc[("natural", GENERAL), "leads_in"] == 0.0
    gaps = found["gaps"].set_index(["style", "model"])
    assert gaps["difference"].to_dict() == {
        ("template", "a"): 0.5, ("template", "b"): 0.0, ("natural", "a"): -0.5, ("natural", "b"): -0.5
    }  # fmt: skip
    assert gaps.loc[("natural", "a"), "high"] < 0 and set(gaps["less"]) == {"c"}


def test_where_no_fact_is_asked_twice_the_settings_are_compared_over_other_facts():
    one = ranks("template", [1], domain="biomedical", probe="medlama/template", dataset="medlama")
    other = ranks("natural", [1], domain="biomedical", probe="pubmed/gene", dataset="pubmed/gene")
    assert pairings(pd.concat([one, other])) == [
        {"domain": "biomedical", "first": "medlama/template", "second": "pubmed/gene", "facts": OTHER}
    ]
    both = asked({"a": (1, 1)}, facts=2)
    assert [pair["facts"] for pair in pairings(pd.concat([both, other.assign(domain="general")]))] == [SAME]
    found = tables(pd.concat([one, other, one.assign(model="b"), other.assign(model="b")]))
    assert found["differences"].empty  # lists of other lengths decide an accuracy


def test_one_model_and_no_pairing_leave_only_what_can_be_said():
    found = tables(ranks("other", [1, 1, 9], domain="", probe="mine", dataset="mine"))
    assert len(found["ranks"]) == 1 and found["ranks"]["rank"].tolist() == [0]
    assert all(found[name].empty for name in ("agreement", "orders", "stability", "differences", "gaps"))


def test_no_table_holds_a_missing_number():
    for table in tables(asked({"a": (0, 0), "b": (0, 0), "c": (5, 9)}), c=BIO).values():
        assert not table.isna().to_numpy().any()


def test_the_answer_counts_what_keeps_and_swaps():
    swapped = answer(tables(asked({"a": (36, 8), "b": (20, 20), "c": (8, 36)})))
    kept = answer(tables(asked({"a": (40, 40), "b": (10, 10)})))
    assert swapped.startswith("Of 3 pairs of models that are ranked both ways, 3 swap between")
    assert kept.startswith("Of 1 pairs of models that are ranked both ways, 0 swap between")
    assert swapped.endswith("of 0 pairs that were told alike, or in neither style, 0 do.")
    found = tables(asked({"a": (40, 40), "b": (10, 10)}))
    few = answer(found | {"differences": found["differences"].assign(facts=4)})
    assert few == "Nothing can be said from 4 facts asked in both ways: it takes 5 at least."
    one = asked({"a": (0, 40), "b": (0, 20)}).query("style == 'natural'")
    assert answer(tables(one)).startswith("No two models") and answer(tables(one[one["model"] == "a"])) == answer(
        tables(one)
    )


def test_who_is_at_the_floor_has_no_rank_in_figure_and_table():
    found = tables(asked({"a": (36, 0), "b": (20, 20), "c": (0, 36)}))
    rows = rankings.chart_rows(found).set_index(["style", "model"])["rank"]
    assert rows.isna().to_dict() == {(s, m): (s, m) in {("template", "c"), ("natural", "a")} for s, m in rows.index}
    shown = rankings.as_in_paper(found)
    assert shown["Model"].tolist() == ["a", "b", "c"] and shown.iloc[:, 1].tolist()[2] == rankings.MARK
    assert shown.iloc[0, 1] == "1 [1,\N{NO-BREAK SPACE}1]"
    assert ask.floor_sentence(found["ranks"]).endswith(": 1 on T\u2011REx template, 1 on T\u2011REx natural.")
    assert rankings.chart_rows(tables(asked({"a": (0, 0), "b": (0, 0)}))).empty


def test_a_category_leads_only_in_half_of_the_draws():
    def said(right: dict[str, tuple[int, int]], **categories: str) -> list[str]:
        return [one.text for one in words.leaders(tables(asked(right, domain="biomedical"), **categories))]

    (first,) = said({"a": (20, 0), "b": (5, 0), "c": (5, 0)}, b=BIO, c=TUNED)
    assert first.startswith("On T\u2011REx template, general models have the highest mean Acc@1 in ")
    assert said({"a": (0, 10), "b": (0, 9), "c": (0, 10)}, b=BIO, c=TUNED) == []
    assert "one category" in said({"a": (20, 0), "d": (5, 0)})[0]
    assert said({"a": (20, 0), "b": (0, 5)}, b=BIO)[0].startswith("On no probe are models of two categories")


def test_who_leads_on_text_of_its_own_kind():
    bio = {"domain": "biomedical", "dataset": "demo_bio"}
    table = asked({"gen": (8, 10), "bio": (20, 39)}, probe="demo_bio/template", **bio)
    table["probe"] = "demo_bio/" + table["style"]
    for claim in ("001-05d", "001-05e"):
        lead = conclusions(tables(table, gen=GENERAL, bio=BIO), claim)
        assert lead["estimate"].tolist() == [pytest.approx(0.3), pytest.approx(0.725)]
        assert set(lead["less"]) == {"gen"} and set(lead["verdict"]) == {"agrees"}
    turned = conclusions(tables(table, gen=BIO, bio=GENERAL), "001-05d")
    assert turned["estimate"].tolist() == [pytest.approx(-0.3), pytest.approx(-0.725)]
    assert set(turned["verdict"]) == {"contradicts"}
    general = table.assign(domain="general", dataset="demo", probe="demo/" + table["style"])
    found = conclusions(tables(general, gen=GENERAL, bio=TUNED))
    lead = found[found["claim"] == "001-05e"]  # on general text the general model is expected ahead
    assert set(lead["model"]) == {"gen"} and set(lead["verdict"]) == {"contradicts"}
    assert "001-05d" not in set(found["claim"])  # tuned on biomedical text, not trained on it alone
    assert rankings.conclusions(tables(ranks("natural", [1, 9], domain="general"))).empty


def test_a_pair_swaps_or_keeps_its_order_by_the_less_sure_difference():
    right = {"a": (36, 8), "b": (20, 20), "c": (8, 36)}
    tuned = {"a": "neither", "b": "biomedical text", "c": "templates"}
    every = asked(right)
    found = tables(every)
    found["ranks"]["tuned"] = found["ranks"]["model"].map(tuned)
    rows = conclusions(found, "001-07g")
    pairs = {frozenset((row["model"], row["less"])): row for row in rows.to_dict("records")}
    assert set(rows["verdict"]) == {"agrees"} and set(rows["dataset"]) == {"trex"} and len(pairs) == 3
    assert pairs[frozenset("ab")]["estimate"] == pytest.approx(min(16, 12) / 40)
    assert pairs[frozenset("ab")]["tuned"] == "biomedical text" and pairs[frozenset("bc")]["tuned"] == "templates"
    assert answer(found).endswith("of 1 pairs that were told alike, or in neither style, 1 do.")
    found["ranks"]["tuned"] = found["ranks"]["model"].map({"a": "templates", "b": "natural sentences", "c": ask.EVEN})
    assert "of 0 pairs that were told alike" in answer(found)
    found = tables(asked(right | {"d": (9, 8)}))  # with c it is a pair that keeps its order or is open
    found["ranks"]["tuned"] = found["ranks"]["model"].map({"a": "templates", "b": "templates"}).fillna(ask.EVEN)
    assert answer(found).startswith(
        "Of 5 pairs of models that are ranked both ways and were told in different ways, 3 swap places between "
        "templates and natural sentences of T\u2011REx"
    )
    assert answer(found).endswith("of 1 pairs that were told alike none is shown to.")
    seeds = conclusions(tables(asked({"lab/a-s0": (36, 8), "lab/a-s1": (8, 36)})), "001-07g")
    assert seeds["verdict"].tolist() == ["agrees"] and seeds["tuned"].tolist() == [words.SEEDS]  # judged in nothing
    kept = conclusions(tables(asked({"a": (38, 30), "b": (14, 12)})), "001-07g")
    assert kept["verdict"].tolist() == ["contradicts"] and kept["estimate"].tolist() == [pytest.approx(-0.45)]
    unsure = conclusions(tables(asked({"a": (36, 20), "b": (8, 21)})))
    assert unsure["verdict"].tolist() == ["undecided"]  # sure by template, not in natural sentences


def test_two_data_sets_of_one_style_are_compared_within_a_domain():
    first = asked({"a": (36, 8), "b": (8, 36)})
    other = asked({"a": (8, 8), "b": (36, 36)}, dataset="squad")
    other["probe"] = "squad/" + other["style"]
    rows = conclusions(tables(pd.concat([first, other], ignore_index=True)), "001-07i")
    assert rows["verdict"].tolist() == ["agrees", "contradicts"]  # by template they swap, in natural sentences not
    both = pd.concat([first, other.assign(domain="biomedical")], ignore_index=True)
    assert not {"001-07i", "001-07j"} & set(rankings.conclusions(tables(both))["claim"])


def test_how_alike_two_settings_are_stands_in_one_row_a_pairing():
    row = rankings.alike(tables(asked({"a": (36, 8), "b": (20, 20), "c": (8, 36)}))).iloc[0]
    assert (row["data"], row["pairs"], row["reversed"], row["tau"]) == ("trex", 3, 3, pytest.approx(-1))
    assert row["template_halves"] > 0.9 and row["tau_high"] < 0


@pytest.mark.parametrize("count", [2, 16])
def test_the_figure_holds_few_and_many_models(count):
    found = tables(asked({f"model {i}": (i + 2, 30 - i) for i in range(count)}), **{f"model {count - 1}": BIO})
    figure = rankings.rank_chart(found)
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == [f"model {i}" for i in range(count)]


def test_the_share_told_by_template_is_the_unit_and_seeds_are_means():
    """Five shares with two seeds each: by template Acc@1 rises with the share, in natural sentences it falls."""
    right = {f"lab/dose-{25 * n}-s{seed}": (9 + 6 * n + seed, 33 - 6 * n - seed) for n in range(5) for seed in (0, 1)}
    said = answer(tables(asked(right)))
    assert "more they find by template and the fewer" in said and "1.00 and -1.00, exact p 0.017" in said
    level = answer(tables(asked({name: (20, hits[1]) for name, hits in right.items()})))
    assert "by template no such order is shown" in level
    assert "The more" not in answer(tables(asked({name: hits[::-1] for name, hits in right.items()})))
    fewer = {name: hits for name, hits in right.items() if "-100-" not in name}
    assert rankings.doses(tables(asked(fewer))).empty and "The more" not in answer(tables(asked(fewer)))
    kin = pd.DataFrame({"model": ["a", "b", "gold"], "lineage": ["minilm", "minilm", ""]})
    assert ask.family_sentence(kin).startswith("All models here go on from all-MiniLM-L6-v2: they are one family")
    assert ask.family_sentence(kin[1:]) == ask.family_sentence(kin.assign(lineage=["x", "y", ""])) == ""


def test_models_told_facts_of_medlama_are_compared_by_what_else_they_read(monkeypatch):
    halves = {str(fact): TAUGHT if fact < 40 else HELD_OUT for fact in range(60)}
    monkeypatch.setattr(facts_of_medlama, "medlama_exposure", lambda: halves)
    right = {"a-s0": 8, "a-s1": 12, "b-s0": 30, "b-s1": 34}
    kinds = {name: GENERAL if name.startswith("a") else TUNED for name in right} | {"m": GENERAL}
    where = {"probe": facts_of_medlama.TOLD, "dataset": "medlama", "domain": "biomedical"}
    told = [
        ranks("template", [RIGHT] * n + [WRONG] * (40 - n) + [RIGHT] * 2 + [WRONG] * 18, model=name, **where)
        for name, n in right.items()
    ]
    rows = pd.concat([asked({"m": (20, 10)}), *told], ignore_index=True).assign(candidates=100)
    found = facts_of_medlama.all_tables(rows.assign(object=rows["fact_id"]), kinds)
    assert set(found["ranks"]["model"]) == {"m"}  # the others are in no ranking of the page
    assert set(found["gaps"]["probe"]) == {facts_of_medlama.TOLD} and len(found["gaps"]) == 4
    said = " ".join(one.text for one in facts_of_medlama.said(found))
    assert "find 25% of 40 facts told" in said and "biomedical ones 80%; of 20 facts held out 10% and 10%" in said
    assert "Of 4 pairs of one model of each kind, 4 differ on the facts told" in said and "and 0 in favour of" in said
    assert facts_of_medlama.cells(found["told"])["Taught"].str[:4].tolist() == ["0.20", "0.30", "0.75", "0.85"]
    turned = facts_of_medlama.all_tables(
        rows.assign(object=rows["fact_id"]), {**kinds, **{"a-s0": TUNED, "b-s0": GENERAL}}
    )
    assert "kind, 2 differ" in (text := facts_of_medlama.said(turned)[1].text) and "and 2 in favour of" in text
    alone = facts_of_medlama.all_tables(rows[rows["model"] == "m"].assign(object=rows["fact_id"]), kinds)
    assert alone["told"].empty and facts_of_medlama.said(alone) == []
