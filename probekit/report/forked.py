"""Kernels for many pages one after the other: forked from a process that has imported what every page needs.

Python, pandas, matplotlib, torch and transformers take seconds to import, of each page anew, which is more than most
pages compute. Nothing but imports happens before the fork: no thread runs, no model is loaded.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from importlib.metadata import EntryPoint
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any, cast

from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

from probekit.files.processes import end_with_parent

NAME = "probekit-forked"  # of the provisioner, also in the metadata of a kernel's specification
IMPORTED = (
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "seaborn",
    "matplotlib.backends.backend_svg",
    "probekit.report.page",
    "probekit.models.loading",
    "transformers.models.bert.modeling_bert",
)


def fork_kernels() -> None:
    """From now on the kernels of this process are forked, where the system forks safely: on Linux."""
    if sys.platform != "linux":
        return
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")  # as a kernel does for itself
    multiprocessing.get_context("forkserver").set_forkserver_preload(list(IMPORTED))
    provisioners = KernelProvisionerFactory.instance()
    home = f"{Forked.__module__}:{Forked.__name__}"
    provisioners.provisioners[NAME] = EntryPoint(NAME, home, KernelProvisionerFactory.GROUP_NAME)
    provisioners.default_provisioner_name = NAME


class Forked(LocalProvisioner):
    """Starts a kernel by a fork in place of a new Python."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        """Start a kernel; of ``cmd``, only what follows the module's name is used."""
        arguments, self.cwd = cmd[cmd.index("-m") + 2 :], Path(kwargs.get("cwd") or Path.cwd())
        process = multiprocessing.get_context("forkserver").Process(
            target=_kernel, args=(arguments, self.cwd, dict(kwargs["env"])), daemon=True
        )
        process.start()
        self.process = cast(Any, Started(process))
        self.pid = self.pgid = process.pid
        return self.connection_info


class Started:
    """A process with those methods of ``subprocess.Popen`` that a provisioner calls."""

    stdin = stdout = stderr = None

    def __init__(self, process: ForkServerProcess) -> None:
        self._process = process
        self.pid, self.kill, self.terminate = process.pid, process.kill, process.terminate

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self) -> int | None:
        self._process.join()
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self.pid and self.poll() is None:
            os.kill(self.pid, number)


def _kernel(arguments: list[str], folder: Path, environment: dict[str, str]) -> None:
    from ipykernel.kernelapp import IPKernelApp

    os.setsid()  # signals to the group of who started it are not for it, as with any kernel
    end_with_parent()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    IPKernelApp.launch_instance(arguments)
