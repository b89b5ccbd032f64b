"""Works of the tests of clusters, whose processes find this module as the tests do."""

import os
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pandas as pd

from probekit.errors import ModelError
from probekit.probes.per_file import InputFile
from probekit.store import Work


def pieces(note: Path, count: int, slow: float = 0.0, fail: bool = False) -> Work:
    """Shards without a model, each of which is told to a file and takes so many seconds."""
    note.touch()
    return Work("pieces", {"of": count}, "pieces", [1] * count, partial(_piece, note, slow, fail), pd.concat)


def _piece(note: Path, slow: float, fail: bool, number: int, _: object) -> pd.DataFrame:
    _tell(note, str(number), slow)
    if fail:
        raise ModelError("it does not work")
    return pd.DataFrame({"number": [number]})


def read(note: Path, slow: float, file: InputFile, counts: Counter[str]) -> pd.DataFrame:
    """Reads a file slowly and tells it."""
    _tell(note, file.path.stem, slow)
    counts["bytes"] += len(data := file.path.read_bytes())
    return pd.DataFrame({"data": [data.decode()]})


def _tell(note: Path, what: str, slow: float) -> None:
    with note.open("a") as file:
        file.write(f"{what} {os.getpid()}\n")
    time.sleep(slow)
