"""Page 31 on made-up word scores: tables, conclusions, words with their weight, and what stands beside the paper."""

import numpy as np
import pandas as pd
import pytest

from probekit.probes.rationales import DIMENSIONS, RationaleSet, own_items
from probekit.probes.rationales.record import as_record
from probekit.report.tables import pick
from probekit.report.verdicts import concluded
from probekit.scoring.saliency import oracle_saliency, random_saliency
from probekit.scoring.saliency.erasure import ERASED

from notebooks.rationales import erasure, saliency, text
from notebooks.rationales.ask import ATTENTION, GRADIENTS, OF_GOLD, ORACLE, RANDOM, RANDOM_WEIGHTS, TRAINED, Saliency
from notebooks.rationales.measures import faithfulness, plausibility
from notebooks.rationales.saliency import Scored, values

Tables = dict[str, pd.DataFrame]


@pytest.fixture(scope="module")
def items() -> RationaleSet:
    """Six originals of each dimension with their perturbed records."""
    table = own_items("en").items
    originals = table[table["original_id"] == ""].groupby("dimension").head(6)["id"]
    return own_items("en").select(table["id"].isin(originals) | table["original_id"].isin(originals))


@pytest.fixture(scope="module")
def saliencies(items: RationaleSet) -> list[Saliency]:
    oracle, chance = oracle_saliency(items), random_saliency(items, 0)
    exact = {"explained": "x", "attributed": 1.0, "change": 1.0, "error": [0.001] * (len(oracle) - 1) + [0.5]}
    return [
        Saliency("own/en", "", ORACLE, "", oracle),
        Saliency("own/en", "", RANDOM, "", None),
        Saliency("own/en", "m", ATTENTION, TRAINED, oracle),
        Saliency("own/en", "m", GRADIENTS, TRAINED, chance.assign(**exact)),
        Saliency("own/en", "m", ATTENTION, RANDOM_WEIGHTS, random_saliency(items, 1)),
    ]


@pytest.fixture(scope="module")
def scored(items: RationaleSet, saliencies: list[Saliency]) -> Scored:
    return [(one, values(items, one.table)) for one in saliencies]


@pytest.fixture(scope="module")
def tables(items: RationaleSet, saliencies: list[Saliency]) -> Tables:
    return saliency.tables({"own/en": items}, filled(items), saliencies, lost(items))


def filled(items: RationaleSet, right: int = 1000) -> pd.DataFrame:
    """First fillings of a model that is right in the first records, and says *x* in the others."""
    table = items.items
    original = table["original_id"].where(table["original_id"] != "", table["id"])
    rank = [int(n < right) for n in range(len(table))]
    rows = table[["id", "dimension", "perturbation"]].assign(original=original, rank=rank, dataset="own/en", model="m")
    return rows.assign(predictions=[[gold[0] if hit else "x"] for gold, hit in zip(table["golds"], rank, strict=True)])


def lost(items: RationaleSet) -> pd.DataFrame:
    """Losses of every record: attention 0.1 and gradients 0.3 without their best words, random scores 0.1."""
    labels = items.items[["id", "dimension"]].assign(original=filled(items)["original"], dataset="own/en", model="m")
    parts = [
        labels.assign(method=method, erased=way, share=share, comprehensiveness=loss, sufficiency=0.2 - loss / 2)
        for method, loss in ((ATTENTION, 0.1), (GRADIENTS, 0.3), (RANDOM, 0.1), (ORACLE, 0.2))
        for way in ERASED
        for share in ("0.1", erasure.AREA, erasure.AS_MARKED)
    ]
    return pd.concat(parts, ignore_index=True)


