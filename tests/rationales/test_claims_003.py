"""What decides the claims of paper 003 on its own models: each rule agrees, contradicts, or has no model to go by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from probekit.metrics import correlation_interval
from probekit.probes.rationales import DIMENSIONS, PERTURBATIONS, own_items
from probekit.report.claims import Judged, load_claims
from probekit.report.verdicts import concluded, judge
from probekit.scoring.saliency import random_saliency

from notebooks.rationales import changed, compared, paper, perturbations, prediction, rationale_length, saliency
from notebooks.rationales.ask import ATTENTION, GRADIENTS, TRAINED, Saliency
from notebooks.rationales.paper import BERT, ERNIE, ERNIE_LARGE, ROBERTA, ROBERTA_EN
from notebooks.rationales.scores import F1, F1_MARKS, MAP, PCC, Values, faithfulness, floors, plausibility

CHINESE, ENGLISH = paper.models("zh"), paper.models("en")
OF_PCC = ("003-08d", "003-11a", "003-11b")
RECORDS = ("003-01a", "003-07a", "003-12f")  # what is said of records that nobody else has


def verdict(claim: str, rows: pd.DataFrame) -> str:
    """What the ledger says of a claim by these conclusions, whatever confounds it."""
    (known,) = [one for one in load_claims() if one.id == claim]
    assert isinstance(known.source, Judged)
    found = concluded(rows) if len(rows) else pd.DataFrame(columns=["claim"])
    said = judge(known, found)[0]
    assert not known.source.confounded or said in ("confounded", "not run")
    return judge(replace(known, source=replace(known.source, confounded="")), found)[0]


def above(*names: str, low: tuple[str, ...] = ()) -> pd.DataFrame:
    """That these models do better than a constant answer, but for some."""
    sets = {name: "own/zh" if name in CHINESE else "own/en" for name in names}
    return pd.DataFrame([{"dataset": sets[name], "model": name, "above": int(name not in low)} for name in names])


def test_the_models_of_the_paper() -> None:
    assert sorted(CHINESE) == sorted([BERT, ROBERTA, ERNIE, ERNIE_LARGE]) and len(ENGLISH) == 4
    assert ROBERTA_EN in ENGLISH


def test_what_only_the_papers_records_tell_is_not_run_and_says_why() -> None:
    for claim in load_claims():
        if claim.id in RECORDS:
            assert isinstance(claim.source, str) and "two were found in public" in claim.source


# ---- page 30 ------------------------------------------------------------------------------------------------------


def predicted(models: list[str], language: str, right: tuple[str, ...]) -> pd.DataFrame:
    """Conclusions where models are right in some dimensions alone."""
    items, name = own_items(language), f"own/{language}"
    table = items.items
    about = table[["id", "language", "dimension", "perturbation", "original_id"]].assign(
        dataset=name,
        original=table["original_id"].where(table["original_id"] != "", table["id"]),
        unknown=False,
        rank=table["dimension"].isin(right).astype(int),
        predictions=[["xyz"]] * len(table),
    )
    asked = pd.concat([about.assign(model=model) for model in models], ignore_index=True)
    made = {"directions": prediction.directions(asked), "pairs": pd.DataFrame(), "floors": floors({name: items}, asked)}
    return prediction.conclusions(made)


@pytest.mark.parametrize(
    ("claim", "language", "right", "wrong"),
    [
        ("003-02a", "zh", ("grammar", "semantics"), ("knowledge",)),
        ("003-02c", "zh", ("grammar", "semantics", "reasoning"), ("computation",)),
        ("003-03a", "en", ("grammar", "semantics", "reasoning"), ("knowledge",)),
    ],
)
def test_dimensions_against_others(claim: str, language: str, right: tuple[str, ...], wrong: tuple[str, ...]) -> None:
    models = paper.models(language)
    assert verdict(claim, predicted(models, language, right)) == "reproduced"
    assert verdict(claim, predicted(models, language, wrong)) == "differs"
    assert verdict(claim, predicted(models, language, ("grammar",))) == "undecided"
    assert verdict(claim, predicted(models, language, ())) == "undecided"  # all at the floor
    assert verdict(claim, predicted(["zoo/bert-tiny", "minilm-mlm"], language, right)) == "not run"


# ---- page 31 ------------------------------------------------------------------------------------------------------

Level = dict[tuple[str, str], float]  # model, metric -> what attention reaches
HIGH: Level = {(ERNIE, F1): 0.8, (ERNIE_LARGE, F1): 0.4, (BERT, F1): 0.6, (ROBERTA, F1): 0.6}
HIGH |= {(ERNIE, MAP): 0.7, (ERNIE_LARGE, MAP): 0.5, (BERT, MAP): 0.6, (ROBERTA, MAP): 0.9}
LOW: Level = {key: 1.2 - value for key, value in HIGH.items()}


def scored(models: list[str], level: Level, leads: Mapping[str, float]) -> list[tuple[Saliency, dict[str, Values]]]:
    """Twelve originals of two pairs a dimension; integrated gradients stay behind attention by the lead of a metric."""
    generator = np.random.default_rng(0)
    dimensions = np.repeat(DIMENSIONS, 24)
    originals = np.array([f"{name}-{n // 2 % 12}" for n, name in enumerate(dimensions)])
    found = []
    for model in models:
        for method in (ATTENTION, GRADIENTS):
            metrics = {}
            for metric, lead in leads.items():
                mean = level.get((model, metric), 0.9) - lead * (method == GRADIENTS)
                numbers = mean + generator.normal(0, 0.02, len(dimensions))
                counted = np.arange(len(dimensions)) % 3 > 0 if metric == PCC else np.ones(len(dimensions), bool)
                metrics[metric] = Values(np.where(counted, numbers, 0), counted, originals, dimensions)
            if F1 in metrics:
                metrics[F1_MARKS] = metrics[F1]
            name = "own/en" if model in ENGLISH else "own/zh"
            found.append((Saliency(name, model, method, TRAINED, None), metrics))
    return found


def weighed(
    models: list[str],
    level: Level,
    leads: Mapping[str, float],
    low: tuple[str, ...] = (),
) -> pd.DataFrame:
    one = scored(models, level, leads)
    right = {(s.dataset, s.model): np.arange(len(metrics[F1].values)) % 2 == 0 for s, metrics in one if F1 in metrics}
    made = {
        "contrasts": saliency.contrasts(one, right),
        "pairs": compared.pairs(one),
        "measures": compared.measures(one),
    }
    return saliency.conclusions(made | {"floors": above(*models, low=low)})


AHEAD, BEHIND = {F1: 0.1, MAP: 0.2, PCC: 0.05}, {F1: -0.1, MAP: 0.02, PCC: -0.2}


@pytest.mark.parametrize("claim", [*compared.PAIRS, "003-08a", "003-08b", *OF_PCC])
def test_word_scores_of_the_papers_chinese_models(claim: str) -> None:
    assert verdict(claim, weighed(CHINESE, HIGH, AHEAD)) == "reproduced"
    against = weighed(CHINESE, LOW, BEHIND | ({MAP: -0.1} if claim == "003-08b" else {}))
    assert verdict(claim, against) == "differs"
    assert verdict(claim, weighed(["a", "b", "c", "d"], HIGH, AHEAD)) == "not run"
    low = weighed(CHINESE, HIGH, AHEAD, low=tuple(CHINESE))
    assert verdict(claim, low) == "undecided" and set(concluded(low)["verdict"]) == {"at the floor"}


def test_a_model_is_the_best_only_beside_all_others_that_are_named() -> None:
    lacking = weighed([ERNIE, BERT, ERNIE_LARGE], HIGH, AHEAD)
    assert verdict("003-10c", lacking) == verdict("003-10d", lacking) == "not run"
    assert verdict("003-10a", lacking) == "reproduced"
    floor = concluded(weighed(CHINESE, HIGH, AHEAD, low=(BERT,)))  # a rival that answers nothing is no rival
    rows = floor[floor["claim"] == "003-10c"].set_index("against")["verdict"]
    assert set(rows[BERT]) == {"at the floor"} and set(rows[ROBERTA]) == {"agrees"}


def test_differences_of_two_measures_by_hand() -> None:
    one = scored([ERNIE], HIGH, AHEAD)
    found = compared.measures(one).set_index("claim")
    means = {(s.method, m): v.values[v.counted].mean() for s, known in one for m, v in known.items()}
    m, p = (means[ATTENTION, metric] - means[GRADIENTS, metric] for metric in (MAP, PCC))
    assert found.loc["003-08d", "estimate"] == pytest.approx(p)
    assert found.loc["003-11a", "estimate"] == pytest.approx(-min(m + p, m - p))  # both above zero: not opposed
    assert found.loc["003-11b", "estimate"] == pytest.approx(-p)
    assert (found["low"] < found["estimate"]).all() and (found["estimate"] < found["high"]).all()
    level = compared.measures(scored([ERNIE], HIGH, {F1: 0, MAP: 0.1, PCC: -0.1})).set_index("claim")
    assert level.loc["003-11a", "low"] < 0 < level.loc["003-11a", "high"]  # of one size
    assert level.loc["003-11b", "low"] > 0
    nothing = [(s, known | {PCC: known[PCC]._replace(counted=known[PCC].counted & False)}) for s, known in one]
    assert compared.measures(nothing).empty


def test_attention_is_not_always_ahead_in_english() -> None:
    assert verdict("003-09a", weighed(ENGLISH, {}, BEHIND)) == "reproduced"
    assert verdict("003-09a", weighed(ENGLISH, {}, AHEAD)) == "differs"
    assert verdict("003-09a", weighed(["m", "n"], {}, BEHIND)) == "not run"
    mixed = scored([ROBERTA_EN], {}, AHEAD)
    for one, metrics in mixed:  # in computation alone they change places
        there = metrics[F1].dimensions == "computation"
        shift = 0.2 * there * (one.method == GRADIENTS)
        metrics[F1] = metrics[F1]._replace(values=metrics[F1].values + shift)
    made = {"contrasts": saliency.contrasts(mixed, {}), "pairs": pd.DataFrame(), "measures": pd.DataFrame()}
    assert verdict("003-09a", saliency.conclusions(made | {"floors": above(ROBERTA_EN)})) == "reproduced"


# ---- page 32 ------------------------------------------------------------------------------------------------------


def test_what_goes_with_the_length_ratio() -> None:
    items = own_items("zh")
    table = random_saliency(items, 0)
    asked = [Saliency("own/zh", model, ATTENTION, TRAINED, table) for model in (ERNIE, "other")]
    found = rationale_length.over_dimensions({"own/zh": items}, asked).set_index("claim")
    assert set(found["model"]) == {ERNIE}
    share = items.items.assign(
        share=[
            len(marks[0]) / (len(words) - words.count("[MASK]")) if marks else np.nan
            for marks, words in zip(items.items["rationales"], items.items["words"], strict=True)
        ]
    )
    ratios = share.groupby("dimension")["share"].mean().loc[list(DIMENSIONS)]
    for claim, scores, column in (
        ("003-12g", plausibility(items, table), "f1"),
        ("003-12h", faithfulness(items, table), "ap"),
    ):
        means = scores.groupby("dimension")[column].mean().loc[list(DIMENSIONS)]
        assert found.loc[claim, "estimate"] == pytest.approx(np.corrcoef(means, ratios)[0, 1], abs=0.02)
        assert (found.loc[claim, "low"], found.loc[claim, "high"]) == correlation_interval(
            found.loc[claim, "estimate"], 5
        )


@pytest.mark.parametrize("claim", ["003-12g", "003-12h"])
@pytest.mark.parametrize(("r", "said"), [(0.95, "reproduced"), (-0.99, "differs"), (0.8, "undecided")])
def test_a_correlation_over_five_dimensions_decides_where_it_is_high(claim: str, r: float, said: str) -> None:
    low, high = correlation_interval(r, 5)
    about = {"claim": claim, "dataset": "own/zh", "estimate": r, "low": low, "high": high}
    rows = pd.DataFrame([about | {"model": model, "method": method} for model in CHINESE for method in paper.METHODS])
    made = {"over_dimensions": rows, "directions": pd.DataFrame(), "floors": above(*CHINESE)}
    found = rationale_length.conclusions(made)
    assert verdict(claim, found) == said and set(found["unit"]) == {"dimension"}
    assert verdict(claim, rationale_length.conclusions(made | {"over_dimensions": pd.DataFrame()})) == "not run"


def test_a_correlation_over_five_dimensions_is_rarely_taken_for_one_by_chance() -> None:
    generator = np.random.default_rng(1)
    pairs = generator.normal(size=(2000, 2, 5))
    ends = [correlation_interval(float(np.corrcoef(one)[0, 1]), 5) for one in pairs]
    assert 0.03 < np.mean([low > 0 or high < 0 for low, high in ends]) < 0.065


# ---- page 33 ------------------------------------------------------------------------------------------------------


def answered(falls: Mapping[str, float], dispensable: Mapping[str, float], models: Mapping[str, str]) -> pd.DataFrame:
    """Thirty originals a dimension, all right; of their perturbed records so many (by kind; by set) are wrong."""
    rows = []
    for dataset, model in models.items():
        for dimension in DIMENSIONS:
            for kind in PERTURBATIONS:
                fall = dispensable.get(dataset, falls[kind]) if kind == PERTURBATIONS[0] else falls[kind]
                about = {"dataset": dataset, "model": model, "dimension": dimension, "perturbation": kind}
                for n in range(30):
                    one = {"original": f"{dataset} {dimension} {n}", "original_top1": 1.0}
                    rows.append(about | one | {"perturbed_top1": float(n >= 30 * fall), "same": 1.0})
    return pd.DataFrame(rows)


def moved(*args: Mapping[str, float], models: Mapping[str, str], low: tuple[str, ...] = ()) -> pd.DataFrame:
    made = changed.directions(answered(args[0], args[1], models), pd.DataFrame())
    return perturbations.conclusions({"directions": made, "floors": above(*models.values(), low=low)})


BOTH = {"own/en": ROBERTA_EN, "own/zh": ROBERTA}
LITTLE = dict(zip(PERTURBATIONS, (0.1, 0.1, 0.5), strict=True))
MUCH = dict(zip(PERTURBATIONS, (0.5, 0.5, 0.1), strict=True))


def test_the_chinese_model_is_robust_but_for_transformations() -> None:
    rows = moved(LITTLE, {}, models=BOTH)
    assert verdict("003-13b", rows) == "reproduced"
    assert rows.loc[rows["claim"] == "003-13b", "estimate"].tolist() == pytest.approx([0.4, 0.4])
    assert verdict("003-13b", moved(MUCH, {}, models=BOTH)) == "differs"
    assert verdict("003-13b", moved(LITTLE, {}, models={"own/zh": "zoo/bert-tiny-zh"})) == "not run"
    assert verdict("003-13b", moved(LITTLE, {}, models=BOTH, low=(ROBERTA,))) == "undecided"


def test_the_english_model_falls_more_under_dispensable_changes() -> None:
    rows = moved(LITTLE, {"own/en": 0.4, "own/zh": 0.0}, models=BOTH)
    assert verdict("003-18b", rows) == "reproduced"
    assert rows.loc[rows["claim"] == "003-18b", "estimate"].tolist() == pytest.approx([0.4] * 3)
    assert verdict("003-18b", moved(LITTLE, {"own/en": 0.0, "own/zh": 0.4}, models=BOTH)) == "differs"
    assert verdict("003-18b", moved(LITTLE, {"own/en": 0.4}, models={"own/en": ROBERTA_EN})) == "not run"
    other = {"own/en": "minilm-mlm", "own/zh": ROBERTA}
    assert verdict("003-18b", moved(LITTLE, {"own/en": 0.4}, models=other)) == "not run"
    for low in BOTH.values():
        assert verdict("003-18b", moved(LITTLE, {"own/en": 0.4}, models=BOTH, low=(low,))) == "undecided"


# ---- beside the printed cells ---------------------------------------------------------------------------------------


def test_what_we_have_of_a_model_stands_below_what_is_printed_of_it() -> None:
    printed = paper.accuracy_rows("zh").query("part == 'all' and top == 1")
    own = pd.DataFrame([{"model": name, "data": "own/zh"} for name in ("minilm-mlm", ERNIE, BERT)])
    names = paper.below(printed, own)["model"].drop_duplicates().tolist()
    assert names == ["BERT-base", BERT, "RoBERTa-base", "ERNIE-base", ERNIE, "ERNIE-large", "minilm-mlm"]
