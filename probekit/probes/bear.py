"""BEAR (Wiland, Ploner and Akbik 2024): its three templates of a Wikidata relation and other names of its subjects.

The files are ``bear/BEAR/metadata_relations.json`` (relation -> ``templates``) and ``bear/BEAR/<relation>.jsonl``
(``sub_id``, a Wikidata item, and ``sub_aliases``).
"""

from __future__ import annotations

from typing import Any

from probekit.errors import ProbeError
from probekit.probes.data import locate
from probekit.probes.probe import json_rows
from probekit.reading import read_object


def bear_templates() -> dict[str, tuple[str, ...]]:
    """The templates of every relation, each with [X] and [Y] once.

    Raises:
        ProbeError: data not at hand, or of another form.
    """
    path = locate("bear/BEAR/metadata_relations.json")
    try:
        found = {relation: tuple(about["templates"]) for relation, about in read_object(path).items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise ProbeError(f"{path}: an object of relations with 'templates' is needed ({error!r})") from error
    for relation, templates in found.items():
        for text in templates:
            if text.count("[X]") != 1 or text.count("[Y]") != 1:
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
            if not isinstance(row.get("sub_id"), str) or not isinstance(row.get("sub_aliases"), list):
                raise ProbeError(
                    f"{path}, line {number}, field 'sub_id' or 'sub_aliases': missing, or of the wrong kind"
                )
            if row["sub_aliases"]:
                found.setdefault(row["sub_id"], {}).update(dict.fromkeys(row["sub_aliases"]))
    return {item: tuple(names) for item, names in found.items()}
