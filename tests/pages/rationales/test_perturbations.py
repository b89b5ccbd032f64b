"""Page 33, perturbed records beside their originals: tables by hand, the sentences of the paper on made numbers."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probekit.metrics.decisions import direction
from probekit.probes.rationales import DIMENSIONS, PERTURBATIONS, RationaleSet
from probekit.probes.rationales.record import as_record
from probekit.report.tables import pick
from probekit.report.verdicts import concluded
from probekit.scoring.saliency import oracle_saliency

from notebooks.rationales import changed, text
from notebooks.rationales import perturbations as page
from notebooks.rationales.ask import ATTENTION, GRADIENTS, RANDOM, TRAINED, Saliency
from notebooks.rationales.measures import Means
from notebooks.rationales.paper import ABOVE, AS_IT_STANDS
from notebooks.rationales.perturbations import ALL


def predictions() -> pd.DataFrame:
    rows = [
        ("a", "", "grammar", "none", "a", ["Is", "x"], 1),
        ("a-d", "a", "grammar", "dispensable", "a", ["is", "x"], 3),
        ("a-t", "a", "grammar", "transformation", "a", ["was", "x"], 0),
        ("b", "", "knowledge", "none", "b", ["x", "y"], 0),
        ("b-d", "b", "knowledge", "dispensable", "b", ["x", "z"], 2),
    ]
    columns = ["id", "original_id", "dimension", "perturbation", "original", "predictions", "rank"]
    return pd.DataFrame(rows, columns=columns).assign(dataset="own", model="m")


def test_accuracy_by_hand() -> None:
    table = page.accuracy(page.by_kind(page.answered(predictions()))).set_index(["dimension", "perturbation", "top"])
    assert list(dict.fromkeys(table.index.get_level_values(0))) == ["grammar", "knowledge", ALL]
    one = table.loc[(ALL, "dispensable", 1)]
    assert one[["original", "perturbed", "change", "same"]].tolist() == [0.5, 0, -0.5, 1]
    assert one[["pairs", "originals", "right", "again"]].tolist() == [2, 2, 1, 1] and np.isnan(one["change_low"])
    assert table.loc[(ALL, "dispensable", 3), ["original", "perturbed", "change"]].tolist() == [0.5, 1, 0.5]
    other = table.loc[("grammar", "transformation", 3), ["original", "perturbed", "change", "same"]]
    assert other.tolist() == [1, 0, -1, 0]


def items() -> RationaleSet:
    rows = [
        as_record(name, text, ["x"], "grammar", rationales=[[place]], perturbation=kind, original_id=original)
        for name, text, kind, original, place in [
            ("a", "a b c d e f [MASK]", "none", "", 0),
            ("a-d", "a b c d e g [MASK]", "dispensable", "a", 0),
            ("a-t", "f e d c b a [MASK]", "transformation", "a", 5),
        ]
    ]
    return RationaleSet("made here", pd.DataFrame(rows))


def test_reasons_by_hand() -> None:
    table = oracle_saliency(items()).assign(scores=[[6, 5, 4, 3, 2, 1]] * 3)
    found = page.reasoned({"own": items()}, [Saliency("own", "m", ATTENTION, TRAINED, table)])
    assert found[["original_f1", "perturbed_f1"]].to_numpy().tolist() == [[1, 1], [1, 0]]
    told = page.reasons(page.by_kind(found)).set_index("perturbation")
    assert set(told["dimension"]) == {"grammar"}  # one dimension: no row for all
    first = told.loc["dispensable"]
    assert first["map"] == pytest.approx(np.mean([1, 1, 1, 1, 1, 5 / 6]))
    assert first[["pcc", "pcc_all", "kept", "f1_delta"]].tolist() == pytest.approx([1, 1, 1, 0])
    other = told.loc["transformation"]
    assert other["map"] == pytest.approx(np.mean([0, 0, 0, 2 / 4, 4 / 5, 1]))
    assert other[["f1_change", "f1_delta"]].tolist() == [-1, 1]
    assert other[["pcc", "pcc_all", "kept"]].isna().all()  # not asked of transformations


def test_an_unmarked_set_has_no_f1() -> None:
    bare = items().items.assign(rationales=[[], [], []])
    one = RationaleSet("bare", bare)
    scores = page.reasoned({"own": one}, [Saliency("own", "", RANDOM, "", oracle_saliency(one))])
    found = page.reasons(page.by_kind(scores))
    assert found[["f1_original", "f1_change", "f1_delta"]].isna().all(axis=None)
    assert found["map"].notna().all()


def test_values_that_are_not_numbers_do_not_count() -> None:
    means = Means.of([[1.0, np.nan], [3.0, 5.0]], ["a", "b"])
    drawn = means.drawn
    assert means.at.tolist() == [2, 5] and np.isnan(means.measure(lambda of: of[..., 0])[1])  # two tell too little
    assert set(np.unique(drawn[:, 0])) == {1, 2, 3} and set(np.unique(drawn[~np.isnan(drawn[:, 1]), 1])) == {5}


def test_kinds_stand_in_the_papers_order() -> None:
    assert page.kinds(["negation", "unstated", "transformation", "dispensable"]) == [
        *("dispensable", "transformation", "negation", "unstated")
    ]


def made(change: dict[str, float], column: str) -> pd.DataFrame:
    rows = itertools.product(DIMENSIONS, PERTURBATIONS, range(12))
    table = pd.DataFrame(rows, columns=["dimension", "perturbation", "original"]).assign(dataset="own")
    names = table["dimension"] + "-" + table["original"].astype(str)
    return table.assign(original=names, **{column: table["perturbation"].map(change)})


def both(falls: float, least: float, ap: float, f1: float, small: float) -> pd.DataFrame:
    """The conclusions of changes under transformations, and of the others, as they are given."""

    def spread(one: float, other: float) -> dict[str, float]:
        return {"dispensable": other, "important": (one + other) / 2, "transformation": one}

    answers = made(spread(falls, least), "perturbed_top1").assign(original_top1=0.0, model="m")
    maps = made(spread(ap, 0.8), "ap")["ap"]
    reasons = made(spread(f1, small), "perturbed_f1").assign(original_f1=0.0, ap=maps, weights=TRAINED)
    mine = reasons.assign(model="m", method=ATTENTION)
    control = reasons.assign(model="", method=RANDOM, weights="", ap=0.5)
    found = changed.directions(answers, pd.concat([control, mine], ignore_index=True))
    floors = pd.DataFrame([{"dataset": "own", "model": "m", "above": 1}])
    return concluded(page.conclusions({"directions": found, "floors": floors}))


SIZES = st.floats(-1, 1, allow_subnormal=False)


@given(SIZES, SIZES, SIZES, st.lists(st.floats(0, 0.5), min_size=4, max_size=4))
def test_sizes_are_compared_by_sums_and_differences(t: float, d: float, i: float, halves: list[float]) -> None:
    """An interval of a size holds sizes on both sides of it unless changes of one sign are told apart."""
    means = {changed.TRANSFORMED: t, changed.DISPENSABLE: d, changed.IMPORTANT: i}

    def ends(statistic: changed.Statistic) -> tuple[float, float, float]:
        value = float(statistic({name: np.float64(mean) for name, mean in means.items()}))
        half = next(drawn)
        return value, value - half, value + half

    for sentence, size in (
        (changed._moves_more(changed.TRANSFORMED, changed.DISPENSABLE), abs(d)),
        (changed._moves_most, (abs(d) + abs(i)) / 2),
    ):
        drawn = itertools.cycle(halves)
        estimate, low, high = sentence(ends)
        assert estimate == pytest.approx(abs(t) - size, abs=1e-12)
        assert low <= estimate <= high
        if max(abs(t), size) < min(halves):  # nothing is known of any sign
            assert low <= 0 <= high
        if max(halves) == 0:
            assert low == pytest.approx(estimate, abs=1e-12) == high
    drawn = itertools.repeat(halves[0])
    assert changed._larger(ends, changed.TRANSFORMED, lambda _: np.float64(0))[1] <= max(0, abs(t) - halves[0]) + 1e-12


@pytest.mark.parametrize(("half", "verdict"), [(0.05, "contradicts"), (0.15, "undecided")])
def test_a_smaller_size_is_told_where_both_intervals_allow_it(half: float, verdict: str) -> None:
    means = {changed.TRANSFORMED: np.float64(0.1), changed.DISPENSABLE: np.float64(-0.2)}

    def ends(statistic: changed.Statistic) -> tuple[float, float, float]:
        value = float(statistic(means))
        return value, value - half, value + half

    estimate, low, high = changed._moves_more(changed.TRANSFORMED, changed.DISPENSABLE)(ends)
    assert estimate == pytest.approx(-0.1) and direction(low, high) == verdict


def test_the_papers_sentences_hold_where_the_numbers_do() -> None:
    found = both(falls=-0.4, least=0.0, ap=0.6, f1=-0.4, small=0.1)
    every = [*changed.ANSWERS, *changed.ORDER, *changed.ORDER, *changed.REASONS]
    assert len(found) == len(every) and set(found["claim"]) == {claim for claim, *_ in every}
    assert (found["verdict"] == "agrees").all()
    told = found.set_index(["claim", "measured", "compared"])["estimate"]
    assert told["003-13a", AS_IT_STANDS, "against dispensable"] == pytest.approx(0.4)
    assert told["003-13a", AS_IT_STANDS, "against important"] == pytest.approx(0.4 - 0.2)
    assert told["003-18a", AS_IT_STANDS, "grammar"] == pytest.approx((0.4 + 0.2) / 2)
    assert told["003-14a", AS_IT_STANDS, "against important"] == pytest.approx(0.1)
    assert told["003-14a", ABOVE, "against dispensable"] == pytest.approx(0.2)
    assert told["003-14b", AS_IT_STANDS, "knowledge"] == pytest.approx(0.15)
    assert told["003-15b", AS_IT_STANDS, "against important"] == pytest.approx(abs(-0.15) - 0.1)
    assert told["003-15c", AS_IT_STANDS, "reasoning"] == pytest.approx(0.4 - (0.15 + 0.1) / 2)
    against = both(falls=0.1, least=-0.4, ap=0.9, f1=0.0, small=0.4)
    assert (against["verdict"] == "contradicts").all()


def test_intervals_are_exact_at_zero_and_one_original_has_none() -> None:
    names = [f"r{n}" for n in range(10)]
    row = page.spans({"perturbed": np.zeros(10), "change": np.zeros(10)}, names)
    upper = 1 - 0.025 ** (1 / 10)
    assert [row[f"perturbed{end}"] for end in ("", "_low", "_high")] == pytest.approx([0, 0, upper])
    assert [row[f"change{end}"] for end in ("", "_low", "_high")] == pytest.approx([0, -upper, upper])
    alone = page.spans({"map": [0.5, np.nan], "same": [1.0, 1.0]}, ["a", "a"])
    assert (
        alone["map"] == 0.5
        and np.isnan([alone[f"{name}_{end}"] for name in ("map", "same") for end in ("low", "high")]).all()
    )


def test_a_set_without_a_kind_gives_no_conclusion() -> None:
    answers = page.answered(predictions())  # no important changes
    found = page.reasoned({"own": items()}, [Saliency("own", "", RANDOM, "", oracle_saliency(items()))])
    assert changed.directions(answers, found).empty


SPANS = ("original", "perturbed", "change", "same")


def filled(dataset: str, kind: str, values: tuple[float, ...], width: float = 0.05) -> dict[str, object]:
    row: dict[str, object] = {
        "dataset": dataset,
        "model": "m",
        "dimension": "knowledge",
        "perturbation": kind,
        "top": 1,
    }
    for name, value in zip(SPANS, values, strict=True):
        row |= {name: value, f"{name}_low": value - width, f"{name}_high": value + width}
    return row | {"pairs": 30, "originals": 12, "right": 10, "again": 0.9}


@pytest.mark.parametrize(
    ("dataset", "change", "gold", "word"),
    [
        ("negation", -0.4, "right", "fewer"),
        ("primed/TREx", 0.3, "denied", "more"),
        ("primed/TREx", 0.0, "denied", "not decided"),
    ],
)
def test_what_a_hit_is_and_whether_there_are_fewer(dataset: str, change: float, gold: str, word: str) -> None:
    table = pd.DataFrame([filled(dataset, "negation", (0.5, 0.5 + change, change, 0.9))])
    (row,) = page.misled(table).to_dict("records")
    assert (row["Gold"], row["After the change"]) == (gold, word) and row["Same first filling"].startswith("0.90")


def test_pooled_rows_of_every_set() -> None:
    row = filled("own/en", "important", (0.5, 0.6, 0.1, 0.9))
    several = [row | {"dimension": name} for name in ("grammar", "knowledge", ALL)]
    shown = page.pooled(pd.DataFrame([*several, row | {"dataset": "demo/zh"}]))
    assert shown[["dataset", "dimension"]].to_numpy().tolist() == [["own/en", ALL], ["demo/zh", "knowledge"]]


def scored(kind: str, method: str, value: float) -> dict[str, object]:
    row: dict[str, object] = {"dataset": "own/en", "model": "" if method == RANDOM else "m", "method": method}
    row |= {"dimension": "knowledge", "perturbation": kind, "f1_delta": 0.01, "pairs": 30, "originals": 12}
    for name in ("f1_original", "f1_perturbed", "f1_change", "map", "pcc", "kept", "pcc_all"):
        row |= {name: value, f"{name}_low": value - 0.1, f"{name}_high": value + 0.1}
    return row


def told(rows: list[dict[str, object]]) -> str:
    return " ".join(said.text for said in text.answer_perturbations({"accuracy": pd.DataFrame(rows)}, "own/en"))


def test_the_answer_tells_what_misleads_and_what_moves() -> None:
    usual = [
        filled("own/en", "dispensable", (0.5, 0.5, 0.0, 0.8)),
        filled("own/en", "transformation", (0.5, 0.3, -0.2, 0.6)),
    ]
    said = told(usual)
    assert "so much of what m fills in first stays: 80% (dispensable) and 60% (transformation)." in said
    assert "where originals are filled rightly in 50% (m), the kinds of change that the paper makes move" in said
    assert said.endswith("move accuracy in 1 of 2 cases (models and kinds) by 95% intervals, which reach 25 points.")
    primed = [
        filled("primed/TREx", "negation", (0.4, 0.38, -0.02, 0.7)) | {"pairs": 900},
        filled("primed/TREx", "misprimed", (0.4, 0.3, -0.1, 0.5)) | {"pairs": 900},
    ]
    said = told([usual[0], *primed])
    assert said.startswith(
        "Of 10 facts that m fills in rightly (T‑REx, primed), it fills in 9 again where the text den"
    )
    assert "Of all 900 facts there m fills in 40.0% rightly, and 30.0% after a misleading word." in said
    assert "move accuracy in 0 of" in said
    few = [row | {"right": page.FEW - 1, "again": float("nan")} for row in primed]
    assert told([usual[0], *few]).startswith("No model fills in as many as 5 of the facts rightly")
    primed.append(primed[1] | {"dataset": "primed/GoogleRE"})
    assert "30.0% after a misleading word. On Own" in told([usual[0], *primed])  # of the same set alone
    tables = {"accuracy": pd.DataFrame([usual[0], *primed])}
    assert page.stayed(tables)["change_of_text"].tolist() == ["negated", *["misleading word before it"] * 2]
    assert page.stayed({"accuracy": pd.DataFrame(usual)}).empty
    assert told([row | {"original": 0.19} for row in usual]).endswith(
        "With so few right answers, little could be lost."
    )


def test_rows_beside_the_papers() -> None:
    kinds = ("dispensable", "transformation")
    accuracy = pd.DataFrame([filled("own/en", kind, (0.5, 0.4, -0.1, 0.8)) for kind in kinds])
    accuracy.loc[1, "pairs"] = page.FEW - 1
    beside = page.accuracy_beside_paper(accuracy, "en", ["own/en"])
    assert len(beside) == 15 + 2 and pick(beside, model="m")["change"].tolist()[0] == pytest.approx(-10)
    assert pick(beside, model="m")["change"].isna().tolist() == [False, True]
    shown = page.as_in_paper(beside, "change", 1)
    assert list(shown.columns) == ["Dimension", "Change of text", "RoBERTa-base, Table 11", "m"] and len(shown) == 15
    table = pd.DataFrame([scored(kind, method, 0.7) for kind in kinds for method in (ATTENTION, GRADIENTS, RANDOM)])
    beside = page.reasons_beside_paper(table, "en", ["own/en"])
    assert len(beside) == 2 * 15 + 2 * 2 and set(beside["metric"]) == {"F1 delta", "MAP"}
    row = pick(page.as_in_paper(beside), Dimension="knowledge", **{"Change of text": "dispensable"}).iloc[0]
    assert row["F1 delta, m"] == "0.010" and row["MAP, m"].startswith("0.700 [0.600,")
    assert page.reasons_beside_paper(table, "zh", []).equals(page.reasons_beside_paper(table[:0], "zh", []))
    kept = page.order_kept({"reasons": table}, "own/en")
    assert set(kept["model"]) == {"m"} and list(kept["perturbation"].unique()) == list(kinds) and len(kept) == 6
