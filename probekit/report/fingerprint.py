"""One hash of all that decides a page: its notebook, its parameters, and what the notebook rests on."""

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
from probekit.report.paths import root
from probekit.report.sources import studies

PACKAGE = Path(probekit.__file__).parent
REFERENCE = re.compile(r"probekit(\.\w+)+:\w+")
LIBRARIES = ("numpy", "pandas", "scipy", "torch", "transformers", "tokenizers", "matplotlib", "seaborn")


def page_hash(name: str, parameters: Mapping[str, Any]) -> str:
    """Hash over the notebook, its parameters, the files of every package it rests on (all subfolders), the inputs
    that ``studies.yml`` declares for it, and the versions of the libraries that compute.

    The packages are followed through the imports from the notebook on; a change elsewhere leaves the hash as it is.
    """
    source = root() / "notebooks" / f"{name}.py"
    parts: list[bytes | str] = [source.read_bytes(), canonical(dict(parameters))]
    for package in packages(source):
        parts += contents(PACKAGE / package)
    for place in studies()[name].get("inputs", []):
        parts += contents(root() / place)
    parts += [f"{library} {version(library)}" for library in LIBRARIES]
    return digest(*parts)


def packages(source: Path) -> list[str]:
    """Parts of ``probekit`` (folders, or modules beside them) that a file rests on, directly or through others."""
    found: set[str] = set()
    waiting = _parts_of(source)
    while waiting:
        part = waiting.pop()
        if part not in found:
            found.add(part)
            place = PACKAGE / part
            for file in [place] if place.is_file() else sorted(place.rglob("*.py")):
                waiting |= _parts_of(file) - found
    return sorted(found)


def _parts_of(file: Path) -> set[str]:
    return {part for name in _named(file.read_text("utf-8")) for part in [_part(name)] if part}


@cache
def _named(source: str) -> frozenset[str]:
    """Kept: the pages of a book rest on the same files."""
    return frozenset(_imported(ast.parse(source)))


def _imported(tree: ast.AST) -> Iterator[str]:
    """Dotted names of everything imported from probekit, at once or by a reference of ``probekit.lazy``; the public
    names of ``pk.NAME`` resolved to their homes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and REFERENCE.fullmatch(node.value):
            yield node.value.replace(":", ".")
        elif (
            isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("pk", "probekit")
        ):
            yield probekit.HOMES.get(node.attr, f"probekit.{node.attr}")


def _part(name: str) -> str | None:
    pieces = name.split(".")
    if pieces[0] != "probekit" or len(pieces) < 2:
        return None
    home = probekit.HOMES.get(pieces[1], name).split(".")[1]
    return home if (PACKAGE / home).is_dir() else f"{home}.py" if (PACKAGE / f"{home}.py").is_file() else None


def contents(place: Path) -> Iterator[bytes | str]:
    """Names and bytes of all files below a place, in a fixed order."""
    files = [place] if place.is_file() else sorted(p for p in place.rglob("*") if p.is_file())
    for file in files:
        if file.suffix != ".pyc":
            yield file.relative_to(place.parent).as_posix()
            yield file.read_bytes()
