"""The tables of the accuracy section, on ranks small enough to check by hand."""

import pandas as pd
import pytest
from conftest import small

import probekit as pk
from probekit.metrics import accuracy_difference, accuracy_table, bootstrap_ci, hits_at_k, macro_accuracy, paired_hits
from probekit.probes.halves import HELD_OUT, SHARED, TAUGHT

from notebooks.templates import accuracy, accuracy_charts, accuracy_findings, accuracy_view, asking


def ranks(style: str, own: list[int], **columns: list) -> pd.DataFrame:
    n = len(own)
    base = {
        "model": "m", "probe": f"trex/{style}", "dataset": "trex", "style": style, "domain": "general",
        "gold": asking.OWN, "rank": own,
        "fact_id": [str(i) for i in range(n)], "relation": ["a"] * n, "relation_label": "", "half": "",
        "shows_gold": False, "exact_surface": True,
    }  # fmt: skip
    return pd.DataFrame({**base, **columns})


def test_pairs_compare_the_same_facts_and_average_over_their_sentences():
    template = ranks("template", [1, 2, 1, 9])
    natural = ranks("natural", [1, 3, 1, 1, 7], fact_id=["0", "0", "1", "2", "x"])
    hits = paired_hits(template, natural)
    assert hits.to_dict("index") == {
        "0": {"first": 1.0, "second": 0.5},
        "1": {"first": 0.0, "second": 1.0},
        "2": {"first": 1.0, "second": 1.0},
    }
    row = accuracy.tables(pd.concat([template, natural]))["pairs"].iloc[0]
    assert (row["facts"], row["k"]) == (3, 1)
    assert row["difference"] == pytest.approx(2.5 / 3 - 2 / 3)
    assert row["p"] == 1.0  # differences 0.5 and -1: every flip is at least as far from zero


def test_pairs_are_also_shown_without_what_gives_the_answer_away():
    half, shown = [TAUGHT, HELD_OUT, HELD_OUT], [False, False, True]
    both = pd.concat(
        [ranks("template", [1, 2, 1], half=half), ranks("natural", [1, 1, 1], half=half, shows_gold=shown)]
    )
    found = accuracy.tables(both)["pairs"].query("k == 1").set_index("subset")
    assert found["facts"].to_dict() == {"all": 3, accuracy.CLEAN: 2, f"held out, {accuracy.CLEAN}": 1}
    assert found.loc[f"held out, {accuracy.CLEAN}", "difference"] == 1.0


def test_accuracy_micro_and_macro():
    table = ranks("natural", [1, 1, 1, 6], relation=["a", "a", "a", "b"])
    found = accuracy.tables(table)["accuracy"].iloc[0]
    assert found["acc@1"] == 0.75 and found["acc@5"] == 0.75 and found["acc@10"] == 1.0
    assert found["macro@1"] == 0.5 and found["mrr"] == pytest.approx((3 + 1 / 6) / 4)
    assert macro_accuracy(table, 1).estimate == 0.5
    by_relation = accuracy.tables(table)["relations"].set_index("relation")
    assert by_relation["acc@1"].to_dict() == {"a": 1.0, "b": 0.0}


def test_slices_leave_out_what_gives_the_answer_away():
    table = ranks(
        "natural", [1, 1, 2, 2], shows_gold=[True, False, False, False], exact_surface=[True, True, True, False]
    )
    found = accuracy.tables(table)["slices"].set_index("subset")
    assert found["acc@1"].to_dict() == {
        "all": 0.5,
        "gold not shown elsewhere": pytest.approx(1 / 3),
        "exact surface form": pytest.approx(2 / 3),
    }


def test_halves_leave_out_shared_sentences_and_take_the_difference():
    half = [TAUGHT, TAUGHT, HELD_OUT, HELD_OUT, SHARED]
    table = ranks("natural", [1, 1, 1, 2, 1], half=half, shows_gold=[False, True, False, False, False])
    found = accuracy.tables(table)["halves"].set_index("subset")
    assert found.loc["all", "difference"] == 0.5 and found.loc["all", "held_out_facts"] == 2
    assert found.loc["gold not shown elsewhere", "taught_facts"] == 1
    assert accuracy.tables(ranks("natural", [1]))["halves"].empty


