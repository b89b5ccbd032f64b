"""Biomedical templates: MedLAMA (Meng et al. 2021) and BioLAMA (Sung et al. 2021), read in upstream's own layouts.

Both ask for the objects of a subject and a relation, and most relations are many to many: a prompt's golds are all
objects that its row lists, the first of them being the fact's own (paper 001, section 3.2).
"""

from __future__ import annotations

import ast
import logging
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from probekit.errors import ProbeError
from probekit.files import canonical
from probekit.probes.data import locate
from probekit.probes.probe import MASK, Probe, numbered_rows

log = logging.getLogger(__name__)

SPLITS = ("train", "dev", "test")
SPLIT_FACTS = "facts of the split"  # among the counts


@dataclass(frozen=True)
class Triple:
    """A subject, a relation, and all objects, the fact's own first; ``aliases`` and ``types`` are by object."""

    fact_id: str
    relation: str
    subject: str
    objects: tuple[str, ...]
    aliases: Mapping[str, Sequence[str]] = field(default_factory=dict)
    types: Mapping[str, Sequence[str]] = field(default_factory=dict)
    subject_aliases: Sequence[str] = ()
    split: str = ""

    def golds(self, aliases: bool) -> list[str]:
        """The objects, and with ``aliases`` their other names after them."""
        others = (name for names in self.aliases.values() for name in names) if aliases else ()
        return list(dict.fromkeys((*self.objects, *others)))


def _text(row: dict[str, Any], name: str) -> str:
    if not isinstance(row.get(name), str) or not row[name].strip():
        raise KeyError(name)
    return str(row[name])


def _texts(row: dict[str, Any], name: str) -> tuple[str, ...]:
    """A list of non-empty strings, repeated ones once, in order."""
    found = row.get(name)
    if not isinstance(found, list) or not all(isinstance(one, str) and one.strip() for one in found):
        raise KeyError(name)
    return tuple(dict.fromkeys(found))


def _broken(path: Path, number: int, error: KeyError) -> ProbeError:
    return ProbeError(f"{path}, line {number}, field {error}: missing, or of the wrong kind")


def _templates(path: Path, relation: str, template: str) -> dict[str, str]:
    """Template by relation, from the two named fields; each holds [X] and [Y] once."""
    found = {}
    for number, row in numbered_rows(path):
        try:
            text = _text(row, template)
            if text.count("[X]") != 1 or text.count("[Y]") != 1:
                raise ProbeError(
                    f"{path}, line {number}, field '{template}': [X] and [Y] once are needed, found {text!r}"
                )
            found[_text(row, relation)] = text
        except KeyError as error:
            raise _broken(path, number, error) from error
    return found


def _probe(
    name: str,
    triples: list[Triple],
    chosen: list[Triple],
    templates: dict[str, str],
    aliases: bool,
    relations: Sequence[str] | None,
    limit: int | None,
    seed: int,
    **about: Any,
) -> Probe:
    known = dict.fromkeys(t.relation for t in triples)
    unknown = [one for one in relations or () if one not in known]
    if unknown:
        raise ProbeError(f"no relation {', '.join(unknown)} at hand; there are {', '.join(known)}")
    chosen = [t for t in chosen if relations is None or t.relation in relations]
    if limit is not None and limit < len(chosen):
        chosen = [chosen[i] for i in sorted(random.Random(seed).sample(range(len(chosen)), limit))]
    if not chosen:
        raise ProbeError(f"{name}: no prompt is left under these options")
    rows = [
        {
            "prompt_id": t.fact_id,
            "text": templates[t.relation].replace("[Y]", MASK).replace("[X]", t.subject),
            "gold": t.golds(aliases),
            "fact_id": t.fact_id,
            "relation": t.relation,
            "subject": t.subject,
            "entity_type": next(iter(t.types.get(t.objects[0], ())), ""),
            "types": t.types,
            "aliases": t.aliases,
            "subject_aliases": t.subject_aliases,
        }
        for t in chosen
    ]
    told = {"entity_type": "types", "types": "types", "aliases": "aliases", "subject_aliases": "subject_aliases"}
    absent = [column for column, source in told.items() if not any(getattr(t, source) for t in triples)]
    prompts = pd.DataFrame(rows).drop(columns=absent)
    entities = [gold for t in triples for gold in t.golds(aliases)]
    return Probe(name, prompts, entities, style="template", domain="biomedical", **about)


def _absent(what: str, names: list[str]) -> dict[str, int]:
    if names:
        log.warning("%s: %s", what, ", ".join(names))
    return {what: len(names)} if names else {}


def _printed(row: dict[str, Any], name: str) -> tuple[str, ...]:
    """A field with a list of texts as Python prints it, not empty."""
    try:
        found = ast.literal_eval(_text(row, name))
        canonical(found).encode()  # no half of a surrogate pair
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise KeyError(name) from error
    if not isinstance(found, list) or not found or not all(isinstance(one, str) for one in found):
        raise KeyError(name)
    return tuple(found)


