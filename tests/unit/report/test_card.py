"""A card: each study's answer, figure and table, beside what was recorded on the same data; what fails is told."""

import shutil
from pathlib import Path
from types import MappingProxyType, SimpleNamespace

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from conftest import executed_page

from probekit import cli
from probekit.errors import ReportError
from probekit.files import write_atomically
from probekit.files.naming import shown_name
from probekit.models.loading import find_model
from probekit.probes.registry import PROBES as registered
from probekit.report import card as module
from probekit.report.card import card, pages
from probekit.report.card.spec import page_specs, parts

from notebooks.contexts.ask import SOURCES

PROBES = ["google_re/template", "mine"]
ACCURACY = pd.DataFrame(
    {
        "model": "m<b>x", "probe": PROBES, "gold": "own object", "facts": [300, 20],
        "acc@1": [0.25, 0.5], "low@1": [0.125, 0.25], "high@1": [0.375, 0.75],
        "acc@10": [0.5, 0.75], "low@10": [0.25, 0.5], "high@10": [0.75, 1.0],
    }
)  # fmt: skip


def runs(models, probes, ranking, fail=()):
    """A stand-in for ``run``: a page with an answer, a figure, a table and a manifest."""

    def run(page, given, out):
        if page in fail:
            raise ReportError(f"{page} wants <another> kind")
        files = out / page
        files.mkdir(parents=True)
        (files / "accuracy.svg").write_text("<svg/>")
        about = {"kind": "masked", "fingerprint": "f1", "licence": "MIT", "revision": None}
        manifest = {"models": {name: about for name in models}, "probes": {name: dict(ranking) for name in probes}}
        write_atomically(files / "manifest.json", pd.Series(manifest).to_json().encode())
        if page == "12_accuracy":
            ACCURACY.to_csv(files / "accuracy.csv", index=False)
        texts = [
            "```{admonition} Take care\n:class: warning\n- a caution\n```",
            f"**The answer.** Of {page} it is 5\\.6\\.",
            f'~~~~{{figure}} {page}/accuracy.svg\n:alt: "dots"\n\nA figure.\n~~~~\n',
            "A sentence that stays on the page.",
        ]
        return executed_page(out / f"{page}.ipynb", [{"text/markdown": text} for text in texts])

    return run


@pytest.fixture
def made(monkeypatch, tmp_path):
    monkeypatch.setenv("PROBEKIT_DATA", str(tmp_path))
    for name in ("lama", "honest", "hurtlex"):
        (tmp_path / name).mkdir()
    workers = []

    def on_each_core(make, jobs, *about):
        workers.append(about[-1])
        return [make(*arguments) for arguments in jobs]

    monkeypatch.setattr(module, "on_each_core", on_each_core)

    def make(models=("m<b>x",), probes=PROBES, ranking=MappingProxyType({}), **how):
        monkeypatch.setattr(module, "run", runs(list(map(shown_name, models)), probes, ranking, **how))
        specs = page_specs(models, False, {}, False, ranking)
        return BeautifulSoup(card(specs, ["probekit", "card", *models]), "html.parser")

    make.workers = workers
    return make


def test_every_study_has_its_heading_answer_and_figure(made):
    page = made()
    assert page.h1.text == "Card of m<b>x" and page.find("b") is None
    assert [head.text for head in page.find_all("h2")] == [
        "What it knows", "What context does to it", "What its answers rest on", "What hurts in its completions",
        "How it was made",
    ]  # fmt: skip
    assert [p.text for p in page.find_all("p") if p.text.startswith("The answer.")] == [
        f"The answer. Of {name} it is 5.6."
        for name in ("12_accuracy", "15_overconfidence", "22_ucm", "31_saliency", "41_hurtfulness")
    ]
    assert len(page.find_all("img")) == 1 and page.text.count("a caution") == 5
    assert "stays on the page" not in page.text
    assert "probekit card 'm<b>x'" in page.text and "probekit run 22_ucm -p" in page.text


