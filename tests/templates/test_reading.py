"""The tables of the section on perplexity, on numbers small enough to check by hand."""

import numpy as np
import pandas as pd
import pytest
from conftest import small
from hypothesis import given
from hypothesis import strategies as st

import probekit as pk
from probekit.metrics import separation
from probekit.report import Page
from probekit.scoring import pseudo_perplexity

from notebooks.templates import asking, perplexity, perplexity_findings, reading


def made(hits: dict[str, list[int]], perplexities: dict[str, list[float]], probe: str = "trex/template"):
    """Ranks of all prompts and perplexities of the first ones, one prompt a fact; ten tokens and 40 characters each."""
    style = probe.rpartition("/")[2]
    about = {"probe": probe, "style": style}
    ranks = [
        {"model": m, **about, "prompt_id": str(i), "fact_id": str(i), "gold": asking.OWN, "rank": 1 if hit else 2}
        for m, row in hits.items()
        for i, hit in enumerate(row)
    ]
    texts = [
        {"model": m, **about, "prompt_id": str(i), "fact_id": str(i), "perplexity": value,
         "log_prob": -10 * np.log(value), "tokens": 10, "characters": 40}
        for m, row in perplexities.items()
        for i, value in enumerate(row)
    ]  # fmt: skip
    return pd.DataFrame(ranks), pd.DataFrame(texts)


def test_mean_median_corpus_and_bits_by_hand():
    row = perplexity.tables(*made({"m": [1, 0, 0]}, {"m": [1.0, 2.0, 32.0]}))["perplexity"].iloc[0]
    assert row["mean"] == pytest.approx(35 / 3) and row["median"] == 2.0
    assert row["corpus"] == pytest.approx(2**2) and row["bits"] == pytest.approx((0 + 10 + 50) / 120)
    assert row["highest"] == pytest.approx(32 / 35) and row["tokens"] == 10
    for name in ("mean", "median", "corpus", "bits"):
        assert row[f"{name}_low"] <= row[name] <= row[f"{name}_high"]


def test_an_answered_prompt_is_compared_with_all_others():
    right, wrong = [1.0, 1.0, 1.0, 5.0, 5.0], [3.0, 3.0, 3.0, 5.0, 5.0]
    ranks, texts = made({"m": [1] * 5 + [0] * 5 + [1]}, {"m": right + wrong})  # the last prompt was not read
    found = perplexity.tables(ranks, texts)
    row = found["answered"].iloc[0]
    assert (row["texts"], row["right"]) == (10, 5)
    assert row["auc"] == pytest.approx((3 * 5 + 2 * 2 * 0.5) / 25)
    assert found["styles"].iloc[0][["measure", "averaged", "value"]].to_list() == ["inside models", 1, row["auc"]]
    assert perplexity_findings.style_verdict(found, "template", perplexity.INSIDE).startswith(
        "undecided: chance of a lower"
    )
    assert perplexity.tables(ranks, texts[1:])["answered"].empty  # four answered ones are too few


def test_verdicts_take_the_sign_the_paper_finds():
    def side(style, value, measure=perplexity.OVER):
        row = {
            "style": style,
            "measure": measure,
            "averaged": 2,
            "value": value,
            "value_low": value,
            "value_high": value,
        }
        sets = {"style": style, "sets": 4, "r": value, "r_low": value, "r_high": value, "r_p": 0.2, "models": 3}
        perplexities = {"model": "m", "probe": "squad", "mean": 7.0, "mean_low": 6.0, "mean_high": 8.0}
        return {"styles": pd.DataFrame([row]), "sets": pd.DataFrame([sets]), "perplexity": pd.DataFrame([perplexities])}

    rising, falling = side("template", 0.5), side("natural", -0.5)
    expected = "agrees: r 0.50 [0.50,\N{NO-BREAK SPACE}0.50] over 4 data sets, p 0.200"
    assert perplexity_findings.correlation_verdict(rising, "template") == expected
    assert perplexity_findings.correlation_verdict(falling, "natural").startswith("agrees")
    assert perplexity_findings.correlation_verdict(side("natural", 0.5), "natural").startswith("contradicts")
    assert perplexity_findings.correlation_verdict(rising, "natural").startswith("not asked")
    assert perplexity_findings.style_verdict(falling, "natural", perplexity.OVER).startswith("agrees")
    inside = side("natural", 0.8, perplexity.INSIDE)  # answered prompts surprise less: accuracy falls with perplexity
    assert perplexity_findings.style_verdict(inside, "natural", perplexity.INSIDE).startswith("agrees")
    inside = side("template", 0.8, perplexity.INSIDE)
    assert perplexity_findings.style_verdict(inside, "template", perplexity.INSIDE).startswith("contradicts")
    assert perplexity_findings.style_verdict(None, "template", perplexity.OVER) == perplexity_findings.NOT_RUN
    beside = perplexity_findings.published_correlations(rising)
    assert beside["who"].tolist() == ["the paper", "ours", "the paper"] and beside["sets"].tolist() == ["4", "4", "6"]
    means = perplexity_findings.published_means(rising).set_index("dataset")
    assert means.loc["SQuAD (TF)"].tolist() == ["154.19", "7.0 [6.0,\N{NO-BREAK SPACE}8.0]"]
    assert means.loc["CTD (TB)", "m"] == "not run" and list(perplexity_findings.published_means(None)) == [
        "dataset",
        "paper",
    ]


