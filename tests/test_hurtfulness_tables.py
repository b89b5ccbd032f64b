"""Study 4's tables on completions small enough to count by hand."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from conftest import small
from hypothesis import given
from hypothesis import strategies as st

import probekit as pk
from probekit.errors import ProbeError, ProbekitError
from probekit.metrics import middle, resampled_means
from probekit.metrics.statistics import bootstrap_ci
from probekit.probes.completions import Completions, released_models
from probekit.report import Page
from probekit.report.published import numbers

from notebooks.fairness.hurtfulness import artefacts, audit, conclusions, own, printed, release, shown
from notebooks.fairness.hurtfulness.matching import VARIANTS, Scored, counts, score
from notebooks.fairness.hurtfulness.overview import effects, mean_draws, overview, rankings, ranks
from notebooks.fairness.hurtfulness.untrained import UNTRAINED, untrained

PROMPTS = ["he is a", "she is a", "he is a"]
TEXTS = [["fool", "a ★ day"], ["fool!", "a Fool"], ["fool", "nice"]]
LEXICON = ["fool", "★"]


def erase(text: str) -> str:
    return text.encode("ascii", "ignore").decode()


def scored(model: str = "m", texts: list[list[str]] = TEXTS, subset: str = "binary") -> Scored:
    return score(model, subset, PROMPTS, texts, LEXICON, erase)


def test_every_switch_alone_by_hand():
    found = counts([scored()]).set_index("rules")
    assert list(found.index) == list(VARIANTS)
    hits = {rules: (row["templates"], row["k1"], row["k2"]) for rules, row in found.iterrows()}
    assert hits == {
        "paper": (3, 2, 1),  # rank 1: whole strings, as the first template's is one word; rank 2: the star vanishes
        "drop_empty": (3, 2, 0),
        "mode_per_completion": (3, 3, 1),
        "unique_templates": (2, 1, 1),
        "first_word": (3, 2, 0),
        "ignore_case": (3, 2, 2),
        "audited": (2, 2, 0),
        "audited_plain": (2, 2, 1),  # without a transliteration the star is found as itself
        "audited_first_word": (2, 2, 0),
    }


def test_draws_of_means_share_one_draw_and_keep_clusters_whole():
    values = np.array([[1.0, 2.0], [0.0, 1.0], [0.0, 1.0], [1.0, 2.0]])
    drawn = resampled_means(values, ["a", "b", "b", "c"], samples=200)
    assert drawn.shape == (200, 2) and np.allclose(drawn[:, 1], drawn[:, 0] + 1)
    assert {round(x, 6) for x in drawn[:, 0]} <= {
        round(a / (a + 2 * b), 6) for a, b in ((0, 3), (1, 2), (2, 1), (3, 0))
    }
    only = resampled_means(values, list("abcd"), [[1, 1], [0, 1], [0, 1], [1, 1]], samples=500)
    kept = only[:, 0][np.isfinite(only[:, 0])]
    assert (kept == 1).all() and len(kept) < 500  # a draw without any row that counts has no mean
    with pytest.raises(ValueError, match="do not fit"):
        resampled_means(values, ["a"])


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30))
def test_draws_stay_within_the_values(values):
    drawn = resampled_means(np.array(values)[:, None], range(len(values)), samples=50)
    assert drawn.min() >= min(values) - 1e-9 and drawn.max() <= max(values) + 1e-9
    low, high = middle(drawn)
    assert low <= high


def test_the_interval_agrees_with_the_plain_bootstrap():
    values = np.random.default_rng(1).random(300)
    low, high = middle(resampled_means(values[:, None], range(300), samples=4000)[:, 0])
    plain = bootstrap_ci(values, samples=4000)
    assert low == pytest.approx(plain.low, abs=0.003) and high == pytest.approx(plain.high, abs=0.003)


def two() -> dict[str, list[Scored]]:
    other = [["nice", "day"], ["fool", "day"], ["nice", "day"]]
    return {"m": [scored(), scored(subset="queer")], "n": [scored("n", other), scored("n", other, "queer")]}


def test_rows_of_the_table_and_what_each_switch_changes():
    models = two()
    draws = mean_draws(models, samples=300)
    table = overview(models, draws)
    paper = shown.of(table, "paper")
    assert paper["mean"].to_dict() == {"m": pytest.approx(0.5), "n": pytest.approx(1 / 6)}
    assert paper["rank"].to_dict() == {"m": 1, "n": 2} and set(paper["templates"]) == {6} and set(paper["ranks"]) == {2}
    assert (table["low"] <= table["mean"] + 1e-9).all() and (table["mean"] <= table["high"] + 1e-9).all()
    changed = effects(table, draws).set_index(["rules", "model"])
    assert changed.loc[("drop_empty", "m"), "change"] == pytest.approx(-1 / 6)
    assert changed.loc[("drop_empty", "n"), ["change", "low", "high", "rank_change"]].tolist() == [0, 0, 0, 0]
    moves = rankings(table, draws).set_index("rules")
    assert moves.loc["drop_empty", "change"] == pytest.approx(-1 / 12) and set(moves["moved"]) == {0}
    assert "paper" not in moves.index and moves.loc["drop_empty", "tau"] == 1.0
    told = audit.effect({"effects": changed.reset_index(), "rankings": moves.reset_index()}, "drop_empty")
    assert told.startswith("Mean change over models -0.0833 [") and "0 of 2 models change rank" in told


def test_models_must_have_been_asked_the_same():
    other = Scored("n", "binary", ("a", "b", "c"), scored().found)
    with pytest.raises(ValueError, match="not asked the same templates of binary"):
        mean_draws({"m": [scored()], "n": [other]})


def test_equal_scores_share_the_better_rank():
    assert ranks([0.1, 0.3, 0.3, 0.2]).tolist() == [4, 1, 1, 3]
    assert ranks([[1, 2], [2, 1]]).tolist() == [[2, 1], [1, 2]]


def table_of(values: dict[str, float]) -> tuple[np.ndarray, list[str]]:
    names = [name for name, model in released_models().items() if model.in_table]
    return np.array([values.get(released_models()[name].family, 0.1) for name in names]), names


def test_conclusions_are_above_zero_where_they_hold():
    leaders = {"VICUNA": 0.3, "GPT2": 0.3, "BLOOM": 0.3}
    values, names = table_of(leaders)
    measure = conclusions.MEASURES
    assert measure["004-02j"](values, names) == pytest.approx(0.2) == measure["004-02k"](values, names)
    values[names.index("BLOOM 1.1b")] = 0.06
    assert measure["004-02j"](values, names) == pytest.approx(-0.04)
    assert measure["004-02k"](values, names) == pytest.approx(0.12)
    assert measure["004-05a"](values, names) == pytest.approx(0.0)  # no family differs but BLOOM
    values[names.index("VICUNA 7b")], values[names.index("DistilBERT")] = 0.4, 0.05
    assert measure["004-05a"](values, names) == pytest.approx(0.05)
    assert measure["004-03b"](values, names) == pytest.approx(0.01)
    assert set(measure) == set(conclusions.CONCLUSIONS)


def test_what_becomes_of_a_conclusion():
    rows = [("004-02j", "paper", 0.2, 0.1, 0.3), ("004-02j", "audited", -0.2, -0.3, -0.1)]
    rows += [("004-03b", "paper", 0.2, 0.1, 0.3), ("004-03b", "audited", 0.0, -0.1, 0.1)]
    frame = pd.DataFrame(rows, columns=["claim", "rules", "estimate", "low", "high"])
    assert audit.standing(frame)["standing"].tolist() == ["falls once repaired", "not settled once repaired"]
    (first, _) = shown.findings(frame, ["004-02j", "004-03b"])
    assert (
        first.recorded.startswith("agrees by the paper's rules: 0.2000 [") and "contradicts audited" in first.recorded
    )
    assert first.demo == shown.ABSENT


def test_figures_of_completions_by_hand():
    said = Completions(("0", "1", "2"), ("he is a ", "she is a", "he is a "), tuple(map(tuple, TEXTS)))
    rows = artefacts.per_template(said, scored())
    assert rows[["hits", "empty", "digit", "words", "distinct", "first_words"]].iloc[0].tolist() == [2, 1, 0, 4, 2, 2]
    assert rows["space"].tolist() == [True, False, True]
    figures = artefacts.model_figures("m", [rows, rows])
    assert (
        figures["hits"] == 6
        and figures["empty_share"] == pytest.approx(1 / 3)
        and figures["words"] == pytest.approx(1.5)
    )
    digits = Completions(said.ids, said.prompts, ((" 4 of", "a"), ("b", "7"), ("c", "")))
    assert artefacts.per_template(digits, scored())["digit"].tolist() == [1, 1, 0]
    assert artefacts.overlap(said, digits).estimate == 0 and artefacts.overlap(said, said).estimate == 2


def test_facts_of_templates_and_lexicon():
    rows = [("the man", "male"), ("they", "female"), ("they", "male"), ("he", "male"), ("he", "male")]
    frame = pd.DataFrame([{"text": f"{i} is", "identity": i, "category": c} for i, c in rows])
    facts = {fact["what"]: fact["value"] for fact in artefacts.template_facts("binary", frame)}
    assert (facts["templates"], facts["repeated templates"], facts["identities"]) == (5, 2, 3)
    assert (facts["identities of more than one category"], facts[artefacts.ANYWHERE], facts[artefacts.AS_IDENTITY]) == (
        1,
        5,
        2,
    )
    assert [fact["value"] for fact in artefacts.lexicon_facts(["a", "a", "★"], erase)] == [3, 2, 1]


def test_the_published_table_is_whole():
    table = numbers("004", "1")
    assert list(table.index) == [name for name, model in released_models().items() if model.in_table]
    assert list(table.columns) == ["rank", *printed.COLUMNS] and table.notna().all(axis=None)
    assert sorted(table["rank"]) == list(range(1, 22))
    percentiles = table[["q1", "q50", "q75", "q90", "q95"]].to_numpy()
    assert (np.diff(percentiles, axis=1) >= 0).all() and (table["mean"] < 1).all()
    assert table.loc["VICUNA 33b"].tolist() == [8, 0.139, 0.030, 0.096, 0.133, 0.158, 0.172, 0.200]


def test_ours_beside_print_is_cut_and_compared():
    table = numbers("004", "1").reset_index(names="model").assign(rules="paper")
    table.loc[0, ["mean", "q95"]] += [0.0009, -0.0001]
    beside = printed.printed(table)
    assert beside[beside["same"] == 0][["model", "column"]].to_numpy().tolist() == [["BART small", "q95"]]
    facts = {fact["what"]: fact["value"] for fact in printed.agreement_facts(beside)}
    assert facts["numbers"] == 147 and facts["numbers that agree to the last digit"] == 146
    assert facts["ranks that agree"] == 21 and facts["rows in which all numbers agree"] == 20
    assert facts["greatest difference"] == pytest.approx(0.0009)
    assert shown.misses(beside)["Ours"].tolist() == ["0.049"]
    assert printed.as_printed("VICUNA 7b") == "0.257 ± 0.038"


def test_a_models_completions_are_kept_and_random_weights_give_others(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path))
    model, prompts = small("bert"), list(demo_honest_templates()["text"][:3])
    said = own.mined(model, prompts, 5)
    whole = pk.top_completions(model, prompts, 5)
    assert said == [whole["completion"][whole["prompt_id"] == n].tolist() for n in range(3)]
    assert list(tmp_path.rglob("*.parquet"))
    other = untrained(model, seed=0)
    assert own.mined(other, prompts, 5) != said and other.name.endswith(UNTRAINED)
    assert own.mined(untrained(model, seed=0), prompts, 5) == own.mined(other, prompts, 5)


def test_own_completions_are_scored_in_the_order_of_the_templates(tmp_path):
    page = Page("41_hurtfulness", str(tmp_path), {})
    asked = own.load(page, "auto", ["zoo/bert-tiny"])
    word, texts = demo_lexicon()[0], [["a", "b"]] * len(demo_honest_templates())
    lines = [
        json.dumps({"prompt": str(n), "completions": [word, "x"] if n < 24 else row}) for n, row in enumerate(texts)
    ]
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    table = own.rows(own.score_files(page, [str(path)], asked))
    assert shown.of(table, "audited_plain").loc["mine", "mean"] == pytest.approx(24 / len(texts) / 2)
    recorded = pd.DataFrame({"model": ["x", "y"], "rules": "audited", "mean": [0.9, 0.01]})
    assert shown.beside(table, recorded)["Place"].tolist() == ["2 of 3"]
    assert "Place" not in shown.beside(table, recorded.iloc[:0])
    path.write_text(lines[0], encoding="utf-8")
    with pytest.raises(ProbekitError, match="has 1 lines"):
        own.score_files(page, [str(path)], asked)
    with pytest.raises(ProbekitError, match="templates='all'"):
        own.load(page, "all", [])


def test_the_demo_templates_are_of_the_form_of_the_real_ones():
    table = demo_honest_templates()
    assert list(table.columns) == ["template_id", "text", "identity", "number", "category", "type"]
    assert table["text"].str.fullmatch(r"[^\[]+ \[MASK\]\.").all() and table["template_id"].is_unique
    assert table.groupby("category")["identity"].nunique().tolist() == [12, 12]
    assert all(" " not in word for word in demo_lexicon())


def test_the_release_needs_its_data(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBEKIT_DATA", str(tmp_path))
    with pytest.raises(ProbeError):
        release.tables(Page("41_hurtfulness", str(tmp_path), {}))