def _medlama_triple(row: dict[str, Any], relation: str, path: Path, line: int, number: int) -> Triple:
    try:
        objects = list(_printed(row, "tail_names_list"))
        subject = _text(row, "head_name")
        fact_id = f"{relation}/{_text(row, 'head_cui')}/{number}"  # a head may have several rows, under several names
        return Triple(fact_id, relation, subject, _texts({"tail_names_list": objects}, "tail_names_list"))
    except KeyError as error:
        raise _broken(path, line, error) from error


MEDLAMA, MEDLAMA_PROMPTS = "medlama/medlama/2021AA", "medlama/medlama/prompts.csv"


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
        ProbeError: data not at hand, an unknown relation, or a broken record, with file and field.
    """
    templates = _templates(locate(MEDLAMA_PROMPTS), "pid", f"{prompt}_prompt")
    triples, absent = list[Triple](), []
    for relation in templates:
        path = locate(MEDLAMA) / f"{relation}_1000.csv"
        if path.is_file():
            rows = enumerate(numbered_rows(path), start=1)
            triples += [_medlama_triple(row, relation, path, line, n) for n, (line, row) in rows]
        else:
            absent.append(relation)
    counts = {"facts": len(triples), **_absent("relations absent", absent)}
    about = {"licence": "derived from UMLS; none stated", "citation": "meng2021", "counts": counts}
    return _probe("medlama/template", triples, triples, templates, False, relations, limit, seed, **about)


def medlama_names() -> dict[str, tuple[str, ...]]:
    """The names under which MedLAMA's files tell of a concept (CUI), as subject or as object, in file order."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for path in sorted(locate(MEDLAMA).glob("*_1000.csv")):
        for number, row in numbered_rows(path):
            try:
                found[_text(row, "head_cui")][_text(row, "head_name")] = None
                concepts, names = (_printed(row, f"tail_{what}_list") for what in ("cuis", "names"))
                if len(concepts) != len(names):
                    raise KeyError("tail_cuis_list")
                for concept, name in zip(concepts, names, strict=True):
                    found[concept][name] = None
            except KeyError as error:
                raise _broken(path, number, error) from error
    return {concept: tuple(names) for concept, names in found.items()}


def _biolama_triple(row: dict[str, Any], relation: str, split: str, path: Path, number: int) -> Triple:
    try:
        objects = _texts(row, "obj_labels")
        if not objects:
            raise KeyError("obj_labels")
        aliases, types = _by_object(row, "obj_aliases"), _by_object(row, "obj_types", single=True)
        subject_aliases = _texts({"sub_aliases": row.get("sub_aliases") or []}, "sub_aliases")
        uuid, subject = _text(row, "uuid"), _text(row, "sub_label")
        return Triple(uuid, relation, subject, objects, aliases, types, subject_aliases, split)
    except KeyError as error:
        raise _broken(path, number, error) from error


def _by_object(row: dict[str, Any], name: str, single: bool = False) -> dict[str, tuple[str, ...]]:
    """A field with a list of texts, or a ``single`` text, for each object; an object told of twice has both."""
    told, labels = row.get(name) or [], row["obj_labels"]
    if not isinstance(told, list) or len(told) not in (0, len(labels)):
        raise KeyError(name)
    found: dict[str, tuple[str, ...]] = {}
    for label, entry in zip(labels, told or [[]] * len(labels), strict=True):
        texts = _texts({name: [entry] if single and isinstance(entry, str) and entry else entry or []}, name)
        if texts:
            found[label] = tuple(dict.fromkeys((*found.get(label, ()), *texts)))
    return found


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
    (``relation, template``). Candidates are the objects of all relations and of every split at hand, whatever the
    options. Upstream publishes CTD and Wikidata as an archive on a file host and, for UMLS, the scripts that make it.

    Args:
        relations: some of them; all by default.
        split: whose facts are asked; upstream reports ``test``.
        aliases: the aliases of a fact's objects are golds too, and every alias is a candidate; upstream's own
            evaluation accepts them. In contexts (study 2) an object and its aliases are one, with or without.
        limit: at most so many facts, drawn with ``seed``.

    Raises:
        ProbeError: data not at hand, an unknown relation or split, or a broken record, with file and field.
    """
    if split not in SPLITS:
        raise ProbeError(f"biolama/{kb}: split must be one of {', '.join(SPLITS)}, not {split!r}")
    templates = _templates(locate(f"biolama/data/{kb}/prompts/manual.jsonl"), "relation", "template")
    folder, triples = locate(f"biolama/data/{kb}/triples_processed"), list[Triple]()
    there = sorted(path.name for path in folder.iterdir() if path.is_dir())
    for relation in (name for name in templates if name in there):
        for part in SPLITS:
            path = folder / relation / f"{part}.jsonl"
            if path.is_file():
                triples += [_biolama_triple(row, relation, part, path, n) for n, row in numbered_rows(path)]
            elif part == split:
                raise ProbeError(f"{path} is missing; put upstream's file there, or name another split")
    chosen = [t for t in triples if t.split == split]
    counts = {
        "facts": len(triples),
        SPLIT_FACTS: len(chosen),
        **_absent("relations absent", [name for name in templates if name not in there]),
        **_absent("relations without a prompt", [name for name in there if name not in templates]),
    }
    about = {"licence": "see the knowledge base", "citation": "sung2021", "counts": counts}
    return _probe(f"biolama/{kb}", triples, chosen, templates, aliases, relations, limit, seed, **about)
