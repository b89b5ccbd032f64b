"""Page 22 on steps made by hand: UCM beside accuracy, what follows of the paper's claims, and what the page shows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from context_steps import TWO, made

from probekit.errors import ReportError
from probekit.metrics.context import counted
from probekit.metrics.decisions import FLOOR
from probekit.report.recording import recorded_tables
from probekit.report.verdicts import concluded

from notebooks.contexts import telling, ucm
from notebooks.contexts.pooling import MEAN, ONCE, POOLED, PRINTED

CATEGORIES = {"one": "general", "two": "biomedical"}


def test_ucm_and_accuracy_speak_of_the_same_triples() -> None:
    tables = ucm.tables(made(TWO), CATEGORIES)
    understand = tables["ucm"].set_index(["measure", "model"])["understand"]
    assert understand["UCM_m", "one"] > 0.8 > understand["UCM_m", MEAN] > understand["UCM_m", "two"]
    assert set(tables["accuracy"]["triples"]) == set(tables["ucm"]["triples"]) == {40}
    row = tables["counts"].iloc[0]
    assert row["steps counted"] == 40 * 4 and row["with another correct object"] == 40
    assert set(tables) <= set(ucm.CAPTIONS)


def test_groups_hold_what_each_group_alone_would() -> None:
    ranked = made(TWO)
    table = ucm.tables(ranked, CATEGORIES)["groups"]
    assert set(table["by"]) == set(ucm.GROUPS)
    row = table.query("by == 'variant' and group == 'real' and model == 'one'").iloc[0]
    part = ranked.query("variant == 'real' and model == 'one' and twin == 'target'")
    assert row["understand"] == (part[counted(part)]["rc_centre"] < 0).mean()
    assert row["with@5"] == (part[part["last"]]["any_after"] <= 5).mean() and row["without@5"] == 1.0
    kind = table.query("by == 'kind' and group == 'N-1' and model == 'one'").iloc[0]
    part = ranked.query("kind == 'N-1' and model == 'one' and twin == 'target'")
    assert kind["understand"] == (part[counted(part)]["rc_centre"] < 0).mean() and kind["triples"] == 14
    silent = ucm.tables(ranked.drop(columns="kind"), CATEGORIES)["groups"]
    assert set(silent["by"]) == set(ucm.GROUPS) - {"kind"}
    sizes = table.query("by == 'size' and model == @MEAN")["group"].tolist()
    assert sizes == sorted(sizes) and sizes[0].startswith("2")


def drawn(models: dict[str, float]) -> pd.DataFrame:
    ranked = made(models)
    part = ranked[(ranked["variant"] == "knowledge_random") & (ranked["twin"] == "target")]
    return pd.concat([part.assign(draw=number) for number in range(2)], ignore_index=True)


def test_conclusions_follow_from_the_shares_of_each_model() -> None:
    tables = ucm.tables(made(TWO), CATEGORIES, drawn(TWO))
    found = concluded(ucm.conclusions(tables)).set_index(["claim", "model"])
    understand = tables["ucm"].query("measure == 'UCM_m'").set_index("model")["understand"]
    pair = found.loc[("002-09a", "one less two")]
    assert pair["estimate"] == pytest.approx(understand["one"] - understand["two"]) and pair["verdict"] == "agrees"
    assert found.loc[("002-05a", "one"), "estimate"] == 0.0 and found.loc[("002-05a", "one"), "verdict"] == "undecided"
    by = tables["groups"].query("by == 'variant' and model == 'two'").set_index("group")["understand"]
    far = abs(by["knowledge_random"] - by["knowledge_only"]) - abs(by["knowledge_sorted"] - by["knowledge_only"])
    assert found.loc[("002-11c", "two"), "estimate"] == pytest.approx(far)
    between = tables["between"].set_index(["model", "pair"])
    assert between.loc[("two", "real less knowledge_only"), "difference"] == pytest.approx(
        by["real"] - by["knowledge_only"]
    )
    assert between.loc[("two", "knowledge_only less knowledge_sorted"), "same"] == 1.0 and len(tables["draws"]) == 4
    assert "0.850 and 0.850 for one" in ucm.unstable(tables).lower()
    assert len(ucm.apart(tables)[1]) == len(ucm.apart(tables)[0]) > 0
    assert set(found["n"]) == {40} and set(found["unit"]) == {"document"} and set(found["source"]) == {"trex"}
    assert ucm.conclusions(ucm.tables(made(TWO, 5), {})).empty  # too few triples


def test_models_at_the_floor_are_shown_and_not_judged() -> None:
    ranked = made(TWO)
    low = ucm.tables(ranked.assign(any_before=ranked["model"].map({"one": 9, "two": 1})), CATEGORIES)
    found = concluded(ucm.conclusions(low)).set_index(["claim", "model"])["verdict"]
    assert found["002-14a", "one"] == FLOOR != found["002-14a", "two"]
    assert "left out of all verdicts: one" in ucm.floor(low).lower()


def test_steps_that_rise_and_fall_by_a_coin_are_kind_to_no_class() -> None:
    """However far the classes' accuracies lie apart."""
    ranked = made({"one": 0.5, "two": 0.5}, 140)
    rare = ranked["target_prompts"] <= 3
    found = concluded(ucm.conclusions(ucm.tables(ranked.assign(any_before=np.where(rare, 9, 1)), CATEGORIES)))
    rows = found[found["claim"] == "002-14b"]
    assert set(rows["verdict"]) == {"undecided"} and rows["estimate"].abs().max() < 0.2
    lifted = ranked.assign(rc_centre=ranked["rc_centre"].where(~rare, -ranked["rc_centre"].abs()))
    kind = concluded(ucm.conclusions(ucm.tables(lifted, CATEGORIES)))
    assert set(kind.loc[kind["claim"] == "002-14b", "verdict"]) == {"agrees"}


