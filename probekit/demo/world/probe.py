"""The probes of the demo world: the same facts asked by template and in natural sentences."""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd

from probekit.demo.world.facts import RELATIONS, Fact, World, demo_facts, draw_facts, make_world
from probekit.demo.world.relation import Domain
from probekit.demo.world.text import masked
from probekit.errors import ProbeError
from probekit.probes.probe import MASK, Probe, Style, by_relation

DATASETS: dict[Domain, str] = {"general": "demo", "biomedical": "demo_bio"}


def demo_template(
    domain: Domain, templates: Literal["first", "all"] = "first", limit: int | None = None, seed: int = 0
) -> Probe:
    """The demo world asked by template, ``demo/template`` and ``demo_bio/template``.

    Args:
        domain: which part of the world; its objects are the candidates.
        templates: ``first``: one prompt a fact, of its relation's first template; ``all``: one for each template.
        limit: at most so many facts, drawn with ``seed``; the same ones as in natural sentences.
        seed: of the world.

    Raises:
        ProbeError: ``templates`` is neither.
    """
    if templates not in ("first", "all"):
        raise ProbeError(f"{DATASETS[domain]}/template: templates must be 'first' or 'all', not {templates!r}")
    rows = []
    for fact in draw_facts(demo_facts(domain, seed), limit, f"demo {seed}"):
        wordings = RELATIONS[fact.relation].templates
        for number, wording in enumerate(wordings if templates == "all" else wordings[:1], start=1):
            columns = {"template_id": f"{fact.relation}-{number}", "new_wording": True}
            row = _row(fact, make_world(seed), wording.format(s=fact.subject, o=MASK))
            rows.append(row | columns | {"prompt_id": f"{fact.fact_id}-{number}"})
    return _probe(domain, "template", rows, seed)


def demo_natural(domain: Domain, limit: int | None = None, seed: int = 0) -> Probe:
    """The demo world asked in natural sentences, ``demo/natural`` and ``demo_bio/natural``.

    Each fact is asked once, in a sentence made as those of the training text are but drawn afresh: with its object
    filled in, it does not stand in the text. ``new_wording`` is true where the text never told this fact in this
    wording.

    Args:
        domain: which part of the world; its objects are the candidates.
        limit: at most so many facts, drawn with ``seed``; the same ones as by template.
        seed: of the world.
    """
    rows = []
    for fact in draw_facts(demo_facts(domain, seed), limit, f"demo {seed}"):
        sentence, new = masked(fact, seed)
        columns = {"template_id": "", "new_wording": new, "prompt_id": fact.fact_id}
        rows.append(_row(fact, make_world(seed), sentence) | columns)
    return _probe(domain, "natural", rows, seed)


def _row(fact: Fact, world: World, text: str) -> dict[str, Any]:
    answers = world.answers[fact.relation, fact.subject]
    return {
        "text": text,
        "gold": [fact.object, *(answer for answer in answers if answer != fact.object)],
        "fact_id": fact.fact_id,
        "relation": fact.relation,
        "subject": fact.subject,
        "exact_surface": True,
        "shows_gold": False,
        "exposure": fact.exposure,
        "entity_type": fact.object_type,
        "kind": fact.kind,
        "domain": fact.domain,
    }


def _probe(domain: Domain, style: Style, rows: list[dict[str, Any]], seed: int) -> Probe:
    facts = demo_facts(domain, seed)
    return Probe(
        f"{DATASETS[domain]}/{style}",
        pd.DataFrame(rows),
        [fact.object for fact in facts],
        style=style,
        domain=domain,
        licence="MIT",
        counts={"facts": len(facts), "sentences": len(facts)},
        relations=by_relation((fact.relation, [fact.object]) for fact in facts),
    )
