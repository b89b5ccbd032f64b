"""Page 17 on ranks small enough to check by hand."""

import itertools

import pandas as pd
import pytest
from test_reading import own_model as own_model

import probekit as pk
from probekit.errors import ProbeError
from probekit.models.registry import registry
from probekit.report import title
from probekit.report.charts import new_figure
from probekit.report.outcomes import read_outcomes
from probekit.report.verdicts import concluded
from probekit.run import RankWithin, answer

from notebooks.templates import entities
from notebooks.templates import text as words
from notebooks.templates.ask import NOBODY, nobody
from notebooks.templates.paper import PAPER, SHORT, table6


def ranks(model: str, before: list[int], after: list[int], probe: str = "squad") -> pd.DataFrame:
    """A list of 11 grown to 31; the steps between do not matter to the differences."""
    rows = [
        {"model": model, "probe": probe, "prompt_id": str(i), "fact_id": str(i), "share": share, "entities": n,
         "candidates": n, "rank": b if share < 1 else a}
        for i, (b, a) in enumerate(zip(before, after, strict=True))
        for share, n in zip(entities.SHARES, (11, 16, 21, 31), strict=True)
    ]  # fmt: skip
    return pd.DataFrame(rows)


@pytest.mark.parametrize("ends", [(310, 940), (25, 38), (40, 52_000)])
def test_an_axis_of_candidates_has_numbers_whatever_it_spans(ends):
    _, (ax,) = new_figure()
    ax.plot(ends, [0, 1])
    entities.logarithmic(ax)
    ax.figure.draw_without_rendering()
    first, last = ax.get_xlim()
    shown = [
        text.get_text() for at, text in zip(ax.get_xticks(), ax.get_xticklabels(), strict=True) if first <= at <= last
    ]
    assert len([number for number in shown if number]) >= 2


