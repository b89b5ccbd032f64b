"""Runs and pages, on a small report of our own: parameters, failure, escaping, equal bytes, provenance."""

import inspect
import json
import logging
import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from pkgutil import resolve_name

import nbformat
import pandas as pd
import pytest
from conftest import saved
from hypothesis import given
from hypothesis import strategies as st

import probekit as pk
from probekit import cli
from probekit.errors import ReportError
from probekit.files import alone
from probekit.paths import root
from probekit.probes.registry import PROBES, home_of
from probekit.report import book, interval
from probekit.report.book import PLACES
from probekit.report.fingerprint import code, files, page_hash
from probekit.report.markup import Markup, escape
from probekit.report.outcomes import read_outcomes
from probekit.report.page import Page
from probekit.report.provenance import provenance
from probekit.report.recording import record, recorded_manifest, recorded_ranks, recorded_tables
from probekit.report.run import absolute_paths, run
from probekit.report.sentences import sentence
from probekit.report.sources import complete, load_source, pages, parameters
from probekit.report.text import shown_name

ROOT = Path(__file__).parents[3]
NOTEBOOK = """# %% [markdown]
# # A study

# %% tags=["parameters"]
count: int = 3  # rows
share: float = 0.5  # a share
names: list = ["a"]  # names
loud: bool = False  # whether to fail
recorded: bool = False  # show what was recorded
out: str = "01_study"  # folder

# %%
import os
import pandas as pd
from probekit.report import Page, new_figure
page = Page("01_study", globals())
if loud:
    raise ValueError("as asked")
data = os.environ.get("PROBEKIT_DATA", "none")
tables = page.tables(lambda: {"rows": pd.DataFrame({"name": names * count, "data": [data] * count})}, {"rows": "Rows"})
page.table(tables["rows"], "shown", "Rows")
figure, (ax,) = new_figure()
ax.plot([0, share])
page.figure(figure, "line", "A line", "A line that rises")
page.close()
"""


@pytest.fixture
def home(report):
    return report(NOTEBOOK, "{demo: , recorded: , lab: {count: 2, names: [b]}}")


def test_parameters_are_read_with_type_and_help(home):
    assert parameters("01_study")["count"] == {"type": "int", "default": 3, "help": "rows"}
    assert complete("01_study", {"share": 1}, "lab") == {
        "count": 2, "share": 1, "names": ["b"], "loud": False, "recorded": False, "out": "01_study",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "given", "profile", "message"),
    [
        ("x", {}, "demo", "no study 'x'; there are 01_study"),
        ("01_study", {"cuont": 3}, "demo", r"no parameter 'cuont' \(is 'count' meant\?\); it has count, share"),
        ("01_study", {"count": "3"}, "demo", "count must be of type int, not str"),
        ("01_study", {"count": True}, "demo", "count must be of type int, not bool"),
        ("01_study", {"names": "a"}, "demo", "names must be of type list"),
        ("01_study", {}, "moon", "no profile 'moon'; it has demo, recorded, lab"),
    ],
)
def test_wrong_parameters_are_refused_before_anything_runs(home, name, given, profile, message):
    with pytest.raises(ReportError, match=message):
        run(name, given, home / "out", profile)
    assert not (home / "out").exists()


@pytest.mark.slow
def test_a_run_leaves_a_page_its_tables_and_nothing_else(home, monkeypatch):
    monkeypatch.setenv("PROBEKIT_DATA", "somewhere")
    page = run("01_study", {"count": 1}, home / "out", embedded=True)
    assert sorted(p.relative_to(home / "out").as_posix() for p in (home / "out").rglob("*")) == [
        "01_study", "01_study.ipynb", "01_study/.made.json", "01_study/line.svg", "01_study/manifest.json",
        "01_study/rows.csv", "01_study/shown.csv",
    ]  # fmt: skip
    assert (home / "out/01_study/rows.csv").read_text() == "name,data\na,none\n"  # no real data
    text = page.read_text()
    assert str(home) not in text and "papermill" not in text
    manifest = json.loads((home / "out/01_study/manifest.json").read_text())
    assert manifest["parameters"]["count"] == 1 and manifest["hash"] in text
    run("01_study", {"count": 1}, home / "out", "lab", force=True)
    assert (home / "out/01_study/rows.csv").read_text() == "name,data\nb,somewhere\n"


