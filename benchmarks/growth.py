"""Seconds and memory of a ranking as prompts, and as candidates, grow: one child process a point, tiny networks.

``python -m benchmarks.growth zoo/bert-tiny``; any model that ``rank_entities`` takes.
"""

from __future__ import annotations

import math
import multiprocessing
import random
import resource
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch

import probekit as pk

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MODELS = ("zoo/bert-tiny", "zoo/llama-tiny", "zoo/t5-tiny")
PROMPTS, CANDIDATES = (1_000, 4_000, 16_000, 64_000), (10, 100, 1_000, 10_000, 100_000)
FEW = 10  # candidates while prompts grow, and prompts while candidates do


def main(models: Iterable[str] = MODELS) -> pd.DataFrame:
    """Columns ``model, grows, number, seconds, mebibytes, rows, tokens``; memory is that beyond model and probe.

    Rows are those of a masked model's forward passes; of one that writes they are the statements scored.
    """
    torch.set_num_threads(1)  # a child that is forked has one
    points = [("prompts", number) for number in PROMPTS] + [("candidates", number) for number in CANDIDATES]
    table = []
    for name in models:
        model = pk.load_model(name, device="cpu")
        pk.rank_entities(model, made(1, 2))
        for grows, number in points:
            probe = made(number, FEW) if grows == "prompts" else made(FEW, number)
            table.append({"model": name, "grows": grows, "number": number, **_in_child(model, probe)})
    return pd.DataFrame(table)


def made(prompts: int, candidates: int) -> pk.Probe:
    """So many different prompts and candidates of one to three words each, of the demo world's vocabulary."""
    demo = pk.load_probe("demo/natural")
    words = sorted({word for text in demo.prompts["text"] for word in text.split() if word.isalpha()})
    draw = random.Random(0)

    def drawn(number: int, least: int, most: int) -> list[str]:
        found: dict[str, None] = {}
        while len(found) < number:
            found[" ".join(draw.choices(words, k=draw.randint(least, most)))] = None
        return list(found)

    names = drawn(candidates, 1, 3)
    texts = [f"{before} [MASK] ." for before in drawn(prompts, 4, 8)]
    golds = [[draw.choice(names)] for _ in texts]
    rows = pd.DataFrame({"prompt_id": [str(i) for i in range(prompts)], "text": texts, "gold": golds})
    return pk.Probe("made", rows, names)


def exponents(table: pd.DataFrame) -> pd.DataFrame:
    """Of each curve the power with which time and memory grew over its last step; 1 is linear."""
    found = []
    for (model, grows), part in table.groupby(["model", "grows"], sort=False):
        (a, b), base = part.tail(2).to_dict("records"), part["number"].iloc[-1] / part["number"].iloc[-2]
        power = {name: math.log(b[name] / a[name], base) for name in ("seconds", "mebibytes")}
        found.append({"model": model, "grows": grows, **power})
    return pd.DataFrame(found)


def _in_child(model: pk.Model, probe: pk.Probe) -> dict[str, float]:
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_measure, args=(model, probe, queue))
    child.start()
    found: dict[str, float] = queue.get()
    child.join()
    return found


def _measure(model: pk.Model, probe: pk.Probe, queue: Any) -> None:
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    counts = pk.rank_entities(model, probe).attrs["counts"]
    seconds, after = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = {"rows": counts.get("forward rows", counts.get("statements")), "tokens": counts["tokens"]}
    queue.put({"seconds": seconds, "mebibytes": (after - before) / 1024, **found})


def chart(table: pd.DataFrame) -> Figure:
    """Both axes logarithmic: a straight line that rises by one decade a decade is linear growth."""
    from probekit.report import new_figure, title
    from probekit.report.charts import MARKERS, colours, log_numbers

    figure, axes = new_figure(5.4, 2, 2)
    tint = colours(list(table["model"]))
    for place, ax in enumerate(axes):
        grows, column = ("prompts", "candidates")[place % 2], ("seconds", "mebibytes")[place // 2]
        for number, (model, part) in enumerate(table[table["grows"] == grows].groupby("model", sort=False)):
            ax.plot(part["number"], part[column], f"{MARKERS[number]}-", color=tint[model], label=title(model))
        ax.set_xscale("log")
        ax.set_yscale("log")
        for axis in (ax.xaxis, ax.yaxis):
            log_numbers(axis)
            axis.set_major_formatter("{x:,g}")
        ax.grid(linewidth=0.4)
        ax.set_xlabel(grows)
        ax.set_ylabel({"seconds": "Seconds", "mebibytes": "MiB"}[column])
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def save(table: pd.DataFrame, folder: Path) -> None:
    """The table and its chart, the same bytes for the same numbers."""
    table.round({"seconds": 3, "mebibytes": 1}).to_csv(folder / "speed_growth.csv", index=False)
    chart(table).savefig(folder / "speed_growth.svg", format="svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    print(main(sys.argv[1:] or MODELS).to_string())
