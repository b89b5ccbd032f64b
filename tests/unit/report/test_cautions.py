"""What changes a result is said in a page's first lines, and no two models or probes of a run have one name."""

import json

import nbformat
import pandas as pd
import pytest
from conftest import saved, write_lines

from probekit import load_model
from probekit.errors import ModelError, ReportError, caution
from probekit.files import naming
from probekit.report.outcomes import read_outcomes
from probekit.report.page import Page
from probekit.report.run import run
from probekit.report.scored import how_scored
from probekit.run import Describe, Rank

from notebooks.fairness import ask as fairness
from notebooks.templates import ask

NOTEBOOK = """# %% tags=["parameters"]
models: list = ["a"]  # models
probes: list = []  # probes
completions: list = []  # files
recorded: bool = False  # show what was recorded
out: str = "01_study"  # folder

# %%
import pandas as pd
from probekit.errors import caution
from probekit.report import Page
page = Page("01_study", globals())

def compute():
    caution("a model *shouts*.")
    caution("a model *shouts*.")
    return {"rows": pd.DataFrame({"n": [1]})}

tables = page.tables(compute, {"rows": "Rows"})
page.answer("Yes.")
caution("and one later.")
page.close()
"""


@pytest.fixture
def home(report, monkeypatch):
    monkeypatch.setattr(naming, "_endings", {})
    return report(NOTEBOOK, "{demo: , recorded: }")


def page_of(home, **values):
    given = {"models": [], "probes": [], "completions": [], "recorded": False, "out": str(home / "out")}
    return Page("01_study", given | values)


def printed(page):
    outputs = [out for cell in nbformat.read(page, 4).cells for out in cell.get("outputs", [])]
    return [out["data"]["text/markdown"] for out in outputs]


@pytest.mark.slow
def test_cautions_stand_before_the_answer_once_and_out_of_every_fold(home):
    first, answer, later = printed(run("01_study", {}, home / "out"))[:3]
    assert first.startswith("```{admonition} Take care") and first.count("shouts") == 1
    assert r"a model \*shouts\*" in first and "dropdown" not in first
    assert "Yes" in answer and "and one later" in later and "shouts" not in later
    manifest = json.loads((home / "out/01_study/manifest.json").read_text())
    assert manifest["cautions"] == ["a model *shouts*.", "and one later."]


@pytest.mark.slow
def test_cautions_of_a_recorded_run_stand_on_the_page_that_shows_it(home):
    place = home / "book" / "recorded" / "01_study"
    place.mkdir(parents=True)
    (place / "rows.csv").write_text("n\n1\n")
    kept = {"hash": "h", "cautions": ["of then."], "parameters": {}, "versions": {}, "models": {}, "probes": {}}
    (place / "manifest.json").write_text(json.dumps(kept | {"runs": {}}))
    said = " ".join(printed(run("01_study", {}, home / "out", "recorded"))[:2])  # after what the page is
    assert "of then" in said and "shouts" not in said


def test_a_caution_is_kept_once_and_a_model_named_twice_is_refused(home):
    page = page_of(home)
    for _ in range(2):
        caution("twice")
    assert page.messages.cautions == ["twice"]
    with pytest.raises(ReportError, match="models names 'zoo/bert-tiny' twice"):
        page_of(home, models=["zoo/bert-tiny", "zoo/bert-small", "zoo/bert-tiny"])


def folders(home):
    return [str(saved(home / place / "last", family)) for place, family in (("exp1", "bert"), ("exp2", "distilbert"))]


def ranked(models, probes) -> list[Rank]:
    return [ask.ranking(model, probe) for model in models for probe in probes]


def files(home):
    row = {"text": "The [MASK] of Port Velna"}
    return [
        str(write_lines(path, *(row | {"gold": name, "prompt_id": f"{name} {n}"} for n in range(6))))
        for path, name in ((home / "a" / "facts.jsonl", "town"), (home / "b" / "facts.jsonl", "map"))
    ]


def test_models_and_probes_that_end_alike_are_asked_apart(home):
    models, probes = folders(home), files(home)
    page = page_of(home, models=models, probes=probes)
    ranks = ask.ask_all(page, ranked(models, ask.load_probes(probes)))
    found = ranks.groupby(["model", "probe"], sort=False).size()
    assert found.to_dict() == {(m, p): 6 for m in ("exp1/last", "exp2/last") for p in ("a/facts", "b/facts")}
    assert list(page.models) == ["exp1/last", "exp2/last"] and list(page.probes) == ["a/facts", "b/facts"]
    assert ask.cards(models)["model"].tolist() == ["exp1/last", "exp2/last"]
    page.close()
    told = read_outcomes(home / "out")
    assert len(told) == len(ranks) == 24 and told["rank"].tolist() == ranks["rank"].tolist()
    assert told["gold"].map(list).tolist() == [[name] for name in ["town"] * 6 + ["map"] * 6] * 2
    assert set(told["asked"]) == {"The [MASK] of Port Velna"} and told["answers"].map(len).min() > 0