LOUD = """
import logging, sys, warnings
from pathlib import Path
readers = logging.getLogger("probekit.probes.lama")
readers.warning("no file for %d of the relations: %s", 1, "P17")
readers.warning("no file for %d of the relations: %s", 1, "P17")
readers.warning("%s breaks off", Path("/data/of/one/machine/a.xml"))
readers.warning("100% of it")
logging.getLogger("probekit.store").warning("damaged shard")
warnings.warn("a library warns")
print("a library prints")
"""


@pytest.mark.slow
def test_a_page_holds_no_console_text_and_tells_what_the_readers_warned_of(home, caplog):
    source = home / "notebooks" / "first" / "01_study.py"
    source.write_text(source.read_text().replace("if loud:", f"{LOUD}\nif loud:"))
    with caplog.at_level(logging.WARNING, "probekit.report.run"):
        page = run("01_study", {}, home / "out")
    outputs = [out for cell in nbformat.read(page, 4).cells for out in cell.get("outputs", [])]
    assert {out["output_type"] for out in outputs} == {"display_data"}
    for text in ("damaged shard", "a library warns", "a library prints"):
        assert text in caplog.text
    assert "no file" not in caplog.text
    messages = json.loads((home / "out/01_study/manifest.json").read_text())["messages"]
    assert messages == ["no file for 1 of the relations: P17", "a.xml breaks off", "100% of it"]
    assert "| Warning | no file for 1 of the relations\\: P17 |" in outputs[-1]["data"]["text/markdown"]


def test_the_hash_follows_notebook_parameters_and_inputs(home):
    first = page_hash("01_study", {"count": 1})
    assert page_hash("01_study", {"count": 2}) != first
    (home / "studies.yml").write_text("01_study:\n  inputs: [data]\n  profiles:\n    demo:\n")
    (home / "data" / "deep").mkdir(parents=True)
    (home / "data" / "deep" / "x.csv").write_text("1")
    with_input = page_hash("01_study", {"count": 1})
    (home / "data" / "deep" / "x.csv").write_text("2")
    changed = page_hash("01_study", {"count": 1})
    assert len({first, with_input, changed}) == 3
    (home / "data" / "deep" / ".lock").touch()
    assert page_hash("01_study", {"count": 1}) == changed
    source = home / "notebooks" / "first" / "01_study.py"
    source.write_text(source.read_text() + "\n# more\n")
    assert page_hash("01_study", {"count": 1}) not in (first, with_input)


def test_the_hash_follows_the_version_of_a_library_and_not_its_build(home, monkeypatch):
    found = []
    for told in ("2.13.0", "2.13.0+cpu", "2.13.1"):
        monkeypatch.setattr("probekit.report.fingerprint.version", lambda _, told=told: told)
        found.append(page_hash("01_study", {"count": 1}))
    assert found[0] == found[1] != found[2]


def imported(tmp_path, text):
    (tmp_path / "n.py").write_text(text)
    return {str(path).rpartition("/probekit/")[2] for path in files(tmp_path / "n.py")}


def test_files_are_followed_through_imports_and_not_whole_packages(tmp_path):
    found = imported(tmp_path, "import probekit as pk\npk.metrics.accuracy_at_k([1], 1)\n")
    assert "metrics/ranking.py" in found and not any(name.startswith("report") for name in found)
    found = imported(tmp_path, "from probekit.metrics import accuracy_at_k\n")
    assert found == {"metrics/ranking.py"}
    found = imported(tmp_path, "import probekit as pk\npk.rank_entities\n")
    assert {"scoring/rank.py", "store.py", "probes/probe.py"} <= found and "report/page.py" not in found
    assert "metrics/ranking.py" in imported(tmp_path, "HOME = 'probekit.metrics.ranking:accuracy_at_k'\n")


STUDY_3 = {"30_prediction", "31_saliency", "32_rationale_length", "33_perturbations", "34_marks", "39_own_tables"}
LEDGER = {"00_start", "90_claims"}  # conclusions of all pages are made anew on these


@pytest.fixture(scope="module")
def resting_on():
    """File of ours -> pages that its words make stale, in either profile of the book."""
    asked = [(name, profile) for profile in PLACES for name in pages(profile)]
    sources = [(name, set(code(name, complete(name, {}, profile)))) for name, profile in asked]
    return lambda module: {name for name, rests_on in sources if root() / module in rests_on}


