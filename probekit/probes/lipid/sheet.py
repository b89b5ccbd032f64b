"""The sheet on which people judge whether prompts state facts (paper 001, section 3.2.3, quality control)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from probekit.errors import ProbeError
from probekit.files.reading import read_frame
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
    sheet_a, sheet_b = _filled(first), _filled(second)
    if set(sheet_a.index) != set(sheet_b.index):
        raise ProbeError(f"{first} and {second} hold other prompts: let two people fill in copies of one sheet")
    rows = []
    for question in QUESTIONS:
        answers = pd.DataFrame({"list": sheet_a["entity_type"], "a": sheet_a[question], "b": sheet_b[question]})
        judged = answers[(answers["a"] != "") & (answers["b"] != "")]
        for kind in ("", *sorted(judged["list"].unique())) if len(judged) else ():
            group = judged[judged["list"] == kind] if kind else judged
            agreed = _agreement(group["a"] == "yes", group["b"] == "yes")
            rows.append({"question": question.partition(" (")[0], "list": kind} | agreed)
    if not rows:
        raise ProbeError(f"{first} and {second}: no prompt has a judgement in both; fill in yes or no")
    return rows


def _filled(path: Path) -> pd.DataFrame:
    """A sheet by prompt, its judgements in lower case."""
    sheet = read_frame(path, dtype=str, keep_default_na=False)
    if not set(FIELDS) <= set(sheet):
        raise ProbeError(f"{path} is not a sheet that `probekit lipid sheet` drew")
    sheet = sheet.drop_duplicates("prompt_id", keep="last").set_index("prompt_id")
    for question in QUESTIONS:
        sheet[question] = sheet[question].str.strip().str.lower()
        for prompt_id, answer in sheet[question].items():
            if answer not in ("", "yes", "no"):
                raise ProbeError(f"{path}, prompt {prompt_id}, {question!r}: yes or no, not {answer!r}")
    return sheet


def _agreement(first: pd.Series, second: pd.Series) -> dict[str, Any]:
    count, same, yes = len(first), int((first == second).sum()), (float(first.mean()), float(second.mean()))
    chance = yes[0] * yes[1] + (1 - yes[0]) * (1 - yes[1])
    kappa = (same / count - chance) / (1 - chance) if chance < 1 else None
    shares = {"yes_first": 100 * yes[0], "yes_second": 100 * yes[1]}
    return {"judged": count, "same": same, "percent": 100 * same / count, "kappa": kappa} | shares
