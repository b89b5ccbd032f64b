"""What probes hold, on probes small enough to count by hand."""

import pandas as pd
import pytest
from conftest import small

import probekit as pk
from probekit.metrics import decisions
from probekit.report.verdicts import concluded

from notebooks.templates import datasets, paper
from notebooks.templates import text as words
from notebooks.templates.accuracy import datasets as sizes


def probe(rows: list[tuple[str, str, list[str]]], name: str = "mine/template", **columns: list) -> pk.Probe:
    """(relation, subject, golds) -> one prompt each."""
    prompts = pd.DataFrame(
        {
            "prompt_id": [str(i) for i in range(len(rows))],
            "fact_id": [str(i) for i in range(len(rows))],
            "text": [f"{subject} {relation} [MASK] ." for relation, subject, _ in rows],
            "gold": [golds for _, _, golds in rows],
            "relation": [relation for relation, _, _ in rows],
            "subject": [subject for _, subject, _ in rows],
            **columns,
        }
    )
    entities = [gold for _, _, golds in rows for gold in golds]
    return pk.Probe(name, prompts, entities, style="template")


CAPITALS = [("capital", "A", ["x"]), ("capital", "B", ["y"])]
BORN = [("born", "P", ["x"]), ("born", "Q", ["x"]), ("born", "R", ["y"])]
ALIKE = [("squad", "Squad", ["x"]), ("squad", "Squad", ["y"])]  # a file that names no subjects
SPEAKS = [("speaks", "P", ["u", "v"]), ("speaks", "P", ["v", "u"]), ("speaks", "Q", ["u"])]
OWNS = [("owns", "P", ["s", "t"]), ("owns", "P", ["t", "s"]), ("owns", "Q", ["r"])]


def test_kinds_are_counted_from_the_facts():
    found = datasets.relations([probe(CAPITALS + BORN + SPEAKS + OWNS + ALIKE)]).set_index("relation")
    assert found["kind"].to_dict() == {"capital": "1-1", "born": "N-1", "speaks": "N-M", "owns": "1-N"}
    assert found.loc["speaks", ["facts", "subjects", "objects"]].tolist() == [3, 2, 2]
    assert found.loc["speaks", "many_objects"] == 0.5 and found.loc["speaks", "many_subjects"] == 0.5
    assert set(found["declared"]) == {""} and set(found["dataset"]) == {"mine"}
    assert datasets.kinds(found.reset_index()).set_index("kind")["facts"].to_dict() == {
        "1-1": 2, "N-1": 3, "N-M": 3, "1-N": 3,
    }  # fmt: skip


def test_one_repeated_fact_in_many_does_not_make_a_relation_many():
    rows = [("born", f"p{i}", [f"town {i}"]) for i in range(40)]
    assert datasets.relations([probe([*rows, ("born", "q", ["town 0"])])])["kind"].tolist() == ["1-1"]
    several = [("born", f"q{i}", [f"town {i}"]) for i in range(3)]
    assert datasets.relations([probe(rows + several)])["kind"].tolist() == ["N-1"]


def test_the_demo_world_has_the_kinds_it_declares():
    found = datasets.relations([pk.load_probe("demo/template"), pk.load_probe("demo/natural")])
    assert set(found["dataset"]) == {"demo"} and (found["declared"] != "").all()
    assert (found["kind"] == found["declared"]).mean() > 0.5


def test_entities_are_counted_over_prompts():
    row = datasets.entities([probe(BORN)]).iloc[0]
    assert (row["candidates"], row["asked"], row["min"], row["max"]) == (2, 2, 1, 2)
    assert row["mean"] == 1.5 and row["sd"] == pytest.approx(0.5**0.5) and row["most"] == pytest.approx(2 / 3)
    assert datasets.entities([probe(CAPITALS[:1])]).iloc[0]["sd"] == 0.0


def test_concentration_rises_to_all_prompts():
    found = datasets.concentration([probe(BORN), probe(BORN, name="mine/natural")])
    assert len(found) == len(datasets.TOPS) * 2  # of another style than its name says: a data set of its own
    first = found[found["probe"] == "mine/template"].set_index("top")["share"]
    assert first[0.01] == first[0.5] == pytest.approx(2 / 3) and first[1.0] == 1.0


def test_leaks_and_what_was_left_out():
    one = probe(BORN, shows_gold=[True, False, False], exact_surface=[True, True, False])
    row = datasets.leaks([one, probe(BORN)])
    assert len(row) == 1 and row["gold_shown"].iloc[0] == pytest.approx(1 / 3)
    assert row["exact_surface"].iloc[0] == pytest.approx(2 / 3) and row["repeated"].iloc[0] == 0
    other = probe(BORN, name="other/template")  # does not say whether its prompts show their gold
    both = sizes([one, other])["gold_shown"]
    assert both.iloc[0] == pytest.approx(1 / 3) and both.isna().tolist() == [False, True]
    counted = pk.Probe(
        "n", one.prompts, one.entities, counts={"facts": 9, "left out: two masks": 4, "relations absent": 0}
    )
    assert datasets.left_out([counted]).to_dict("records") == [
        {"probe": "n", "reason": "left out: two masks", "count": 4}
    ]


