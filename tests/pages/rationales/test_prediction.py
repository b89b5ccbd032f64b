"""Page 30 on made-up answers: accuracies, changes and sizes by hand, what follows, and what stands beside the paper."""

import numpy as np
import pandas as pd
import pytest

from probekit.probes.rationales import DIMENSIONS, RationaleSet, own_items
from probekit.probes.rationales.record import as_record
from probekit.report.tables import pick
from probekit.report.verdicts import concluded

from notebooks.rationales import prediction, text
from notebooks.rationales.measures import rationale_statistics
from notebooks.rationales.prediction import by_dimension


def answers(ranks: dict[str, int], items: RationaleSet, model: str = "m") -> pd.DataFrame:
    table = items.items
    original = table["original_id"].where(table["original_id"] != "", table["id"])
    columns = ["id", "language", "dimension", "perturbation", "original_id"]
    about = {"dataset": "own/en", "model": model, "original": original, "unknown": False, "among": 0}
    rank = [ranks.get(name, 0) for name in table["id"]]
    return table[columns].assign(rank=rank, predictions=[["xyz", "y", "z"]] * len(rank), **about)


def test_accuracy_counts_hits_and_draws_originals() -> None:
    items = own_items("en")
    first = items.items.iloc[0]["id"]
    table = prediction.accuracy(by_dimension(answers({first: 1, items.items.iloc[1]["id"]: 3}, items)))
    whole = pick(table, dimension="all", part="all").set_index("top")
    n = len(items.items)
    assert whole.loc[1, "estimate"] == pytest.approx(1 / n) and whole.loc[3, "estimate"] == pytest.approx(2 / n)
    assert whole.loc[1, "originals"] == (items.items["original_id"] == "").sum() < whole.loc[1, "records"] == n
    originals = pick(table, dimension="all", part="original", top=1)
    assert originals["records"].item() == whole.loc[1, "originals"]
    assert set(table["dimension"]) == {"all", "grammar", "semantics", "knowledge", "reasoning", "computation"}


def test_a_change_is_of_perturbed_records_less_their_originals() -> None:
    items = own_items("en")
    right = {name: 1 for name in items.items.loc[items.items["original_id"] == "", "id"]}
    table = pick(prediction.changes(by_dimension(answers(right, items))), dimension="all", top=1)
    assert table[["estimate", "low", "high"]].to_numpy().tolist() == [[-1, -1, -1]]


@pytest.mark.parametrize(
    ("dimensions", "verdicts"),
    [
        (("grammar", "semantics"), ["agrees"] * 6),
        (("grammar",), ["agrees"] * 3 + ["undecided"] * 3),
        (("computation",), ["undecided", "undecided", "contradicts"] * 2),
        ((), ["at the floor"] * 6),
    ],
)
def test_what_section_5_2_concludes(dimensions: tuple[str, ...], verdicts: list[str]) -> None:
    items = own_items("en")
    right = {name: 1 for name in items.items.loc[items.items["dimension"].isin(dimensions), "id"]}
    tables = prediction.tables({"own/en": items}, answers(right, items))
    rows = concluded(prediction.conclusions(tables))
    assert rows["verdict"].tolist() == verdicts
    assert set(rows["claim"]) == {"003-02b"} and set(rows["dataset"]) == {"own/en"} and set(rows["model"]) == {"m"}
    assert set(rows["n"]) == {40, 47} and set(rows["unit"]) == {"original"}


def test_nothing_right_is_not_known_to_be_never_right() -> None:
    items = own_items("en")
    row = pick(
        prediction.accuracy(by_dimension(answers({}, items))), dimension="computation", part="original", top=1
    ).iloc[0]
    assert row["estimate"] == row["low"] == 0 and row["high"] == pytest.approx(1 - 0.025 ** (1 / 20))


def test_what_a_wrong_filling_is() -> None:
    items = own_items("en")
    first, second = items.items["id"][:2]
    table = answers({first: 1}, items)
    table["predictions"] = [
        ["Books"] if name == second else row for name, row in zip(table["id"], table["predictions"], strict=True)
    ]
    made = prediction.shares(by_dimension(table), {"own/en": items})
    shares = pick(made, dimension="all").set_index("outcome")["estimate"]
    assert shares["right"] * len(table) == pytest.approx(1) and shares["echo"] * len(table) == pytest.approx(1)
    assert shares.sum() == pytest.approx(1)
    (said,) = text.echoes({"outcomes": made}, "own/en")
    assert said.text == "Of the wrong first fillings, 0% (m) repeat a word of the text."
    shares_of = made["outcome"].map({"right": 9 / 14, "echo": 1 / 14}).fillna(4 / 14)
    few = made.assign(records=14, estimate=shares_of)  # 5 wrong
    assert "20% (m)" in text.echoes({"outcomes": few}, "own/en")[0].text
    assert text.echoes({"outcomes": few.assign(records=11)}, "own/en") == []
    zh = own_items("zh")
    chinese = answers({}, zh).assign(predictions=[["桌 子"]] * len(zh.items))
    found = prediction.outcomes(zh, chinese)
    assert found["zh-grammar-01"] == "echo" and found["zh-grammar-02"] == "other wrong"


def test_a_constant_answer_is_the_floor() -> None:
    items = own_items("en")
    table = prediction.floors(answers({}, items), {"own/en": items})
    golds = [gold.lower() for golds in items.items["golds"] for gold in golds]
    assert table["constant"].item() == golds.count(table["answer"].item()) / len(items.items) < 0.05
    assert table["above"].item() == 0
    right = answers(dict.fromkeys(items.items["id"], 1), items)
    assert prediction.floors(right, {"own/en": items})["above"].item() == 1


