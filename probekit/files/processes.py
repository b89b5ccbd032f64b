"""Work on every core: worker processes that stop with a signal, and that end when who started them was killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any, TypeVar

from probekit.files.progress import bar

CLEARING = 30.0  # seconds that a worker has to end its kernel
Result = TypeVar("Result")


def on_each_core(
    function: Callable[..., Result],
    arguments: Sequence[tuple[Any, ...]],
    title: str,
    unit: str,
    begin: Callable[[], None] | None = None,
    most: int | None = None,
) -> list[Result]:
    """What a function returns for each of the arguments, in order; a bar with ``title`` counts them.

    Args:
        begin: called first in each worker.
        most: workers at the same time; None for one on each core.
    """
    workers = min(len(arguments), most or os.cpu_count() or 1)
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin, (begin,)) as pool:
        results = pool.map(partial(_stoppable, function), arguments)
        try:
            return list(bar(title, len(arguments), unit, items=results))
        except KeyboardInterrupt:
            for worker in multiprocessing.active_children():
                worker.terminate()
            raise


def _begin(begin: Callable[[], None] | None) -> None:
    """One thread and no bars, for those of several workers would stand in each other's way; SIGTERM is as Ctrl-C."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ["TQDM_DISABLE"] = "1"
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    end_with_parent()
    if begin:
        begin()


def _stoppable(function: Callable[..., Result], arguments: tuple[Any, ...]) -> Result:
    try:
        return function(*arguments)
    except KeyboardInterrupt:  # its kernel is ended; the worker would take the next page
        os._exit(130)


def end_with_parent() -> None:
    """End this process, a worker, as SIGTERM does, once the process that started it is gone, killed ones included."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_outlive, args=(parent,), daemon=True).start()


def _outlive(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(CLEARING)
    os._exit(1)