def test_differences_need_both_groups():
    with pytest.raises(ValueError, match="both groups"):
        accuracy_difference(ranks("natural", [1, 2]), [True, True])
    gap = accuracy_difference(ranks("natural", [1, 1, 2, 2]), [True, True, False, False])
    assert (gap.estimate, gap.low, gap.high) == (1.0, 1.0, 1.0)


def test_one_pass_gives_both_readings_of_the_gold():
    model, probe = small("bert"), pk.load_probe("demo/natural", limit=30)
    asked = asking.ask(model, probe)
    own, best = (asked[asked["gold"] == kind]["rank"].tolist() for kind in (asking.OWN, asking.ANY))
    assert own == pk.rank_entities(model, probe)["rank"].tolist()
    assert best == pk.rank_entities(model, probe, gold="any")["rank"].tolist()
    assert set(asked["dataset"]) == {"demo"} and set(asked["half"]) == {""}


def test_a_probe_of_ones_own_needs_no_more_than_text_and_gold():
    prompts = pd.DataFrame(
        {"prompt_id": ["a", "b"], "text": ["It is [MASK] .", "[MASK] is"], "gold": [["x"], ["town"]]}
    )
    probe = pk.Probe("mine", prompts, ["x", "town"])
    tables = accuracy.tables(asking.ask(small("bert"), probe))
    assert tables["accuracy"]["facts"].tolist() == [2, 2] and tables["pairs"].empty
    assert accuracy.datasets([probe]).iloc[0].to_dict()["prompts"] == 2


def test_tables_for_reading_hold_each_estimate_with_its_interval():
    table = accuracy_table(ranks("natural", [1, 2]), ["model"])
    shown = accuracy.shown(table)
    assert list(shown.columns) == ["Prompts", "Facts", "Acc@1", "Acc@5", "Acc@10", "MRR"]
    assert shown["Acc@1"][0].startswith("0.500 [") and shown["Acc@5"][0] == "1.000 [1.000,\N{NO-BREAK SPACE}1.000]"


def two_models(**columns: list) -> pd.DataFrame:
    """Model m: 2 of 4 by template, all in natural sentences; model n: 1 of 4 and 2 of 4."""
    parts = [
        ranks("template", [1, 1, 2, 20], **columns),
        ranks("natural", [1, 1, 1, 1], **columns),
        ranks("template", [1, 20, 20, 20], model="n", **columns),
        ranks("natural", [1, 1, 7, 20], model="n", **columns),
    ]
    return pd.concat(parts, ignore_index=True)


def two_model_tables() -> dict[str, pd.DataFrame]:
    about = {"dataset": "trex", "relations": 1, "relations_absent": 2, "facts": 4, "chance": 0.1, "commonest": 0.25}
    probes = [{"probe": f"trex/{style}", "style": style, **about} for style in ("template", "natural")]
    return {**accuracy.tables(two_models()), "datasets": pd.DataFrame(probes)}


def test_means_over_models_count_each_model_and_fact_alike():
    tables = two_model_tables()
    means = tables["means"].set_index("style")
    assert means["acc@1"].to_dict() == {"template": 3 / 8, "natural": 6 / 8}
    assert means["acc@10"].to_dict() == {"template": 4 / 8, "natural": 7 / 8}
    assert set(means["models"]) == {2} and set(means["prompts"]) == {4} and set(means["facts"]) == {4}
    pair = tables["mean_pairs"].query("k == 1").iloc[0]
    assert (pair["natural"], pair["template"], pair["difference"], pair["models"]) == (0.75, 0.375, 0.375, 2)
    assert tables["largest"].iloc[0][["model", "natural", "template", "difference", "models"]].tolist() == [
        "m", 1.0, 0.5, 50.0, 2,
    ]  # fmt: skip


def test_one_draw_of_facts_serves_all_models():
    opposite = pd.concat([ranks("natural", [1, 20, 1, 20]), ranks("natural", [20, 1, 20, 1], model="n")])
    row = accuracy.tables(opposite)["means"].iloc[0]
    assert (row["acc@1"], row["low@1"], row["high@1"]) == (0.5, 0.5, 0.5)  # apart, each model's interval is wide


def test_of_one_model_the_mean_is_the_model():
    tables = accuracy.tables(pd.concat([ranks("template", [1, 2, 3, 9]), ranks("natural", [1, 1, 2, 20])]))
    shared = [c for c in tables["accuracy"] if c != "model"]
    pd.testing.assert_frame_equal(tables["means"][shared], tables["accuracy"][shared])
    shared = [c for c in tables["pairs"] if c != "model"]
    pd.testing.assert_frame_equal(tables["mean_pairs"][shared], tables["pairs"][shared])


