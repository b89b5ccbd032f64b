"""What the small models read: every fact as often as it is told, with the names in it."""

from __future__ import annotations

from collections.abc import Sequence

from probekit.demo.world.chinese import ChineseFact, chinese_facts, chinese_text
from probekit.demo.world.facts import Fact, demo_facts
from probekit.demo.world.text import demo_text
from probekit.probes.texts import Text, make_text


def general() -> Text:
    """Invented people, places, organisations and works."""
    return _text("demo-general", demo_text("general"), demo_facts("general"))


def biomedical() -> Text:
    """Invented diseases, drugs, genes and chemicals."""
    return _text("demo-biomedical", demo_text("biomedical"), demo_facts("biomedical"))


def chinese() -> Text:
    """Invented Chinese people, each fact in eight sentences."""
    return _text("demo-chinese", chinese_text(), chinese_facts())


def _text(name: str, sentences: Sequence[str], facts: Sequence[Fact] | Sequence[ChineseFact]) -> Text:
    names = (name for fact in facts for name in (fact.subject, fact.object))
    return make_text(name, sentences, {"facts": len(facts)}, names)
