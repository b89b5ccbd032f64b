"""What a domain of the demo world is made of: relations, and the words they are told, denied and asked in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Domain = Literal["general", "biomedical"]
Kind = Literal["1-1", "N-1", "N-M"]


@dataclass(frozen=True)
class Relation:
    """One relation.

    Args:
        name: also the start of its facts' ids.
        kind: ``1-1``: each subject and each object once; ``N-1``: each subject once; ``N-M``: both several times.
        subject_type: of entity. If it equals ``object_type``, subjects and objects are of two halves of the names, so
            that no object is ever asked about.
        object_type: of entity.
        facts: how many.
        wordings: of the training text, with ``{s}`` for the subject and ``{o}`` for the object.
        templates: as an expert would write them; what they say around the names stands nowhere in the training text.
        denial: says in a document that ``{o}``, an object of ``{x}``, is none of ``{s}``; empty unless ``N-M``.
    """

    name: str
    kind: Kind
    subject_type: str
    object_type: str
    facts: int
    wordings: tuple[str, ...]
    templates: tuple[str, ...]
    denial: str = ""


@dataclass(frozen=True)
class Grammar:
    """A domain's relations, and what may stand around a fact: openings and clauses, neutral sentences of a document.

    A slot such as ``{year}`` or ``{person}`` takes any name of that type that has nothing to do with the rest.
    """

    openings: tuple[str, ...]
    clauses: tuple[str, ...]
    neutral: tuple[str, ...]
    relations: tuple[Relation, ...]
