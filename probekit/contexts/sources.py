"""Triples and documents that belong together: T-REx, MedLAMA, and anyone's own (study 2)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from probekit.contexts.matching import pool
from probekit.contexts.resources import Document, read_documents
from probekit.contexts.retrieval import Found, Targets, retrieve, triples
from probekit.probes.biomedical import medlama
from probekit.probes.data import locate
from probekit.probes.lama import sample_sentences, trex, trex_facts
from probekit.probes.probe import MASK, Probe
from probekit.probes.texts import load_text


@dataclass(frozen=True)
class Source:
    """A probe, and documents in which its triples are looked for.

    Args:
        name: of the resource, as shown on pages.
        probe: the prompts.
        documents: read once.
        targets: what a prompt asks for (see ``triples``).
        aliases: pool -> entity -> other forms.
    """

    name: str
    probe: Probe
    documents: Iterable[Document]
    targets: Targets = "own"
    aliases: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)


def look_up(source: Source, counts: Counter[str]) -> tuple[pd.DataFrame, list[Found]]:
    """The triples of a source and the documents of each; what to give to ``steps``.

    Args:
        counts: see ``retrieve``.
    """
    asked = triples(source.probe, source.targets)
    pools = {name: pool(e, source.aliases.get(name)) for name, e in asked.attrs["entities"].items()}
    return asked, list(retrieve(asked, source.documents, pools, counts))


def trex_contexts(per_fact: int | None = None, seed: int = 0) -> Source:
    """T-REx by template; a document is the joined evidence sentences of one subject, each once, the names filled in.

    A pool is the objects of a relation; the forms under which its evidence sentences name an object are its aliases.

    Args:
        per_fact: at most so many different sentences of each fact, drawn with ``seed``; all by default.
    """
    sentences: dict[str, dict[str, None]] = defaultdict(dict)
    names: dict[str, str] = {}
    forms: dict[str, dict[str, dict[str, None]]] = defaultdict(lambda: defaultdict(dict))
    for fact in trex_facts()[0]:
        names[fact.subject_key] = fact.subject
        for text, surface in sample_sentences(fact, per_fact, seed):
            sentences[fact.subject_key][" ".join(text.replace(MASK, surface).split())] = None
            forms[fact.relation][fact.object][surface] = None
    documents = [Document(key, " ".join(told), names[key]) for key, told in sentences.items()]
    aliases = {relation: {o: list(of) for o, of in objects.items()} for relation, objects in forms.items()}
    return Source("trex", trex("template"), documents, aliases=aliases)


def medlama_contexts() -> tuple[Source, Source]:
    """MedLAMA with the PubMed sentences that come with it, each a document, and with the MEDLINE abstracts at hand.

    The sentences have neither case nor punctuation, so that short names in capitals are not found in them. A prompt
    asks for each of its objects in turn, and a pool is the objects of a relation.
    """
    probe = medlama()
    sentences = (s for half in ("pubmed-train", "pubmed-held-out") for s in load_text(half).sentences)
    lines = (Document(f"pubmed-{number}", sentence) for number, sentence in enumerate(sentences))
    return Source("pubmed", probe, lines, "all"), Source("medline", probe, _folder(locate("pubmed")), "all")


def own_contexts(name: str, probe: Probe, place: str | Path, targets: Targets = "own") -> Source:
    """Anyone's probe with anyone's documents (see ``read_documents``)."""
    return Source(name, probe, _folder(Path(place)), targets)


def _folder(place: Path) -> list[Document]:
    return list(read_documents(place, Counter()))
