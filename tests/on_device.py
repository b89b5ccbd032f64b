"""Every scoring path on the CPU and on a device that is not there and has no float64 (see ``labelled``).

Prints as JSON by how much the numbers of each path differ, or what it raised.
"""

import json
import sys
from collections.abc import Callable

import numpy as np
import torch
from labelled import DEVICE, Mixed, labelled

from benchmarks.paths import paths


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


def main() -> None:
    found = {}
    for name, path in paths().items():
        here = np.asarray(path("cpu"), dtype=float)
        with labelled(torch.float64):
            try:
                there = np.asarray(path(f"{DEVICE}:0"), dtype=float)
                found[name] = float(np.abs(here - there)[np.isfinite(here)].max(initial=0))
            except Exception as error:  # what a path raises is the finding
                found[name] = f"{type(error).__name__}: {str(error)[:300]}"
    with labelled(torch.float64):
        sys.stdout.write(json.dumps({"paths": found, "refused": refused()}) + "\n")


if __name__ == "__main__":
    main()
