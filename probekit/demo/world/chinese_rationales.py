"""Facts of the Chinese demo world with the characters that decide them."""

from __future__ import annotations

import random
from typing import Any

import pandas as pd

from probekit.demo.world.chinese import OPENINGS, WORDINGS, ChineseFact, chinese_facts
from probekit.probes.probe import MASK
from probekit.probes.rationales.record import RationaleSet
from probekit.probes.rationales.words import split_words, word_spans

TELLING = {  # per wording, what tells its relation
    "town": ("出生", "老家", "出生", "小时候住"),
    "profession": ("名", "职业", "工作", "当"),
    "animal": ("养只", "家只", "喜欢动物", "养动物"),
}


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
    facts = list(enumerate(chinese_facts(seed)))
    if limit is not None and limit < len(facts):
        facts = random.Random(f"Chinese rationales {seed}").sample(facts, limit)
    rows = [row for number, fact in facts for row in _records(number, fact, seed)]
    return RationaleSet("Chinese demo rationales", pd.DataFrame(rows), "MIT")


def _records(number: int, fact: ChineseFact, seed: int) -> list[dict[str, Any]]:
    generator = random.Random(f"Chinese rationales {seed} {number}")
    first, other = generator.sample(range(len(WORDINGS[fact.relation])), 2)
    versions = (("none", "", first), ("dispensable", generator.choice(OPENINGS), first), ("transformation", "", other))
    name = f"zh-demo-{number:03}"
    return [
        {
            "id": name if kind == "none" else f"{name}-{kind}",
            "language": "zh",
            "dimension": "knowledge",
            "context": context,
            "words": split_words(context, "zh"),
            "golds": [fact.object],
            "rationales": [_rationale(context, len(opening), fact, wording)],
            "perturbation": kind,
            "original_id": "" if kind == "none" else name,
            "relation": fact.relation,
        }
        for kind, opening, wording in versions
        for context in [opening + WORDINGS[fact.relation][wording].format(s=fact.subject, o=MASK)]
    ]


def _rationale(context: str, start: int, fact: ChineseFact, wording: int) -> list[int]:
    """Positions of the subject's and the telling characters, those of the opening left out."""
    words = split_words(context, "zh")
    subject = context.index(fact.subject, start)
    span = range(subject, subject + len(fact.subject))
    telling = set(TELLING[fact.relation][wording])
    return [
        place
        for place, (begin, _) in enumerate(word_spans(context, words))
        if begin in span or (begin >= start and words[place] in telling)
    ]