def test_recorded_models_stand_beside_on_the_same_data_alone(made):
    table = next(found for found in made().find_all("table") if "Acc@1 and Acc@10" in found.caption.text)
    rows = [[cell.text for cell in row.find_all("td")] for row in table.tbody.find_all("tr")]
    mine = [row for row in rows if row[2] == "this card"]
    assert [row[3] for row in mine] == ["300", "20"] and mine[0][4] == "0.250 [0.125, 0.375]".replace(", ", ",\xa0")
    recorded = {(row[0], row[2]) for row in rows} - {(row[0], "this card") for row in mine}
    assert recorded == {(mine[0][0], "recorded")} and len(rows) > 4


def test_which_entities_competed_is_told_and_nothing_recorded_stands_beside_fewer(made):
    assert "All entities of a data set compete" in made().text
    page = made(ranking={"candidates": "relation"})
    assert "At each prompt the entities of its relation compete." in page.text and "All entities" not in page.text
    assert "this card" in page.text and not [cell for cell in page.find_all("td") if cell.text == "recorded"]


@pytest.mark.parametrize(("models", "probes"), [(("zoo/bert-tiny",), PROBES), (("mine",), ["demo/template"])])
def test_beside_the_demo_world_nothing_recorded_stands(made, models, probes):
    page = made(models, probes)
    assert "this card" in page.text and not [cell for cell in page.find_all("td") if cell.text == "recorded"]


def test_what_a_study_cannot_ask_is_told_and_the_others_go_on(made):
    page = made(fail=["22_ucm"])
    (box,) = [box for box in page.find_all("aside") if "Not asked" in box.text]
    assert "22_ucm wants <another> kind" in box.text and "Of 31_saliency it is" in page.text
    assert "Not at hand and left out: medlama" in page.text and "probekit fetch medlama" in page.text


def test_what_a_card_asks_of_each_data_set_has_a_name():
    given = [values for part in parts() for page in part["pages"] for values in page.get("data", {}).values() if values]
    assert {name for values in given for name in values.get("sources", [])} == {"trex", "medlama"} < {*SOURCES}
    assert {name for values in given for name in values.get("probes", [])} <= set(registered)


def test_printed_tables_come_only_with_a_model_of_the_paper(made, monkeypatch):
    found = module.blocks
    link = "{download}`x <22_ucm/table2.csv>`"
    shown = module.Markup(f"~~~~{{csv-table}} PRINTED\n:header-rows: 1\n\na\n1\n~~~~\n\n{link}")
    listed = module.Markup(f"LISTED {link}")  # in the list of all tables, which is none of them
    monkeypatch.setattr(module, "blocks", lambda path: [*found(path), shown, listed])
    assert "PRINTED" not in made().text and made(["bert-base-cased"]).text.count("PRINTED") == 1
    assert "PRINTED" not in made(["bert-base-cased"], ["demo/template"]).text
    assert "LISTED" not in made(["bert-base-cased"]).text


