"""The sheet on which people judge whether prompts state facts (paper 001, section 3.2.3, quality control)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from probekit.errors import ProbeError
from probekit.files.reading import csv_rows
from probekit.probes.probe import MASK, Probe
from probekit.probes.sheets import refuse_filled, write_unfilled

QUESTIONS = ("factual (yes or no)", "means the listed entity (yes or no)")
FIELDS = ("prompt_id", "entity_type", "gold", "sentence", *QUESTIONS, "remark")


def write_sheet(paths: Sequence[Path], n: int = 200, seed: int = 0, out: Path | None = None) -> Path:
    """Draw ``n`` prompts of one or several probe files and write them as CSV, both judgements left empty.

    Args:
        paths: JSONL that ``build`` wrote, a file a list; any probe files do whose prompt ids differ.
        n: prompts of all files together, drawn with ``seed``; all where there are fewer.
        out: the sheet; ``sheet.csv`` beside the first file by default.

    Raises:
        ProbeError: not a probe file, ``n`` below 1, or a sheet is there already, which may be filled in.
    """
    out = out or paths[0].parent / "sheet.csv"
    refuse_filled(out, n, "prompt")
    every = [row for path in paths for row in Probe.from_file(path).prompts.to_dict("records")]
    rows = random.Random(seed).sample(every, min(n, len(every)))  # in the order drawn: neighbours share an abstract
    drawn = []
    for row in rows:
        sentence = row["text"].replace(MASK, row.get("surface") or row["gold"][0])
        drawn.append((row["prompt_id"], row.get("entity_type", ""), row["gold"][0], sentence))
    write_unfilled(out, FIELDS, drawn)
    return out


def agreement(first: Path, second: Path) -> list[dict[str, Any]]:
    """How far two people agree on the prompts that both judged, per question and list of entities.

    Returns:
        ``question, list`` (empty for all), ``judged, same, percent``, ``kappa`` (Cohen 1960; None where both say the
        same one word throughout), ``yes_first, yes_second`` (percent); no row of a question that nobody answered.

    Raises:
        ProbeError: not a sheet, other prompts, a judgement that is neither yes nor no, or none that both made.
    """
    one, two = _filled(first), _filled(second)
    if set(one) != set(two):
        raise ProbeError(f"{first} and {second} hold other prompts: let two people fill in copies of one sheet")
    rows = []
    for question in QUESTIONS:
        both = [(a["entity_type"], a[question], two[i][question]) for i, a in one.items()]
        judged = [(kind, a == "yes", b == "yes") for kind, a, b in both if a and b]
        for kind in ("", *sorted({kind for kind, _, _ in judged})) if judged else ():
            pairs = [(a, b) for name, a, b in judged if kind in ("", name)]
            rows.append({"question": question.partition(" (")[0], "list": kind} | _alike(pairs))
    if not rows:
        raise ProbeError(f"{first} and {second}: no prompt has a judgement in both; fill in yes or no")
    return rows


def _filled(path: Path) -> dict[str, dict[str, str]]:
    numbered = csv_rows(path)
    _, header = next(numbered, (0, []))
    if not set(FIELDS) <= set(header):
        raise ProbeError(f"{path} is not a sheet that `probekit lipid sheet` drew")
    rows = {}
    for number, fields in numbered:
        if len(fields) != len(header):
            raise ProbeError(f"{path}, line {number}: {len(fields)} fields, but the first line has {len(header)}")
        row = dict(zip(header, fields, strict=True))
        rows[row["prompt_id"]] = row
    for prompt_id, row in rows.items():
        for question in QUESTIONS:
            row[question] = row[question].strip().lower()
            if row[question] not in ("", "yes", "no"):
                raise ProbeError(f"{path}, prompt {prompt_id}, {question!r}: yes or no, not {row[question]!r}")
    return rows


def _alike(pairs: list[tuple[bool, bool]]) -> dict[str, Any]:
    count, same = len(pairs), sum(a == b for a, b in pairs)
    yes = [sum(pair[side] for pair in pairs) / count for side in (0, 1)]
    chance = yes[0] * yes[1] + (1 - yes[0]) * (1 - yes[1])
    kappa = (same / count - chance) / (1 - chance) if chance < 1 else None
    shares = {"yes_first": 100 * yes[0], "yes_second": 100 * yes[1]}
    return {"judged": count, "same": same, "percent": 100 * same / count, "kappa": kappa} | shares
