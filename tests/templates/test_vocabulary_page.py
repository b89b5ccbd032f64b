"""Accuracy by gold length and by model size, on rows small enough to check by hand."""

import math

import pandas as pd
import pytest
from conftest import small

import probekit as pk

from notebooks.templates import asking, sizes, vocabulary


def rows(model: str, style: str, ranks: list[int], lengths: list[int], **columns: list) -> pd.DataFrame:
    n = len(ranks)
    base = {
        "model": model, "probe": f"demo/{style}", "dataset": "demo", "style": style, "gold": asking.OWN, "rank": ranks,
        "prompt_id": [str(i) for i in range(n)], "fact_id": [str(i) for i in range(n)], "relation": ["a"] * n,
        "length": lengths, "predicted": [1] * n, "unknown": [False] * n, "rivals": [2] * n, "same_length": ranks,
    }  # fmt: skip
    return pd.DataFrame({**base, **columns})


def listed(*models: str, probe: str = "demo/natural", lengths: tuple[int, ...] = (1, 1, 2, 9)) -> pd.DataFrame:
    names = [f"e{i}" for i in range(len(lengths))]
    one = pd.DataFrame({"entity": names, "length": lengths, "unknown": [False] * len(names), "probe": probe})
    return pd.concat([one.assign(model=model) for model in models])


def test_lengths_fall_into_four_bins():
    assert vocabulary.binned(pd.Series([0, 1, 2, 3, 4, 11])).tolist() == ["1", "1", "2", "3", "4+", "4+"]


def test_accuracy_and_shares_by_length_of_the_gold():
    measured = rows("m", "natural", [1, 2, 1, 5], [1, 1, 2, 7], predicted=[1, 1, 1, 2], same_length=[1, 1, 1, 5])
    table = vocabulary.tables(measured, listed("m"))["lengths"].set_index("tokens")
    assert table["golds"].to_dict() == {"1": 0.5, "2": 0.25, "4+": 0.25}
    assert table["candidates"].to_dict() == {"1": 0.5, "2": 0.25, "4+": 0.25}
    assert table["predictions"].to_dict() == {"1": 0.75, "2": 0.25, "4+": 0.0}
    assert table["acc@1"].to_dict() == {"1": 0.5, "2": 1.0, "4+": 0.0}
    assert table["same_length"].to_dict() == {"1": 1.0, "2": 1.0, "4+": 0.0}
    assert table["chance"].tolist() == [0.5, 0.5, 0.5]


def test_confusion_of_lengths_adds_up_to_one():
    measured = rows("m", "natural", [1, 2, 1, 5], [1, 1, 1, 7], predicted=[1, 2, 1, 1])
    table = vocabulary.tables(measured, listed("m"))["confusion"].set_index("tokens")
    assert table.loc["1", "predicted_1"] == pytest.approx(2 / 3) and table.loc["1", "predicted_2"] == pytest.approx(
        1 / 3
    )
    assert table.loc["4+", "predicted_1"] == 1.0
    assert table.filter(like="predicted_").sum(axis=1).tolist() == pytest.approx([1.0, 1.0])


def test_bias_counts_what_the_tokenizer_does_not_know_and_compares_within_relations():
    measured = rows(
        "m", "natural", [1, 2, 1, 1], [1, 1, 3, 3], relation=["a", "a", "a", "b"], unknown=[True] + [False] * 3
    )
    found = vocabulary.tables(measured, listed("m").assign(unknown=[True, True, False, False]))
    row = found["bias"].iloc[0]
    assert (row["unknown_golds"], row["unknown_candidates"]) == (1, 2)
    assert row["longer"] == -1.0 and row["same"] == 0.5 and row["mean_length"] == 2.0
    contrasts = found["one_token"].set_index("contrast")
    # one of two against two of two; within relation a, which alone has golds of both kinds, against one of one
    assert contrasts["difference"].to_dict() == {"all golds": -0.5, "within relations": -0.5}
    assert contrasts["one_token"].tolist() == [2, 2]


def test_golds_of_one_kind_have_nothing_to_compare():
    found = vocabulary.tables(rows("m", "natural", [1, 2], [1, 1]), listed("m"))
    assert found["one_token"].empty and found["overall"].empty


def test_recorded_tables_hold_no_gaps():
    """Tables are read back without a mark for missing numbers."""
    measured = rows("m", "natural", [1, 2, 1, 1], [1, 1, 3, 3])
    alone = rows("n", "natural", [1, 2, 1, 1], [1, 1, 1, 1])
    found = vocabulary.tables(pd.concat([measured, alone]), listed("m", "n"))
    assert not [name for name, table in found.items() if table.isna().any().any()]


def test_the_overall_difference_averages_over_models_whose_tokenizers_differ():
    first = rows("m", "natural", [1, 1, 2, 2], [1, 1, 2, 2])  # 1 - 0
    second = rows("n", "natural", [1, 1, 2, 2], [1, 2, 2, 2])  # 1 - 1/3
    third = rows("o", "natural", [1, 1, 2, 2], [1, 1, 1, 1])  # golds of one token only: left out
    both = pd.concat([first, second, third])
    table = vocabulary.tables(both, listed("m", "n", "o"))["overall"].iloc[0]
    assert table["models"] == 2 and table["difference"] == pytest.approx((1 + 2 / 3) / 2)
    assert table["low"] <= table["difference"] <= table["high"]


