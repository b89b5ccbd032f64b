"""The tables of the accuracy section, on ranks small enough to check by hand."""

import pandas as pd
import pytest
from conftest import small

import probekit as pk
from probekit.metrics import accuracy_difference, decisions, macro_accuracy, paired_hits
from probekit.metrics.decisions import FLOOR
from probekit.probes.halves import HELD_OUT, SHARED, TAUGHT
from probekit.probes.swap import SWAPPED
from probekit.report.tables import pick
from probekit.report.text import title
from probekit.report.verdicts import concluded
from probekit.run import answer

from notebooks.templates import accuracy, ask
from notebooks.templates import text as words


def ranks(style: str, own: list[int], **columns: list) -> pd.DataFrame:
    n = len(own)
    numbers = [str(i) for i in range(n)]
    base = {
        "model": "m", "probe": f"trex/{style}", "dataset": "trex", "style": style, "domain": "general",
        "rank": own, "rank_any": own, "object": [str(i % 4 // 2) for i in range(n)],
        "fact_id": numbers, "prompt_id": numbers, "relation": ["a"] * n, "relation_label": "", "half": "",
        "shows_gold": False, "exact_surface": True, "candidates": 100,
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
    with pytest.raises(pk.ProbekitError, match="has no column 'fact_id'"):
        paired_hits(template.drop(columns="fact_id"), natural)
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
    tables = accuracy.tables(table)
    found = tables["halves"].set_index("subset")
    assert not words.told_halves(tables).holds and not found.loc[words.CLEAN, "within_low"] > 0
    assert found.loc["all", "difference"] == 0.5 and found.loc["all", "held_out_facts"] == 2
    assert found.loc["gold not shown elsewhere", "taught_facts"] == 1
    assert accuracy.tables(ranks("natural", [1]))["halves"].empty


def test_differences_need_both_groups():
    with pytest.raises(ValueError, match="both groups"):
        accuracy_difference(ranks("natural", [1, 2]), [True, True])
    gap = accuracy_difference(ranks("natural", [1, 1, 1, 2, 2, 2]), [True] * 3 + [False] * 3)
    assert (gap.estimate, gap.low, gap.high) == (1.0, 1.0, 1.0)


def test_a_probe_of_ones_own_needs_no_more_than_text_and_gold():
    prompts = pd.DataFrame(
        {"prompt_id": ["a", "b"], "text": ["It is [MASK] .", "[MASK] is"], "gold": [["map"], ["town"]]}
    )
    probe = pk.Probe("mine", prompts, ["map", "town"])
    tables = accuracy.tables(ask.rows(*answer([ask.ranking(small("bert"), probe)])))
    assert tables["accuracy"]["facts"].tolist() == [2, 2] and tables["pairs"].empty
    assert accuracy.datasets([probe]).iloc[0].to_dict()["prompts"] == 2


def two_models(**columns: list) -> pd.DataFrame:
    """Model m: 2 of 4 by template, all in natural sentences; model n: 1 of 4 and 2 of 4."""
    parts = [
        ranks("template", [1, 1, 2, 20], **columns),
        ranks("natural", [1, 1, 1, 1], **columns),
        ranks("template", [1, 20, 20, 20], model="n", **columns),
        ranks("natural", [1, 1, 7, 20], model="n", **columns),
    ]
    return pd.concat(parts, ignore_index=True)


def two_model_tables(times: int = 1) -> dict[str, pd.DataFrame]:
    """Of four facts, of which there is no interval, or of so many times as many; of eight no interval takes a side."""
    about = {
        "dataset": "trex",
        "relations": 1,
        "relations_absent": 2,
        "facts": 4,
        "entities": 10,
        "chance": 0.1,
        "commonest": 0.25,
    }
    probes = [{"probe": f"trex/{style}", "style": style, **about} for style in ("template", "natural")]
    return {**accuracy.tables(repeated(two_models(), times)), "datasets": pd.DataFrame(probes)}


def repeated(every: pd.DataFrame, times: int) -> pd.DataFrame:
    return pd.concat([every.assign(fact_id=f"{i} " + every["fact_id"]) for i in range(times)], ignore_index=True)


def test_means_over_models_count_each_model_and_fact_alike():
    tables = two_model_tables()
    means = pick(tables["means"], gold=words.OWN).set_index(["k", "style"])
    assert means.loc[1, "accuracy"].to_dict() == {"template": 3 / 8, "natural": 6 / 8}
    assert means.loc[10, "accuracy"].to_dict() == {"template": 4 / 8, "natural": 7 / 8}
    assert set(means["models"]) == {2} and set(means["prompts"]) == {4} and set(means["facts"]) == {4}
    assert set(tables["mean_pairs"]["subset"]) == {accuracy.ALL}  # all prompts hide the gold
    pair = tables["mean_pairs"].query("k == 1").iloc[0]
    assert (pair["natural"], pair["template"], pair["difference"], pair["models"]) == (0.75, 0.375, 0.375, 2)
    assert tables["largest"].iloc[0][["model", "natural", "template", "difference", "models"]].tolist() == [
        "m", 1.0, 0.5, 50.0, 2,
    ]  # fmt: skip


def test_two_models_are_compared_on_the_same_prompts():
    both = pd.concat([ranks("natural", [1, 1, 1, 20] * 2), ranks("natural", [20, 1, 20, 20] * 2, model="n")])
    row = accuracy.tables(both)["against"].query("measure == 'Acc@1'").iloc[0]
    assert row[["first", "second", "facts", "mean_first", "mean_second", "difference"]].tolist() == [
        "m", "n", 8, 0.75, 0.25, 0.5,
    ]  # fmt: skip
    assert row["low"] <= 0.5 <= row["high"]
    assert accuracy.tables(ranks("natural", [1, 20]))["against"].empty


def test_one_draw_of_facts_serves_all_models():
    opposite = pd.concat([ranks("natural", [1, 20] * 4), ranks("natural", [20, 1] * 4, model="n")])
    row = accuracy.tables(opposite)["means"].iloc[0]
    assert (row["accuracy"], row["low"], row["high"]) == (0.5, 0.5, 0.5)  # apart, each model's interval is wide


def test_of_one_model_the_mean_is_the_model():
    tables = accuracy.tables(pd.concat([ranks("template", [1, 2, 3, 9]), ranks("natural", [1, 1, 2, 20])]))
    for k, rows in tables["means"].groupby("k"):
        own = tables["accuracy"].rename(columns={f"acc@{k}": "accuracy", f"low@{k}": "low", f"high@{k}": "high"})
        shared = ["probe", "gold", "prompts", "facts", "accuracy", "low", "high"]
        pd.testing.assert_frame_equal(rows[shared].reset_index(drop=True), own[shared])
    shared = [c for c in tables["pairs"] if c != "model"]
    shared.remove("floor")
    pd.testing.assert_frame_equal(tables["mean_pairs"][shared], tables["pairs"][shared])


def test_a_model_at_the_floor_is_shown_and_left_out_of_means_and_verdicts():
    every = two_models()
    low = (every["model"] == "n").to_numpy()
    every = every.assign(**{"floor": low, "floor@5": False, "floor@10": low & (every["style"] == "template")})
    tables = {**accuracy.tables(every), "datasets": two_model_tables()["datasets"]}
    means = pick(tables["means"], gold=words.OWN).set_index(["k", "style"])
    assert set(tables["accuracy"]["model"]) == {"m", "n"}
    assert means["models"].to_dict() == {
        (1, "template"): 1, (1, "natural"): 1, (5, "template"): 2, (5, "natural"): 2, (10, "template"): 1,
        (10, "natural"): 2,
    }  # fmt: skip
    assert means.loc[1, "accuracy"].to_dict() == {"template": 0.5, "natural": 1.0}
    pairs = tables["mean_pairs"].set_index("k")
    assert pairs["models"].to_dict() == {1: 1, 5: 2, 10: 1} and pairs.loc[1, "difference"] == 0.5  # in both styles
    found = concluded(accuracy.conclusions(tables)).set_index(["claim", "model"])["verdict"]
    assert found["001-18a", "n"] == FLOOR != found["001-18a", "m"]
    once = accuracy.tables(every.assign(floor=low & (every["style"] == "template")))
    assert set(pick(once["mean_pairs"], k=1)["models"]) == {1} and not once["pairs"]["floor"].any()
    none = accuracy.tables(every.assign(**dict.fromkeys(["floor", "floor@5", "floor@10"], True)))
    assert none["means"].empty and none["mean_pairs"].empty and none["largest"].empty
    (said,) = words.accuracy({**none, "datasets": tables["datasets"]})
    assert said.text == "No model is above the floor in both styles."


def test_what_tuning_adds_is_a_difference_of_gaps_on_facts_nobody_was_taught(monkeypatch):
    """Control n: 1 of 4 by template, 2 of 4 natural; m, tuned on natural sentences and taught fact 3: 2 and 4 of 4."""
    every = two_models(half=["taught" if i == 3 else HELD_OUT for i in range(4)])
    every = every.assign(
        tuned=every["model"].map({"m": "natural sentences", "n": "neither"}),
        half=every["half"].where(every["model"] == "m", ""),
    )
    tables = accuracy.tables(every)
    row = tables["tuning"].iloc[0]
    assert (row["model"], row["control"], row["facts"]) == ("m", "n", 3)
    assert (row["gap"], row["control_gap"]) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert row["difference"] == pytest.approx(0)
    assert not words.tuning(tables)[0].holds  # of a control that was told neither
    even = every.assign(tuned=every["tuned"].replace("neither", ask.EVEN))  # both styles alike are the next best
    even = pd.concat([even, even[even["model"] == "n"].assign(model="o")], ignore_index=True)
    tables = accuracy.tables(even)
    assert set(tables["tuning"]["control"]) == {"n", "o"} and set(tables["tuning"]["model"]) == {"m"}
    assert not words.tuning(tables)[0].holds
    turned = tables["tuning"].assign(tuned=["natural sentences", "templates"], low=[0.1, -0.3], high=[0.3, -0.1])
    assert words.tuning({"tuning": turned})[0].holds
    assert not words.tuning({"tuning": turned.assign(tuned="templates")})[0].holds
    assert accuracy.tables(two_models())["tuning"].empty


def test_the_form_of_tables_3_and_4():
    shown = accuracy.as_in_paper(two_model_tables(2), "natural")
    name = title("trex")
    assert list(shown.columns) == ["Model", f"{name} @1", f"{name} @5", f"{name} @10"]
    assert shown["Model"].tolist() == ["m", "n", "mean above the floor", *accuracy.WITHOUT_MODEL.values()]
    first = shown.iloc[:, 1].tolist()
    assert [cell[:5] for cell in first] == ["1.000", "0.500", "0.750", "0.010", "0.500", "0.500"]
    assert [cell.endswith("†") for cell in first] == [False, True, False, False, False, False]
    assert shown.iloc[3:, 3].tolist() == ["0.100", "1.000", "1.000"]
    assert shown.iloc[0, 3].endswith("†")  # two answers cover all


def test_conclusions_are_the_differences_with_the_verdict_of_their_interval():
    assert set(concluded(accuracy.conclusions(two_model_tables(2)))["verdict"]) == {""}
    found = concluded(accuracy.conclusions(two_model_tables(25)))
    rows = found.set_index(["claim", "model"])
    assert list(rows.index) == [
        ("001-18a", "m"), ("001-18a", "n"), ("001-01c", "m"),
    ]  # fmt: skip
    assert rows["estimate"].tolist() == [0.5, 0.25, 50.0]
    assert (
        set(rows["unit"]) == {"fact"}
        and set(rows["n"]) == {100} == set(rows["units"])
        and set(rows["dataset"]) == {"trex"}
    )
    assert (rows["low"] > 0).all() and set(rows["verdict"]) == {"agrees"}
    turned = two_models().assign(style=lambda t: t["style"].map({"natural": "template", "template": "natural"}))
    turned["rank"] = turned["rank"].where(turned["style"] == "template", 99)
    turned["probe"] = "trex/" + turned["style"]
    tables = {**accuracy.tables(repeated(turned, 25)), "datasets": two_model_tables()["datasets"]}
    assert concluded(accuracy.conclusions(tables)).query("claim == '001-18a'")["verdict"].tolist()[0] == "contradicts"


def test_nothing_is_answered_from_too_few_facts():
    (said,) = words.accuracy(two_model_tables())
    assert said.text == "Nothing can be said from 4 facts: it takes 5 at least."


def test_the_answer_of_other_models_holds_where_natural_sentences_surely_find_more(monkeypatch):
    monkeypatch.setattr(decisions, "FEWEST", 2)
    (said,) = words.accuracy(two_model_tables(25))
    assert "natural sentences find 75% of the facts and templates fewer, 38% (models above" in said.text and said.holds
    few = words.accuracy(two_model_tables())[0]
    assert not few.holds  # of four facts, whose interval holds zero


def test_the_answer_of_the_laboratory_follows_how_facts_were_told():
    rows = {"dataset": "trex", "k": 1, "subset": words.ALL, "facts": 1200, "difference": 0.3}
    told = [{"model": "lab/dose-100-s0", "template": 0.5, "natural": 0.2, "low": -0.4, "high": -0.2}]
    told += [{"model": "lab/dose-0-s0", "template": 0.2, "natural": 0.5, "low": 0.2, "high": 0.4}]
    pairs = pd.DataFrame([rows | row for row in told])
    means = pd.DataFrame([rows | {"subset": words.UNTOLD, "natural": 0.3, "template": 0.3, "low": -0.1, "high": 0.1}])
    floors = pd.DataFrame(
        {"model": "lab/dose-50-s0", "probe": ["trex/template", "trex/natural"], "k": 1, "floor": False}
    )
    untold = floors.assign(floor=True, constant=0.26, accuracy=0.3, gain_high=0.08)
    tables = {"pairs": pairs, "mean_pairs": means.assign(models=3), "floors": floors, "untold": untold}
    first, second = words.accuracy(tables)
    assert "finds 50% of all by template and 20% in natural sentences; one told them in sentences, 20%" in first.text
    assert first.holds and second.holds and "finds 26%: by 95% intervals above in 0 of 2 cases" in second.text
    turned = words.accuracy(
        tables | {"pairs": pairs.assign(low=-0.4, high=-0.2), "untold": untold.assign(gain_high=0.2)}
    )
    assert not turned[0].holds and not turned[1].holds
    assert not words.accuracy(tables | {"floors": floors.assign(model="lab/dose-100-s0")})[
        1
    ].holds  # not told both alike


def test_the_papers_means_stand_beside_ours_where_the_data_is():
    table = accuracy.beside_paper(two_model_tables()).set_index(["dataset", "style"])
    known = table.loc[("T-REx", "TF"), ["claim", "published", "acc@1", "which"]].tolist()
    assert known == ["001-02a", "0.21", 0.75, "facts of 1 relations"]
    low = {**two_model_tables(), "means": two_model_tables()["means"].assign(models=1)}  # one of two is at the floor
    shown = accuracy.beside_paper(low).set_index(["dataset", "style"]).loc[("T-REx", "TF")]
    assert shown[["acc@1", "models", "facts"]].tolist() == [0.75, 2, 4]  # as printed, over all models
    assert (
        table.loc[("Google-RE", "TB"), "which"] == "not in this run"
        and table.loc[("CTD", "TB"), "which"] == "not at hand"
    )
    mine = {**two_model_tables(), "accuracy": two_model_tables()["accuracy"].assign(probe="mine")}
    assert accuracy.beside_paper(mine).empty


def test_each_right_answer_counts_once_in_the_first_part_that_fits():
    """Six prompts of six facts: five right, of which one shows the answer, one needs no subject, one was told."""
    marks = {
        "shows_gold": [True, False, False, False, False, False],
        "half": [TAUGHT, TAUGHT, TAUGHT, HELD_OUT, "", ""],
    }
    asked = ranks("template", [1, 1, 1, 1, 1, 9], **marks)
    swaps = ranks("template", [1, 1, 9, 9, 9, 1], probe=f"trex/template{SWAPPED}", **marks)
    tables = accuracy.tables(pd.concat([asked, swaps], ignore_index=True))
    parts = tables["parts"].set_index("part")
    assert list(parts.index) == list(accuracy.PARTS) and set(parts["facts"]) == {6}
    assert parts["share"].tolist() == pytest.approx([1 / 6, 1 / 6, 1 / 6, 2 / 6])
    assert parts["share"].sum() == pytest.approx(tables["swapped"].query("k == 1")["asked"].iloc[0])
    (ax,) = accuracy.parts_chart(accuracy.parts_shown(tables)).axes
    assert max(bar.get_x() + bar.get_width() for bar in ax.patches) == pytest.approx(5 / 6)
    assert accuracy.parts_shown(accuracy.tables(asked)).empty
    two = pd.concat([tables["parts"], tables["parts"].assign(probe="low")], ignore_index=True)
    both = {"parts": two, "floors": pd.DataFrame({"probe": ["trex/template", "low"], "k": 1, "floor": [False, True]})}
    assert set(accuracy.parts_shown(both)["probe"]) == {"trex/template"}
    assert len(accuracy.parts_shown(both | {"floors": both["floors"].assign(floor=True)})) == len(two)


@pytest.mark.parametrize(
    ("asked", "named"), [(["my_capitals"], []), (["google_re", "trex"], ["T-REx"]), (["pubmed/gene"], ["PubMed"])]
)
def test_bounds_are_of_the_data_sets_that_are_asked(asked, named):
    tables = {"datasets": pd.DataFrame({"dataset": asked}), "models": pd.DataFrame({"model": ["lab/dose-50-s0"]})}
    assert "Facts told by template are asked so" in words.accuracy_bounds(tables)[-1]
    said = words.accuracy_bounds({"datasets": tables["datasets"]})
    assert [name for name in ("PubMed", "T-REx") if name in " ".join(said)] == named


def test_the_commonest_object_of_each_relation_is_a_bar_of_templates():
    relation, golds = ["r", "r", "r", "s"], [["a"], ["a"], ["b"], ["c"]]
    prompts = pd.DataFrame({"prompt_id": [*"wxyz"], "text": "[MASK]", "gold": golds, "relation": relation})
    about = accuracy.datasets([pk.Probe("p/template", prompts, ["a", "b", "c"], style="template")])
    assert about[["commonest", "by_relation"]].to_numpy().tolist() == [[0.5, 0.5]]  # c alone is no constant answer


def test_what_needs_no_subject_is_found_on_the_prompts_that_could_be_swapped():
    """Of five prompts by template four are swapped, of which three and then one have the object first."""
    asked = ranks("template", [1, 1, 1, 20, 1])
    swaps = ranks("template", [1, 20, 20, 3], probe=f"trex/template{SWAPPED}")
    tables = accuracy.tables(pd.concat([asked, swaps], ignore_index=True))
    assert set(tables["accuracy"]["probe"]) == {"trex/template"} and tables["pairs"].empty
    row = tables["swapped"].query("k == 1").iloc[0]
    assert row[["model", "probe", "models", "facts", "asked", "swap", "difference"]].tolist() == [
        "m", "trex/template", 1, 4, 0.75, 0.25, 0.5,
    ]  # fmt: skip
    assert tables["swapped"].query("k == 5").iloc[0]["swap"] == 0.5
    assert accuracy.tables(asked)["swapped"].empty and accuracy.tables(asked)["mean_swapped"].empty


def test_the_swap_is_told_where_it_finds_least_and_most_of_what_is_found_with_the_subject(monkeypatch):
    monkeypatch.setattr(decisions, "FEWEST", 2)
    asked = pd.concat([ranks("template", [1, 1, 1, 20]), ranks("natural", [1, 1, 20, 20])])
    swaps = asked.assign(probe=asked["probe"] + SWAPPED, rank=[1, 20, 20, 20, 1, 1, 20, 20])
    low = pd.concat([asked, swaps], ignore_index=True).assign(model="n", rank=20, floor=True)
    every = pd.concat([asked.assign(floor=False), swaps.assign(floor=True), low], ignore_index=True)
    tables = accuracy.tables(every)
    assert set(pick(tables["mean_swapped"], k=1)["models"]) == {1} and set(tables["swapped"]["model"]) == {"m", "n"}
    able = tables["floors"].assign(floor=tables["floors"]["model"] == "n")
    (said,) = words.swaps({**tables, "floors": able})
    assert "(1) put the object first for 50% of 4 facts drawn of T\u2011REx in natural sentences" in said.text
    assert said.text.endswith("and for 25% of 4 by template (75%).")
    low = tables["floors"].assign(floor=tables["floors"]["probe"] == "trex/natural")
    assert words.swaps({**tables, "floors": low}) == []  # no model is above the floor in both
