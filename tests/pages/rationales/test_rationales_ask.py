"""Study 3: which sets are asked, by whom, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from probekit.errors import ReportError
from probekit.probes.rationales import own_items
from probekit.report import Page
from probekit.report.outcomes import read_outcomes
from probekit.report.recording import recorded_tables
from probekit.report.sources import parameters
from probekit.report.tables import pick
from probekit.report.verdicts import concluded

from notebooks.rationales import ask, attributing, beside, perturbations, prediction, rationale_length, saliency, text
from notebooks.rationales.paper import AS_IT_STANDS

FIGURE_1 = [f"003-12{letter}" for letter in "abcde"]
CHANGED = ["003-13a", "003-14a", "003-14b", "003-15a", "003-15b", "003-15c", "003-18a"]
ONE_METHOD = {"method": ["", ask.ATTENTION], "measured": AS_IT_STANDS}


@pytest.fixture
def page_of(tmp_path: Path) -> Callable[..., Page]:
    def made(**given: object) -> Page:
        defaults = {name: entry["default"] for name, entry in parameters("31_saliency").items()}
        return Page("31_saliency", defaults | {"models": [], "chinese": [], "out": str(tmp_path / "out")} | given)

    return made


def test_sets_are_drawn_by_original_and_noted(page_of: Callable[..., Page]) -> None:
    page = page_of(sets=["own/en", "demo/en"], limit=4)
    found = ask.read_sets(page)
    assert len(found["own/en"].items) == len(own_items("en").items)  # never drawn from
    drawn = found["demo/en"].items
    assert (drawn["original_id"] == "").sum() == 4 and len(drawn) == 12
    assert page.probes["demo/en"]["lines"] == 12 and page.probes["demo/en"]["language"] == "en"
    assert ask.load_sets(["demo/en"], 4, seed=0)["demo/en"].fingerprint == found["demo/en"].fingerprint
    with pytest.raises(ReportError, match="no set 'nothing'"):
        ask.load_sets(["nothing"])


def test_a_file_is_a_set_and_holds_one_language(tmp_path: Path) -> None:
    rows = pd.concat([own_items("en").items.iloc[:1], own_items("zh").items.iloc[:1]])
    rows.iloc[:1].to_json(tmp_path / "mine.jsonl", orient="records", lines=True, force_ascii=False)
    assert list(ask.load_sets([str(tmp_path / "mine.jsonl")])) == ["mine.jsonl"]
    own_items("en").items.to_json(tmp_path / "long.jsonl", orient="records", lines=True, force_ascii=False)
    whole = ask.load_sets([str(tmp_path / "long.jsonl")], limit=2)["long.jsonl"]
    assert len(whole.items) == len(own_items("en").items)  # a reader's file is not drawn from
    rows.to_json(tmp_path / "both.jsonl", orient="records", lines=True, force_ascii=False)
    with pytest.raises(ReportError, match="records in en and zh"):
        ask.load_sets([str(tmp_path / "both.jsonl")])


def test_nobody_to_ask_and_unknown_weights_are_refused(page_of: Callable[..., Page]) -> None:
    sets = ask.load_sets(["own/zh"])
    with pytest.raises(ReportError, match="no model is asked any set"):
        ask.predict_all(page_of(models=["zoo/bert-tiny"]), sets)
    with pytest.raises(ReportError, match="no weights 'frozen'"):
        attributing.attribute_all(page_of(weights=["frozen"]), sets)
    with pytest.raises(ReportError, match="no method 'lime'"):
        attributing.attribute_all(page_of(methods=["lime"]), sets)


def test_fillings_and_word_scores_are_kept_record_by_record(
    page_of: Callable[..., Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = page_of(models=["zoo/bert-tiny"], methods=[ask.ATTENTION], weights=[ask.TRAINED, ask.RANDOM_HEAD])
    monkeypatch.setenv("PROBEKIT_CACHE", str(page.out.parent / "cache"))
    sets = ask.load_sets(["demo/en"], limit=3)
    found = ask.predict_all(page, sets)
    attributing.attribute_all(page, sets)
    page.close()
    told = read_outcomes(page.out)
    fillings, scores = (told[told["kind"] == kind].reset_index(drop=True) for kind in ("filling", "saliency"))
    records = sets["demo/en"].items.set_index("id")
    assert fillings["prompt_id"].tolist() == found["id"].tolist() == scores["prompt_id"].tolist()  # trained alone
    assert fillings["answers"].map(list).tolist() == found["predictions"].tolist()
    assert fillings["rank"].fillna(0).tolist() == found["rank"].tolist()
    assert fillings["asked"].tolist() == records.loc[found["id"], "context"].tolist()
    assert fillings["fact_id"].tolist() == found["original"].tolist()
    for row in scores.to_dict("records"):
        record = records.loc[row["prompt_id"]]
        places = {place for rationale in record["rationales"] for place in rationale}
        marked = [word for word, flag in zip(row["words"], row["marked"], strict=True) if flag]
        assert marked == [record["words"][place] for place in sorted(places)]
        assert len(row["word_scores"]) == len(row["words"])


def test_a_set_whose_models_cannot_be_asked_is_in_no_table(
    page_of: Callable[..., Page], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Pages 31 to 33 speak of the sets of the other language, whose model answers."""
    page = page_of(models=["nosuch"], chinese=["zoo/bert-tiny-zh"], sets=["own/en", "demo/zh"], limit=4, steps=5)
    page.parameters |= {"methods": [ask.ATTENTION, ask.GRADIENTS], "weights": [ask.TRAINED]}
    monkeypatch.setenv("PROBEKIT_CACHE", str(page.out.parent / "cache"))
    sets = ask.read_sets(page)
    fillings = ask.predict_all(page, sets)
    assert "nosuch could not be asked, so no number here is of it" in caplog.text
    scores = attributing.attribute_all(page, sets)
    assert {one.dataset for one in scores} == {"demo/zh"} and {one.model for one in scores} == {"", "zoo/bert-tiny-zh"}
    explained = saliency.tables(sets, fillings, scores, attributing.erase_all(page, sets, scores))
    lengths = rationale_length.tables(sets, fillings, scores)
    changed = perturbations.tables(sets, fillings, scores)
    for table in (explained["interpretability"], lengths["lengths"], changed["reasons"]):
        assert beside.first_set(table["dataset"], demo=False) == "demo/zh"
    assert text.answer_saliency(explained, "demo/zh", "x")
    assert text.answer_length(lengths, "demo/zh") and text.answer_perturbations(changed, "demo/zh")
    assert set(perturbations.order_kept(changed, "demo/zh")["model"]) == {"zoo/bert-tiny-zh"}


