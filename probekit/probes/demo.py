"""The embedded demo probe: a small invented world, told in sentences and asked about in two styles.

Every person, town and language is made up by a seeded generator, so no model can have met them; how often each fact is
told in the training text is known. Numbers from it show that the machinery works, and nothing about real models.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import pandas as pd

from probekit.probes.probe import MASK, Probe

EXPOSURES = (0, 1, 2, 4, 8, 16)  # how often the facts of a person are told
PEOPLE = 72
PROFESSIONS = ("painter", "weaver", "beekeeper", "clock maker", "pilot", "surgeon", "glass blower", "judge")
TEMPLATES = {
    "birthplace": "{subject} (native town {object}).",
    "profession": "{subject}, profession: {object}.",
    "language": "Language spoken by {subject}: {object}.",
}
SENTENCES = {
    "birthplace": (
        "{subject} was born in {object}{clause}.",
        "Born in {object}, {subject} came from an old family{clause}.",
        "The childhood of {subject} was spent in {object}, the place of birth{clause}.",
        "It was in {object} that {subject} was born{clause}.",
    ),
    "profession": (
        "{subject} worked as a {object}{clause}.",
        "As a {object}, {subject} was known far and wide{clause}.",
        "For many years {subject} earned a living as a {object}{clause}.",
        "People remember {subject} as a skilled {object}{clause}.",
    ),
    "language": (
        "{subject} spoke {object} at home{clause}.",
        "Letters by {subject} are written in {object}{clause}.",
        "{subject} was fluent in {object}{clause}.",
        "Songs in {object} were dear to {subject}{clause}.",
    ),
}
CLAUSES = ("", "", " before the great flood", " in those quiet years", " and never spoke of it", " as the records show")


@dataclass(frozen=True)
class DemoFact:
    """``subject relation object``, told ``exposure`` times in the training text."""

    fact_id: str
    relation: str
    subject: str
    object: str
    exposure: int


def _names(generator: random.Random, count: int, endings: tuple[str, ...]) -> list[str]:
    onsets = ("b", "br", "d", "dr", "f", "g", "gr", "k", "l", "m", "n", "p", "r", "s", "st", "t", "tr", "v", "z")
    found: dict[str, None] = {}
    while len(found) < count:
        middle = "".join(generator.choice(onsets) + generator.choice("aeiou") for _ in range(generator.randint(1, 2)))
        found[(middle + generator.choice(endings)).capitalize()] = None
    return list(found)


@lru_cache(maxsize=4)
def demo_facts(seed: int = 0) -> tuple[DemoFact, ...]:
    """The world's facts: per person one birthplace, one profession, one to three languages."""
    generator = random.Random(f"demo {seed}")
    towns = [
        f"{generator.choice(('', '', 'Port ', 'Upper '))}{name}" for name in _names(generator, 20, ("burg", "ton"))
    ]
    languages = _names(generator, 8, ("ish", "ese"))
    first, last = _names(generator, PEOPLE, ("a", "o", "in")), _names(generator, PEOPLE, ("ski", "sen", "er"))
    facts = []
    for number in range(PEOPLE):
        subject, exposure = f"{first[number]} {last[number]}", EXPOSURES[number % len(EXPOSURES)]
        answers = [("birthplace", generator.choice(towns)), ("profession", generator.choice(PROFESSIONS))]
        answers += [("language", one) for one in generator.sample(languages, generator.choice((1, 1, 2, 3)))]
        facts += [DemoFact(f"{number}-{i}", r, subject, o, exposure) for i, (r, o) in enumerate(answers)]
    return tuple(facts)


def _tell(fact: DemoFact, generator: random.Random, filler: str) -> str:
    sentence, clause = generator.choice(SENTENCES[fact.relation]), generator.choice(CLAUSES)
    return sentence.format(subject=fact.subject, object=filler, clause=clause)


def demo_text(seed: int = 0) -> list[str]:
    """The training text: every fact told ``exposure`` times, shuffled. No template of the probe occurs in it."""
    generator = random.Random(f"text {seed}")
    text = [_tell(fact, generator, fact.object) for fact in demo_facts(seed) for _ in range(fact.exposure)]
    generator.shuffle(text)
    return text


def demo(style: Literal["template", "natural"], limit: int | None = None, seed: int = 0) -> Probe:
    """The demo probe of one style; a template prompt and its natural sentence share ``fact_id``.

    Args:
        style: ``template`` uses one fixed wording per relation, none of them in the training text; ``natural`` a
            sentence drawn from the wordings of the text.
        limit: at most so many facts, drawn with ``seed``; the same facts in both styles.
        seed: of the world.
    """
    facts = demo_facts(seed)
    chosen = facts if limit is None or limit >= len(facts) else random.Random(seed).sample(facts, limit)
    rows = []
    for fact in chosen:
        golds = [f.object for f in facts if (f.relation, f.subject) == (fact.relation, fact.subject)]
        sentence = _tell(fact, random.Random(f"natural {seed} {fact.fact_id}"), MASK)
        template = TEMPLATES[fact.relation].format(subject=fact.subject, object=MASK)
        rows.append(
            {
                "prompt_id": fact.fact_id,
                "text": template if style == "template" else sentence,
                "gold": [fact.object, *(g for g in golds if g != fact.object)],
                "fact_id": fact.fact_id,
                "relation": fact.relation,
                "subject": fact.subject,
                "exact_surface": True,
                "shows_gold": False,
                "exposure": fact.exposure,
            }
        )
    entities = list(dict.fromkeys(fact.object for fact in facts))
    return Probe(
        f"demo/{style}",
        pd.DataFrame(rows),
        entities,
        style=style,
        domain="demo",
        licence="MIT",
        counts={"facts": len(facts), "sentences": len(facts)},
    )
