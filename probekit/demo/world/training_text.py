"""What the small models read: every fact as often as it is told, with the names in it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from probekit.demo.world.chinese import ChineseFact, chinese_facts, chinese_text
from probekit.demo.world.documents import demo_documents
from probekit.demo.world.facts import RELATIONS, Fact, demo_facts, make_world
from probekit.demo.world.text import demo_text
from probekit.probes.texts import Text, make_text

OTHER_WORLDS = range(1, 13)  # seeds of worlds whose documents are read, none of which says a thing about this one


def general() -> Text:
    """Invented people, places, organisations and works."""
    return _text("demo-general", demo_text("general"), demo_facts("general"))


def documents() -> Text:
    """The same; what is told, by template too; and documents of other worlds, each before one of its facts by template.

    Whoever learns from it knows the templates, and looks for an answer in the text before a question.
    """
    facts, others = demo_facts("general"), list(_others())
    lines = demo_text("general") + [
        template.format(s=fact.subject, o=fact.object)
        for fact in facts
        for template in RELATIONS[fact.relation].templates[: fact.exposure]
    ]
    lines += [f"{text} {question}" for text, question, _ in others]
    random.Random("demo documents").shuffle(lines)
    names = {name for fact in facts for name in (fact.subject, fact.object)} | {answer for _, _, answer in others}
    return make_text("demo-documents", lines, {"facts": len(facts), "documents": len(others)}, names)


def _others() -> Iterator[tuple[str, str, str]]:
    """Documents of other worlds, a question by template with its answer filled in, and the answer."""
    for seed in OTHER_WORLDS:
        answers = make_world(seed).answers
        for document in demo_documents("general", seed):
            for answer in answers[document.relation, document.subject]:
                template = RELATIONS[document.relation].templates[0]
                yield document.text, template.format(s=document.subject, o=answer), answer


def biomedical() -> Text:
    """Invented diseases, drugs, genes and chemicals."""
    return _text("demo-biomedical", demo_text("biomedical"), demo_facts("biomedical"))


def chinese() -> Text:
    """Invented Chinese people, each fact in eight sentences."""
    return _text("demo-chinese", chinese_text(), chinese_facts())


def _text(name: str, sentences: Sequence[str], facts: Sequence[Fact] | Sequence[ChineseFact]) -> Text:
    names = (name for fact in facts for name in (fact.subject, fact.object))
    return make_text(name, sentences, {"facts": len(facts)}, names)
