"""Facts of the demo worlds with the words, or Chinese characters, that decide them: rationales by construction."""

from __future__ import annotations

import random
from typing import Any

import pandas as pd

from probekit.demo.world import chinese
from probekit.demo.world.chinese import ChineseFact, chinese_facts
from probekit.demo.world.facts import GRAMMARS, RELATIONS, Fact, demo_facts, draw_facts, make_world
from probekit.demo.world.text import fill, finish
from probekit.probes.probe import MASK
from probekit.probes.rationales.record import RationaleSet
from probekit.probes.rationales.words import Language, split_words, word_spans

FUNCTION_WORDS = (
    "a all an and are as at by did do for from has have he in is it its kept many not of on one out she some such that "
    "the their to used was were when with"
)  # of the wordings; they do not tell one relation from another
LITTLE = frozenset(FUNCTION_WORDS.split())

CHINESE_EVIDENCE = {  # characters of each wording that state its relation
    "town": ("出生", "老家", "出生", "小时候住"),
    "profession": ("名", "职业", "工作", "当"),
    "animal": ("养只", "家只", "喜欢动物", "养动物"),
}


def demo_rationales(limit: int | None = None, least: int = 1, seed: int = 0) -> RationaleSet:
    """Facts of the general demo world of relations with one answer, each as an original and two perturbed records.

    The original states the fact in one wording of its relation. The dispensable change puts an opening before it; the
    transformation tells the same fact in another wording. The rationale is the subject's words, which decide
    the answer, and those of the wording that are no function words or are among the subject's.

    Args:
        limit: at most so many facts, drawn with ``seed``.
        least: how often a fact was told in the training text, at least.
        seed: of the world and of the draw.

    Returns:
        Records of the dimension knowledge, with the further columns ``relation``, ``exposure`` and ``subject``.
    """
    facts = [fact for fact in demo_facts("general", seed) if fact.kind != "N-M" and fact.exposure >= least]
    facts = draw_facts(facts, limit, f"demo rationales {seed}")
    return RationaleSet("demo rationales", pd.DataFrame([row for f in facts for row in _records(f, seed)]), "MIT")


def chinese_rationales(limit: int | None = None, seed: int = 0) -> RationaleSet:
    """Facts of the Chinese demo world, each as an original, with an opening (dispensable) and in another wording
    (transformation).

    The rationale is made of the subject's characters and of those that tell the relation.

    Args:
        limit: at most so many facts, drawn with ``seed``.
        seed: of the world and of the draw.

    Returns:
        Records of the dimension knowledge, with the further column ``relation``.
    """
    facts = draw_facts(list(enumerate(chinese_facts(seed))), limit, f"Chinese rationales {seed}")
    rows = [row for number, fact in facts for row in _chinese_records(number, fact, seed)]
    return RationaleSet("Chinese demo rationales", pd.DataFrame(rows), "MIT")


def _records(fact: Fact, seed: int) -> list[dict[str, Any]]:
    generator = random.Random(f"demo rationales {seed} {fact.fact_id}")
    first, other = generator.sample(RELATIONS[fact.relation].wordings, 2)
    openings = [opening for opening in GRAMMARS["general"].openings if f"{{{fact.object_type}}}" not in opening]
    records = []
    for kind, before, wording in _versions(generator.choice(openings), first, other):
        text = fill(finish(before + wording), [fact.subject, fact.object], make_world(seed), generator)
        context = text.format(s=fact.subject, o=MASK)
        rationale = _rationale(split_words(context, "en"), wording, fact.subject)
        record = _record(fact, fact.fact_id, kind, "en", context, rationale)
        records.append(record | {"exposure": fact.exposure, "subject": fact.subject})
    return records


def _chinese_records(number: int, fact: ChineseFact, seed: int) -> list[dict[str, Any]]:
    generator, wordings = random.Random(f"Chinese rationales {seed} {number}"), chinese.WORDINGS[fact.relation]
    first, other = generator.sample(range(len(wordings)), 2)
    records = []
    for kind, before, wording in _versions(generator.choice(chinese.OPENINGS), first, other):
        context = before + wordings[wording].format(s=fact.subject, o=MASK)
        rationale = _chinese_rationale(context, len(before), fact, wording)
        records.append(_record(fact, f"zh-demo-{number:03}", kind, "zh", context, rationale))
    return records


def _versions(opening: str, first: Any, other: Any) -> tuple[tuple[str, str, Any], ...]:
    """Kind of change, what stands before the fact, and its wording, of an original and its two changes."""
    return ("none", "", first), ("dispensable", opening, first), ("transformation", "", other)


def _record(
    fact: Fact | ChineseFact, name: str, kind: str, language: Language, context: str, rationale: list[int]
) -> dict[str, Any]:
    return {
        "id": name if kind == "none" else f"{name}-{kind}",
        "language": language,
        "dimension": "knowledge",
        "context": context,
        "words": split_words(context, language),
        "golds": [fact.object],
        "rationales": [rationale],
        "perturbation": kind,
        "original_id": "" if kind == "none" else name,
        "relation": fact.relation,
    }


def _rationale(words: list[str], wording: str, subject: str) -> list[int]:
    """Positions of the subject's words and of the wording's content words; an opening's words are left out."""
    phrase = [w for w in split_words(wording.format(s=subject, o=MASK), "en") if w != MASK]
    subject_words = set(split_words(subject, "en"))
    evidence = [w for w in phrase if w in subject_words or (w.isalpha() and w.lower() not in LITTLE)]
    positions, at = [], len(words)
    for word in reversed(evidence):  # the wording ends the text
        at = next(place for place in range(at - 1, -1, -1) if words[place].lower() == word.lower())
        positions.append(at)
    return sorted(positions)


def _chinese_rationale(context: str, start: int, fact: ChineseFact, wording: int) -> list[int]:
    """Positions of the subject's characters and of those that state the relation; an opening's are left out."""
    words = split_words(context, "zh")
    subject = context.index(fact.subject, start)
    span = range(subject, subject + len(fact.subject))
    evidence = set(CHINESE_EVIDENCE[fact.relation][wording])
    return [
        place
        for place, (begin, _) in enumerate(word_spans(context, words))
        if begin in span or (begin >= start and words[place] in evidence)
    ]
