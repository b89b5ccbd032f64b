"""The notebooks as sources: found, read, and their parameters checked before anything runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from probekit.errors import ReportError, meant
from probekit.files.reading import read_entries
from probekit.paths import root, source
from probekit.report.recording import recorded_manifest

TYPES: dict[str, tuple[type, ...]] = {kind.__name__: (kind,) for kind in (int, str, bool, list, dict)}
TYPES["float"] = (int, float)
RECORDED = "recorded"  # the profile, and the parameter that it sets


def studies() -> dict[str, dict[str, Any]]:
    """Page -> its entry of ``studies.yml`` (inputs, parameters per profile)."""
    return read_entries(root() / "studies.yml", "profiles")


def pages(profile: str) -> list[str]:
    """The pages that have a profile, in the order of ``studies.yml``."""
    return [name for name, study in studies().items() if profile in study["profiles"]]


def load_source(name: str) -> Any:
    """The notebook of a page, from its py:percent source, with the same cell ids at every read.

    Raises:
        ReportError: no such page.
    """
    import jupytext

    _require_study(name)
    notebook = jupytext.read(source(name))
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"{name}-{number:02d}".replace("_", "-")
    return notebook


def _require_study(name: str) -> None:
    if name not in (names := studies()):
        raise ReportError(f"no study {name!r}{page_meant(name)}; there are {', '.join(names)}")


def page_meant(name: str) -> str:
    """Which page may be meant by a name that none has: the only one that holds it, else the nearest, as a question."""
    pages = [page for page in studies() if name and name in page]
    return f" (is {pages[0]!r} meant?)" if len(pages) == 1 else meant(name, studies())


def parameters(name: str) -> dict[str, dict[str, Any]]:
    """Parameter -> its ``type``, ``default`` and ``help``, from the typed, commented lines of the parameters cell."""
    fields = {}
    for cell in re.split(r"^# %%", source(name).read_text("utf-8"), flags=re.MULTILINE):
        head, _, body = cell.partition("\n")
        if '"parameters"' in head:
            rows = body.splitlines()
            for node in ast.parse(body).body:
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
                    comment = rows[(node.end_lineno or 1) - 1][node.end_col_offset :].partition("#")[2].strip()
                    kind, default = ast.unparse(node.annotation), ast.literal_eval(node.value)
                    fields[node.target.id] = {"type": kind, "default": default, "help": comment}
    return fields


def complete(name: str, given: Mapping[str, Any], profile: str = "demo") -> dict[str, Any]:
    """All parameters of a run: defaults, then the profile's, then those given.

    The profile ``recorded`` takes the parameters of the recorded run and asks the page to show what that run left.

    Raises:
        ReportError: unknown profile, unknown parameter, or a value of the wrong type.
    """
    _require_study(name)
    declared, profiles = parameters(name), studies()[name]["profiles"]
    if profile not in profiles:
        has = f"it has {', '.join(profiles)}: name one by --profile"
        raise ReportError(f"{name} has no profile {profile!r}{meant(profile, profiles)}; {has}")
    values = {**(profiles[profile] or {}), **given}
    if profile == RECORDED and RECORDED in declared:
        past = recorded_manifest(name).get("parameters", {})
        values = {key: value for key, value in past.items() if key in declared} | {RECORDED: True} | values
    for key, value in values.items():
        if key not in declared:
            raise ReportError(f"{name} has no parameter {key!r}{meant(key, declared)}; it has {', '.join(declared)}")
        kind = declared[key]["type"]
        right = isinstance(value, TYPES[kind]) and (kind == "bool" or not isinstance(value, bool))
        if not right:
            raise ReportError(f"{name}: parameter {key} must be of type {kind}, not {type(value).__name__} ({value!r})")
    return {key: entry["default"] for key, entry in declared.items()} | values
