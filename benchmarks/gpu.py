"""What a GPU gives: the numbers of the CPU, how fast, and in how much of its memory; ``make gpu`` where there is one.

``python -m benchmarks.gpu [--device cuda] [--out book/recorded]`` writes the section of the book's page on speed.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

import probekit as pk
from benchmarks.paths import KINDS, paths
from probekit.report.markup import escape

PARITY = 1e-4  # nats, in float32
ROUGH = "half precision"  # the path in which other digits are expected
ROUNDS, PROMPTS = 3, 200
MIB = 2**20
NAME = "gpu.md"
Row = dict[str, Any]


def parity(device: str) -> Iterator[Row]:
    """Of each scoring path the greatest difference between the CPU's numbers and the device's, or what it raised."""
    for name, path in paths().items():
        here = np.asarray(path("cpu"), dtype=float)
        try:
            there = np.asarray(path(device), dtype=float)
            finite = np.isfinite(here)
            most = np.abs(here[finite] - there[finite]).max(initial=0)
            alike = np.array_equal(here[~finite], there[~finite], equal_nan=True) and (most <= PARITY or name == ROUGH)
            yield {"Path": name, "Greatest difference": f"{most:.1e}", "alike": alike}
        except Exception as error:  # what a path raises is the finding
            yield {"Path": name, "Greatest difference": raised(error), "alike": False}


def raised(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


def timed(device: str, run: Callable[[], Any]) -> tuple[float, float, Any]:
    """Median seconds of the rounds, MiB that they took beyond the model, and what the run gives."""
    cuda, took = device.startswith("cuda"), []
    found = run()  # finds its batches, and warms up
    held = torch.cuda.memory_allocated(device) if cuda else 0
    if cuda:
        torch.cuda.reset_peak_memory_stats(device)
    for _ in range(ROUNDS):
        start = time.perf_counter()
        found = run()
        if cuda:
            torch.cuda.synchronize(device)
        took.append(time.perf_counter() - start)
    peak = (torch.cuda.max_memory_allocated(device) - held) / MIB if cuda else float("nan")
    return statistics.median(took), peak, found


def speed(device: str) -> Iterator[Row]:
    """Prompts a second of one model a kind: on the CPU, on the device, and there in half precision."""
    probe = pk.load_probe("demo/template", limit=PROMPTS)
    for kind, name in KINDS.items():
        ranks: dict[str, list[int]] = {}
        for place, dtype in (("cpu", "float32"), (device, "float32"), (device, "bfloat16")):
            row = {"Kind": kind, "Model": name, "Device": place, "Numbers": dtype}
            try:
                model = pk.load_model(name, place, dtype)
                seconds, peak, found = timed(place, lambda model=model: pk.rank_entities(model, probe))
            except Exception as error:  # such as of a card without bfloat16
                yield {
                    **row,
                    "Prompts a second": raised(error),
                    "Ranks as on the CPU": "–",
                    "MiB beside the model": "–",
                }
                continue
            ranks[f"{place} {dtype}"] = found["rank"].tolist()
            same = np.mean(np.array(ranks[f"{place} {dtype}"]) == np.array(ranks["cpu float32"]))
            yield {
                **row,
                "Prompts a second": f"{len(probe.prompts) / seconds:,.0f}",
                "Ranks as on the CPU": f"{same:.1%}",
                "MiB beside the model": "–" if np.isnan(peak) else f"{peak:,.0f}",
            }


def machine(device: str) -> str:
    """The device, and the versions that decide."""
    named = torch.cuda.get_device_name(device) if device.startswith("cuda") else platform.processor() or "a processor"
    cuda = f", CUDA {torch.version.cuda}" if torch.version.cuda else ""
    return f"{named}; torch {torch.__version__}{cuda}"


def written(device: str) -> str:
    """The section, in MyST."""
    same = pd.DataFrame(parity(device))
    fast = pd.DataFrame(speed(device))
    apart = same[~same.pop("alike").astype(bool)]
    said = "none differs by more" if apart.empty else f"{len(apart)} differ by more: {', '.join(apart['Path'])}"
    return "\n\n".join(
        [
            f"Measured on {escape(machine(device))}.",
            f"Of {len(same)} scoring paths in float32, at most {PARITY:.0e} nats apart from the CPU, {said}.",
            as_table(fast),
            "```{dropdown} Every scoring path, on the CPU and on the GPU\n" + as_table(same) + "\n```",
        ]
    )


def as_table(rows: pd.DataFrame) -> str:
    lines = [list(rows), ["---"] * len(rows.columns), *rows.astype(str).to_numpy().tolist()]
    return "\n".join(
        "| " + " | ".join(cell if cell == "---" else escape(cell) for cell in line) + " |" for line in lines
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", type=Path, default=Path("book/recorded"))
    given = parser.parse_args()
    if given.device.startswith("cuda") and not torch.cuda.is_available():
        parser.exit(2, "torch sees no GPU here: nothing was measured and nothing was written\n")
    text = written(given.device)
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / NAME).write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
