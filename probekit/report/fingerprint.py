"""One hash of all that decides a page: its notebook, its parameters, and the files that the notebook rests on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import probekit
from probekit.files import canonical, digest
from probekit.report.claims import load_claims
from probekit.report.paths import root, source
from probekit.report.sources import RECORDED, studies

PACKAGE = Path(probekit.__file__).parent
LIBRARIES = ("numpy", "pandas", "scipy", "torch", "transformers", "tokenizers", "matplotlib", "seaborn")
OURS = re.compile(r"(probekit|notebooks)(\.\w+)+(:\w+)?")  # a name of ours, also as a text that is imported later
BESIDE = re.compile(r"[\w-]+(\.(yml|json|jsonl|csv))?")


def page_hash(name: str, parameters: Mapping[str, Any]) -> str:
    """Hash over the notebook, its parameters, the files it imports, directly or through others, the inputs that
    ``studies.yml`` declares for it, what was recorded where it shows that, and the versions of the libraries.

    A name that a package passes on from one of its modules leads to that module, not to the whole package, so that a
    word changed in one page's module makes stale the pages that import it and no other.
    """
    start = source(name)
    parts: list[bytes | str] = [start.read_bytes(), canonical(dict(parameters))]
    for file in files(start):
        parts += [_named(file), file.read_bytes(), *_data(file)]
    entry = studies()[name]
    recorded = [f"book/recorded/{name}"] if parameters.get(RECORDED) else []
    for pattern in [*recorded, *entry.get("inputs", [])]:
        for place in sorted(root().glob(pattern)):
            parts += contents(place)
    if starts := tuple(entry.get("claims", ())):
        parts += [repr(claim) for claim in load_claims() if claim.id.startswith(starts)]
    parts += [f"{library} {version(library).partition('+')[0]}" for library in LIBRARIES]  # of any build of a version
    return digest(*parts)


def files(start: Path) -> list[Path]:
    """The files of ``probekit`` and ``notebooks`` that a file imports, directly or through others, sorted."""
    found: set[Path] = set()
    waiting = _imports(start)
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting |= _imports(file) - found
    return sorted(found, key=_named)


def _imports(file: Path) -> set[Path]:
    return {home for name in _words(file.read_text("utf-8"))[0] for home in _homes(name)} - {file}


@cache
def _words(text: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """Dotted names of ours that a source imports or, as a text, will, and its texts that can name a file beside it."""
    found, beside = set(), set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in ("pk", "probekit"):
            found.add(f"probekit.{node.attr}")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if OURS.fullmatch(node.value):
                found.add(node.value.replace(":", "."))
            if BESIDE.fullmatch(node.value):
                beside.add(node.value)
    return frozenset(name for name in found if OURS.fullmatch(name)), tuple(sorted(beside))


@cache
def _data(file: Path) -> tuple[bytes | str, ...]:
    """Names and bytes of what lies beside a module and is named in it, such as ``models.yml`` or a folder of items."""
    beside = [file.parent / name for name in _words(file.read_text("utf-8"))[1]]
    beside = [place for place in beside if place.is_file() or (place.is_dir() and not any(place.rglob("*.py")))]
    return tuple(part for place in beside for part in contents(place))


def _homes(name: str) -> set[Path]:
    """Files where a dotted name is defined: a module, or the module from which a package takes it."""
    pieces = name.split(".")
    if pieces[0] == "probekit" and len(pieces) > 1 and pieces[1] in probekit.HOMES:
        home = probekit.HOMES[pieces[1]].split(".")
        pieces = [*home, *pieces[2 if home[-1] == pieces[1] else 1 :]]
    base = PACKAGE.parent if pieces[0] == "probekit" else root()
    for length in range(len(pieces), 0, -1):
        place = base.joinpath(*pieces[:length])
        if place.with_suffix(".py").is_file():
            return {place.with_suffix(".py")}
        if (place / "__init__.py").is_file():
            return _passed_on(place / "__init__.py", pieces[length : length + 1])
    return set()


def _passed_on(package: Path, name: list[str]) -> set[Path]:
    """Where a package has a name from; its own file where it defines it, and all it imports where none is asked."""
    passed = {node.rpartition(".")[2]: node for node in _words(package.read_text("utf-8"))[0]}
    if name and name[0] in passed:
        return _homes(passed[name[0]])
    return {package} | ({home for node in passed.values() for home in _homes(node)} if not name else set())


def _named(file: Path) -> str:
    base = root() if file.is_relative_to(root() / "notebooks") else PACKAGE.parent
    return file.relative_to(base).as_posix()


def contents(place: Path) -> Iterator[bytes | str]:
    """Names and bytes of all files below a place but hidden ones, as locks, in a fixed order."""
    found = [place] if place.is_file() else sorted(p for p in place.rglob("*") if p.is_file())
    for file in found:
        if file.suffix != ".pyc" and not file.name.startswith("."):
            yield file.relative_to(place.parent).as_posix()
            yield file.read_bytes()
