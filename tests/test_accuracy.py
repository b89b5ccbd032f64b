"""The tables of the accuracy section, on ranks small enough to check by hand."""

import pandas as pd
import pytest
from conftest import small

import probekit as pk
from probekit.metrics import accuracy_difference, accuracy_table, macro_accuracy, paired_hits
from probekit.probes.halves import HELD_OUT, SHARED, TAUGHT
from probekit.report import accuracy, asking


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
