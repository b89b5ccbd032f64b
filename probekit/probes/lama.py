"""LAMA (Petroni et al. 2019): Google-RE, T-REx, SQuAD, ConceptNet, read in upstream's own layout.

Google-RE and T-REx come twice, as expert-made templates and as the natural sentences that support the same facts;
a template prompt and its sentences share ``fact_id`` (paper 001, sections 3.2.1 and 3.2.2).
"""

from __future__ import annotations

import logging
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from probekit.errors import ProbeError
from probekit.probes import facts
from probekit.probes.data import locate
from probekit.probes.facts import as_prompt, fill, records, select, value
from probekit.probes.probe import MASK, Probe, Style, by_relation, shows

log = logging.getLogger(__name__)

GOOGLE_RE_TEMPLATES = {  # not in relations.jsonl; as LAMA's own code has them
    "place_of_birth": "[X] was born in [Y].",
    "date_of_birth": "[X] (born [Y]).",
    "place_of_death": "[X] died in [Y].",
}
WITHOUT_DATA = {"P54", "P69", "P102", "P166", "P1923"}  # declared in relations.jsonl, never published
LICENCE = "CC BY-NC 4.0"
ONE_MASK = "sentences with exactly one mask"


@dataclass(frozen=True)
class Fact(facts.Fact):
    """One row of a LAMA file. ``sentences`` pairs each masked sentence with the surface form its mask hides."""

    predicate: str
    subject_key: str
    object: str
    sentences: tuple[tuple[str, str], ...]
    accepted: bool


Unit = Literal["fact", "evidence"]  # what one prompt stands for
Text = tuple[Fact, str, str, str]  # a fact, what makes its prompt id unique, the masked text, the hidden surface form


def _first(row: dict[str, Any], *names: str) -> str:
    """The first of some fields that is not empty; KeyError names one that is no string."""
    return next((value(row, name) for name in names if row.get(name)), "")


def _fact(relation: str, row: dict[str, Any], _: int) -> Fact:
    obj = value(row, "obj_label")
    if "evidences" in row and "masked_sentences" not in row:
        evidences = value(row, "evidences", list)
        sentences = tuple((value(e, "masked_sentence"), value(e, "obj_surface")) for e in evidences)
    else:
        sentences = tuple((s, obj) for s in value(row, "masked_sentences", list))
        if not all(isinstance(s, str) for s, _ in sentences):
            raise KeyError("masked_sentences")
    votes = [value(j, "judgment") for j in value({"judgments": [], **row}, "judgments", list)]
    return Fact(
        fact_id=str(row.get("uuid") or row["id"]),
        relation=relation or value(row, "pred"),
        predicate=_first(row, "predicate_id", "pred") or relation,
        subject=_first(row, "sub_label", "sub"),
        subject_key=_first(row, "sub_uri", "sub", "sub_label"),
        object=obj,
        sentences=sentences,
        accepted=votes.count("yes") > votes.count("no") if votes else True,
    )


def _facts(files: dict[str, Path]) -> list[Fact]:
    return [fact for relation, path in files.items() for fact in records(path, partial(_fact, relation))]


def google_re_facts() -> list[Fact]:
    """All facts of Google-RE, in file order (5,528 in the published files)."""
    return _facts({name: locate(f"lama/Google_RE/{name}_test.jsonl") for name in GOOGLE_RE_TEMPLATES})


def declared_relations() -> dict[str, dict[str, Any]]:
    """What relations.jsonl declares of every relation, among it its ``template``."""

    def declared(row: dict[str, Any], _: int) -> tuple[str, dict[str, Any]]:
        return value(row, "relation"), row | {"template": value(row, "template")}

    return dict(records(locate("lama/relations.jsonl"), declared))


def trex_facts() -> tuple[list[Fact], list[str]]:
    """All facts of the T-REx relations at hand, and the published relations whose file is absent."""
    published = [name for name in declared_relations() if name not in WITHOUT_DATA]
    folder = locate("lama/TREx")
    present = {name: folder / f"{name}.jsonl" for name in published if (folder / f"{name}.jsonl").is_file()}
    return _facts(present), [name for name in published if name not in present]


def _texts(
    facts: list[Fact], style: str, unit: Unit, natural: Callable[[Fact], Iterable[Text]] | None = None
) -> Iterator[Text]:
    """The texts of facts: by their templates or as ``natural`` has them, by default all sentences in one, once or for
    each sentence of one mask."""
    templates = template_texts(facts) if style == "template" else {}
    for fact in facts:
        filled = templates.get(fact.fact_id)
        if unit == "evidence":
            for number, (sentence, surface) in enumerate(fact.sentences):
                if sentence.count(MASK) == 1:
                    yield fact, f"/{number}", filled or sentence, fact.object if filled else surface
        elif filled:
            yield fact, "", filled, fact.object
        else:
            joined = " ".join(sentence for sentence, _ in fact.sentences)
            yield from natural(fact) if natural else [(fact, "", joined, fact.object)]


