"""Which probes ask the same thing by template and in natural sentences (paper 001, sections 3.2 and 4)."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

SAME, OTHER = "same facts", "other facts"


class Pairing(NamedTuple):
    """Two probes of one domain that ask by template and in natural sentences, of the ``SAME`` or ``OTHER`` facts."""

    domain: str
    template: str
    natural: str
    facts: str


def pairings(ranks: pd.DataFrame) -> list[Pairing]:
    """Template against natural: the probes of one data set, or, where a domain has no such data set, of any two."""
    probes = ranks[["domain", "dataset", "style", "probe"]].drop_duplicates().to_dict("records")
    found = []
    for domain in dict.fromkeys(p["domain"] for p in probes):
        here = [p for p in probes if p["domain"] == domain]
        crossed = [
            (t, n) for t in here for n in here if (t["style"], n["style"]) == ("template", "natural")
        ]  # fmt: skip
        same = [(t, n) for t, n in crossed if t["dataset"] == n["dataset"]]
        found += [Pairing(domain, t["probe"], n["probe"], SAME if same else OTHER) for t, n in same or crossed]
    return found
