"""The notebooks as sources: found, read, and their parameters checked before anything runs."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import yaml

from probekit.errors import ReportError
from probekit.report.paths import root

TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "str": (str,),
    "bool": (bool,),
    "list": (list,),
    "dict": (dict,),
}


def studies() -> dict[str, dict[str, Any]]:
    """Study name -> its entry of ``studies.yml`` (title, inputs, parameters per profile)."""
    return dict(yaml.safe_load((root() / "studies.yml").read_text("utf-8")))


def load_source(name: str) -> Any:
    """The notebook of a study, from its py:percent source, with the same cell ids at every read.

    Raises:
        ReportError: no such study.
    """
    import jupytext

    if name not in studies():
        raise ReportError(f"no study {name!r}; there are {', '.join(studies())}")
    notebook = jupytext.read(root() / "notebooks" / f"{name}.py")
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"{name}-{number:02d}".replace("_", "-")
    return notebook


def parameters(name: str) -> dict[str, dict[str, Any]]:
    """Parameter -> its ``type``, ``default`` and ``help``, from the notebook's parameters cell."""
    import papermill

    found = papermill.inspect_notebook(load_source(name))
    return {
        key: {"type": entry["inferred_type_name"], "default": ast.literal_eval(entry["default"]), "help": entry["help"]}
        for key, entry in found.items()
    }


def complete(name: str, given: Mapping[str, Any], profile: str = "demo") -> dict[str, Any]:
    """All parameters of a run: defaults, then the profile's, then those given.

    Raises:
        ReportError: unknown profile, unknown parameter, or a value of the wrong type.
    """
    known, profiles = parameters(name), studies()[name]["profiles"]
    if profile not in profiles:
        raise ReportError(f"{name} has no profile {profile!r}; it has {', '.join(profiles)}")
    wished = {**(profiles[profile] or {}), **given}
    for key, value in wished.items():
        if key not in known:
            raise ReportError(f"{name} has no parameter {key!r}; it has {', '.join(known)}")
        kind = known[key]["type"]
        right = isinstance(value, TYPES[kind]) and (kind == "bool" or not isinstance(value, bool))
        if not right:
            raise ReportError(f"{name}: parameter {key} must be of type {kind}, not {type(value).__name__} ({value!r})")
    return {key: entry["default"] for key, entry in known.items()} | wished
