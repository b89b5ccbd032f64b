"""What is installed: declared, used, pinned, and locked by hash; what no lock covers and no index audits is said."""

import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from test_house import ROOT, imported

from tools import audit, licences

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]


def named(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[\[<>=;\s]", requirement)[0]).lower()


def pins(name: str) -> dict[str, str]:
    lines = re.findall(r"^([\w.-]+)==(\S+)", (ROOT / name).read_text("utf-8"), re.MULTILINE)
    assert len({named(package) for package, _ in lines}) == len(lines)
    return {named(package): version for package, version in lines}


DECLARED = {named(line) for line in [*PROJECT["project"]["dependencies"], *(d for e in EXTRAS.values() for d in e)]}


def test_constraints_pin_all_that_is_required():
    found = pins("constraints.txt")
    assert set(found) >= DECLARED
    assert found["torch"] == "2.13.0"
    assert all("+" not in version for version in found.values())


def test_locks_hold_the_pinned_versions_each_with_hashes():
    constrained, locked = pins("constraints.txt"), pins("locks/packages.txt")
    assert locked.items() <= constrained.items()
    extras = [line for extra in ("book", "cluster", "dev", "play", "train") for line in EXTRAS[extra]]
    wanted = {named(line) for line in [*PROJECT["project"]["dependencies"], *extras]}
    assert wanted - set(locked) == {"torch"} and "setuptools" in locked  # which builds the package
    assert not [name for name in locked if name.startswith(("nvidia", "triton", "unidecode"))]
    assert pins("locks/torch.txt") == {"torch": constrained["torch"]}
    assert set(pins("locks/tools.txt")) >= {named(line) for line in PROJECT["dependency-groups"]["supply"]}
    for lock in (ROOT / "locks").iterdir():
        text = lock.read_text("utf-8")
        assert not re.search(r"https?://|^-|file:|/(work|opt)/", text, re.MULTILINE), f"{lock} names a place"
        entries = re.split(r"\n(?=\S)", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).strip())
        assert all(re.fullmatch(r"\S+==\S+( \\\n    --hash=sha256:[0-9a-f]{64})+", entry) for entry in entries), lock


@pytest.mark.slow
def test_every_dependency_has_a_use_and_every_import_is_declared():
    table = re.findall(r"^\| ([a-z][\w-]*) \| (.+) \|$", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE)
    uses = dict(table)
    assert set(uses) == DECLARED
    folders = ("probekit", "notebooks", "tools", "benchmarks", "tests", "book/_ext")
    sources = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    ours = (
        {path.stem for path in sources}
        | {"probekit", "notebooks", "tools", "benchmarks", "tests", "robust"}
        | sys.stdlib_module_names
    )
    modules = {name.split(".")[0] for path in sources for name in imported(path)} - (
        ours - {"datasets"}
    )  # a page's, too
    homes = packages_distributions() | {
        "unidecode": ["unidecode"],
        "vaderSentiment": ["vadersentiment"],
        "datasets": ["datasets"],
    }
    used = {named(home) for module in modules for home in homes[module]}
    assert used <= DECLARED
    assert DECLARED - used == {name for name, use in uses.items() if "not imported" in use}


def answered(vulnerable: bool = False) -> list[dict]:
    found = [{"id": "CVE-1", "fix_versions": ["2"]}] * vulnerable
    return [{"name": "a", "version": "1", "vulns": found}, {"name": "b", "skip_reason": "not found"}]


@pytest.mark.parametrize(
    ("answers", "code", "said"),
    [
        ([answered(), answered()[:1]], 0, "audited: one; *** but not b\naudited: two\n"),
        ([answered(True), []], 1, "one: a 1: CVE-1, mended in 2\naudited: one; *** but not b\n*** NOT AUDITED"),
        ([answered()[1:]], 0, "*** NOT AUDITED: the package index did not answer on one, two\n"),
        ([[]], 0, "*** NOT AUDITED: the package index did not answer on one, two\n"),
    ],
)
def test_an_audit_fails_on_what_is_known_and_says_what_was_not_asked(monkeypatch, capsys, answers, code, said):
    given = iter(answers)
    monkeypatch.setattr(audit, "ask", lambda lock: next(given))
    assert audit.main(["one", "two"]) == code
    assert capsys.readouterr().out.startswith(said)


def test_licences_are_counted_and_none_of_several_is_left_out():
    several = [{"license": {"id": "Python-2.0"}}, {"license": {"name": "License :: OSI Approved :: GPL"}}]
    parts = [{"name": "a", "version": "1", "licenses": several}, {"name": "b"}]
    parts += [{"name": name, "licenses": [{"expression": "MIT"}]} for name in "cd"]
    lines = licences.table(parts).splitlines()
    assert {"| MIT | 2 |", "| a | 1 | Python-2.0; GPL |", "| b |  | free text, or none |"} <= set(lines)


def test_a_lock_is_what_make_installs_by():
    recipe = Path(ROOT / "Makefile").read_text("utf-8")
    for lock in ("packages", "torch", "tools"):
        assert re.search(rf"--require-hashes --no-deps.* --requirement locks/{lock}\.txt", recipe)
