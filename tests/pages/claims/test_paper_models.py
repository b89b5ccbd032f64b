"""A run of the profile ``paper`` turns claims from not run into verdicts and fills cells beside the printed ones."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
import pandas as pd
import paper_models
import pytest

from probekit.demo.world.contexts import demo_contexts
from probekit.models.registry import registry
from probekit.paths import root
from probekit.report.recording import record, recorded_tables
from probekit.report.run import run
from probekit.report.sources import complete, pages, studies
from probekit.report.verdicts import OURS, ledger

pytestmark = pytest.mark.slow

STUDIES = {"001": "1", "002": "2", "003": "3", "004": "4"}  # paper -> how its pages begin
PAIRS = ["bert-base-uncased", "bert-large-uncased", "roberta-base", "roberta-large", "albert-base", "albert-large"]
LEADERS = ["pubmedbert", "bioformer", "biom-electra", "bert-large-uncased", "bert-base-uncased", "distilbert"]
ASKED = ["roberta-base", "roberta-base-pm", "biobert"]  # of general text, and of biomedical text
KINDS = ["bart-base", "bert-base-uncased", "gpt2", "bloom-560m", "llama2-70b", "vicuna-7b"]
ALL = {"001": 16, "002": 12, "003": 8, "004": 21}  # models that a paper asks


def unjudged() -> set[str]:
    """Claims that no run of ours says anything of."""
    none = ("not run", "not applicable")
    return {row["id"] for row in ledger() if all(row[column]["verdict"] in none for column in OURS)}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A copy of the report, whose ledger is that of what was recorded, and a cache of its own."""
    place, patch = tmp_path_factory.mktemp("home"), pytest.MonkeyPatch()
    for name in ("notebooks", "book/published", "book/recorded"):
        shutil.copytree(root() / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(root() / "studies.yml", place)
    patch.setenv("PROBEKIT_HOME", str(place))
    patch.setenv("PROBEKIT_CACHE", str(place / "cache"))
    patch.delenv("PROBEKIT_DATA", raising=False)
    yield place
    patch.undo()


@pytest.fixture
def ran(home) -> Callable[..., tuple[str, set[str]]]:
    """Runs a page on models of its paper and records it: what it prints, and which claims now have a verdict."""

    def go(page: str, paper: str, **given: object) -> tuple[str, set[str]]:
        asked = [*complete(page, given, "paper")["models"], *complete(page, given, "paper").get("chinese", [])]
        names = [name for name in asked if not (home / "cache" / "models" / name).is_dir()]
        paper_models.make(home / "cache" / "models", names)
        before = unjudged()
        made = run(page, given, home / "out", "paper")
        record(page, made.with_suffix(""))
        after = unjudged()
        assert {name for name in before ^ after if not name.startswith(paper)} == set()
        outputs = [out for cell in nbformat.read(made, 4).cells for out in cell.get("outputs", [])]
        return "\n".join(out["data"].get("text/markdown", "") for out in outputs), before - after

    return go


@pytest.mark.parametrize("paper", STUDIES)
def test_the_profile_asks_every_model_of_the_paper_on_every_page_that_asks_models(paper):
    own = [page for page in pages("lab") if page.startswith(STUDIES[paper])]
    own = [page for page in own if "models" in complete(page, {}, "lab")]
    assert own and [page for page in own if "paper" not in studies()[page]["profiles"]] == []
    for page in own:
        values = complete(page, {}, "paper")
        asked = [*values["models"], *values.get("chinese", [])]
        theirs = paper_models.of_paper(paper)
        assert len(theirs) == ALL[paper]
        if page == "34_marks":  # which has English texts alone
            theirs = [name for name in theirs if registry()[name].language == "en"]
        assert sorted(asked) == sorted(theirs), page
        assert (values["dtype"], values["device_map"], values["device"]) == ("auto", "", "auto")


def probes(home: Path) -> list[dict[str, str]]:
    """Small sets by template and in natural sentences, and by a biomedical template."""
    return [
        paper_models.written(home, "demo/template", "google_re/template"),
        paper_models.written(home, "demo/natural", "google_re/natural"),
        paper_models.written(home, "demo_bio/template", "biolama/ctd", "biomedical"),
        paper_models.written(home, "demo_bio/template", "biolama/wikidata", "biomedical", facts=30),
    ]


def test_study_1_ranks_its_models(home, ran):
    said, _ = ran("13_rankings", "001", models=LEADERS, probes=probes(home))
    judged, _, not_judged = said.partition("Claims that no run here decides, and why")
    assert "001-05e" in judged and not_judged


def test_study_1_compares_sizes(home, ran):
    _, judged = ran("18_vocabulary", "001", models=PAIRS, probes=probes(home), texts=20)
    assert judged >= {"001-08b", "001-08c", "001-08d", "001-08e"}  # others are of what was recorded


def test_study_1_stands_beside_table_6(home, ran):
    names = ("biolama/ctd", "biolama/wikidata")  # of facts that the networks know
    known = [paper_models.written(home, "demo/template", name, "biomedical") for name in names]
    lent = {name: ["demo_bio/template"] for name in names}
    said, _ = ran("17_entities", "001", models=LEADERS, probes=known, enlarge=lent)
    assert "Table 6 model by model" in said
    cells = (home / "out" / "17_entities" / "model_by_model.csv").read_text("utf-8").splitlines()
    assert len(cells) == 1 + len(LEADERS) * 2 * 3 and cells[0].startswith("model,data,k,printed_before,printed_after,")


def test_study_2_compares_pairs_and_stands_beside_tables_2_and_3(home, ran):
    """Models by the domain of their text are judged; what the paper prints stands below its models' rows."""
    source = demo_contexts("biomedical")
    facts, texts = home / "facts.jsonl", home / "articles.jsonl"
    facts.write_text(paper_models.lines(source.probe), "utf-8")
    rows = [{"text": one.text, "doc_id": one.doc_id, "subject": one.subject} for one in source.documents]
    texts.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    own = {"pmc": [str(facts), str(texts)]}
    small = {"triples": 22, "others": 2, "most": 3, "decoded": 0, "seeds": 0}
    said, judged = ran("22_ucm", "002", models=ASKED, sources=[], own=own, **small)
    assert judged == {"002-04i", "002-09a"}
    for name in ("BERT-base", "RoBERTa-large-PM-M3"):
        assert f"Paper: {name}" in said.replace("\\", "")
    cells = pd.read_csv(home / "out" / "22_ucm" / "table3.csv")[["source", "model"]].astype(str)
    for ours, theirs in (("biobert", "BioBERT"), ("roberta-base-pm", "RoBERTa")):
        place = cells.index[cells["model"] == ours][0]
        assert cells.loc[place + 1].tolist() == ["printed", theirs]


@pytest.mark.parametrize(
    ("page", "given", "tables"),
    [
        ("30_prediction", {}, ("paper, Table 4", "paper, Table 8")),
        (
            "33_perturbations",
            {"models": ["roberta-base"], "chinese": ["chinese-roberta-wwm-ext"], "methods": ["attention"]},
            ("Table 6", "Table 7", "Table 10", "Table 11"),
        ),
    ],
)
def test_study_3_stands_beside_its_tables(home, ran, page, given, tables):
    """What is said of the paper's own models is printed beside ours, not judged."""
    said, judged = ran(page, "003", **given)
    assert judged == set()
    assert [table for table in tables if table not in said] == []


def test_study_4_stands_beside_table_1(home, ran):
    """By written templates and the lexicon of the demo world no number is on the paper's scale."""
    said, judged = ran("41_hurtfulness", "004", models=KINDS, templates="demo", k=2, released=False, unidecode=[])
    assert judged == set() and "llama2" in said and "{admonition} Demo world" in said
    assert set(recorded_tables("41_hurtfulness")["own"]["model"]) == set(KINDS)