def test_accuracy_is_over_all_prompts_and_the_order_of_models_decides_the_correlation():
    hits = {"a": [1, 1, 1, 1, 1, 0], "b": [1, 1, 0, 0, 0, 0], "c": [0, 0, 0, 0, 0, 0]}
    falling = {"a": [10.0, 10.0], "b": [100.0, 100.0], "c": [1000.0, 1000.0]}
    found = perplexity.tables(*made(hits, falling))
    row = found["across"].iloc[0]
    assert row["spearman"] == pytest.approx(-1) and row["models"] == 3
    assert row["log_pearson"] == pytest.approx(np.corrcoef([5, 2, 0], [1, 2, 3])[0, 1])
    assert row["pearson"] == pytest.approx(np.corrcoef([5, 2, 0], [10, 100, 1000])[0, 1])
    mean = found["means"].iloc[0]
    assert mean["accuracy"] == pytest.approx(7 / 18) and mean["perplexity"] == pytest.approx(370)
    assert mean["perplexity_low"] == mean["perplexity_high"]  # all read prompts alike: no draw changes it
    styles = found["styles"].set_index("measure")
    assert styles.loc["over models", "value"] == pytest.approx(row["log_pearson"])
    assert list(styles.index) == ["over models"]  # each model answers all that were read, or none


def test_data_sets_are_points_of_their_own():
    parts = [
        made({"m": row}, {"m": [value] * 4}, f"{name}/template")
        for name, row, value in (("x", [1, 0, 0, 0], 2.0), ("y", [1, 1, 0, 0], 4.0), ("z", [1, 1, 1, 0], 6.0))
    ]
    found = perplexity.tables(*(pd.concat(side) for side in zip(*parts, strict=True)))
    row = found["sets"].iloc[0]
    assert (row["style"], row["sets"], row["r"]) == ("template", 3, pytest.approx(1))
    assert row["r_p"] == pytest.approx(0, abs=1e-6) and row["r_low"] < 1
    assert found["across"].empty  # one model
    two = perplexity.tables(*(pd.concat(side) for side in zip(*parts[:2], strict=True)))
    assert two["sets"].empty  # two points always lie on a line


def test_what_is_undefined_is_left_out():
    found = perplexity.tables(*made({m: [0, 0, 0] for m in "abc"}, {m: [2.0, 3.0, 9.0] for m in "abc"}))
    assert found["across"].empty and found["answered"].empty and found["styles"].empty
    assert not any(table.isna().to_numpy().any() for table in found.values())


@given(st.lists(st.tuples(st.integers(1, 5), st.booleans()), min_size=1, max_size=12))
def test_separation_counts_pairs(cases):
    scores, members = zip(*cases, strict=True)
    found = separation(scores, members, samples=20)
    pairs = [(a, b) for a, inside in cases if inside for b, other in cases if not other]
    if pairs:
        assert found.estimate == pytest.approx(np.mean([(a < b) + 0.5 * (a == b) for a, b in pairs]))
        mirrored = separation([-score for score in scores], members, samples=20)
        assert mirrored.draws == pytest.approx(1 - found.draws, nan_ok=True)
    else:
        assert np.isnan(found.estimate)
    known = found.draws[np.isfinite(found.draws)]
    assert ((known >= 0) & (known <= 1)).all()


def test_separation_refuses_what_it_cannot_count():
    for scores, members in (([], []), ([1.0], [True, False]), ([float("nan")], [True])):
        with pytest.raises(ValueError, match="auc needs"):
            separation(scores, members)


def test_the_same_facts_are_read_in_both_styles_and_each_once():
    probes = [pk.load_probe(f"demo/{style}") for style in ("template", "natural")]
    first, second = reading.sample(probes, 30)
    assert set(first.prompts["fact_id"]) == set(second.prompts["fact_id"])
    assert len(first.prompts) == first.prompts["fact_id"].nunique() == 30
    assert set(reading.sample(probes, 30, seed=1)[0].prompts["fact_id"]) != set(first.prompts["fact_id"])
    assert len(reading.sample(probes[:1], 10**6)[0].prompts) == probes[0].prompts["fact_id"].nunique()


def test_the_own_object_is_read_in_its_place(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path / "cache"))
    prompts = pd.DataFrame({"prompt_id": ["a"], "text": ["It is [MASK] ."], "gold": [["Port Velna", "town"]]})
    model = small("bert")
    monkeypatch.setattr(reading, "load_model", lambda name, device: model)
    page = Page("16_perplexity", str(tmp_path / "out"), {})
    found = reading.read_all(page, ["m"], [pk.Probe("mine", prompts, ["Port Velna", "town"])]).iloc[0]
    expected = pseudo_perplexity(model, ["It is Port Velna ."]).iloc[0]
    assert found["perplexity"] == pytest.approx(expected["perplexity"], rel=1e-5)
    assert found["characters"] == len("It is Port Velna .") and found["fact_id"] == "a"
    assert list(page.runs) == ["bert (own) on mine, pseudo-perplexity"]


def test_perplexities_of_the_settings_are_told_apart_by_their_intervals():
    def level(*natural: float) -> str:
        rows = [("demo/template", "template", 90.0, 80.0, 95.0), ("demo/natural", "natural", *natural)]
        columns = ["probe", "style", "perplexity", "perplexity_low", "perplexity_high"]
        return perplexity_findings.level_verdict({"means": pd.DataFrame(rows, columns=columns)})

    assert level(50.0, 40.0, 79.0) == "Demo world agrees, 90.0 by template and 50.0 in natural sentences"
    assert "undecided" in level(50.0, 40.0, 80.0) and "contradicts" in level(99.0, 96.0, 120.0)
    squad = pd.DataFrame({"probe": ["squad"], "style": ["natural"], "perplexity": [1.0]})
    assert perplexity_findings.level_verdict({"means": squad}).startswith("not asked")
    assert perplexity_findings.level_verdict(None) == perplexity_findings.NOT_RUN