def test_a_document_of_most_steps_counts_once_and_gives_no_interval_to_shares_of_all_steps() -> None:
    ranked = made(TWO).assign(doc_id=lambda t: t["triple_id"].astype(int).map(lambda n: "d0" if n < 30 else f"d{n}"))
    ranked["rc_centre"] = ranked["rc_centre"].where(ranked["doc_id"] != "d0", ranked["rc_centre"].abs())
    tables = ucm.tables(ranked, CATEGORIES)
    of = tables["ucm"].set_index(["measure", "model"])
    assert of.loc[(POOLED, "one"), "understand"] < 0.25 and np.isnan(of.loc[(POOLED, "one"), "understand_low"])
    assert of.loc[(ONCE, "one"), "understand"] > 0.7 and of.loc[(ONCE, "one"), "understand_low"] > 0.5
    assert of.loc[(POOLED, "one"), "effective"] < 1.1 and of.loc[(ONCE, "one"), "effective"] == 11
    assert "of 11 documents and tell as much as 1.0 of one size" in ucm.weights(tables)
    assert "have no interval" in ucm.weights(tables) and "have no interval" not in ucm.weights(page_tables())


def test_nothing_to_count_is_said() -> None:
    ranked = made({"one": 0.5}, 2)
    with pytest.raises(ReportError, match="no step to count: ask questions with a second gold"):
        ucm.tables(ranked[ranked["added"] != "R1"], {})


def page_tables() -> dict[str, pd.DataFrame]:
    """Forty triples of T-REx, and three of PubMed."""
    ranked = pd.concat([made(TWO, told=0.05), made(TWO, 3).assign(source="pubmed")], ignore_index=True)
    found = ucm.tables(ranked, {})
    return {**found, "telling": telling.telling(ranked, found["floors"])}


