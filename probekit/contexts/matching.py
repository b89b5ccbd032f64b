"""Pools of entities, and where a text names them: whole tokens, the longest name first (paper 002, "Opool")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from probekit.errors import ProbeError
from probekit.probes.lipid.entities import Finder

ACRONYM = 5  # characters up to which a name in capitals is a name in capitals only


def ignores_case(name: str) -> bool:
    """Whether a name is found in any case: all but short ones in capitals ("IT", "AIDS"), which would find "it"."""
    return not (len(name) <= ACRONYM and name.isupper())


def pool(entities: Iterable[str], aliases: Mapping[str, Sequence[str]] | None = None) -> Finder:
    """A finder of the entities of one type; each mention's ``kind`` is the entity, its ``entity`` the form listed.

    Where names contain one another the longest counts. A form that several entities have belongs to the entity of
    which it is the own name, else to the first one; ``shared`` counts it once for each of the others.

    Args:
        entities: by their own names.
        aliases: other forms of some of them.

    Raises:
        ProbeError: no entity, or aliases of one that is not in the pool.
    """
    forms = {entity: [entity] for entity in entities}
    if not forms:
        raise ProbeError("the pool holds no entity: name at least one of the target's type")
    own_names = {name.lower() for name in forms}
    shared = 0
    for entity, others in (aliases or {}).items():
        if entity not in forms:
            raise ProbeError(f"aliases are given for {entity!r}, which is not in the pool: add it, or drop them")
        free = [form for form in others if form.lower() not in own_names]
        shared += sum(form.lower() != entity.lower() for form in others) - len(free)
        forms[entity] += free
    finder = Finder(forms, ignore_case=ignores_case)
    finder.shared += shared
    return finder