def test_saliency_tables_judge_controls_and_models_alike(items: RationaleSet, tables: Tables) -> None:
    cells = pick(tables["interpretability"], dimension="all")
    of = {(row.method, row.weights, row.metric): row for row in cells.itertuples()}
    for metric in cells["metric"].unique():
        np.testing.assert_equal(of[ATTENTION, TRAINED, metric].estimate, of[ORACLE, "", metric].estimate)
    assert of[ORACLE, "", "F1"].estimate > of[RANDOM, "", "F1"].estimate + 0.3
    assert of[ORACLE, "", "F1"].low <= of[ORACLE, "", "F1"].estimate <= of[ORACLE, "", "F1"].high
    assert of[RANDOM, "", "PCC"].n == of[RANDOM, "", "MAP*"].n < of[RANDOM, "", "PCC, all pairs"].n
    draws = [plausibility(items, random_saliency(items, seed))["f1"].mean() for seed in range(60)]
    assert of[RANDOM, "", "F1"].estimate == pytest.approx(np.mean(draws), abs=3 * np.std(draws) / 60**0.5)
    pairs = [faithfulness(items, random_saliency(items, seed))["ap"].mean() for seed in range(20)]
    assert of[RANDOM, "", "MAP"].estimate == pytest.approx(np.mean(pairs), abs=4 * np.std(pairs) / 20**0.5)
    gaps = pick(tables["contrasts"], metric="F1", dimension="all").set_index(["claim", "method"])
    for claim in (saliency.BETTER, saliency.LEARNED, saliency.SENSIBLE):
        assert gaps.loc[(claim, ATTENTION), "low"] > 0
    gap = gaps.loc[(saliency.LEARNED, GRADIENTS)]
    assert gap["low"] < 0 < gap["high"]  # one draw less the expectation
    errors = tables["completeness"].iloc[0]
    assert errors["median"] == pytest.approx(0.001) and errors["largest"] == 0.5
    assert errors["below_1"] == pytest.approx(1 - 1 / len(items.items))


def test_a_claim_goes_by_its_metric(tables: Tables) -> None:
    rows = concluded(saliency.conclusions(tables))
    judged = [("003-08c", "F1", "all"), ("003-08c", "F1, punctuation open", saliency.FILLED), ("003-08e", "MAP", "all")]
    assert list(rows[["claim", "metric", "dimension"]].itertuples(index=False, name=None)) == judged
    assert (rows["verdict"] == "agrees").all() and (rows["dataset"] == "own/en").all() and (rows["model"] == "m").all()
    chinese = tables["contrasts"].assign(dataset="own/zh")
    assert saliency.conclusions(tables | {"contrasts": chinese}).empty  # said of the paper's models alone
    low = tables | {"floors": tables["floors"].assign(above=0)}
    assert set(concluded(saliency.conclusions(low))["verdict"]) == {"at the floor"}
    both = tables | {"contrasts": tables["contrasts"].assign(low=-0.3, high=-0.1)}
    assert set(concluded(saliency.conclusions(both))["verdict"]) == {"contradicts"}


WHAT = "the prediction's probability"


def test_the_answer_says_whether_predictions_rest_on_marked_words(tables: Tables) -> None:
    rests, said, whose = text.answer_saliency(tables, "own/en", WHAT)
    assert rests.text == "By deletion “m” rests more on the marked words than on others." and rests.holds
    assert said.text == (
        f"On Own items, English, deleting the marked words changes {WHAT} of “m” by -0.200, deleting as many words at "
        "random by -0.100."
    )
    assert (
        whose.text
        == "What a method but attention explains, unless the right word is named, is the first filling of “m”, right "
        "in 100% of slots on Own items, English."
    )
    unsure = tables | {"erased": tables["erased"].assign(low=0.0)}
    assert text.answer_saliency(unsure, "own/en", WHAT)[0].text.startswith("By deletion “m” is not shown to rest")
    bare = tables | {"erased": tables["erased"][:0]}
    assert text.answer_saliency(bare, "own/en", WHAT) == text.explained(tables, "own/en")


def test_attention_stands_beside_random_words_and_random_weights(tables: Tables) -> None:
    (said,) = text.plausible(tables, "own/en")
    cells = pick(tables["interpretability"], dimension="all", metric="F1").set_index(["method", "weights"])["estimate"]
    assert f"with an F1 of {cells[ATTENTION, TRAINED]:.2f} [" in said.text
    assert f"words at random reach {cells[RANDOM, '']:.2f}, and attention on" in said.text
    alone = tables["interpretability"][tables["interpretability"]["weights"] != RANDOM_WEIGHTS]
    assert text.plausible(tables | {"interpretability": alone}, "own/en") == []


