"""LAMA (Petroni et al. 2019): Google-RE, T-REx, SQuAD, ConceptNet, read in upstream's own layout.

Google-RE and T-REx come twice, as expert-made templates and as the natural sentences that support the same facts;
a template prompt and its sentences share ``fact_id`` (paper 001, sections 3.2.1 and 3.2.2).
"""

from __future__ import annotations

import logging
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from probekit.errors import ProbeError
from probekit.probes.data import locate
from probekit.probes.probe import MASK, Probe, Style, numbered_rows, read_rows, shows

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
class Fact:
    """One row of a LAMA file. ``sentences`` pairs each masked sentence with the surface form its mask hides."""

    fact_id: str
    relation: str
    predicate: str
    subject: str
    subject_key: str
    object: str
    sentences: tuple[tuple[str, str], ...]
    accepted: bool


Unit = Literal["fact", "evidence"]  # what one prompt stands for
Text = tuple[Fact, str, str, str]  # a fact, what makes its prompt id unique, the masked text, the hidden surface form


def _need(row: Any, name: str, kind: type) -> Any:
    """A field of a row; KeyError names it where it is missing or of another kind."""
    if not isinstance(row, dict) or not isinstance(row.get(name), kind):
        raise KeyError(name)
    return row[name]


def _may(row: dict[str, Any], *names: str) -> str:
    """The first of some fields that is not empty; KeyError names one that is no string."""
    return next((_need(row, name, str) for name in names if row.get(name)), "")


def _broken(path: Path, number: int, error: KeyError) -> ProbeError:
    return ProbeError(f"{path}, line {number}, field {error}: missing, or of the wrong kind")


def _fact(row: dict[str, Any], relation: str, path: Path, number: int) -> Fact:
    try:
        obj = _need(row, "obj_label", str)
        if "evidences" in row and "masked_sentences" not in row:
            evidences = _need(row, "evidences", list)
            sentences = tuple((_need(e, "masked_sentence", str), _need(e, "obj_surface", str)) for e in evidences)
        else:
            sentences = tuple((s, obj) for s in _need(row, "masked_sentences", list))
            if not all(isinstance(s, str) for s, _ in sentences):
                raise KeyError("masked_sentences")
        votes = [_need(j, "judgment", str) for j in _need({"judgments": [], **row}, "judgments", list)]
        return Fact(
            fact_id=str(row.get("uuid") or row["id"]),
            relation=relation or _need(row, "pred", str),
            predicate=_may(row, "predicate_id", "pred") or relation,
            subject=_may(row, "sub_label", "sub"),
            subject_key=_may(row, "sub_uri", "sub", "sub_label"),
            object=obj,
            sentences=sentences,
            accepted=votes.count("yes") > votes.count("no") if votes else True,
        )
    except KeyError as error:
        raise _broken(path, number, error) from error


def _facts(files: dict[str, Path]) -> list[Fact]:
    return [_fact(r, rel, path, n) for rel, path in files.items() for n, r in numbered_rows(path)]


def google_re_facts() -> list[Fact]:
    """All facts of Google-RE, in file order (5,528 in the published files)."""
    return _facts({name: locate(f"lama/Google_RE/{name}_test.jsonl") for name in GOOGLE_RE_TEMPLATES})


def _templates() -> dict[str, str]:
    """Template of every relation that relations.jsonl declares."""
    path, found = locate("lama/relations.jsonl"), {}
    for number, row in numbered_rows(path):
        try:
            found[_need(row, "relation", str)] = _need(row, "template", str)
        except KeyError as error:
            raise _broken(path, number, error) from error
    return found


def trex_facts() -> tuple[list[Fact], list[str]]:
    """All facts of the T-REx relations at hand, and the published relations whose file is absent."""
    declared = [name for name in _templates() if name not in WITHOUT_DATA]
    folder = locate("lama/TREx")
    present = {name: folder / f"{name}.jsonl" for name in declared if (folder / f"{name}.jsonl").is_file()}
    return _facts(present), [name for name in declared if name not in present]


def _choose(
    facts: list[Fact], relations: Sequence[str] | None, judgments: str, limit: int | None, seed: int
) -> list[Fact]:
    if judgments not in ("all", "majority"):
        raise ProbeError(f"judgments must be 'all' or 'majority', not {judgments!r}")
    known = dict.fromkeys(f.relation for f in facts)
    unknown = [name for name in relations or () if name not in known]
    if unknown:
        raise ProbeError(f"no relation {', '.join(unknown)} at hand; there are {', '.join(known)}")
    chosen = [f for f in facts if (relations is None or f.relation in relations)]
    chosen = [f for f in chosen if judgments == "all" or f.accepted]
    if limit is not None and limit < len(chosen):
        kept = set(random.Random(seed).sample([f.fact_id for f in chosen], limit))
        chosen = [f for f in chosen if f.fact_id in kept]
    return chosen


