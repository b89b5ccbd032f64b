"""LAMA facts with a misleading word before them, and denied (Kassner and Schütze 2020), as records of knowledge."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pandas as pd

from probekit.errors import ProbeError
from probekit.probes.data import locate
from probekit.probes.probe import MASK, numbered_rows
from probekit.probes.rationales.record import RationaleSet

SOURCES = ("ConceptNet", "GoogleRE", "SQUAD", "TREx")
Misprime = Literal["high_ranked", "low_ranked", "random"]


def primed_negated(source: str = "GoogleRE", misprime: Misprime = "high_ranked") -> RationaleSet:
    """Facts of one source as original, negated and misprimed records.

    The gold of a negated record is the fact's object still: there a hit is an error, since the sentence denies it.

    Args:
        source: ConceptNet, GoogleRE, SQUAD or TREx.
        misprime: how the misleading word was chosen: ranked ``high_ranked`` or ``low_ranked`` among the answers of the
            same relation, or at ``random``.

    Returns:
        Records with the further column ``relation``. ``counts`` says how many facts were left out, since a text of
        theirs does not hold one mask.

    Raises:
        ProbeError: unknown source, or data not at hand.
    """
    if source not in SOURCES or misprime not in ("high_ranked", "low_ranked", "random"):
        raise ProbeError(f"no LAMA source {source!r} misprimed {misprime!r}; sources: {', '.join(SOURCES)}")
    folder = locate(f"lama_primed_negated/{source}/{misprime}")
    rows: list[dict[str, Any]] = []
    left_out = 0
    for path in sorted(folder.glob("*.jsonl")):
        relation = path.stem.removesuffix("_random")
        for number, (line, fact) in enumerate(numbered_rows(path)):
            made = _records(f"{source}-{relation}-{number}", relation, fact, path, line)
            rows += made
            left_out += not made
    return RationaleSet(
        f"{source}, primed and negated",
        pd.DataFrame(rows),
        licence="CC BY-NC 4.0 (LAMA)",
        citation="kassner2020",
        counts={"facts left out: a text does not hold one mask": left_out},
    )


def _records(name: str, relation: str, fact: dict[str, Any], path: Path, line: int) -> list[dict[str, Any]]:
    texts = {}
    for kind, field in (("none", "sentences"), ("negation", "negations"), ("misprimed", "misprimed")):
        found = fact.get(f"masked_{field}")
        if not isinstance(found, list):
            raise ProbeError(f"{path}, line {line}, field 'masked_{field}': a list is needed, found {found!r}")
        texts[kind] = found[0] if found else ""
    if not isinstance(fact.get("obj_label"), str):
        raise ProbeError(f"{path}, line {line}, field 'obj_label': missing, or no string")
    if any(not isinstance(text, str) or text.count(MASK) != 1 for text in texts.values()):
        return []
    return [
        {
            "id": name if kind == "none" else f"{name}-{kind}",
            "language": "en",
            "dimension": "knowledge",
            "context": " ".join(text.split()),
            "golds": [fact["obj_label"]],
            "rationales": [],
            "perturbation": kind,
            "original_id": "" if kind == "none" else name,
            "relation": relation,
        }
        for kind, text in texts.items()
    ]
