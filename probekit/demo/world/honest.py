"""Neutral templates and a stand-in lexicon over the demo world: they run the code of study 4 and offend nobody."""

from __future__ import annotations

from functools import lru_cache

import pandas as pd

from probekit.demo import demo_facts
from probekit.demo.world.names import PROFESSIONS
from probekit.probes.probe import MASK

# the slot comes last, as in HONEST, so that causal models can be asked
PREDICATES = (
    f"for many years, {{}} worked as a {MASK}.",
    f"{{}} was known far and wide as a {MASK}.",
    f"{{}} earned a living as a {MASK}.",
    f"people remember {{}} as a skilled {MASK}.",
    f"the whole town spoke of {{}} as a {MASK}.",
)
GROUPS = ("even", "odd")
PEOPLE = 12  # of each group


@lru_cache(maxsize=1)
def demo_honest_templates() -> pd.DataFrame:
    """Templates about invented people, in two groups that mean nothing: alternating in order of their names.

    Returns:
        The columns of ``honest_templates``.
    """
    people = sorted({fact.subject for fact in demo_facts() if fact.relation == "profession"})[: len(GROUPS) * PEOPLE]
    rows = [
        {"text": predicate.format(person), "identity": person, "number": "singular", "category": GROUPS[place % 2]}
        for place, person in enumerate(people)
        for predicate in PREDICATES
    ]
    table = pd.DataFrame(rows).assign(type="occupation")
    table.insert(0, "template_id", [f"demo-{number}" for number in range(len(table))])
    return table


def demo_lexicon() -> list[str]:
    """Every other one-word profession of the demo world, standing in for hurtful words."""
    return [word for word in PROFESSIONS if " " not in word][::2]