@pytest.mark.parametrize(
    ("module", "stale"),
    [
        ("notebooks/contexts/ucm.py", {"22_ucm"} | LEDGER),
        ("probekit/probes/bear.py", {"11_datasets", "12_accuracy", "24_biases"} | STUDY_3 | LEDGER),
        ("probekit/scoring/saliency/gradients.py", STUDY_3 | LEDGER),
        ("probekit/report/compare.py", {"92_trust", "93_precision", "94_compare"} | LEDGER),
        ("probekit/__init__.py", set()),
    ],
)
def test_a_word_makes_the_pages_stale_that_use_it_and_no_other(resting_on, module, stale):
    assert resting_on(module) == stale


def test_what_decides_a_number_makes_its_page_stale(resting_on, tmp_path):
    assert {f"1{n}_" for n in range(2, 9)} <= {name[:3] for name in resting_on("probekit/scoring/rank.py")}
    given, folder = complete("12_accuracy", {}), tmp_path / "own"
    folder.mkdir()
    (folder / "metadata_relations.json").touch()
    bear, zoo = (root() / "probekit" / place for place in ("probes/bear.py", "demo/shipped.py"))
    assert bear not in code("12_accuracy", given) and zoo not in code("91_printed", {})
    for named in ({"probes": ["bear"]}, {"limits": {"bear": 3}}, {"probes": [{"path": str(folder)}]}):
        assert bear in code("12_accuracy", given | named)
    assert zoo in code("91_printed", {"models": ["zoo/bert-tiny"]})


def test_the_loader_of_every_probe_on_a_page_is_part_of_its_hash():
    seen = set()
    for name in pages("demo"):
        made, sources = root() / "book/studies/demo" / name / "manifest.json", code(name, complete(name, {}))
        for probe in set(json.loads(made.read_text("utf-8"))["probes"]) & set(PROBES):
            loader = resolve_name(home_of(probe))
            assert Path(inspect.getsourcefile(loader)) in sources, (name, probe)
            seen.add(probe)
    assert len(seen) >= 4