def test_lengths_are_those_of_the_models_own_tokens():
    model, one = small("roberta"), probe([("is", "It", ["Port Velna"]), ("is", "She", ["a"])])
    row = datasets.lengths(model, [one]).iloc[0]
    tokens = [len(model.tokens(f" {gold}")) for gold in ("Port Velna", "a")]  # the slot follows a space
    assert row["gold_max"] == max(tokens) and row["gold_mean"] == sum(tokens) / 2
    assert row["one_token"] == sum(n == 1 for n in tokens) / 2 and row["masks"] == len(set(tokens))
    prompts = [
        len(model.tokens(text.replace("[MASK]", model.tokenizer.mask_token))) - 1 for text in one.prompts["text"]
    ]
    assert row["prompt_max"] == max(prompts)
    assert row["merged"] == 0 and row["unknown"] == 0


def test_candidates_of_equal_tokens_are_counted():
    row = datasets.lengths(small("distilbert"), [probe([("is", "It", ["Town"]), ("is", "She", ["town"])])]).iloc[0]
    assert row["merged"] == 0.5


def of_squad() -> dict[str, pd.DataFrame]:
    squad = pk.Probe("squad", probe(BORN).prompts, ["x", "y"], style="natural", counts={"sentences": 305, "facts": 305})
    return {"datasets": sizes([squad])}


def test_sizes_stand_beside_the_papers_only_where_the_data_set_is_the_same():
    found = paper.sizes_beside(of_squad()["datasets"]).set_index("size")
    assert found.loc["SQuAD template-free prompts", ["published", "ours"]].tolist() == [305, 305]
    assert found.loc["SQuAD, original", "ours"] == 2 and pd.isna(found.loc["T-REx relations", "ours"])
    assert found.loc["Google-RE template-based prompts", "published"] == 6110
    ten = datasets.ten(of_squad())
    assert len(ten) == 10 and ten.loc[ten["at hand"] == "yes", "data set"].tolist() == ["SQuAD"]


def test_conclusions_are_the_sizes_at_hand_as_numbers():
    rows = concluded(datasets.conclusions(of_squad())).set_index("claim")
    assert rows["estimate"].to_dict() == {"001-17h": 305.0, "001-13h": 2.0}
    assert set(rows["verdict"]) == {""}  # they are compared with the printed number, not with zero


def test_the_models_of_the_paper_are_sixteen():
    found = datasets.paper_models()
    assert len(found) == 16 and set(found.columns) == {"model", "category", "parameters (million)"}


def test_the_answer_holds_for_one_model_and_a_probe_of_ones_own(monkeypatch):
    prompts = pd.DataFrame({"prompt_id": ["a"], "text": ["It is [MASK] ."], "gold": [["town"]]})
    mine = pk.Probe("mine", prompts, ["town", "x"])
    tables = {
        "datasets": sizes([mine]), "leaks": datasets.leaks([mine]), "lengths": datasets.lengths(small("bert"), [mine]),
        "concentration": datasets.concentration([mine]), "relations": datasets.relations([mine]),
    }  # fmt: skip
    assert words.datasets(tables)[0].text == "Nothing can be said from 1 prompts: it takes 5 at least."
    monkeypatch.setattr(decisions, "FEWEST", 1)
    (said,) = words.datasets(tables)
    assert not said.holds and tables["relations"].empty  # one data set has no other to be compared with
    assert "up to 1 times" in words.token_lengths(tables).text and datasets.conclusions(tables).empty


def test_golds_that_are_as_short_for_all_models_have_one_column():
    rows = pd.DataFrame({"model": ["m", "n"], "probe": "p", "one_token": [1.0, 1.0]})
    assert datasets.one_token({"lengths": rows})["model"].tolist() == ["every model"]
    assert len(datasets.one_token({"lengths": rows.assign(one_token=[1.0, 0.5])})) == 2
    assert datasets.one_token({"lengths": rows[:1]})["model"].tolist() != ["every model"]


def test_the_ends_of_what_frequent_answers_cover_are_both_named():
    tenth = pd.DataFrame({"probe": ["x", "y"], "dataset": ["x", "y"], "top": words.TENTH, "share": [0.33, 0.3]})
    known = pd.DataFrame({"probe": ["x", "y"], "prompts": 50})
    (said,) = words.datasets({"concentration": tenth, "datasets": known, "leaks": pd.DataFrame()})
    assert "covers 30% of the prompts of y and 33% of those of x." in said.text and said.holds
