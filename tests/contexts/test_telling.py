"""Does Understand tell facts that were told from facts that were not: on steps made by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
from context_steps import TWO, made

from probekit.probes.halves import HELD_OUT, TAUGHT

from notebooks.contexts import telling
from notebooks.contexts.pooling import MEAN, floors


def told_of(ranked: pd.DataFrame) -> pd.DataFrame:
    return telling.telling(ranked, floors(ranked))


def test_understand_tells_taught_facts_where_it_rests_on_them() -> None:
    none, clear = (told_of(made({"one": 0.3, "two": 0.3}, told=told)) for told in (0.0, 0.6))
    for table, sure in ((none, False), (clear, True)):
        row = table[(table["model"] == MEAN) & (table["value"] == telling.UNDERSTAND)].iloc[0]
        assert (row["auc_low"] > 0.5) == sure and row["told"] == row["not_told"] == 20
        assert (row["less"], row["less_low"], row["less_high"]) == (0, 0, 0)
    hit = clear[(clear["model"] == MEAN) & (clear["value"] == "Acc@5 without context")].iloc[0]
    assert hit["auc"] == 0.5 and hit["less_low"] > 0
    assert told_of(made(TWO).assign(half="")).empty


def test_the_mean_is_that_of_the_models() -> None:
    table = told_of(made(TWO, told=0.05))
    auc = table[table["value"] == telling.UNDERSTAND].set_index("model")["auc"]
    assert auc[MEAN] == auc[list(TWO)].mean()
    low = pd.DataFrame({"source": "trex", "model": [*TWO], "floor": [False, True]})
    alone = telling.telling(made(TWO, told=0.05), low)
    assert MEAN not in set(alone["model"]) and set(telling.main_contrast(alone, low, "trex")["model"]) == {"one"}


def test_triple_values_are_shares_of_steps_and_contexts() -> None:
    ranked = made({"one": 1.0}, 2)
    values = telling.triple_values(ranked[ranked["twin"] == "target"])
    assert values[telling.UNDERSTAND].tolist() == [1.0, 1.0]
    assert values["Acc@5 with context"].tolist() == [1.0, 1.0]
    assert values["Acc@5 without context"].tolist() == [0.0, 0.0]  # of the target, not of any correct object
    assert values["rank without context"].tolist() == [-6 / 50] * 2


def test_facts_of_the_demo_world_are_told_by_their_tellings() -> None:
    ranked = made({"zoo/bert-tiny": 0.5, "zoo/bert-tiny-bio": 0.5}, 30).assign(source="demo", half="")
    table = told_of(ranked.assign(exposure=ranked["triple_id"].astype(int) % 3 * 2.0))
    assert set(table["contrast"]) == {"told 4 times or more, or never", "told at all, or never"}
    assert table.groupby("read")["model"].unique().map(list).to_dict() == {
        "no": ["zoo/bert-tiny-bio"], "yes": ["zoo/bert-tiny"],
    }  # fmt: skip
    counts = table.drop_duplicates("contrast").set_index("contrast")[["told", "not_told"]].to_dict("index")
    assert counts["told 4 times or more, or never"] == {"told": 10, "not_told": 10}
    assert counts["told at all, or never"] == {"told": 20, "not_told": 10}
    shown = telling.drawn_rows(table, floors(ranked), ["demo"])
    assert (
        shown["facts"].iloc[-1].endswith("a control") and len(telling.draw(table, floors(ranked), ["demo"]).axes) == 1
    )
    assert set(telling.main_contrast(table, floors(ranked), "demo")["read"]) == {"yes"}


def test_too_few_told_facts_give_no_number() -> None:
    ranked = made({"one": 0.5}, 30)
    known = ranked.assign(half=np.where(ranked["triple_id"].isin(["0", "2", "4", "6"]), TAUGHT, HELD_OUT))
    table, low = told_of(known), floors(known)
    assert table.empty and telling.main_contrast(table, low, "trex").empty
    assert "too few" in telling.sentence(table, low, "trex") and telling.drawn_rows(pd.DataFrame(), low, ["trex"]).empty


def test_the_sentence_compares_understand_with_accuracy() -> None:
    ranked = made({"one": 0.3, "two": 0.3}, told=0.6)
    clear, low = told_of(ranked), floors(ranked)
    assert "20 triples were told and 20 were not" in telling.sentence(clear, low, "trex")
    assert "better than Acc@5 without context" in telling.sentence(clear, low, "trex")


def test_that_a_measure_does_not_tell_is_said_only_where_another_does() -> None:
    def contrast(**auc: float) -> str:
        values = {telling.UNDERSTAND: auc["own"], telling.RANK: auc["rank"]}
        rows = [{"value": n, "auc": a, "auc_low": a - 0.1, "auc_high": a + 0.1} for n, a in values.items()]
        return telling.tells(pd.DataFrame(rows))

    assert contrast(own=0.52, rank=0.53).startswith("Nothing here could tell")
    assert "is not shown to tell" in contrast(own=0.52, rank=0.8)
    assert "but rank without context does (0.80 [0.70,\N{NO-BREAK SPACE}0.90])" in contrast(own=0.52, rank=0.8)
    assert "lifted tells which facts" in contrast(own=0.7, rank=0.5)
    assert "the wrong way round" in contrast(own=0.3, rank=0.5)
    ranked = made({"one": 0.3, "two": 0.3}, told=0.6)
    clear, low = told_of(ranked), floors(ranked)
    own = clear["value"] == telling.UNDERSTAND
    clear.loc[own, ["auc_low", "auc_high"]] = 0.4, 0.6
    said = telling.sentence(clear, low, "trex")
    assert "Understand is not shown to tell them, but" in said and "no more surely" not in said
    ranked = made(TWO)
    assert "None of these values" in telling.sentence(told_of(ranked), floors(ranked), "trex")
