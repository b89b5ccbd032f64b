"""How varied answers are: the measures by hand and by property, and the tables on lists small enough to check."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from probekit.report.parts import MEAN

import probekit as pk
from probekit.metrics import effective_number, gini, half_samples, repetition, total_variation

from notebooks.templates import asking, overconfidence, repetition_findings
from notebooks.templates.answers import GOLD, collect, equal_prompts, measure

COUNTS = st.lists(st.integers(0, 9), min_size=1, max_size=8).filter(any)
CODES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=2, max_size=12)


def test_effective_number_by_hand():
    assert effective_number([3, 0, 0]) == 1 and effective_number([2, 2, 2, 0]) == pytest.approx(3)
    assert effective_number([1, 3]) == pytest.approx(4 / 3**0.75)


def test_gini_by_hand():
    assert gini([2, 2, 2]) == 0 and gini([0, 0, 0, 5]) == 0.75
    assert gini([1, 3]) == 0.25


@given(COUNTS)
def test_gini_is_the_mean_difference_of_all_pairs(counts):
    pairs = [abs(a - b) for a, b in itertools.product(counts, counts)]
    assert gini(counts) == pytest.approx(sum(pairs) / (2 * len(counts) * sum(counts)), abs=1e-12)
    assert 1 - 1e-12 <= effective_number(counts) <= len(counts) + 1e-9


def test_total_variation_by_hand():
    assert total_variation([1, 1], [2, 2]) == 0 and total_variation([4, 0], [0, 1]) == 1
    assert total_variation([1, 1], [4, 0]) == 0.5
    with pytest.raises(ValueError, match="over 1 and 2"):
        total_variation([1], [1, 1])


@pytest.mark.parametrize("counts", [[], [0, 0], [-1, 2], [np.nan], [[1]]])
def test_counts_that_are_none(counts):
    with pytest.raises(ValueError, match="counts"):
        effective_number(counts)


@given(CODES)
def test_repetition_counts_pairs(codes):
    pairs = [(a, b) for a, b in itertools.combinations(codes, 2) if a[1] == b[1]]
    found = repetition([a for a, _ in codes], [g for _, g in codes])
    assert found == pytest.approx(np.mean([a[0] == b[0] for a, b in pairs])) if pairs else np.isnan(found)


def test_repetition_of_one_group():
    assert repetition([0, 0, 1]) == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="equally long"):
        repetition([0, 1], [0])


def test_halves_vary_as_whole_samples_do():
    values = np.random.default_rng(1).normal(size=400)
    (found,) = half_samples(400, lambda chosen: values[chosen].mean(), samples=1000)
    assert found.estimate == pytest.approx(values.mean(), abs=0.01) and (found.n, found.clusters) == (200, 400)
    assert found.high - found.low == pytest.approx(2 * 1.96 * values.std() / 20, rel=0.1)


def test_halves_leave_out_undefined_draws_and_repeat_no_fact():
    seen = half_samples(5, lambda chosen: [len(set(chosen.tolist())), float("nan"), 0 if 4 in chosen else np.nan])
    assert seen[0][:3] == (2, 2, 2) and np.isnan(seen[1][0]) and seen[2][:3] == (0, 0, 0)
    with pytest.raises(ValueError, match="at least 2"):
        half_samples(1, lambda chosen: 0)


def probe(style: str, texts: list[str], facts: list[str]) -> pk.Probe:
    rows = {
        "prompt_id": [f"{style}{i}" for i in range(len(texts))],
        "text": [f"{t} [MASK]" for t in texts],
        "gold": [["a"]] * len(texts),
        "fact_id": facts,
        "relation": ["r"] * len(texts),
    }
    return pk.Probe(f"d/{style}", pd.DataFrame(rows), list("abcd"), style=style)


def ranks(of: pk.Probe, tops: list[str], model: str = "m") -> pd.DataFrame:
    """Rows as ``asking.ask`` gives them; the gold is always a, and scores fall by 1, from 0."""
    return of.prompts[["prompt_id", "fact_id", "relation"]].assign(
        model=model, probe=of.name, dataset="d", style=of.style, gold=asking.OWN, object="a",
        rank=[top.index("a") + 1 for top in tops], score=[-float(top.index("a")) for top in tops],
        top=[list(top) for top in tops], top_scores=[[-float(i) for i in range(len(top))] for top in tops],
    )  # fmt: skip


TEMPLATE = probe("template", ["u", "v", "w", "v"], ["1", "2", "3", "4"])
NATURAL = probe("natural", ["k", "l", "m", "n", "o"], ["3", "1", "1", "2", "9"])


def test_the_same_facts_in_both_styles_and_no_prompt_twice():
    found = equal_prompts([TEMPLATE, NATURAL]).groupby("probe")
    facts = {name: part["fact_id"].tolist() for name, part in found}
    assert facts == {
        "d/template": ["1", "2", "3"],
        "d/natural": ["1", "2", "3"],
    }  # 4 asks what 2 asks, 9 has no template
    drawn = {tuple(equal_prompts([TEMPLATE, NATURAL], seed)["prompt_id"]) for seed in range(20)}
    assert len(drawn) == 2  # fact 1 has two sentences


def test_measures_by_hand():
    (answers,) = collect(ranks(probe("template", list("uvwx"), list("1234")), ["abcd", "bacd", "bacd", "cabd"]), [
        probe("template", list("uvwx"), list("1234"))
    ])  # fmt: skip
    found = dict(zip(overconfidence.MEASURES, measure(answers, np.arange(4)), strict=True))
    assert (found["accuracy"], found["distinct_1"], found["distinct_5"]) == (0.25, 75, 100)
    assert found["repetition"] == pytest.approx(1 / 6) and found["commonest"] == 0.5
    assert found["effective"] == pytest.approx(2 * 2**0.5) and found["distance"] == 0.75
    assert found["gini"] == pytest.approx(gini([1, 2, 1, 0]))
    assert (found["margin_wrong"], found["margin_right"], found["lead"]) == (1, 1, 1)


def test_tables_of_two_styles():
    template = ranks(TEMPLATE, ["bacd"] * 4)
    natural = ranks(NATURAL, ["abcd", "bcda", "bcda", "cdba", "dabc"])
    tables = overconfidence.tables(pd.concat([template, natural]), [TEMPLATE, NATURAL])
    assert tables["distinct"].set_index(["model", "probe"])["distinct_1"].to_dict() == {
        ("m", "d/template"): 25.0, ("m", "d/natural"): 75.0, (GOLD, "d/template"): 25.0, (GOLD, "d/natural"): 25.0,
    }  # fmt: skip
    frequent = tables["entities"].query("probe == 'd/template' and place == 1").iloc[0]
    assert frequent["share"] == 1.0 and frequent["share_low"] == frequent["share_high"] == 1.0
    assert tables["performance"].empty


def test_gaps_and_agreement_over_models():
    facts = [str(i) for i in range(8)]
    template, natural = probe("template", list("stuvwxyz"), facts), probe("natural", list("abcdefgh"), facts)
    parts = []
    for model, right in (("m", 1), ("n", 3), ("o", 5)):
        tops = ["abcd"] * right + ["bcda", "cdab", "dabc", "bcda", "cdab", "dabc", "bcda"][: 8 - right]
        parts += [ranks(template, ["bacd"] * 8, model), ranks(natural, tops, model)]
    tables = overconfidence.tables(pd.concat(parts), [template, natural])
    gaps = tables["gaps"].query("measure == 'repetition'").set_index("model")
    assert list(gaps.index) == ["m", "n", "o", MEAN] and (gaps.loc[["m", "n", MEAN], "low"] > 0).all()
    assert gaps.loc[MEAN, "difference"] == pytest.approx(gaps["difference"].iloc[:3].mean())
    told = repetition_findings.findings(tables, None)
    assert "agrees" in told[0].recorded and told[0].demo == "not asked"
    assert tables["performance"]["models"].tolist() == [3, 3]
    assert "Two prompts" in repetition_findings.answers(tables)[0]


def test_names_are_listed_for_one_model_alone():
    parts = [ranks(TEMPLATE, ["bacd"] * 4, model) for model in ("m", "n")]
    tables = overconfidence.tables(pd.concat(parts), [TEMPLATE])
    names = tables["entities"].groupby("model")["entity"].agg("".join).to_dict()
    assert names["n"] == "" and set(names["m"]) == set("abcd")
    assert repetition_findings.frequent(tables["entities"]).iloc[0].tolist() == [1, "b (100%)"]
    assert tables["gaps"].empty
