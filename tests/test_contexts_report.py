"""Study 2's tables on hand-made steps: means over models, classes, what tells told facts, twins, and their wording."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from probekit.report.parts import MEAN

from probekit.errors import ReportError
from probekit.metrics.context import ucm_table
from probekit.probes.halves import HELD_OUT, TAUGHT
from probekit.report.text import interval

from notebooks.contexts import telling, twins, twins_view, ucm, ucm_view
from notebooks.contexts.shares import classes, everyone, lowest, measured, once, several, sided

VARIANTS = ["real", "knowledge_only", "knowledge_sorted", "knowledge_random"]


def made(models: dict[str, float], triples: int = 40, told: float = 0.0, copy: bool = False) -> pd.DataFrame:
    """Steps of contexts with a target T, a wrong W and two right R1, R2; three steps each.

    Args:
        models: name -> chance that a right entity lifts the target.
        told: added to that chance for the taught half.
        copy: whether it lifts the negative target as often.
    """
    generator, rows = np.random.default_rng(0), []
    for (model, chance), triple, variant, twin in product(
        models.items(), range(triples), VARIANTS, ("target", "negative")
    ):
        half, centre, rank = (TAUGHT, HELD_OUT)[triple % 2], "T" if twin == "target" else "W", 6
        order = ["T", "R1", "W"] if twin == "target" else ["W", "T", "R1"]
        for step, added in enumerate(order, start=1):
            right = added != "W"
            lift = chance + told * (half == TAUGHT) if twin == "target" or copy else 1 - chance
            change = (-1 if generator.random() < lift else 1) if right and added != centre else 0
            rows.append(
                {
                    "source": "trex", "model": model, "triple_id": str(triple), "prompt_id": str(triple),
                    "fact_id": str(triple), "relation": f"P{triple % 3}", "golds": 2 + triple % 4,
                    "target_prompts": 1 + triple % 7, "relation_prompts": 9, "doc_id": "d", "variant": variant,
                    "twin": twin, "centre": centre, "step": step, "last": step == 3, "added": added,
                    "added_correct": right, "rank_before": rank, "rank_after": rank + change, "rc_centre": change,
                    "rc_added": 0.0, "rc_correct": 0.0, "rc_incorrect": 0.0, "candidates": 50, "half": half,
                }
            )  # fmt: skip
            rank += change
    return pd.DataFrame(rows)


TWO = {"one": 0.9, "two": 0.5}


def test_the_mean_is_that_of_the_models() -> None:
    done = made(TWO, 10)
    table = ucm_table(everyone(done[done["twin"] == "target"]), ["model"]).set_index("model")
    assert table.loc[MEAN, "understand"] == pytest.approx(table.loc[list(TWO), "understand"].mean())
    assert table.loc[MEAN, "triples"] == 10
    counted_once = once(table.reset_index(), 2).set_index("model")
    assert counted_once["steps"].nunique() == 1
    assert len(everyone(done[done["model"] == "one"])) == len(done) / 2


@given(st.lists(st.integers(1, 60), min_size=1, max_size=30))
def test_classes_cover_all_numbers_and_keep_equal_ones_together(numbers: list[int]) -> None:
    rows = pd.DataFrame({"source": "a", "triple_id": range(len(numbers)), "golds": numbers})
    labels = classes(rows, "golds")
    assert 1 <= labels.nunique() <= 3
    for label, of in rows.groupby(labels):
        ends = sorted({of["golds"].min(), of["golds"].max()})
        assert str(label) == " to ".join(map(str, ends)) and lowest(str(label)) == ends[0]
        assert not set(of["golds"]) & set(rows.loc[labels != label, "golds"])


def test_a_number_made_of_means_has_the_interval_of_its_triples() -> None:
    rows = pd.DataFrame({"triple_id": ["a", "a", "b", "b"]})
    first, second = [True, False, True, False], [False, True, False, True]
    estimate, low, high = measured(
        rows, [([4, 0, 2, 0], first), ([0, 1, 0, 1], second)], lambda m: m[..., 0] - m[..., 1]
    )
    assert (estimate, low, high) == (2.0, 1.0, 3.0)
    assert np.isnan(measured(rows, [([1, 1, 1, 1], [False] * 4)], lambda m: m[..., 0])[0])


def test_only_triples_with_a_step_that_counts_remain() -> None:
    done = made({"one": 0.5}, 3)
    alone = (done["triple_id"] == "1") & (done["added"] == "R1")
    assert set(several(done[~alone])["triple_id"]) == {"0", "2"}


def test_ucm_and_accuracy_stand_side_by_side() -> None:
    tables = ucm.tables(made(TWO), {"one": "general", "two": "biomedical"})
    of = tables["ucm"].set_index(["measure", "model"])["understand"]
    assert of["UCM_m", "one"] > 0.8 > of["UCM_m", MEAN] > of["UCM_m", "two"]
    assert set(tables["groups"]["by"]) == set(ucm.GROUPS)
    found = tables["conclusions"].set_index("claim")
    assert found.loc["002-09a", "holds"] == 1 and found.loc["002-09a", "estimate"] == pytest.approx(
        of["UCM_m", "one"] - of["UCM_m", "two"]
    )
    assert found.loc["002-05a", "estimate"] == 0.0 and found.loc["002-05a", "holds"] == "undecided"
    assert tables["counts"].loc[0, "steps counted"] == 40 * 4
    assert ucm.tables(made(TWO, 5), {})["conclusions"].empty
    sizes = ucm_view.by_group(tables, "size")
    assert sizes["Right objects of the triple"].iloc[0].startswith("2")
    assert sizes["Acc@5 without"].tolist() == [interval(0.0, 0.0, 0.0)] * len(sizes)
    row = tables["groups"].query("by == 'size' and model == @MEAN").iloc[0]
    assert sizes["Acc@5 with"].iloc[0] == interval(row["with@5"], row["with@5_low"], row["with@5_high"])
    assert row["with@5_low"] < row["with@5"] < row["with@5_high"]
    told = ucm_view.group_sentences(tables["conclusions"])
    other = {**tables, "groups": pd.concat([tables["groups"], tables["groups"].assign(source="demo")])}
    mixed = {**other, "groups": other["groups"].sort_values("group", kind="stable")}
    assert ucm_view.by_group(mixed, "size")["Source"].is_monotonic_decreasing  # T-REx first, as it comes first
    assert len(told) == 2 and all("T\N{NON-BREAKING HYPHEN}REx" in sentence for sentence in told)
    assert len(ucm_view.table2(tables)) == 3


def test_understand_tells_taught_facts_where_it_rests_on_them() -> None:
    none, clear = (telling.telling(made({"one": 0.3, "two": 0.3}, told=told)) for told in (0.0, 0.6))
    for table, sure in ((none, False), (clear, True)):
        row = table[(table["model"] == MEAN) & (table["value"] == telling.UNDERSTAND)].iloc[0]
        assert (row["auc_low"] > 0.5) == sure and row["told"] == row["not_told"] == 20
    hit = clear[(clear["model"] == MEAN) & (clear["value"] == "Acc@5 without context")].iloc[0]
    assert hit["auc"] == 0.5 and hit["less_low"] > 0
    assert "better than Acc@5 without context" in ucm_view.telling_sentences(clear)[0]
    assert telling.telling(made(TWO).assign(half="")).empty


def test_triple_values_are_shares_of_steps_and_contexts() -> None:
    done = made({"one": 1.0}, 2)
    values = telling.triple_values(done[done["twin"] == "target"])
    assert values[telling.UNDERSTAND].tolist() == [1.0, 1.0]
    assert values["Acc@5 with context"].tolist() == [1.0, 1.0] and values["Acc@5 without context"].tolist() == [
        0.0,
        0.0,
    ]
    assert values["rank without context"].tolist() == [-6 / 50] * 2


def test_twins_that_behave_alike_and_twins_that_do_not() -> None:
    apart, alike = twins.tables(made({"one": 0.8})), twins.tables(made({"one": 0.8}, copy=True))
    for tables, holds in ((apart, 1), (alike, 0)):
        found = tables["conclusions"].set_index("claim")["holds"]
        assert found["002-12a"] == holds and found["002-12c"] == "undecided"
    sizes = [of["conclusions"].set_index("claim").loc["002-12b", "estimate"] for of in (apart, alike)]
    assert sizes[0] > 0 > sizes[1]
    row = apart["differences"].iloc[0]
    of = apart["twins"].set_index("twin")["understand"]
    assert row["understand"] == pytest.approx(of["target"] - of["negative"])
    assert "more often than it lifts" in twins_view.answer(apart)
    told = twins.tables(made({"one": 0.3}, told=0.6))["conclusions"].set_index("claim")
    assert told.loc["002-12c", "holds"] == 1


def test_contexts_without_a_twin_leave_the_comparison() -> None:
    done = made({"one": 0.5}, 4)
    lone = done[~((done["triple_id"] == "2") & (done["twin"] == "negative"))]
    assert set(twins.paired(lone)["triple_id"]) == {"0", "1", "3"}
    crossed = twins.crossed(done).set_index(["twin", "added_correct"])
    assert crossed.loc[("target", False), ["rises", "falls"]].tolist() == [0.0, 0.0]
    assert crossed.loc[("target", True), ["rises", "falls"]].sum() == pytest.approx(1.0)


def test_too_few_told_facts_give_no_number() -> None:
    done = made({"one": 0.5}, 30)
    known = done.assign(half=np.where(done["triple_id"].isin(["0", "2", "4", "6"]), TAUGHT, HELD_OUT))
    tables = twins.tables(known)
    assert telling.telling(known).empty and set(tables["levels"]["level"]) == {HELD_OUT}
    assert set(tables["conclusions"]["claim"]) == {"002-12a", "002-12b"}


def test_nothing_to_count_is_said() -> None:
    done = made({"one": 0.5}, 2)
    with pytest.raises(ReportError, match="no step to count"):
        ucm.tables(done[done["added"] != "R1"], {})
    with pytest.raises(ReportError, match="no context has a twin"):
        twins.tables(done[done["twin"] == "target"])


def test_levels_of_facts_come_from_halves_and_tellings() -> None:
    rows = pd.DataFrame(
        {"half": [TAUGHT, "", "", "", ""], "model": ["m", "zoo/bert-tiny", "zoo/bert-tiny", "zoo/bert-tiny", "m"],
         "exposure": [np.nan, 0, 3, 4, 9]}
    )  # fmt: skip
    assert twins.level(rows).tolist() == [TAUGHT, twins.NEVER, twins.SOME, twins.MANY, ""]


def test_findings_are_worded_by_their_intervals() -> None:
    tables = ucm.tables(made(TWO), {})
    real = ucm_view.findings(tables["conclusions"], None)
    assert all(one.demo == ucm_view.ABSENT for one in real)
    assert "undecided" in next(one.recorded for one in real if one.claims == "002-05a")
    assert [sided(*ends, ("up", "down", "neither")) for ends in ((1, 2), (-2, -1), (-1, 1))] == [
        "up",
        "down",
        "neither",
    ]


def test_figures_draw_every_source_and_model() -> None:
    done = made(TWO)
    tables = {**ucm.tables(done, {}), "telling": telling.telling(done)}
    assert len(ucm_view.draw(tables, list(TWO)).axes) == 1
    assert len(ucm_view.draw_telling(tables["telling"]).axes) == 1
    both = twins.tables(done)
    assert "no judgement" not in twins_view.sentences(both)[0]
    seldom = {**both, "twins": both["twins"].assign(triples=3)}
    assert "(only 3 triples: intervals, and no judgement)" in twins_view.sentences(seldom)[0]
    assert len(twins_view.draw(both, list(TWO)).axes) == 2
    assert len(twins_view.draw_levels(both["levels"]).axes) == 1
    assert "two" in ucm_view.describe(tables) and TAUGHT in twins_view.describe_levels(both["levels"])
    assert ucm_view.answer(tables).startswith("**The answer.** On 40 triples")
