"""The engine by which papermill executes pages: it shows how far a page is, and leaves out of it what differs between
equal runs. ``papermill --engine probekit`` has it too.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from probekit import errors
from probekit.errors import ReportError
from probekit.files.naming import shown_values, tell_apart
from probekit.files.progress import PLACE, Status, quiet

NAME = "probekit"
TIMEOUT = 24 * 3600  # seconds a cell may run
OURS = {name for name, value in vars(errors).items() if isinstance(value, type)}  # names of errors that need no other
WIDGET = "application/vnd.jupyter.widget-view+json"
COLOUR = re.compile(r"\x1b\[[\d;]*m")


log = logging.getLogger(__name__)


def execute(notebook: Any, values: Mapping[str, Any], folder: Path, name: str) -> Any:
    """Execute a notebook by papermill and show how far it is.

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
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill.engines import papermill_engines
    from papermill.exceptions import PapermillExecutionError

    papermill_engines.register(NAME, PageEngine)
    try:
        return papermill.execute_notebook(
            notebook, None, values, NAME, kernel_name="python3", language="python", page=name, folder=folder
        )
    except PapermillExecutionError as error:
        reason = error.evalue if error.ename in OURS else f"{error.ename}: {error.evalue}".rstrip(": ")
        raise ReportError(f"{name}: cell {error.exec_count} failed: {COLOUR.sub('', reason)}") from error
    except CellTimeoutError as error:
        raise ReportError(f"{name}: a cell ran longer than {TIMEOUT // 3600} hours: what was stored is kept") from error
    except DeadKernelError as error:
        raise ReportError(f"{name}: the kernel died, perhaps for want of memory; what was stored is kept") from error


class PageEngine:
    """As papermill's own engine, with a line of progress, and a kernel that ends with the run, whatever ends that.

    papermill loads it while it is itself imported, so that nothing of it is asked for before.
    """

    @classmethod
    def execute_notebook(
        cls,
        nb: Any,
        kernel_name: str,
        output_path: str | None = None,
        page: str = "",
        folder: Path | None = None,
        start_timeout: int = 60,
        autosave_cell_every: int = 30,
        **_: Any,
    ) -> Any:
        """Execute the cells of a node up to the first that fails.

        Args:
            output_path: where the node is saved after each cell.
            page: its name.
            folder: where the kernel works.
        """
        from papermill.clientwrap import PapermillNotebookClient
        from papermill.engines import NotebookExecutionManager
        from traitlets.config import Config

        manager = NotebookExecutionManager(nb, output_path, False, False, autosave_cell_every)
        client = PapermillNotebookClient(
            manager,
            timeout=TIMEOUT,
            startup_timeout=start_timeout,
            kernel_name=kernel_name,
            config=Config({"KernelManager": {"transport_encryption": "auto"}}),
            extra_arguments=["--log-level=CRITICAL"],  # a kernel asked to end calls the interrupt an error
        )
        metadata = nb.metadata["papermill"]
        page = page or Path(metadata["output_path"] or "page").stem
        manager.notebook_start()
        try:
            with tempfile.TemporaryDirectory(prefix="probekit-") as place:
                asyncio.run(_execute(client, page, str(folder or Path.cwd()), Path(place) / "progress"))
        finally:
            manager.notebook_complete()
        return nb if metadata["exception"] else tidy(nb, page, metadata.get("parameters", {}))

    @classmethod
    def nb_kernel_name(cls, nb: Any, name: str | None = None) -> Any:
        """The kernel of a node, if none is named."""
        from papermill.utils import nb_kernel_name

        return nb_kernel_name(nb, name)

    @classmethod
    def nb_language(cls, nb: Any, language: str | None = None) -> Any:
        """The language of a node, if none is named."""
        from papermill.utils import nb_language

        return nb_language(nb, language)


async def _execute(client: Any, page: str, folder: str, place: Path) -> None:
    environment = os.environ | {"TQDM_DISABLE": "1"} | ({} if quiet() else {PLACE: str(place)})
    kernel = client.create_kernel_manager()
    watching: asyncio.Task[None] | None = None
    done = False
    try:
        await client.async_start_new_kernel(cwd=folder, env=environment)
        channels = await client.async_start_new_kernel_client()
        watching = asyncio.create_task(_watch(client, page, place))
        await _cells(client)
        client.nb.metadata["language_info"] = (await channels.kernel_info(reply=True))["content"]["language_info"]
        done = True
    finally:
        if watching is not None:
            watching.cancel()
        with contextlib.suppress(RuntimeError):
            await kernel.shutdown_kernel(now=not done)
        if client.kc is not None:
            client.kc.stop_channels()


async def _cells(client: Any) -> None:
    from nbclient.exceptions import CellExecutionError, DeadKernelError

    for index, cell in enumerate(client.nb.cells):
        client.nb_man.cell_start(cell, index)
        try:
            await client.async_execute_cell(cell, index, client.code_cells_executed + 1)
        except CellExecutionError as error:
            client.nb_man.cell_exception(cell, cell_index=index, exception=error)
            return
        except DeadKernelError:
            if (task := asyncio.current_task()) and task.cancelling():  # nbclient takes a stop for a dead kernel
                raise asyncio.CancelledError from None
            raise
        client.nb_man.cell_complete(cell, cell_index=index)


async def _watch(client: Any, page: str, place: Path) -> None:
    """Show page, cell, and what its code says of its own work."""
    codes, status = sum(cell.cell_type == "code" for cell in client.nb.cells), Status()
    try:
        while True:
            task = ""
            with contextlib.suppress(OSError):
                task = place.read_text("utf-8")
            cell = max(1, client.code_cells_executed)
            status.show(f"{page}: cell {cell} of {codes}" + (f"; {task}" if task else ""))
            await asyncio.sleep(1)
    finally:
        status.clear()


def tidy(notebook: Any, page: str, values: Mapping[str, Any]) -> Any:
    """Leave out what differs between equal runs: times, addresses, widgets, folders of the parameters ``values``.

    What a library wrote to the console goes to whoever runs the study, not to the page.
    """
    from papermill.translators import PythonTranslator

    tell_apart(values)
    tagged = {tag: cell for cell in notebook.cells for tag in cell.metadata.get("tags", [])}
    for key in ("papermill", "widgets"):
        notebook.metadata.pop(key, None)
    for cell in notebook.cells:
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell["id"] = f"{page}-injected".replace("_", "-")
            cell["source"] = PythonTranslator.codify(shown_values(values), "Parameters")
            defaults = tagged["parameters"].metadata["tags"]
            cell.metadata["tags"].append("remove-cell" if "remove-cell" in defaults else "hide-input")
            defaults.append("remove-cell")  # what was used is shown, not the defaults
        outputs = cell.get("outputs", [])
        written = [out["text"] for out in outputs if out["output_type"] == "stream"]
        if any(text.strip() for text in written):
            log.warning("%s wrote beside its page: %s", page, "".join(written).strip())
        for output in outputs:
            data = output.get("data", {})
            if any(kind.startswith(("image/", "text/html", "text/markdown")) for kind in data):
                data.pop("text/plain", None)
        if "outputs" in cell:
            shown = [out for out in outputs if out["output_type"] != "stream" and WIDGET not in out.get("data", {})]
            cell["outputs"] = shown
    return notebook
