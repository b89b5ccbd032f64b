"""What is handed out: a wheel that carries the report and runs anywhere, and an archive that makes the same one."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Sequence
from email import message_from_bytes
from pathlib import Path

import pytest
import yaml

from probekit import __version__, cli, paths
from probekit.report.fingerprint import page_hash

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
LEFT = shutil.ignore_patterns(".*", "_build", "build", "dist", "*.egg-info", "__pycache__", "papers")
BUILD = "import sys; from setuptools import build_meta as b; getattr(b, 'build_' + sys.argv[1])(sys.argv[2])"


def built(kind: str, source: Path, out: Path) -> Path:
    out.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", BUILD, kind, out], cwd=source, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (made,) = out.iterdir()
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made from a copy of the checkout, for setuptools writes beside what it reads."""
    place = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, place / "checkout", ignore=LEFT)
    stale = place / "checkout" / "build" / "lib" / "probekit" / "stale.py"
    stale.parent.mkdir(parents=True)
    stale.touch()
    return built("wheel", place / "checkout", place / "made")


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, unpacked as an installation is."""
    place = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
    return place


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def here(*parts: str) -> dict[str, bytes]:
    """The report's files of the checkout, without what Python, editors or runs left there."""
    files = [f for part in parts for f in (ROOT / part).rglob("*") if f.is_file()]
    names = {file.relative_to(ROOT).as_posix(): file for file in files}
    return {n: f.read_bytes() for n, f in names.items() if not re.search(r"(^|/)(\.|__pycache__|studies/)", n)}


def test_the_wheel_carries_the_report_once_and_nothing_beside_the_package(wheel):
    found = contents(wheel)
    assert {name.split("/")[0] for name in found} == {"probekit", "probekit-0.1.0.dist-info"}
    carried = {n.removeprefix("probekit/_report/"): d for n, d in found.items() if n.startswith("probekit/_report/")}
    executed = {n for n in carried if n.startswith("book/studies/")}
    assert executed == {f"book/studies/demo/{f.name}" for f in (ROOT / "book/studies/demo").glob("*.ipynb")} != set()
    names = ("studies.yml", "_config.yml", "_toc.yml", "CITATION.cff", "CHANGELOG.md")
    files = {name: (ROOT / name).read_bytes() for name in names}
    assert {n: d for n, d in carried.items() if n not in executed} == files | here("notebooks", "book")
    assert {"probekit/py.typed", "probekit/play/page.html", "probekit/play/play.css"} <= set(found)
    assert "probekit/stale.py" not in found
    assert wheel.stat().st_size < (16 << 20) + 30e6  # adapters are at most 30 MB


def test_the_source_archive_makes_the_same_wheel(wheel, tmp_path):
    shutil.copytree(ROOT, tmp_path / "checkout", ignore=LEFT)
    archive = built("sdist", tmp_path / "checkout", tmp_path / "archive")
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path / "unpacked", filter="data")
    (source,) = (tmp_path / "unpacked").iterdir()
    assert contents(built("wheel", source, tmp_path / "made")) == contents(wheel)
    for name in (
        "tests/unit/test_wheel.py",
        "Makefile",
        "constraints.txt",
        "locks/packages.txt",
        "benchmarks",
        "tools",
    ):
        assert (source / name).exists(), name


def test_what_a_package_index_shows_is_whole(wheel):
    (about,) = [data for name, data in contents(wheel).items() if name.endswith("/METADATA")]
    told = message_from_bytes(about)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert told["Author"] == ", ".join(author["name"] for author in citation["authors"])
    assert told["Version"] == str(citation["version"]) and told["License-Expression"] == citation["license"]
    assert told["Keywords"].split(",") == citation["keywords"]
    assert set(told.get_all("Provides-Extra")) == set(project["optional-dependencies"])
    text = told.get_payload(decode=True).decode()
    assert text.startswith("# probekit") and not re.findall(r"\]\((?!https?:|#)[^)]+\)", text)
    assert text.count("\n") == (ROOT / "README.md").read_text("utf-8").count("\n")


