"""LAMA facts with a misleading word before them, and denied (Kassner and Schütze 2020), as records of knowledge."""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd

from probekit.errors import ProbeError
from probekit.probes.data import locate
from probekit.probes.facts import records, value
from probekit.probes.probe import MASK
from probekit.probes.rationales.record import RationaleSet, as_record

SOURCES = ("ConceptNet", "GoogleRE", "SQUAD", "TREx")
Misprime = Literal["high_ranked", "low_ranked", "random"]


def primed_negated(source: str = "GoogleRE", misprime: Misprime = "high_ranked") -> RationaleSet:
    """Facts of one source as original, negated and misprimed records.

    The gold of a negated record is the fact's object still: there a hit is an error, since the sentence denies it.

    Args:
        source: ConceptNet, GoogleRE, SQUAD or TREx.
        misprime: how its makers chose the misleading word, ``high_ranked``, ``low_ranked`` or ``random``; it often is
            no answer of the relation.

    Returns:
        Records with the further column ``relation``. ``counts`` says how many facts were left out, since a text of
        theirs does not hold one mask.

    Raises:
        ProbeError: unknown source or choice, or data not at hand, such as ``low_ranked`` of SQUAD.
    """
    if source not in SOURCES or misprime not in ("high_ranked", "low_ranked", "random"):
        raise ProbeError(f"no LAMA source {source!r} misprimed {misprime!r}; sources: {', '.join(SOURCES)}")
    folder = locate(f"lama_primed_negated/{source}/{misprime}")
    rows: list[dict[str, Any]] = []
    left_out = 0
    for path in sorted(folder.glob("*.jsonl")):
        relation = path.stem.removesuffix("_random")
        for number, (gold, texts) in enumerate(records(path, _fact)):
            if all(isinstance(text, str) and text.count(MASK) == 1 for text in texts.values()):
                name = f"{source}-{relation}-{number}"
                for kind, text in texts.items():
                    changed = {"perturbation": kind, "original_id": name} if kind != "none" else {}
                    key = f"{name}-{kind}" if changed else name
                    record = as_record(key, " ".join(text.split()), [gold], "knowledge", **changed, relation=relation)
                    rows.append(record)
            else:
                left_out += 1
    return RationaleSet(
        f"{source}, primed and negated",
        pd.DataFrame(rows),
        licence="CC BY-NC 4.0 (LAMA)",
        citation="kassner2020",
        counts={"facts left out: a text does not hold one mask": left_out},
    )


def _fact(row: dict[str, Any], _: int) -> tuple[str, dict[str, Any]]:
    """The gold, and by kind the first text of each list."""
    fields = {"none": "masked_sentences", "negation": "masked_negations", "misprimed": "masked_misprimed"}
    return value(row, "obj_label"), {kind: next(iter(value(row, name, list)), "") for kind, name in fields.items()}
