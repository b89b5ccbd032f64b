"""What the small models read: every fact as often as it is told, with the names in it."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from probekit.demo.world.chinese import ChineseFact, chinese_facts, chinese_text
from probekit.demo.world.documents import demo_documents
from probekit.demo.world.facts import RELATIONS, Fact, demo_facts, make_world
from probekit.demo.world.text import demo_text
from probekit.probes.texts import Text, make_text

OTHER_WORLDS = range(1, 41)  # seeds
PASSES, PASSES_BY_TEMPLATE = 2, 16  # over sentences, and over facts told by template, for one over the documents
MENTIONS = 1, 1, *[2] * 4, *[3] * 4, 12, 12  # fewer names than so many stand on either side of an answer


def general() -> Text:
    """Invented people, places, organisations and works."""
    return _text("demo-general", demo_text("general"), demo_facts("general"))


def documents() -> Text:
    """The same, what is told by template too, and parts of documents about subjects of other worlds.

    Each part, and the names alone of short ones, stand before a tab and a fact that the part tells. Whoever learns from
    it knows the templates, and looks for an answer in the text before a question.
    """
    facts, told = demo_facts("general"), demo_text("general")
    by_template = [
        template.format(s=fact.subject, o=fact.object)
        for fact in facts
        for template in RELATIONS[fact.relation].templates[: fact.exposure]
    ]
    read = [
        f"{before}\t{part.question.format(o=part.answer)}"
        for part in parts_read(OTHER_WORLDS, MENTIONS)
        for before in ((part.text, " ".join(part.names)) if part.most < 3 else (part.text,))
    ]
    text = _text("demo-documents", [*told, *by_template, *read], facts)
    again = (*told * (PASSES - 1), *by_template * (PASSES_BY_TEMPLATE - 1))
    counts = {"sentences": len(text.sentences) + len(again), "parts": len({*read})}
    return replace(text, sentences=(*text.sentences, *again), counts={**text.counts, **counts})


@dataclass(frozen=True)
class Part:
    """Part of a document about a subject of another world, in the names of the demo world.

    Args:
        relation: of its facts.
        subject: of its facts.
        text: ends before the next object of the relation, as a segment of study 2.
        names: objects in it, in order, told or denied.
        told: those of them that are told.
        answer: one of those.
        most: fewer names stand on either side of that one.
    """

    relation: str
    subject: str
    text: str
    names: tuple[str, ...]
    told: frozenset[str]
    answer: str
    most: int

    @property
    def question(self) -> str:
        """The relation's first template with the subject, and ``{o}``."""
        return RELATIONS[self.relation].templates[0].format(s=self.subject, o="{o}")


def parts_read(seeds: Iterable[int], mentions: Sequence[int]) -> Iterator[Part]:
    """Of each document of these worlds a part for each of ``mentions``.

    All objects are renamed, by a new draw each time, so that a subject does not tell its answer. A document that names
    a subject of the demo world is left out.
    """
    generator, own = random.Random("demo documents"), make_world(0).facts
    asked_about = re.compile(rf"\b({'|'.join(re.escape(fact.subject) for fact in own)})\b")
    for seed in seeds:
        world = make_world(seed)
        for document in demo_documents("general", seed):
            theirs, ours = ({f.object for f in of if f.relation == document.relation} for of in (world.facts, own))
            longest_first = sorted(theirs - {document.subject}, key=lambda name: (-len(name), name))
            pieces = re.split(rf"\b({'|'.join(map(re.escape, longest_first))})\b", document.text)
            strange = not any(map(asked_about.search, pieces[::2]))
            right, named = world.answers[document.relation, document.subject], sorted({*pieces[1::2]})
            places = [place for place in range(1, len(pieces), 2) if pieces[place] in right]
            for most in mentions:
                renamed = dict(zip(named, generator.sample(sorted(ours), len(named)), strict=True))
                place = generator.choice(places)
                first, last = (place + side * 2 * generator.randrange(most) for side in (-1, 1))
                inside = slice(max(0, first - 1), last + 2)
                part = [renamed.get(piece, piece) for piece in pieces[inside]]
                told = frozenset(renamed[name] for name in pieces[inside][1::2] if name in right)
                text, names = "".join(part).strip(), tuple(part[1::2])
                if strange:
                    yield Part(document.relation, document.subject, text, names, told, renamed[pieces[place]], most)


def biomedical() -> Text:
    """Invented diseases, drugs, genes and chemicals."""
    return _text("demo-biomedical", demo_text("biomedical"), demo_facts("biomedical"))


def chinese() -> Text:
    """Invented Chinese people, each fact in eight sentences."""
    return _text("demo-chinese", chinese_text(), chinese_facts())


def _text(name: str, sentences: Sequence[str], facts: Sequence[Fact] | Sequence[ChineseFact]) -> Text:
    names = (name for fact in facts for name in (fact.subject, fact.object))
    return make_text(name, sentences, {"facts": len(facts)}, names)
