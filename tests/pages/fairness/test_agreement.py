"""Page 44: the paper's conclusions turn with similarity and distance, and its tables and sentences follow by hand."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from probekit.errors import ProbekitError
from probekit.report import Page
from probekit.report.sources import complete
from probekit.report.verdicts import concluded

from notebooks.fairness import agreement, ask, text
from notebooks.fairness.agreement import DISTANCE, SIMILARITY, WORDS
from notebooks.fairness.curves import AND, BETWEEN, FIRST, KS, RANK, TOGETHER, WITHIN, Curves

PAGE = Path(agreement.__file__).with_name("44_agreement.py").read_text("utf-8")
TEMPLATES = pd.DataFrame({"text": [f"t{i} is" for i in range(12)], "identity": [f"t{i}" for i in range(12)]})


def page_of(tmp_path) -> Page:
    return Page("44_agreement", complete("44_agreement", {"out": str(tmp_path)}))


def flat(start: float, end: float, spread: float = 0.0) -> np.ndarray:
    """Twelve curves over ``KS`` that go from the one value at rank 1 to the other at rank 20 and stay there."""
    curve = np.interp(np.log(KS), [0, np.log(20)], [start, end])
    return curve + spread * np.linspace(-1, 1, 12)[:, None]


def sides_of(made: dict[str, pd.DataFrame]) -> pd.DataFrame:
    return concluded(agreement.conclusions(made)).set_index("claim")


def falling(**groups: list[str]) -> Curves:
    """Three families of twelve templates; similarity falls up to rank 20 and stays there, most of all for BLOOM."""
    values = {("BLOOM", RANK): flat(0.8, 0.4, 0.01), ("GPT2", RANK): flat(0.9, 0.7, 0.01), ("X", RANK): flat(0.9, 0.7)}
    return Curves("binary", TEMPLATES, values | {(TOGETHER, RANK): flat(0.5, 0.4, 0.1)}, KS, groups)


def sides(rows: list) -> pd.DataFrame:
    return concluded(agreement.directions(rows)).set_index(["claim", "measured", "family"]).sort_index()


def test_conclusions_turn_with_similarity_and_distance():
    found = sides(agreement.of_vectors(falling(gender=["male", "female"] * 6)))
    assert set(found.loc[("004-10a", SIMILARITY), "verdict"]) == {"contradicts"}
    assert set(found.loc[("004-10a", DISTANCE), "verdict"]) == {"agrees"}
    assert found.loc[("004-10b", SIMILARITY), "estimate"].tolist() == pytest.approx([0.4, 0.2, 0.2])
    odd = found.loc[("004-11a", SIMILARITY)]
    assert list(odd.index) == ["GPT2", "X"] and set(odd["verdict"]) == {"agrees"}
    male = {m: found.loc[("004-13a", m, TOGETHER), "estimate"] for m in (SIMILARITY, DISTANCE)}
    assert male[SIMILARITY] == pytest.approx(-male[DISTANCE]) and male[SIMILARITY] < 0
    assert "004-13b" not in found.index.get_level_values("claim")


def test_short_curves_and_groups_of_too_few_templates_give_no_conclusion():
    rows = agreement.of_vectors(falling(gender=["male"] * 4 + ["female"] * 8))
    assert not {"004-13a", "004-13b"} & {row["claim"] for row in rows}
    short = Curves("binary", TEMPLATES, {("A", RANK): np.ones((12, 2)), ("A", FIRST): np.ones((12, 2))}, (1, 20))
    assert agreement.of_vectors(short) == [] == agreement.of_words(short, np.zeros(12))


def test_diversity_and_hurtfulness_are_compared_over_templates():
    curves = Curves("binary", TEMPLATES, {("A", FIRST): np.linspace(0, 1, 12)[:, None] * np.ones(len(KS))}, KS)
    rows = [*agreement.of_words(curves, np.linspace(1, 0, 12))]
    found = {row["claim"]: row for row in rows}["004-14a"]
    assert found["estimate"] == pytest.approx(1) == found["low"]
    made = {"directions": agreement.directions(rows), "families": pd.DataFrame()}
    assert sides_of(made).loc["004-14a", "verdict"] == "contradicts"
    less = agreement.directions(agreement.of_words(curves, np.linspace(0, 1, 12)))
    assert sides_of(made | {"directions": less}).loc["004-14a", "verdict"] == "agrees"


def test_a_curve_of_another_shape_goes_against_the_others():
    curves = {"A": (0.1, 0.5, 0.9), "B": (0.2, 0.4, 0.6), "C": (0.9, 0.8, 0.7), WITHIN: (0.4, 0.6, 0.7)}
    rows = [
        {"subset": "binary", "family": family, "kind": RANK, "k": k, "similarity": value}
        for family, values in curves.items()
        for k, value in zip((1, 20, 100), values, strict=True)
    ]
    found = agreement.shapes(pd.DataFrame(rows)).set_index("family")["estimate"]
    assert found.to_dict() == pytest.approx({"A": 1, "B": 1, "C": -1})
    assert agreement.shapes(pd.DataFrame()).empty and agreement.shapes(pd.DataFrame(rows[:3])).empty


def test_hurtfulness_of_a_template_is_the_mean_share_over_models():
    completions = {"a": [["bad", "x"], ["x", "y"]], "b": [["bad", "a bad one"], ["y", "bad"]]}
    assert agreement.hurtfulness(completions, ["bad"]).tolist() == [0.75, 0.25]


def table(rows: list[tuple]) -> pd.DataFrame:
    columns = ["subset", "family", "kind", "templates", "k", "similarity"]
    found = pd.DataFrame(rows, columns=columns)
    return found.assign(similarity_low=found["similarity"] - 0.1, similarity_high=found["similarity"] + 0.1)


def by_hand(last: float = 0.6) -> dict[str, pd.DataFrame]:
    """Tables of one set: family A, the means, at ranks 1 and 20."""
    pair = "A" + AND + "B"
    vectors = [("binary", name, RANK, 7, 1, 0.8) for name in ("A", WITHIN)]
    vectors += [("binary", name, RANK, 7, 20, last) for name in ("A", WITHIN)]
    vectors += [("binary", name, RANK, 7, k, 0.5) for name in (pair, BETWEEN) for k in (1, 20)]
    words = [("binary", name, FIRST, 9, k, 0.2) for name in ("A", pair, WITHIN, BETWEEN) for k in (1, 20, 50)]
    about = {"claim": "004-10a", "family": "A", "templates": 7}
    directions = [
        about | {"measured": m, "subset": s, "estimate": e, "low": e - 0.1, "high": e + 0.1}
        for s in ("binary", "queer_nonqueer")
        for m, e in ((DISTANCE, 0.2), (SIMILARITY, -0.2), (WORDS, 0.0))
    ]
    return {"families": table(vectors), "overlaps": table(words), "directions": agreement.directions(directions)}


def test_the_answer_follows_the_numbers():
    falls, rises = (text.agreement_answer(by_hand(last), beside_paper=True) for last in (0.6, 0.9))
    assert "averages a distance" in falls and "grow less alike in 1 of 1 families" in falls and "0.20" in falls
    assert "distance" not in rises and "grow more alike in 1 of 1" in rises
    assert "paper" not in text.agreement_answer(by_hand(), beside_paper=False)
    alone = by_hand() | {"families": pd.DataFrame()}
    assert "alike" not in text.agreement_answer(alone, beside_paper=True)
    assert "nothing to compare" in text.agreement_answer({"families": pd.DataFrame(), "overlaps": pd.DataFrame()}, True)


def test_a_summary_has_a_row_per_family_and_leaves_out_pairs_of_families():
    found = agreement.summary(by_hand(), "binary").set_index("family")
    assert list(found.index) == ["A", WITHIN, BETWEEN]
    assert found.loc["A", ["first", "settled", "words"]].tolist() == pytest.approx([0.8, 0.6, 0.2])
    assert found.loc["A", ["settled_low", "settled_high"]].tolist() == pytest.approx([0.5, 0.7])
    alone = agreement.summary(by_hand() | {"families": pd.DataFrame()}, "binary")
    ends = ("", "_low", "_high")
    assert list(alone) == ["family", *(name + end for name in ("words", "words_settled") for end in ends)]


def test_the_figure_shows_similarity_and_the_distance_at_its_right_end():
    found = by_hand()
    curves = agreement.by_k(found).set_index(["measured", "family", "k"])
    assert set(curves.index.get_level_values("family")) == {"A", agreement.MEAN}
    ends = ["estimate", "low", "high"]
    assert curves.loc[("cosine similarity", "A", 20), ends].tolist() == pytest.approx([0.6, 0.5, 0.7])
    figure = agreement.figure4(found)
    figure.draw_without_rendering()
    left, (right,) = figure.axes[-1], figure.axes[-1].child_axes
    assert sorted(right.get_ylim()) == pytest.approx(sorted(1 - end for end in left.get_ylim()))
    assert agreement.DISTANCE in right.get_ylabel()


def test_conclusions_speak_of_the_first_set_and_count_their_templates():
    rows = agreement.conclusions(by_hand())
    assert rows["measured"].tolist() == [SIMILARITY, DISTANCE, WORDS] and rows["n"].tolist() == [7, 7, 7]
    assert concluded(rows)["verdict"].tolist() == ["contradicts", "agrees", "undecided"]


def run(
    tmp_path, templates: list[tuple], completions: dict[str, list], families: dict[str, str]
) -> dict[str, pd.DataFrame]:
    """The tables of a run without an encoder."""
    table = pd.DataFrame(templates, columns=["text", "identity", "category"])
    questions = ask.Questions("mine", {"binary": table}, ["cook"])
    return agreement.tables(page_of(tmp_path), questions, {"binary": completions}, families, "", 0, 2, 0)


def test_a_run_without_an_encoder_compares_words_alone(tmp_path):
    templates = [("the man is a [MASK].", "the man", "male"), ("the aunt is a [MASK].", "the aunt", "female")]
    completions = {"a1": [["cook", "judge it"]] * 2, "a2": [["judge", "cook"]] * 2, "b1": [["judge me", "x"]] * 2}
    found = run(tmp_path, templates, completions, {"a1": "A", "a2": "A", "b1": "B"})
    assert set(found) == set(agreement.CAPTIONS) and found["families"].empty and found["groups"].empty
    assert set(found["overlaps"]["family"]) == {"A", "A and B", WITHIN, BETWEEN, TOGETHER}
    assert "0.00 of their first words at k = 1 and 1.00 at k = 2" in text.agreement_answer(found, False)
    assert agreement.conclusions(found).empty


def test_an_encoder_of_the_demo_world_reads_no_real_templates(tmp_path):
    with pytest.raises(ProbekitError, match="zoo/bert-small has read the demo world alone"):
        agreement.tables(page_of(tmp_path), ask.Questions(ask.REAL, {}, []), {}, {}, "zoo/bert-small", 0, 2, 0)


@pytest.mark.parametrize("completions", [{"a": [["x", "y"]]}, {"a": [["x", "y"]], "b": [["x", "z"]]}])
def test_a_run_of_single_models_has_nothing_to_draw(tmp_path, completions):
    found = run(tmp_path, [("he is a [MASK].", "he", "male")], completions, {"a": "A", "b": "B"})
    assert agreement.by_k(found).empty and agreement.groups_by_k(found).empty


def test_families_are_those_of_cards_and_files_stand_alone(monkeypatch):
    monkeypatch.setattr("notebooks.fairness.agreement.about", lambda name: type("Card", (), {"family": "BERT"}))
    assert agreement.families_of(["one"], {"binary": {"one": [], "mine": []}}) == {"one": "BERT", "mine": "mine"}
