"""How the pages on rationale length and on perturbations read: rows, sentences and figures from tables made by hand."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from notebooks.rationales import conclusions_view, perturbations_view
from notebooks.rationales import lengths_view as view
from notebooks.rationales.asking import ATTENTION, GRADIENTS, ORACLE, RANDOM
from notebooks.rationales.lengths import ABOVE, AS_IT_STANDS, CONCLUSIONS, METRICS, RATIOS
from notebooks.rationales.perturbations import ALL

START = {ORACLE: 0.6, RANDOM: 0.1, ATTENTION: 0.3, GRADIENTS: 0.05}


def curves(dimensions: tuple[str, ...] = ("knowledge",)) -> pd.DataFrame:
    rows = []
    for method, start in START.items():
        for name in dimensions:
            for metric in METRICS:
                for ratio in RATIOS:
                    value, above = start + 0.3 * ratio, start - START[RANDOM]
                    model = "m" if method in (ATTENTION, GRADIENTS) else ""
                    spread = (value, value - 0.02, value + 0.02, above, above - 0.02, above + 0.02)
                    rows.append(("own/en", model, method, name, metric, ratio, *spread))
    spans = ["estimate", "low", "high", "above", "above_low", "above_high"]
    return pd.DataFrame(rows, columns=["dataset", "model", "method", "dimension", "metric", "ratio", *spans])


def test_the_answer_tells_the_rise_and_that_of_random_scores() -> None:
    text = view.answer(curves(), "own/en", "m")
    assert text.startswith("For m with attention on Own items, English, knowledge: F1 goes from 0.33 [0.31,")
    assert "a change of 0.27, while that of random scores changes by 0.27" in text
    assert "above random scores it lies by 0.20 [0.18," in text and "MAP goes from" in text
    bare = curves()[lambda table: table["metric"] == "MAP"]
    assert "F1" not in view.answer(bare, "own/en", "m")


def test_rows_hold_chosen_ratios_and_controls_are_named() -> None:
    shown = view.wide(curves(), "F1")
    assert list(shown.columns) == ["Data", "Model", "Scores", "Dimension", "0.1", "0.3", "0.5", "0.7", "1.0"]
    assert shown.set_index("Scores").loc[ORACLE, "Model"] == "–" and len(shown) == 4
    assert shown.set_index("Scores").loc[ATTENTION, "0.5"].startswith("0.45 [0.43,")
    above = view.wide(curves(), "F1", "above")
    assert above["Scores"].tolist() == [ATTENTION, GRADIENTS] and above["0.1"][1].startswith("-0.05 [")


def test_above_or_below_the_floor_in_words() -> None:
    text = view.above_floor(curves())
    assert "attention above, 0.20" in text and "integrated gradients below, -0.05" in text
    same = curves().assign(above=0.0, above_low=-0.1, above_high=0.1)
    assert view.above_floor(same).count("not distinguishable") == 2


def test_the_figure_has_a_row_a_dimension_and_words_for_it() -> None:
    table = curves(("reasoning", "grammar"))
    figure = view.small_multiples(view.of_model(table, "own/en", "m"))
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles == ["grammar", "", "reasoning", ""] and all(len(ax.lines) == 4 for ax in figure.axes)
    plt.close(figure)
    assert "F1 of oracle: 0.63, 0.75, 0.90" in view.spoken(curves())
    assert view.runs(table) == [("own/en", "m")]


def test_results_are_counted_and_told_in_full() -> None:
    row = {"claim": "003-12a", "dataset": "own/en", "model": "m", "method": ATTENTION, "estimate": 0.2}
    spans = [(0.1, 0.3), (-0.1, 0.3), (-0.3, -0.1)]
    table = pd.DataFrame(
        [row | {"measured": AS_IT_STANDS, "model": f"m{i}", "low": a, "high": b} for i, (a, b) in enumerate(spans)]
        + [row | {"measured": ABOVE, "model": "m0", "low": 0.1, "high": 0.3}]
    )
    measured = (AS_IT_STANDS, ABOVE)
    first, second = conclusions_view.findings(table, measured, CONCLUSIONS, "absent")[:2]
    assert first.recorded.partition("; ")[0] == "as it stands: of 3 results 1 agree and 1 contradict"
    assert first.recorded.endswith("; above random scores: of 1 results 1 agree and 0 contradict")
    assert second.recorded == "not available" and first.demo == "absent"
    rows = conclusions_view.rows(table, measured, CONCLUSIONS)
    assert rows["Model"].tolist() == ["m0", "m1", "m2"] and set(rows["Data"]) == {"Own items, English"}
    assert rows["As it stands"].str.partition(",")[0].tolist() == ["agrees", "undecided", "contradicts"]
    assert rows["Above random scores"].tolist()[1:] == ["–", "–"]
    assert conclusions_view.rows(table[:0], measured, CONCLUSIONS).empty
    assert conclusions_view.findings(table[:0], measured, CONCLUSIONS, "")[0].recorded == "not available"


SPANS = ("original", "perturbed", "change", "same")


def answers(dataset: str, kind: str, values: tuple[float, ...], width: float = 0.05) -> dict[str, object]:
    row: dict[str, object] = {
        "dataset": dataset,
        "model": "m",
        "dimension": "knowledge",
        "perturbation": kind,
        "top": 1,
    }
    for name, value in zip(SPANS, values, strict=True):
        row |= {name: value, f"{name}_low": value - width, f"{name}_high": value + width}
    return row | {"pairs": 30, "originals": 12}


@pytest.mark.parametrize(
    ("dataset", "change", "hit", "word"),
    [
        ("negation", -0.4, "the right word", "fewer"),
        ("primed/TREx", 0.3, "what the text denies", "more"),
        ("primed/TREx", 0.0, "what the text denies", "not decided"),
    ],
)
def test_what_a_hit_is_and_whether_there_are_fewer(dataset: str, change: float, hit: str, word: str) -> None:
    table = pd.DataFrame([answers(dataset, "negation", (0.5, 0.5 + change, change, 0.9))])
    (row,) = perturbations_view.misled(table).to_dict("records")
    assert (row["A hit is"], row["Hits after the change"]) == (hit, word) and row["Same first filling"].startswith(
        "0.90"
    )


def test_pooled_rows_of_every_set() -> None:
    row = answers("own/en", "important", (0.5, 0.6, 0.1, 0.9))
    several = [row | {"dimension": name} for name in ("grammar", "knowledge", ALL)]
    shown = perturbations_view.everywhere(pd.DataFrame([*several, row | {"dataset": "demo/zh"}]))
    rows = shown[["dataset", "dimension"]].to_numpy().tolist()
    assert rows == [["own/en", ALL], ["demo/zh", "knowledge"]]


def reasons(kind: str, method: str, value: float) -> dict[str, object]:
    row: dict[str, object] = {"dataset": "own/en", "model": "" if method == RANDOM else "m", "method": method}
    row |= {"dimension": "knowledge", "perturbation": kind, "f1_delta": 0.01, "pairs": 30, "originals": 12}
    for name in ("f1_original", "f1_perturbed", "f1_change", "map", "pcc", "kept", "pcc_all"):
        row |= {name: value, f"{name}_low": value - 0.1, f"{name}_high": value + 0.1}
    return row


def test_the_page_on_perturbations_reads_its_tables() -> None:
    kinds = {"dispensable": 0.0, "transformation": -0.2}
    accuracy = pd.DataFrame([answers("own/en", kind, (0.5, 0.5 + fall, fall, 0.8)) for kind, fall in kinds.items()])
    table = pd.DataFrame([reasons(kind, method, 0.7) for kind in kinds for method in (ATTENTION, GRADIENTS, RANDOM)])
    text = perturbations_view.answer(accuracy, table, "own/en", "m")
    assert "under transformations, accuracy moves by -0.20" in text and "(random scores 0.70)" in text
    assert text.endswith("fewer than 20 originals have rough intervals.")
    assert "integrated gradients, dispensable: MAP 0.70" in perturbations_view.spoken(accuracy, table, "own/en", "m")
    figure = perturbations_view.by_kind(accuracy, table, "own/en", "m")
    assert [tick.get_text() for tick in figure.axes[0].get_yticklabels()] == list(kinds)
    plt.close(figure)
    assert len(perturbations_view.accuracy_rows(accuracy, 1)) == 2
    shown = perturbations_view.reason_rows(table)
    assert set(shown["Model"]) == {"m", "–"} and shown["F1 delta"].tolist() == ["0.010"] * 6
    assert perturbations_view.contrasts(accuracy).empty and len(perturbations_view.usual(accuracy)) == 2
