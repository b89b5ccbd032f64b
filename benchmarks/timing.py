"""Runs that take turns, what each gave to the network, and whether their answers are equal.

Seconds are those of the process on one thread, which a busy machine lengthens little.
"""

from __future__ import annotations

import copy
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from probekit import Model

ROUNDS = 3
Run = Callable[[], Any]
COLUMNS = ["task", "by", "rows", "tokens", "seconds", "least", "most", "times", "times_low", "times_high", "answers"]


def passes(network: Any, run: Run) -> tuple[int, int, Any]:
    """Rows and tokens, padding included, that a run gives to the network's encoder, and what the run gives."""
    rows = tokens = 0

    def note(_module: Any, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        nonlocal rows, tokens
        found = [*given[:1], named.get("input_ids"), named.get("inputs_embeds")]
        shape = next(one.shape for one in found if one is not None)
        rows, tokens = rows + shape[0], tokens + shape[0] * shape[1]

    with network.base_model.register_forward_pre_hook(note, with_kwargs=True):
        found = run()
    return rows, tokens, found


def seconds(run: Run, clock: Callable[[], float]) -> float:
    """Seconds of a clock."""
    start = clock()
    run()
    return clock() - start


def compare(
    task: str,
    network: Any,
    runs: Mapping[str, Run],
    agree: Callable[[Any, Any], str] | None = None,
    rounds: int = ROUNDS,
    clock: Callable[[], float] = time.process_time,
) -> pd.DataFrame:
    """One row a run: its rows and tokens, median and extremes of its seconds, and its time over that of the first run.

    Args:
        task: what all of them do.
        network: whose passes are counted; None counts none.
        runs: the first is this package's.
        agree: says how an answer agrees with the first run's, and raises AssertionError where it does not; an answer of
            None is not compared.
        rounds: each takes every run once; the ratio is the median, least and most of the rounds' own.
        clock: of the process; another for runs that are several processes.
    """
    torch.set_num_threads(1)
    first = next(iter(runs))
    counted = {}
    for name, run in runs.items():
        try:
            counted[name] = passes(network, run) if network is not None else (0, 0, run())
        except ModuleNotFoundError as error:
            print(f"{task}: without {name}: {error}")
    if first not in counted:
        return pd.DataFrame(columns=COLUMNS)
    spent: dict[str, list[float]] = {name: [] for name in counted}
    for _ in range(rounds):
        for name in counted:
            spent[name].append(seconds(runs[name], clock))
    table = []
    for name, (rows, tokens, answer) in counted.items():
        times = [a / b for a, b in zip(spent[name], spent[first], strict=True)]
        said = "" if name == first or answer is None or agree is None else agree(counted[first][2], answer)
        spread = [statistics.median(spent[name]), min(spent[name]), max(spent[name])]
        table.append([task, name, rows, tokens, *spread, statistics.median(times), min(times), max(times), said])
    return pd.DataFrame(table, columns=COLUMNS)


def widened(
    model: Model, folder: str | Path, heads: int, dtype: str = "float32", device: str = "cpu", **sizes: int
) -> None:
    """A checkpoint of random weights with a model's tokens, and sizes in the words of its family's configuration."""
    config = copy.deepcopy(model.network.config)
    config.update({**sizes, "num_attention_heads": heads, "dtype": dtype, "initializer_range": 0.02})
    if hasattr(config, "head_dim"):
        config.update({"num_key_value_heads": heads, "head_dim": sizes["hidden_size"] // heads})
    torch.set_default_dtype(getattr(torch, dtype))
    try:
        with torch.device(device):
            network = type(model.network)(config)
    finally:
        torch.set_default_dtype(torch.float32)
    network.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
