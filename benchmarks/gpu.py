"""What a GPU gives: the numbers of the CPU, how fast, and in how much of its memory; ``make gpu`` where there is one.

``python -m benchmarks.gpu [--device cuda] [--out book/recorded]`` writes the section of the book's page on speed.
"""

from __future__ import annotations

import argparse
import gc
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import torch

import probekit as pk
from benchmarks.executed import compared
from benchmarks.paths import CAUSAL, KINDS, MASKED, apart, paths
from benchmarks.timing import widened
from probekit.models.precision import BITS
from probekit.report.markup import escape

PARITY = 1e-4  # in the unit of each path
ROUNDS, PROMPTS, FEWER = 3, 200, 4  # of the largest network a fourth of the prompts
MIB = 2**20
NAME = "gpu.md"
SIZES: dict[str, tuple[str, dict[str, int]]] = {  # of checkpoints with random weights and few words
    "as BERT, base": (
        MASKED,
        {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "heads": 12},
    ),
    "as BERT, large": (
        MASKED,
        {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "heads": 16},
    ),
    "as LLaMA, 7 billion": (
        CAUSAL,
        {"hidden_size": 4096, "intermediate_size": 11_008, "num_hidden_layers": 32, "heads": 32},
    ),
}
Row = dict[str, Any]


def parity(device: str) -> Iterator[Row]:
    """Of each scoring path the greatest difference between the CPU's numbers and the device's, by unit, or what it
    raised."""
    for path in paths():
        row: Row = {"Path": path.name, "Numbers": path.numbers, "apart": {}, "alike": False}
        try:
            row["apart"], same = apart(path.ask("cpu"), path.ask(device))
            row["alike"] = same and max(row["apart"].values()) <= PARITY
            shown = ", ".join(f"{most:.1e} {unit}" for unit, most in row["apart"].items())
        except Exception as error:  # what a path raises is the finding
            shown = raised(error)
        yield {**row, "Greatest difference": shown}


def summary(rows: pd.DataFrame) -> Iterator[str]:
    """How many paths differ by how much, a sentence each number format.

    Args:
        rows: of ``parity``.
    """
    for numbers, group in rows.groupby("Numbers", sort=False):
        units = pd.DataFrame(group["apart"].tolist())
        most = ", ".join(f"{units[unit].max():.1e} {unit} (paths: {units[unit].count()})" for unit in units)
        over = group.loc[~group["alike"].astype(bool), "Path"].tolist()
        yield (
            f"Of {len(rows)} scoring paths, {len(group)} in {numbers}: the greatest difference from the CPU is {most}; "
            f"{len(over)} differ by over {PARITY:.0e}, or failed{': ' * bool(over)}{', '.join(over)}."
        )


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


def asked(label: str, name: str, probe: pk.Probe, at: list[tuple[str, str]]) -> Iterator[Row]:
    """Prompts a second of one model at each place and in each number format, or in weights of so many bits (``BITS``);
    a row says how many ranks stay."""
    first: np.ndarray | None = None
    for place, numbers in at:
        row = {"Model": label, "Device": place, "Numbers": numbers}
        model = found = None  # the last one's memory is free again
        try:
            before = begun(place)
            model = pk.load_model(name, place, **{"quantization" if numbers in BITS else "dtype": numbers})
            held = (memory(place) - before) / MIB
            load = (memory(place, torch.cuda.max_memory_allocated) - before) / MIB - held
            seconds, peak, found = timed(place, lambda model=model: pk.rank_entities(model, probe))
        except Exception as error:  # such as of a card without bfloat16
            yield {**row, "Prompts a second": raised(error)}
            continue
        ranks = found["rank"].to_numpy()
        first = ranks if first is None else first
        yield {
            **row,
            "Prompts a second": f"{len(probe.prompts) / seconds:,.0f}",
            "Ranks as in the first row": f"{np.mean(ranks == first):.1%}",
            "MiB of weights": f"{held:,.0f}" if held else "–",
            "MiB more to load": f"{load:,.0f}" if held else "–",
            "MiB more to ask": "–" if np.isnan(peak) else f"{peak:,.0f}",
        }


def begun(device: str) -> int:
    """Bytes that the process holds of a device, whose greatest use is counted from now on."""
    gc.collect()
    if device.startswith("cuda"):
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)
    return memory(device)


def memory(device: str, count: Callable[[str], int] = torch.cuda.memory_allocated) -> int:
    return count(device) if device.startswith("cuda") else 0