def test_domains_compare_all_natural_prompts_with_all_templates():
    natural = ranks("natural", [1, 1, 2], probe="a", dataset="a", domain="biomedical")
    template = ranks("template", [1, 2, 2, 2], probe="b", dataset="b", domain="biomedical")
    found = accuracy.tables(pd.concat([natural, template]))["domains"].iloc[0]
    assert (found["domain"], found["natural_probes"], found["template_probes"]) == ("biomedical", "a", "b")
    assert found["difference"] == pytest.approx(2 / 3 - 1 / 4)
    assert accuracy.tables(natural)["domains"].empty


def test_prompts_that_all_hide_the_gold_are_not_shown_twice():
    assert set(two_model_tables()["mean_pairs"]["subset"]) == {accuracy.ALL}


def test_the_form_of_tables_3_and_4():
    shown = accuracy_view.wide(two_model_tables(), "natural")
    assert list(shown.columns) == ["Model", "T\N{NON-BREAKING HYPHEN}REx @1", "T\N{NON-BREAKING HYPHEN}REx @5",
                                   "T\N{NON-BREAKING HYPHEN}REx @10"]  # fmt: skip
    assert shown["Model"].tolist() == ["m", "n", "mean of 2 models", "uniform guess", "commonest answer"]
    first = shown.iloc[:, 1].tolist()
    assert [cell[:5] for cell in first] == ["1.000", "0.500", "0.750", "0.100", "0.250"]
    assert [cell.endswith("†") for cell in first] == [False, True, False, False, False]  # 0.5 [0, 1] reaches 0.1
    assert shown.iloc[3:, 3].tolist() == ["1.000", "–"]


def test_sentences_follow_from_the_numbers():
    tables = two_model_tables()
    assert "of 2 models on average changes by +37.5 points" in accuracy_view.answer(tables)
    (paired,) = accuracy_view.paired_sentences(tables)
    assert paired.startswith("**T\N{NON-BREAKING HYPHEN}REx.** 75.0% of the 4 facts in natural sentences and 37.5%")
    low, high = (int(tables["pairs"].query("k == 1")[end].gt(0).sum()) for end in ("low", "high"))
    assert f"Of 2 models, {low} score higher in natural sentences, 0 by template" in paired and high == 2
    template = accuracy_view.sentences(tables)[0]
    assert "from 0.250 (`n`) to 0.500 (`m`), mean 0.375" in template and "; 2 of 2 at the uniform guess." in template
    fewer = pd.concat([ranks("template", [1] * 9), ranks("natural", [2] * 9)])
    assert "by -100.0 points" in accuracy_view.answer(accuracy.tables(fewer))
    assert "templates find more on" in accuracy_view.answer(accuracy.tables(fewer))
    same = pd.concat([ranks("template", [1, 2]), ranks("natural", [2, 1])])
    assert "the interval includes zero on" in accuracy_view.answer(accuracy.tables(same))


def test_without_both_styles_the_answer_names_each_probe():
    tables = accuracy.tables(ranks("natural", [1, 2]))
    assert accuracy_view.answer(tables).startswith(
        "**The answer.** Acc@1 of `m`: T\N{NON-BREAKING HYPHEN}REx natural 0.500"
    )
    assert accuracy_view.paired_sentences(tables) == []


@pytest.mark.parametrize("count", [1, 2, 16])
def test_the_chart_has_a_panel_per_data_set_and_a_line_per_model(count):
    own = pd.concat([ranks(s, [1, 2, 3], model=f"m{i}") for i in range(count) for s in ("template", "natural")])
    squad = pd.concat([ranks("natural", [1, 2], model=f"m{i}", probe="squad", dataset="squad") for i in range(count)])
    about = pd.DataFrame({
        "probe": ["trex/template", "trex/natural", "squad"], "dataset": ["trex", "trex", "squad"],
        "style": ["template", "natural", "natural"], "chance": 0.1, "commonest": 0.2,
    })  # fmt: skip
    tables = {**accuracy.tables(pd.concat([own, squad])), "datasets": about}
    figure = accuracy_charts.draw(tables, [f"m{i}" for i in range(count)])
    panels = [ax for ax in figure.axes if ax.get_visible()]
    assert [ax.get_xlabel() for ax in panels] == ["T\N{NON-BREAKING HYPHEN}REx", "SQuAD"]
    assert [len(ax.containers) for ax in panels] == [2 * count, count]
    assert [label.get_text() for label in panels[0].get_yticklabels()] == [f"m{i}" for i in range(count)]
    assert panels[1].containers[0][0].get_marker() == panels[0].containers[-1][0].get_marker() == "s"


