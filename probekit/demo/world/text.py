"""Sentences of the demo world: the training text, and fresh ones in the same words."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from probekit.demo.world.facts import GRAMMARS, RELATIONS, Fact, World, demo_facts, make_world
from probekit.demo.world.relation import Domain
from probekit.probes.probe import MASK

SLOT = re.compile(r"\{([a-z]{2,})\}")  # of a type of entity; {s}, {o} and {x} are the fact's own


@dataclass(frozen=True)
class TrainingSentence:
    """A sentence that states a fact, and the number of the wording it uses."""

    wording: int
    sentence: str


def fill(text: str, others: Sequence[str], world: World, generator: random.Random) -> str:
    """Put names into the slots of ``text``, none of which has to do with ``others`` or with each other."""
    present = list(others)
    for slot in SLOT.findall(text):
        free = [name for name in world.names[slot] if not any(world.links.clash(name, other) for other in present)]
        present.append(generator.choice(free))
        text = text.replace(f"{{{slot}}}", present[-1], 1)
    return text


def finish(text: str) -> str:
    """Start with a capital, unless a name stands first, and end with a full stop."""
    return f"{text if text.startswith('{') else text[0].upper() + text[1:]}."


def _compose(fact: Fact, wording: int, world: World, generator: random.Random) -> str:
    """A sentence with ``{s}`` and ``{o}`` still open; what stands around them names no entity of the object's type."""
    around = GRAMMARS[fact.domain]
    parts = []
    for choices, without in ((around.openings, 5), (around.clauses, 4)):
        fitting = [choice for choice in choices if fact.object_type not in SLOT.findall(choice)]
        parts.append("" if generator.randrange(10) < without else generator.choice(fitting))
    sentence = parts[0] + RELATIONS[fact.relation].wordings[wording] + parts[1]
    return fill(finish(sentence), [fact.subject, fact.object], world, generator)


def _probe_wording(fact: Fact, seed: int) -> tuple[int, bool]:
    """The wording in which the probe asks a fact, and whether the text is kept from using it for that fact."""
    generator = random.Random(f"demo wording {seed} {fact.fact_id}")
    return generator.randrange(len(RELATIONS[fact.relation].wordings)), generator.randrange(2) == 1


@lru_cache(maxsize=4)
def training_sentences(seed: int = 0) -> Mapping[str, tuple[TrainingSentence, ...]]:
    """Of each fact, by its id, the distinct sentences that tell it: as many as its exposure."""
    world, sentences = make_world(seed), {}
    for fact in world.facts:
        generator = random.Random(f"demo text {seed} {fact.fact_id}")
        probed, withheld = _probe_wording(fact, seed)
        wordings = [n for n in range(len(RELATIONS[fact.relation].wordings)) if not (withheld and n == probed)]
        distinct: dict[str, TrainingSentence] = {}
        while len(distinct) < fact.exposure:
            wording = generator.choice(wordings)
            sentence = _compose(fact, wording, world, generator).format(s=fact.subject, o=fact.object)
            distinct[sentence] = TrainingSentence(wording, sentence)
        sentences[fact.fact_id] = tuple(distinct.values())
    return sentences


def demo_text(domain: Domain | None = None, seed: int = 0) -> list[str]:
    """The training text of one domain or, by default, of both: every fact told ``exposure`` times, shuffled.

    A sentence states one fact, in one of several wordings, and may open or end with something else, such as a year or
    a name (not of the object's type) that has nothing to do with the rest. No two sentences are the same, and the
    words of a template before, between or after its places occur nowhere as a whole.
    """
    by_fact = training_sentences(seed)
    text = [statement.sentence for fact in demo_facts(domain, seed) for statement in by_fact[fact.fact_id]]
    random.Random(f"demo order {seed}").shuffle(text)
    return text


def masked(fact: Fact, seed: int = 0) -> tuple[str, bool]:
    """A fresh sentence of the grammar with the object masked, and whether its wording is new for this fact.

    With the object filled in, it does not stand in the training text. About half of the facts, and all that are never
    told, are asked in a wording that the text did not use for them.
    """
    used = training_sentences(seed)[fact.fact_id]
    generator = random.Random(f"demo probe {seed} {fact.fact_id}")
    wording, _ = _probe_wording(fact, seed)
    while True:
        sentence = _compose(fact, wording, make_world(seed), generator)
        if sentence.format(s=fact.subject, o=fact.object) not in {statement.sentence for statement in used}:
            return sentence.format(s=fact.subject, o=MASK), wording not in {statement.wording for statement in used}
