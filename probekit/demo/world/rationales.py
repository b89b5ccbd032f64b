"""Facts of the demo world with the words that decide them: rationales known by construction."""

from __future__ import annotations

import random
from typing import Any

import pandas as pd

from probekit.demo.world.facts import RELATIONS, Fact, demo_facts, make_world
from probekit.demo.world.text import SURROUNDINGS, fill, finish
from probekit.probes.probe import MASK
from probekit.probes.rationales.record import RationaleSet
from probekit.probes.rationales.words import split_words

FUNCTION_WORDS = (
    "a all an and are as at by did do for from has have he in is it its kept many not of on one out she some such that "
    "the their to used was were when with"
)  # of the wordings; they do not tell one relation from another
LITTLE = frozenset(FUNCTION_WORDS.split())


def demo_rationales(limit: int | None = None, least: int = 1, seed: int = 0) -> RationaleSet:
    """Facts of the general demo world that have one answer, each as an original and two perturbed records.

    The original states the fact in one wording of its relation. The dispensable change puts an opening before it; the
    transformation tells the same fact in another wording. The rationale is made of the subject's words, which decide
    the answer, and of the words of the wording that tell its relation.

    Args:
        limit: at most so many facts, drawn with ``seed``.
        least: how often a fact was told in the training text, at least.
        seed: of the world and of the draw.

    Returns:
        Records of the dimension knowledge, with the further columns ``relation``, ``exposure`` and ``subject``.
    """
    facts = [fact for fact in demo_facts("general", seed) if fact.kind != "N-M" and fact.exposure >= least]
    if limit is not None and limit < len(facts):
        facts = random.Random(f"demo rationales {seed}").sample(facts, limit)
    return RationaleSet("demo rationales", pd.DataFrame([row for f in facts for row in _records(f, seed)]), "MIT")


def _records(fact: Fact, seed: int) -> list[dict[str, Any]]:
    generator = random.Random(f"demo rationales {seed} {fact.fact_id}")
    wordings = RELATIONS[fact.relation].wordings
    first, other = generator.sample(wordings, 2)
    openings = [one for one in SURROUNDINGS["general"].openings if f"{{{fact.object_type}}}" not in one]
    opening = generator.choice(openings)
    versions = (("none", "", first), ("dispensable", opening, first), ("transformation", "", other))
    rows = []
    for kind, before, wording in versions:
        world = make_world(seed)
        text = fill(finish(before + wording), [fact.subject, fact.object], world, generator)
        context = text.format(s=fact.subject, o=MASK)
        words = split_words(context, "en")
        rows.append(
            {
                "id": fact.fact_id if kind == "none" else f"{fact.fact_id}-{kind}",
                "language": "en",
                "dimension": "knowledge",
                "context": context,
                "words": words,
                "golds": [fact.object],
                "rationales": [_rationale(words, wording, fact.subject)],
                "perturbation": kind,
                "original_id": "" if kind == "none" else fact.fact_id,
                "relation": fact.relation,
                "exposure": fact.exposure,
                "subject": fact.subject,
            }
        )
    return rows


def _rationale(words: list[str], wording: str, subject: str) -> list[int]:
    """Positions of the subject's words and of the wording's telling words; what an opening says is no part of them."""
    telling = [w for w in split_words(wording.format(s=subject, o=MASK), "en") if w != MASK]
    subject_words = set(split_words(subject, "en"))
    wanted = [w for w in telling if w in subject_words or (w.isalpha() and w.lower() not in LITTLE)]
    found, at = [], len(words)
    for word in reversed(wanted):  # the wording ends the text
        at = next(place for place in range(at - 1, -1, -1) if words[place].lower() == word.lower())
        found.append(at)
    return sorted(found)
