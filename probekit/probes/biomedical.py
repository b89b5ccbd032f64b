"""Biomedical templates: MedLAMA (Meng et al. 2021) and BioLAMA (Sung et al. 2021), read in upstream's own layouts.

Both ask for the objects of a subject and a relation, and most relations are many to many: a prompt's golds are all
objects that its row lists, the first of them being the fact's own (paper 001, section 3).
"""

from __future__ import annotations

import ast
import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from probekit.errors import ProbeError
from probekit.files import canonical
from probekit.probes.data import locate
from probekit.probes.facts import Fact, as_prompt, fill, has_slots, records, select, text, texts
from probekit.probes.probe import Probe, by_relation

log = logging.getLogger(__name__)

SPLITS = ("train", "dev", "test")
SPLIT_FACTS = "facts of the split"  # among the counts
MEDLAMA, MEDLAMA_PROMPTS = "medlama/medlama/2021AA", "medlama/medlama/prompts.csv"


@dataclass(frozen=True)
class Triple(Fact):
    """A subject, a relation, and all objects, the fact's own first; ``aliases`` and ``types`` are by object."""

    objects: tuple[str, ...]
    aliases: Mapping[str, Sequence[str]] = field(default_factory=dict)
    types: Mapping[str, Sequence[str]] = field(default_factory=dict)
    subject_aliases: Sequence[str] = ()
    split: str = ""

    def golds(self, aliases: bool) -> list[str]:
        """The objects, and with ``aliases`` their other names after them."""
        others = (name for names in self.aliases.values() for name in names) if aliases else ()
        return list(dict.fromkeys((*self.objects, *others)))


def _templates(path: Path, relation: str, template: str) -> dict[str, str]:
    """Template by relation, from the two named fields; each holds [X] and [Y] once."""

    def checked(row: dict[str, Any], number: int) -> tuple[str, str]:
        if not has_slots(words := text(row, template)):
            raise ProbeError(f"{path}, line {number}, field '{template}': [X] and [Y] once are needed, found {words!r}")
        return text(row, relation), words

    return dict(records(path, checked))


def _probe(
    name: str, triples: list[Triple], selected: list[Triple], templates: dict[str, str], aliases: bool, **metadata: Any
) -> Probe:
    """The prompts of the ``selected`` triples, with the columns that any triple tells; all objects compete."""
    if not selected:
        raise ProbeError(f"{name}: no prompt is left under these options")
    rows = [
        as_prompt(t, fill(templates[t.relation], t.subject), t.golds(aliases))
        | {"entity_type": next(iter(t.types.get(t.objects[0], ())), ""), "types": t.types}
        | {"aliases": t.aliases, "subject_aliases": t.subject_aliases}
        for t in selected
    ]
    untold = [name for name in ("types", "aliases", "subject_aliases") if not any(getattr(t, name) for t in triples)]
    prompts = pd.DataFrame(rows).drop(columns=[*untold, *(["entity_type"] if "types" in untold else [])])
    entities = [gold for t in triples for gold in t.golds(aliases)]
    metadata["relations"] = by_relation((t.relation, t.golds(aliases)) for t in triples)
    return Probe(name, prompts, entities, style="template", domain="biomedical", **metadata)


def _absent(what: str, names: list[str]) -> dict[str, int]:
    if names:
        log.warning("%s: %s", what, ", ".join(names))
    return {what: len(names)} if names else {}


def _printed(row: dict[str, Any], name: str) -> tuple[str, ...]:
    """A field with a list of texts as Python prints it, not empty; else KeyError."""
    try:
        listed = ast.literal_eval(text(row, name))
        canonical(listed).encode()  # no half of a surrogate pair
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise KeyError(name) from error
    if not isinstance(listed, list) or not listed or not all(isinstance(entry, str) for entry in listed):
        raise KeyError(name)
    return tuple(listed)


def medlama(
    relations: Sequence[str] | None = None,
    limit: int | None = None,
    seed: int = 0,
    prompt: Literal["human", "default"] = "human",
) -> Probe:
    """MedLAMA, 19 relations of 1,000 facts, in upstream's human-written prompts.

    The files are ``medlama/medlama/2021AA/<relation>_1000.csv``, of which the ``_hard`` ones are subsets, and
    ``medlama/medlama/prompts.csv``. Candidates are the objects of every relation at hand, whatever the options; a
    relation with a prompt and no file is named in a warning and counted.

    Args:
        relations: some of them; all by default.
        limit: at most so many facts, drawn with ``seed``.
        prompt: upstream's ``human`` prompts, or its ``default`` ones, which put the relation's name between the two.

    Raises:
        ProbeError: data not at hand, an unknown relation, no prompt left, or a broken record, with file and field.
    """
    templates = _templates(locate(MEDLAMA_PROMPTS), "pid", f"{prompt}_prompt")
    files = {relation: locate(MEDLAMA) / f"{relation}_1000.csv" for relation in templates}
    present = {relation: path for relation, path in files.items() if path.is_file()}
    triples = [
        triple for name, path in present.items() for triple in records(path, partial(_medlama_triple, name, count(1)))
    ]
    counts = {"facts": len(triples), **_absent("relations absent", [name for name in files if name not in present])}
    metadata = {"licence": "derived from UMLS; none stated", "citation": "meng2021", "counts": counts}
    selected = select(triples, relations, limit, seed)
    return _probe("medlama/template", triples, selected, templates, False, **metadata)