def command(site: Path, words: Sequence[str], folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PROBEKIT_", "PYTHONPATH"))}
    told = {"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1", "PROBEKIT_CACHE": str(folder / "cache")}
    line = [sys.executable, "-P", "-m", "probekit", *words]
    return subprocess.run(line, cwd=folder, env=kept | told | more, capture_output=True, text=True, check=False)


def test_a_wheel_runs_in_an_empty_folder_and_writes_nowhere_else(site, tmp_path):
    before = sorted(site.rglob("*"))
    listed = command(site, ["list", "studies"], tmp_path)
    assert listed.returncode == 0 and "12_accuracy  profiles: " in listed.stdout, listed.stderr
    checked = command(site, ["check", "--json"], tmp_path)
    assert len(json.loads(checked.stdout)) > 100, checked.stderr
    ran = command(site, ["run", "91_printed", "--profile", "recorded"], tmp_path)
    assert ran.returncode == 0, ran.stderr
    page = tmp_path / "my_run" / "91_printed.ipynb"
    assert ran.stdout.splitlines()[-1] == "my_run/91_printed.html" and page.is_file()
    printed = [out for cell in json.loads(page.read_text("utf-8"))["cells"] for out in cell.get("outputs", [])]
    assert any("text/html" in out["data"] for out in printed)
    assert sorted(site.rglob("*")) == before


@pytest.mark.parametrize("words", [["run", "91_printed", "--record"], ["book", "--pages"], ["zoo", "--ship"]])
def test_what_writes_into_the_report_asks_for_a_clone(tmp_path, monkeypatch, capsys, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PROBEKIT_HOME", raising=False)
    monkeypatch.setattr(paths, "CARRIED", ROOT)
    assert cli.main(words) == 1 and list(tmp_path.iterdir()) == []
    said = "writes into a clone of the report, and this one came in a wheel: clone it"
    assert capsys.readouterr().err == f"probekit: {words[-1]} {said}\n"


def test_a_page_has_the_same_hash_in_a_wheel_and_is_built_where_one_stands(site, tmp_path):
    code = (
        "from probekit.paths import built, root; from probekit.report.fingerprint import page_hash; "
        "print(root(), built(), page_hash('12_accuracy', {}), page_hash('91_printed', {'recorded': True}))"
    )
    told = {**os.environ, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=told, capture_output=True, text=True, check=False
    )
    hashes = [page_hash("12_accuracy", {}), page_hash("91_printed", {"recorded": True})]
    assert done.stdout.split() == [str(site / "probekit/_report"), str(tmp_path / "_build"), *hashes], done.stderr
    assert paths.built() == ROOT / "_build"


@pytest.mark.parametrize("words", [["run", "91_printed", "--profile", "recorded"], ["book"]])
def test_without_the_extra_a_command_names_it(site, tmp_path, words):
    names = ["IPython", "jupyter_client", "jupytext", "matplotlib", "nbclient", "nbformat", "papermill", "seaborn"]
    block = f"import sys\nfor name in {names}:\n    sys.modules[name] = None\n"
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "sitecustomize.py").write_text(block)
    done = command(site, words, tmp_path, PYTHONPATH=os.pathsep.join([str(tmp_path / "without"), str(site)]))
    assert done.returncode == 1, done.stdout
    assert re.fullmatch(r"probekit: this needs [\w.]+: pip install 'probekit\[book\]'", done.stderr.splitlines()[-1])


def test_container_devcontainer_and_binder_install_what_a_clone_installs():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    python = project["requires-python"].removeprefix(">=")
    recipe = (ROOT / "Dockerfile").read_text("utf-8")
    assert f"FROM python:{python}-slim\n" in recipe and re.findall(r"^USER (.+)$", recipe, re.MULTILINE) == ["1000"]
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in re.findall(r"(?:RUN make |\"make\", \")([\w./]+)", recipe):
        assert re.search(rf"^{re.escape(target.replace('.venv/ready', '$(READY)'))}:", makefile, re.MULTILINE), target
    about = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text("utf-8"))
    assert about["image"].endswith(f":{python}") and about["postCreateCommand"] == "make .venv/ready"
    binder = yaml.safe_load((ROOT / ".binder/environment.yml").read_text("utf-8"))
    assert f"python={python}" in binder["dependencies"]
    script = ROOT / ".binder/postBuild"
    assert os.access(script, os.X_OK) and subprocess.run(["bash", "-n", script], check=False).returncode == 0
    assert "--constraint constraints.txt" in script.read_text("utf-8")
    assert set(re.search(r"\.\[(.+)\]", script.read_text("utf-8"))[1].split(",")) <= set(
        project["optional-dependencies"]
    )
    (index,) = set(re.findall(r"https://\S+/whl/cpu\b", recipe + json.dumps(about) + script.read_text("utf-8")))
    assert about["containerEnv"]["PIP_EXTRA_INDEX_URL"] == index


def test_one_version_is_told_everywhere():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert version == __version__ and f"## {version} " in (ROOT / "CHANGELOG.md").read_text("utf-8")
    wheels = re.findall(r"probekit-([\d.]+)-py3-none-any\.whl", (ROOT / "README.md").read_text("utf-8"))
    assert wheels and set(wheels) == {version}


def test_the_readme_installs_the_versions_that_were_tried():
    commands = re.findall(r"^pip install .*\.whl.*$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    assert commands and all(" -c constraints.txt " in command for command in commands)


def test_the_readme_is_read_in_three_minutes():
    text = (ROOT / "README.md").read_text("utf-8")
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert len(re.sub(r"\]\([^)]*\)", "", prose).split()) < 3 * 250
