"""The demo world's facts with documents in which they are looked for."""

from __future__ import annotations

from probekit.contexts.resources import Document
from probekit.contexts.sources import Source
from probekit.demo.world.documents import demo_documents
from probekit.demo.world.probe import DATASETS, demo_template
from probekit.demo.world.relation import Domain


def demo_contexts(domain: Domain, seed: int = 0) -> Source:
    """The demo world's documents with its facts asked by template; the pools are its types of objects."""
    documents = [Document(d.doc_id, d.text, d.subject) for d in demo_documents(domain, seed)]
    return Source(DATASETS[domain], demo_template(domain, seed=seed), documents)
