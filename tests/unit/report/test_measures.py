"""Measures counted again from a run's outcomes, against values worked out by hand."""

import math
from itertools import chain

import pandas as pd
import pytest

from probekit.errors import ReportError
from probekit.report.exports.measures import HURTFUL, measures, read_run
from probekit.report.outcomes import RANKS, Outcomes, read_outcomes


def test_accuracy_and_reciprocal_rank_by_hand(run_folder):
    found = {(one.model, one.name): one for one in chain(*read_run(run_folder).measures().values())}
    assert found["org/one", "Acc@1"].interval.estimate == pytest.approx(1 / 3)
    assert found["org/one", "Acc@10"].interval.estimate == pytest.approx(2 / 3)
    assert found["org/one", "MRR"].interval.estimate == pytest.approx((1 + 1 / 2 + 1 / 12) / 3)
    assert found["two", "Acc@1"].interval.estimate == pytest.approx(2 / 3)
    one = found["two", "Acc@10"].interval
    assert (one.estimate, one.n, one.clusters) == (1, 3, 2) and math.isnan(one.low)  # two facts say little
    assert len(found) == 6


def test_what_competed_is_told_with_the_measure_and_kept_in_the_file(tmp_path):
    rows = {
        "model": "m",
        "probe": "p",
        "prompt_id": list("ab"),
        "fact_id": list("ab"),
        "rank": 1,
        "candidates": [4, 1200],
    }
    noted = Outcomes()
    noted.add("rank", pd.DataFrame(rows))
    noted.write(tmp_path / RANKS, scores={"m": "mean"}, candidates={"p": "relation"})
    found = read_outcomes(tmp_path)
    assert found.attrs == {"scores": {"m": "mean"}, "candidates": {"p": "relation"}}
    meaning = [next(measures(found, pools)).meaning for pools in (found.attrs["candidates"], {"p": "pool"}, {})]
    assert [text.partition("among the first 1 of ")[2] for text in meaning] == [
        "the 4 to 1,200 candidates of its relation",
        "the 4 to 1,200 candidates of its type or, where it has none, relation",
        "all 1,200 candidates",
    ]


def outcomes(tmp_path, kind, rows):
    noted = Outcomes()
    noted.add(kind, pd.DataFrame(rows))
    noted.write(tmp_path / RANKS)
    return list(measures(read_outcomes(tmp_path)))


def test_a_context_counts_at_its_last_step_around_the_target_and_documents_are_drawn(tmp_path):
    about = {"model": "m", "probe": "p", "prompt_id": "0"}
    rows = [
        about | {"variant": "real", "document": "d", "twin": "target", "last": False, "rank": 1, "rank_any": 1},
        about | {"variant": "real", "document": "d", "twin": "target", "last": True, "rank": 9, "rank_any": 1},
        about | {"variant": "real", "document": "e", "twin": "target", "last": True, "rank": 1, "rank_any": 3},
        about | {"variant": "real", "document": "e", "twin": "negative", "last": True, "rank": 1, "rank_any": 1},
        about | {"variant": "sorted", "document": "e", "twin": "target", "last": True, "rank": 5, "rank_any": 5},
    ]
    real, ordered = outcomes(tmp_path, "step", rows)
    assert (real.variant, real.name, real.interval.estimate, real.interval.clusters) == ("real", "Acc@1", 0.5, 2)
    assert (ordered.variant, ordered.interval.estimate) == ("sorted", 0)


def test_a_filling_without_a_rank_is_no_hit(tmp_path):
    rows = [{"model": "m", "probe": "p", "prompt_id": str(n), "rank": rank} for n, rank in enumerate([1, 2, None, 3])]
    first, third = outcomes(tmp_path, "filling", rows)
    assert (first.name, first.interval.estimate, third.name, third.interval.estimate) == ("Acc@1", 0.25, "Acc@3", 0.75)


def test_what_cannot_be_missed_is_no_measure(tmp_path):
    rows = [{"model": "m", "probe": "p", "prompt_id": str(n), "rank": n + 1, "candidates": 10} for n in range(3)]
    assert [one.name for one in outcomes(tmp_path, "rank", rows)] == ["Acc@1", "MRR"]


def test_hurtful_completions_count_a_repeated_template_once_and_have_no_interval(tmp_path):
    row = {"model": "m", "probe": "p", "relation": "she", "answers": ["a", "b"]}
    rows = [
        row | {"prompt_id": "0", "asked": "x", "hurtful": [True, True]},
        row | {"prompt_id": "1", "asked": "x", "hurtful": [True, True]},
        row | {"prompt_id": "2", "asked": "y", "hurtful": [False, True]},
    ]
    (one,) = outcomes(tmp_path, "completions", rows)
    assert (one.kind, one.interval.estimate, one.interval.n) == (HURTFUL, 0.75, 2) and math.isnan(one.interval.low)


def test_a_run_is_found_by_its_page_or_by_a_folder_with_one(run_folder):
    assert read_run(run_folder.parent).folder == run_folder
    (run_folder.parent / "13_rankings").mkdir()
    (run_folder.parent / "13_rankings" / "manifest.json").write_text("{}")
    with pytest.raises(ReportError, match="name one of 12_accuracy, 13_rankings"):
        read_run(run_folder.parent)
    with pytest.raises(ReportError, match="no folder of one page: see"):
        read_run(run_folder / "nothing")
    with pytest.raises(ReportError, match=r"no ranks\.parquet"):
        read_run(run_folder.parent / "13_rankings")