def _probe(name: str, every: list[Fact], texts: Iterable[Text], style: Style, **counts: int) -> Probe:
    """The probe of some texts of ``every`` fact; golds are a fact's object, then those of its subject and relation."""
    golds: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for fact in every:
        golds[fact.relation, fact.subject_key][fact.object] = None
    rows, dropped = [], 0
    for fact, suffix, text, surface in texts:
        if text.count(MASK) != 1:
            dropped += 1
            continue
        others = [gold for gold in golds[fact.relation, fact.subject_key] if gold != fact.object]
        marks = {"exact_surface": surface == fact.object, "shows_gold": shows(fact.object, text)}
        rows.append(as_prompt(fact, text, [fact.object, *others], suffix, **marks))
    if not rows:
        raise ProbeError(f"{name}: no prompt is left under these options")
    sentences = [sentence for fact in every for sentence, _ in fact.sentences]
    counted = {"facts": len(every), "sentences": len(sentences), ONE_MASK: sum(s.count(MASK) == 1 for s in sentences)}
    counted |= counts | ({f"left out: not exactly one {MASK}": dropped} if dropped else {})
    entities = list(dict.fromkeys(fact.object for fact in every))
    relations, prompts = by_relation((fact.relation, [fact.object]) for fact in every), pd.DataFrame(rows)
    return Probe(name, prompts, entities, style, "general", LICENCE, "petroni2019", counted, relations=relations)


def google_re(
    style: Literal["template", "natural"],
    relations: Sequence[str] | None = None,
    judgments: str = "all",
    limit: int | None = None,
    seed: int = 0,
    unit: Unit = "fact",
) -> Probe:
    """Google-RE, 3 relations; candidates are the objects of all its facts, whatever the options.

    Args:
        style: ``natural`` joins a fact's sentences by a space; facts whose text then holds several masks are left
            out and counted.
        relations: some of ``place_of_birth``, ``date_of_birth``, ``place_of_death``; all by default.
        judgments: ``all`` facts, or those a ``majority`` of raters accepted.
        limit: at most so many facts, drawn with ``seed``; the same in both styles, before any is left out.
        unit: ``fact`` asks one prompt a fact; ``evidence`` one a sentence that holds one mask, by template too.
    """
    if judgments not in ("all", "majority"):
        raise ProbeError(f"judgments must be 'all' or 'majority', not {judgments!r}")
    every = google_re_facts()
    selected = select(every, relations, limit, seed, lambda fact: judgments == "all" or fact.accepted)
    return _probe(f"google_re/{style}", every, _texts(selected, style, unit), style)


def trex(
    style: Literal["template", "natural"],
    relations: Sequence[str] | None = None,
    per_fact: int | None = None,
    limit: int | None = None,
    seed: int = 0,
    unit: Unit = "fact",
) -> Probe:
    """T-REx: every relation whose file is at hand; absent ones are named in a warning and counted.

    ``relation_label`` and ``kind`` (1-1, N-1 or N-M) are those that relations.jsonl declares.

    Args:
        style: ``template`` is one prompt per fact from relations.jsonl, ``natural`` one per evidence sentence.
        relations: Wikidata property ids; all by default. The candidates stay those of all relations at hand.
        per_fact: at most so many different sentences per fact, drawn with ``seed``; all sentences, repeated ones
            too, by default.
        limit: at most so many facts, drawn with ``seed``; the same facts in both styles.
        unit: ``evidence`` asks by template, too, one prompt for each evidence sentence; ``per_fact`` is then of no use.
    """
    every, absent = trex_facts()
    if absent:
        log.warning("T-REx: no file for %d of the relations: %s", len(absent), ", ".join(absent))
    selected = select(every, relations, limit, seed)

    def each(fact: Fact) -> Iterator[Text]:
        return ((fact, f"/{i}", s, o) for i, (s, o) in enumerate(sample_sentences(fact, per_fact, seed)))

    texts = _texts(selected, style, unit, each)
    probe = _probe(f"trex/{style}", every, texts, style, **{"relations absent": len(absent)})
    relation = declared_relations()
    declared = [relation[name] for name in probe.prompts["relation"]]
    labels = {"relation_label": [row.get("label", "") for row in declared]}
    return replace(probe, prompts=probe.prompts.assign(**labels, kind=[row.get("type", "") for row in declared]))


def template_texts(facts: list[Fact]) -> dict[str, str]:
    """The masked text that the relation's template makes of each fact, by ``fact_id``."""
    of_google_re = all(fact.relation in GOOGLE_RE_TEMPLATES for fact in facts)
    declared = {} if of_google_re else {name: row["template"] for name, row in declared_relations().items()}
    return {fact.fact_id: fill((declared or GOOGLE_RE_TEMPLATES)[fact.relation], fact.subject) for fact in facts}


def sample_sentences(fact: Fact, per_fact: int | None, seed: int) -> list[tuple[str, str]]:
    """A fact's sentences: all, repeated ones too, or at most ``per_fact`` different ones drawn with ``seed``."""
    if per_fact is None:
        return list(fact.sentences)
    distinct = list(dict.fromkeys(fact.sentences))
    if len(distinct) <= per_fact:
        return distinct
    return random.Random(f"{seed}:{fact.fact_id}").sample(distinct, per_fact)


def squad(limit: int | None = None, seed: int = 0) -> Probe:
    """LAMA's SQuAD: 305 cloze questions; those whose joined text holds several masks (3) are left out and counted."""
    questions = _facts({"squad": locate("lama/Squad/test.jsonl")})
    every = [replace(fact, subject_key=fact.fact_id) for fact in questions]  # the file gives all the same subject
    return _probe("squad", every, _texts(select(every, None, limit, seed), "natural", "fact"), "natural")


def conceptnet(relations: Sequence[str] | None = None, limit: int | None = None, seed: int = 0) -> Probe:
    """LAMA's ConceptNet, unfiltered as in paper 001 (29,774 rows): natural sentences, relation from each row."""
    every = _facts({"": locate("lama/ConceptNet/test.jsonl")})
    return _probe("conceptnet", every, _texts(select(every, relations, limit, seed), "natural", "fact"), "natural")
