"""The facts of the demo world, and how often each is told."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import cycle
from typing import TypeVar

from probekit.demo.world import biomedical, general
from probekit.demo.world.names import draw_names
from probekit.demo.world.relation import Domain, Grammar, Kind, Relation
from probekit.probes.probe import shows

GRAMMARS: Mapping[Domain, Grammar] = {"general": general.GRAMMAR, "biomedical": biomedical.GRAMMAR}
RELATIONS: Mapping[str, Relation] = {entry.name: entry for grammar in GRAMMARS.values() for entry in grammar.relations}
SHARES = {0: 9, 1: 10, 2: 8, 4: 8, 8: 6, 16: 5, 32: 4}  # of 50 facts, so many are told so often: a long tail
# exposures in their shares, each spread evenly, so that even a small relation gets some of each
CARDS = [card for _, card in sorted(((2 * i + 1) / n, card) for card, n in SHARES.items() for i in range(n))]
AnyFact = TypeVar("AnyFact")
OBJECTS_PER_SUBJECT = (1, 2, 2, 3, 3, 4)  # of an N-M relation, drawn with equal chances


@dataclass(frozen=True)
class Fact:
    """``subject relation object``, told ``exposure`` times in the training text; never, if it is 0 (held out)."""

    fact_id: str
    domain: Domain
    relation: str
    kind: Kind
    subject: str
    object: str
    exposure: int
    object_type: str


class Links:
    """Which names must not stand in one sentence: linked by a fact, or alike up to a part or to case."""

    def __init__(self, names: Mapping[str, Sequence[str]]) -> None:
        every = list(dict.fromkeys(name for of_type in names.values() for name in of_type))
        folded = [(name, name.casefold()) for name in every]
        self._alike = {
            name: [b for b, other in folded if (a in other and shows(name, b)) or (other in a and shows(b, name))]
            for name, a in folded
        }
        self._linked: set[tuple[str, str]] = set()

    def clash(self, name: str, other: str) -> bool:
        """Whether the names are alike, or linked by a fact of either or of a name alike to it."""
        return other in self._alike[name] or (name, other) in self._linked

    def halves(self, names: Sequence[str]) -> tuple[list[str], list[str]]:
        """Two lists of about equal length, names that are alike in the same."""
        parts: tuple[list[str], list[str]] = ([], [])
        for name in names:
            related = [half for half in parts if set(half) & set(self._alike[name])]
            (related or sorted(parts, key=len))[0].append(name)
        return parts

    def link(self, subject: str, answer: str) -> None:
        """Note a fact."""
        for name in self._alike[subject]:
            for other in self._alike[answer]:
                self._linked |= {(name, other), (other, name)}


@dataclass(frozen=True)
class World:
    """Names by type, facts, and which names a sentence must keep apart."""

    names: Mapping[str, tuple[str, ...]]
    facts: tuple[Fact, ...]
    links: Links

    @cached_property
    def answers(self) -> dict[tuple[str, str], list[str]]:
        """Objects by relation and subject, in the order of the facts."""
        objects: dict[tuple[str, str], list[str]] = {}
        for fact in self.facts:
            objects.setdefault((fact.relation, fact.subject), []).append(fact.object)
        return objects


@lru_cache(maxsize=4)
def make_world(seed: int = 0) -> World:
    """The world of a seed.

    Objects are drawn before exposures and without regard to them, some objects more often than others. Within every
    relation the exposures are dealt out anew, so that how often a fact is told says nothing about its object.
    """
    names = draw_names(seed)
    links = Links(names)
    facts: list[Fact] = []
    for domain, grammar in GRAMMARS.items():
        generator = random.Random(f"demo facts {domain} {seed}")
        deck = cycle(CARDS)
        for relation in grammar.relations:
            pairs = _pairs(relation, names, links, generator)
            exposures = [next(deck) for _ in pairs]
            generator.shuffle(exposures)
            start, types = relation.name.replace(" ", "-"), (domain, relation.name, relation.kind)
            facts += [
                Fact(f"{start}-{number:02}", *types, *pair, exposure, relation.object_type)
                for number, (pair, exposure) in enumerate(zip(pairs, exposures, strict=True))
            ]
    return World(names, tuple(facts), links)


def demo_facts(domain: Domain | None = None, seed: int = 0) -> tuple[Fact, ...]:
    """The facts of one domain or, by default, of both; another ``seed`` makes another world."""
    return tuple(fact for fact in make_world(seed).facts if domain in (None, fact.domain))


def _pairs(
    relation: Relation, names: Mapping[str, tuple[str, ...]], links: Links, generator: random.Random
) -> list[tuple[str, str]]:
    """Subject and object of each fact, no two of which could be taken for one another in a text."""
    subjects, objects = list(names[relation.subject_type]), list(names[relation.object_type])
    if relation.subject_type == relation.object_type:
        subjects, objects = links.halves(subjects)
    generator.shuffle(subjects)
    generator.shuffle(objects)
    pairs: list[tuple[str, str]] = []
    for subject in subjects:
        count = generator.choice(OBJECTS_PER_SUBJECT) if relation.kind == "N-M" else 1
        for _ in range(min(count, relation.facts - len(pairs))):
            free = [name for name in objects if not links.clash(subject, name)]
            if not free:
                break  # the next subject takes the fact
            answer = free[min(generator.randrange(len(free)), generator.randrange(len(free)))]
            links.link(subject, answer)
            pairs.append((subject, answer))
            if relation.kind == "1-1":
                objects.remove(answer)
    return pairs


def draw_facts(facts: Sequence[AnyFact], limit: int | None, key: str) -> list[AnyFact]:
    """All facts, or ``limit`` of them drawn by the generator of ``key``."""
    return list(facts) if limit is None or limit >= len(facts) else random.Random(key).sample(facts, limit)
