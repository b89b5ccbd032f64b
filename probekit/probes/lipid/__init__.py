"""LIPID's recipe (paper 001, section 3.2.3): template-free prompts from the sentences of PubMed abstracts."""

from probekit.probes.lipid.build import build
from probekit.probes.lipid.fetch import fetch_updates
from probekit.probes.lipid.sheet import agreement, write_sheet

__all__ = ["agreement", "build", "fetch_updates", "write_sheet"]
