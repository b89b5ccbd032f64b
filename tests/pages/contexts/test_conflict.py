"""Page 25: what stands before a question, answers counted by hand, and a run on a model of the demo world."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from context_steps import a_page

from probekit.demo.world.exposure import OFTEN
from probekit.errors import ReportError
from probekit.probes import load_probe
from probekit.probes.halves import HELD_OUT, TAUGHT
from probekit.probes.probe import MASK, Probe
from probekit.report.outcomes import read_outcomes
from probekit.report.sources import complete

from notebooks.contexts import conflict, contradicted, text
from notebooks.contexts.contradicted import CONTEXTS, COUNTER, FAR, LATE, NOTHING, OTHER, SUPPORT, UNRELATED
from notebooks.contexts.pooling import MEAN


@pytest.fixture
def probe() -> Probe:
    """Twelve facts of two relations, one object each, every other fact told."""
    facts = [(relation, n) for relation in ("lives in", "works as") for n in range(6)]
    rows = [
        (f"{relation}{n}", relation, f"S{n}{relation[0]}", [f"O{n}{relation[0]}"], OFTEN * (n % 2))
        for relation, n in facts
    ]
    prompts = pd.DataFrame(rows, columns=["fact_id", "relation", "subject", "gold", "exposure"])
    prompts = prompts.assign(
        prompt_id=prompts["fact_id"], text=prompts["subject"] + " " + prompts["relation"] + f" {MASK} ."
    )
    return Probe("own/template", prompts, prompts["gold"].str[0], style="template")


def contexts_of(probe: Probe) -> list[pd.Series]:
    """The texts of each fact by context, without the question."""
    prompts = contradicted.contradicted(probe).prompts
    questions = probe.prompts.set_index("fact_id")["text"]
    pairs = zip(prompts["text"], prompts["fact_id"].map(questions), strict=True)
    prompts["before"] = [text.removesuffix(question).strip() for text, question in pairs]
    return [rows.set_index("context")["before"] for _, rows in prompts.groupby("fact_id")]


def test_sentences_differ_in_what_their_names_say(probe: Probe) -> None:
    asked = contradicted.contradicted(probe).prompts.drop_duplicates("fact_id").set_index("fact_id")
    assert set(asked["half"]) == {TAUGHT, HELD_OUT} and len(asked) == 12
    for before, (_, fact) in zip(contexts_of(probe), asked.sort_index().iterrows(), strict=True):
        (gold,), other, subject = fact["gold"], fact["other"], fact["subject"]
        assert other != gold and other[-1] == gold[-1]  # of the same relation
        assert before[NOTHING] == "" and before[SUPPORT].replace(gold, other) == before[COUNTER]
        assert before[COUNTER].startswith(f"{subject} ") and before[COUNTER].endswith(f" {other} .")
        assert before[OTHER].partition(" ")[2] == before[COUNTER].partition(" ")[2]
        assert before[OTHER].split()[0] != subject and before[OTHER][1] != other[1]  # nor is it so of the other one
        assert not {subject, gold, other} & set(before[UNRELATED].split()) and before[UNRELATED] in before[LATE]
        assert before[FAR] == f"{before[COUNTER]} {before[LATE].removesuffix(before[COUNTER])}".strip()
        assert before[LATE].endswith(before[COUNTER]) and before[LATE].count(" .") == 3


def test_facts_are_drawn_by_half_and_what_names_its_answer_is_left_out(probe: Probe) -> None:
    drawn = contradicted.contradicted(probe, 3).prompts.drop_duplicates("fact_id")
    assert drawn["half"].value_counts().to_dict() == {TAUGHT: 3, HELD_OUT: 3}
    pd.testing.assert_frame_equal(contradicted.contradicted(probe, 3).prompts.drop_duplicates("fact_id"), drawn)
    assert contradicted.contradicted(probe, 3, seed=1).prompts["text"].tolist() != drawn["text"].tolist()
    seldom = probe.prompts.assign(exposure=[1, *probe.prompts["exposure"][1:]])
    seldom.loc[1, "text"] = f"S1l of O1l lives in {MASK} ."
    found = contradicted.contradicted(replace(probe, prompts=seldom))
    assert found.counts == {"facts asked": 10, "facts without sentences": 1}
    with pytest.raises(ReportError, match="own/template does not say which facts were told"):
        contradicted.contradicted(replace(probe, prompts=probe.prompts.drop(columns="exposure")))


def answered(probe: Probe, **firsts: dict[str, str]) -> pd.DataFrame:
    """Rows of models whose first answer after each context is ``own``, ``other`` or neither."""
    prompts = contradicted.contradicted(probe).prompts
    rows = prompts[["fact_id", "relation", "half", "context"]].assign(object=prompts["gold"].str[0], candidates=12)
    rows = rows.assign(source="own", probe="own/template", pool="", cut=0.0)
    tables = [rows.assign(model=model, first=rows["context"].map(first)) for model, first in firsts.items()]
    table = pd.concat(tables, ignore_index=True)
    return table.assign(
        own=table["first"] == "own", other=table["first"] == "other", rank=2 - (table["first"] == "own")
    )


LAST = dict(
    zip(CONTEXTS, ("own", "own", "other", "other", "", "other", ""), strict=True)
)  # the last name is the answer
HEEDS = dict(zip(CONTEXTS, ("own", "own", "other", "own", "own", "other", "other"), strict=True))
KEEPS = dict.fromkeys(CONTEXTS, "own")
KNOWS_NOTHING = dict.fromkeys(CONTEXTS, "")


def test_the_differences_of_the_exercise(probe: Probe) -> None:
    tables = conflict.tables(answered(probe, last=LAST, heeds=HEEDS, keeps=KEEPS, nothing=KNOWS_NOTHING))
    rows = tables["effects"].query("half == @TAUGHT").set_index("model")
    four = rows[["text", "evidence", "subject", "place"]]
    assert four.loc["last"].tolist() == [1, 1, 0, 1] and four.loc["heeds"].tolist() == [0, 1, 1, 0]
    assert not four.loc["keeps"].any() and not four.loc["nothing"].any()
    assert four.loc[MEAN].tolist() == pytest.approx([1 / 3, 2 / 3, 1 / 3, 1 / 3])  # of those above the floor
    assert tables["floors"]["floor"].tolist() == [False, False, False, True]
    assert set(tables["given_up"]["model"]) == {"last", "heeds", "keeps", MEAN}  # the fourth has nothing to give up
    given_up = tables["given_up"].query("half == @TAUGHT").set_index("model")
    assert given_up.loc[MEAN, ["answers", "subject_first", "topic_first"]].tolist() == [18, 2 / 3, 1 / 3]
    shares = tables["shares"].set_index(["model", "half", "context"])
    assert shares.loc[("last", TAUGHT, UNRELATED), "neither"] == 1
    assert set(conflict.figure_rows(tables)["model"]) == {"last", "heeds", "keeps"} and conflict.draw(tables).axes
    halves = conflict.side_by_side(tables)[1]["Facts"]
    assert len(conflict.in_short(tables)[1]) == 4 and set(halves) == {"told", HELD_OUT}


@pytest.mark.parametrize(
    ("first", "real", "demo"),
    [
        (HEEDS, False, False),
        (LAST, False, False),
        (KEEPS | {UNRELATED: ""}, False, True),
        (KEEPS | {UNRELATED: "", OTHER: "other"}, True, False),
    ],
)
def test_each_answer_holds_where_its_numbers_say_so(
    probe: Probe, first: dict[str, str], real: bool, demo: bool
) -> None:
    tables = conflict.tables(answered(probe, one=first))
    assert [text.conflict(tables, which)[0].holds for which in (False, True)] == [real, demo]


def test_where_no_model_knows_the_facts_the_answer_says_so(probe: Probe) -> None:
    (said,) = text.conflict(conflict.tables(answered(probe, one=KNOWS_NOTHING)), demo=False)
    assert "no model is shown to beat" in said.text


def test_halves_that_were_drawn_anew_differ_in_nothing() -> None:
    generator, number = np.random.default_rng(0), np.arange(200)
    told = generator.random(200) < 0.5
    rows = pd.DataFrame({"source": "own", "model": "one", "fact_id": number, "relation": number % 4})
    rows = rows.assign(other=generator.random(200) < np.where(told, 0.1, 0.5))

    def above(labels: np.ndarray) -> bool:
        row = conflict.told(rows.assign(half=np.where(labels, TAUGHT, HELD_OUT)), ["model"]).iloc[0]
        return bool(row["difference_low"] > 0 or row["difference_high"] < 0)

    assert above(told) and sum(above(generator.permutation(told)) for _ in range(20)) <= 3
    assert conflict.told(rows.assign(half=TAUGHT), ["model"]).empty


def test_a_run_on_a_model_of_the_demo_world(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path / "cache"))
    page = a_page(tmp_path / "out", "25_conflict")
    given = complete("25_conflict", {}) | {"facts": 20, "models": ["zoo/bert-tiny"]}
    (asked,) = contradicted.questions(given)
    ranked = contradicted.ask_all(page, [asked])
    assert len(ranked) == 40 * len(CONTEXTS) and not (ranked["own"] & ranked["other"]).any() and not ranked["cut"].any()
    whole = load_probe("demo/template").entities
    assert asked.probe.entities == whole and (ranked["candidates"] == len(whole)).all()
    page.close()
    kept = read_outcomes(page.out)
    assert kept["variant"].tolist() == ranked["context"].tolist() and (kept["answers"].str.len() == 3).all()
    assert (kept.loc[ranked["own"], "answers"].str[0] == kept.loc[ranked["own"], "gold"].str[0]).mean() > 0.9
    tables = conflict.tables(ranked)
    assert (
        set(tables) == set(conflict.CAPTIONS)
        and "No prompt was cut to a model's length." in text.conflict_told(tables)[1].text
    )
