"""Short documents of the demo world: right and wrong objects of one subject, with neutral sentences between."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from probekit.demo.world.facts import GRAMMARS, World, make_world
from probekit.demo.world.relation import Domain, Relation
from probekit.demo.world.text import fill, finish


@dataclass(frozen=True)
class Document:
    """A text of 5 to 12 sentences about ``subject``, telling all its objects of ``relation`` and denying others."""

    doc_id: str
    text: str
    subject: str
    relation: str


def demo_documents(domain: Domain | None = None, seed: int = 0) -> list[Document]:
    """One document for each N-M relation and each subject that has several objects of it.

    All right objects are told, in a wording of the training text. One to three wrong ones, which are objects of
    others, are denied. Neutral sentences name no object of the relation. No whole document is training text, but some
    sentences are.
    """
    world = make_world(seed)
    documents = []
    for area, grammar in GRAMMARS.items():
        for relation in grammar.relations if domain in (None, area) else ():
            subjects = [
                name for (of, name), objects in world.answers.items() if of == relation.name and len(objects) > 1
            ]
            for number, subject in enumerate(subjects if relation.kind == "N-M" else ()):
                doc_id = f"{relation.name.replace(' ', '-')}-document-{number:02}"
                text = _write(relation, grammar.neutral, subject, world, seed)
                documents.append(Document(doc_id, text, subject, relation.name))
    return documents


def _write(relation: Relation, neutral: Sequence[str], subject: str, world: World, seed: int) -> str:
    generator = random.Random(f"demo document {seed} {relation.name} {subject}")
    right = world.answers[relation.name, subject]
    body = [finish(generator.choice(relation.wordings)).format(s=subject, o=name) for name in right]
    others = [
        fact
        for fact in world.facts
        if fact.relation == relation.name
        and not world.links.clash(subject, fact.object)
        and not world.links.clash(subject, fact.subject)
    ]
    wrong = {fact.object: fact.subject for fact in generator.sample(others, len(others))}
    for answer in generator.sample(list(wrong), generator.randint(1, 3)):
        body.append(finish(relation.denial).format(x=wrong[answer], s=subject, o=answer))
    count = generator.randint(max(2, 5 - len(body)), min(len(neutral), 12 - len(body)))
    chosen = [finish(text) for text in generator.sample(neutral, count)]
    sentences = [fill(text, [subject], world, generator).format(s=subject) for text in chosen]
    body += sentences[1:]
    generator.shuffle(body)
    return " ".join([sentences[0], *body])
