"""Models: loading and describing them, and the registry of those of the four papers."""

from probekit.models.card import ModelCard, about
from probekit.models.loading import load_model
from probekit.models.model import Model
from probekit.models.registry import Entry, registry

__all__ = ["Entry", "Model", "ModelCard", "about", "load_model", "registry"]
