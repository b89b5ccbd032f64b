"""The README does what it says: its Python runs, and the files it points to are there."""

import ast
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

import probekit as pk
from probekit.cli import _parser

ROOT = Path(__file__).parents[2]


def fenced(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text("utf-8"), re.DOTALL | re.MULTILINE)


def test_the_python_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (data,) = fenced("README.md", "json")
    (tmp_path / "my_probe.jsonl").write_text(data, "utf-8")
    names: dict[str, Any] = {}
    blocks = fenced("README.md", "python")
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert len(names["ranks"]) == len(names["probe"].prompts)
    assert len(names["mine"].prompts) == 2
    assert "Interval(estimate=" in capsys.readouterr().out


@pytest.mark.parametrize("page", ["README.md", "book/your_data.md"])
def test_the_first_question_has_a_sensible_answer(page):
    (first,) = re.findall(r'^probekit ask "(.+)" --model (\S+)$', (ROOT / page).read_text("utf-8"), re.MULTILINE)
    assert pk.ask(first[1], first[0], top=1)["answer"].item() == "printer"


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_every_relative_link_leads_to_a_file(page):
    prose = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    targets = re.findall(r"\]\(([^)\s]+)\)", prose)
    local = [t.partition("#")[0] for t in targets if not re.match(r"[a-z]+:|#", t)]
    assert local, f"no links found in {page}: does the pattern still fit?"
    assert [t for t in local if not (ROOT / t).exists()] == []


def said_anywhere() -> str:
    """Every text of the package and of the studies, a line each; what is filled in later is three dots."""
    texts = []
    for path in [*(ROOT / "probekit").rglob("*.py"), *(ROOT / "notebooks").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                texts.append("".join(str(p.value) if isinstance(p, ast.Constant) else "..." for p in node.values))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.append(node.value)
    return "\n".join(texts)


def test_every_message_of_the_table_of_errors_is_one_that_can_be_met():
    table = (ROOT / "book" / "rerun.md").read_text("utf-8").partition("## If you see this")[2]
    messages = [
        message for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for message in row.split("`")[1::2]
    ]
    assert len(messages) > 40
    every = said_anywhere()
    assert [message for message in messages if re.sub(r"'\.\.\.'|\[MASK\]", "...", message) not in every] == []


def test_the_records_with_rationales_that_are_shown_can_be_read(tmp_path):
    from probekit.probes.rationales.record import RationaleSet

    (data,) = [block for block in fenced("book/make.md", "json") if "rationales" in block]
    (tmp_path / "mine.jsonl").write_text(data, "utf-8")
    assert len(RationaleSet.from_file(tmp_path / "mine.jsonl").items) == 2


def test_an_index_of_documents_is_built_and_asked_as_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (block,) = [block for block in fenced("book/run_page.md", "python") if "build_index" in block]
    exec(compile(block, "run_page.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == ["{'documents': 2}", "[('Tarn', 'Velna Osk grew up in Tarn.')]"]


def test_two_probes_are_compared_fact_by_fact_as_shown(capsys):
    (block,) = [block for block in fenced("book/run_page.md", "python") if "paired_hits" in block]
    probes = {name: pk.load_probe(f"demo/{name}", limit=20) for name in ("natural", "template")}
    names = {"pk": pk, "model": pk.load_model("zoo/bert-tiny")}
    exec(compile(block, "run_page.md", "exec"), names | {"first": probes["natural"], "second": probes["template"]})
    assert "'facts': 20" in capsys.readouterr().out


def test_the_columns_of_outcomes_are_listed_as_they_are():
    from probekit.report.outcomes import COLUMNS

    text = (ROOT / "book" / "results.md").read_text("utf-8")
    table = text.partition("| Column | Type | Meaning |\n")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[1:]]
    assert [(name.strip("`"), told) for name, _, told in rows] == [(name, told) for name, (_, told) in COLUMNS.items()]
    assert {kind for _, kind, _ in rows} == {
        *("text", "whole number", "number", "yes or no"),
        *("list of text", "list of number", "list of yes or no"),
    }


def test_workers_may_use_all_memory_since_a_share_of_it_by_cores_holds_no_model():
    parse = pytest.importorskip("distributed.cli.dask_worker").main.make_context
    text = (ROOT / "book" / "cluster.md").read_text("utf-8").replace("\\\n", " ")
    commands = re.findall(r"dask worker (tcp://[^\n\"&]*(?:\"GPU=1\")?)", text)
    assert len(commands) == 3
    for command in commands:
        assert parse("worker", shlex.split(command)).params["memory_limit"] == "0", command


def test_the_manifest_of_kubernetes_fits_together_and_runs_commands_that_there_are():
    worker = pytest.importorskip("distributed.cli.dask_worker").main
    scheduler = pytest.importorskip("distributed.cli.dask_scheduler").main
    kinds: dict[str, dict[str, Any]] = {}
    for each in yaml.safe_load_all((ROOT / "book" / "kubernetes.yml").read_text("utf-8")):
        kinds.setdefault(each["kind"], {})[each["metadata"]["name"]] = each["spec"]
    pods = {name: spec["template"]["spec"] for kind in ("Deployment", "Job") for name, spec in kinds[kind].items()}
    commands = {name: pod["containers"][0]["command"] for name, pod in pods.items()}
    parsed = _parser().parse_args(commands["run"][1:])
    assert (parsed.profile, parsed.cluster) == ("paper", "tcp://scheduler:8786")
    asked = scheduler.make_context("scheduler", commands["scheduler"][2:])
    assert asked.params["port"] == "8786" and "scheduler" in kinds["Service"]
    asked = worker.make_context("worker", commands["workers"][2:])
    assert (asked.params["scheduler"], asked.params["nthreads"]) == ("tcp://scheduler:8786", 1)
    assert asked.params["memory_limit"] == "0"
    for name, pod in pods.items():
        (volume,) = pod["volumes"]
        (container,) = pod["containers"]
        assert volume["persistentVolumeClaim"]["claimName"] in kinds["PersistentVolumeClaim"], name
        assert container["volumeMounts"] == [{"name": volume["name"], "mountPath": "/shared"}], name
        given = {variable["name"]: variable["value"] for variable in container["env"]}
        assert given.pop("PROBEKIT_CACHE") == "/shared/cache"
        assert given == ({"HF_HOME": "/shared/huggingface"} if name != "scheduler" else {}), name
        assert pod["securityContext"]["fsGroup"] == 1000 and container["command"][0].startswith(".venv/bin/")
    recipe = (ROOT / "Dockerfile").read_text("utf-8")
    (argument,) = re.findall(r"--build-arg (\w+)=", (ROOT / "book/cluster.md").read_text("utf-8"))
    assert f"\nARG {argument}=" in recipe and f"\nENV PIP_EXTRA_INDEX_URL=${argument}\n" in recipe
    for spec in kinds["Deployment"].values():
        assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
    assert kinds["Service"]["scheduler"]["selector"] == kinds["Deployment"]["scheduler"]["selector"]["matchLabels"]
