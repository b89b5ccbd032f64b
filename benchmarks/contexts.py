"""Study 2: how fast names are found in documents, and steps per second against scoring every input alone.

``python -m benchmarks.contexts``; seconds are those of a clock and, in brackets, of the process, which a busy machine
does not lengthen.
"""

from __future__ import annotations

import random
import time
from collections import Counter

import pandas as pd
import torch

import probekit as pk
from probekit.contexts.matching import pool
from probekit.contexts.sources import look_up
from probekit.contexts.study import rank_steps, steps
from probekit.demo.world.contexts import demo_contexts
from probekit.probes.data import data_root

NAMES, DOCUMENTS, WORDS = 100_000, 50_000, 200
TAKEN, ALONE = 400, 20  # steps scored in one stream, and those scored one input at a time: it is slow
Seconds = tuple[float, float]  # of a clock, of the process


class Watch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self.start = self.now()

    @staticmethod
    def now() -> Seconds:
        return time.perf_counter(), time.process_time()

    def read(self) -> Seconds:
        clock, process = self.now()
        return clock - self.start[0], process - self.start[1]


def told(seconds: Seconds) -> str:
    return f"{seconds[0]:.1f} ({seconds[1]:.1f})"


def match() -> None:
    """Names of one to three invented words in documents of 200 words, a tenth of them words of names."""
    generator = random.Random(0)
    words = [f"w{i:x}" for i in range(60_000)]
    names = list(dict.fromkeys(" ".join(generator.choices(words, k=generator.randint(1, 3))) for _ in range(NAMES)))
    common = [f"c{i:x}" for i in range(5_000)]
    watch = Watch()
    finder = pool(names)
    built = watch.read()
    clock = process = 0.0
    found = size = 0
    for _ in range(DOCUMENTS):
        text = " ".join(generator.choice(words if generator.random() < 0.1 else common) for _ in range(WORDS))
        watch = Watch()
        found += len(finder.find(text))
        spent = watch.read()
        clock, process, size = clock + spent[0], process + spent[1], size + len(text)
    print(f"{len(names):,} names in {DOCUMENTS:,} documents of {WORDS} words ({size / 1e6:.0f} million characters)")
    print(f"  seconds to build the pool: {told(built)}; to find {found:,} mentions: {told((clock, process))}")


def alone(model: pk.Model, taken: pd.DataFrame, entities: dict[str, list[str]]) -> Seconds:
    """Seconds of every step by itself: its two inputs, one row a batch."""
    watch = Watch()
    for number in range(len(taken)):
        rank_steps(model, taken.iloc[[number]], entities, batch_tokens=1)
    return watch.read()


def main() -> None:
    real = (data_root() / "models" / "minilm-mlm").is_dir()
    model = pk.load_model("minilm-mlm" if real else "zoo/bert-tiny", device="cpu")
    watch = Watch()
    asked, found = look_up(demo_contexts("biomedical"), Counter())
    table, entities = steps(asked, found), asked.attrs["entities"]
    print(f"{len(table):,} steps from {len(found)} documents for triples: {told(watch.read())} seconds")
    watch = Watch()
    counts = rank_steps(model, table.iloc[:TAKEN], entities).attrs["counts"]
    whole = watch.read()
    each = alone(model, table.iloc[:ALONE], entities)
    print(f"{model.name}, {torch.get_num_threads()} threads: {TAKEN} of them in one stream")
    for name in ("prompts", "forward rows", "tokens"):
        print(f"  {name}: {counts[name]:,}")
    rates = [(TAKEN / one, ALONE / other) for one, other in zip(whole, each, strict=True)]
    print(
        "  steps per second: "
        + told((rates[0][0], rates[1][0]))
        + "; every step alone: "
        + told((rates[0][1], rates[1][1]))
    )
    print("  ratio: " + told((rates[0][0] / rates[0][1], rates[1][0] / rates[1][1])))
    match()


if __name__ == "__main__":
    main()
