"""Study 3's pages on made-up answers: what is asked, accuracies, saliency tables and sentences with weights."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from probekit.errors import ReportError
from probekit.probes.rationales import DIMENSIONS, RationaleSet, own_items
from probekit.report import Page
from probekit.scoring.saliency import oracle_saliency, random_saliency

from notebooks.rationales import (
    asking,
    completeness_view,
    contrasts_view,
    prediction,
    prediction_view,
    saliency,
    saliency_view,
)
from notebooks.rationales.asking import ATTENTION, GRADIENTS, ORACLE, RANDOM, RANDOM_WEIGHTS, TRAINED, Saliency
from notebooks.rationales.heat import LEVELS, level, sentence


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return Page("12_accuracy", tmp_path / "out", {})


def answers(ranks: dict[str, int], items: RationaleSet, model: str = "m") -> pd.DataFrame:
    table = items.items
    original = table["original_id"].where(table["original_id"] != "", table["id"])
    columns = ["id", "language", "dimension", "perturbation", "original_id"]
    about = {"dataset": "own/en", "model": model, "original": original, "unknown": False}
    return table[columns].assign(rank=[ranks.get(name, 0) for name in table["id"]], **about)


def test_sets_are_drawn_by_original_and_noted(page: Page) -> None:
    found = asking.load_sets(page, ["own/en", "demo/en"], limit=4)
    assert len(found["own/en"].items) == len(own_items("en").items)  # never drawn from
    drawn = found["demo/en"].items
    assert (drawn["original_id"] == "").sum() == 4 and len(drawn) == 12
    assert page.probes["demo/en"]["lines"] == 12
    assert asking.load_sets(page, ["demo/en"], 4, seed=0)["demo/en"].fingerprint == found["demo/en"].fingerprint
    with pytest.raises(ReportError, match="no set 'nothing'"):
        asking.load_sets(page, ["nothing"])


def test_a_file_is_a_set_and_holds_one_language(page: Page, tmp_path: Path) -> None:
    rows = pd.concat([own_items("en").items.iloc[:1], own_items("zh").items.iloc[:1]])
    rows.iloc[:1].to_json(tmp_path / "mine.jsonl", orient="records", lines=True, force_ascii=False)
    assert list(asking.load_sets(page, [str(tmp_path / "mine.jsonl")])) == ["mine.jsonl"]
    rows.to_json(tmp_path / "both.jsonl", orient="records", lines=True, force_ascii=False)
    with pytest.raises(ReportError, match="records in en and zh"):
        asking.load_sets(page, [str(tmp_path / "both.jsonl")])


def test_nobody_to_ask_and_unknown_weights_are_refused(page: Page) -> None:
    sets = asking.load_sets(page, ["own/zh"])
    with pytest.raises(ReportError, match="no model is asked any set"):
        asking.predict_all(page, ["zoo/bert-tiny"], [], sets)
    with pytest.raises(ReportError, match="no weights 'frozen'"):
        asking.attribute_all(page, [], [], sets, ["frozen"])
    assert asking.is_demo(["zoo/bert-tiny"]) and not asking.is_demo(["zoo/bert-tiny", "minilm-mlm"])


def test_accuracy_counts_hits_and_draws_originals() -> None:
    items = own_items("en")
    first = items.items.iloc[0]["id"]
    table = prediction.accuracy(answers({first: 1, items.items.iloc[1]["id"]: 3}, items))
    whole = prediction.pick(table, dimension="all", part="all").set_index("top")
    n = len(items.items)
    assert whole.loc[1, "estimate"] == pytest.approx(1 / n) and whole.loc[3, "estimate"] == pytest.approx(2 / n)
    assert whole.loc[1, "originals"] == (items.items["original_id"] == "").sum() < whole.loc[1, "records"] == n
    originals = prediction.pick(table, dimension="all", part="original", top=1)
    assert originals["records"].item() == whole.loc[1, "originals"]
    assert set(table["dimension"]) == {"all", "grammar", "semantics", "knowledge", "reasoning", "computation"}


def test_a_change_is_of_perturbed_records_less_their_originals() -> None:
    items = own_items("en")
    right = {name: 1 for name in items.items.loc[items.items["original_id"] == "", "id"]}
    table = prediction.pick(prediction.changes(answers(right, items)), dimension="all", top=1)
    assert table[["estimate", "low", "high"]].to_numpy().tolist() == [[-1, -1, -1]]
    assert "a fall" in prediction_view.change_sentence(table, "own/en")


@pytest.mark.parametrize(
    ("dimensions", "holds"), [(("grammar", "semantics"), 1), (("computation",), 0), ((), "undecided")]
)
def test_what_section_5_2_concludes(dimensions: tuple[str, ...], holds: int | str) -> None:
    items = own_items("en")
    right = {name: 1 for name in items.items.loc[items.items["dimension"].isin(dimensions), "id"]}
    assert prediction.conclusions(answers(right, items))["holds"].tolist() == [holds]


def test_what_a_page_prints_of_accuracy() -> None:
    items = own_items("en")
    tables = prediction.tables({"own/en": items}, answers({items.items.iloc[0]["id"]: 1}, items))
    assert "whose intervals meet" in prediction_view.answer(tables["accuracy"], "own/en")
    assert f"in 1 of {len(items.items)}." in prediction_view.floor(tables["accuracy"], "own/en")
    wide = prediction_view.wide(tables["accuracy"], "own/en")
    assert list(wide["Dimension"]) == ["all", "grammar", "semantics", "knowledge", "reasoning", "computation"]
    whole = prediction_view.everywhere(tables["accuracy"])
    assert set(whole["Set"]) == {"Own items, English"} and whole["Top 1, all"].tolist() == wide["Top 1, all"].tolist()
    assert prediction_view.unspelled(tables["accuracy"]).startswith("Each model's vocabulary can spell")
    some = tables["accuracy"].assign(unknown=0.25)
    assert prediction_view.unspelled(some).endswith("cannot be answered: 25.0% (m, Own items\\, English).")
    beside = prediction_view.beside_paper(tables["accuracy"], "own/en")
    assert beside.iloc[0]["Paper, its data and models (%)"] == "52.2 to 72.0" and len(beside) == 10
    assert "grammar 0.0" in prediction_view.describe(tables["accuracy"], "own/en")
    assert prediction_view.draw(tables["accuracy"], "own/en").axes[0].get_xlabel() == "top 1"


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
    cells = prediction.pick(tables["interpretability"], dimension="all")
    of = {(row.method, row.weights, row.metric): row for row in cells.itertuples()}
    for metric in saliency.METRICS:
        np.testing.assert_equal(of[ATTENTION, TRAINED, metric].estimate, of[ORACLE, "", metric].estimate)
    assert of[ORACLE, "", "F1"].estimate > of[RANDOM, "", "F1"].estimate + 0.3
    assert of[ORACLE, "", "F1"].low <= of[ORACLE, "", "F1"].estimate <= of[ORACLE, "", "F1"].high
    assert of[RANDOM, "", "PCC"].n == of[RANDOM, "", "MAP*"].n < of[RANDOM, "", "PCC, all pairs"].n
    found = prediction.pick(tables["contrasts"], metric="F1", dimension="all").set_index(["claim", "method"])["holds"]
    assert found[saliency.BETTER, ATTENTION] == found[saliency.LEARNED, ATTENTION] == 1
    assert found[saliency.SENSIBLE, ATTENTION] == 1
    assert found[saliency.LEARNED, GRADIENTS] == "undecided"  # the same draw: every difference is 0
    told = tables["completeness"].iloc[0]
    assert told["median"] == pytest.approx(0.001) and told["largest"] == 0.5
    assert told["below_1"] == pytest.approx(1 - 1 / len(items.items))


def test_what_a_page_prints_of_saliency() -> None:
    items = own_items("en")
    found = controls(items)
    tables = saliency.tables({"own/en": items}, found)
    assert "attention of `m` reaches F1" in saliency_view.answer(tables, "own/en")
    wide = saliency_view.wide(tables["interpretability"], "own/en")
    assert len(wide) == len(found) and wide["F1"].str.contains("[", regex=False).all()
    few = tables["interpretability"].assign(n=saliency_view.FEW - 1)
    assert set(saliency_view.wide(few, "own/en")["MAP"]) == {"– (n = 4)"}
    each = saliency_view.by_dimension(tables["interpretability"], "own/en")
    assert len(each) == 5 * len(found) and list(each["Dimension"].unique()) == list(DIMENSIONS)
    whole = saliency_view.everywhere(tables["interpretability"])
    assert set(whole["Set"]) == {"Own items, English"} and whole["F1"].tolist() == wide["F1"].tolist()
    one = tables["interpretability"][lambda table: table["dimension"] == "all"]
    assert saliency_view.by_dimension(one, "own/en").empty
    beside = saliency_view.beside_paper(tables["interpretability"], "own/en")
    assert len(beside) == 40 and beside.iloc[0]["Paper, its data and models"].startswith("0.4")
    lines = saliency_view.heat(items, found, "own/en", count=1)
    assert len(lines) == 3 and all("\n" not in line for line in lines)


def test_the_demo_world_stands_beside_no_paper() -> None:
    row = {"claim": saliency.BETTER, "metric": "F1", "dimension": "all", "estimate": 0.2, "low": 0.1, "high": 0.3}
    asked = [("own/zh", "m"), ("demo/zh", "m"), ("own/zh", "reader")]
    table = pd.DataFrame([row | {"dataset": dataset, "model": model} for dataset, model in asked])
    models = {
        "m": {"texts": ["demo-chinese.txt", "general.txt"]},
        "reader": {"texts": ["demo-chinese.txt"]},
        "other": {},
    }
    manifest = {"models": models, "probes": {"own/zh": {}, "demo/zh": {}}}
    told = saliency_view.findings(asking.outside_demo(table, manifest), table)[0]
    assert told.recorded == "m on Own items, Chinese agrees, 0.20 [0.10,\N{NO-BREAK SPACE}0.30]"
    assert "Demo world, Chinese" in told.demo and "reader" in told.demo
    assert asking.outside_demo(pd.DataFrame(), manifest).empty
    said = asking.invented(manifest)
    assert said.startswith("The facts of Demo world, Chinese are invented. All that `reader` read is invented")
    assert asking.invented({"models": {"m": {}}, "probes": {"own/zh": {}}}) == ""


def test_what_a_page_prints_of_differences() -> None:
    items = own_items("en")
    table = saliency.tables({"own/en": items}, controls(items))["contrasts"]
    said = contrasts_view.sentences(table, "own/en")
    assert said[0].startswith("F1, attention less integrated gradients: `m`") and "above zero" in said[0]
    tally = contrasts_view.tally(table, "own/en")
    assert tally.startswith("Own items\\, English, attention less integrated gradients: F1 above zero in 1 of 1 and M")
    assert "less random scores: F1 above zero in 1 of 2 and" in tally
    below = table.assign(low=-0.2, high=-0.1)
    assert "F1 above zero in 0 of 1, below in 1 and" in contrasts_view.tally(below, "own/en")
    assert contrasts_view.tally(table, "own/zh") == ""
    whole = contrasts_view.overview(table).set_index("Scores by")
    assert whole.loc[GRADIENTS, "F1, attention less integrated gradients"] == "–"
    assert whole.loc[GRADIENTS, "F1, less random scores"].startswith("0.00 [0.00,") and len(whole) == 2
    assert whole.loc[GRADIENTS, "F1, less the same on random weights"] == "–"
    each = contrasts_view.by_dimension(table)
    assert list(each.columns[5:]) == ["All", *(name.capitalize() for name in DIMENSIONS)]
    assert len(each) == len(table) / 6 and each["Grammar"].str.contains("[", regex=False).all()


def errors(change: list[float], gap: list[float]) -> pd.DataFrame:
    about = {"dataset": "own/en", "model": "m", "weights": TRAINED}
    sizes = np.abs(change)
    return pd.DataFrame({"change": change, "error": np.array(gap) / sizes}).assign(**about)


def test_completeness_in_words() -> None:
    about = {"dataset": "own/en", "model": "m", "weights": TRAINED, "records": 4}
    row = about | {"median": 0.002, "p90": 0.1, "p99": 0.2, "largest": 0.3, "below_1": 0.75}
    table = pd.DataFrame([row, row | {"weights": RANDOM_WEIGHTS}])
    said = completeness_view.sentence(table)
    assert said.endswith("`m` 0.20% on Own items\\, English, under 1% (75% of its 4 records lie under it).")
    assert "not under 1%" in completeness_view.sentence(table.assign(median=0.02))
    assert "`m` below 0.01% on" in completeness_view.sentence(table.assign(median=1e-6))
    assert completeness_view.sentence(table[1:]) == ""
    assert completeness_view.shown(table)["Below 1%"].tolist() == ["75.00%"] * 2


@pytest.mark.parametrize(
    ("change", "gap", "why"),
    [
        ([0.5, 0.5, 0.5, -0.5], [0.001, 0.001, 0.001, 0.1], "the sum is off more than the change is small"),
        ([0.5, 0.5, 0.5, -0.005], [0.001] * 4, "the change is small more than the sum is off"),
    ],
)
def test_why_a_completeness_error_is_large(change: list[float], gap: list[float], why: str) -> None:
    said = completeness_view.reasons(errors(change, gap))
    assert len(said) == 1 and "above 1% in 1 records" in said[0] and said[0].endswith(f"so {why}.")


def test_records_all_on_one_side_need_no_reason_and_a_curve_ends_at_one() -> None:
    table = errors([0.5, 0.5], [0.0001, 0.0002])
    assert completeness_view.reasons(table) == []
    figure = completeness_view.draw(table)
    line = figure.axes[0].lines[0]
    assert line.get_ydata()[-1] == 1 and np.asarray(line.get_xdata()).tolist() == pytest.approx([0.0002, 0.0004])
    plt.close(figure)


@pytest.mark.parametrize(("score", "expected"), [(0, 0), (0.01, 1), (0.25, 1), (0.26, 2), (1, LEVELS), (-1, LEVELS)])
def test_a_level_is_the_size_in_quarters(score: float, expected: int) -> None:
    assert level(score, 1.0) == expected
    assert level(score, 0.0) == 0


def test_a_sentence_shows_weight_without_colour_and_escapes_everything() -> None:
    words = ["a", "<b>", "[MASK]", "&", "c"]
    line = sentence("a <b>  [MASK] & c", words, [0, 1, 3, 4], [0.0, -1.0, 0.2, 1.0], 2, marked=[1], label="<m>")
    assert "<em>&lt;m&gt;</em>" in line
    assert '<span class="weight4 against" title="-1"><strong>&lt;b&gt;</strong></span>' in line
    assert '<span class="weight4" title="1">c<sub>1</sub></span>' in line
    assert '<span class="weight1" title="0.2">&amp;<sub>2</sub></span>' in line
    assert '<span class="weight0" title="0">a</span>' in line and '<span class="slot">[MASK]</span>' in line
    assert re.sub(r"<(/?(p|em|span|strong|sub)( [^<>]*)?)>", "", line).count("<") == 0


def test_chinese_words_stand_without_spaces() -> None:
    line = sentence("他有[MASK]书", ["他", "有", "[MASK]", "书"], [0, 1, 3], [1.0, 0.0, 0.0], 0)
    assert "</span><span" in line and "</span> <span" not in line
