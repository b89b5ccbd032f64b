"""Page 94: every number as the page that took it has it, and none of a model at the floor without saying so."""

import json
import shutil
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from probekit.errors import ReportError, heard
from probekit.metrics.decisions import FLOOR
from probekit.report import recording
from probekit.report.outcomes import Outcomes, read_outcomes
from probekit.report.recording import folder, recorded_ranks, recorded_tables
from probekit.report.tables import pick
from probekit.run.answers import Asking

from notebooks.claims import compare, text
from notebooks.contexts import ucm
from notebooks.templates import accuracy, ask

SIDES = ("first", "second")


class Noted:
    """What a page notes of models and probes."""

    def __init__(self) -> None:
        self.models, self.probes, self.asking = dict[str, dict[str, object]](), dict[str, object](), Asking({})
        self.parameters = {"models": [], "score": "auto", "candidates": "auto", "batch_tokens": 0}

    def used(self, *things: Any) -> None:
        self.probes |= {thing.name: {} for thing in things}
        self.models |= {thing.name: {} for thing in things}


@pytest.fixture(scope="module")
def recorded() -> dict[str, pd.DataFrame]:
    return compare.tables(Noted(), [], [], [], book=True)  # type: ignore[arg-type]


def test_words_of_other_pages_are_theirs() -> None:
    assert (compare.OWN, compare.NEITHER) == (accuracy.OWN, ask.NEITHER)
    assert ucm.BY_TRIPLE in set(recorded_tables("22_ucm")["ucm"]["measure"])


@pytest.mark.slow
def test_recorded_numbers_and_floors_are_those_of_their_pages(recorded: dict[str, pd.DataFrame]) -> None:
    rows = recorded["measures"]
    of = {style: name for style, name in compare.STYLES.items() if name in set(rows["measure"])}
    known = recorded_tables("15_overconfidence")["floors"].set_index(["model", "probe"])  # counted from the ranks there
    datasets = recorded_tables("12_accuracy")["datasets"]
    checked = 0
    for about in datasets.to_dict("records"):
        for row in pick(rows, measure=of[about["style"]], data=about["dataset"]).to_dict("records"):
            if (key := (row["model"], about["probe"])) in known.index:
                other = known.loc[key]
                assert row["estimate"] == pytest.approx(other["accuracy"]) and (row["floor"] == FLOOR) == other["floor"]
                checked += 1
    assert checked == len(known) == 40
    for page, measure in (("22_ucm", compare.UNDERSTAND), ("30_prediction", compare.WORDS)):
        floors = recorded_tables(page)["floors"]
        floors = floors.assign(low_=floors["floor"] if "floor" in floors else floors["above"] == 0)
        low = pick(floors.rename(columns={"dataset": "source"}), low_=True)
        expected = set(zip(low["model"], low["source"], strict=True))
        found = pick(rows, measure=measure, floor=FLOOR)
        assert expected == set(zip(found["model"], found["data"], strict=True)) and expected


@pytest.mark.slow
def test_no_number_of_a_model_at_the_floor_is_shown_without_saying_so(recorded: dict[str, pd.DataFrame]) -> None:
    rows = recorded["measures"]
    assert set(rows["floor"]) == {FLOOR, compare.ABOVE, compare.NONE}
    assert set(pick(rows, floor=compare.NONE)["measure"]) == {compare.HURT, compare.HURT_RELEASED}
    kept = compare.chosen(compare.queried(rows))
    shown = compare.across(kept)
    low = 0
    for row in kept.to_dict("records"):
        cell = shown.set_index("Model").loc[compare.title(row["model"]), compare.column(row)]
        assert cell.endswith(compare.MARK) == (row["floor"] == FLOOR)
        low += row["floor"] == FLOOR
    assert low >= 3
    assert (compare.shown(rows)["floor"] == FLOOR).sum() == (
        pick(kept, measure=[*compare.BETTER])["floor"] == FLOOR
    ).sum()
    assert {str(label) for label in compare.shown(rows)["floor"]} >= {FLOOR}  # the series of the figure
    every = (rows["floor"] != compare.NONE).sum()
    assert text.floor_sentence(rows).startswith(f"{(rows['floor'] == FLOOR).sum()} of the {every} numbers that have")
    assert every < len(rows)


