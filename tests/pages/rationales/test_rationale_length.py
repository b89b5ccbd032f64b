"""Page 32, F1 and MAP over rationale length: curves by hand, the paper's sentences on curves made for them."""

import numpy as np
import pandas as pd
import pytest

from probekit.probes.rationales import DIMENSIONS, RationaleSet
from probekit.probes.rationales.record import as_record
from probekit.report.tables import pick
from probekit.report.verdicts import concluded
from probekit.scoring.saliency import oracle_saliency

from notebooks.rationales import rationale_length as page
from notebooks.rationales import text
from notebooks.rationales.ask import ATTENTION, GRADIENTS, ORACLE, RANDOM, TRAINED, Saliency
from notebooks.rationales.paper import ABOVE, AS_IT_STANDS
from notebooks.rationales.rationale_length import MEAN, METRICS, RATIOS

TEXT = "a b c d e f g h i j [MASK]"  # ten words


def pairs(dimensions: tuple[str, ...] = DIMENSIONS, count: int = 1) -> RationaleSet:
    rows = []
    for dimension in dimensions:
        for n in range(count):
            name = f"{dimension}-{n}"
            changed = {"perturbation": "important", "original_id": name}
            rows.append(as_record(name, TEXT, ["x"], dimension))
            rows.append(as_record(f"{name}-important", TEXT.replace("a b", "z b"), ["x"], dimension, **changed))
    return RationaleSet("made here", pd.DataFrame(rows).assign(rationales=[[[0, 1, 2, 3]]] * len(rows)))


def scored(items: RationaleSet, scores: list[float]) -> pd.DataFrame:
    return oracle_saliency(items).assign(scores=[scores] * len(items.items))


def measured(items: RationaleSet, scores: list[float]) -> page.Measured:
    found = [
        Saliency("own", "", ORACLE, "", oracle_saliency(items)),
        Saliency("own", "", RANDOM, "", None),
        Saliency("own", "m", ATTENTION, TRAINED, scored(items, scores)),
    ]
    return [(one, page.values(items, one.table)) for one in found]


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
    items = pairs(count=5)
    table = page.lengths(measured(items, list(range(10, 0, -1))))
    assert set(table["dimension"]) == {*DIMENSIONS, MEAN} and len(table) == 3 * 2 * 6 * 10
    mine = table[(table["model"] == "m") & (table["metric"] == "F1")].set_index(["dimension", "ratio"])
    assert mine.loc[(MEAN, 0.4), ["estimate", "low", "high"]].tolist() == pytest.approx([1, 1, 1])
    assert mine.loc[(MEAN, 1.0), ["above", "above_low", "above_high"]].tolist() == pytest.approx([0, 0, 0])
    chance = table[(table["method"] == RANDOM) & (table["metric"] == "F1")].set_index(["dimension", "ratio"])
    gap = mine["estimate"] - chance["estimate"]
    assert (mine["above"] - gap).abs().max() < 1e-9 and (chance["above"] == 0).all()
    assert mine.loc[(MEAN, 1.0), "n"] == 50 and mine.loc[("grammar", 1.0), "n"] == 10
    whole = table[(table["ratio"] == 1.0) & (table["metric"] == "F1")]
    assert whole["estimate"].nunique() == 1  # all words: nothing is left to choose
    one = page.lengths(measured(pairs(("grammar",)), list(range(10))))
    assert set(one["dimension"]) == {"grammar"}


def test_a_set_without_rationales_has_no_f1() -> None:
    table = pairs(("semantics",)).items.assign(rationales=[[], []])
    items = RationaleSet("bare", table)
    found = page.lengths(measured(items, list(range(10))))
    assert set(found["metric"]) == {"MAP"} and page.directions(measured(items, list(range(10)))).empty


def test_a_dimension_has_its_own_records_in_every_sample() -> None:
    values = pd.DataFrame(
        {"original": ["a", "a", "b", "c"], "dimension": ["semantics", "semantics", "grammar", "grammar"]}
    ).assign(metric="F1")
    values[list(RATIOS)] = np.repeat([[1.0], [1.0], [3.0], [5.0]], len(RATIOS), axis=1)
    means = page.curves(values, "F1")
    assert page.dimensions_of(values, "F1") == ["grammar", "semantics"] and means.at[[0, 10]].tolist() == [4, 1]
    drawn = means.drawn.reshape(-1, 2, len(RATIOS))
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
    def rows(rises: dict[str, list[float]], above: int = 1) -> pd.DataFrame:
        floors = pd.DataFrame([{"dataset": "own", "model": "m", "above": above}])
        found = concluded(page.conclusions({"directions": page.directions(made(rises)), "floors": floors}))
        assert set(found["claim"]) == {sentence[0] for sentence in page.SENTENCES}
        assert set(found["measured"]) == {AS_IT_STANDS, ABOVE}
        full = page.in_full(found)  # 003-12a is not asked above random scores
        assert len(full) == 2 * len(page.SENTENCES) - 3 and list(full.columns)[3:] == ["m, attention"]
        return pick(found, claim=claim, measured=AS_IT_STANDS)

    held = rows(LIKE_THE_PAPER)
    assert len(held) == {"003-12a": 3, "003-12b": 3, "003-12c": 4, "003-12d": 6, "003-12e": 1}[claim]
    assert held["estimate"].min() == pytest.approx(expected) and set(held["verdict"]) == {"agrees"}
    assert "contradicts" in set(rows(LIKE_THE_PAPER | change)["verdict"])
    assert set(rows(LIKE_THE_PAPER, above=0)["verdict"]) == {"at the floor"}


