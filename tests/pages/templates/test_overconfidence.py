"""Page 15 on lists of answers small enough to check by hand."""

import numpy as np
import pandas as pd
import pytest
from test_prompt_draws import NATURAL, TEMPLATE, probe

import probekit as pk
from probekit.metrics import gini
from probekit.report import recorded_tables
from probekit.report.verdicts import concluded

from notebooks.templates import overconfidence
from notebooks.templates import text as words
from notebooks.templates.overconfidence import GOLD, MEAN, collect, measure


def ranks(of: pk.Probe, tops: list[str], model: str = "m") -> pd.DataFrame:
    """Rows as ``ask.ask`` gives them; the gold is always a, and scores fall by 1, from 0."""
    return of.prompts[["prompt_id", "fact_id", "relation"]].assign(
        model=model, probe=of.name, dataset="d", style=of.style, object="a",
        rank=[top.index("a") + 1 for top in tops], score=[-float(top.index("a")) for top in tops],
        top=[list(top) for top in tops], top_scores=[[-float(i) for i in range(len(top))] for top in tops],
    )  # fmt: skip


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


def test_lists_of_unlike_lengths_count_what_each_holds():
    of = probe("template", list("uvw"), list("123"))
    (answers,) = collect(ranks(of, ["ab", "abcd", "a"]), [of])
    found = dict(zip(overconfidence.MEASURES, measure(answers, np.arange(3)), strict=True))
    assert (found["distinct_1"], found["distinct_5"]) == (25, 100) and found["margin_right"] == pytest.approx(2 / 3)


def test_tables_of_two_styles():
    template = ranks(TEMPLATE, ["bacd"] * 4)
    natural = ranks(NATURAL, ["abcd", "bcda", "bcda", "cdba", "dabc"])
    tables = overconfidence.tables(pd.concat([template, natural]), [TEMPLATE, NATURAL])
    assert tables["distinct"].set_index(["model", "probe"])["distinct_1"].to_dict() == {
        ("m", "d/template"): 25.0, ("m", "d/natural"): 75.0, (GOLD, "d/template"): 25.0, (GOLD, "d/natural"): 25.0,
    }  # fmt: skip
    frequent = tables["entities"].query("probe == 'd/template' and place == 1").iloc[0]
    assert frequent["share"] == 1.0 and np.isnan(frequent["share_low"])  # of four facts there is no interval


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
    rows = concluded(overconfidence.conclusions(tables))
    first = rows[rows["claim"] == "001-14a"]
    assert first["model"].tolist() == ["m", "n", "o"] and set(first["dataset"]) == {"d"}  # each model, not their mean
    assert first["estimate"].tolist() == pytest.approx(gaps.loc[["m", "n", "o"], "difference"].tolist())
    assert set(rows["claim"]) == {"001-14a"}  # of three models no order shows anything
    shown, golds = overconfidence.repetitions(tables)
    assert len(shown) == 6 and set(shown["style"]) == {"template", "natural"} and list(golds) == ["d"]
    (told,) = words.overconfidence(tables)
    assert not told.holds and "(m; n; o) give the same first answer to" in told.text  # one of three does not


def variety(
    repetition: list[float], accuracy: list[float], tuned: str = "neither", style: str = "natural"
) -> pd.DataFrame:
    names = [f"m{i}" for i in range(len(accuracy))]
    table = pd.DataFrame({"model": names, "lineage": names, "probe": f"d/{style}"})
    return table.assign(repetition=repetition, accuracy=accuracy, tuned=tuned)


def test_conclusions_expect_less_repetition_where_models_know_more():
    gaps = pd.DataFrame({"dataset": ["d"], "model": ["m"], "measure": ["repetition"], "difference": [-0.2]})
    gaps = gaps.assign(low=-0.3, high=-0.1)
    known = [n / 10 for n in range(8)]
    falls, rises = variety([*range(8, 0, -1)], known), variety([*range(8)], known, style="template")
    rows = concluded(overconfidence.conclusions({"gaps": gaps, "variety": pd.concat([falls, rises])}))
    assert rows["verdict"].tolist() == ["contradicts", "agrees", "contradicts"] and rows["n"].tolist()[1:] == [8, 8]
    kin = falls.assign(lineage=["m0", *falls["lineage"][:7]])  # two of one, which leaves seven
    for few in (kin, falls.drop(columns="lineage")):
        found = concluded(overconfidence.conclusions({"gaps": gaps[:0], "variety": few}))
        assert found["verdict"].tolist() == [""]
    few = overconfidence.conclusions({"gaps": gaps[:0], "variety": falls[:4]})
    styled = overconfidence.conclusions({"gaps": gaps[:0], "variety": falls.assign(tuned="templates")})
    assert few.empty and styled.empty


def test_the_answer_holds_where_each_model_repeats_more_by_template():
    shares = {"n": (0.5, 0.4), "c": (0.3, 0.1), GOLD: (0.1, 0.1)}
    rows = [
        {"model": model, "probe": probe, "repetition": share, "prompts": 9}
        for model, both in shares.items()
        for probe, share in zip(("trex/template", "trex/natural"), both, strict=True)
    ]
    gaps = pd.DataFrame({"model": ["n", "c", MEAN], "low": [0.05, 0.1, 0.1], "high": [0.2, 0.3, 0.2]})
    gaps = gaps.assign(dataset="trex", measure="repetition", difference=gaps["low"])
    (said,) = words.overconfidence({"variety": pd.DataFrame(rows), "gaps": gaps})
    assert "REx, 10% have the same right answer; models" in said.text and said.holds
    assert "(n; c) give the same first answer to 40% by template and to fewer, 25%, in" in said.text
    assert not words.overconfidence({"variety": pd.DataFrame(rows), "gaps": gaps.assign(low=-0.1)})[0].holds
    wrong = gaps.assign(measure="margin_wrong")
    assert not words.surer({"gaps": wrong})[0].holds and words.surer({"gaps": wrong.assign(low=-0.1)})[0].holds
    assert words.surer({"gaps": gaps[:0]}) == []


def test_names_are_listed_for_one_model_alone():
    parts = [ranks(TEMPLATE, ["bacd"] * 4, model) for model in ("m", "n")]
    tables = overconfidence.tables(pd.concat(parts), [TEMPLATE])
    names = tables["entities"].groupby("model")["entity"].agg("".join).to_dict()
    assert names["n"] == "" and set(names["m"]) == set("abcd")
    assert overconfidence.frequent(tables["entities"]).iloc[0].tolist() == [1, "b (100%)"]
    assert tables["gaps"].empty and concluded(overconfidence.conclusions(tables)).empty
    assert set(words.both_styles(tables["entities"])["style"]) == {"template"}


def test_a_data_set_is_told_from_its_style():
    table = pd.DataFrame({"probe": ["trex/natural", "squad", "pubmed/chemical"]})
    found = words.with_style(table)
    assert found["dataset"].tolist() == ["trex", "squad", "pubmed/chemical"]
    assert found["style"].tolist() == ["natural", "one style only", "one style only"]


def test_recorded_shares_have_a_row_a_probe():
    distinct = recorded_tables("15_overconfidence")["distinct"]
    assert len(overconfidence.distinct_shown(distinct)) == distinct["probe"].nunique()
