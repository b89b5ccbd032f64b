"""Probes by name."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from probekit.errors import ProbeError, meant
from probekit.files.naming import ending_meant
from probekit.probes.data import BEAR
from probekit.probes.hub import HUB, is_dataset
from probekit.probes.lazy import chosen
from probekit.probes.probe import ROWS, Probe, styles_in

FILE_OPTIONS = ("entities", "limit", "seed", "name", "style", "domain", "licence", "citation", "split")
LIPID = ("demo_lipid", "medline", "pubmed")  # texts of which the recipe makes probes
LISTS = ("chemical", "gene")  # of each
PROBES: dict[str, Callable[..., Probe]] = {
    "demo/template": partial(chosen("demo.world.probe:demo_template"), "general"),
    "demo/natural": partial(chosen("demo.world.probe:demo_natural"), "general"),
    "demo_bio/template": partial(chosen("demo.world.probe:demo_template"), "biomedical"),
    "demo_bio/natural": partial(chosen("demo.world.probe:demo_natural"), "biomedical"),
    "google_re/template": partial(chosen("probes.lama:google_re"), "template"),
    "google_re/natural": partial(chosen("probes.lama:google_re"), "natural"),
    "trex/template": partial(chosen("probes.lama:trex"), "template"),
    "trex/natural": partial(chosen("probes.lama:trex"), "natural"),
    "trex41/template": chosen("probes.pararel:trex41"),
    "squad": chosen("probes.lama:squad"),
    "conceptnet": chosen("probes.lama:conceptnet"),
    "bear": chosen("probes.bear:bear"),
    "medlama/template": chosen("probes.biomedical:medlama"),
    "biolama/ctd": partial(chosen("probes.biomedical:biolama"), "ctd"),
    "biolama/wikidata": partial(chosen("probes.biomedical:biolama"), "wikidata"),
    "biolama/umls": partial(chosen("probes.biomedical:biolama"), "umls"),
    **{f"{name}/{kind}": partial(chosen("probes.lipid.corpora:lipid"), name, kind) for name in LIPID for kind in LISTS},
}
FOLDER = chosen("probes.bear:bear_folder")  # reads a folder in BEAR's layout


def home_of(name: str) -> str:
    """Reference of the loader of a registered probe, or of a folder; empty where ``Probe`` itself reads it."""
    loader: Any = PROBES.get(name) or (FOLDER if os.path.isfile(os.path.join(name, BEAR)) else None)
    return str(getattr(loader, "func", loader).reference) if loader else ""


def load_probe(name: str, /, **options: Any) -> Probe:
    """Load a probe.

    Args:
        name: a name of ``probekit list probes``; a JSONL, CSV or Parquet file, or a Hugging Face data set as a saved
            folder or ``hf:NAME`` (see ``Probe.from_file``); or a folder in BEAR's layout.
        **options: the loader's own, such as ``relations``, ``limit``, ``seed``.

    Raises:
        ProbeError: unknown name, unknown or wrong option, data not at hand, or data that breaks a rule.
    """
    if name not in PROBES:
        if Path(name).suffix in ROWS or is_dataset(name):
            _check(name, options, FILE_OPTIONS)
            return Probe.from_file(name, **options)
        if (Path(name) / BEAR).is_file():
            _check(name, options, inspect.signature(FOLDER).parameters)
            return FOLDER(name, **options)
        hint = ending_meant(name, ROWS) or meant(name, PROBES)
        raise ProbeError(
            f"no probe {name!r}{hint}; there are {', '.join(PROBES)}, or give the path of a "
            f"{', '.join(ROWS)} file, a folder in BEAR's layout, or a Hugging Face data set (folder, or {HUB}NAME)"
        )
    loader = PROBES[name]
    _check(name, options, inspect.signature(loader).parameters)
    return loader(**options)


def load_styles(name: str, /, **options: Any) -> list[Probe]:
    """``load_probe``, where a file whose rows are of several styles becomes a probe of each.

    Raises:
        ProbeError: as there.
    """
    styles = [] if name in PROBES or "style" in options or Path(name).suffix not in ROWS else styles_in(Path(name))
    if len(styles) < 2:
        return [load_probe(name, **options)]
    return [load_probe(name, **options, style=style) for style in styles]


def _check(name: str, options: Mapping[str, Any], allowed: Collection[str]) -> None:
    unknown = [option for option in options if option not in allowed]
    if unknown:
        raise ProbeError(f"{name} has no option {', '.join(unknown)}; it has {', '.join(allowed)}")
    for option in ("limit", "per_fact"):
        value = options.get(option)
        if value is not None and (not isinstance(value, int) or value < 1):
            raise ProbeError(f"{name}: {option} must be a whole number from 1 on, or None for all, not {value!r}")