def speed(device: str) -> Iterator[Row]:
    """Of one small model a kind, on the CPU, on the device, and there in half precision."""
    probe = pk.load_probe("demo/template", limit=PROMPTS)
    for kind, name in KINDS.items():
        yield from asked(f"{name}, {kind}", name, probe, places(device))


def size(label: str, device: str, folder: Path) -> Iterator[Row]:
    """Of a model of a size that others ask, which is made in the folder; of the largest on the device alone."""
    name, shape = SIZES[label]
    huge = shape["hidden_size"] > 2_000
    probe = pk.load_probe("demo/template", limit=PROMPTS // FEWER if huge else PROMPTS)
    made = folder / label.split()[-1]
    try:
        widened(pk.load_model(name, "cpu"), made, dtype="bfloat16" if huge else "float32", device=device, **shape)
    except Exception as error:  # such as of a card that it does not fit
        yield {"Model": label, "Device": device, "Prompts a second": raised(error)}
        return
    formats = [(device, numbers) for numbers in ("auto", *BITS)] if huge else places(device)
    yield from asked(label, str(made), probe, formats)


def places(device: str) -> list[tuple[str, str]]:
    return [("cpu", "float32"), (device, "float32"), (device, "bfloat16")]


@contextmanager
def room(mib: float) -> Iterator[None]:
    """Within it this process may hold so many MiB more of its GPU than it does."""
    torch.cuda.empty_cache()
    here = torch.cuda.current_device()
    whole = torch.cuda.get_device_properties(here).total_memory
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved(here) + mib * MIB) / whole, here)
    try:
        yield
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0, here)


def short(device: str, made: Path) -> str:
    """What becomes of ranks and time where memory runs out."""
    model, probe = pk.load_model(str(made), device, "float32"), pk.load_probe("demo/template")
    usual, peak, found = timed(device, lambda: pk.rank_entities(model, probe))
    with room(peak / 8):
        seconds, less, again = timed(device, lambda: pk.rank_entities(model, probe))
    same = np.mean(found["rank"].to_numpy() == again["rank"].to_numpy())
    return (
        f"With room for {peak / 8:,.0f} MiB beside the larger BERT, where {len(probe.prompts)} prompts take "
        f"{peak:,.0f}, batches shrank to {less:,.0f} MiB: {same:.1%} of the ranks stayed, in {seconds / usual:.2f} "
        "times the time."
    )


def machine(device: str) -> str:
    """The device, and the versions that decide."""
    named = torch.cuda.get_device_name(device) if device.startswith("cuda") else platform.processor() or "a processor"
    cuda = f", CUDA {torch.version.cuda}" if torch.version.cuda else ""
    return f"{named}; torch {torch.__version__}{cuda}"


def sections(device: str) -> Iterator[str]:
    """What is measured, in MyST, part by part: what ends a run takes none of the parts before."""
    yield f"Measured on {escape(machine(device))}."
    same = pd.DataFrame(parity(device))
    yield " ".join(map(escape, summary(same)))
    table = as_table(same[["Path", "Numbers", "Greatest difference"]])
    yield f"```{{dropdown}} Every scoring path, on the CPU and on the GPU\n{table}\n```"
    yield "```{dropdown} The small models of each kind\n" + as_table(pd.DataFrame(speed(device))) + "\n```"
    if device.startswith("cuda"):
        with TemporaryDirectory() as made:
            folder = Path(made)
            yield (
                f"Networks of three sizes, with random weights and the demo's words, on {PROMPTS} prompts, the largest "
                f"on {PROMPTS // FEWER}:"
            )
            *usual, largest = SIZES
            for label in usual:
                yield as_table(pd.DataFrame(size(label, device, folder)))
            yield short(device, folder / "large")
            yield compared(device, folder / "pages", PARITY)
            yield as_table(pd.DataFrame(size(largest, device, folder)))


def as_table(rows: pd.DataFrame) -> str:
    lines = [list(rows), ["---"] * len(rows.columns), *rows.fillna("–").astype(str).to_numpy().tolist()]
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
    if given.device.startswith("cuda:"):
        torch.cuda.set_device(given.device)
    given.out.mkdir(parents=True, exist_ok=True)
    parts: list[str] = []
    for part in sections(given.device):
        parts.append(part)
        (given.out / NAME).write_text("\n\n".join(parts) + "\n", encoding="utf-8")
        print(part, flush=True)


if __name__ == "__main__":
    main()
