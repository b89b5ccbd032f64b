"""Hurtfulness by rank and by group, on completions small enough to count by hand."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probekit.errors import ProbekitError
from probekit.metrics import Drawn
from probekit.report.tables import pick
from probekit.report.verdicts import MEAN, concluded

from notebooks.fairness import likelihood, text
from notebooks.fairness.intervals import mean_of
from notebooks.fairness.likelihood import CONTRASTS, bands, contrast_weights, draw, share_weights
from notebooks.fairness.matching import UNTRAINED, Scored

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
    assert list(weights) == [(1, 1), (2, 5), (6, 10), (11, 20), (21, 40), (1, 5), (1, 10), (1, 20), (1, 40)]
    assert shares @ weights[2, 5] == pytest.approx(0.025) and shares @ weights[1, 20] == pytest.approx(0.095)


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
    found = draw(scored("m", hits), "paper", weights, 0)
    columns = np.column_stack(list(weights.values()))
    assert found.estimate == pytest.approx(hits.mean(0) @ columns)
    assert found.draws.shape[1] == len(weights) and found.draws.mean(0) == pytest.approx(found.estimate, abs=0.03)
    repeated = scored("m", np.vstack([hits[:2]] * 2), prompts=("a", "b", "a", "b"))
    assert draw(repeated, "audited", weights, 0).estimate == pytest.approx(hits[:2].mean(0) @ columns)


def test_means_of_draws():
    parts = [([1.0], [[1.0], [3.0]], 9), ([3.0], [[5.0], [1.0]], 7)]
    mean = mean_of([Drawn(np.array(one), np.array(draws), units) for one, draws, units in parts])
    assert mean.units == 7
    assert mean.estimate.tolist() == [2.0] and mean.draws[:, 0].tolist() == [3.0, 2.0]


def tables() -> dict[str, pd.DataFrame]:
    """Two models of one released family, the one falling and the other rising over ranks, and one that stays."""
    falls, flat = first_ranks(0.5, 10), first_ranks(0.5, K)
    models = {"BERT": falls, "GPT2": flat, "BERT large": ~falls}
    sets = {m: [scored(m, hits), scored(m, hits[:30], "queer_nonqueer")] for m, hits in models.items()}
    return likelihood.tables(sets)


def test_a_model_of_random_weights_is_in_no_count_and_no_mean():
    sets = {m: [scored(m, first_ranks(0.5, 10)), scored(m, first_ranks(0.5, 10), "other")] for m in ("BERT", "GPT2")}
    sets[UNTRAINED] = [scored(UNTRAINED, ~first_ranks(0.5, 10)), scored(UNTRAINED, first_ranks(0.1, K), "other")]
    made = likelihood.tables(sets)
    ends = pick(made["contrasts"], subset="binary", rules="paper", contrast="ends").set_index(["level", "name"])
    assert ends.loc[("model", UNTRAINED), "estimate"] == -0.5  # of the family BERT, and one more there than is counted
    assert ends.drop(index=("model", UNTRAINED))["estimate"].tolist() == pytest.approx([0.5, 0.5, 0.5])
    assert set(made["summary"]["models"]) == set(made["sets"]["models"]) == {2}
    judged = likelihood.conclusions(made)
    assert set(judged[judged["model"] == UNTRAINED]["verdict"]) == {"at the floor"}
    answer = text.likelihood_answer(made)
    assert "for 2 of 2 models by their own 95% intervals, and in the mean over all by 0.500 [" in answer


def test_tables_by_rank():
    made = tables()
    shares = pick(made["shares"], model="BERT", subset="both", rules="paper").set_index(["first", "last"])["share"]
    assert shares[1, 1] == shares[1, 10] == pytest.approx((0.5 + 1) / 2) and shares[21, 40] == 0
    ends = pick(made["contrasts"], subset="binary", rules="audited", contrast="ends").set_index(["level", "name"])
    assert list(ends.loc["model"].index) == ["BERT", "GPT2", "BERT large"]
    assert list(ends.loc["family"].index) == ["BERT"]  # no family of a single model
    assert ends["estimate"].tolist() == pytest.approx([0.5, 0, -0.5, 0, 0])
    assert ends.loc[("model", "BERT"), "low"] > 0 > ends.loc[("model", "BERT large"), "high"]
    counts = pick(made["summary"], subset="binary", rules="paper", contrast="ends").iloc[0]
    assert (counts["models"], counts["positive"], counts["above"], counts["below"]) == (3, 1, 1, 1)
    sets = pick(made["subsets"], model="GPT2", rules="paper").iloc[0]
    assert (sets["one"], sets["other"], sets["estimate"]) == (0.5, 1.0, -0.5) and sets["high"] < 0
    assert pick(made["sets"], rules="audited").iloc[0].tolist() == ["audited", 3, 3, 1, 2]
    assert set(made) == set(likelihood.CAPTIONS) - {"further", "stored"}


def test_conclusions_by_rank_by_hand():
    rows = concluded(likelihood.conclusions(tables())).set_index(["claim", "counted", "model"]).sort_index()
    falls = rows.loc[("004-06a", "paper's rules")]
    by_hand = {"BERT": 0.625, "GPT2": 0, "BERT large": -0.625, MEAN: 0}
    assert falls["estimate"].to_dict() == pytest.approx(by_hand, abs=0.13)
    signs = {"BERT": "agrees", "GPT2": "undecided", "BERT large": "contradicts", MEAN: "undecided"}
    assert falls["verdict"].to_dict() == signs
    assert list(rows.loc[("004-04g", "audited rules")].index) == ["GPT2"]  # of the families that the paper names
    assert set(rows["unit"]) == {likelihood.UNIT}


def test_what_the_page_shows_follows_from_the_numbers():
    made = tables()
    counts = likelihood.counts(made)
    assert len(counts) == 2 * len(CONTRASTS) and counts["estimate"].notna().all()
    assert set(zip(counts["above"], counts["below"], strict=True)) <= {(1, 1), (0, 0)}
    dots = likelihood.ends(made)
    assert dots.groupby("model", sort=False)["estimate"].first().tolist() == pytest.approx([0.625, 0, -0.625], abs=0.13)
    bands_of = likelihood.curves(made, "binary")
    assert list(bands_of["panel"].unique()) == [
        f"{family}, {rules}" for family in ("BERT", "GPT2") for rules in ("paper's rules", "audited rules")
    ]
    first = bands_of[bands_of["model"] == "BERT"].iloc[:5]
    assert first["rank"].tolist() == [1, 3.5, 8, 15.5, 30.5] and first["share"].tolist() == [0.5, 0.5, 0.5, 0, 0]
    assert set(bands_of["scale"]) == {"small", "medium"}
    sentence = text.likelihood_answer(made)
    assert "for 1 of 3 models" in sentence and "rules it is so for 1, and the other way round for 1;" in sentence


def test_a_single_set_has_no_mean_and_no_difference():
    made = likelihood.tables({"m": [scored("m", first_ranks(0.5, 5))]})
    assert set(made["shares"]["subset"]) == {"binary"} and made["subsets"].empty
    assert set(made["contrasts"]["level"]) == {"model"} and likelihood.pooled(made) == "binary"
    assert likelihood.conclusions(made | {"sets": pd.DataFrame()}).empty
