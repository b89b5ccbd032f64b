"""Page 31 on made-up word scores: tables, conclusions, words with their weight, and what stands beside the paper."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from probekit.probes.rationales import DIMENSIONS, RationaleSet, own_items
from probekit.report.recording import recorded_tables
from probekit.report.tables import pick
from probekit.report.verdicts import concluded
from probekit.scoring.saliency import oracle_saliency, random_saliency

from notebooks.rationales import saliency
from notebooks.rationales.ask import ATTENTION, GRADIENTS, ORACLE, RANDOM, RANDOM_WEIGHTS, TRAINED, Saliency


def controls(items: RationaleSet) -> list[Saliency]:
    oracle, chance = oracle_saliency(items), random_saliency(items, 0)
    exact = {"predicted": "x", "attributed": 1.0, "change": 1.0, "error": [0.001] * (len(oracle) - 1) + [0.5]}
    return [
        Saliency("own/en", "", ORACLE, "", oracle),
        Saliency("own/en", "", RANDOM, "", chance),
        Saliency("own/en", "m", ATTENTION, TRAINED, oracle),
        Saliency("own/en", "m", GRADIENTS, TRAINED, chance.assign(**exact)),
        Saliency("own/en", "m", ATTENTION, RANDOM_WEIGHTS, random_saliency(items, 1)),
    ]


def test_saliency_tables_judge_controls_and_models_alike() -> None:
    items = own_items("en")
    tables = saliency.tables({"own/en": items}, controls(items))
    cells = pick(tables["interpretability"], dimension="all")
    of = {(row.method, row.weights, row.metric): row for row in cells.itertuples()}
    for metric in saliency.METRICS:
        np.testing.assert_equal(of[ATTENTION, TRAINED, metric].estimate, of[ORACLE, "", metric].estimate)
    assert of[ORACLE, "", "F1"].estimate > of[RANDOM, "", "F1"].estimate + 0.3
    assert of[ORACLE, "", "F1"].low <= of[ORACLE, "", "F1"].estimate <= of[ORACLE, "", "F1"].high
    assert of[RANDOM, "", "PCC"].n == of[RANDOM, "", "MAP*"].n < of[RANDOM, "", "PCC, all pairs"].n
    found = pick(tables["contrasts"], metric="F1", dimension="all").set_index(["claim", "method"])
    for claim in (saliency.BETTER, saliency.LEARNED, saliency.SENSIBLE):
        assert found.loc[(claim, ATTENTION), "low"] > 0
    assert found.loc[(saliency.LEARNED, GRADIENTS), ["low", "high"]].tolist() == [0, 0]  # the same draw
    told = tables["completeness"].iloc[0]
    assert told["median"] == pytest.approx(0.001) and told["largest"] == 0.5
    assert told["below_1"] == pytest.approx(1 - 1 / len(items.items))


def test_a_claim_goes_by_its_metric() -> None:
    items = own_items("en")
    tables = saliency.tables({"own/en": items}, controls(items))
    rows = concluded(saliency.conclusions(tables)).set_index("claim")
    assert rows["metric"].to_dict() == {"003-08c": "F1", "003-08e": "MAP"}
    assert (rows["verdict"] == "agrees").all() and (rows["dataset"] == "own/en").all() and (rows["model"] == "m").all()
    both = tables | {"contrasts": tables["contrasts"].assign(low=-0.3, high=-0.1)}
    assert set(concluded(saliency.conclusions(both))["verdict"]) == {"contradicts"}


def test_the_answer_lies_between_chance_and_the_marks() -> None:
    items = own_items("en")
    said = saliency.answer(saliency.tables({"own/en": items}, controls(items)), "own/en")
    assert "F1 of 0.87 for m; random scores reach 0.30 and the marks themselves 0.87." in said
    assert said.endswith("for m, more plausible (F1) than integrated gradients for m, and more faithful (MAP) for m.")


def test_tables_for_reading() -> None:
    items = own_items("en")
    tables = saliency.tables({"own/en": items}, controls(items))
    shown = saliency.overall(tables, "own/en")
    assert len(shown) == 5 and shown["F1"].str.contains("[", regex=False).all()
    few = tables | {"interpretability": tables["interpretability"].assign(n=saliency.FEW - 1)}
    assert set(saliency.overall(few, "own/en")["MAP"]) == {"–"}
    chart = saliency.chart(tables, demo=False)
    assert chart[["method", "model"]].to_numpy().tolist() == [
        [ATTENTION, "m"],
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


def test_words_show_what_was_filled_in_where_what_is_right() -> None:
    items = own_items("en")
    table = saliency.words({"own/en": items}, controls(items))
    assert table["id"].nunique() == len(DIMENSIONS) and set(table["method"]) == {ATTENTION, GRADIENTS}
    record = items.items.set_index("id").loc[table["id"].iloc[0]]
    rows = pick(table, id=table["id"].iloc[0], method=ATTENTION)
    assert rows["word"].tolist() == record["words"] and rows.loc[rows["word"] == "[MASK]", "score"].isna().all()
    assert rows.loc[rows["marked"] == 1, "place"].tolist() == sorted(record["rationales"][0])
    assert set(rows["predicted"]) == {"x"} and set(rows["golds"]) == {", ".join(record["golds"])}
    assert sorted(rows["rank"].dropna()) == list(range(1, int(rows["rank"].max()) + 1))
    line = saliency.heat(table.assign(predicted="<b>"), "own/en")
    assert "fills “&lt;b&gt;” where “" in line and line.count('<p class="saliency">') == 2 * len(DIMENSIONS)
    assert "<b>" not in line and line.startswith("<details><summary>Own items, English: 10 weighed sentences")


def errors(change: list[float], gap: list[float]) -> pd.DataFrame:
    about = {"dataset": "own/en", "model": "m", "weights": TRAINED}
    sizes = np.abs(change)
    return pd.DataFrame({"change": change, "error": np.array(gap) / sizes}).assign(**about)


@pytest.mark.parametrize(
    ("change", "gap", "why"),
    [
        ([0.5, 0.5, 0.5, -0.5], [0.001, 0.001, 0.001, 0.1], "the sum misses the change by much"),
        ([0.5, 0.5, 0.5, -0.005], [0.001] * 4, "the change is small"),
    ],
)
def test_why_a_completeness_error_is_large(change: list[float], gap: list[float], why: str) -> None:
    about = {"dataset": "own/en", "model": "m", "weights": TRAINED, "median": 0.002, "below_1": 0.75}
    table = pd.DataFrame([about, about | {"weights": RANDOM_WEIGHTS, "median": 1.0}])
    said = saliency.exactness({"completeness": table, "errors": errors(change, gap)})
    assert "under 1% in 1 of 1 cases" in said and "from 75% to 75%" in said
    assert said.endswith(f"1 records lie above 1% because {why}.")


def test_records_all_on_one_side_need_no_reason() -> None:
    table = pd.DataFrame([{"weights": RANDOM_WEIGHTS, "median": 1.0}])
    assert saliency.exactness({"completeness": table, "errors": errors([0.5], [0.0001])}) == ""
    one = table.assign(weights=TRAINED, median=0.0, below_1=1.0)
    assert "because" not in saliency.exactness({"completeness": one, "errors": errors([0.5, 0.5], [0.0001, 0.0002])})


def test_recorded_tables_have_captions_and_conclude_what_was_recorded() -> None:
    recorded = recorded_tables("31_saliency")
    assert set(recorded) <= set(saliency.CAPTIONS)
    rows = pick(concluded(saliency.conclusions(recorded)), dataset="own/en", model="minilm-mlm")
    assert rows.set_index("claim")["verdict"].to_dict() == {"003-08c": "undecided", "003-08e": "agrees"}
