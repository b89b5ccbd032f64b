"""Page 18 on rows small enough to check by hand."""

import math

import pandas as pd
import pytest
from conftest import small
from test_reading import own_model as own_model

import probekit as pk
from probekit.report import recorded_tables
from probekit.report.verdicts import concluded
from probekit.run import answer

from notebooks.templates import ask, paper, reading, vocabulary
from notebooks.templates import text as words


def rows(model: str, style: str, ranks: list[int], lengths: list[int], **columns: list) -> pd.DataFrame:
    n = len(ranks)
    base = {
        "model": model, "probe": f"demo/{style}", "dataset": "demo", "style": style, "rank": ranks,
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
    measured = rows("m", "natural", [1, 2, 1, 1] * 6, [1, 1, 3, 3] * 6)
    alone = rows("n", "natural", [1, 2, 1, 1] * 6, [1] * 24)
    found = vocabulary.tables(pd.concat([measured, alone]), listed("m", "n"))
    assert not [name for name, table in found.items() if table.isna().any().any()]


def test_the_overall_difference_averages_over_models_whose_tokenizers_differ():
    first = rows("m", "natural", [1, 1, 2, 2] * 3, [1, 1, 2, 2] * 3)  # 1 - 0
    second = rows("n", "natural", [1, 1, 2, 2] * 3, [1, 2, 2, 2] * 3)  # 1 - 1/3
    third = rows("o", "natural", [1, 1, 2, 2] * 3, [1] * 12)  # golds of one token only: left out
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


def test_measuring_asks_a_loaded_model_for_its_own_tokens(own_model):
    page, model, probe = own_model("18_vocabulary"), small("bert"), pk.load_probe("demo/natural", limit=12)
    answers = answer([ask.ranking("m", probe)])
    measured, candidates = vocabulary.measure(page, ask.rows(*answers), answers)
    assert len(measured) == 12 and len(candidates) == len(probe.entities)
    assert measured["length"].tolist() == [len(model.tokens(gold)) for gold in measured["object"]]
    assert measured["predicted"].tolist() == [len(model.tokens(top[0])) for top in measured["top"]]
    assert (measured["same_length"] <= measured["rank"]).all()  # fewer compete


def test_only_pairs_that_were_asked_are_compared():
    assert vocabulary.known_pairs([["a", "b"], ["a", "c"]], ["a", "b"]) == [("a", "b")]
    nothing = vocabulary.size_tables(pd.DataFrame(), pd.DataFrame(columns=reading.COLUMNS), [])
    assert all(table.empty for table in nothing.values())


def read(model: str, style: str, perplexities: list[float], cut: int = 1) -> pd.DataFrame:
    about = {"model": model, "probe": f"demo/{style}", "dataset": "demo", "style": style}
    return pd.DataFrame(
        {"perplexity": perplexities, "token_ids": [(cut, i) for i in range(len(perplexities))], **about}
    )


SIZES = pd.concat(
    [
        rows("s", "natural", [1, 2, 2, 2], [1] * 4), rows("l", "natural", [1, 1, 1, 2], [1] * 4),
        rows("s", "template", [2, 2, 1, 2], [1] * 4), rows("l", "template", [2, 2, 2, 2], [1] * 4),
    ]
)  # fmt: skip
TEXTS = pd.concat([read("s", "natural", [2.0, 8.0]), read("l", "natural", [1.0, 2.0])])


def test_size_is_compared_fact_by_fact():
    found = vocabulary.size_tables(SIZES, TEXTS, [("s", "l")])
    accuracy = found["accuracy_pairs"].set_index("style")
    assert accuracy["difference"].to_dict() == {"natural": 0.5, "template": -0.25}
    assert accuracy.loc["natural", ["of_smaller", "of_larger"]].tolist() == [0.25, 0.75]
    assert accuracy.loc["natural", "p"] == 0.5  # two of four facts differ: half of the four flips lie as far out
    assert found["style_pairs"]["difference"].tolist() == [0.75]
    assert vocabulary.size_tables(SIZES[SIZES["style"] == "natural"], TEXTS, [("s", "l")])["style_pairs"].empty


def test_perplexities_are_paired_text_by_text():
    row = vocabulary.size_tables(SIZES, TEXTS, [("s", "l")])["perplexity_pairs"].iloc[0]
    assert row["ratio"] == pytest.approx((math.log(1 / 2) + math.log(2 / 8)) / 2)
    assert row["of_smaller"] == pytest.approx(4) and row["of_larger"] == pytest.approx(2**0.5)
    assert row["smaller_lower"] == 0 and row["same_tokens"] and row["texts"] == 2
    other = pd.concat([read("s", "natural", [2.0, 8.0]), read("l", "natural", [1.0, 2.0], cut=2)])
    cut = vocabulary.size_tables(SIZES, other, [("s", "l")])["perplexity_pairs"]
    assert not cut["same_tokens"].any() and words.comparable(cut).empty


def test_conclusions_on_vocabulary_and_size():
    measured = pd.concat([SIZES.assign(model="m"), SIZES.assign(model="n")]).drop_duplicates(
        ["model", "style", "prompt_id"]
    )
    listing = pd.concat([listed("m", "n", probe=f"demo/{style}") for style in ("natural", "template")])
    texts = pd.concat([read("s", "natural", [2.0, 8.0] * 4), read("l", "natural", [1.0, 2.0] * 4)])
    found = vocabulary.tables(measured, listing) | vocabulary.size_tables(SIZES, texts, [("s", "l")])
    table = concluded(vocabulary.conclusions(found))
    assert table["claim"].tolist() == ["001-07h", "001-07h", "001-08a", "001-08g", "001-08h", "001-12b"]
    assert table["model"].tolist() == ["m", "n", "l", "l", "l", "l"]  # each model, not their mean
    last = table.set_index("claim").loc["001-12b"]
    assert last["units"] == 8 and last["verdict"] == "" and last["estimate"] < 0 and last["pair"] == "l over s"
    assert table["estimate"].tolist()[2:4] == [0.5, 0.75]
    assert table["lineage"].tolist() == ["", "", "l", "l", "l", "l"]  # the family, where the models are known


def test_the_answer_counts_where_the_styles_differ():
    rows = [("n", "natural sentences", 0.2, 0.1), ("c", "neither", -0.01, -0.05), ("d", "unknown", -0.2, -0.3)]
    gaps = pd.DataFrame(rows, columns=["model", "tuned", "difference", "low"])
    gaps = gaps.assign(high=gaps["low"] + 0.2, dataset="trex", tokens="1", facts=9)
    both, alone = (pd.DataFrame({"tokens": tokens}) for tokens in ([1, 2], [1]))

    def said(rows: pd.DataFrame, lengths: pd.DataFrame = both) -> str:
        return " ".join(one.text for one in words.vocabulary_answer({"gaps": rows, "lengths": lengths}))

    assert said(gaps).startswith("Where the answer is a single token, ") and "by template in 1 of 3 pairs" in said(gaps)
    assert said(gaps, alone).endswith("single tokens, so nothing is said of longer ones.") and said(gaps).endswith(
        "number. "
    )
    wide = gaps.assign(
        low=gaps["low"].where(gaps["model"] != "n", 0.01), high=gaps["high"].where(gaps["model"] != "n", 0.39)
    )
    assert "in 1 of 3 pairs" in said(wide)  # clear by itself, not among three
    assert "nothing is compared" in said(pd.DataFrame())


def test_what_layers_gain_is_said_of_the_laboratory_and_of_others_counted():
    rows = [("lab/size-2-s0", style, 0.2, 0.5, 0.1) for style in ("template", "natural")]
    rows += [("lab/size-3-s0", style, 0.3, 0.5, -0.3) for style in ("template", "natural")]
    pairs = pd.DataFrame(rows, columns=["smaller", "style", "of_smaller", "of_larger", "low"])
    pairs = pairs.assign(dataset="trex", floor=False, facts=8, high=pairs["low"] + 0.2, difference=pairs["low"] + 0.1)
    cut, counted = (one.text for one in words.sizes({"accuracy_pairs": pairs}))
    assert "cut to 2 layers finds 20% of all by template and 20%" in cut and cut.endswith(
        "50% and 50% (means over seeds)."
    )
    assert counted.startswith("In 4 comparisons") and "is ahead in 2 and behind in 2," in counted
    assert len(words.sizes({"accuracy_pairs": pairs.assign(of_larger=0.1)})) == 1
    assert len(words.sizes({"accuracy_pairs": pairs.assign(low=-0.1)})) == 1
    assert len(words.sizes({"accuracy_pairs": pairs.assign(smaller="s")})) == 1
    assert words.sizes({"accuracy_pairs": pd.DataFrame()}) == []


def test_only_probes_whose_lengths_differ_for_every_model_are_drawn():
    measured = pd.concat([rows("m", "natural", [1] * 24, [1, 2] * 12), rows("n", "natural", [1] * 24, [1, 2] * 12)])
    alone = rows("m", "template", [1] * 24, [1, 2] * 12), rows("n", "template", [1] * 24, [1] * 24)
    listing = pd.concat([listed("m", "n", probe=f"demo/{style}") for style in ("natural", "template")])
    found = vocabulary.tables(pd.concat([measured, *alone]), listing)
    assert words.asked_of_all(found)["probe"].tolist() == ["demo/natural"]
    assert words.lengths_matter(found)[0].text.startswith("Answers of one token are not shown")
    drawn = vocabulary.by_length(found)
    assert set(drawn["probe"]) == {"demo/natural"} and sorted(drawn["place"]) == [1, 1, 2, 2]


def test_the_papers_pairs_are_counted_in_its_tables():
    found = paper.size_counts()
    assert found[["setting", "comparisons", "smaller_ahead"]].to_numpy().tolist() == [
        ["template", 6, 2],
        ["template", 12, 4],
        ["natural", 3, 0],
        ["natural", 18, 1],
    ]


def test_recorded_lengths_are_drawn_where_they_differ():
    tables = {name: recorded_tables("18_vocabulary").get(name, pd.DataFrame()) for name in vocabulary.CAPTIONS}
    probes = set(vocabulary.by_length(tables)["probe"])
    assert probes <= {"medlama/template", "pubmed/chemical", "pubmed/gene"}  # LAMA's answers are single tokens


def test_lengths_that_cannot_differ_are_not_counted():
    bias = pd.DataFrame({"model": "m", "mean_length": [1.0, 1.0], "same": 1.0, "longer_low": 0.0, "longer_high": 0.0})
    tables = {"bias": bias, "overall": pd.DataFrame(), "lengths": pd.DataFrame()}
    assert "length cannot matter" in words.lengths_matter(tables)[0].text
    flat, first = words.lengths_matter(tables | {"bias": bias.assign(mean_length=[1.0, 2.5])})
    assert flat.text.startswith("Answers of one token are not") and "in length in 0, and" in first.text
