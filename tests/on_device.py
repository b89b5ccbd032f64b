"""Every scoring path on the CPU and on a device that is not there and has no float64 (see ``labelled``).

Prints as JSON by how much the numbers of each path differ, or what it raised; and of faults that are put into the code
on purpose, what the paths raise then.
"""

import inspect
import json
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import torch
from labelled import DEVICE, Mixed, labelled

from benchmarks.paths import Path, apart, paths

HERE, THERE, EARLY = ", device=model.device", ".cpu().double()", ".double().cpu()"
FAULTS = [  # path, module of probekit.scoring, its function, what stands there, and what a careless hand would write
    ("perplexity masked of a text", "perplexity", "_log_probs", THERE, EARLY),
    ("perplexity masked of a text", "perplexity", "_log_probs", ", device=logits.device", ""),
    ("saliency masked attention", "saliency.attention", "_summed", ", device=each.device", ""),
    ("saliency masked attention", "saliency.attention", "_summed", ".cpu()", ".to('cpu', non_blocking=True)"),
    ("saliency masked gradient_x_input", "saliency.gradients", "_points", f"tokens{THERE}", f"tokens{EARLY}"),
    ("saliency masked gradient_x_input", "saliency.gradients", "_points", HERE, ""),
    ("ranking masked pll", "statements.pseudo", "_scored", THERE, EARLY),
    ("ranking causal sum", "statements.trie", "_forward", f"len(read){HERE}", "len(read)"),
    ("ranking masked slot", "rank_shard", "_score", f"-torch.inf{HERE}", "-torch.inf"),
    ("completions seq2seq best", "completions.beams", "generate", HERE, ""),
]


def refused() -> dict[str, bool]:
    """What the device must refuse, for this to be a test of anything."""
    here, there = torch.ones(2), torch.ones(2, device=f"{DEVICE}:0")
    return {
        "two devices": fails(lambda: here + there),
        "a list on another device": fails(lambda: torch.nn.functional.embedding(here.long(), there[:, None])),
        "a read before a copy ended": fails(lambda: there.to("cpu", non_blocking=True)),
        "float64": fails(there.double),
        "numpy of what is not here": fails(there.numpy),
    }


def fails(call: Callable[[], object]) -> bool:
    try:
        call()
    except (TypeError, Mixed):
        return True
    return False


def tried(path: Path, here: Mapping[str, Any]) -> float | str:
    """By how much its numbers differ on the device, or what it raised."""
    try:
        with labelled(torch.float64):
            differences, same = apart(here, path.ask(f"{DEVICE}:0"))
        return max(differences.values()) if same else "other numbers are not finite"
    except Exception as error:  # what a path raises is the finding
        return f"{type(error).__name__}: {str(error)[:300]}"


def with_fault(path: Path, here: Mapping[str, Any], module: str, name: str, right: str, wrong: str) -> float | str:
    """The same while a function has a fault.

    Raises:
        ValueError: what should be replaced is not there.
    """
    home = import_module(f"probekit.scoring.{module}")
    function, source = getattr(home, name), inspect.getsource(getattr(home, name))
    if right not in source:
        raise ValueError(f"{name} of {module} has no {right!r}: take other code to put a fault into")
    faulty = f"from __future__ import annotations\n{source.replace(right, wrong)}"
    exec(compile(faulty, str(home.__file__), "exec"), vars(home))
    try:
        return tried(path, here)
    finally:
        setattr(home, name, function)


def main() -> None:
    with labelled(torch.float64):
        sees = refused()
    every = {path.name: path for path in paths()}
    here = {name: path.ask("cpu") for name, path in every.items()}  # after the device is known, as gradients ask for it
    found = {name: tried(path, here[name]) for name, path in every.items()}
    faults = [(*fault, with_fault(every[fault[0]], here[fault[0]], *fault[1:])) for fault in FAULTS]
    sys.stdout.write(json.dumps({"paths": found, "refused": sees, "faults": faults}) + "\n")


if __name__ == "__main__":
    main()
