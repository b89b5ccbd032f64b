"""Run the cells of a notebook, one after the other, in a kernel that ends with them, whatever ends them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from probekit import errors
from probekit.errors import ReportError
from probekit.files.naming import shown_values, tell_apart
from probekit.files.progress import PLACE, Status, quiet

TIMEOUT = 24 * 3600  # seconds a cell may run
OURS = {name for name, value in vars(errors).items() if isinstance(value, type)}  # names of errors that need no other
WIDGET = "application/vnd.jupyter.widget-view+json"
COLOUR = re.compile(r"\x1b\[[\d;]*m")


log = logging.getLogger(__name__)


def execute(notebook: Any, values: Mapping[str, Any], folder: Path, name: str) -> Any:
    """Execute a notebook and show how far it is.

    Args:
        notebook: a node with a cell tagged ``parameters``.
        values: parameters by name.
        folder: to work in.
        name: of the page, for messages.

    Returns:
        The executed node.

    Raises:
        ReportError: a cell failed (its error is quoted; the kernel's traceback is its cause), or the kernel died.
        KeyboardInterrupt: the run was stopped; the kernel is ended.
    """
    import papermill
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    page = folder / f"{name}.ipynb"
    node = papermill.execute_notebook(
        notebook, page, values, prepare_only=True, kernel_name="python3", language="python"
    )
    place, status = folder / ".progress", Status()
    try:
        return _tidy(asyncio.run(_execute(node, folder, name, place, status)), name, values)
    except CellExecutionError as error:
        said = error.evalue if error.ename in OURS else f"{error.ename}: {error.evalue}".rstrip(": ")
        raise ReportError(f"{name}: cell {error.cell} failed: {COLOUR.sub('', said)}") from error
    except CellTimeoutError as error:
        raise ReportError(f"{name}: a cell ran longer than {TIMEOUT // 3600} hours: what was stored is kept") from error
    except DeadKernelError as error:
        raise ReportError(f"{name}: the kernel died, perhaps for want of memory; what was stored is kept") from error
    finally:
        status.clear()
        place.unlink(missing_ok=True)


async def _execute(node: Any, folder: Path, name: str, place: Path, status: Status) -> Any:
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, DeadKernelError
    from traitlets.config import Config

    from probekit.report.kernels import provisioner

    config = Config({"KernelManager": {"transport_encryption": "auto"}})
    client = NotebookClient(node, timeout=TIMEOUT, kernel_name="python3", config=config)
    client.km = client.create_kernel_manager()
    client.km.provisioner = provisioner(client.km)
    client.extra_arguments = ["--log-level=CRITICAL"]  # a kernel asked to end calls the interrupt an error
    codes = sum(cell.cell_type == "code" for cell in node.cells)
    environment = dict(os.environ) | ({} if quiet() else {PLACE: str(place.resolve())})
    watching: asyncio.Task[None] | None = None
    done = False
    try:
        await client.async_start_new_kernel(cwd=str(folder), env=environment)
        await client.async_start_new_kernel_client()
        watching = asyncio.create_task(_watch(client, codes, name, place, status))
        for index, cell in enumerate(node.cells):
            try:
                await client.async_execute_cell(cell, index, client.code_cells_executed + 1)
            except CellExecutionError as error:
                error.cell = client.code_cells_executed
                raise
            except DeadKernelError:
                if (task := asyncio.current_task()) and task.cancelling():  # nbclient takes a stop for a dead kernel
                    raise asyncio.CancelledError from None
                raise
        reply = await client.async_wait_for_reply(await _id(client))
        node.metadata["language_info"] = reply["content"]["language_info"]
        done = True
    finally:
        if watching is not None:
            watching.cancel()
        client.shutdown_kernel = "graceful" if done else "immediate"
        with contextlib.suppress(RuntimeError):
            await client._async_cleanup_kernel()
    return node


async def _id(client: Any) -> str:
    asked = client.kc.kernel_info()
    return await asked if asyncio.iscoroutine(asked) else asked


async def _watch(client: Any, codes: int, name: str, place: Path, status: Status) -> None:
    """Show page, cell, and what its code says of its own work."""
    while True:
        said = ""
        with contextlib.suppress(OSError):
            said = place.read_text("utf-8")
        cell = max(1, client.code_cells_executed)
        status.show(f"{name}: cell {cell} of {codes}" + (f"; {said}" if said else ""))
        await asyncio.sleep(1)


def _tidy(notebook: Any, name: str, values: Mapping[str, Any]) -> Any:
    """Leave out what differs between equal runs: times, addresses, widgets, folders of the parameters ``values``.

    What a library wrote to the console goes to whoever runs the study, not to the page.
    """
    from papermill.translators import PythonTranslator

    tell_apart(values)
    for key in ("papermill", "widgets"):
        notebook.metadata.pop(key, None)
    for cell in notebook.cells:
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell["id"] = f"{name}-injected".replace("_", "-")
            cell["source"] = PythonTranslator.codify(shown_values(values), "Parameters")
            cell.metadata["tags"].append("remove-cell")  # the provenance table shows them
        if "outputs" in cell:
            written = [out["text"] for out in cell["outputs"] if out["output_type"] == "stream"]
            if any(text.strip() for text in written):
                log.warning("%s wrote beside its page: %s", name, "".join(written).strip())
            cell["outputs"] = [
                out for out in cell["outputs"] if out["output_type"] != "stream" and WIDGET not in out.get("data", {})
            ]
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if any(kind.startswith(("image/", "text/html", "text/markdown")) for kind in data):
                data.pop("text/plain", None)
    return notebook