def test_the_command_refuses_to_write_over_another_file_before_it_asks(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(module, "pages", lambda *_: pytest.fail("asked"))
    (tmp_path / "card.html").write_text("mine")
    assert cli.main(["card", "zoo/bert-tiny", "--out", str(tmp_path / "card.html")]) == 1
    assert "is there already" in capsys.readouterr().err


def test_the_command_says_first_what_it_asks_and_how_long_it_takes(tmp_path, capsys, monkeypatch):
    def plan(page, given):
        if page == "22_ucm":
            raise ReportError("a masked model is needed")
        unknown = [SimpleNamespace(place="x", tokens=None, gigabytes=None)] * (page == "41_hurtfulness")
        word_scores = [SimpleNamespace(place="y", tokens=5, gigabytes=0.44, function="attribute")] * (
            page == "31_saliency"
        )
        first = SimpleNamespace(place=page, tokens=100_000, gigabytes=0.44, function="predictions")
        return [first, *word_scores, *unknown], ""

    monkeypatch.setattr("probekit.report.plan.plan", plan)
    monkeypatch.setattr(cli, "START", 0.0)
    monkeypatch.setattr(module, "pages", lambda *_: page_specs(["mine"], False, {}, False))
    monkeypatch.setattr(module, "card", lambda todo, command: f"{len(todo)} pages by {' '.join(command)}")
    assert cli.main(["card", "mine", "--full", "--out", str(tmp_path / "c.html")]) == 0
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "probekit: 12_accuracy: 100,000 tokens to score" and len(said) == 5  # page 15 asks the same
    assert said[1] == "probekit: 22_ucm: a masked model is needed"
    assert said[2] == "probekit: 31_saliency: 70,000,000 tokens to score"
    assert said[3] == ("probekit: 41_hurtfulness: 100,000 tokens to score and more, which cannot be counted before")
    assert said[4] == "probekit: about 117 min in all, on a quiet machine"  # 702 times 100,000 at 10,000 a second
    assert (tmp_path / "c.html").read_text() == "5 pages by probekit card mine --full"
    again = ["card", "mine", "--score=pll", "--batch-tokens", "64", "--force", "--out", str(tmp_path / "c.html")]
    assert cli.main(again) == 0
    assert (tmp_path / "c.html").read_text() == "5 pages by probekit card mine --score=pll --batch-tokens=64"


@pytest.mark.parametrize("there", [True, False])
def test_a_folder_of_any_name_is_shown_by_that_name_alone(made, tmp_path, there):
    name = "m\n```\n\n$$\n\\text{<script>document.title=1234</script>}\n$$\n\n## Verified\n\n```bash\n"
    if there:
        (tmp_path / name).mkdir(parents=True)
        name = str(tmp_path / name)
    page = made([name])
    assert [head.text for head in page.find_all("h2")][-1] == "How it was made"
    assert len(page.find_all("script")) == 1 and not page.find("math")
    assert str(tmp_path) not in str(page) and "## Verified" in page.h1.text


def test_the_kind_of_a_model_is_read_off_its_configuration_and_no_weights(tmp_path):
    for file in Path(find_model("zoo/bert-tiny")).iterdir():
        shutil.copy(file, tmp_path)
    for weights in tmp_path.glob("*.safetensors"):
        weights.write_bytes(b"no weights")  # whoever opens them fails
    assert list(tmp_path.glob("*.safetensors"))
    (first, *_) = pages([str(tmp_path)])
    assert first.given["limit"] == page_specs(["m"], False, {}, False)[0].given["limit"]  # as of what fills gaps


@pytest.mark.parametrize("wrong", ["--candidates=nope", "--batch-tokens=-1", "--batch-tokens=1.5"])
def test_a_card_is_not_begun_with_what_no_page_takes(wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        cli.main(["card", "zoo/bert-tiny", wrong, "--out", str(tmp_path / "card.html")])
    assert wrong.partition("=")[0] in capsys.readouterr().err and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("given", "said"),
    [(["--dtype", "x"], "dtype must be one of"), (["--device-map", "auto", "--device", "cpu"], "not both")],
)
def test_a_card_of_models_that_cannot_be_so_loaded_is_refused_before_its_plan(tmp_path, capsys, given, said):
    assert cli.main(["card", "zoo/bert-tiny", *given, "--out", str(tmp_path / "card.html")]) == 1
    told = capsys.readouterr().err
    assert said in told and "to score" not in told


@pytest.mark.parametrize(
    ("given", "most", "expected"),
    [({}, 0.5e9, 8), ({}, 1, 1), ({"device": "cuda"}, 0.5e9, 1), ({"device_map": "auto"}, 0.5e9, 1)],
)
def test_one_page_at_a_time_runs_on_a_gpu_or_of_a_large_model(monkeypatch, given, most, expected):
    monkeypatch.setattr(module, "SMALL", most)
    monkeypatch.setattr(module.os, "cpu_count", lambda: 8)
    monkeypatch.setattr("probekit.models.loading.pick_device", lambda device: "cpu" if device == "auto" else device)
    assert module.at_once({"models": ["zoo/bert-tiny"], **given}) == expected
    assert module.at_once({"models": ["not-here"]}) == 1


def test_a_card_keeps_to_that_number(monkeypatch, made):
    monkeypatch.setattr(module, "at_once", lambda given: 3)
    assert made().h1 and made.workers == [3]
