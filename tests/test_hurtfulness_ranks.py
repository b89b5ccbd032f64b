"""Hurtfulness by rank and by group, on completions small enough to count by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probekit.errors import ProbekitError
from probekit.metrics import middle, two_sided

from notebooks.fairness.hurtfulness import likelihood, likelihood_view
from notebooks.fairness.hurtfulness.matching import Scored
from notebooks.fairness.hurtfulness.ranks import (
    CONTRASTS,
    Drawn,
    bands,
    contrast_weights,
    draw,
    share_weights,
)

K = 40


def scored(model: str, hits: np.ndarray, subset: str = "binary", prompts: tuple[str, ...] = ()) -> Scored:
    names = prompts or tuple(f"{subset} {n}" for n in range(len(hits)))
    return Scored(model, subset, names, {"paper": hits, "audited": hits})


def first_ranks(share: float, ranks: int, n: int = 60) -> np.ndarray:
    """In so large a share of templates all of the first ranks are hurtful, and none else."""
    hits = np.zeros((n, K), dtype=bool)
    hits[: round(share * n), :ranks] = True
    return hits


def test_bands_cover_every_rank_once():
    for k in (1, 3, 40, 100):
        covered = [rank for a, b in bands(k) for rank in range(a, b + 1)]
        assert covered == list(range(1, k + 1))


def test_weights_of_shares_by_hand():
    shares = np.linspace(0, 0.39, K)
    weights = share_weights(K)
    assert list(weights) == ["1", "2-5", "6-10", "11-20", "21-40", "1-5", "1-10", "1-20", "1-40"]
    assert shares @ weights["2-5"] == pytest.approx(0.025) and shares @ weights["1-20"] == pytest.approx(0.095)


def test_contrasts_by_hand():
    weights = contrast_weights(K)
    assert list(weights) == list(CONTRASTS)
    shares = np.concatenate([np.linspace(0.4, 0.21, 20), np.full(20, 0.2)])
    found = {name: shares @ weight for name, weight in weights.items()}
    assert found["early"] == pytest.approx(0.1) and found["late"] == pytest.approx(0)
    assert found["settles"] == pytest.approx(0.1) and found["single"] == pytest.approx(0.2)
    assert found["ends"] == pytest.approx(shares[:10].mean() - 0.2)
    with pytest.raises(ProbekitError, match="at least 40"):
        contrast_weights(39)


@given(st.lists(st.floats(0, 1), min_size=K, max_size=K), st.floats(0, 1))
def test_contrasts_do_not_see_the_level(shares, level):
    values = np.array(shares)
    for weight in contrast_weights(K).values():
        assert values @ weight == pytest.approx((values + level) @ weight, abs=1e-9)
        assert values @ weight == pytest.approx(-(1 - values) @ weight, abs=1e-9)
    slope = np.polyfit(range(20), values[:20], 1)[0]
    assert values @ contrast_weights(K)["early"] == pytest.approx(-10 * slope, abs=1e-9)


def test_draws_are_the_weighted_sums_of_drawn_templates():
    hits = np.random.default_rng(0).random((30, K)) < 0.3
    weights = share_weights(K)
    found = draw(scored("m", hits), "paper", weights, 0, 500)
    assert found.estimate == pytest.approx(hits.mean(0) @ np.column_stack(list(weights.values())))
    assert found.draws.shape == (500, len(weights)) and found.draws.mean(0) == pytest.approx(found.estimate, abs=0.03)
    repeated = scored("m", np.vstack([hits[:2]] * 2), prompts=("a", "b", "a", "b"))
    assert draw(repeated, "audited", weights, 0, 50).estimate == pytest.approx(hits[:2].mean(0) @ _columns(weights))


def _columns(weights: dict[str, np.ndarray]) -> np.ndarray:
    return np.column_stack(list(weights.values()))


def test_means_of_draws():
    mean = Drawn.mean(
        [Drawn(np.array([1.0]), np.array([[1.0], [3.0]])), Drawn(np.array([3.0]), np.array([[5.0], [1.0]]))]
    )
    assert mean.estimate.tolist() == [2.0] and mean.draws[:, 0].tolist() == [3.0, 2.0]


def test_p_values_of_draws_by_hand():
    assert two_sided([1, 2, 3]) == pytest.approx(0.5)  # none at or below zero: 2 (0 + 1) / (3 + 1)
    assert two_sided([-1, 1, 2, np.nan]) == 1.0 and two_sided([0, 0]) == two_sided([1e-15] * 9) == 1.0
    assert np.isnan(two_sided([np.nan]))


@given(st.floats(-1, 1), st.integers(0, 1000))
def test_a_p_value_is_small_where_the_interval_leaves_zero_out(shift, seed):
    draws = np.random.default_rng(seed).normal(shift, 0.3, 999)
    low, high = middle(draws)
    p = two_sided(draws)
    assert p == two_sided(-draws) and 0 < p <= 1
    if p < 0.045:
        assert low > 0 or high < 0
    if p > 0.055:
        assert low <= 0 <= high


def compared() -> dict[str, pd.DataFrame]:
    falls, flat = first_ranks(0.5, 10), first_ranks(0.5, K)
    models = {"falls": falls, "flat": flat, "rises": ~falls}
    sets = {m: [scored(m, hits), scored(m, hits[:30], "queer_nonqueer")] for m, hits in models.items()}
    return likelihood.compared(sets, ["paper", "audited"], {"falls": "F", "rises": "F", "flat": "G"})


def test_tables_by_rank():
    tables = compared()
    row = likelihood_view.one
    shares = row(tables["shares"], model="falls", subset="both", rules="paper").set_index(["first", "last"])["share"]
    assert shares[1, 1] == shares[1, 10] == pytest.approx((0.5 + 1) / 2) and shares[21, 40] == 0
    ends = row(tables["contrasts"], subset="binary", rules="audited", contrast="ends").set_index("name")
    assert ends["estimate"].to_dict() == pytest.approx(
        {"falls": 0.5, "flat": 0, "rises": -0.5, "F": 0, "all models": 0}
    )
    assert ends["level"].tolist() == ["model"] * 3 + ["family", "all models"]  # no family of a single model
    assert ends.loc["falls", "low"] > 0 > ends.loc["rises", "high"] and ends["holm"].isna().sum() == 2
    assert (ends["holm"].dropna() >= ends["p"].iloc[:3]).all()
    counts = row(tables["summary"], subset="binary", rules="paper", contrast="ends").iloc[0]
    assert (counts["models"], counts["positive"], counts["above"], counts["below"]) == (3, 1, 1, 1)
    sets = row(tables["subsets"], model="flat", rules="paper").iloc[0]
    assert (sets["one"], sets["other"], sets["estimate"]) == (0.5, 1.0, -0.5) and sets["high"] < 0
    assert row(tables["sets"], rules="audited").iloc[0].tolist() == ["audited", 3, 3, 1, 2]


def test_what_the_page_says_follows_from_the_numbers():
    tables = compared()
    told = likelihood_view.answer(tables)
    assert told.count("above zero for 1 of 3 models, below for 1") == 4
    fall, settle, sets = likelihood_view.findings(tables)
    assert fall.recorded.startswith("undecided by the paper's rules") and settle.claims == "004-06b"
    assert "3 of 3 models differ, 2 of them higher on HONEST-queer, 1 on HONEST-binary" in sets.recorded
    table = likelihood_view.falls(tables["contrasts"], ["paper", "audited"])
    assert table["Model"].tolist() == ["falls", "flat", "rises", "F, family", "all models"] and table.shape[1] == 9
    assert likelihood_view.upto(tables["shares"], "paper")["K = 1"].iloc[0].startswith("0.750 [")
    assert likelihood_view.sets(tables["subsets"]).shape == (3, 7)
    figure = likelihood_view.draw_curves(
        tables["shares"],
        pd.DataFrame(),
        {"falls": "F", "rises": "F", "flat": "G"},
        "paper",
        ["binary", "queer_nonqueer"],
    )
    assert len(figure.axes) == 4
    assert "falls: 0.750 at rank 1, 0.000 at 21 to 40" in likelihood_view.told_curves(tables["shares"], "paper")


def test_a_single_set_has_no_mean_and_no_difference():
    found = likelihood.compared({"m": [scored("m", first_ranks(0.5, 5))]}, ["paper"], {})
    assert set(found["shares"]["subset"]) == {"binary"} and found["subsets"].empty
    assert set(found["contrasts"]["level"]) == {"model"}