def test_two_readings_of_faithfulness(tables: Tables) -> None:
    assert erasure.side(tables["erased"], "own/en", "m") == "less"
    alone = tables["erased"].assign(high=tables["erased"]["measure"].map({"comprehensiveness": -0.1, "sufficiency": 1}))
    assert erasure.side(alone, "own/en", "m") == "undecided"  # one measure is not both
    barely = tables["erased"].assign(estimate=-0.05, low=-0.098, high=-0.002)
    sides = [erasure.side(barely.assign(units=units), "own/en", "m") for units in (100, 99, 9)]
    assert sides == ["less", "undecided", "undecided"]  # of few originals, by a wider interval or not at all
    assert erasure.side(tables["erased"].assign(units=9), "own/en", "m") == "undecided"
    wide = tables["erased"].assign(low=-1.0, high=1.0)
    assert erasure.side(wide, "own/en", "m") == "undecided" and erasure.side(wide, "own/en", "other") == ""
    assert text.readings(tables, "own/en", WHAT) == []  # gradients were not asked on random weights
    parts = ((ATTENTION, TRAINED, 0.7), (GRADIENTS, TRAINED, 0.6), (ATTENTION, RANDOM_WEIGHTS, 0.64))
    means = pd.DataFrame([*parts, (GRADIENTS, RANDOM_WEIGHTS, 0.6)], columns=["method", "weights", "estimate"])
    means = means.assign(dataset="own/en", dimension="all", metric="MAP", model="m")
    said, learned = text.readings(tables | {"interpretability": means}, "own/en", WHAT)
    assert "a MAP of 0.70 and integrated gradients with 0.60 (m); deleting their first-ranked words" in said.text
    assert said.text.endswith("by -0.100 and -0.300.")
    assert "attention has the higher MAP (0.64 and 0.60)" in learned.text
    turned = tables | {"interpretability": means.assign(estimate=[0.7, 0.6, 0.6, 0.64])}
    assert text.readings(turned, "own/en", WHAT)[1].text.endswith("depends on the test.")
    reverse = tables | {"interpretability": means, "contrasts": tables["contrasts"].assign(low=-0.3)}
    assert text.readings(reverse, "own/en", WHAT) == [said]


def test_losses_by_hand(items: RationaleSet) -> None:
    means = erasure.means(lost(items))
    row = means.set_index(["erased", "method", "measure", "share"]).loc[
        ("masked", GRADIENTS, "comprehensiveness", erasure.AREA)
    ]
    assert row[["estimate", "low", "high"]].tolist() == pytest.approx([0.3] * 3) and row["records"] == len(items.items)
    gaps = erasure.contrasts(lost(items))
    marked = pick(gaps, share=erasure.AS_MARKED, measure="comprehensiveness", erased="masked").set_index("method")
    assert marked["estimate"].to_dict() == pytest.approx({ORACLE: 0.1, ATTENTION: -0.1})  # less random, less marked
    gaps = pick(gaps, share=erasure.AREA).set_index(["erased", "measure", "method", "against"])["estimate"]
    assert gaps["deleted", "comprehensiveness", ATTENTION, GRADIENTS] == pytest.approx(-0.2)
    assert gaps["deleted", "sufficiency", ATTENTION, GRADIENTS] == pytest.approx(0.05 - 0.15)  # low is faithful
    assert gaps["deleted", "sufficiency", GRADIENTS, RANDOM] == pytest.approx(0.1)
    shown = erasure.beside_random(means, "own/en")
    assert len(shown) == 4 and len(shown.columns) == 1 + 4
    assert erasure.means(pd.DataFrame()).empty and erasure.contrasts(pd.DataFrame()).empty


