"""Page 22 on steps made by hand: UCM beside accuracy, what follows of the paper's claims, and what the page shows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from context_steps import TWO, heard, made

from probekit.demo.world.contexts import demo_contexts
from probekit.errors import ReportError
from probekit.metrics.context import counted
from probekit.metrics.decisions import FLOOR
from probekit.models.registry import registry
from probekit.report.claims import load_claims
from probekit.report.tables import pick
from probekit.report.verdicts import concluded, judge

from notebooks.contexts import ask, copy, membership_auc, pooling, text, ucm
from notebooks.contexts.paper import ONCE, POOLED, PRINTED
from notebooks.contexts.pooling import MEAN

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
    ranked = made(TWO, 12)
    own = ranked.query("twin == 'target' and model == 'one'")
    table = ucm._groups(ranked[ranked["twin"] == "target"], pooling.floors(ranked))
    assert set(table["by"]) == set(ucm.GROUPS)
    for name, group, part in (
        ("variant", "real", own.query("variant == 'real'")),
        ("kind", "N-1", own.query("kind == 'N-1'")),
    ):
        row = pick(table, by=name, group=group, model="one").iloc[0]
        assert row["understand"] == (part[counted(part)]["rc_centre"] < 0).mean()
        assert row["with@5"] == (part[part["last"]]["any_after"] <= 5).mean() and row["without@5"] == 1.0
    silent = ucm._groups(own.drop(columns="kind"), pooling.floors(ranked))
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
    difference = between.loc[("two", "real less knowledge_only"), "difference"]
    assert difference == pytest.approx(by["real"] - by["knowledge_only"])
    assert between.loc[("two", "knowledge_only less knowledge_sorted"), "same"] == 1.0 and len(tables["draws"]) == 4
    assert "Between 2 draws" in (said := heard(text.ucm_draws(tables, "trex"))) and "by at most 0." in said
    assert len(ucm.variants_apart(tables)[1]) == len(ucm.variants_apart(tables)[0]) > 0
    assert set(found["n"]) == {40} and set(found["unit"]) == {"document"} and set(found["source"]) == {"trex"}
    assert ucm.conclusions({**tables, "directions": ucm.directions(made(TWO, 5), {}, pd.DataFrame())}).empty


GENERAL, BIOMEDICAL = ("bert-base-cased", "roberta-base"), ("biobert", "bio-clinicalbert")
CASES = {  # claim and text: chances to lift, then shares right without context, where it holds and where it does not
    ("002-09a", "mimic"): (((0.2, 0.3, 0.8, 0.9), (1,) * 4), ((0.2, 0.95, 0.5, 0.9), (1,) * 4)),
    ("002-09a", "trex"): (((0.8, 0.9, 0.2, 0.3), (1,) * 4), ((0.2, 0.9, 0.8, 0.3), (1,) * 4)),
    ("002-04i", "medlama"): (((0.5,) * 4, (1, 0.9, 0.3, 0.4)), ((0.5,) * 4, (0.3, 0.9, 0.9, 0.4))),
}


def verdict(claim: str, source: str, chances: tuple, hits: tuple, name: str = "{}", triples: int = 40) -> str:
    """Of the ledger, by what the page concludes of models of the paper, or of others so alike."""
    models = [name.format(model) for model in GENERAL + BIOMEDICAL]
    categories = {name.format(model): registry()[model].category for model in GENERAL + BIOMEDICAL}
    ranked = made(dict(zip(models, chances, strict=True)), triples)
    ranked = ranked.query("variant == 'real' and twin == 'target'").assign(source=source)
    right = ranked["model"].map(dict(zip(models, hits, strict=True))) * triples
    ranked["any_before"] = np.where(ranked["triple_id"].astype(int) < right, 1, 9)
    directions = ucm.directions(ranked, categories, ranked.iloc[:0])
    rows = concluded(ucm.conclusions({"directions": directions, "floors": pooling.floors(ranked)}))
    (one,) = (known for known in load_claims() if known.id == claim)
    (column,) = one.judged
    return judge(one, column, rows).verdict


@pytest.mark.parametrize(("claim", "source"), CASES)
def test_the_domain_of_a_model_is_judged_of_models_of_the_paper_alone(claim: str, source: str) -> None:
    holds, fails = CASES[claim, source]
    assert verdict(claim, source, *holds) == "holds" and verdict(claim, source, *fails) == "fails"
    demo = "demo" if source == "trex" else "demo_bio"
    others = "open" if claim == "002-09a" else "not run"  # what is said beyond the paper's data is open where rows lack
    assert verdict(claim, source, *holds, name="my-{}") == verdict(claim, demo, *holds) == others
    assert verdict(claim, source, *holds, triples=15) == "not run"
    assert verdict(claim, source, holds[0], (0,) * 4) == "open"  # all at the floor


def test_accuracy_without_biomedical_text_is_not_judged_on_general_text() -> None:
    assert verdict("002-04i", "trex", *CASES["002-04i", "medlama"][0]) == "not run"


def test_models_at_the_floor_are_shown_and_not_judged() -> None:
    ranked = made(TWO)
    low = ucm.tables(ranked.assign(any_before=ranked["model"].map({"one": 9, "two": 1})), CATEGORIES)
    found = concluded(ucm.conclusions(low)).set_index(["claim", "model"])["verdict"]
    assert found["002-14a", "one"] == FLOOR != found["002-14a", "two"]
    assert "left out of all verdicts: one" in heard(text.ucm_details(low, ["trex"], True)).lower()


def test_steps_that_rise_and_fall_by_a_coin_are_kind_to_no_class() -> None:
    """However far the classes' accuracies lie apart."""
    ranked = made({"one": 0.5, "two": 0.5}, 140).query("twin == 'target' and variant == 'real'")
    rare = ranked["target_prompts"] <= 3

    def judged(rows: pd.DataFrame) -> pd.DataFrame:
        directions = ucm.directions(rows, CATEGORIES, rows.iloc[:0]).query("claim == '002-14b'")
        return concluded(ucm.conclusions({"directions": directions, "floors": pooling.floors(ranked)}))

    coin = judged(ranked.assign(any_before=np.where(rare, 9, 1)))
    assert set(coin["verdict"]) == {"undecided"} and coin["estimate"].abs().max() < 0.3
    lifted = ranked.assign(rc_centre=ranked["rc_centre"].where(~rare, -ranked["rc_centre"].abs()))
    assert set(judged(lifted)["verdict"]) == {"agrees"}