def test_findings_say_what_real_data_and_the_demo_world_say_apart():
    first, every, loses, biomedical = accuracy_findings.findings(two_model_tables(), {})
    assert first.recorded.startswith("T\N{NON-BREAKING HYPHEN}REx: ") and "+37.5 points" in first.recorded
    assert (first.demo, every.demo, biomedical.recorded) == ("not run",) * 3
    assert "of 2 models above zero" in every.recorded
    assert "undecided, m loses 50.0 [0.0," in loses.recorded and loses.recorded.endswith("100.0] points, 50% of it")


def test_the_papers_means_stand_beside_ours_where_the_data_is():
    table = accuracy_findings.beside_paper(two_model_tables()).set_index("claim")
    assert table.loc["001-03a", ["published", "acc@1", "data"]].tolist() == ["0.21", 0.75, "without 2 relations"]
    assert table.loc["001-02a", "data"] == "not in this run" and table.loc["001-04a", "data"] == "not at hand"
    shown = accuracy_findings.shown_beside(table.reset_index()).set_index("Claim")
    assert shown.loc["001-03a", "Ours"].startswith("0.750 [") and shown.loc["001-04a", "Ours"] == "not at hand"
    mine = {**two_model_tables(), "means": two_model_tables()["means"].assign(probe="mine")}
    assert accuracy_findings.beside_paper(mine).empty


def test_relations_stand_in_both_styles_best_first():
    relation = ["a_b", "a_b", "c"]
    both = pd.concat([ranks("template", [1, 2, 2], relation=relation), ranks("natural", [2, 2, 1], relation=relation)])
    sides = accuracy_view.by_relation(accuracy.tables(both)["relations"], "m")
    assert sides.index.tolist() == ["T\N{NON-BREAKING HYPHEN}REx: c", "T\N{NON-BREAKING HYPHEN}REx: a b"]
    assert sides["acc@1", "natural"].tolist() == [1, 0] and sides["acc@1", "template"].tolist() == [0, 0.5]
    assert accuracy_view.by_relation(accuracy.tables(ranks("natural", [1]))["relations"], "m").empty


def test_slices_are_shown_where_more_than_two_prompts_differ():
    sizes = {"probe": ["a", "a", "b", "b"], "prompts": [9, 6, 9, 7]}
    assert accuracy_view.telling(pd.DataFrame(sizes))["probe"].tolist() == ["a", "a"]
    assert accuracy_view.telling(pd.DataFrame()).empty


def test_accuracy_of_several_k_has_the_intervals_each_would_have_alone():
    table = ranks("natural", [1, 1, 4, 9, 20, 3], fact_id=["0", "0", "1", "2", "3", "3"])
    row = accuracy_table(table, ["model"]).iloc[0]
    for k in (1, 5, 10):
        alone = bootstrap_ci(hits_at_k(table["rank"], k), table["fact_id"].tolist())
        assert (row[f"acc@{k}"], row[f"low@{k}"], row[f"high@{k}"]) == (alone.estimate, alone.low, alone.high)


def test_a_long_table_is_turned_to_a_column_per_model():
    long = pd.DataFrame(
        [("a", "x", 0.5, 0.25, 0.75), ("a", "y", 0.1, 0.0, 0.2), ("b", "y", 1.0, 0.9, 1.0)],
        columns=["model", "relation", "acc@1", "low@1", "high@1"],
    )
    found = accuracy.across(long, ["relation"], headings={"relation": "Asked"})
    assert found.columns.tolist() == ["Asked", "a", "b"]
    assert found.to_numpy().tolist() == [
        ["x", "0.500 [0.250,\N{NO-BREAK SPACE}0.750]", "\N{EN DASH}"],
        ["y", "0.100 [0.000,\N{NO-BREAK SPACE}0.200]", "1.000 [0.900,\N{NO-BREAK SPACE}1.000]"],
    ]
    with pytest.raises(pd.errors.MergeError):  # two rows of one model would hide each other
        accuracy.across(pd.concat([long, long]), ["relation"])
