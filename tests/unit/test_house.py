"""The shape of the project: arrows between packages, a quick import, one list of requirements, no leftovers."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from pkgutil import resolve_name

import pytest
import yaml

from probekit.probes import PROBES

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "probekit"
ORDER = [
    "version",
    "errors",
    "files",
    "paths",
    "metrics",
    "store",
    "probes",
    "models",
    "scoring",
    "contexts",
    "run",
    "demo",
    "report",
    "play",
    "cli",
    "__main__",
]
MODULES = sorted(PACKAGE.rglob("*.py"))
STUDIES = sorted((ROOT / "notebooks").rglob("*.py"))


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: imports are absolute"
            found.add(node.module or "")
    return found


def test_imports_point_one_way():
    for path in MODULES:
        own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for name in imported(path):
            assert not name.startswith("notebooks"), f"{path}: a study is above the package"
            if name.startswith("probekit.") and own != "__init__":
                other = name.split(".")[1]
                assert ORDER.index(other) <= ORDER.index(own), f"{path}: {own} must not import {other}"


def test_no_study_imports_another():
    for path in STUDIES:
        others = {name.split(".")[1] for name in imported(path) if name.startswith("notebooks.")}
        assert others <= {path.parent.name}, f"{path}: what two studies need moves down into the package"


def test_every_part_of_the_package_stands_in_the_order():
    parts = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in MODULES}
    assert parts - {"__init__"} <= set(ORDER)
    assert ORDER.index("scoring") < ORDER.index("contexts") < ORDER.index("demo") < ORDER.index("report")


def test_metrics_know_numpy_pandas_and_scipy_alone():
    allowed = {"numpy", "pandas", "scipy", "probekit"} | sys.stdlib_module_names
    for path in (PACKAGE / "metrics").rglob("*.py"):
        assert {name.split(".")[0] for name in imported(path)} <= allowed, path


MERGED = {"paper.py": 1000, "text.py": 950}  # of each study one: all that its paper prints, all that its pages say
MERGED |= {"cli.py": 915}  # all commands with their options


def test_modules_are_short_and_the_package_is_thin():
    lines = {path: len(path.read_text("utf-8").splitlines()) for path in [*MODULES, *STUDIES]}
    assert [path for path, count in lines.items() if count > MERGED.get(path.name, 500)] == []
    assert sum(lines[path] for path in MODULES) < 29_560


def test_import_asks_for_neither_torch_nor_transformers():
    code = "import sys, probekit; print(*sorted({'torch', 'transformers', 'pandas'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_what_is_offered_by_reference_is_there_and_not_loaded_before_its_use():
    words = (n.value for path in MODULES for n in ast.walk(ast.parse(path.read_text("utf-8"))) if is_text(n))
    references = {word for word in words if re.fullmatch(r"probekit(\.\w+)+:\w+", word)}
    assert len(references) >= 7 and all(callable(resolve_name(reference)) for reference in references)
    assert all(inspect.signature(loader).parameters for loader in PROBES.values())
    assert {"limit", "seed"} <= set(inspect.signature(PROBES["demo/natural"]).parameters)
    code = (
        "import sys, probekit.contexts.sources, probekit.models, probekit.probes; print('probekit.demo' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


def test_the_reference_names_what_is_there():
    text = "".join(path.read_text("utf-8") for path in (ROOT / "book").glob("api*.md"))
    whole = re.findall(r"auto(?:function|class):: (\S+)\.(\w+)", text)
    members = re.findall(r"automodule:: (\S+)\n +:members: (.+)", text)
    named = [*whole, *((module, name) for module, names in members for name in names.split(", "))]
    assert len(named) > 100
    absent = [(module, name) for module, name in named if not hasattr(importlib.import_module(module), name)]
    assert absent == []


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_public_names_are_there():
    import probekit

    assert {name for name in dir(probekit) if getattr(probekit, name) is not None} >= set(probekit.HOMES)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = probekit.nothing


def test_the_conda_file_installs_the_same_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    conda = yaml.safe_load((ROOT / "environment.yml").read_text())
    assert conda["name"] == project["name"]
    python = next(d for d in conda["dependencies"] if isinstance(d, str) and d.startswith("python="))
    assert project["requires-python"] == f">={python.removeprefix('python=')}"
    lines = next(d["pip"] for d in conda["dependencies"] if isinstance(d, dict))
    extras = re.fullmatch(r"-e \.\[(.*)\]", next(line for line in lines if line.startswith("-e"))).group(1)
    assert (
        set(extras.split(",")) == {"book", "cluster", "dev", "play", "train"} <= set(project["optional-dependencies"])
    )
    assert "--constraint constraints.txt" in lines


def test_nothing_tracked_is_large_or_of_one_machine():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    weights, adapters = 0, 0  # bytes of the trained models that come with the package, and with the report
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if path.is_file():
            if path.parent.parent == PACKAGE / "demo" / "weights":
                weights += path.stat().st_size
            elif path.is_relative_to(ROOT / "book" / "models"):
                adapters += path.stat().st_size
            else:
                assert path.stat().st_size <= 1 << 20, name
            if name != ".ci/run" and path.suffix not in (".png", ".parquet", ".safetensors"):
                assert not re.search(r"(?<![\w.:/-])/(home|root|tmp|Users)/\w", path.read_text("utf-8")), name
    assert weights <= 14 << 20 and adapters <= 30e6


DESCRIBED = {  # quantiles that describe data or form groups, and are ends of no interval
    "notebooks/claims/precision.py",
    "notebooks/contexts/pooling.py",
    "notebooks/rationales/saliency.py",
    "probekit/metrics/hurtfulness.py",
}


def test_one_function_makes_an_interval_of_draws():
    """Others would forget how many units were drawn."""
    calls = re.compile(r"\b(nan)?(quantile|percentile)\(")
    paths = [path for top in ("probekit", "notebooks") for path in (ROOT / top).rglob("*.py")]
    found = {path.relative_to(ROOT).as_posix() for path in paths if calls.search(path.read_text())}
    assert found - DESCRIBED == {"probekit/metrics/bootstrap.py"}
