"""Cloze probing of language models: one scoring core, its metrics, and a reproducible report.

Names are imported when first used, so that ``import probekit`` is quick and asks for neither torch nor transformers.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

HOMES = {
    "Interval": "probekit.metrics",
    "Model": "probekit.models",
    "Probe": "probekit.probes",
    "ProbekitError": "probekit.errors",
    "RationaleSet": "probekit.probes.rationales",
    "Store": "probekit.store",
    "ask": "probekit.scoring",
    "attribute": "probekit.scoring",
    "compare": "probekit.share.compare",
    "load_model": "probekit.models",
    "load_probe": "probekit.probes",
    "metrics": "probekit.metrics",
    "predict_slots": "probekit.scoring",
    "pseudo_perplexity": "probekit.scoring",
    "rank_entities": "probekit.scoring",
    "rank_targets": "probekit.scoring",
    "rank_within": "probekit.scoring",
    "top_completions": "probekit.scoring",
}
__all__ = sorted(HOMES)


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module 'probekit' has no attribute {name!r}")
    home = import_module(HOMES[name])
    return home if name == "metrics" else getattr(home, name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
