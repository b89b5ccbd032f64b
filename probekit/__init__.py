"""Cloze probing of language models: one scoring core, its metrics, and a reproducible report.

Names are imported when first used, so that ``import probekit`` is quick and asks for neither torch nor transformers.
"""

from importlib import import_module
from pkgutil import resolve_name
from typing import Any

from probekit.version import __version__ as __version__

HOMES = {
    "Interval": "probekit.metrics:Interval",
    "Model": "probekit.models:Model",
    "Probe": "probekit.probes:Probe",
    "ProbekitError": "probekit.errors:ProbekitError",
    "RationaleSet": "probekit.probes.rationales:RationaleSet",
    "Store": "probekit.store:Store",
    "ask": "probekit.scoring:ask",
    "attribute": "probekit.scoring:attribute",
    "compare": "probekit.report.compare:compare",
    "load_model": "probekit.models:load_model",
    "load_probe": "probekit.probes:load_probe",
    "metrics": "probekit.metrics",
    "predict_slots": "probekit.scoring:predict_slots",
    "pseudo_perplexity": "probekit.scoring:pseudo_perplexity",
    "rank_entities": "probekit.scoring:rank_entities",
    "rank_targets": "probekit.scoring:rank_targets",
    "rank_within": "probekit.scoring:rank_within",
    "top_completions": "probekit.scoring:top_completions",
}
__all__ = sorted(HOMES)


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module 'probekit' has no attribute {name!r}")
    return import_module(HOMES[name]) if name == "metrics" else resolve_name(HOMES[name])


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
