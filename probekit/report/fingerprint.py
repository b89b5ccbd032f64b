"""One hash of all that decides a page: its notebook, its parameters, and the files that the notebook rests on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from probekit.files import canonical, contents, digest
from probekit.models import loading
from probekit.models.shipped import CARD, lab_folder, lab_names
from probekit.paths import root, source
from probekit.probes import registry
from probekit.report.claims import load_claims
from probekit.report.sources import RECORDED, studies

PACKAGE = Path(__file__).parents[1]
LIBRARIES = ("numpy", "pandas", "scipy", "torch", "transformers", "tokenizers", "matplotlib", "seaborn")
OURS = re.compile(r"(probekit|notebooks)(\.\w+)+")
REFERENCE = re.compile(rf"{OURS.pattern}:\w+")  # a text that is imported when it is used
REGISTRIES = (registry, loading)  # what a name leads to, by their ``home_of``
LOOK_UP = {Path(str(registry.__file__)) for registry in REGISTRIES}
TYPES = "TYPE_CHECKING"  # what is imported under it decides no number
BESIDE = re.compile(r"[\w-]+(\.(yml|json|jsonl|csv))?")


def page_hash(name: str, parameters: Mapping[str, Any]) -> str:
    """Hash over the notebook, its parameters, the files it imports, directly or through others, the inputs that
    ``studies.yml`` declares for it, what was recorded where it shows that, the cards of models shipped as adapters,
    which pin their files, and the versions of the libraries.

    A name that a package passes on from one of its modules leads to that module, not to the whole package, and of the
    loaders of probes and models those alone are followed that the page names, so that a changed word makes stale the
    pages that use it and no other. Modules among the inputs are followed as the page itself is.
    """
    parts: list[bytes | str] = [canonical(dict(parameters))]
    adapters = [name for name in sorted(_words(repr(dict(parameters)))[1]) if name in lab_names()]
    for file in code(name, parameters):
        parts += [_named(file), file.read_bytes(), *_data(file)]
    recorded = [root() / "book" / "recorded" / name] if parameters.get(RECORDED) else []
    for place in (*recorded, *_inputs(name), *(lab_folder(adapter) / CARD for adapter in adapters)):
        parts += contents(place)
    if claims := tuple(studies()[name].get("claims", ())):
        parts += [repr(claim) for claim in load_claims() if claim.id.startswith(claims)]
    parts += [f"{library} {version(library).partition('+')[0]}" for library in LIBRARIES]  # of any build of a version
    return digest(*parts)


def code(name: str, parameters: Mapping[str, Any]) -> list[Path]:
    """The sources that decide a page: its notebook, the modules among its inputs, and the ``files`` of these."""
    starts = [source(name), *(place for place in _inputs(name) if place.suffix == ".py")]
    return [*starts, *files(*starts, named=_words(repr(dict(parameters)))[1])]


def _inputs(name: str) -> list[Path]:
    return [place for pattern in studies()[name].get("inputs", []) for place in sorted(root().glob(pattern))]


def files(*starts: Path, named: Iterable[str] = ()) -> list[Path]:
    """The other files of ``probekit`` and ``notebooks`` that some import, directly or through others, sorted.

    Args:
        named: probes and models whose loaders are used; texts of notebooks, and of what looks names up, count too.
    """
    visited, waiting = set[Path](), {*starts, *_loaders(named)}
    while waiting:
        file = waiting.pop()
        visited.add(file)
        dotted, texts = _words(file.read_text("utf-8"))
        homes = {home for name in dotted for home in _homes(name)}
        if file in starts or file.is_relative_to(root() / "notebooks") or homes & LOOK_UP:
            homes |= _loaders(texts)
        waiting |= homes - visited
    return sorted(visited - {*starts}, key=_named)


def _loaders(names: Iterable[str]) -> set[Path]:
    homes = {registry.home_of(name) for name in names for registry in REGISTRIES}
    return {file for home in homes for file in _homes(home.replace(":", "."))}


@cache
def _words(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Dotted names of ours that a source imports or, as a reference, will; and its texts."""
    dotted, texts = set(), set()
    tree = ast.parse(text)
    tree.body = [node for node in tree.body if not (isinstance(node, ast.If) and ast.unparse(node.test) == TYPES)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            dotted |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            dotted |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in ("pk", "probekit"):
            dotted.add(f"probekit.{node.attr}")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.add(node.value)
            if REFERENCE.fullmatch(node.value):
                dotted.add(node.value.replace(":", "."))
    return frozenset(name for name in dotted if OURS.fullmatch(name)), frozenset(texts)


@cache
def _data(file: Path) -> tuple[bytes | str, ...]:
    """Names and bytes of what lies beside a module and is named in it, such as ``models.yml`` or a folder of items."""
    texts = sorted(_words(file.read_text("utf-8"))[1])
    beside = [file.parent / text for text in texts if BESIDE.fullmatch(text)]
    beside = [place for place in beside if place.is_file() or (place.is_dir() and not any(place.rglob("*.py")))]
    return tuple(item for place in beside for item in contents(place))


def _homes(name: str) -> set[Path]:
    """Files where a dotted name is defined: a module, or the module from which a package takes it."""
    pieces = name.split(".")
    base = PACKAGE.parent if pieces[0] == "probekit" else root()
    for length in range(len(pieces), 0, -1):
        place = base.joinpath(*pieces[:length])
        if place.with_suffix(".py").is_file():
            return {place.with_suffix(".py")}
        if (place / "__init__.py").is_file():
            return _passed_on(place / "__init__.py", pieces[length : length + 1])
    return set()


def _passed_on(package: Path, name: list[str]) -> set[Path]:
    """Files from which a package takes a name: its own if it defines it; without a name, all that it imports."""
    passed = {node.rpartition(".")[2]: node for node in _words(package.read_text("utf-8"))[0]}
    if name and name[0] in passed:
        return _homes(passed[name[0]])
    return {package} | ({home for node in passed.values() for home in _homes(node)} if not name else set())


def _named(file: Path) -> str:
    base = root() if file.is_relative_to(root() / "notebooks") else PACKAGE.parent
    return file.relative_to(base).as_posix()
