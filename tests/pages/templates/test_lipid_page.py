"""Page 19 on counts and ranks small enough to check by hand."""

import os
import random
from pathlib import Path

import pandas as pd
import pytest

import probekit as pk
from probekit.files import digest
from probekit.probes.lipid.corpora import SIGNS
from probekit.probes.lipid.prompts import PROMPTS
from probekit.report import recorded_tables

from notebooks.templates import lipid
from notebooks.templates import text as words

GIVEN = os.environ.get("PROBEKIT_DATA")
published = pytest.mark.skipif(
    not (GIVEN and all((Path(GIVEN) / name).is_dir() for name in ("ner", "medlama"))),
    reason="needs entity lists and texts: PROBEKIT_DATA names no folder with ner/ and medlama/",
)


def counted(**more: int) -> dict:
    counts = {
        "records": 2, "sentences": 10, "with exactly one mention": 8, "with exactly one mention: gene": 8,
        "dropped, with the keyword: we": 2, "dropped, with the keyword: (": 3, "dropped for this keyword alone: (": 1,
        "prompts, after the keywords": 4, "prompts, after the keywords: gene": 4,
    }  # fmt: skip
    statistics = {"gene": {"prompts": 4, "entities": 2, "mean": 2.0, "sd": 0.0, "min": 2, "max": 2}}
    return {"counts": counts, "statistics": statistics, "entities listed": {"gene": 9}, **more}


def test_counts_become_tables():
    tables = lipid.recipe_tables({"a": counted(), "b": counted() | {SIGNS: {"gene": 7}}})
    steps = tables["steps"]
    assert steps[steps["text"] == "a"]["step"].tolist() == [
        "records",
        "sentences",
        "with exactly one mention",
        "with exactly one mention: gene",
        "prompts, after the keywords",
        "prompts, after the keywords: gene",
    ]
    keywords = tables["keywords"].set_index(["text", "keyword"])
    assert len(keywords) == 22  # ten words and the parenthesis, also those never met
    assert keywords.loc[("a", "(")].to_dict() == {"dropped": 3, "alone": 1, "share": 3 / 8, "share_alone": 1 / 8}
    assert keywords.loc[("a", "we"), ["share", "share_alone"]].tolist() == [2 / 8, 0]
    assert keywords.loc[("b", "study"), "share"] == 0
    statistics = tables["statistics"].set_index("text")
    assert statistics["out_of_reach"].to_dict() == {"a": 0, "b": 7}
    assert statistics.loc["a", ["list", "listed", "prompts", "mean"]].tolist() == ["gene", 9, 4, 2.0]


def test_the_papers_statistics_have_the_same_columns():
    paper = lipid.published_statistics()
    ours = lipid.recipe_tables({"a": counted()})["statistics"]
    assert set(paper) | {"listed", "out_of_reach"} == set(ours)
    chemical = paper[paper["list"] == "chemical"].iloc[0]
    assert chemical["prompts"] / chemical["entities"] == pytest.approx(chemical["mean"], abs=0.005)


def test_accuracy_beside_what_frequency_alone_reaches():
    objects, ranks = ["b", "a", "a", "a", "c", "c"], [1, 1, 2, 1, 9, 1]
    rows = {"probe": "p/x", "object": objects, "rank": ranks, "fact_id": list("123456")}
    one = pd.DataFrame({"model": "m", **rows})
    other = one.assign(model="n", rank=1)
    both = pd.concat([one, other], ignore_index=True)
    table = lipid.accuracy(both).set_index("model")
    assert table.index.tolist() == ["m", "n", lipid.GUESS]
    assert (table.loc["m", "prompts"], table.loc["m", "entities"]) == (6, 3)
    assert table.loc["m", "acc@1"] == pytest.approx(4 / 6)
    assert table.loc["m", "per_entity"] == pytest.approx((1 + 2 / 3 + 1 / 2) / 3)
    assert table.loc["m", ["low@1", "per_entity_low"]].isna().all()  # of three entities there is no interval
    assert table.loc[lipid.GUESS, "acc@1"] == pytest.approx(3 / 6)  # always a
    assert table.loc[lipid.GUESS, "mrr"] == pytest.approx((3 * 1 + 2 / 2 + 1 / 3) / 6)
    assert table.loc["n", ["acc@1", "per_entity"]].tolist() == [1, 1]


def test_probes_stay_apart_and_in_order():
    rows = {"object": ["a", "b"], "rank": [1, 2], "fact_id": ["1", "2"]}
    every = [pd.DataFrame({"model": m, "probe": p, **rows}) for m in ("m", "n") for p in ("z", "y")]
    table = lipid.accuracy(pd.concat(every, ignore_index=True))
    assert table[["probe", "model"]].to_numpy().tolist() == [
        [p, m] for p in ("z", "y") for m in ("m", "n", lipid.GUESS)
    ]


