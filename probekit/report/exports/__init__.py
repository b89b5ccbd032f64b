"""What ``probekit export`` writes: a run or a probe in a format of others, as texts by file name."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from probekit.probes import load_probe
from probekit.report.exports.eval_ever import eval_ever
from probekit.report.exports.harness import harness_task
from probekit.report.exports.measures import read_run
from probekit.report.exports.model_index import model_index
from probekit.report.exports.prompts import prompts_page

Format = Literal["html", "eee", "model-index", "harness"]


def files(what: str, kind: Format, options: int = 10, seed: int = 0) -> dict[str, str]:
    """The files of an export.

    Args:
        what: folder of a page's run; for ``harness`` the name or file of a probe.
        kind: ``html`` (prompt by prompt), ``eee`` (Every Eval Ever), ``model-index`` or ``harness``.
        options, seed: of ``harness_task``.

    Raises:
        ProbekitError: no run or probe, or one that has nothing in this format.
    """
    if kind == "harness":
        return harness_task(load_probe(what), options, seed)
    write = {"html": prompts_page, "eee": eval_ever, "model-index": model_index}[kind]
    return write(read_run(Path(what)))