def test_a_model_that_fails_is_named_in_the_first_lines_and_is_in_nothing(home, monkeypatch):
    good, broken = folders(home)
    (home / "exp2" / "last" / "model.safetensors").write_bytes(b"none")
    page, probes, shown = page_of(home, models=[good, broken]), ask.load_probes(files(home)), []
    monkeypatch.setattr("probekit.report.page._display", lambda markdown, _: shown.append(markdown))
    asked = ranked([good, broken], probes)
    page.tables(lambda: {"ranks": ask.ask_all(page, asked)[["model", "rank"]]}, {"ranks": "Ranks"})
    assert shown[0].startswith("```{admonition} Take care") and "exp2/last could not be asked" in shown[0].replace(
        "\\", ""
    )
    page.close()
    manifest = json.loads((home / "out" / "manifest.json").read_text())
    assert list(manifest["models"]) == ["exp1/last"] and list(manifest["failed"]) == ["exp2/last"]
    assert str(home) not in json.dumps([manifest["failed"], manifest["cautions"]])
    with pytest.raises(ModelError, match="no model could be asked. last: "):
        page_of(home, models=[broken]).tables(lambda: ask.ask_all(page_of(home), ranked([broken], probes)), {})


@pytest.mark.parametrize("names", [["zoo/bert-tiny", "zoo/llama-tiny"], ["zoo/bert-tiny", "zoo/roberta-tiny"]])
def test_by_which_score_each_model_ranked_is_told(home, names):
    page, probes = page_of(home, models=names), ask.load_probes(["demo/template", "demo/natural"], limit=20)
    page.tables(lambda: {"ranks": ask.ask_all(page, ranked(names, probes))[["model", "rank"]]}, {"ranks": "Ranks"})
    unlike = "zoo/llama-tiny" in names
    assert [one["score"] for one in page.manifest["models"].values()] == ["slot", "sum" if unlike else "slot"]
    said = "bert-tiny is masked (score slot); zoo/llama-tiny is causal (score sum)"
    assert any(said in one for one in page.manifest["cautions"]) == unlike
    page.used(*map(load_model, names))  # as by a further question, which ranks nothing
    assert all("score" in one for one in page.manifest["models"].values())
    told = how_scored(page)
    assert "with as many masks" in told and ("log-probability of that whole text" in told) == unlike
    assert "All entities of a data set compete" in told and "relation" not in told
    page.past = {"models": {"old": {"kind": "seq2seq"}, "new": {"kind": "causal", "score": "mean"}}}
    page.past["models"]["left to right"] = {"kind": "masked", "score": "pll_word_l2r"}
    page.past["probes"] = {"old": {}} | {name: {"candidates": "relation"} for name in ("bear", "bear, subject swapped")}
    told = how_scored(page)
    assert "All entities of a data set compete" in told and "On BEAR, those of the prompt's relation do." in told
    assert "A seq2seq model ranks entities by the score “slot”" in how_scored(page, brief=True)
    assert "by the score “pll\\_word\\_l2r”" in told  # of which a page shows no backslash, as it would in code
    assert "its decoder the entity" in told and "A causal model ranks entities by the score “mean”" in told


def test_a_model_that_fails_late_leaves_no_trace(home, monkeypatch):
    models, probes = folders(home), ask.load_probes(files(home))
    page = page_of(home, models=models)

    def full(model):
        if model.name == models[1]:
            raise ModelError("one row does not fit into memory")
        return model.name

    def compute():
        ranks = ask.ask_all(page, ranked(models, probes))
        second = [answer.result for answer in page.ask([Describe(model, full) for model in models])]
        return {"rows": ranks[["model"]].drop_duplicates(), "second": pd.DataFrame({"n": second})}

    found = page.tables(compute, {"rows": "Rows", "second": "Second"})
    assert found["rows"]["model"].tolist() == ["exp1/last"] == list(page.models) and len(found["second"]) == 1
    assert page.runs and all(run.startswith("exp1/last on ") for run in page.runs)
    page.close()
    assert set(read_outcomes(home / "out")["model"]) == {"exp1/last"}


def test_files_of_completions_that_end_alike_are_counted_apart(home):
    questions = fairness.Questions("mine", {"set": pd.DataFrame({"text": ["She is [MASK].", "He is [MASK]."]})}, [])
    paths = [
        str(write_lines(home / name, *({"prompt": t, "completions": [name]} for t in questions.sets["set"]["text"])))
        for name in ("a/gpt.jsonl", "b/gpt.jsonl", "llama-2.7b.jsonl", "llama-2.13b.jsonl")
    ]
    page = page_of(home, completions=paths)
    found = fairness.ask_all(page, [], paths, questions, 1)["set"]
    assert {name: rows[0] for name, rows in found.items()} == {
        "a/gpt": ["a/gpt.jsonl"], "b/gpt": ["b/gpt.jsonl"], "llama-2.7b": ["llama-2.7b.jsonl"],
        "llama-2.13b": ["llama-2.13b.jsonl"],
    }  # fmt: skip
