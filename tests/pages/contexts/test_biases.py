"""Page 24 on answers made by hand: what other words change, what was read, what context lessens, and the verdicts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from context_steps import heard

from probekit.metrics.decisions import FLOOR
from probekit.paths import root
from probekit.probes.halves import HELD_OUT, TAUGHT
from probekit.probes.rewordings import NAME, PROMPT
from probekit.report.claims import load_claims
from probekit.report.verdicts import concluded

from notebooks.contexts import biases, text
from notebooks.contexts.biases import WITH, WITHOUT, kappa
from notebooks.contexts.pooling import MEAN
from notebooks.contexts.wordings import BARE, FIRST, REAL

COUNT = 40


def asked(
    right: dict[str, list[bool]],
    answers: dict[str, list[str]] | None = None,
    with_context: dict[str, list[bool]] | None = None,
    model: str = "m",
    source: str = "trex",
    signs: dict[str, list[int]] | None = None,
    told: bool = True,
) -> pd.DataFrame:
    """Two steps of one context a question, in several wordings: the first adds the target, the second a right entity.

    Args:
        right: wording -> of each question, whether the first answer without context is right.
        answers: wording -> the first answers, by default ``right`` or ``wrong``.
        with_context: the same of the whole context; by default as without.
        signs: wording -> the rank change of the second step; by default none.
        told: whether the model was taught the even questions.
    """
    rows = []
    for wording, hits in right.items():
        given = (answers or {}).get(wording, ["right" if hit else "wrong" for hit in hits])
        after = (with_context or right)[wording]
        last = given if with_context is None else ["right" if hit else "wrong" for hit in after]
        for number, hit in enumerate(hits):
            for step in (1, 2):
                rows.append(
                    {
                        "source": source, "model": model, "wording": wording, "triple_id": str(number),
                        "fact_id": str(number), "doc_id": f"d{number}", "relation": f"P{number % 2}",
                        "subject": str(number), "pool": "p", "correct": [f"T{number}"], "variant": REAL,
                        "twin": "target", "step": step, "last": step == 2, "added_correct": True, "centre": "T",
                        "added": "T" if step == 1 else "R", "cut": False, "same": False, "drawn": True,
                        "named_in": float(1 + number % 5), "any_before": 1 if hit else 9,
                        "any_after": 1 if after[number] else 9, "answer_bare": given[number], "answer": last[number],
                        "rc_centre": 0 if signs is None or step == 1 else signs[wording][number],
                        "half": (TAUGHT, HELD_OUT)[number // 2 % 2] if told else "",
                        "document_read": False,
                    }
                )  # fmt: skip
    return pd.DataFrame(rows)


def answer(tables: dict[str, pd.DataFrame]) -> str:
    return heard(text.biases_answer(tables, biases.sources(tables)[0]))


def first(share: float, count: int = COUNT) -> list[bool]:
    """So large a part of the questions, the first ones."""
    return [number < share * count for number in range(count)]


def verdicts(ranked: pd.DataFrame) -> dict[str, str]:
    found = concluded(biases.conclusions(biases.tables(ranked)))
    return dict(zip(found["claim"], found["verdict"], strict=True))


def test_two_prompts_by_hand() -> None:
    own, other = first(0.5), [False] * 10 + first(0.75, 30)
    ranked = asked({FIRST: own, PROMPT: other})  # right: 0 to 19, and 10 to 32
    row = biases.tables(ranked)["wordings"].set_index("context").loc[WITHOUT]
    assert (row["first@1"], row["second@1"], row["questions"]) == (0.5, 23 / 40, 40)
    assert row["difference@1"] == pytest.approx(3 / 40) and row["difference@1_low"] < 0 < row["difference@1_high"]
    assert row["only_one"] == row["changed"] == pytest.approx(23 / 40)  # 0 to 9 by the one, 20 to 32 by the other
    assert row["difference@5"] == row["difference@1"]  # a wrong answer has rank 9


def test_answers_can_change_where_accuracy_stays() -> None:
    wrong = [False] * COUNT
    answers = {FIRST: ["a"] * COUNT, PROMPT: ["a"] * 30 + ["b"] * 10}
    row = biases.tables(asked({FIRST: wrong, PROMPT: wrong}, answers))["wordings"].iloc[0]
    assert (row["changed"], row["only_one"], row["difference@1"]) == (0.25, 0.0, 0.0)
    assert row["only_one_high"] == pytest.approx(1 - 0.025 ** (1 / COUNT))  # exact: none of forty documents


def test_context_that_makes_prompts_agree_and_context_that_does_not() -> None:
    bare = {FIRST: first(0.6), PROMPT: [not hit for hit in first(0.6)], NAME: [not hit for hit in first(0.6)]}
    full = {FIRST: first(1.0), PROMPT: first(1.0), NAME: first(1.0)}
    found = verdicts(asked(bare, with_context=full))
    assert (found["002-16g"], found["002-16b"]) == ("agrees", "agrees")
    other = verdicts(asked({name: first(0.6) for name in bare}, with_context=bare))
    assert (other["002-16g"], other["002-16b"]) == ("contradicts", "contradicts")


def test_an_answer_without_an_auc_speaks_of_words_alone() -> None:
    tables = biases.tables(asked({FIRST: first(0.5), PROMPT: first(0.25)}))
    assert "first answers" in answer({**tables, "samples": pd.DataFrame()})


def test_answers_that_agree_more_and_results_that_agree_less() -> None:
    wrong = {FIRST: [False] * COUNT, PROMPT: [False] * COUNT}
    answers = {FIRST: ["a"] * COUNT, PROMPT: ["b"] * COUNT}
    tables = biases.tables(asked(wrong, answers, with_context={FIRST: first(1.0), PROMPT: first(0.7)}))
    rows = tables["directions"].query("claim == '002-16g'")
    assert rows["estimate"].tolist() == pytest.approx([0.7, -0.3])  # both numbers are judged, and must agree
    said = heard(text.right_by_one_alone(tables, "trex"))
    assert "0% are answered rightly by one of the two prompts and wrongly by the other, after" in said
    assert said.endswith(", after a document 30% (m).")


def test_kappa_by_hand() -> None:
    # Cohen (1960): 0.6 alike; the one says yes to 0.5, the other to 0.6: chance 0.5 * 0.6 + 0.5 * 0.4 = 0.5
    assert kappa(np.array([0.6, 0.5, 0.6, 0.5, 0.4])) == pytest.approx(0.2)
    assert kappa(np.array([0.0, 0.5, 0.5, 0.5, 0.5])) == -1.0
    assert np.isnan(kappa(np.array([1.0, 1.0, 1.0, 0.0, 0.0])))
    assert kappa(np.array([[1.0, 0.2, 0.2, 0.3, 0.3, 0.5, 0.5]])).tolist() == [1.0]


@pytest.mark.parametrize(("steady", "sign"), [(True, "agrees"), (False, "contradicts")])
def test_ucm_that_hangs_less_or_more_on_the_prompt_than_accuracy(steady: bool, sign: str) -> None:
    same = [(-1, 0, 1)[number % 3] for number in range(COUNT)]
    turned = [(0, 1, -1)[number % 3] for number in range(COUNT)]
    half, swapped = first(0.5), [not hit for hit in first(0.5)]
    rows = asked(
        {FIRST: half, PROMPT: swapped if steady else half},
        with_context={FIRST: first(0.6), PROMPT: first(0.6)},
        signs={FIRST: same, PROMPT: same if steady else turned},
    )
    row = biases.agreement(rows).iloc[0]
    assert (row["questions"], row["accuracy"], row["floor"]) == (COUNT, 0.5, False)  # of the questions it compares
    assert (row["ucm"], row["known"]) == pytest.approx((1.0, -1.0) if steady else (kappa_of(same, turned), 1.0))
    assert (row["steps"], row["triples"]) == (COUNT, COUNT)
    assert verdicts(rows)["002-16a"] == sign


def kappa_of(one: list[int], other: list[int]) -> float:
    same = np.mean([a == b for a, b in zip(one, other, strict=True)])
    chance = sum(one.count(value) * other.count(value) for value in (-1, 0, 1)) / len(one) ** 2
    return (same - chance) / (1 - chance)


def test_steps_that_ucm_does_not_count_are_not_compared() -> None:
    rows = asked({FIRST: first(0.5), PROMPT: first(0.5)}, signs={FIRST: [1] * COUNT, PROMPT: [1] * COUNT})
    rows.loc[(rows["triple_id"] == "3") & (rows["wording"] == PROMPT), "cut"] = True
    row = biases.agreement(rows).iloc[0]
    assert (row["steps"], row["triples"]) == (COUNT - 1, COUNT - 1) and np.isnan(row["ucm"])  # all Misunderstand


def test_what_was_told_and_what_is_named_often() -> None:
    taught = [number // 2 % 2 == 0 for number in range(COUNT)]
    often = [number % 5 > 2 for number in range(COUNT)]
    found = biases.tables(asked({FIRST: taught}))
    row = found["samples"].set_index("context").loc[WITHOUT]
    assert (row["gap"], row["told"], row["not_told"], row["read"]) == (1.0, 20, 20, "yes")
    assert verdicts(asked({FIRST: taught}))["002-16f"] == "agrees"
    row = biases.tables(asked({FIRST: often}))["samples"].set_index("context").loc[WITHOUT]
    assert row["auc"] == 1.0 and abs(row["gap"]) < 0.5
    bins = biases.tables(asked({FIRST: often}))["frequency"].query("context == 'without'")
    assert bins["documents"].tolist() == ["1 to 2", "3 to 4", "5"] and bins["acc@1"].tolist() == [0.0, 0.5, 1.0]


def test_auc_is_taken_within_relations() -> None:
    rows = asked({FIRST: [number % 2 == 0 for number in range(COUNT)]})  # right in P0 alone, whose objects
    rows["named_in"] = np.where(rows["relation"] == "P0", 9.0, 1.0)  # are named more often
    part = biases.outcomes(rows).query("context == 'without'")
    assert np.isnan(biases._separated(part).estimate)


@pytest.mark.parametrize(("full", "sign"), [(first(0.5), "agrees"), (None, "undecided")])
def test_context_that_lets_rare_objects_be_right_too(full: list[bool] | None, sign: str) -> None:
    often = [number % 5 > 2 for number in range(COUNT)]
    rows = asked({FIRST: often}, with_context=None if full is None else {FIRST: full})
    assert verdicts(rows)["002-16h"] == sign


def test_a_model_that_was_not_told_is_a_control_and_not_judged() -> None:
    hits = {FIRST: first(0.5), PROMPT: first(0.7)}
    rows = pd.concat([asked(hits, model="one"), asked(hits, model="two", told=False)], ignore_index=True)
    tables = biases.tables(rows)
    read = tables["samples"].set_index(["model", "context"])
    assert read.loc[("two", WITHOUT), "read"] == "no" and read["gap"].nunique() == 1
    found = biases.conclusions(tables)
    assert found.loc[found["claim"] == "002-16f", "model"].tolist() == ["one"]
    assert set(tables["wordings"]["model"]) == {"one", "two", MEAN}
    assert set(biases.in_other_words(tables)[0]["model"]) == {"one", "two"}


def test_questions_outside_the_draw_and_other_variants_do_not_count() -> None:
    rows = asked({FIRST: first(0.5), PROMPT: first(0.25)})
    more = rows[rows["triple_id"].astype(int) < 8].assign(
        triple_id=lambda table: "x" + table["triple_id"], drawn=False, any_before=9, answer_bare="other"
    )
    other = rows.assign(variant="knowledge_only", any_before=1)
    plain, found = biases.tables(rows), biases.tables(pd.concat([rows, more, other], ignore_index=True))
    for name in ("wordings", "samples", "frequency", "floors"):
        pd.testing.assert_frame_equal(found[name], plain[name])
    rows["drawn"] = rows["wording"] == PROMPT  # the own prompt of a question is taken whether it was drawn or not
    assert len(biases.in_pairs(biases.outcomes(rows))) == 2 * COUNT


def test_a_model_at_the_floor_and_too_few_questions_are_not_judged() -> None:
    wrong = {FIRST: [False] * COUNT, PROMPT: first(0.5)}
    assert set(verdicts(asked(wrong)).values()) == {FLOOR}
    few = biases.tables(asked({FIRST: first(0.5, 10), PROMPT: first(0.2, 10)}))
    assert biases.conclusions(few).empty and "another prompt" in answer(few)


def test_the_page_says_what_the_numbers_say() -> None:
    bare = {FIRST: first(0.75), PROMPT: first(0.25), NAME: first(0.5)}
    ranked = asked(bare, with_context={name: first(0.5) for name in bare})
    lone = asked({FIRST: first(0.5, 30), PROMPT: first(0.2, 30)}, source="medlama/template", told=False)
    lone = lone[lone["step"] == 1].assign(variant=BARE, named_in=np.nan)
    tables = biases.tables(pd.concat([ranked, lone], ignore_index=True))
    told = answer(tables)
    assert "T‑REx another prompt of the same meaning changes 50% of 40 first answers, and 0% after a document" in told
    assert "another name of the subject changes 25% of" in told and "answered right is shown for none of 1" in told
    floors = heard(text.biases_floors(tables, "trex"))
    assert "is right for 0% of 40 questions" in floors and "1 of 1 models exceeds it." in floors
    assert biases.sources(tables) == ["trex", "medlama/template"]
    assert set(biases.figure_rows(tables)["bias"]) == {
        "other prompt: changed", "other name: changed", biases.FREQUENCY, biases.TOLD,
    }  # fmt: skip
    assert len(biases.draw(tables).axes) == 4
    _, shown = biases.in_other_words(tables)
    assert shown["Context"].tolist() == ["without context", "with context"] * 2 + ["without context"]
    assert shown["Source"].tolist() == ["T‑REx"] * 4 + ["MedLAMA template"] and "Acc@1, so asked" in shown
    assert biases.reading(tables)[1]["Was told"].tolist() == ["yes", "yes", "not known"]
    assert biases.two_prompts(tables)[1]["Steps"].tolist() == ["40"]
    assert {row["context"] for row in tables["wordings"].to_dict("records")} == {WITHOUT, WITH}


def test_the_claims_of_the_page_are_those_it_concludes() -> None:
    claims = {c.id for c in load_claims() if getattr(c.beyond, "page", "") == "24_biases"}
    bare = {FIRST: first(0.75), PROMPT: first(0.25), NAME: first(0.5)}
    full = {FIRST: first(0.5), PROMPT: first(0.5), NAME: first(0.5)}
    rows = asked(bare, with_context=full, signs={name: [1, -1] * 20 for name in bare})
    assert set(biases.conclusions(biases.tables(rows))["claim"]) == claims


def test_the_page_names_what_it_does_not_judge() -> None:
    page = (root() / "notebooks" / "contexts" / "24_biases.py").read_text("utf-8")
    left = [claim.id for claim in load_claims() if claim.id.startswith("002-16") and not claim.judged]
    assert left and all(name in page for name in left)


def test_read_documents_are_compared_with_those_of_a_model_that_read_none() -> None:
    half = [1 if number < 20 else 0 for number in range(COUNT)]
    lifted, other = [-1 if flag else 1 for flag in half], [-1 if number % 2 else 1 for number in range(COUNT)]
    reads = asked({FIRST: first(0.5)}, model="lab/dose-0-s1", signs={FIRST: lifted})
    reads["document_read"] = reads["doc_id"].isin([f"d{number}" for number in range(20)])
    none = [asked({FIRST: first(0.5)}, model=name, signs={FIRST: other}) for name in ("lab/a-s0", "lab/a-s1")]
    ranked = pd.concat([none[0], reads, *none[1:]], ignore_index=True)
    table = biases.tables(ranked)["read"].set_index("measured")
    assert set(table["control"]) == {"lab/a-s1"} and set(table["model"]) == {"lab/dose-0-s1"}
    row = table.loc["Understand"]
    assert (row["read"], row["unread"], row["reader"], row["other"], row["more"]) == (20, 20, 1.0, 0.0, 1.0)
    assert table.loc["Misunderstand", "more"] == -1
    said = heard(text.documents_read(biases.tables(ranked), "trex"))
    assert "Up to 20 of 40 documents" in said and "shown to differ there for 1 of 1 models" in said
    assert biases.tables(pd.concat(none))["read"].empty and not text.documents_read(biases.tables(none[0]), "trex")