@pytest.mark.slow
def test_all_recorded_models_are_there_and_none_of_the_demo_world(recorded: dict[str, pd.DataFrame]) -> None:
    rows = recorded["measures"]
    manifest = json.loads((folder("12_accuracy") / "manifest.json").read_text())
    assert set(manifest["models"]) <= set(rows["model"])
    released = pick(rows, source=compare.RELEASED)
    tables = recorded_tables("41_hurtfulness")
    assert len(released) == len(pick(tables["table1"], rules="audited")) + len(pick(tables["others"], rules="audited"))
    assert not rows["model"].str.startswith("zoo/").any() and not rows["data"].str.startswith("demo").any()
    assert not rows["model"].str.contains("mean|frequency").any()


NATURAL, TEMPLATE = (compare.STYLES[style] for style in ("natural", "template"))
LEAD = (
    "Of the measures of which more is better, with several models above the floor (2), each on the data set on which "
)
LEAD += "these were asked most, on "


def measures(*rows: tuple[str, str, str, float, str]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["model", "measure", "data", "estimate", "floor"])
    about = {"source": "s", "page": "p", "tuned": "", "n": 100, "low": frame["estimate"] - 0.1}
    return frame.assign(**about, high=frame["estimate"] + 0.1)[compare.COLUMNS]


def test_a_leader_is_above_the_floor_and_its_interval_above_all_others() -> None:
    up, down = compare.ABOVE, FLOOR
    rows = measures(
        ("a", compare.WORDS, "x", 0.5, up), ("b", compare.WORDS, "x", 0.2, up), ("c", compare.WORDS, "x", 0.9, down),
        ("a", NATURAL, "x", 0.5, up), ("b", NATURAL, "x", 0.35, up),
        ("a", TEMPLATE, "x", 0.5, up), ("b", TEMPLATE, "x", 0.4, down),
        ("a", compare.PLAUSIBLE, "x", 0.9, up), ("b", compare.PLAUSIBLE, "x", 0.1, up),
        ("a", compare.HURT, "x", 0.1, compare.NONE), ("b", compare.HURT, "x", 0.9, compare.NONE),
    )  # fmt: skip
    assert compare.leaders(rows) == (2, {"a": [compare.WORDS]})
    assert text.compare_answer({"measures": rows}) == (
        f"{LEAD}1 one model's interval lies above all others: a on masked words."
    )
    assert compare.leaders(rows.assign(n=4)) == (0, {})
    same = pick(rows, measure=NATURAL)
    assert text.compare_answer({"measures": same}).endswith("which several share (1), the intervals of the best meet.")
    words = pick(rows, measure=compare.WORDS)
    other = {"estimate": [0.1, 0.6, 0.9], "low": [0.0, 0.5, 0.8], "high": [0.2, 0.7, 1.0]}
    both = pd.concat([words, words.assign(measure=TEMPLATE, **other)])
    assert text.compare_answer({"measures": both}) == (
        f"No one model leads. {LEAD}2 one model's interval lies above all others: a on masked words; b on accuracy by "
        "template."
    )


def test_of_every_measure_that_data_set_is_shown_on_which_models_above_the_floor_were_asked_most() -> None:
    rows = measures(
        ("a", compare.WORDS, "x", 0.5, FLOOR), ("b", compare.WORDS, "x", 0.2, FLOOR),
        ("a", compare.WORDS, "y", 0.5, compare.ABOVE), ("a", compare.PLAUSIBLE, "z", 0.5, FLOOR),
    )  # fmt: skip
    assert compare.chosen(rows)[["measure", "data"]].drop_duplicates().values.tolist() == [
        [compare.WORDS, "y"], [compare.PLAUSIBLE, "z"],
    ]  # fmt: skip


