"""Does Understand tell facts that were told from facts that were not: on steps made by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from context_steps import TWO, heard, made

from probekit.probes.halves import HELD_OUT, TAUGHT
from probekit.report.tables import pick

from notebooks.contexts import text
from notebooks.contexts.membership_auc import UNDERSTAND, draw, figure_rows, membership_auc, triple_values
from notebooks.contexts.pooling import MEAN, Tables, floors, main_contrast


def told(ranked: pd.DataFrame) -> dict[str, pd.DataFrame]:
    low = floors(ranked)
    return {"telling": membership_auc(ranked, low), "floors": low}


@pytest.fixture(scope="module")
def clear() -> dict[str, pd.DataFrame]:
    """Of models that lift the facts they were told far more often than others."""
    return told(made({"one": 0.3, "two": 0.3}, told=0.6))


@pytest.fixture(scope="module")
def even() -> dict[str, pd.DataFrame]:
    """Of models that lift all facts alike."""
    return told(made(TWO))


def test_understand_tells_taught_facts_where_it_rests_on_them(clear: Tables, even: Tables) -> None:
    for table, sure in ((even["telling"], False), (clear["telling"], True)):
        mean = table[table["model"] == MEAN].set_index("value")
        row = mean.loc[UNDERSTAND]
        assert (row["auc_low"] > 0.5) == sure and row["told"] == row["not_told"] == 20
        assert (row["less"], row["less_low"], row["less_high"]) == (0, 0, 0)
        auc = table[table["value"] == UNDERSTAND].set_index("model")["auc"]
        assert auc[MEAN] == auc.drop(MEAN).mean()
    hit = mean.loc["Acc@5 without context"]
    assert hit["auc"] == 0.5 and hit["less_low"] > 0


def test_models_at_the_floor_are_in_no_mean_and_unknown_facts_in_no_row() -> None:
    ranked, low = made(TWO), pd.DataFrame({"source": "trex", "model": [*TWO], "floor": [False, True]})
    alone = membership_auc(ranked, low)
    assert MEAN not in set(alone["model"]) and set(main_contrast(alone, low, "trex")["model"]) == {"one"}
    assert membership_auc(ranked.assign(half=""), low).empty


def test_triple_values_are_shares_of_steps_and_contexts() -> None:
    ranked = made({"one": 1.0}, 2)
    values = triple_values(ranked[ranked["twin"] == "target"])
    assert values[UNDERSTAND].tolist() == [1.0, 1.0]
    assert values["Acc@5 with context"].tolist() == [1.0, 1.0]
    assert values["Acc@5 without context"].tolist() == [0.0, 0.0]  # of the target, not of any correct object
    assert values["rank without context"].tolist() == [-6 / 50] * 2


def test_facts_of_the_demo_world_are_told_by_their_tellings() -> None:
    ranked = made({"zoo/bert-tiny": 0.5, "zoo/bert-tiny-bio": 0.5}, 30).assign(source="demo", half="")
    tables = told(ranked.assign(exposure=ranked["triple_id"].astype(int) % 3 * 2.0))
    table, low = tables.values()
    read = table.groupby("read")["model"].unique().map(list).to_dict()
    assert read == {"no": ["zoo/bert-tiny-bio"], "yes": ["zoo/bert-tiny"]}
    counts = table.drop_duplicates("contrast").set_index("contrast")[["told", "not_told"]].to_dict("index")
    assert counts == {
        "told 4 times or more, or never": {"told": 10, "not_told": 10},
        "told at all, or never": {"told": 20, "not_told": 10},
    }
    shown = figure_rows(table, low, ["demo"])
    assert shown["facts"].iloc[-1].endswith("a control") and len(draw(shown).axes) == 1
    assert set(main_contrast(table, low, "demo")["read"]) == {"yes"}


def test_too_few_told_facts_give_no_number() -> None:
    ranked = made({"one": 0.5}, 30)
    tables = told(ranked.assign(half=np.where(ranked["triple_id"].isin(["0", "2", "4", "6"]), TAUGHT, HELD_OUT)))
    assert tables["telling"].empty and "Too few triples" in heard(text.membership(tables, "trex"))
    assert figure_rows(*tables.values(), ["trex"]).empty


@pytest.mark.parametrize(
    ("own", "rank", "said"),
    [
        (0.52, 0.53, "Nothing here could tell"),
        (0.52, 0.8, "is not shown to tell"),
        (
            0.52,
            0.8,
            "Of 3 values rank without context has the greatest AUC (0.80 [0.70,\N{NO-BREAK SPACE}0.90])",
        ),
        (0.7, 0.5, "lifted tells which facts"),
        (0.3, 0.5, "speaks against its fact having been told"),
    ],
)
def test_that_a_measure_does_not_tell_is_said_only_where_another_does(own: float, rank: float, said: str) -> None:
    rows = pd.DataFrame({"value": [UNDERSTAND, text.RANK, text.FIRST], "auc": [own, rank, 0.5], "one_side": True})
    rows = rows.assign(auc_low=rows["auc"] - 0.1, auc_high=rows["auc"] + 0.1, model="m")
    assert said in heard(text.separated(rows.assign(mean_told=0.7, mean_not_told=0.1)))


def test_seeds_are_replicates_and_must_lie_on_one_side() -> None:
    ranked = made({"lab/knows-s0": 0.5, "lab/knows-s1": 0.5, "other": 0.5}, 40)
    halves = np.where(ranked["triple_id"].astype(int) % 2, TAUGHT, HELD_OUT)
    tables = told(ranked.assign(half=np.where(ranked["model"] == "other", "", halves)))
    table, name = tables["telling"], "knows, mean of 2 seeds"
    each = table.set_index(["model", "value"])["auc"].unstack("value")
    assert each.loc[name].to_numpy() == pytest.approx(each.loc[["lab/knows-s0", "lab/knows-s1"]].mean().to_numpy())
    assert table.set_index("model")["seeds"].to_dict() == {"lab/knows-s0": 1, "lab/knows-s1": 1, name: 2}
    assert set(main_contrast(*tables.values(), "trex")["model"]) == {name}
    sure = table.assign(auc_low=0.8, auc_high=0.9)
    apart = pick(sure, model=name).assign(one_side=False)
    assert "tells which" in heard(text.separated(pick(sure, model=name)))
    assert "Nothing here" in heard(text.separated(apart))


def told_by(tables: Tables) -> list[str]:
    """The values that are said to tell facts apart."""
    said = heard(text.membership(tables, "trex"))
    return said.partition("tell them apart the right way round: ")[2].partition(" (")[0].split("; ")


def test_the_values_that_tell_are_named(clear: Tables, even: Tables) -> None:
    assert "20 triples that were told stand against 20 others" in heard(text.membership(clear, "trex"))
    assert UNDERSTAND in told_by(clear)
    table = clear["telling"].copy()
    table.loc[table["value"] == UNDERSTAND, ["auc_low", "auc_high"]] = 0.4, 0.6
    assert UNDERSTAND not in told_by({**clear, "telling": table})
    assert "0 of 8 values tell them apart the right way round (" in heard(text.membership(even, "trex"))