def test_the_recipe_is_run_and_the_sheet_stays_unfilled():
    made, sheet, judged = lipid.make(["demo_lipid"])
    assert made["demo_lipid"]["counts"][PROMPTS] >= len(sheet) == 200
    assert set(sheet["factual (yes or no)"]) == {""}
    assert lipid.make([])[1].empty and judged.empty  # only prompts of PubMed were judged


def test_precision_is_a_share_of_the_judged_prompts_with_an_exact_interval():
    texts = ["[MASK] is a metal.", "in [MASK] to it.", "[MASK] acts.", "[MASK] lasts."]
    golds = ["lead", "contrast", "zinc", "zinc"]
    prompts = {f"p{i}": {"text": t, "gold": [g]} for i, (t, g) in enumerate(zip(texts, golds, strict=True))}
    sample = pd.DataFrame(
        [("chemical", f"p{i}", digest(t, g), "no" if g == "contrast" else "yes")
         for i, (t, g) in enumerate(zip(texts, golds, strict=True))],
        columns=["list", "prompt_id", "prompt", "meant"],
    )  # fmt: skip
    known = lipid.judged(sample, prompts, {"chemical": ["lead", "contrast"]})
    assert known[["homonym", "meant"]].to_numpy().tolist() == [
        [True, True],
        [True, False],
        [False, True],
        [False, True],
    ]
    (row,) = lipid.precision(known).to_dict("records")
    assert (row["judged"], row["meant"], row["homonyms"], row["homonyms_meant"]) == (4, 3, 2, 1)
    assert (row["with_all"], row["without"], row["without_high"]) == (3 / 4, 1, 1)
    assert row["without_low"] == pytest.approx(0.025**0.5)  # of 2 of 2: p^2 = 0.025
    said = words.precision({"precision": lipid.precision(known)})[0].text
    assert "in 3 of 4 prompts" in said and said.endswith("without homonyms in 2 of 2.")
    changed = {**prompts, "p0": {"text": "[MASK] is heavy.", "gold": ["lead"]}}
    assert len(lipid.judged(sample, changed, {"chemical": []})) == 3  # another prompt under a known id
    assert lipid.judged(sample, {}, {"chemical": []}).empty and lipid.precision(pd.DataFrame()).empty


@pytest.mark.slow
@published
def test_the_judged_prompts_are_the_seeded_draw():
    known = lipid.make(["pubmed"])[2]
    for kind, group in known.groupby("list"):
        ids = pk.load_probe(f"pubmed/{kind}").prompts["prompt_id"].tolist()
        drawn = random.Random(f"precision {kind} 0").sample(range(len(ids)), 50)
        assert group["prompt_id"].tolist() == [ids[place] for place in sorted(drawn)]
    assert len(known) == 100


def test_the_papers_statistics_stand_above_ours():
    ours = lipid.recipe_tables({"a": counted()})
    table = lipid.statistics(ours, paper=True)
    assert table["text"].tolist() == [lipid.PAPER, lipid.PAPER, "a"] and list(table) == list(ours["statistics"])
    assert lipid.statistics_shown(table)["Mean"].tolist() == ["25.04", "16.14", "2"]
    assert len(lipid.statistics(ours, paper=False)) == 1


def test_recorded_tables_can_be_drawn():
    tables = recorded_tables("19_lipid")
    assert "sheet" not in tables and lipid.GUESS in set(tables["accuracy"]["model"])
    assert len(lipid.accuracy_long(tables)) == 3 * len(tables["accuracy"])
    assert lipid.steps_shown(tables["steps"]).columns[0] == "Step"


def test_the_answer_counts_the_models_above_frequency_alone():
    rows = [("p/x", "m", 0.3, 0.2), ("p/x", "n", 0.1, 0.05), ("p/x", lipid.GUESS, 0.1, 0.1), ("p/y", "m", 0.1, 0.0)]
    rows.append(("p/y", lipid.GUESS, 0.2, 0.1))
    accuracy = pd.DataFrame(rows, columns=["probe", "model", "acc@1", "low@1"]).assign(prompts=9)

    def said(rows: pd.DataFrame) -> list[str]:
        return [one.text for one in words.lipid_answer(lipid.recipe_tables({"a": counted()}) | {"accuracy": rows})]

    left, best = said(accuracy)
    assert left == "Of 10 sentences of a, the recipe leaves 4 prompts."
    assert best.startswith("On p/x, m fills 30% of the prompts rightly") and best.endswith(
        "fewer, 10%, by the model's own 95% interval, not paired with the guess."
    )
    none = said(accuracy[accuracy["probe"] == "p/y"])[1]
    assert none.startswith(
        "By a model's own 95% interval, not paired with the guess, none is shown to beat"
    ) and none.endswith("m on p/y, with 10.0% of the prompts against 20.0%.")
