"""Worker processes, which nobody tells when the process that started them was killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time

CLEARING = 30.0  # seconds that a worker has to end its kernel


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
