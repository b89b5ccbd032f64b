"""Who is asked: models, their registry, and the small ones trained here."""

from probekit.models.loading import load_model
from probekit.models.model import Model
from probekit.models.registry import Entry, registry

__all__ = ["Entry", "Model", "load_model", "registry"]
