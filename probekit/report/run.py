"""Run a study: papermill over its source, in a folder apart; the page moves into place only when all went well."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from probekit.errors import ReportError
from probekit.files import sweep, unfinished
from probekit.report.paths import root
from probekit.report.sources import complete, load_source
from probekit.titles import shown_values, tell_apart

WIDGET = "application/vnd.jupyter.widget-view+json"
TIMEOUT = 24 * 3600  # seconds a cell may run

log = logging.getLogger(__name__)


def run(name: str, given: Mapping[str, Any], out: str | Path, profile: str = "demo", embedded: bool = False) -> Path:
    """Execute a study and put its page and its folder of tables and figures into ``out``.

    Args:
        name: of ``studies.yml``.
        given: parameters by name; checked for name and type before anything starts. Files and folders among them may
            be named from the working folder.
        out: folder for ``NAME.ipynb`` and ``NAME/``; what stands there is replaced only on success.
        profile: of ``studies.yml``.
        embedded: hide ``PROBEKIT_DATA`` from the notebook, so that the page is the same on every machine.

    Returns:
        Path of the executed notebook.

    Raises:
        ReportError: unknown study, profile or parameter, or a cell that failed (its error is quoted).
    """
    import nbformat
    import papermill
    from nbclient.exceptions import DeadKernelError
    from traitlets.config import Config

    notebook = load_source(name)
    values = {key: _found(value) for key, value in complete(name, given, profile).items()} | {"out": name}
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    sweep(out)
    with tempfile.TemporaryDirectory(dir=out, prefix=unfinished(name)) as work, _environment(embedded):
        try:
            done = papermill.execute_notebook(
                notebook,
                Path(work) / f"{name}.ipynb",
                parameters=values,
                kernel_name="python3",
                cwd=work,
                progress_bar=False,
                execution_timeout=TIMEOUT,
                config=Config({"KernelManager": {"transport_encryption": "auto"}}),
            )
        except papermill.PapermillExecutionError as error:
            raise ReportError(f"{name}: cell {error.exec_count} failed: {error.ename}: {error.evalue}") from error
        except DeadKernelError as error:
            raise ReportError(
                f"{name}: the kernel died, perhaps for want of memory; what was stored is kept"
            ) from error
        nbformat.write(_tidy(done, name, values), Path(work) / f"{name}.ipynb")
        (Path(work) / name).mkdir(exist_ok=True)
        shutil.rmtree(out / name, ignore_errors=True)
        (Path(work) / name).replace(out / name)
        (Path(work) / f"{name}.ipynb").replace(out / f"{name}.ipynb")
    return out / f"{name}.ipynb"


@contextmanager
def _environment(embedded: bool) -> Iterator[None]:
    """What the kernel inherits: fixed dates, no progress bars on pages, and no real data where none is wanted."""
    before = dict(os.environ)
    os.environ.update({"SOURCE_DATE_EPOCH": "0", "TQDM_DISABLE": "1", "PROBEKIT_HOME": str(root())})
    if embedded:
        os.environ.pop("PROBEKIT_DATA", None)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _found(value: Any) -> Any:
    """Paths of existing files and folders made absolute: the notebook runs in a folder of its own."""
    if isinstance(value, list):
        return [_found(one) for one in value]
    if isinstance(value, dict):
        return {key: _found(one) for key, one in value.items()}
    is_path = isinstance(value, str) and value and Path(value).exists()
    return str(Path(value).resolve()) if is_path else value


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
