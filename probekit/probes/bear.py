"""BEAR (Wiland, Ploner and Akbik 2024): facts of 60 Wikidata relations, three templates and few, balanced options each.

The files are ``bear/BEAR/metadata_relations.json`` (relation -> ``templates``) and ``bear/BEAR/<relation>.jsonl``
(``sub_id``, a Wikidata item, ``sub_label``, ``sub_aliases`` and ``obj_label``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from probekit.errors import ProbeError
from probekit.files.naming import shown_name
from probekit.files.reading import read_object
from probekit.probes.data import BEAR, locate
from probekit.probes.facts import Fact, Templates, as_prompt, has_slots, records, select, value, worded
from probekit.probes.probe import Probe, by_relation


@dataclass(frozen=True)
class BearFact(Fact):
    """A fact, and the one of its relation's options that is right."""

    object: str


def bear_templates(folder: Path | None = None) -> dict[str, tuple[str, ...]]:
    """The templates of every relation, each with [X] and [Y] once.

    Args:
        folder: one's own in the same layout.

    Raises:
        ProbeError: data not at hand, or of another form.
    """
    path = (folder or locate("bear/BEAR")) / BEAR
    try:
        templates = {relation: tuple(entry["templates"]) for relation, entry in read_object(path).items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise ProbeError(f"{path}: an object of relations with 'templates' is needed ({error!r})") from error
    for relation, texts in templates.items():
        if wrong := [text for text in texts if not has_slots(text)]:
            raise ProbeError(f"{path}, relation {relation}: a template must hold [X] and [Y] once, is {wrong[0]!r}")
    return templates


def bear_names() -> dict[str, tuple[str, ...]]:
    """Other names of every subject that has some, by Wikidata item.

    Raises:
        ProbeError: data not at hand, or a record without one of its fields.
    """
    names: dict[str, dict[str, None]] = {}
    for path in sorted(locate("bear/BEAR").glob("P*.jsonl")):
        for item, aliases in records(path, _names):
            if aliases:
                names.setdefault(item, {}).update(dict.fromkeys(aliases))
    return {item: tuple(aliases) for item, aliases in names.items()}


def _names(row: dict[str, Any], _: int) -> tuple[str, list[str]]:
    aliases = value(row, "sub_aliases", list)
    if not all(isinstance(name, str) for name in aliases):
        raise KeyError("sub_aliases")
    return value(row, "sub_id"), aliases


def bear(
    templates: Templates = "first",
    relations: Sequence[str] | None = None,
    limit: int | None = None,
    seed: int = 0,
) -> Probe:
    """BEAR's facts through its templates; the options of a relation compete at its prompts, each right equally often.

    A prompt's first sign is made upper case, as in the authors' package.

    Args:
        templates: the first of each relation, or all three: a prompt each.
        relations: Wikidata property ids; all by default. The entities stay those of all.
        limit: at most so many facts, drawn with ``seed``.

    Raises:
        ProbeError: data not at hand or of another form, or no such relation.
    """
    probe = bear_folder(str(locate("bear/BEAR")), templates, relations, limit, seed, "bear", "general")
    return replace(probe, licence="none stated", citation="wiland2024")


def bear_folder(
    folder: str,
    /,
    templates: Templates = "first",
    relations: Sequence[str] | None = None,
    limit: int | None = None,
    seed: int = 0,
    name: str = "",
    domain: str = "",
) -> Probe:
    """Anyone's facts in BEAR's layout, asked as ``bear`` asks them.

    Args:
        folder: with ``metadata_relations.json`` and a ``.jsonl`` file for each of its relations.
        templates, relations, limit, seed: as there.
        name: as shown on pages; the folder's by default.
        domain: as shown on pages; empty by default.

    Raises:
        ProbeError: as there.
    """
    texts, facts = bear_templates(Path(folder)), bear_facts(Path(folder))
    rows = []
    for fact in select(facts, relations, limit, seed):
        for suffix, prompt in worded(fact, texts[fact.relation], templates):
            text = prompt[:1].upper() + prompt[1:]
            rows.append(as_prompt(fact, text, [fact.object], suffix, template_id=fact.relation + suffix))
    options, prompts = by_relation((fact.relation, [fact.object]) for fact in facts), pd.DataFrame(rows)
    entities, shown = [fact.object for fact in facts], name or shown_name(folder)
    return Probe(shown, prompts, entities, "template", domain, candidates="relation", relations=options)


def bear_facts(folder: Path | None = None) -> list[BearFact]:
    """Every fact, in file order."""
    place = folder or locate("bear/BEAR")
    files = {relation: place / f"{relation}.jsonl" for relation in bear_templates(folder)}
    return [fact for relation, path in files.items() for fact in records(path, partial(_fact, relation))]


def _fact(relation: str, row: dict[str, Any], number: int) -> BearFact:
    return BearFact(f"{relation}/{number}", relation, value(row, "sub_label"), value(row, "obj_label"))
