"""T-REx as ParaRel has it (Elazar et al. 2021): template prompts of all 41 relations, most in several wordings, for
facts whose object is one token to BERT, RoBERTa and ALBERT.

The files are ``pararel/data/trex_lms_vocab/<relation>.jsonl`` (``uuid``, the id that LAMA gives the fact, ``sub_label``
and ``obj_label``) and ``pararel/data/pattern_data/graphs_json/<relation>.jsonl`` (``pattern`` with [X] and [Y]).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from probekit.errors import ProbeError
from probekit.probes.data import locate
from probekit.probes.facts import Fact, Templates, as_prompt, has_slots, records, select, value, worded
from probekit.probes.lama import declared_relations
from probekit.probes.probe import Probe, by_relation, facts_by_digest, shows

FACTS, PATTERNS = "pararel/data/trex_lms_vocab", "pararel/data/pattern_data/graphs_json"
LICENCE = "MIT; the facts are LAMA's, CC BY-NC 4.0"
DECLARED = {"relation_label": "label", "kind": "type"}  # column -> field of LAMA's relations.jsonl


@dataclass(frozen=True)
class ParaRelFact(Fact):
    """A fact of T-REx whose object is one token to BERT, RoBERTa and ALBERT alike."""

    object: str


def trex41(
    templates: Templates = "first",
    relations: Sequence[str] | None = None,
    limit: int | None = None,
    seed: int = 0,
) -> Probe:
    """T-REx's facts in all its 41 relations by template, in up to 20 wordings each; ids of facts are those of LAMA.

    A relation's first wording is ParaRel's first, which is LAMA's template but for a blank before the full stop; of the
    two relations that ParaRel does not word (P31, P527) it is LAMA's. ``relation_label`` and ``kind`` are those that
    LAMA's relations.jsonl declares. Golds are a fact's object, then those of its subject's name in the relation.

    Args:
        templates: the first wording of each relation, or all of them: a prompt each.
        relations: Wikidata property ids; all by default. The candidates stay the objects of all.
        limit: at most so many facts, drawn by a digest of their ids and ``seed``.

    Raises:
        ProbeError: data not at hand or of another form, no such relation, or a relation that nobody words.
    """
    files = {path.stem: path for path in sorted(locate(FACTS).glob("P*.jsonl"))}
    every = [fact for relation, path in files.items() for fact in records(path, partial(_fact, relation))]
    declared, published = declared_relations(), {relation: patterns(relation) for relation in files}
    of_lama = {relation: [row["template"]] for relation, row in declared.items()}
    usable = {relation: [text for text in texts if has_slots(text)] for relation, texts in published.items()}
    wordings = {relation: texts or of_lama.get(relation, []) for relation, texts in usable.items()}
    if nobody := [relation for relation, texts in wordings.items() if not texts]:
        raise ProbeError(f"{PATTERNS}/{nobody[0]}.jsonl: no pattern holds [X] and [Y] once, and LAMA has none")
    dropped = sum(map(len, published.values())) - sum(map(len, usable.values()))
    golds = by_relation((f"{fact.relation}\n{fact.subject}", [fact.object]) for fact in every)
    chosen = select(every, relations, None, seed)
    kept = facts_by_digest([fact.fact_id for fact in chosen], limit, seed)
    rows = []
    for fact in chosen:
        named = {name: declared.get(fact.relation, {}).get(key, "") for name, key in DECLARED.items()}
        others = [gold for gold in golds[f"{fact.relation}\n{fact.subject}"] if gold != fact.object]
        for suffix, prompt in worded(fact, wordings[fact.relation] if fact.fact_id in kept else (), templates):
            marks = named | {"template_id": fact.relation + suffix, "shows_gold": shows(fact.object, prompt)}
            rows.append(as_prompt(fact, prompt, [fact.object, *others], suffix, **marks, exact_surface=True))
    counts = {"facts": len(every), "relations": len(files), "wordings": sum(map(len, wordings.values()))}
    counts |= {"left out: pattern without [X] and [Y] once": dropped} if dropped else {}
    options = by_relation((fact.relation, [fact.object]) for fact in every)
    metadata: dict[str, Any] = {"domain": "general", "licence": LICENCE, "citation": "elazar2021", "counts": counts}
    entities = [fact.object for fact in every]
    return Probe("trex41/template", pd.DataFrame(rows), entities, "template", **metadata, relations=options)


def _fact(relation: str, row: dict[str, Any], _: int) -> ParaRelFact:
    return ParaRelFact(value(row, "uuid"), relation, value(row, "sub_label"), value(row, "obj_label"))


def patterns(relation: str) -> list[str]:
    """ParaRel's wordings of a relation in their order, its asked one first, or none; a few lack [X] or [Y]."""
    path = locate(PATTERNS) / f"{relation}.jsonl"
    return list(records(path, lambda row, _: str(value(row, "pattern")))) if path.is_file() else []
