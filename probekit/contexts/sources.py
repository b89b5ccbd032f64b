"""Triples and documents that belong together: T-REx, MedLAMA, and anyone's own (study 2)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import pandas as pd

from probekit.contexts.folder import Folder
from probekit.contexts.index import Index, is_index
from probekit.contexts.matching import pool
from probekit.contexts.resources import Document, read_documents
from probekit.contexts.retrieval import NAMED, READ, Found, retrieve, triples
from probekit.errors import ProbeError
from probekit.probes.biomedical import medlama
from probekit.probes.data import locate
from probekit.probes.lama import sample_sentences, trex, trex_facts
from probekit.probes.per_file import Fill
from probekit.probes.probe import MASK, Probe
from probekit.probes.texts import load_text
from probekit.store import Store


@dataclass(frozen=True)
class Source:
    """A probe, and documents in which its triples are looked for.

    Args:
        name: of the resource, as shown on pages.
        probe: the prompts.
        documents: gone through once, or of files and of an index as these are searched.
        aliases: pool -> entity -> other forms, beside those that the probe tells (see ``triples``).
        counts: of what was read and left out; of files it grows while ``documents`` is read.
    """

    name: str
    probe: Probe
    documents: Iterable[Document]
    aliases: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)


def look_up(
    source: Source,
    counts: Counter[str],
    most: int | None = None,
    store: Store | None = None,
    fill: Fill | None = None,
    seed: int = 0,
) -> tuple[pd.DataFrame, list[Found]]:
    """The triples of a source and the documents of each; what to give to ``steps``.

    Args:
        counts: see ``retrieve``; raised by the ``counts`` of the source, too.
        most: documents of a triple, drawn where there are more.
        store: where it is kept what each file of a folder holds; None keeps nothing.
        fill: is given the work of all files before the first is read.
        seed: of the draw of documents.

    Raises:
        ProbeError: such as no document with the subject and the target of any triple, and what was read and left out.
    """
    table = triples(source.probe)
    pools = {}
    for name, entities in table.attrs["entities"].items():
        names, more = table.attrs["aliases"].get(name, {}), source.aliases.get(name, {})
        forms = {entity: [*names.get(entity, ()), *more.get(entity, ())] for entity in dict.fromkeys([*names, *more])}
        pools[name] = pool(entities, forms)
    if isinstance(source.documents, Index):
        matches = source.documents.retrieve(table, pools, counts, most, seed)
    elif isinstance(source.documents, Folder):
        matches = source.documents.retrieve(table, pools, counts, most, store, fill, seed)
    else:
        matches = retrieve(table, source.documents, pools, counts, most, seed)
    counts.update(source.counts)
    if not matches:
        reasons = ", ".join(f"{reason} {n}" for reason, n in source.counts.items() if n)
        raise ProbeError(
            f"{source.name}: no document holds the subject and the target of any triple, so there is no context to ask "
            f"with; documents read {counts[READ]}"
            + f", with a subject {counts[NAMED]}" * (NAMED in counts)
            + f" ({reasons})" * bool(reasons)
        )
    return table, matches


def trex_contexts(per_fact: int | None = None) -> Source:
    """T-REx by template; a document is the joined evidence sentences of one subject, each once, the names filled in.

    A pool is the objects of a relation; the forms under which its evidence sentences name an object are its aliases.

    Args:
        per_fact: at most so many different sentences of each fact, drawn; all by default.
    """
    sentences: dict[str, dict[str, None]] = defaultdict(dict)
    names: dict[str, str] = {}
    forms: dict[str, dict[str, dict[str, None]]] = defaultdict(lambda: defaultdict(dict))
    for fact in trex_facts()[0]:
        names[fact.subject_key] = fact.subject
        for text, surface in sample_sentences(fact, per_fact, 0):
            sentences[fact.subject_key][" ".join(text.replace(MASK, surface).split())] = None
            forms[fact.relation][fact.object][surface] = None
    documents = [Document(key, " ".join(texts), names[key]) for key, texts in sentences.items()]
    aliases = {relation: {o: list(of) for o, of in objects.items()} for relation, objects in forms.items()}
    return Source("trex", trex("template"), documents, aliases=aliases)


def medlama_contexts() -> Source:
    """MedLAMA; a document is all text at hand that names one subject, joined, each piece once: the PubMed sentences
    that come with it, then MEDLINE abstracts.

    One sentence rarely names two objects of a subject. The sentences have neither case nor punctuation, so that short
    names in capitals are not found in them. A pool is the objects of a relation.
    """
    probe, counts = medlama(), Counter[str]()
    asked = triples(probe)
    subjects = pool(asked["subject"], asked.attrs["subjects"])
    sentences = (s for half in ("pubmed-train", "pubmed-held-out") for s in load_text(half).sentences)
    texts: dict[str, dict[str, None]] = defaultdict(dict)
    for text in chain(sentences, (document.text for document in read_documents(locate("pubmed"), counts))):
        for mention in subjects.find(text):
            texts[mention.kind][text] = None
    documents = [Document(subject, " ".join(named), subject) for subject, named in texts.items()]
    return Source("medlama", probe, documents, counts=counts)


def own_contexts(name: str, probe: Probe, place: str | Path) -> Source:
    """Anyone's probe with anyone's documents: what ``read_documents`` takes, or the folder of an index of them.

    See ``triples`` for what a probe can tell.
    """
    if is_index(place):
        index = Index(place)
        return Source(name, probe, index, counts=index.counts)
    counts = Counter[str]()
    return Source(name, probe, Folder(place, counts), counts=counts)