@pytest.mark.parametrize(
    ("name", "module", "counts"),
    [
        ("30_prediction", prediction, {"003-02b": 6}),
        ("31_saliency", saliency, {"003-08c": 2, "003-08e": 1}),
        ("32_rationale_length", rationale_length, dict(zip(FIGURE_1, (3, 3, 4, 6, 1), strict=True))),
        ("33_perturbations", perturbations, dict(zip(CHANGED, (2, 2, 3, 6, 2, 5, 5), strict=True))),
    ],
)
def test_recorded_tables_have_captions_and_give_conclusions(name: str, module: Any, counts: dict[str, int]) -> None:
    recorded = recorded_tables(name)
    assert set(recorded) <= set(module.CAPTIONS)
    every = {caption: recorded.get(caption, pd.DataFrame()) for caption in module.CAPTIONS}
    rows = pick(concluded(module.conclusions(every)), dataset="own/en", model="lab/general")
    assert "at the floor" not in set(rows["verdict"])
    one = pick(rows, **{column: value for column, value in ONE_METHOD.items() if column in rows})
    assert one["claim"].value_counts().to_dict() == counts


@pytest.mark.slow
def test_every_kind_is_asked_and_told(page_of: Callable[..., Page], monkeypatch: pytest.MonkeyPatch) -> None:
    """Saliency and erasure follow one target; a causal model's words are only deleted."""
    models, methods = ["zoo/bert-tiny", "zoo/llama-tiny", "zoo/t5-tiny"], [ask.ATTENTION, ask.OCCLUSION]
    page = page_of(models=models, methods=methods, weights=[ask.TRAINED], target="contrast")
    monkeypatch.setenv("PROBEKIT_CACHE", str(page.out.parent / "cache"))
    sets = ask.load_sets(["demo/en"], limit=3)
    fillings = ask.predict_all(page, sets)
    assert fillings.groupby("model", sort=False)["among"].max().tolist()[0] == 0 < fillings["among"].max()
    scores = attributing.attribute_all(page, sets)
    losses = attributing.erase_all(page, sets, scores)
    assert losses.groupby("model", sort=False)["erased"].unique().map(list).to_dict() == {
        "zoo/bert-tiny": ["deleted", "masked"], "zoo/llama-tiny": ["deleted"], "zoo/t5-tiny": ["deleted"]
    }  # fmt: skip
    against = {s.model: s.table["against"] for s in scores if s.method == ask.OCCLUSION and s.table is not None}
    assert list(against) == models and all(column.map(len).all() for column in against.values())
    said = text.other_kinds(page)
    assert "A causal model (zoo/llama-tiny)" in said and "A sequence-to-sequence model (zoo/t5-tiny)" in said
    assert text.followed(page) == "the gold's lead over its foil in log-probability"
    assert "attention" in said and "encoder" in said
    del page.parameters["methods"]  # as of page 30, which explains nothing
    said = text.other_kinds(page)
    assert "own next tokens" in said and "writes its own tokens" in said
    assert not any(word in said for word in ("attention", "deleted", "probability", "encoder"))
    assert not text.other_kinds(page_of(models=["zoo/bert-tiny"]))
