"""What is asked: probes, their loaders, and the data they are read from."""

from probekit.probes.probe import MASK, Probe
from probekit.probes.registry import PROBES, load_probe

__all__ = ["MASK", "PROBES", "Probe", "load_probe"]