def _medlama_triple(relation: str, numbers: Iterator[int], row: dict[str, Any], _: int) -> Triple:
    """A head may have several rows, under several names: its id ends in the number of its row."""
    objects = list(_printed(row, "tail_names_list"))
    subject, concept = text(row, "head_name"), text(row, "head_cui")
    fact_id = f"{relation}/{concept}/{next(numbers)}"
    return Triple(fact_id, relation, subject, texts({"tail_names_list": objects}, "tail_names_list"))


def medlama_names() -> dict[str, tuple[str, ...]]:
    """The names under which MedLAMA's files tell of a concept (CUI), as subject or as object, in file order."""
    names: dict[str, dict[str, None]] = defaultdict(dict)
    for path in sorted(locate(MEDLAMA).glob("*_1000.csv")):
        for pairs in records(path, _concepts):
            for concept, name in pairs:
                names[concept][name] = None
    return {concept: tuple(of) for concept, of in names.items()}


def _concepts(row: dict[str, Any], _: int) -> list[tuple[str, str]]:
    """The concepts of a row, each with its name there."""
    concepts, names = (_printed(row, f"tail_{what}_list") for what in ("cuis", "names"))
    if len(concepts) != len(names):
        raise KeyError("tail_cuis_list")
    return [(text(row, "head_cui"), text(row, "head_name")), *zip(concepts, names, strict=True)]


def _biolama_triple(relation: str, split: str, row: dict[str, Any], _: int) -> Triple:
    objects = texts(row, "obj_labels")
    if not objects:
        raise KeyError("obj_labels")
    aliases, types = _by_object(row, "obj_aliases"), _by_object(row, "obj_types", single=True)
    subject_aliases = texts({"sub_aliases": row.get("sub_aliases") or []}, "sub_aliases")
    return Triple(text(row, "uuid"), relation, text(row, "sub_label"), objects, aliases, types, subject_aliases, split)


def _by_object(row: dict[str, Any], name: str, single: bool = False) -> dict[str, tuple[str, ...]]:
    """A field with a list of texts, or a ``single`` text, for each object; an object that stands twice has both."""
    listed, labels = row.get(name) or [], row["obj_labels"]
    if not isinstance(listed, list) or len(listed) not in (0, len(labels)):
        raise KeyError(name)
    by_object: dict[str, tuple[str, ...]] = {}
    for label, entry in zip(labels, listed or [[]] * len(labels), strict=True):
        if of := texts({name: [entry] if single and isinstance(entry, str) and entry else entry or []}, name):
            by_object[label] = tuple(dict.fromkeys((*by_object.get(label, ()), *of)))
    return by_object


def biolama(
    kb: Literal["ctd", "wikidata", "umls"],
    relations: Sequence[str] | None = None,
    split: Literal["train", "dev", "test"] = "test",
    aliases: bool = False,
    limit: int | None = None,
    seed: int = 0,
) -> Probe:
    """BioLAMA, one knowledge base of three, in upstream's manual prompts.

    The files are ``biolama/data/<kb>/triples_processed/<relation>/{train,dev,test}.jsonl`` (``uuid, sub_label,
    obj_labels``, in ``obj_aliases`` a list of names and in ``obj_types`` a type or several for each object, and
    ``sub_aliases``) and ``biolama/data/<kb>/prompts/manual.jsonl``
    (``relation, template``). Candidates are the objects of all relations with a prompt and of every split at hand,
    whatever the options. Upstream publishes CTD and Wikidata as an archive on a file host and, for UMLS, the scripts
    that make it.

    Args:
        relations: some of them; all by default.
        split: whose facts are asked; upstream reports ``test``.
        aliases: the aliases of a fact's objects are golds too, and every alias is a candidate; upstream's own
            evaluation accepts them. In contexts (study 2) an object and its aliases are one, with or without.
        limit: at most so many facts, drawn with ``seed``.

    Raises:
        ProbeError: data not at hand, an unknown relation or split, no prompt left, or a broken record, with its field.
    """
    if split not in SPLITS:
        raise ProbeError(f"biolama/{kb}: split must be one of {', '.join(SPLITS)}, not {split!r}")
    templates = _templates(locate(f"biolama/data/{kb}/prompts/manual.jsonl"), "relation", "template")
    folder, triples = locate(f"biolama/data/{kb}/triples_processed"), list[Triple]()
    present = sorted(path.name for path in folder.iterdir() if path.is_dir())
    for relation in (name for name in templates if name in present):
        for split_name in SPLITS:
            path = folder / relation / f"{split_name}.jsonl"
            if path.is_file():
                triples += records(path, partial(_biolama_triple, relation, split_name))
            elif split_name == split:
                raise ProbeError(f"{path} is missing; put upstream's file there, or name another split")
    counts = {
        "facts": len(triples),
        SPLIT_FACTS: sum(triple.split == split for triple in triples),
        **_absent("relations absent", [name for name in templates if name not in present]),
        **_absent("relations without a prompt", [name for name in present if name not in templates]),
    }
    metadata = {"licence": "see the knowledge base", "citation": "sung2021", "counts": counts}
    selected = select(triples, relations, limit, seed, lambda triple: triple.split == split)
    return _probe(f"biolama/{kb}", triples, selected, templates, aliases, **metadata)
