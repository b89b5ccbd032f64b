"""Kernels for many pages one after the other: forked from a process that has imported what every page needs.

Python, pandas, matplotlib, torch and transformers take seconds to import, of each page anew, which is more than most
pages compute. Nothing but imports happens before the fork: no thread runs, no model is loaded.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any, TypeVar, cast

from jupyter_client.provisioning import LocalProvisioner

from probekit.files.progress import bar
from probekit.workers import end_with_parent

IMPORTED = (
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "seaborn",
    "matplotlib.backends.backend_svg",
    "probekit.report.page",
    "probekit.models.loading",
    "transformers.models.bert.modeling_bert",
)
_forking = False
Result = TypeVar("Result")


def fork_kernels() -> None:
    """From now on the kernels of this process are forked, where the system forks safely: on Linux."""
    global _forking
    _forking = sys.platform == "linux"
    if _forking:
        os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")  # as a kernel does for itself
        multiprocessing.get_context("forkserver").set_forkserver_preload(list(IMPORTED))


def provisioner(manager: Any) -> LocalProvisioner | None:
    """What starts the kernel of a manager; None for the manager's own way."""
    return Forked(kernel_id=manager.kernel_id, kernel_spec=manager.kernel_spec, parent=manager) if _forking else None


class Forked(LocalProvisioner):
    """Starts a kernel by a fork in place of a new Python."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        """Start a kernel; what stands before the module's name in ``cmd`` is the Python that it needs no more."""
        arguments, folder = cmd[cmd.index("-m") + 2 :], str(kwargs["cwd"])
        process = multiprocessing.get_context("forkserver").Process(
            target=_kernel, args=(arguments, folder, dict(kwargs["env"])), daemon=True
        )
        process.start()
        self.process = cast(Any, Started(process))
        self.pid = self.pgid = process.pid
        self.cwd = Path(folder)
        return self.connection_info


class Started:
    """A process as its provisioner asks it: with the methods of ``subprocess.Popen``."""

    stdin = stdout = stderr = None

    def __init__(self, process: ForkServerProcess) -> None:
        self._process = process
        self.pid = process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self) -> int | None:
        self._process.join()
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self.pid and self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self._process.kill()

    def terminate(self) -> None:
        self._process.terminate()


def _kernel(arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    from ipykernel.kernelapp import IPKernelApp

    os.setsid()  # signals to the group of who started it are not for it, as with any kernel
    end_with_parent()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    IPKernelApp.launch_instance(arguments)


def at_once(make: Callable[..., Result], wanted: Sequence[tuple[Any, ...]], title: str, unit: str) -> list[Result]:
    """What ``make`` returns for each of the arguments, one on each core; a bar with ``title`` counts them."""
    workers = min(len(wanted), os.cpu_count() or 1)
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin) as pool:
        made = pool.map(partial(_stoppable, make), wanted)
        try:
            return list(bar(title, len(wanted), unit, items=made))
        except KeyboardInterrupt:
            for worker in multiprocessing.active_children():
                worker.terminate()
            raise


def _begin() -> None:
    """One thread, for kernels with one on every core each would stand in each other's way; SIGTERM is as Ctrl-C."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    end_with_parent()
    fork_kernels()


def _stoppable(make: Callable[..., Result], arguments: tuple[Any, ...]) -> Result:
    try:
        return make(*arguments)
    except KeyboardInterrupt:  # its kernel is ended; the worker would take the next page
        os._exit(130)
