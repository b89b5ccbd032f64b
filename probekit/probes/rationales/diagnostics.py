"""Psycholinguistic cloze items (Ettinger 2020) as records: semantics, with role reversal and negation as contrasts."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from probekit.errors import ProbeError
from probekit.files.reading import tsv_rows
from probekit.probes.data import locate
from probekit.probes.probe import MASK
from probekit.probes.rationales.record import RationaleSet, as_record

ARTICLE = "(a|an)"
ITEM = re.compile(r"[0-9]{1,9}-[ab]")
CPRAG_FIELDS = ("item", "context_s1", "context_s2", "expected", "within_category", "between_category", "constraint")


def cprag() -> RationaleSet:
    """CPRAG-102: the second sentence's last word follows from the first by everyday knowledge.

    Further columns: ``constraint`` (H or L) and ``contrast`` (the two words of its category and of a neighbouring one).
    """
    rows = [
        _record(f"cprag-{row['item']}", f"{row['context_s1']} {row['context_s2']}", [row["expected"]])
        | {"constraint": row["constraint"], "contrast": [row["within_category"], row["between_category"]]}
        for row in _read("CPRAG-102/CPRAG-102.tsv", CPRAG_FIELDS)
    ]
    return RationaleSet("CPRAG-102", pd.DataFrame(rows), "MIT", "ettinger2020")


def role() -> RationaleSet:
    """ROLE-88: pairs of contexts whose two participants change roles; the reversed one is a contrast to the other.

    Golds are the words that people gave most often. Further columns: ``target``, the word of the sensitivity test, and
    ``contrast``, the golds of the other context.
    """
    table = {row["item"]: row for row in _read("ROLE-88/ROLE-88.tsv", ("item", "context", "expected", "target"))}
    rows = []
    if wrong := [item for item in table if not ITEM.fullmatch(item)]:
        raise ProbeError(f"lm_diagnostics/ROLE-88: an item is a number and -a or -b, not {wrong[0]!r}")
    for item, row in sorted(table.items(), key=lambda entry: (int(entry[0].partition("-")[0]), entry[0])):
        number, _, version = item.partition("-")
        partner = table.get(f"{number}-{'b' if version == 'a' else 'a'}")
        if partner is None:
            raise ProbeError(f"lm_diagnostics/ROLE-88: item {item} has no partner")
        kind = {} if version == "a" else {"perturbation": "role reversal", "original_id": f"role-{number}-a"}
        record = _record(f"role-{item}", row["context"], row["expected"].split("|")) | kind
        rows.append(record | {"target": row["target"], "contrast": partner["expected"].split("|")})
    return RationaleSet("ROLE-88", pd.DataFrame(rows), "MIT", "ettinger2020")


def negation() -> RationaleSet:
    """NEG-136: statements and their negations, simple ones (``simple``) and natural ones (``natural``).

    Golds are the completion that is true; ``contrast`` the one that would be false; ``natural``, whether the item is of
    NEG-136-NAT, and ``licensing``, Y where it says something worth negating. The article before a completion is the
    one that the gold needs.
    """
    rows = []
    for kind, file in (("simple", "NEG-136-SIMP"), ("natural", "NEG-136-NAT")):
        columns = ("item", "context_aff", "context_neg", "target_aff", "target_neg")
        for row in _read(f"NEG-136/{file}.tsv", columns):
            name, yes, no = f"neg-{kind}-{row['item']}", row["target_aff"], row["target_neg"]
            labels = {"natural": kind == "natural", "licensing": row.get("licensing", "")}
            affirmed = _record(name, _article(row["context_aff"], yes), [yes])
            denied = _record(f"{name}-not", _article(row["context_neg"], no), [no])
            denied |= {"perturbation": "negation", "original_id": name}
            rows += [affirmed | labels | {"contrast": [no]}, denied | labels | {"contrast": [yes]}]
    return RationaleSet("NEG-136", pd.DataFrame(rows), "MIT", "ettinger2020")


def _record(name: str, context: str, golds: list[str], **more: Any) -> dict[str, Any]:
    return as_record(name, f"{' '.join(context.split())} {MASK}.", golds, "semantics", **more)


def _article(context: str, noun: str) -> str:
    return context.replace(ARTICLE, "an" if noun[:1].lower() in "aeiou" else "a")


def _read(relative: str, columns: tuple[str, ...]) -> list[dict[str, str]]:
    return [row for _, row in tsv_rows(locate(f"lm_diagnostics/{relative}"), columns)]