def made_run(place: Path, model: str, probe: str) -> str:
    """A run of page 12 of one model on one probe, from the recorded one's numbers."""
    tables = recorded_tables("12_accuracy")
    out = place / "12_accuracy"
    out.mkdir(parents=True)
    rows = pick(tables["accuracy"], model="lab/dose-50-s0", probe="trex/natural").assign(model=model, probe=probe)
    rows.to_csv(out / "accuracy.csv", index=False)
    floors = pick(tables["floors"], model="lab/dose-50-s0", probe="trex/natural").assign(model=model, probe=probe)
    floors.to_csv(out / "floors.csv", index=False)
    pick(tables["datasets"], probe="trex/natural").assign(probe=probe).to_csv(out / "datasets.csv", index=False)
    (out / "manifest.json").write_text(json.dumps({"models": {model: {}}, "probes": {probe: {}}}))
    return str(place)


@pytest.fixture
def no_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "recorded_pairs", pd.DataFrame)


@pytest.mark.usefixtures("no_pairs")
def test_runs_stand_beside_the_recorded_models_but_demo_runs_do_not(tmp_path: Path) -> None:
    mine = made_run(tmp_path / "mine", "mine", "trex/natural")
    demo = made_run(tmp_path / "demo", "zoo/x", "demo/natural")
    page = Noted()
    with heard() as said:
        found = compare.tables(page, [], [], [mine, demo], book=True)["measures"]  # type: ignore[arg-type]
    assert list(page.models) == ["mine"] and list(pick(found, source="mine")["model"]) == ["mine"]
    assert not found["model"].str.startswith("zoo/").any()
    assert said.cautions == ["demo: 12_accuracy left out: demo numbers do not stand beside recorded ones."]
    alone = compare.tables(page, [], [], [demo], book=False)["measures"]  # type: ignore[arg-type]
    assert list(alone["model"]) == ["zoo/x"] and "demo/natural" in page.probes
    shown = compare.across(compare.queried(found))
    assert set(shown["Run"]) == {compare.BOOK, "mine"}


@pytest.mark.usefixtures("no_pairs")
def test_what_holds_no_run_is_refused_and_recorded_tables_are_not_shown_twice(tmp_path: Path) -> None:
    for runs, book, message in (([str(tmp_path)], True, "no run of 12_accuracy"), ([], False, "no model to show")):
        with pytest.raises(ReportError, match=message):
            compare.tables(Noted(), [], [], runs, book)  # type: ignore[arg-type]
    made_run(tmp_path, "mine", "trex/natural")
    about = tmp_path / "12_accuracy" / "manifest.json"
    about.write_text(json.dumps(json.loads(about.read_text()) | {"recorded": {}}))
    assert compare.read(lambda page: tmp_path / page, "again")[0].empty


@pytest.mark.slow
def test_models_asked_here_are_compared_and_their_floors_kept() -> None:
    names, page = ["zoo/bert-tiny", "zoo/roberta-tiny"], Noted()
    asked = ["demo/natural", "demo/template"]
    found = compare.tables(page, names, asked, [], book=False, limit=12)  # type: ignore[arg-type]
    rows = found["measures"]
    assert sorted(rows["model"]) == sorted(names * 2) and set(rows["data"]) == {"demo"} and set(rows["n"]) == {12}
    assert set(page.probes) == {*names, "demo/natural", "demo/template"}
    assert list(found["paired"]["measure"])[:3] == ["Acc@1, natural", "Acc@10, natural", "MRR, natural"]
    with pytest.raises(ReportError, match="two models"):
        compare.tables(page, names[:1], ["demo/natural"], [], book=False)  # type: ignore[arg-type]