def test_a_set_of_one_dimension_concludes_nothing() -> None:
    items = own_items("en")
    grammar = items.select(items.items["dimension"] == "grammar")
    tables = prediction.tables({"own/en": grammar}, answers({}, grammar))
    assert prediction.conclusions(tables).empty
    assert list(prediction.chart(tables, "own/en")["records"].unique()) == list(prediction.PARTS)


def test_the_answer_and_the_papers_tables() -> None:
    items = own_items("en")
    right = {name: 1 for name in items.items.loc[items.items["dimension"] == "grammar", "id"]}
    tables = prediction.tables({"own/en": items}, answers(right, items))
    said, ends = text.answer_prediction(tables, "own/en")
    n = len(items.items)
    originals = (items.items["perturbation"] == "none").sum()
    assert said.text.startswith(f"Of {n} slots of Own items, English ({originals} originals and their changed texts), ")
    assert said.text.endswith(f"the first filling is right in {len(right) / n:.0%} (m).")
    assert ends.text.startswith(
        "By dimension, m is right in 100% of the slots of grammar and in 0% of those of semantics, knowledge, "
        "reasoning and computation."
    )
    wrong = prediction.tables({"own/en": items}, answers({}, items))
    assert text.beside_constant(tables, "own/en").text.endswith("by 95% intervals 1 of 1 models exceeds this.")
    assert "intervals 0 of 1 models exceed" in text.beside_constant(wrong, "own/en").text
    assert text.unspelled(tables).text.startswith("Each model's vocabulary can spell")
    some = {"accuracy": tables["accuracy"].assign(unknown=0.25)}
    assert text.unspelled(some).text.endswith("up to 25% of a set (m on Own items, English).")
    chart = prediction.chart(tables, "own/en")
    assert list(chart["records"].unique()) == ["all", *DIMENSIONS] and set(chart["filling"]) == set(
        prediction.TOPS.values()
    )
    beside = prediction.beside_paper(tables["accuracy"], "en", ["own/en"])
    first = pick(beside, model="BERT-base", part="all", top=1, dimension="grammar").iloc[0]
    assert first["estimate"] == 52.2 and first["low"] != first["low"]
    assert pick(beside, model="m", part="all", top=1, dimension="grammar")["estimate"].item() == 100
    shown = prediction.as_in_paper(beside)
    assert list(shown.columns) == ["Model", "Data", *DIMENSIONS] and len(shown) == 5
    assert shown["grammar"].iloc[0] == "52.2" and shown["grammar"].iloc[-1].startswith("100.0 [86.8,")
    assert prediction.beside_paper(tables["accuracy"], "zh", [])["low"].isna().all()


def test_sizes_stand_beside_the_papers() -> None:
    sets = {"own/en": own_items("en"), "own/zh": own_items("zh")}
    tables = {"statistics": prediction.statistics(sets)}
    row = pick(prediction.sizes(tables, True), dataset="own/zh", dimension="grammar").iloc[0]
    assert (row["printed_pairs"], row["printed_ratio"]) == (701, 0.207)
    assert "printed_pairs" not in prediction.sizes(tables, False)


def test_a_model_that_is_asked_in_two_ways_is_counted_apart() -> None:
    """Dimensions are compared by the commoner way alone, and each way is said with its share."""
    items = own_items("en")
    grammar = (items.items["dimension"] == "grammar").to_numpy()
    odd = np.arange(len(grammar)) % 2 == 1
    rows = answers({}, items).assign(among=np.where(grammar & ~odd, 0, 9), rank=np.where(grammar & odd, 0, 1))
    tables = prediction.tables({"own/en": items}, rows)
    ways = tables["ways"].set_index("among")
    assert ways["records"].sum() == len(rows) and ways.loc[0, "estimate"] == 1 > ways.loc[9, "estimate"]
    gaps = pick(tables["directions"], dimension="grammar", against=["knowledge", "reasoning", "computation"])
    assert len(gaps) == 3 and (gaps["estimate"] == -1).all()  # where it chose: never right there, and always elsewhere
    said = " ".join(one.text for one in text.ways(tables))
    assert text.answer_prediction(tables, "own/en")[1].text.startswith("Where words follow the slot, m chose among")
    assert "by a choice among 9 answers, " in said and "by its own next tokens, 100% rightly." in said
    assert prediction.tables({"own/en": items}, rows.assign(among=0))["ways"].empty and not text.ways(
        {"ways": pd.DataFrame()}
    )


def test_sizes_and_lengths_by_hand() -> None:
    row = as_record("a", "The two dogs [MASK] barking.", ["are"], "grammar")
    row |= {"rationales": [[1, 2], [2]]}  # (2 + 1) / 2 of 5 words
    changes: list[dict[str, object]] = [
        {},
        {"id": "b", "perturbation": "important", "original_id": "a", "rationales": [[0, 1]]},
        {"id": "c", "dimension": "computation", "context": "[MASK] x y", "rationales": [[1]]},
        {"id": "d", "dimension": "computation", "rationales": []},
    ]
    items = RationaleSet("made here", pd.DataFrame([row | change for change in changes]))
    found = rationale_statistics(items)
    assert found["dimension"].tolist() == ["grammar", "computation"]
    assert found[["originals", "pairs"]].to_numpy().tolist() == [[1, 1], [2, 0]]
    assert found["ratio"].tolist() == pytest.approx([0.35, 0.5]) and found["words"].tolist() == [5, 3.5]
