"""Who is asked: models, their registry, and the small ones trained here."""

from probekit.models.card import ModelCard, about
from probekit.models.loading import load_model
from probekit.models.model import Model
from probekit.models.own import train_files
from probekit.models.registry import Entry, registry

__all__ = ["Entry", "Model", "ModelCard", "about", "load_model", "registry", "train_files"]