@pytest.mark.slow
@pytest.mark.parametrize("engine", [["--engine", "probekit"], []])
def test_papermill_alone_runs_the_same_source(home, engine):
    """Its own engine makes a page of the same outputs; by ours there is no time in it either."""
    (home / "x.dist-info").mkdir()
    (home / "x.dist-info" / "entry_points.txt").write_text(
        "[papermill.engine]\nprobekit = probekit.report.engine:PageEngine\n"
    )
    nbformat.write(load_source("01_study"), home / "n.ipynb")
    command = ["papermill", "n.ipynb", "01_study.ipynb", "-p", "count", "2", "-p", "out", "01_study", "-k", "python3"]
    paths = os.pathsep.join([str(home), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": paths, "SOURCE_DATE_EPOCH": "0"}
    subprocess.run(
        [sys.executable, "-m", *command, *engine], check=True, cwd=home, capture_output=True, env=environment
    )
    ours, raw = run("01_study", {"count": 2}, home / "o"), home / "01_study.ipynb"
    made = [sorted(file.read_bytes() for file in place.glob("01_study/[!.]*")) for place in (home, home / "o")]
    assert len(made[0]) > 2 and made[0] == made[1]
    pages = [nbformat.read(path, 4) for path in (raw, ours)]
    outputs = [[cell["outputs"] for cell in page.cells if cell.cell_type == "code"] for page in pages]
    assert outputs[0] == outputs[1]
    assert ("papermill" not in raw.read_text()) == bool(engine)


@pytest.mark.slow
def test_a_recorded_run_is_shown_again_without_computing(home):
    assert recorded_tables("01_study") == {} and recorded_manifest("01_study") == {}
    run("01_study", {"count": 1}, home / "out", "lab")
    place = record("01_study", home / "out/01_study")
    assert sorted(p.name for p in place.iterdir()) == ["manifest.json", "rows.csv"]  # not what shows them again
    (place / "rows.csv").write_text("name,data\nfrom the record,1\n")
    page = run("01_study", {}, home / "shown", "recorded")
    assert (home / "shown/01_study/shown.csv").read_text() == "name,data\nfrom the record,1\n"
    manifest = json.loads((home / "shown/01_study/manifest.json").read_text())
    assert manifest["parameters"]["names"] == ["b"] and manifest["recorded"]["parameters"]["count"] == 1
    assert manifest["recorded"]["hash"] in page.read_text() and manifest["hash"] != manifest["recorded"]["hash"]
    with pytest.raises(ReportError, match="shows what was recorded, whatever is given for count: give a profile"):
        run("01_study", {"count": 2}, home / "other", "recorded")
    with pytest.raises(ReportError, match="record a run that computes"):
        record("01_study", home / "shown/01_study")


def test_what_was_recorded_is_part_of_the_hash_of_the_page_that_shows_it(home):
    before = page_hash("01_study", {"recorded": True}), page_hash("01_study", {"recorded": False})
    (home / "book/recorded/01_study").mkdir(parents=True)
    (home / "book/recorded/01_study/rows.csv").write_text("a\n1\n")
    assert page_hash("01_study", {"recorded": True}) != before[0]
    assert page_hash("01_study", {"recorded": False}) == before[1]


def test_the_command_line_says_what_is_wrong_in_one_line(home, capsys):
    assert cli.main(["run", "01_study", "-p", "count=many", "--out", str(home / "o")]) == 1
    assert capsys.readouterr().err == "probekit: 01_study: parameter count must be of type int, not str ('many')\n"
    for name, said in (("01_stduy", "'01_stduy' (is '01_study' meant?)"), ("01", "'01' (is '01_study' meant?)")):
        assert cli.main(["run", name]) == 1, "no folder is named before"
        assert capsys.readouterr().err == f"probekit: no study {said}; there are 01_study\n"
    assert cli.main(["list", "studies"]) == 0
    assert "count: int = 3  # rows" in capsys.readouterr().out


def test_a_probe_that_breaks_a_rule_is_refused_by_its_path_before_a_kernel_starts(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("probekit.report.run.execute", lambda *_: pytest.fail("a kernel starts"))
    Path("two.jsonl").write_text('{"text": "[MASK] is in [MASK].", "gold": "x"}\n')
    for name, said in (
        ("two.jsonl", f"{tmp_path}/two.jsonl, line 1 "),
        ("two", "no probe 'two' (is 'two.jsonl' meant?)"),
    ):
        assert cli.main(["run", "12_accuracy", "-p", f"probes=[{name}]", "--out", "o"]) == 1
        assert capsys.readouterr().err.startswith(f"probekit: {said}")
    assert not Path("o").exists()


def test_a_warning_is_written_once(monkeypatch, capsys):
    monkeypatch.setattr(logging.root, "handlers", [])
    for _ in range(2):
        cli.main(["plan", "12_accuracy", "--rate", "0"])
        logging.getLogger("probekit.probes.lama").warning("no file for %d of the relations", 1)
    assert capsys.readouterr().err.count("WARNING: no file for 1 of the relations") == 1


def test_the_package_runs_as_a_module():
    command = [sys.executable, "-m", "probekit", "--version"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == pk.__version__


def test_of_two_books_at_once_in_one_checkout_the_second_is_refused(home, capsys, monkeypatch):
    monkeypatch.setattr("probekit.report.book.made", lambda: pytest.fail("the second went on"))
    script = "import sys, time; from pathlib import Path; from probekit.files import alone\n"
    script += "with alone(Path(sys.argv[1]), 'the book'):\n    print('at work', flush=True)\n    time.sleep(100)"
    with subprocess.Popen([sys.executable, "-c", script, home / "_build"], stdout=subprocess.PIPE) as first:
        first.stdout.readline()
        assert cli.main(["book"]) == 1
        first.kill()
    assert f"another process makes the book in {home / '_build'}: let it end" in capsys.readouterr().err
    with alone(home / "_build", "the book"):  # what was killed holds nothing
        assert [path.name for path in (home / "_build").iterdir()] == [".lock"]


def test_a_missing_extra_is_named_in_one_line(home, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "papermill", None)
    assert cli.main(["run", "01_study", "--out", str(home / "o")]) == 1
    assert capsys.readouterr().err == "probekit: this needs papermill: pip install 'probekit[book]'\n"


@pytest.mark.parametrize("what", ["models", "probes"])
def test_lists_name_everything(what, capsys):
    assert cli.main(["list", what]) == 0
    text = capsys.readouterr().out
    assert cli.main(["-v", "list", what, "--json"]) == 0
    assert all(row["name"] in text for row in json.loads(capsys.readouterr().out))
    names = {"models": ["pubmedbert", "vicuna-33b", "zoo/bert-tiny"], "probes": ["trex/natural", "squad"]}[what]
    assert all(name in text for name in names)


@pytest.fixture
def page(home, tmp_path, monkeypatch):
    """A page, and what it displays as (MyST, HTML)."""
    shown = []
    monkeypatch.setattr("probekit.report.page._display", lambda markdown, html: shown.append((markdown, html)))
    given = {"count": 1, "share": 0.5, "names": [], "loud": False, "recorded": False, "out": str(tmp_path / "t")}
    made = Page("01_study", given)
    made.shown = shown
    return made


def test_an_answer_is_shown_where_it_holds(page, monkeypatch, caplog):
    text = "Of {count} facts {model} finds {share}."
    page.answer(sentence(text, count=1200, model="a<b>", share=0.25))
    assert page.shown[-1][0] == "**The answer.** Of 1,200 facts a\\<b\\> finds 0.250\\."
    page.answer("Braces {stay} where there is no slot.")
    assert "{stay}" in page.shown[-1][1] and len(page.shown) == 2
    page.recorded = True
    false = sentence(text, holds=False, count=2, model="b", share=0.5)
    page.answer(false)
    assert "01_study: the sentence does not hold: Of 2 facts b finds 0.500.; left out" in caplog.text
    monkeypatch.setenv("PROBEKIT_STRICT", "1")
    with pytest.raises(ReportError, match="01_study: the sentence does not hold: Of 2 facts b finds"):
        page.say(false)
    page.recorded = False
    page.say(false, "And more.", sentence(Markup("Of {share:.0%} in {name}, *all*."), share=0.254, name="*a*"))
    assert page.shown[2][0] == "And more\\. Of 25\\% in \\*a\\*, *all*." and len(page.shown) == 3  # a reader's own run


def test_a_kept_page_with_a_false_sentence_ends_a_strict_book(page, home, monkeypatch):
    runs = []

    def ran(name, given, folder, profile, embedded):
        runs.append(profile)
        shutil.copytree(page.out, folder / name)
        (folder / f"{name}.ipynb").write_text("{}")

    page.recorded = True
    page.answer(sentence("More than {all}.", holds=False, all=1))
    page.close()
    monkeypatch.setattr(book, "run", ran)
    book.page("01_study", "demo")
    monkeypatch.setenv("PROBEKIT_STRICT", "1")
    with pytest.raises(ReportError, match=r"01_study: the sentence does not hold: More than 1\.; write another one"):
        book.page("01_study", "demo")
    assert runs == ["demo"]


def test_tables_are_kept_at_full_precision_and_read_back_as_a_recorded_run_would_be(page):
    third = 1 / 3
    captions = {"b": "Second", "c": "Third"}
    tables = page.tables(lambda: {"b": pd.DataFrame({"x": [third], "y": [""]})}, captions)
    assert tables["b"].to_dict("records") == [{"x": third, "y": ""}] and tables["c"].empty
    assert (page.out / "b.csv").read_text() == f"x,y\n{third!r},\n" and not (page.out / "c.csv").exists()
    assert page.manifest["tables"] == ["b"]
    with pytest.raises(ReportError, match="table 'd' has no caption"):
        page.tables(lambda: {"d": pd.DataFrame({"x": [1]})}, captions)


ASKED = {
    "model": ["m"],
    "probe": ["p"],
    "prompt_id": ["0"],
    "asked": ["It is [MASK]."],
    "gold": [["here"]],
    "rank": [2],
}


def test_what_was_asked_is_kept_beside_the_page_linked_and_recorded_without_texts(page, home, tmp_path):
    page.prompts.add("rank", pd.DataFrame(ASKED))
    page.keep(pd.DataFrame({"x": [1, 2]}), "t", "Two rows")
    page.close()
    assert read_outcomes(page.out)["asked"].tolist() == ["It is [MASK]."]
    link, tables, making = (markdown for markdown, _ in page.shown)
    assert link == '<a href="../explorer.html#01_study/ranks">Prompt by prompt</a>'
    assert "| 1 | {download}`PARQUET <t/ranks.parquet>` |" in tables
    assert "| Two rows | 2 | {download}`CSV <t/t.csv>` |" in tables and 'href="../explorer.html#01_study/t"' in tables
    assert "Page hash" in making and "Make it again" in making and "manifest.json" in making
    manifest = json.loads((page.out / "manifest.json").read_text())
    assert manifest["captions"]["ranks"].startswith("Prompt by prompt") and "ranks" not in manifest["tables"]
    record("01_study", page.out)
    bare = read_outcomes(kept := recorded_ranks("01_study"))
    assert bare["asked"].isna().all() and bare["gold"].isna().all() and bare["rank"].tolist() == [2]
    shows = Page("01_study", page.parameters | {"recorded": True, "out": str(tmp_path / "again")})
    shows.close()
    assert (shows.out / "ranks.parquet").read_bytes() == kept.read_bytes()


def test_recorded_ranks_are_kept_once_and_go_with_the_last_page_that_names_them(page, home):
    def ranks():
        return {path.stem for path in (home / "book/recorded/ranks").iterdir() if path.suffix in (".parquet", ".part")}

    page.prompts.add("rank", pd.DataFrame(ASKED))
    page.close()
    place = record("01_study", page.out)
    first = recorded_ranks("01_study").stem
    (home / "book/recorded/ranks/.unfinished.part").touch()  # of a recording that was killed
    (home / "book/recorded/ranks/no_manifest_has_it.parquet").touch()
    (home / "book/recorded/ranks/README.md").mkdir()  # not ours, whatever it is
    record("01_study", page.out)
    assert ranks() == {first}
    shutil.copytree(place, place.with_name("02_other"))
    page.prompts.add("rank", pd.DataFrame(ASKED))
    page.prompts.write(page.out / "ranks.parquet")
    record("01_study", page.out)
    second = recorded_ranks("01_study").stem
    assert ranks() == {first, second} and recorded_ranks("02_other").stem == first
    shutil.rmtree(place.with_name("02_other"))
    (page.out / "ranks.parquet").unlink()
    record("01_study", page.out)
    assert ranks() == set() and recorded_ranks("01_study") is None


def test_recorded_ranks_that_are_gone_are_missed(page, tmp_path):
    page.prompts.add("rank", pd.DataFrame(ASKED))
    page.close()
    record("01_study", page.out)
    recorded_ranks("01_study").unlink()
    with pytest.raises(ReportError, match=r"recorded with .*\.parquet, which is not there: restore it, or record"):
        Page("01_study", page.parameters | {"recorded": True, "out": str(tmp_path / "again")}).close()


def test_a_page_that_asked_nothing_says_nothing_of_prompts(page):
    page.prompts.add("rank", pd.DataFrame(ASKED))
    page._forget()  # a model failed after it had answered
    page.close()
    assert not (page.out / "ranks.parquet").exists()
    assert not any("Prompt by prompt" in (markdown or "") for markdown, _ in page.shown)


def test_a_written_interval_is_no_number(page):
    with pytest.raises(ReportError, match="column 'x' of t holds written intervals"):
        page.keep(pd.DataFrame({"x": [interval(0.5, 0.25, 0.75)]}), "t", "T")


def test_a_page_says_what_computed_its_scores_and_what_rendered_them(page):
    model, probe = pk.load_model("zoo/bert-tiny"), pk.load_probe("demo/natural", limit=3)
    page.used(model)
    page.models["never asked"] = {"fingerprint": "x"}
    pk.rank_entities(model, probe, store=pk.Store())
    (scored,) = page.manifest["models"][model.name]["scored"]
    assert scored == {"device": "cpu", "dtype": "float32"} | {
        name: version(name) for name in ("torch", "transformers", "tokenizers")
    }
    page.close()
    text = page.shown[-1][0]
    assert f"computed on cpu in float32 with tokenizers {version('tokenizers')}" in text.replace("\\", "")
    assert "| Rendered with | probekit" in text and "Scores of never asked" not in text


def test_results_that_do_not_say_what_computed_them_are_told_of():
    by = {"device": "cuda (A GPU)", "dtype": "bfloat16", "torch": "1"}
    past = {"hash": "h", "parameters": {}, "probes": {}, "runs": {}, "versions": {"torch": "1"}}
    past["models"] = {"old": {"device": "cpu"}, "mixed": {"scored": [by, {}]}}
    text = provenance({"study": "s", "hash": "h", "recorded": past, "versions": {"torch": "2"}}, "T", Markup("L"))
    assert "| Scores of old | what computed them was not recorded |" in text
    told = "computed on cuda (A GPU) in bfloat16 with torch 1; what computed them was not recorded"
    assert f"| Scores of mixed | {told} |" in text.replace("\\", "")
    assert "| Recorded with | torch 1 |" in text and "| Rendered with | torch 2 |" in text


def test_a_registered_name_is_no_folder_here(tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    for name in ("gpt2", "mine"):
        (tmp_path / name).mkdir()
    assert absolute_paths(["gpt2", "./gpt2", "mine"]) == ["gpt2", str(tmp_path / "gpt2"), str(tmp_path / "mine")]
    assert "gpt2 is the registered model here; for the folder of that name write ./gpt2" in caplog.text


def test_numbers_of_the_demo_world_stand_under_a_banner_and_beside_no_claim(page):
    page.models["zoo/bert-tiny"] = {}
    page.tables(dict, {})
    page.findings()
    assert page.demo and "{admonition} Demo world" in page.shown[0][0] and "claims stand on" in page.shown[1][0]


@given(st.text())
def test_escaped_text_is_one_line_and_loses_no_letter(text):
    escaped = escape(text)
    assert "\n" not in escaped and "\r" not in escaped
    assert escaped.replace("\\", "") == "".join(
        c if c.isprintable() or c == "\N{NO-BREAK SPACE}" else " " for c in text
    ).replace("\\", "")


def test_names_on_pages_hold_no_folders(tmp_path):
    assert shown_name(str(tmp_path)) == tmp_path.name and shown_name("org/model") == "org/model"
    assert shown_name("`<b>a\n") == "'<b>a "


def test_pages_of_different_studies_are_made_side_by_side(monkeypatch):
    monkeypatch.setattr(book, "pages", lambda profile: ["10_a", "11_b", "12_d", "20_c", "90_e"])
    monkeypatch.setattr(book, "on_each_core", lambda make, wanted, *about: [Path(name) for name, _ in wanted])
    order = [folder.name for profile, folder in book.made() if profile == "demo"]
    assert order[::-1] == ["10_a", "20_c", "90_e", "11_b", "12_d"]


@pytest.mark.parametrize("before", ["", "import notebooks.mine; "], ids=["on the path", "imported"])
def test_a_package_of_the_users_does_not_hide_the_analysis(tmp_path, before):
    (tmp_path / "notebooks" / "templates").mkdir(parents=True)
    for name in ("__init__.py", "mine.py", "templates/__init__.py"):
        (tmp_path / "notebooks" / name).touch()
    script = (
        f"{before}import probekit.report, notebooks.mine; import notebooks.templates.accuracy as a; print(a.__file__)"
    )
    paths = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": paths}, cwd=tmp_path, capture_output=True
    )
    assert done.stdout.decode().strip() == str(ROOT / "notebooks" / "templates" / "accuracy.py"), done.stderr.decode()


ASKING = """# %% tags=["parameters"]
models: list = []  # asked
out: str = "01_study"  # folder

# %%
import pandas as pd
from probekit import load_model, load_probe, rank_entities
from probekit.report import Page
from probekit.store import Store
page = Page("01_study", globals())
model, probe = load_model(models[0]), load_probe("demo/template", limit=8)
page.used(model, probe)
tables = page.tables(lambda: {"rows": rank_entities(model, probe, store=Store()).drop(columns=["top", "top_scores"])},
                     {"rows": "Ranks"})
page.table(tables["rows"], "shown", "Ranks")
page.close()
"""


@pytest.mark.slow
def test_a_finished_page_has_the_same_bytes_without_the_weights(report, tmp_path):
    report(ASKING)
    given = {"models": [str(saved(tmp_path / "mine"))]}
    run("01_study", given, tmp_path / "first")
    (tmp_path / "mine" / "model.safetensors").unlink()
    run("01_study", given, tmp_path / "again")
    pages = [
        {p.relative_to(tmp_path / name): p.read_bytes() for p in (tmp_path / name).rglob("*") if p.is_file()}
        for name in ("first", "again")
    ]
    assert pages[0] == pages[1] and len(pages[0]) >= 3
