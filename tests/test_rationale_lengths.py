"""F1 and MAP over rationale length: curves by hand, the paper's sentences on curves made for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from probekit.probes.rationales import DIMENSIONS, RationaleSet
from probekit.scoring.saliency import oracle_saliency, random_saliency

from notebooks.rationales import lengths as page
from notebooks.rationales.asking import ATTENTION, ORACLE, RANDOM, TRAINED, Saliency
from notebooks.rationales.lengths import ABOVE, AS_IT_STANDS, MEAN, RATIOS

TEXT = "a b c d e f g h i j [MASK]"  # ten words


def record(name: str, dimension: str, **change: Any) -> dict[str, Any]:
    about = {"language": "en", "golds": ["x"], "rationales": [[0, 1, 2, 3]], "perturbation": "none", "original_id": ""}
    return about | {"id": name, "dimension": dimension, "context": TEXT} | change


def pairs(dimensions: tuple[str, ...] = DIMENSIONS, count: int = 1) -> RationaleSet:
    rows = []
    for dimension in dimensions:
        for n in range(count):
            name = f"{dimension}-{n}"
            changed = {"perturbation": "important", "original_id": name, "context": TEXT.replace("a b", "z b")}
            rows += [record(name, dimension), record(f"{name}-important", dimension, **changed)]
    return RationaleSet("made here", pd.DataFrame(rows))


def scored(items: RationaleSet, scores: list[float]) -> pd.DataFrame:
    return oracle_saliency(items).assign(scores=[scores] * len(items.items))


def measured(items: RationaleSet, scores: list[float]) -> page.Measured:
    found = [
        Saliency("own", "", ORACLE, "", oracle_saliency(items)),
        Saliency("own", "", RANDOM, "", random_saliency(items)),
        Saliency("own", "m", ATTENTION, TRAINED, scored(items, scores)),
    ]
    return page.measure({"own": items}, found)


def test_values_by_hand() -> None:
    items = pairs(("grammar",))
    found = page.values(items, scored(items, list(range(10, 0, -1))))
    f1 = found[found["metric"] == "F1"]
    assert f1["original"].tolist() == ["grammar-0"] * 2 and len(f1) == 2
    expected = [2 * min(k, 4) / (k + 4) for k in range(1, 11)]  # the first k words, of which four are marked
    assert f1[list(RATIOS)].to_numpy() == pytest.approx(np.array([expected, expected]))
    ap = found[found["metric"] == "MAP"][list(RATIOS)].to_numpy()[0]
    shares = [(i - 1) / i for i in range(1, 11)]  # the first word was replaced
    assert ap == pytest.approx([np.mean(shares[:k]) for k in range(1, 11)])


def test_curves_have_one_row_a_ratio_and_a_mean_over_dimensions() -> None:
    items = pairs(count=3)
    table = page.lengths(measured(items, list(range(10, 0, -1))))
    assert set(table["dimension"]) == {*DIMENSIONS, MEAN} and len(table) == 3 * 2 * 6 * 10
    mine = table[(table["model"] == "m") & (table["metric"] == "F1")].set_index(["dimension", "ratio"])
    assert mine.loc[(MEAN, 0.4), ["estimate", "low", "high"]].tolist() == pytest.approx([1, 1, 1])
    assert mine.loc[(MEAN, 1.0), ["above", "above_low", "above_high"]].tolist() == pytest.approx([0, 0, 0])
    chance = table[(table["method"] == RANDOM) & (table["metric"] == "F1")].set_index(["dimension", "ratio"])
    gap = mine["estimate"] - chance["estimate"]
    assert (mine["above"] - gap).abs().max() < 1e-9 and (chance["above"] == 0).all()
    assert mine.loc[(MEAN, 1.0), "n"] == 30 and mine.loc[("grammar", 1.0), "n"] == 6
    whole = table[(table["ratio"] == 1.0) & (table["metric"] == "F1")]
    assert whole["estimate"].nunique() == 1  # all words: nothing is left to choose
    one = page.lengths(measured(pairs(("grammar",)), list(range(10))))
    assert set(one["dimension"]) == {"grammar"}


def test_a_set_without_rationales_has_no_f1() -> None:
    table = pairs(("semantics",)).items.assign(rationales=[[], []])
    items = RationaleSet("bare", table)
    found = page.lengths(measured(items, list(range(10))))
    assert set(found["metric"]) == {"MAP"} and page.conclusions(measured(items, list(range(10)))).empty


def test_a_dimension_has_its_own_records_in_every_sample() -> None:
    values = pd.DataFrame(
        {"original": ["a", "a", "b", "c"], "dimension": ["semantics", "semantics", "grammar", "grammar"]}
    ).assign(metric="F1")
    values[list(RATIOS)] = np.repeat([[1.0], [1.0], [3.0], [5.0]], len(RATIOS), axis=1)
    known, means, drawn = page.draws(values, "F1")
    assert known == ["grammar", "semantics"] and means[:, 0].tolist() == [4, 1]
    first = drawn[:, 0, 0][np.isfinite(drawn[:, 0, 0])]
    assert np.nanmax(drawn[:, 1]) == np.nanmin(drawn[:, 1]) == 1 and {3.0, 4.0, 5.0} <= set(first.round(6))
    assert np.isnan(drawn[:, 1]).any()  # a sample may hold none of its only original


def made(rises: dict[str, list[float]]) -> page.Measured:
    """Curves made of the given values at ratios 0.1, 0.5 and 1.0 for both metrics; random scores stay at zero."""
    rows = []
    for name in DIMENSIONS:
        low, mid, high = rises[name]
        curve = np.interp(RATIOS, [0.1, 0.5, 1.0], [low, mid, high])
        for metric in ("F1", "MAP"):
            rows += [[f"{name}-{n}", name, metric, *curve] for n in range(12)]
    table = pd.DataFrame(rows, columns=["original", "dimension", "metric", *RATIOS])
    flat = table.copy()
    flat[list(RATIOS)] = 0.0
    empty = pd.DataFrame()
    return [(Saliency("own", "", RANDOM, "", empty), flat), (Saliency("own", "m", ATTENTION, TRAINED, empty), table)]


RISING, PEAKED = [0.1, 0.4, 0.9], [0.2, 0.5, 0.3]
LIKE_THE_PAPER = dict.fromkeys(page.LONG, RISING) | dict.fromkeys(page.SHORT, PEAKED)


@pytest.mark.parametrize(
    ("claim", "change", "expected"),
    [
        ("003-12a", {"reasoning": [0.9, 0.4, 0.1]}, 0.8),
        ("003-12b", {"knowledge": [0.9, 0.4, 0.1]}, 0.8),
        ("003-12c", {"semantics": RISING}, 0.2),
        ("003-12d", {"grammar": [0, 0.5, 1.9]}, 0.7),
        ("003-12e", {"grammar": [5.0, 0, 0]}, 0.3),
    ],
)
def test_the_papers_sentences(claim: str, change: dict[str, list[float]], expected: float) -> None:
    def row(rises: dict[str, list[float]]) -> Any:
        found = page.conclusions(made(rises))
        assert set(found["claim"]) == set(page.CONCLUSIONS) == set(page.STATISTICS)
        assert set(found["measured"]) == {AS_IT_STANDS, ABOVE}
        return found[(found["claim"] == claim) & (found["measured"] == AS_IT_STANDS)].iloc[0]

    assert row(LIKE_THE_PAPER)["estimate"] == pytest.approx(expected) and row(LIKE_THE_PAPER)["holds"] == 1
    assert row(LIKE_THE_PAPER | change)["holds"] == 0


def test_what_random_scores_do_as_well_is_taken_off() -> None:
    same = made(LIKE_THE_PAPER)
    control, curves = same[1][1], same[1][1]
    found = page.conclusions([(same[0][0], control), (same[1][0], curves)]).set_index(["claim", "measured"])
    assert found.loc[("003-12a", AS_IT_STANDS), "holds"] == 1
    assert found.loc[("003-12a", ABOVE), "holds"] == "undecided" and found.loc[("003-12a", ABOVE), "estimate"] == 0
