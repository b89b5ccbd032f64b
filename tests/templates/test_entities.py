"""The tables of the section on the number of entities, on ranks small enough to check by hand."""

import itertools

import pandas as pd
import pytest
from conftest import small

import probekit as pk
from probekit.errors import ProbeError
from probekit.report import Page

from notebooks.templates import enlarging, entities


def ranks(model: str, before: list[int], after: list[int], probe: str = "squad") -> pd.DataFrame:
    """A list of 11 grown to 31; the steps between do not matter to the differences."""
    rows = [
        {"model": model, "probe": probe, "prompt_id": str(i), "fact_id": str(i), "share": share, "entities": n,
         "candidates": n, "rank": b if share < 1 else a}
        for i, (b, a) in enumerate(zip(before, after, strict=True))
        for share, n in zip(enlarging.SHARES, (11, 16, 21, 31), strict=True)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def made(*frames: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return entities.tables(pd.concat(frames), pd.DataFrame({"model": [], "probe": []}))


def test_the_fall_is_that_of_the_same_prompts():
    found = made(ranks("m", [1, 1, 1, 6], [1, 2, 1, 26]))
    one = found["falls"].query("k == 1").iloc[0]
    assert (one["before"], one["after"], one["difference"]) == (0.75, 0.5, 0.25)
    assert 0 <= one["low"] < 0.25 < one["high"] <= 1
    assert (one["entities_before"], one["entities_after"], one["facts"]) == (11, 31, 4)
    assert found["relative"].query("k == 1")["relative"].iloc[0] == pytest.approx(1 / 3)
    assert found["falls"].query("k == 10")["difference"].iloc[0] == 0.25  # rank 6 to 26
    assert set(found["accuracy"]["share"]) == set(enlarging.SHARES)
    assert entities.MEAN not in set(found["falls"]["model"])


def test_rivals_compare_shares_of_what_could_come_before():
    row = made(ranks("m", [1, 6], [1, 26]))["rivals"].iloc[0]
    assert row["own_ahead"] == pytest.approx((0 / 10 + 5 / 10) / 2)
    assert row["added_ahead"] == pytest.approx((0 / 20 + 20 / 20) / 2)
    assert row["difference"] == pytest.approx(0.25)


def test_nothing_right_before_has_no_relative_fall():
    found = made(ranks("m", [20, 20], [30, 30]))
    assert found["relative"].empty and (found["falls"]["difference"] == 0).all()
    assert entities.drop_verdict(found).startswith("undecided: 0 of 1")
    assert not any(table.isna().to_numpy().any() for table in found.values())


def test_models_are_averaged_and_their_order_compared():
    found = made(ranks("a", [1, 1, 1, 2], [2, 2, 2, 2]), ranks("b", [1, 2, 2, 2], [1, 2, 2, 2]))
    assert found["falls"].query("k == 1").set_index("model")["before"].to_dict() == {
        "a": 0.75, "b": 0.25, entities.MEAN: 0.5,
    }  # fmt: skip
    assert found["order"].iloc[0][["probe", "models", "tau"]].to_list() == ["squad", 2, -1.0]
    assert list(entities.of_mean(found["falls"])["model"].unique()) == [entities.MEAN]


def test_findings_say_what_the_intervals_allow():
    found = made(ranks("m", [1] * 40, [2] * 40), ranks("m", [1] * 40, [1] * 40, "google_re/natural"))
    assert entities.squad_verdict(found).startswith("agrees: relative falls SQuAD 1.000")
    assert entities.drop_verdict(found).startswith("undecided: 1 of 2")
    swapped = made(ranks("m", [1] * 40, [1] * 40), ranks("m", [1] * 40, [2] * 40, "google_re/natural"))
    assert entities.squad_verdict(swapped).startswith("contradicts")
    assert entities.squad_verdict(made(ranks("m", [1], [2]))).startswith("not asked")
    assert entities.drop_verdict(None) == entities.squad_verdict(None) == entities.NOT_RUN
    table = entities.published_table(found)
    assert table["who"].tolist() == ["the paper, mean of 16 models"] * 3 + ["ours, m"] * 2
    assert table["acc@1"].tolist()[0] == "0.17 → 0.087" and table["acc@1"].tolist()[3] == "1.000 → 0.000"
    assert len(entities.published_table(None)) == 3


def test_lists_are_nested_hold_the_own_ones_and_follow_the_seed():
    one = enlarging.load(["demo/template"], {"demo": ["demo_bio/natural"]}, limit=5)[0]
    lists = list(one.lists.values())
    assert lists[0] == list(one.probe.entities) and len(lists[-1]) == len(set(lists[-1]))
    assert all(large[: len(less)] == less for less, large in itertools.pairwise(lists))
    assert set(lists[-1]) == {*one.probe.entities, *pk.load_probe("demo_bio/natural").entities}
    again, other = (enlarging.load(["demo/template"], {"demo": ["demo_bio/natural"]}, 5, seed)[0] for seed in (0, 1))
    assert again.added == one.added != other.added


@pytest.mark.parametrize("enlarge", [{}, {"demo": ["demo/natural"]}])
def test_a_list_that_does_not_grow_is_refused(enlarge):
    with pytest.raises(ProbeError, match=r"lends an entity to demo/template.*'demo' in `enlarge`"):
        enlarging.load(["demo/template"], enlarge)


def test_a_run_of_ones_own_file_asks_every_list(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "my.jsonl"
    file.write_text('{"text": "It is [MASK] .", "gold": ["town"]}\n{"text": "[MASK] is", "gold": ["x"]}\n')
    model = small("bert")
    monkeypatch.setattr(enlarging, "load_model", lambda name, device: model)
    loaded = enlarging.load([str(file)], {"my": ["demo/natural"]})
    found, cost = enlarging.ask_all(Page("17_entities", str(tmp_path / "out"), {}), ["m"], loaded)
    assert len(found) == 2 * len(enlarging.SHARES) and (found["rank"] <= found["candidates"]).all()
    assert (cost["rows"] == 2 * cost["lengths"]).all() and cost["rows"].is_monotonic_increasing
    assert entities.tables(found, cost)["order"].empty