def test_copies_of_a_network_are_one_with_their_range(items: RationaleSet, saliencies: list[Saliency]) -> None:
    copies = [Saliency("own/en", "m", ATTENTION, RANDOM_WEIGHTS, random_saliency(items, n)) for n in (1, 2, 3)]
    scored = saliency.joined([(one, values(items, one.table)) for one in (*saliencies[:-1], *copies)])
    assert len(scored) == len(saliencies)
    cells = pick(saliency.interpretability(scored), weights=RANDOM_WEIGHTS, dimension="all").set_index("metric")
    each = [plausibility(items, one.table)["f1"].mean() for one in copies]
    assert cells.loc["F1", "estimate"] == pytest.approx(np.mean(each))
    assert cells.loc["F1", ["least", "most"]].tolist() == pytest.approx([min(each), max(each)])
    pairs = [faithfulness(items, one.table) for one in copies]
    assert cells.loc["PCC", "n"] == sum(int(pair["kept"].sum()) for pair in pairs)
    assert cells.loc["PCC", ["least", "most"]].isna().all()
    shown = saliency.overall({"interpretability": cells.reset_index()}, "own/en")["F1"].item()
    assert f"[{min(each):.2f},\u00a0{max(each):.2f}]" in shown


def test_gradients_of_the_gold_stand_beside_those_of_the_prediction(
    items: RationaleSet, saliencies: list[Saliency]
) -> None:
    gold = Saliency("own/en", "m", GRADIENTS + OF_GOLD, TRAINED, saliencies[2].table)  # as attention scores
    scored = [(one, values(items, one.table)) for one in (*saliencies, gold)]
    right = {("own/en", "m"): np.arange(len(items.items)) < 9}
    gaps = saliency.contrasts(scored, right)
    found = pick(gaps, claim=saliency.OF_THE_GOLD, metric="F1", dimension="all")
    assert found[["estimate", "low", "high"]].to_numpy().tolist() == [[0, 0, 0]]
    shown = saliency.by_target({"contrasts": gaps}, "own/en")
    assert list(shown.columns[-3:]) == [
        "all records, of the prediction",
        "filled rightly, of the prediction",
        "all records, of the gold",
    ]
    assert set(concluded(saliency.conclusions({"contrasts": gaps, "floors": pd.DataFrame()}))["claim"]) == {
        "003-08c",
        "003-08e",
    }
    others = gaps.assign(dataset="agreement")
    assert saliency.conclusions({"contrasts": others, "floors": pd.DataFrame()}).empty


def test_f1_stands_apart_by_what_is_filled_in(items: RationaleSet, scored: Scored) -> None:
    right = len(items.items) // 3
    table = saliency.by_outcome({"own/en": items}, filled(items, right), scored)
    rows = pick(table, method=ATTENTION).set_index("outcome")
    assert rows["n"].to_dict() == {"right": right, "other wrong": len(items.items) - right}
    f1 = plausibility(items, oracle_saliency(items))["f1"]
    assert rows.loc["right", "estimate"] == pytest.approx(f1[:right].mean())
    assert rows.loc["right", "chance"] == pytest.approx(plausibility(items, None)["f1"][:right].mean())
    shown = saliency.by_filling({"outcomes": table}, "own/en")
    assert shown["Method"].tolist() == [ATTENTION, GRADIENTS, RANDOM, "records"]
    assert shown["right"].iloc[-1] == str(right)


def test_punctuation_is_never_taken_into_a_rationale() -> None:
    row = as_record("a", "x , y . [MASK]", ["z"], "grammar", rationales=[[0]])
    items = RationaleSet("made here", pd.DataFrame([row]))
    table = oracle_saliency(items).assign(scores=[[0.1, 0.9, 0.05, 0.8]])
    assert plausibility(items, table)["f1"].item() == 1
    assert plausibility(items, table, punctuation=True)["f1"].item() == 0
    assert plausibility(items, table, ratio=1.0)["k"].item() == 2  # of four words two may be taken
    assert plausibility(items, None)["f1"].item() == 0.5
    assert plausibility(items, None, punctuation=True)["f1"].item() == 0.25


