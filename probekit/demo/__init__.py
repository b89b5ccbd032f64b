"""The embedded default: an invented world, and small models that have read it.

Facts of two domains are told in sentences and asked about in two styles. Names, other than years, professions,
symptoms and organs, are made up by a seeded generator, so no model can have met a fact but in the training text; how
often that tells it is known. Numbers from it show that the machinery works and what a probe can measure, and nothing
about real models.
"""

from probekit.demo.world.documents import Document, demo_documents
from probekit.demo.world.facts import Fact, demo_facts
from probekit.demo.world.probe import demo_natural, demo_template
from probekit.demo.world.text import demo_text

__all__ = ["Document", "Fact", "demo_documents", "demo_facts", "demo_natural", "demo_template", "demo_text"]