def made(*frames: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return entities.tables(pd.concat(frames), pd.DataFrame({"model": [], "probe": []}))


def test_the_fall_is_that_of_the_same_prompts():
    found = made(ranks("m", [1, 1, 1, 6] * 2, [1, 2, 1, 26] * 2))
    one = found["falls"].query("k == 1").iloc[0]
    assert (one["before"], one["after"], one["difference"]) == (0.75, 0.5, 0.25)
    assert 0 <= one["low"] < 0.25 < one["high"] <= 1
    assert (one["entities_before"], one["entities_after"], one["facts"]) == (11, 31, 8)
    assert found["relative"].query("k == 1")["relative"].iloc[0] == pytest.approx(1 / 3)
    assert found["falls"].query("k == 10")["difference"].iloc[0] == 0.25  # rank 6 to 26
    assert set(found["accuracy"]["share"]) == set(entities.SHARES)
    assert entities.MEAN_OF_ALL not in set(found["falls"]["model"])


def test_a_model_of_the_paper_stands_beside_its_row_of_table_6():
    found = made(ranks("biom-electra", [1, 1, 1, 6], [1, 2, 1, 26]), ranks("mine", [1, 1, 1, 6], [1, 2, 1, 26]))
    rows = entities.model_by_model(found)
    assert set(rows["model"]) == {"biom-electra"} and set(rows["data"]) == {"SQuAD"} and len(rows) == len(entities.KS)
    first = rows[rows["k"] == 1].iloc[0]
    assert (first["before"], first["after"]) == (0.75, 0.5)
    printed = table6().loc["BioM-ELECTRA"]
    assert first["printed_before"] == printed["SQuAD Original A@1"]
    assert first["printed_after"] == printed["SQuAD Modified A@1"]
    assert entities.model_by_model(made(ranks("mine", [1], [2]))).empty
    names = [entry.names[PAPER] for entry in registry().values() if PAPER in entry.names]
    assert sorted(SHORT.get(name, name) for name in names) == sorted(table6().index)


def test_rivals_compare_shares_of_what_could_come_before():
    row = made(ranks("m", [1, 6], [1, 26]))["rivals"].iloc[0]
    assert row["own_ahead"] == pytest.approx((0 / 10 + 5 / 10) / 2)
    assert row["added_ahead"] == pytest.approx((0 / 20 + 20 / 20) / 2)
    assert row["difference"] == pytest.approx(0.25)


def test_nothing_right_before_has_no_relative_fall():
    found = made(ranks("m", [20] * 12, [30] * 12))
    assert found["relative"].empty and (found["falls"]["difference"] == 0).all()
    assert verdicts(found) == {("001-13a", "squad"): "undecided"}
    assert not any(table.isna().to_numpy().any() for table in found.values())


def test_models_are_averaged_and_their_order_compared():
    found = made(ranks("a", [1, 1, 1, 2], [2, 2, 2, 2]), ranks("b", [1, 2, 2, 2], [1, 2, 2, 2]))
    assert found["falls"].query("k == 1").set_index("model")["before"].to_dict() == {
        "a": 0.75, "b": 0.25, entities.MEAN_OF_ALL: 0.5,
    }  # fmt: skip
    assert found["order"].iloc[0][["probe", "models", "tau"]].to_list() == ["squad", 2, -1.0]
    assert list(words.of_mean(found["falls"])["model"].unique()) == [entities.MEAN_OF_ALL]


def verdicts(tables: dict[str, pd.DataFrame]) -> dict[tuple[str, str], str]:
    rows = concluded(entities.conclusions(tables))
    return dict(zip(zip(rows["claim"], rows["dataset"], strict=True), rows["verdict"], strict=True))


def test_conclusions_say_what_the_intervals_allow():
    other = "google_re/natural"
    found = made(ranks("m", [1] * 40, [2] * 40), ranks("m", [1] * 40, [1] * 40, other))
    assert verdicts(found) == {("001-13a", "squad"): "agrees", ("001-13a", other): "undecided"}
    both = made(ranks("m", [1], [2]), ranks("n", [1], [2]))
    assert len(entities.conclusions(both)) == 2  # of single models, not of their mean
    greatest, least, counted = (said.text for said in words.entities_answer(found))
    assert greatest.startswith("With 31 entities in place of 11, Acc@1 on SQuAD falls from 1.000 to 0.000")
    assert "natural it goes from 1.000 to 1.000" in least and counted.startswith("In 1 of 2 pairs")
    (flat,) = words.entities_answer(made(ranks("m", [1] * 40, [1] * 40)))
    assert "no model above the floor is shown to lose Acc@1" in flat.text
    low = pd.concat([ranks("m", [1] * 9, [2] * 9).assign(floor=False), ranks("n", [1] * 9, [2] * 9).assign(floor=True)])
    found = made(low)
    assert concluded(entities.conclusions(found)).set_index("model")["verdict"]["n"] == "at the floor"
    assert set(found["falls"]["model"]) == {"m", "n"} and set(words.of_mean(found["falls"])["model"]) == {"m"}
    none = made(low.assign(floor=True))
    assert nobody({"floors": none["falls"]}) == NOBODY and len(words.of_mean(none["falls"]))
    assert set(concluded(entities.conclusions(none))["verdict"]) == {"at the floor"}


def test_the_papers_means_stand_above_ours():
    found = made(ranks("m", [1] * 40, [2] * 40), ranks("m", [1] * 40, [1] * 40, "google_re/natural"))
    table = entities.as_in_paper(found, paper=True)
    assert table["data"].tolist() == ["SQuAD", "Biomed-Wikidata", "CTD", "SQuAD", title("google_re/natural")]
    assert table[["before@1", "after@1"]].to_numpy().tolist()[0] == [0.17, 0.087]
    assert table[["before@1", "after@1"]].to_numpy().tolist()[3] == [1, 0]
    shown = entities.arrows(table)
    assert shown["Acc@1"].tolist()[0] == "0.17 → 0.087" and shown["Acc@1"].tolist()[3] == "1.000 → 0.000"
    assert len(entities.as_in_paper(found, paper=False)) == 2


def test_rivals_are_told_weaker_or_stronger_by_their_interval():
    weak, strong = ranks("m", [6] * 20, [6] * 20), ranks("m", [1] * 20, [21] * 20, "google_re/natural")
    found = made(weak, strong)
    assert set(entities.rivals_long(found)["entities"]) == {"own entities", "added entities"}
    assert "are not shown to be weaker" in words.rivals(found)[0].text
    assert words.rivals(made(weak))[0].text.startswith(
        "In the mean over models above the floor, added entities are weaker rivals than the own ones on each of 1 "
    )


def test_lists_are_nested_hold_the_own_ones_and_follow_the_seed():
    one = entities.load(["demo/template"], {"demo": ["demo_bio/natural"]}, limit=5)[0]
    lists = list(one.lists.values())
    assert lists[0] == list(one.probe.entities) and len(lists[-1]) == len(set(lists[-1]))
    assert all(large[: len(less)] == less for less, large in itertools.pairwise(lists))
    assert set(lists[-1]) == {*one.probe.entities, *pk.load_probe("demo_bio/natural").entities}
    again, other = (entities.load(["demo/template"], {"demo": ["demo_bio/natural"]}, 5, seed)[0] for seed in (0, 1))
    assert again.added == one.added != other.added


def test_the_candidates_of_a_relation_are_enlarged_as_the_whole_list_is():
    given = {"models": ["zoo/t5-tiny"], "probes": ["demo/template"], "limit": 3, "limits": {}, "seed": 0}
    given |= {"enlarge": {"demo": ["demo_bio/natural"]}, "score": "sum", "batch_tokens": 0}
    (asked,) = entities.questions(given | {"candidates": "relation"})
    found = entities.rows(answer([asked])[0])
    own, added = pk.load_probe("demo/template").relations, list(asked.lists.values())[-1][len(asked.probe.entities) :]
    for number, relation in enumerate(asked.probe.prompts["relation"]):
        rows = found.iloc[number * len(entities.SHARES) : (number + 1) * len(entities.SHARES)]
        sizes = [len(own[relation]) + round(share * len(added)) for share in entities.SHARES]
        assert rows["candidates"].tolist() == sizes and rows["rank"].is_monotonic_increasing
        assert set(rows["pool"]) == {relation}
    assert found["entities"].nunique() == len(entities.SHARES)


@pytest.mark.parametrize("enlarge", [{}, {"demo": ["demo/natural"]}])
def test_a_list_that_does_not_grow_is_refused(enlarge):
    with pytest.raises(ProbeError, match=r"lends an entity to demo/template.*'demo' in `enlarge`"):
        entities.load(["demo/template"], enlarge)


def test_a_run_of_ones_own_file_asks_every_list(tmp_path, own_model):
    page = own_model("17_entities")
    file = tmp_path / "my.jsonl"
    file.write_text('{"text": "It is [MASK] .", "gold": ["town"]}\n{"text": "[MASK] is", "gold": ["x"]}\n')
    loaded = entities.load([str(file)], {"my": ["demo/natural"]})
    found, cost = entities.ask_all(page, [RankWithin("m", longer.probe, longer.lists) for longer in loaded])
    assert len(found) == 2 * len(entities.SHARES) and (found["rank"] <= found["candidates"]).all()
    page.close()
    told = read_outcomes(page.out)
    assert told["rank"].tolist() == found["rank"].tolist() and told["asked"][0] == "It is [MASK] ."
    assert told["variant"].iloc[: len(entities.SHARES)].nunique() == len(entities.SHARES)
    assert (cost["rows"] == 2 * cost["lengths"]).all() and cost["rows"].is_monotonic_increasing
