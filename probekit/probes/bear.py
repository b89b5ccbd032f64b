"""BEAR (Wiland, Ploner and Akbik 2024): facts of 60 Wikidata relations, three templates and few, balanced options each.

The files are ``bear/BEAR/metadata_relations.json`` (relation -> ``templates``) and ``bear/BEAR/<relation>.jsonl``
(``sub_id``, a Wikidata item, ``sub_label``, ``sub_aliases`` and ``obj_label``).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from probekit.errors import ProbeError
from probekit.files.naming import shown_name
from probekit.files.reading import read_object
from probekit.probes.data import BEAR, locate
from probekit.probes.probe import MASK, Probe, json_rows

Templates = Literal["first", "all"]


def bear_templates(folder: Path | None = None) -> dict[str, tuple[str, ...]]:
    """The templates of every relation, each with [X] and [Y] once.

    Args:
        folder: one's own in the same layout.

    Raises:
        ProbeError: data not at hand, or of another form.
    """
    path = (folder or locate("bear/BEAR")) / BEAR
    try:
        found = {relation: tuple(about["templates"]) for relation, about in read_object(path).items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise ProbeError(f"{path}: an object of relations with 'templates' is needed ({error!r})") from error
    for relation, templates in found.items():
        for text in templates:
            if not isinstance(text, str) or text.count("[X]") != 1 or text.count("[Y]") != 1:
                raise ProbeError(f"{path}, relation {relation}: a template must hold [X] and [Y] once, is {text!r}")
    return found


def bear_names() -> dict[str, tuple[str, ...]]:
    """Other names of every subject that has some, by Wikidata item.

    Raises:
        ProbeError: data not at hand, or a record without one of its fields.
    """
    found: dict[str, dict[Any, None]] = {}
    for path in sorted(locate("bear/BEAR").glob("P*.jsonl")):
        for number, row in json_rows(path):
            names = row.get("sub_aliases")
            known = isinstance(names, list) and all(isinstance(name, str) for name in names)
            if not isinstance(row.get("sub_id"), str) or not known:
                raise ProbeError(
                    f"{path}, line {number}, field 'sub_id' or 'sub_aliases': missing, or of the wrong kind"
                )
            if row["sub_aliases"]:
                found.setdefault(row["sub_id"], {}).update(dict.fromkeys(row["sub_aliases"]))
    return {item: tuple(names) for item, names in found.items()}


def bear(
    templates: Templates = "first",
    relations: Sequence[str] | None = None,
    limit: int | None = None,
    seed: int = 0,
) -> Probe:
    """BEAR's facts through its templates; rank them with ``candidates=bear_options()``, each right equally often.

    The first letter of a prompt is a capital, as in the authors' package.

    Args:
        templates: the first of each relation, or all three: a prompt each.
        relations: Wikidata property ids; all by default. The entities stay those of all.
        limit: at most so many facts, drawn with ``seed``.

    Raises:
        ProbeError: data not at hand or of another form, or no such relation.
    """
    prompts, entities = _asked(None, templates, relations, limit, seed)
    return Probe("bear", prompts, entities, "template", "general", licence="none stated", citation="wiland2024")


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
        name, domain: as shown on pages; the folder's name by default.

    Raises:
        ProbeError: as there.
    """
    prompts, entities = _asked(Path(folder), templates, relations, limit, seed)
    return Probe(name or shown_name(folder), prompts, entities, "template", domain)


def _asked(
    folder: Path | None, templates: Templates, relations: Sequence[str] | None, limit: int | None, seed: int
) -> tuple[pd.DataFrame, list[str]]:
    """Prompts and entities."""
    if templates not in ("first", "all"):
        raise ProbeError(f"templates must be 'first' or 'all', not {templates!r}")
    known, facts = bear_templates(folder), _facts(folder)
    if unknown := [name for name in relations or () if name not in known]:
        raise ProbeError(f"BEAR has no relation {', '.join(unknown)}; it has {', '.join(known)}")
    chosen = [fact for fact in facts if relations is None or fact[1] in relations]
    if limit is not None and limit < len(chosen):
        chosen = [chosen[i] for i in sorted(random.Random(seed).sample(range(len(chosen)), limit))]
    rows = []
    for fact, relation, subject, option in chosen:
        for n, template in enumerate(known[relation][: 1 if templates == "first" else None]):
            text = template.replace("[X]", subject).replace("[Y]", MASK)
            text = text[:1].upper() + text[1:]
            rows.append((f"{fact}/{n}", text, [option], fact, relation, subject, f"{relation}/{n}"))
    columns = ["prompt_id", "text", "gold", "fact_id", "relation", "subject", "template_id"]
    return pd.DataFrame(rows, columns=columns), list(dict.fromkeys(option for *_, option in facts))


def bear_options() -> dict[str, list[str]]:
    """The options of every relation: the objects of its facts, each of as many.

    Raises:
        ProbeError: data not at hand or of another form.
    """
    found: dict[str, dict[str, None]] = {}
    for _, relation, _, option in _facts():
        found.setdefault(relation, {})[option] = None
    return {relation: list(options) for relation, options in found.items()}


def _facts(folder: Path | None = None) -> list[tuple[str, str, str, str]]:
    """Id, relation, subject and object of every fact, in file order."""
    found = []
    for relation in bear_templates(folder):
        path = (folder or locate("bear/BEAR")) / f"{relation}.jsonl"
        for number, row in json_rows(path):
            if not all(isinstance(row.get(name), str) for name in ("sub_label", "obj_label")):
                raise ProbeError(f"{path}, line {number}, field 'sub_label' or 'obj_label': missing, or no string")
            found.append((f"{relation}/{number}", relation, row["sub_label"], row["obj_label"]))
    return found