def test_what_random_scores_do_as_well_is_taken_off() -> None:
    same = made(LIKE_THE_PAPER)
    control, mine = same[1][1], same[1][1]
    found = page.directions([(same[0][0], control), (same[1][0], mine)]).set_index(["claim", "measured"])
    assert (found.loc[("003-12b", AS_IT_STANDS), "low"] > 0).all()
    assert (found.loc[("003-12b", ABOVE), ["estimate", "low", "high"]] == 0).all(axis=None)
    assert ("003-12a", ABOVE) not in found.index  # all words are the same words for every score


START = {ORACLE: 0.6, RANDOM: 0.1, ATTENTION: 0.3, GRADIENTS: 0.05}


def curves(dimensions: tuple[str, ...] = ("knowledge",)) -> pd.DataFrame:
    rows = []
    for method, start in START.items():
        for name in dimensions:
            for metric in METRICS:
                for ratio in RATIOS:
                    value, above = start + 0.3 * ratio, (start - START[RANDOM]) * (1 - ratio)
                    model = "m" if method in (ATTENTION, GRADIENTS) else ""
                    spread = (value, value - 0.02, value + 0.02, above, above - 0.02, above + 0.02)
                    rows.append(("own/en", model, method, name, metric, ratio, *spread))
    spans = ["estimate", "low", "high", "above", "above_low", "above_high"]
    return pd.DataFrame(rows, columns=["dataset", "model", "method", "dimension", "metric", "ratio", *spans]).assign(
        n=9
    )


def test_the_answer_tells_the_lead_over_random_scores() -> None:
    tables = {
        "lengths": curves(),
        "floors": pd.DataFrame({"dataset": "own/en", "model": ["m"], "estimate": 0.1, "above": 1}),
    }
    higher, said, share, *_ = text.answer_length(tables, "own/en")
    assert (
        higher.text == "The better half of the words has a higher F1 than the best tenth, and so have random words."
        and higher.holds
    )
    assert said.text.endswith("attention goes from 0.33 to 0.45, that of random scores from 0.13 to 0.25.")
    assert share.text.endswith("attention has 40% at a tenth and 40% at half of the words.")
    flat = curves()
    flat.loc[flat["method"] == ATTENTION, "above"] = 0.1  # where the oracle's lead goes from 0.45 to 0.25
    assert text.answer_length(tables | {"lengths": flat}, "own/en")[2].text.endswith(
        "22% at a tenth and 40% at half of the words."
    )
    _, bare, explained, *_ = text.answer_length(tables | {"lengths": pick(curves(), metric="MAP")}, "own/en")
    falling = curves().assign(estimate=-curves()["estimate"])
    assert text.answer_length(tables | {"lengths": falling}, "own/en")[0].text.startswith("With half of")
    assert "MAP of attention goes from 0.33" in bare.text
    assert (
        explained.text
        == "What a method but attention explains, unless the right word is named, is the first filling of “m”, right "
        "in 10% of slots on Own items, English."
    )


def test_the_chart_has_a_panel_a_dimension_and_metric_and_words_for_it() -> None:
    table = curves(("reasoning", "grammar"))
    panels = list(page.chart(page.of_model(table, "own/en", "m"))["panel"].unique())
    assert panels == ["grammar, F1", "grammar, MAP", "reasoning, F1", "reasoning, MAP"]
    assert text.spoken(curves()).endswith("0.75 (oracle).")
    shown = page.by_share(curves(), "own/en")
    assert list(shown.columns) == ["Metric", "Model", "Method", "0.1", "0.3", "0.5", "0.7", "1.0"] and len(shown) == 8
    row = pick(shown, Metric="F1", Method=ATTENTION).iloc[0]
    assert row["Model"] == "m" and row["0.5"].startswith("0.45 [0.43,")