def test_a_document_of_most_steps_counts_once_and_gives_no_interval_to_shares_of_all_steps() -> None:
    ranked = made(TWO).assign(doc_id=lambda t: t["triple_id"].astype(int).map(lambda n: "d0" if n < 30 else f"d{n}"))
    ranked["rc_centre"] = ranked["rc_centre"].where(ranked["doc_id"] != "d0", ranked["rc_centre"].abs())
    tables = ucm.tables(ranked, CATEGORIES)
    of = tables["ucm"].set_index(["measure", "model"])
    assert of.loc[(POOLED, "one"), "understand"] < 0.25 and np.isnan(of.loc[(POOLED, "one"), "understand_low"])
    assert of.loc[(ONCE, "one"), "understand"] > 0.7 and of.loc[(ONCE, "one"), "understand_low"] > 0.5
    assert of.loc[(POOLED, "one"), "effective"] < 1.1 and of.loc[(ONCE, "one"), "effective"] == 11
    said = heard(text.ucm_details(tables, ["trex"], True))
    assert "of 11 documents and tell as much as 1.0 of one size" in said.replace("of unlike size ", "")


def test_nothing_to_count_is_said() -> None:
    ranked = made({"one": 0.5}, 2)
    with pytest.raises(ReportError, match="no step to count: ask facts with two right answers"):
        ucm.tables(ranked[ranked["added"] != "R1"], {})
    searched = [ask.search(demo_contexts("general"), others=1, most=1, documents=2)]  # one segment, one entity
    for before_any_model_is_asked in (ucm.countable, copy.paired):
        with pytest.raises(ReportError, match="ask facts with two right answers"):
            before_any_model_is_asked(ask.all_steps(searched))