def test_the_page_shows_the_source_with_enough_triples_and_names_the_others() -> None:
    tables = page_tables()
    assert ucm.sources(tables) == ["trex"] and "PubMed 3" in ucm.scarce(tables)
    numbers, shown = ucm.as_table2(tables, printed=True)
    assert set(numbers["source"]) == {"trex", PRINTED} and len(shown) == 3 + 9
    first = numbers.query("model == @MEAN").iloc[0]
    hits = tables["accuracy"].query("source == 'trex' and model == @MEAN and gold == 'any'").set_index("k")
    assert first["with@5"] == hits.loc[5, "with"] and shown["U"].iloc[0].count("[") == 1
    assert len(ucm.as_table3(tables, printed=True)[0]) == 6 + 12 and len(ucm.as_table3(tables, printed=False)[0]) == 6
    rows, _ = ucm.by_group(tables)
    assert set(rows["source"]) == {"trex"} and set(rows["by"]) == set(ucm.GROUPS) - {"relation"}
    assert ucm.scarce({**tables, "counts": tables["counts"].head(1)}) == ""


def test_the_answer_says_what_the_numbers_say() -> None:
    tables = page_tables()
    row = tables["ucm"].query("source == 'trex' and measure == @ONCE and model == @MEAN").iloc[0]
    told = ucm.answer(tables, printed=True)
    assert (
        f"in {row['understand']:.0%} of a document's steps" in told
        and "mean over models above" in told
        and "Table 3 all lift more than lower" in told
    )
    assert "Table 3" not in ucm.answer(tables, printed=False)
    assert "not known" in ucm.answer({**tables, "telling": pd.DataFrame()}, printed=False)
    assert len(ucm.draw(tables).axes) == 1 and "Confuse" in ucm.described(tables)


@pytest.mark.parametrize(("bar", "named"), [(0.49, False), (1.1, True)])
def test_the_answer_sets_the_models_against_each_relation_s_commonest_object(bar: float, named: bool) -> None:
    tables = page_tables()
    tables["floors"]["by_relation"] = bar
    assert ("2 of 2 right less often than each relation's commonest object" in ucm.answer(tables, True)) == named


@pytest.mark.parametrize("low", [0.54, 0.46])
def test_where_no_model_is_above_the_floor_the_answer_names_the_value_that_tells(low: float) -> None:
    tables = page_tables()
    tables["floors"]["floor"] = True
    known = tables["telling"]
    known[["auc", "auc_low", "auc_high"]] = 0.5, 0.4, 0.6
    known.loc[known["value"] == "Acc@1 without context", ["auc", "auc_low", "auc_high"]] = 0.6, low, 0.67
    said = "but Acc@1 without context does (0.60 [0.54,\N{NO-BREAK SPACE}0.67])." in ucm.answer(tables, True)
    assert said == (low > 0.5) and "no model is shown" in ucm.answer(tables, True)


def test_the_recorded_tables_are_those_of_the_page() -> None:
    recorded = recorded_tables("22_ucm")
    assert set(recorded) <= set(ucm.CAPTIONS)
    found = concluded(ucm.conclusions(recorded))
    assert set(found["source"]) == {"trex"} and not found.duplicated(["claim", "model", "measured"]).any()
    assert len(ucm.answer(recorded, printed=True)) < 400
    assert "2 of 3 right less often" in ucm.answer(recorded, printed=True) and "draws" in ucm.unstable(recorded)


def test_two_models_are_compared_over_the_same_steps() -> None:
    ranked = made(TWO)
    steps = ranked[(ranked["twin"] == "target") & counted(ranked)]
    found = ucm.tables(ranked, CATEGORIES)["against"]
    for row in found.to_dict("records"):
        lifted = steps[steps["source"] == row["source"]].assign(up=lambda rows: rows["rc_centre"] < 0)
        shares = lifted[lifted["added"] != ""].groupby("model")["up"].mean()
        assert row["difference"] == pytest.approx(shares[row["first"]] - shares[row["second"]])
        assert row["low"] <= row["difference"] <= row["high"] and row["first"] != row["second"]
    assert len(found) and found["difference"].abs().max() > 0
    assert ucm.tables(ranked[ranked["model"] == "one"], CATEGORIES)["against"].empty