def test_tables_for_reading(tables: Tables) -> None:
    shown = saliency.overall(tables, "own/en")
    assert len(shown) == 5 and shown["F1"].str.contains("[", regex=False).all()
    few = tables | {"interpretability": tables["interpretability"].assign(n=saliency.FEW - 1)}
    assert set(saliency.overall(few, "own/en")["MAP"]) == {"–"}
    chart = saliency.chart(tables, demo=False)
    assert chart[["method", "model"]].to_numpy().tolist() == [
        [ATTENTION, "m"],
        [f"{ATTENTION}, random", "m"],
        [GRADIENTS, "m"],
        [RANDOM, "no model"],
        [ORACLE, "no model"],
    ]
    assert saliency.chart({"interpretability": chart.assign(dataset="demo/en")}, demo=False).empty
    beside = saliency.beside_paper(tables["interpretability"], "en", ["own/en"])
    assert len(pick(beside, metric="F1")) == 8 * 5 + 2 * 5 and set(beside["metric"]) == set(saliency.PRINTED)
    wide = saliency.as_in_paper(beside, ["F1"])
    assert list(wide.columns) == ["Model", "Data", "Method", *DIMENSIONS] and wide["grammar"].iloc[0] == "0.47"
    assert len(saliency.as_in_paper(beside, ["PCC", "MAP*"])) == 2 * 10


def test_words_show_what_was_filled_in_where_what_is_right(items: RationaleSet, saliencies: list[Saliency]) -> None:
    table = saliency.words({"own/en": items}, filled(items, right=0), saliencies)
    assert table["id"].nunique() == len(DIMENSIONS) and set(table["method"]) == {ATTENTION, GRADIENTS}
    record = items.items.set_index("id").loc[table["id"].iloc[0]]
    rows = pick(table, id=table["id"].iloc[0], method=ATTENTION)
    assert rows["word"].tolist() == record["words"] and rows.loc[rows["word"] == "[MASK]", "score"].isna().all()
    assert rows.loc[rows["marked"] == 1, "place"].tolist() == sorted(record["rationales"][0])
    assert set(rows["predicted"]) == {"x"} and set(rows["golds"]) == {", ".join(record["golds"])}
    assert sorted(rows["rank"].dropna()) == list(range(1, int(rows["rank"].max()) + 1))
    gold = table.assign(method=table["method"] + saliency.OF_GOLD)  # which where it is right weighs alike
    line = saliency.weighed(pd.concat([table, gold]).assign(predicted="<b>"), "own/en")
    assert "fills “&lt;b&gt;” where “" in line and line.count('<p class="saliency">') == 2 * len(DIMENSIONS)
    assert "<b>" not in line and "<details><summary>Own items, English: 9 more weighed sentences" in line


def test_how_near_the_sums_come() -> None:
    row = {"dataset": "own/en", "model": "m", "weights": TRAINED, "median": 0.002, "below_1": 0.75}
    (said,) = text.exactness({"completeness": pd.DataFrame([row, row | {"weights": RANDOM_WEIGHTS}])})
    assert said.text == (
        "Of the records of each trained model and set at least 75% have an error under 1% of the change explained."
    )
    assert text.exactness({"completeness": pd.DataFrame([row | {"weights": RANDOM_WEIGHTS}])}) == []


def test_two_models_are_compared_record_by_record(items: RationaleSet, scored: Scored) -> None:
    second = Saliency("own/en", "n", ATTENTION, TRAINED, random_saliency(items, 2))
    both = [*scored, (second, values(items, second.table))]
    gaps = saliency.against(both)
    cells = pick(saliency.interpretability(both), method=ATTENTION, dimension="all", weights=TRAINED)
    assert set(gaps["method"]) == {ATTENTION} and set(gaps["metric"]) == {"F1", "MAP"}
    for row in gaps.to_dict("records"):
        means = pick(cells, metric=row["metric"]).set_index("model")["estimate"]
        assert row["estimate"] == pytest.approx(means["m"] - means["n"]) and row["low"] > 0
    assert saliency.against(scored).empty