@pytest.fixture(scope="module")
def page_tables() -> dict[str, pd.DataFrame]:
    """Forty triples of T-REx, and three of PubMed."""
    ranked = pd.concat([made(TWO, told=0.05), made(TWO, 3).assign(source="pubmed")], ignore_index=True)
    tables = ucm.tables(ranked, {})
    return {**tables, "telling": membership_auc.membership_auc(ranked, tables["floors"])}


@pytest.fixture
def tables(page_tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    return {name: table.copy() for name, table in page_tables.items()}


def test_the_page_shows_the_source_with_enough_triples_and_names_the_others(tables: dict[str, pd.DataFrame]) -> None:
    assert ucm.sources(tables) == ["trex"]
    said = heard(text.ucm_details(tables, ["trex"], True))
    assert "judgement: PubMed 3." in said and "judgement" not in heard(
        text.ucm_details(tables, ["trex", "pubmed"], True)
    )
    numbers, shown = ucm.as_table2(tables, printed=True)
    assert set(numbers["source"]) == {"trex", PRINTED} and len(shown) == 3 + 9
    first = numbers.query("model == @MEAN").iloc[0]
    hits = tables["accuracy"].query("source == 'trex' and model == @MEAN and gold == 'any'").set_index("k")
    assert first["with@5"] == hits.loc[5, "with"] and shown["U"].iloc[0].count("[") == 1
    assert len(ucm.as_table3(tables, printed=True)[0]) == 6 + 12 and len(ucm.as_table3(tables, printed=False)[0]) == 6
    rows, _ = ucm.by_group(tables)
    assert set(rows["source"]) == {"trex"} and set(rows["by"]) == set(ucm.GROUPS) - {"relation"}


def test_the_answer_says_what_the_numbers_say(tables: dict[str, pd.DataFrame]) -> None:
    row = tables["ucm"].query("source == 'trex' and measure == @ONCE and model == @MEAN").iloc[0]
    said = heard(text.ucm_answer(tables, "trex"))
    assert f"in {row['understand']:.0%} of a document's steps" in said and "the mean over models" in said
    assert "lifts the target in 32% of all steps" in heard(text.ucm_details(tables, ["trex"], True))
    assert "Table 3" not in heard(text.ucm_details(tables, ["trex"], False))
    assert "not known" in heard(text.ucm_answer({**tables, "telling": pd.DataFrame()}, "trex"))
    assert len(ucm.draw(tables).axes) == 1 and {"Confuse"} < {*ucm.share_rows(tables)["answer"]}


@pytest.mark.parametrize("low", [0.54, 0.46])
def test_where_no_model_is_above_the_floor_the_answer_names_the_value_that_tells(tables, low: float) -> None:
    tables["floors"]["floor"] = True
    auc = tables["telling"]
    auc[["auc", "auc_low", "auc_high"]] = 0.5, 0.4, 0.6
    auc.loc[auc["value"] == "Acc@1 without context", ["auc", "auc_low", "auc_high"]] = 0.6, low, 0.67
    answer = heard(text.ucm_answer(tables, "trex"))
    best = "Of 8 values Acc@1 without context has the greatest AUC (0.60 [0.54,"
    assert (f"{best}\N{NO-BREAK SPACE}0.67])" in answer) == (low > 0.5) and "no model is shown" in answer


def test_two_models_are_compared_over_the_same_steps() -> None:
    ranked = made(TWO).query("twin == 'target'")
    (row,) = ucm._against(ranked[counted(ranked)]).to_dict("records")
    shares = (ranked[counted(ranked)]["rc_centre"] < 0).groupby(ranked["model"]).mean()
    assert row["difference"] == pytest.approx(shares["one"] - shares["two"]) and row["difference"] > 0
    assert row["low"] <= row["difference"] <= row["high"] and (row["first"], row["second"]) == ("one", "two")
    assert ucm._against(ranked[counted(ranked) & (ranked["model"] == "one")]).empty
