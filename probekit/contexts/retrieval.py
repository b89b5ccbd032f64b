"""Triples, and documents that hold subject and target (paper 002, "Context Segmentation and Retrieval")."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappush, heappushpop
from typing import Any

import pandas as pd

from probekit.contexts.matching import pool
from probekit.contexts.resources import Document
from probekit.errors import ProbeError
from probekit.files import digest
from probekit.probes.lipid.entities import Finder, Mention
from probekit.probes.probe import Probe

READ, NAMED, HOLDING = "documents read", "documents that hold a subject", "documents that hold a subject and a target"
TRIPLES, COVERED, PAIRS = "triples", "triples with a document", "triples with a document, by document"
BEYOND = "left out: documents of a triple beyond those asked for"


@dataclass(frozen=True)
class Found:
    """A document for the triple in row ``triple``, with the mentions of the pool of its target from left to right."""

    triple: int
    document: Document
    mentions: tuple[Mention, ...]


def triples(probe: Probe) -> pd.DataFrame:
    """The triples (S, relation, O_t) that a probe's prompts ask for: one for each object of each prompt.

    The same text and target count once, under the prompt whose own object the target is, if there is one. Prompts may
    tell more in mappings of a gold to a list: ``types``, to whose pools it belongs, the first of them its own;
    ``aliases``, its other names. A gold that is an alias of one before it is the same object. ``subject_aliases`` is a
    list of names.

    Returns:
        One row per triple: ``triple_id``, ``prompt_id``, ``fact_id``, ``relation``, ``pool`` (the type of the object
        where the probe tells it, else the relation), ``subject``, ``target``, ``text``, ``correct`` (all objects), and
        how rare it is: ``golds`` (their number), ``relation_prompts`` and ``target_prompts`` (prompts of the relation,
        and those of the pool with the target as a gold). ``attrs["entities"]`` lists the objects of each pool,
        ``attrs["aliases"]`` the other names of some, by pool and object, and ``attrs["subjects"]`` those of subjects.

    Raises:
        ProbeError: the probe does not tell relations and subjects, or a field for a mapping holds something else.
    """
    prompts = probe.prompts
    for column in ("relation", "subject"):
        if column not in prompts:
            raise ProbeError(f"{probe.name}: contexts are found by subject; the prompts lack the field {column!r}")
    pools = prompts.get("entity_type", prompts["relation"])
    pools = pools.where(pools.notna() & (pools != ""), prompts["relation"])
    entities: dict[str, dict[str, None]] = defaultdict(dict)
    aliases: dict[str, dict[str, dict[str, None]]] = defaultdict(lambda: defaultdict(dict))
    subjects: dict[str, dict[str, None]] = defaultdict(dict)
    rows: dict[tuple[str, str], dict[str, object]] = {}
    relations, often = Counter(prompts["relation"]), Counter[tuple[str, str]]()
    for row, name in zip(prompts.itertuples(), pools, strict=True):
        names, types = (_mapping(probe, row, field) for field in ("aliases", "types"))
        golds = _objects(row.gold, names)
        subjects[row.subject].update(dict.fromkeys(_listed(getattr(row, "subject_aliases", None))))
        for target in golds:
            kinds = types.get(target) or [name]
            for kind in kinds:
                entities[kind][target] = None
                often[kind, target] += 1
                if target in names:
                    aliases[kind][target].update(dict.fromkeys(names[target]))
            is_own = target == golds[0]
            triple = {
                "triple_id": str(row.prompt_id) if is_own else f"{row.prompt_id}/{target}",
                "prompt_id": row.prompt_id,
                "fact_id": getattr(row, "fact_id", row.prompt_id),
                "relation": row.relation,
                "pool": kinds[0],
                "subject": row.subject,
                "target": target,
                "text": row.text,
                "correct": golds,
                "golds": len(golds),
                "relation_prompts": relations[row.relation],
            }
            if is_own or (row.text, target) not in rows:
                rows[row.text, target] = triple
    table = pd.DataFrame(rows.values())
    table["target_prompts"] = [often[p, t] for p, t in zip(table["pool"], table["target"], strict=True)]
    table.attrs["entities"] = {name: list(objects) for name, objects in entities.items()}
    table.attrs["aliases"] = {
        name: {entity: list(forms) for entity, forms in of.items() if forms} for name, of in aliases.items()
    }
    table.attrs["subjects"] = {name: list(forms) for name, forms in subjects.items() if forms}
    return table


def _listed(value: object) -> list[str]:
    return [str(name) for name in value] if isinstance(value, (list, tuple)) else []


def _mapping(probe: Probe, row: Any, field: str) -> dict[str, list[str]]:
    value = getattr(row, field, None)
    if isinstance(value, dict) and all(isinstance(names, (list, tuple)) for names in value.values()):
        return {str(gold): _listed(names) for gold, names in value.items()}
    if value is None or value != value:
        return {}
    raise ProbeError(
        f"{probe.name}, prompt {row.prompt_id!r}, field {field!r}: a mapping of golds to lists of names is needed, "
        f"found {str(value)[:60]!r}"
    )


def _objects(golds: Sequence[str], names: Mapping[str, Sequence[str]]) -> list[str]:
    """Each object once: golds without those that are another name of one before them."""
    distinct, names_seen = [], set[str]()
    for gold in golds:
        if gold not in names_seen:
            distinct.append(gold)
            names_seen.update([gold, *names.get(gold, ())])
    return distinct


class Matcher:
    """Finds the triples that a document holds: one search for all subjects, and one for each pool they ask for.

    A name inside a longer subject's name ("London" in "University of London") is no mention of the pool's entity.

    Args:
        asked: of ``triples``.
        pools: by the names in ``asked["pool"]``.

    Raises:
        ProbeError: a pool is missing.
    """

    def __init__(self, asked: pd.DataFrame, pools: Mapping[str, Finder]) -> None:
        absent = set(asked["pool"]) - set(pools)
        if absent:
            raise ProbeError(f"no pool of entities for {', '.join(sorted(absent))}")
        self.pools, self.pool_of = pools, asked["pool"].tolist()
        self.by_subject: dict[str, dict[str, dict[str, list[int]]]] = {}
        for number, (subject, name, target) in enumerate(
            zip(asked["subject"], asked["pool"], asked["target"], strict=True)
        ):
            self.by_subject.setdefault(subject, {}).setdefault(name, {}).setdefault(target, []).append(number)
        others = asked.attrs.get("subjects", {}).items()
        self.subjects = pool(
            self.by_subject, {subject: forms for subject, forms in others if subject in self.by_subject}
        )

    def find(self, document: Document) -> tuple[bool, list[Found]]:
        """Whether a document holds a subject, and every triple that it holds."""
        named = self.subjects.find(document.text)
        held = [document.subject] if document.subject else list(dict.fromkeys(mention.kind for mention in named))
        pairs = [(name, by_target) for subject in held for name, by_target in self.by_subject.get(subject, {}).items()]
        names = dict.fromkeys(name for name, _ in pairs)
        mentions = {name: _outside(self.pools[name].find(document.text), named) for name in names}
        matches = [
            Found(number, document, mentions[name])
            for name, by_target in pairs
            for target in dict.fromkeys(mention.kind for mention in mentions[name])
            for number in by_target.get(target, ())
        ]
        return bool(pairs), matches


def retrieve(
    asked: pd.DataFrame,
    documents: Iterable[Document],
    pools: Mapping[str, Finder],
    counts: Counter[str],
    most: int | None = None,
    seed: int = 0,
) -> list[Found]:
    """The documents of every triple, in one pass over the documents and in their order.

    Args:
        asked: of ``triples``.
        documents: read once; only those that hold a triple are kept.
        pools: by the names in ``asked["pool"]``.
        counts: raised by the documents read, those that hold a subject, those kept for a triple; by the triples, those
            with a document, pairs of the two, and pairs left out.
        most: documents of a triple, drawn where there are more; all by default.
        seed: of the draw.

    Raises:
        ProbeError: a pool is missing.
    """
    matcher = Matcher(asked, pools)
    return drawn(map(matcher.find, documents), len(asked), counts, most, seed)


def draw_key(seed: int, doc_id: str) -> int:
    """Of the documents of a triple those with the smallest keys are drawn, whatever the order in which they lie."""
    return int(digest(str(seed), doc_id.encode(errors="surrogatepass")), 16)


def drawn(
    held: Iterable[tuple[bool, list[Found]]], total: int, counts: Counter[str], most: int | None = None, seed: int = 0
) -> list[Found]:
    """Of what ``Matcher.find`` gave for each document in order, ``most`` of each triple; see ``retrieve``."""
    kept = defaultdict[int, list[tuple[int, int, int, Found]]](list)  # by triple, a heap with the largest key on top
    pairs = 0
    for number, (named, matches) in enumerate(held):
        counts[READ] += 1
        counts[NAMED] += named
        pairs += len(matches)
        key = -draw_key(seed, matches[0].document.doc_id) if matches and most else 0
        for place, match in enumerate(matches):
            of_triple, entry = kept[match.triple], (key, number, place, match)
            if most and len(of_triple) == most:
                heappushpop(of_triple, entry)
            else:
                heappush(of_triple, entry)
    entries = sorted((entry[1:] for of_triple in kept.values() for entry in of_triple), key=lambda entry: entry[:2])
    counts[HOLDING] += len({number for number, _, _ in entries})
    counts[PAIRS] += len(entries)
    counts[BEYOND] += pairs - len(entries)
    counts[TRIPLES] += total
    counts[COVERED] += len(kept)
    return [match for _, _, match in entries]


def _outside(mentions: Sequence[Mention], names: Sequence[Mention]) -> tuple[Mention, ...]:
    """The mentions that lie in no longer one of ``names``; both from left to right."""
    outside, place = [], 0
    for mention in mentions:
        while place < len(names) and names[place].end <= mention.start:
            place += 1
        over = names[place] if place < len(names) else mention
        inside = over.start <= mention.start and mention.end <= over.end
        if not inside or over.end - over.start <= mention.end - mention.start:
            outside.append(mention)
    return tuple(outside)
