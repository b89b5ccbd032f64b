"""The annotators' sheet of paper 003 (sections 3.2 to 3.4): written unfilled, read back with its thresholds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from probekit.errors import ProbeError
from probekit.files.outputs import write_output
from probekit.probes.probe import LINE, numbered_rows
from probekit.probes.rationales.record import ANNOTATIONS, RationaleSet
from probekit.probes.rationales.words import split_words

JUDGES = 3  # annotators of the slot, and checkers of the rationale
LEAST = {"uniqueness": 3.0, "sufficiency": 3.0, "compactness": 3.6}  # uniqueness of each judge, the others on average
COPIED = ("id", "language", "dimension", "context", "golds", "perturbation", "original_id")
SCORES = [f"{name}_{judge}" for name in ANNOTATIONS for judge in range(1, JUDGES + 1)]


def write_sheet(records: Sequence[Mapping[str, Any]], out: Path, force: bool = False) -> Path:
    """A CSV sheet with a row per record: its words with their positions, a column for the rationale and for each score.

    Annotators correct ``context`` and ``golds`` (separated by ``|``), add rows for perturbed versions (with
    ``perturbation`` and ``original_id``), write the positions of the rationale's words (``1 4 5``; alternatives
    separated by ``|``), and rate uniqueness (1 to 4), sufficiency (1 to 3) and compactness (1 to 4).

    Raises:
        StoreError: another sheet is there, which may be filled in, and ``force`` is not given.
    """
    rows = []
    for record in records:
        words = split_words(record["context"], record["language"])
        numbered = " ".join(f"{place}:{word}" for place, word in enumerate(words))
        copied = {name: record[name] for name in COPIED}
        rows.append(copied | {"golds": "|".join(record["golds"]), "words": numbered})
    table = pd.DataFrame(rows, columns=[*COPIED, "words", "rationale", *SCORES])
    write_output(out, table.to_csv(index=False).encode(), force)
    return out


def read_sheet(path: Path) -> tuple[RationaleSet, dict[str, int]]:
    """The records of a filled sheet that pass the paper's thresholds, with their mean scores.

    A record is kept if every judge's uniqueness is at least 3, and the means of sufficiency and compactness are at
    least 3 and 3.6. A perturbed record whose original is not kept goes with it.

    Returns:
        The records, and counts: rows, those left out by reason, and kept ones.

    Raises:
        ProbeError: naming the row and the field; or no record is kept.
    """
    rows = list(numbered_rows(path))
    counts, rated = Counter(rows=len(rows)), {}
    for number, row in rows:
        if absent := [name for name in (*COPIED, "rationale", *SCORES) if name not in row]:
            raise ProbeError(f"{path}, line {number}: no column {absent[0]!r}")
        scores = {name: _scores(row, name, path, number) for name in ANNOTATIONS}
        if low := next((name for name in ANNOTATIONS if not _enough(name, scores[name])), None):
            counts[f"left out: {low} below {LEAST[low]:g}, or not rated"] += 1
            continue
        record = {name: str(row[name] or "") for name in COPIED}
        record["golds"] = [gold.strip() for gold in record["golds"].split("|")]  # type: ignore[assignment]
        means = {name: sum(values) / len(values) for name, values in scores.items()}
        rated[number] = record | {"rationales": _positions(row["rationale"], path, number)} | means
    originals = {record["id"] for record in rated.values() if not record["original_id"]}
    whole = {n: entry for n, entry in rated.items() if not entry["original_id"] or entry["original_id"] in originals}
    counts["left out: the original is"] += len(rated) - len(whole)
    if not whole:
        raise ProbeError(f"{path}: no record reaches the thresholds; fill the columns {', '.join(SCORES)}")
    items = pd.DataFrame([*whole.values()], index=pd.Index(whole, name=LINE))
    return RationaleSet(path.stem, items), {**counts, "kept": len(whole)}


def _scores(row: Mapping[str, Any], name: str, path: Path, number: int) -> list[float]:
    """The judges' scores of one property; fewer where a column is empty."""
    scores = []
    for column in (f"{name}_{judge}" for judge in range(1, JUDGES + 1)):
        text = str(row[column] or "").strip()
        if text:
            low, high = ANNOTATIONS[name]
            if text not in map(str, range(low, high + 1)):
                raise ProbeError(f"{path}, line {number}, column {column!r}: {low} to {high} is needed, found {text!r}")
            scores.append(float(text))
    return scores


def _enough(name: str, scores: Sequence[float]) -> bool:
    if len(scores) < JUDGES:
        return False
    return (min(scores) if name == "uniqueness" else sum(scores) / len(scores)) >= LEAST[name] - 1e-9


def _positions(text: str, path: Path, number: int) -> list[list[int]]:
    try:
        return [[int(place) for place in span.split()] for span in str(text).split("|") if span.strip()]
    except ValueError as error:
        raise ProbeError(f"{path}, line {number}, column 'rationale': positions are needed, found {text!r}") from error