def _probe(name: str, facts: list[Fact], texts: Iterable[Text], style: Style, counts: dict[str, int]) -> Probe:
    """The probe of ``texts``; a prompt's golds are its fact's object, then those of the same subject and relation."""
    golds: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for fact in facts:
        golds[fact.relation, fact.subject_key][fact.object] = None
    rows, several = [], 0
    for fact, suffix, text, surface in texts:
        if text.count(MASK) != 1:
            several += 1
            continue
        others = [g for g in golds[fact.relation, fact.subject_key] if g != fact.object]
        rows.append(
            {
                "prompt_id": fact.fact_id + suffix,
                "text": text,
                "gold": [fact.object, *others],
                "fact_id": fact.fact_id,
                "relation": fact.relation,
                "subject": fact.subject,
                "exact_surface": surface == fact.object,
                "shows_gold": shows(fact.object, text),
            }
        )
    if several:
        counts = {**counts, f"left out: not exactly one {MASK}": several}
    if not rows:
        raise ProbeError(f"{name}: no prompt is left under these options")
    entities = list(dict.fromkeys(fact.object for fact in facts))
    about = {"domain": "general", "licence": LICENCE, "citation": "petroni2019"}
    return Probe(name, pd.DataFrame(rows), entities, style=style, counts=counts, **about)


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
        limit: at most so many facts, drawn with ``seed``; the same facts in both styles.
        unit: ``fact`` asks one prompt a fact; ``evidence`` one a sentence that holds one mask, by template too.
    """
    facts = google_re_facts()
    chosen = _choose(facts, relations, judgments, limit, seed)
    by_fact = _through_templates(chosen) if style == "template" else _joined(chosen)
    texts = by_fact if unit == "fact" else _by_evidence(chosen, style)
    return _probe(f"google_re/{style}", facts, texts, style, _counts(facts))


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
    facts, absent = trex_facts()
    if absent:
        log.warning("T-REx: no file for %d of the relations: %s", len(absent), ", ".join(absent))
    chosen = _choose(facts, relations, "all", limit, seed)
    if unit == "evidence":
        texts = _by_evidence(chosen, style)
    elif style == "template":
        texts = _through_templates(chosen)
    else:
        texts = [(f, f"/{i}", s, o) for f in chosen for i, (s, o) in enumerate(sample_sentences(f, per_fact, seed))]
    probe = _probe(f"trex/{style}", facts, texts, style, {**_counts(facts), "relations absent": len(absent)})
    declared = {row["relation"]: row for row in read_rows(locate("lama/relations.jsonl"))}
    told = {
        column: [declared[relation].get(name, "") for relation in probe.prompts["relation"]]
        for column, name in (("relation_label", "label"), ("kind", "type"))
    }
    return replace(probe, prompts=probe.prompts.assign(**told))


def _joined(facts: list[Fact]) -> list[Text]:
    return [(f, "", " ".join(s for s, _ in f.sentences), f.object) for f in facts]


def _by_evidence(facts: list[Fact], style: str) -> list[Text]:
    """One prompt for each sentence with exactly one mask: the sentence itself, or the fact's template once more."""
    templates = template_texts(facts) if style == "template" else {}
    return [
        (f, f"/{i}", templates.get(f.fact_id, sentence), f.object if templates else surface)
        for f in facts
        for i, (sentence, surface) in enumerate(f.sentences)
        if sentence.count(MASK) == 1
    ]


def _counts(facts: list[Fact]) -> dict[str, int]:
    sentences = [sentence for fact in facts for sentence, _ in fact.sentences]
    return {"facts": len(facts), "sentences": len(sentences), ONE_MASK: sum(s.count(MASK) == 1 for s in sentences)}


def template_texts(facts: list[Fact]) -> dict[str, str]:
    """The masked text that the relation's template makes of each fact, by ``fact_id``."""
    of_google_re = all(f.relation in GOOGLE_RE_TEMPLATES for f in facts)
    templates = GOOGLE_RE_TEMPLATES if of_google_re else _templates()
    return {f.fact_id: templates[f.relation].replace("[Y]", MASK).replace("[X]", f.subject) for f in facts}


def _through_templates(facts: list[Fact]) -> list[Text]:
    texts = template_texts(facts)
    return [(f, "", texts[f.fact_id], f.object) for f in facts]


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
    facts = _facts({"squad": locate("lama/Squad/test.jsonl")})
    facts = [replace(f, subject_key=f.fact_id) for f in facts]  # the file gives every question the same subject
    return _probe("squad", facts, _joined(_choose(facts, None, "all", limit, seed)), "natural", _counts(facts))


def conceptnet(relations: Sequence[str] | None = None, limit: int | None = None, seed: int = 0) -> Probe:
    """LAMA's ConceptNet, unfiltered as in paper 001 (29,774 rows): natural sentences, relation from each row."""
    facts = _facts({"": locate("lama/ConceptNet/test.jsonl")})
    chosen = _choose(facts, relations, "all", limit, seed)
    return _probe("conceptnet", facts, _joined(chosen), "natural", _counts(facts))
