"""Run a study in a folder apart; its page moves into place only when all went well."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from probekit.errors import ReportError
from probekit.files import canonical, digest
from probekit.files.outputs import staged
from probekit.models.registry import registry
from probekit.paths import root
from probekit.probes.hub import is_dataset
from probekit.probes.registry import PROBES, load_styles
from probekit.report.engine import execute
from probekit.report.sources import complete, load_source
from probekit.run.answers import CLUSTER

log = logging.getLogger(__name__)


def run(
    name: str,
    given: Mapping[str, Any],
    out: str | Path,
    profile: str = "demo",
    embedded: bool = False,
    force: bool = False,
    share: Callable[[Path], Any] | None = None,
    cluster: str | None = None,
) -> Path:
    """Execute a study and put its page and its folder of tables and figures into ``out``.

    Args:
        name: of ``studies.yml``.
        given: parameters by name; checked for name and type before anything starts. Files and folders among them may
            be named from the working folder.
        out: folder for ``NAME.ipynb`` and ``NAME/``, beside those of other pages.
        profile: of ``studies.yml``.
        embedded: hide ``PROBEKIT_DATA`` from the notebook; data in the cache folder stay.
        force: replace the page of a run with other parameters.
        share: makes ``NAME.html`` of the executed page, beside it.
        cluster: where missing shards are made, as ``--cluster`` takes it; else as ``PROBEKIT_CLUSTER`` says.

    Returns:
        Path of the executed notebook.

    Raises:
        ReportError: such as an unknown study or parameter, or a cell that failed (its error is quoted).
        ProbeError: a file of prompts is not there, or breaks a rule.
        StoreError: other files are there, or the folder cannot be written; all is then as it was.
    """
    import nbformat
    import papermill  # noqa: F401 - said before anything starts, if it is not there

    notebook = load_source(name)
    values = {key: absolute_paths(value) for key, value in complete(name, given, profile).items()} | {"out": name}
    _refuse_files(values)
    out, page = Path(out), f"{name}.ipynb"
    key = digest(canonical([name, values]))
    with staged(out, (page, f"{name}.html", name), name, key, force) as work, environment(embedded, cluster):
        try:
            done = execute(notebook, values, work, name)
            nbformat.write(done, work / page)
            (work / name).mkdir(exist_ok=True)
            if share:
                share(work / page)
        except OSError as error:
            raise ReportError(f"cannot write {out / page}: {error.strerror or error}; make room, run again") from error
    return out / page


def _refuse_files(values: Mapping[str, Any]) -> None:
    """Read the probes that are files as the page will, so that none is refused only after a kernel has started."""
    for name in values.get("probes", []):
        if isinstance(name, str) and name not in PROBES and not is_dataset(name):
            limit = values.get("limits", {}).get(name, values.get("limit")) or None
            load_styles(name, limit=limit, seed=values.get("seed", 0))


@contextmanager
def environment(embedded: bool = False, cluster: str | None = None) -> Iterator[None]:
    """What the kernel inherits: fixed dates, no real data where none is wanted, and the cluster, if any."""
    before = dict(os.environ)
    os.environ.update({"SOURCE_DATE_EPOCH": "0", "PROBEKIT_HOME": str(root())})
    if cluster:
        kind, _, place = cluster.partition(":")
        os.environ[CLUSTER] = f"{kind}:{Path(place).resolve()}" if os.path.isfile(place) else cluster
    if embedded:
        os.environ.pop("PROBEKIT_DATA", None)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def absolute_paths(value: Any) -> Any:
    """Paths made absolute, for a notebook that runs elsewhere, those that numbers are given for (as ``limits``) too;
    not of what has the name of a registered model."""
    if isinstance(value, list):
        return [absolute_paths(item) for item in value]
    if isinstance(value, dict):
        return {absolute_paths(k) if isinstance(item, int) else k: absolute_paths(item) for k, item in value.items()}
    if not isinstance(value, str) or not value or not os.path.exists(value):  # Path's may fail, as on a long text
        return value
    if value in registry():
        log.warning("%s is the registered model here; for the folder of that name write ./%s", value, value)
        return value
    return str(Path(value).resolve())
