"""What a card asks of its models: pages and their parameters, by the data at hand and what its owner gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from probekit.errors import ProbeError, ReportError, meant
from probekit.files.reading import SETTINGS, read_text, yaml_value
from probekit.probes.data import locate
from probekit.report.run import absolute_paths
from probekit.report.sources import parameters

KEYS = {"probes": list, "contexts": dict, "records": list, "completions": list, "templates": str}  # of one's own data
INTO = {"contexts": "own", "records": "sets"}  # where the parameter of a page is called otherwise


@dataclass(frozen=True)
class PageSpec:
    """One page of a card.

    Args:
        heading, intro: what it stands below, and the text after that.
        page: of ``studies.yml``.
        given: its parameters.
        absent: data sets that it would ask, and that are not at hand.
        shown: its entry of ``card.yml``.
    """

    heading: str
    intro: str
    page: str
    given: Mapping[str, Any]
    absent: tuple[str, ...]
    shown: Mapping[str, Any]


def parts() -> list[dict[str, Any]]:
    """The parts of a card, in order: ``title``, ``about`` and ``pages``."""
    return list(yaml.safe_load((files("probekit.report.card") / "card.yml").read_text("utf-8")))


def page_specs(
    models: Sequence[str],
    writing: bool,
    user_data: Mapping[str, Any],
    full: bool,
    how: Mapping[str, Any] = {},
) -> list[PageSpec]:
    """The pages of a card with their parameters, in order.

    Args:
        models: names, Hub ids or folders.
        writing: whether one of them writes on, which takes a hundred times as long as filling a gap.
        user_data: what ``own_data`` read; it takes the place of other data of its kind.
        full: ask everything, and not a sample.
        how: parameters that are given to each page that has them.
    """
    specs: dict[str, PageSpec] = {}
    for section in parts():
        for page in section["pages"]:
            if like := specs.get(page.get("like")):
                given, absent = dict(like.given), like.absent
            else:
                given, absent = _given(page, models, writing, user_data, full)
            known = parameters(page["page"]) if how else ()
            given = page.get("always", {}) | given | {key: value for key, value in how.items() if key in known}
            probes, limits = given.get("probes", ()), given.pop("limits", {})
            if limits := {name: limit for name, limit in limits.items() if name in probes}:
                given["limits"] = limits
            specs[page["page"]] = PageSpec(section["title"], section["about"], page["page"], given, absent, page)
    return list(specs.values())


def _given(
    page: Mapping[str, Any], models: Sequence[str], writing: bool, user_data: Mapping[str, Any], full: bool
) -> tuple[dict[str, Any], tuple[str, ...]]:
    given: dict[str, Any] = {"models": list(models)}
    mine = {INTO.get(key, key): user_data[key] for key in page.get("own", ()) if key in user_data}
    amount = page.get("full", {}) if full else page.get("sample", {}) | (page.get("writing", {}) if writing else {})
    if mine:
        return given | amount | mine, ()
    invented = all(name.startswith("zoo/") for name in models)
    sets = {} if invented else page.get("data", {})
    absent = tuple(name for name in sets if not _here(name))
    present = {name: values for name, values in sets.items() if name not in absent}
    if invented or (sets and not present) or any(not sets[name] for name in absent):
        return given | amount | page.get("demo", {}), absent
    for values in present.values():
        for key, value in (values or {}).items():
            given[key] = [*given.get(key, []), *value] if isinstance(value, list) else value
    return given | amount, absent


def _here(name: str) -> bool:
    try:
        return locate(name).exists()
    except ProbeError:
        return False


def own_data(path: Path) -> dict[str, Any]:
    """What a file says of one's own data, with its paths made absolute; they are named from the file's folder.

    Raises:
        ReportError: a key that no part of a card has, or a value of another type; names it.
    """
    data = yaml_value(read_text(path, SETTINGS), str(path))
    if not isinstance(data, dict):
        raise ReportError(f"{path}: a mapping is needed, with keys such as {', '.join(KEYS)}")
    for key, value in data.items():
        if key not in KEYS:
            raise ReportError(f"{path}: no part of a card takes {key!r}{meant(key, KEYS)}; there are {', '.join(KEYS)}")
        if not isinstance(value, KEYS[key]):
            raise ReportError(
                f"{path}: {key} must be of type {KEYS[key].__name__}, not {type(value).__name__} ({value!r})"
            )
    with chdir(path.parent):
        return {key: absolute_paths(value) for key, value in data.items()}
