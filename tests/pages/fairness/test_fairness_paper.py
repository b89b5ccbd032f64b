"""Paper 004: its Table 1 beside ours, the comparisons that it makes, and whether its sentences follow from it."""

from types import SimpleNamespace

import numpy as np
import pytest
from conftest import doctor

from probekit.errors import ProbeError
from probekit.probes.completions import released_models
from probekit.report.published import numbers

from notebooks.fairness import paper

FLIPS = [
    ("004-01b", "holds", {("GPT2", "mean"): "0.300"}),
    ("004-01b", "holds", {("GPT2", "rank"): "4"}),
    ("004-02j", "fails", {("BLOOM 1.1b", "mean"): "0.132"}),
    ("004-02k", "holds", {("LLAMA2 7b", "mean"): "0.200"}),
    ("004-03b", "holds", {("BART small", "mean"): "0.017"}),
    ("004-03c", "holds", {("BART large", "mean"): "0.030"}),
    ("004-04g", "open", {("GPT2", "q1"): "0.000"}),
    ("004-05a", "holds", {("LLAMA 7b", "mean"): "0.010"}),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "now", "values"), FLIPS)
def test_other_numbers_give_the_other_status(printed, claim, now, values):
    before = paper.CHECKS[claim]()[0]
    doctor(printed / "004_table1.csv", values)
    after = paper.CHECKS[claim]()[0]
    assert (before, {before, after}) == (now, {"holds" if now == "fails" else now, "fails"})


def test_the_lowest_means_are_told_once():
    assert paper.CHECKS["004-03b"]()[1] == "The lowest means of Table 1: DistilBERT 0.017, BART small 0.032."


def test_the_published_table_is_whole():
    table = numbers("004", "1")
    assert list(table.index) == [name for name, model in released_models().items() if model.in_table]
    assert list(table.columns) == ["rank", *paper.COLUMNS] and table.notna().all(axis=None)
    assert sorted(table["rank"]) == list(range(1, 22))
    percentiles = table[["q1", "q50", "q75", "q90", "q95"]].to_numpy()
    assert (np.diff(percentiles, axis=1) >= 0).all() and (table["mean"] < 1).all()
    assert table.loc["VICUNA 33b"].tolist() == [8, 0.139, 0.030, 0.096, 0.133, 0.158, 0.172, 0.200]


def test_ours_beside_print_is_cut_and_compared():
    table = numbers("004", "1").reset_index(names="model").assign(rules="paper")
    table.loc[0, ["mean", "q95"]] += [0.0009, -0.0001]
    beside = paper.printed(table)
    assert beside[beside["same"] == 0][["model", "column"]].to_numpy().tolist() == [["BART small", "q95"]]
    facts = paper.agreement_facts(beside)
    assert facts["numbers"] == 147 and facts["numbers that agree to the last digit"] == 146
    assert facts["ranks that agree"] == 21 and facts["rows in which all numbers agree"] == 20
    assert facts["greatest difference"] == pytest.approx(0.0009)
    assert beside[beside["same"] == 0]["ours"].tolist() == [0.049]
    assert paper.as_printed("VICUNA 7b") == "0.257 ±\N{NO-BREAK SPACE}0.038"


def compared(claim: str, **values: float) -> dict[tuple[str, str], float]:
    """The comparisons of one claim, of models that score 0.1 but for these families or models."""
    names = [name for name, model in released_models().items() if model.in_table]
    means = np.array(
        [values.get(name.replace(" ", "_"), values.get(released_models()[name].family, 0.1)) for name in names]
    )
    return {(a, b): float(measure(means)) for name, a, b, measure in paper.comparisons(names) if name == claim}


def test_every_model_is_compared_with_every_other_one():
    leaders = {"VICUNA": 0.3, "GPT2": 0.3, "BLOOM": 0.3}
    found = compared("004-02j", **leaders, **{"BLOOM_1.1b": 0.06})
    assert len(found) == 9 * 11 and found["GPT2", "LLAMA 7b"] == pytest.approx(0.2)
    assert found["BLOOM 1.1b", "BERT"] == pytest.approx(-0.04)
    assert not any("DistilBERT" in pair for pair in found)  # its weights are random
    families = compared("004-02k", **leaders, **{"BLOOM_1.1b": 0.06})
    assert len(families) == 3 * 4 and families["BLOOM", "BERT"] == pytest.approx(0.12)
    lowest = compared("004-03b", DistilBERT=0.05)
    assert len(lowest) == 20 and list(lowest.values()) == pytest.approx([0.05] * 20)
    low = compared("004-03c", DistilBERT=0.01, BART_small=0.05)
    assert len(low) == 19 and list(low.values()) == pytest.approx([0.05] * 19)  # DistilBERT's weights are random


def test_scales_lie_apart_by_their_mean_difference():
    found = compared("004-05a", BLOOM_3b=0.4)
    assert len(found) == 2 * 5 and found["BLOOM", "LLAMA"] == pytest.approx((0.3 + 0.3 + 0) / 3)
    assert found["VICUNA", "LLAMA"] == 0


def test_another_version_of_unidecode_must_be_at_hand(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path))
    monkeypatch.setattr(paper, "UNIDECODE", "0.0")
    monkeypatch.setattr(paper.subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=0, stdout='{"rows": 1}'))
    assert paper.by_version([]).to_numpy().tolist() == [["0.0", 1]]
    with pytest.raises(ProbeError, match=r"pip install --target .* unidecode==9\.9"):
        paper.by_version(["9.9"])
