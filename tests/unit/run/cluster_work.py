"""Works of the tests of clusters, whose processes find this module as the tests do."""

import os
import signal
import time
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from probekit.errors import ModelError
from probekit.models import Model
from probekit.probes.per_file import InputFile
from probekit.run import Rank
from probekit.store import Work


def pieces(note: Path, count: int, slow: float = 0.0, fail: bool = False, kill: int = -1) -> Work:
    """Shards without a model, each of which is told to a file and takes so many seconds; one may end its process."""
    note.touch()
    return Work("pieces", {"of": count}, "pieces", [1] * count, partial(_piece, note, slow, fail, kill), pd.concat)


def _piece(note: Path, slow: float, fail: bool, kill: int, number: int, _: object) -> pd.DataFrame:
    _tell(note, str(number), slow)
    if fail:
        raise ModelError("it does not work")
    if number == kill:
        os.kill(os.getpid(), signal.SIGKILL)
    return pd.DataFrame({"number": [number]})


class Killing(Rank):
    """Ends the process that reads its model, as a system does that has no memory left."""

    def load(self, loading: Mapping[str, Any], read: bool) -> Model:
        if read:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().load(loading, read)


def read(note: Path, slow: float, file: InputFile, counts: Counter[str]) -> pd.DataFrame:
    """Reads a file slowly and tells it."""
    _tell(note, file.path.stem, slow)
    counts["bytes"] += len(data := file.path.read_bytes())
    return pd.DataFrame({"data": [data.decode()]})


def _tell(note: Path, what: str, slow: float) -> None:
    with note.open("a") as file:
        file.write(f"{what} {os.getpid()}\n")
    time.sleep(slow)