@pytest.mark.slow
def test_every_two_recorded_models_are_paired_where_one_is_above_the_floor(recorded: dict[str, pd.DataFrame]) -> None:
    paired = recorded["paired"]
    paired = paired[
        paired["measure"] != "Accuracy, natural minus template, facts not told, where known"
    ]  # gaps beside a control, which have no test
    assert paired["p_holm"].notna().all()
    rows = pick(recorded["measures"], page="12_accuracy")
    low = rows.set_index(["measure", "data", "model"])["floor"] == FLOOR
    expected = {
        (*about, *pair)
        for about, models in rows.groupby(["measure", "data"], sort=False)["model"]
        for pair in combinations(models, 2)
        if not all(low[(*about, name)] for name in pair)
    }
    assert {tuple(row) for row in paired[["measure", "data", "first", "second"]].itertuples(index=False)} == expected
    ranks = read_outcomes(recorded_ranks("12_accuracy"))
    datasets = recorded_tables("12_accuracy")["datasets"].set_index("probe")
    for row in paired.to_dict("records"):
        (probe,) = [
            name
            for name, about in datasets.iterrows()
            if (compare.STYLES[about["style"]], about["dataset"]) == (row["measure"], row["data"])
        ]
        one, other = (pick(ranks, probe=probe, model=row[side]).set_index("prompt_id")["rank"] for side in SIDES)
        both = one.index.intersection(other.index)
        facts = pick(ranks, probe=probe, model=row["first"]).set_index("prompt_id")["fact_id"]
        assert row["n"] == facts[both].nunique()
        assert row["difference"] == pytest.approx((one[both] == 1).mean() - (other[both] == 1).mean())
        assert row["floor"] == {(True, False): "first", (False, True): "second"}.get(
            tuple(bool(low[row["measure"], row["data"], row[side]]) for side in SIDES), ""
        )
    shown = compare.pairs_shown(paired)
    assert shown["n"].iloc[0] == f"{paired['n'].iloc[0]:,}"
    assert "p_holm" not in compare.pairs_shown(paired.assign(p_holm=None))
    above = paired[paired["floor"] == ""]
    sure = (above["p_holm"] <= 0.05).sum()
    assert text.pairs_sentence(paired).startswith(
        f"Paired tests that find a difference (p of at most 0.05): {sure} of {len(above)} between models above the "
        "floor; "
    )
    sides = pd.DataFrame({"p_holm": [0.01, 0.9, 0.01, 0.01], "floor": ["first", "second", "both", "both"]})
    assert text.pairs_sentence(sides) == (
        "Paired tests that find a difference (p of at most 0.05): 1 of 2 between a model above it and one at it, "
        "where a difference says little more than that; 2 of 2 between models at it, where it says nothing."
    )
    assert text.pairs_sentence(paired.head(0)) == text.pairs_sentence(pd.DataFrame()) == ""


@pytest.fixture
def other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another book's recorded results of three models on one probe, to be changed."""
    place = tmp_path / "book" / "recorded"
    for page in ("12_accuracy", "ranks"):
        shutil.copytree(folder(page), place / page)
    monkeypatch.setattr(recording, "root", lambda: tmp_path)
    models = recorded_tables("12_accuracy")["models"]["model"].tolist()[:3]
    keep(place, pick(read_outcomes(recorded_ranks("12_accuracy") or place), model=models, probe="trex/natural"))
    return place


def keep(place: Path, ranks: pd.DataFrame) -> None:
    outcomes = Outcomes()
    outcomes.add("rank", ranks)
    outcomes.write(recorded_ranks("12_accuracy") or place)


def test_models_that_chose_among_others_are_not_paired(other: Path) -> None:
    ranks = read_outcomes(recorded_ranks("12_accuracy") or other)
    odd, *alike = ranks["model"].unique()
    keep(other, ranks.assign(candidates=ranks["candidates"].where(ranks["model"] != odd, 7)))
    with heard() as said:
        found = compare.recorded_pairs().dropna(subset="p_holm")
    assert [{row.first, row.second} for row in found.itertuples()] == [set(alike)]
    assert said.cautions == ["Pairs of recorded models left out, since their tokenizers allow other candidates: 2."]
    keep(other, pick(ranks, model=odd))
    assert compare.recorded_pairs()["p_holm"].isna().all()  # of one model there are none


def test_without_recorded_ranks_the_page_says_so(other: Path) -> None:
    about = other / "12_accuracy" / "manifest.json"
    manifest = json.loads(about.read_text())
    about.write_text(json.dumps({name: value for name, value in manifest.items() if name != "ranks"}))
    with heard() as said:
        assert compare.recorded_pairs()["p_holm"].isna().all()
    assert said.cautions == ["Page 12 was recorded without ranks, so that its models are not paired: record it anew."]
    shutil.rmtree(other / "12_accuracy")
    assert compare.recorded_pairs().empty
