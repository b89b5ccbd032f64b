"""The sheet on which people judge whether prompts state facts (paper 001, section 3.2.3, quality control)."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

from probekit.errors import ProbeError
from probekit.files import write_atomically
from probekit.probes.probe import MASK, Probe

FIELDS = ("prompt_id", "entity_type", "gold", "sentence", "factual (yes or no)", "remark")


def write_sheet(path: Path, n: int = 200, seed: int = 0, out: Path | None = None) -> Path:
    """Draw ``n`` prompts of a probe file and write them as CSV, the judgement left empty.

    Args:
        path: JSONL that ``build`` wrote; any probe file does.
        n: prompts, drawn with ``seed``; all where there are fewer.
        out: the sheet; ``<path without suffix>_sheet.csv`` by default.

    Raises:
        ProbeError: not a probe file, ``n`` below 1, or a sheet is there already, which may be filled in.
    """
    out = out or path.with_name(f"{path.stem}_sheet.csv")
    if n < 1:
        raise ProbeError(f"a sheet needs at least one prompt, not {n}")
    if out.exists():
        raise ProbeError(f"{out} is there and may be filled in; move it away, or name another file")
    rows = Probe.from_file(path, limit=n, seed=seed).prompts.to_dict("records")
    random.Random(seed).shuffle(rows)  # neighbours come from one abstract
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(FIELDS)
    for row in rows:
        sentence = row["text"].replace(MASK, row.get("surface") or row["gold"][0])
        writer.writerow([row["prompt_id"], row.get("entity_type", ""), row["gold"][0], sentence, "", ""])
    write_atomically(out, buffer.getvalue().encode())
    return out