def test_settings_are_compared_apart_on_golds_of_one_token():
    template = rows("m", "template", [1, 2, 2, 2], [1, 1, 2, 2])
    natural = rows("m", "natural", [1, 1, 1, 2], [1, 1, 2, 2])
    listing = pd.concat([listed("m"), listed("m", probe="demo/template")])
    found = vocabulary.tables(pd.concat([template, natural]), listing)
    assert found["settings"].set_index("gold")["difference"].to_dict() == {"one token": 0.5, "longer": 0.5}
    gaps = found["gaps"].set_index("tokens")
    assert gaps.loc["1", ["natural", "template"]].tolist() == [1.0, 0.5]
    assert vocabulary.tables(natural, listed("m"))["settings"].empty


def test_measuring_asks_a_loaded_model_for_its_own_tokens(tmp_path):
    model = small("bert")
    model.network.save_pretrained(tmp_path / "mine")
    model.tokenizer.save_pretrained(tmp_path / "mine")
    probe = pk.load_probe("demo/natural", limit=12)
    model = pk.load_model(str(tmp_path / "mine"))
    ranks = asking.ask(model, probe)
    measured, candidates = vocabulary.measure(ranks, [str(tmp_path / "mine")], [probe])
    assert len(measured) == 12 and len(candidates) == len(probe.entities)
    for gold, top, length, predicted in zip(
        measured["object"], measured["top"], measured["length"], measured["predicted"], strict=True
    ):
        assert (length, predicted) == (len(model.tokens(gold)), len(model.tokens(top[0])))
    assert (measured["same_length"] <= measured["rank"]).all()  # fewer compete


def test_only_pairs_that_were_asked_are_compared():
    assert sizes.known_pairs([["a", "b"], ["a", "c"]], ["a", "b"]) == [("a", "b")]


def test_size_is_compared_fact_by_fact():
    table = pd.concat(
        [
            rows("s", "natural", [1, 2, 2, 2], [1] * 4), rows("l", "natural", [1, 1, 1, 2], [1] * 4),
            rows("s", "template", [2, 2, 1, 2], [1] * 4), rows("l", "template", [2, 2, 2, 2], [1] * 4),
        ]
    )  # fmt: skip
    found = sizes.accuracy_pairs(table, [("s", "l")]).set_index("style")
    assert found["difference"].to_dict() == {"natural": 0.5, "template": -0.25}
    assert found.loc["natural", ["of_smaller", "of_larger"]].tolist() == [0.25, 0.75]
    assert found.loc["natural", "p"] == 0.5  # two of four facts differ: half of the four flips lie as far out
    assert sizes.style_pairs(table, [("s", "l")])["difference"].tolist() == [0.75]
    assert sizes.style_pairs(table[table["style"] == "natural"], [("s", "l")]).empty


def made(name: str, style: str, facts: list[str]) -> pk.Probe:
    texts = [f"{style} of {fact} is [MASK]" for fact in facts]
    frame = pd.DataFrame({"prompt_id": range(len(facts)), "text": texts, "gold": [["town"]] * len(facts)})
    return pk.Probe(name, frame.assign(fact_id=facts), ["town", "x"], style=style)


def test_the_same_facts_are_drawn_in_both_styles():
    probes = [made("w/template", "template", list("abcde")), made("w/natural", "natural", list("edcbbx"))]
    (_, template), (_, natural) = sizes.draw(probes, 3, seed=1)
    assert [t.replace("template", "natural") for t in template] == natural and len(set(natural)) == 3
    (_, every), _ = sizes.draw(probes, 100, seed=1)
    assert sorted(every) == [f"template of {fact} is town" for fact in "bcde"]
    assert (
        len(sizes.draw([made("w/template", "template", ["a"]), made("w/natural", "natural", ["z"])], 5, 0)[0][1]) == 1
    )


def test_perplexities_are_paired_text_by_text(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path))
    for name in ("bert", "roberta"):
        small(name).network.save_pretrained(tmp_path / name)
        small(name).tokenizer.save_pretrained(tmp_path / name)
    first, second = (str(tmp_path / name) for name in ("bert", "roberta"))
    probes = [made("w/natural", "natural", ["a", "town", "x"])]
    row = sizes.perplexity_pairs(probes, [(first, second)], 10).iloc[0]
    texts = [f"natural of {fact} is town" for fact in ("a", "town", "x")]
    mine, other = (pk.pseudo_perplexity(small(name), texts)["perplexity"] for name in ("bert", "roberta"))
    ratios = (other / mine).map(math.log)
    assert row["ratio"] == pytest.approx(ratios.mean(), abs=1e-3)
    assert row["smaller_lower"] == (ratios > 0).mean() and not row["same_tokens"]
    assert (row["smaller"], row["larger"], row["texts"]) == ("bert", "roberta", 3)
    assert sizes.perplexity_pairs(probes, [(first, first)], 10).iloc[0]["same_tokens"]
