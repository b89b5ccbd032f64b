"""How many modules and functions of ours run between the parameters of a page and what it shows."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from probekit.paths import root
from probekit.report.sources import complete, load_source

OURS = tuple(str(root() / folder) + os.sep for folder in ("probekit", "notebooks"))


def passed(work: Callable[[], object]) -> set[tuple[str, str]]:
    """File and qualified name of each function of ours that some work calls; what an import runs does not count."""
    codes: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            codes.add(frame.f_code)

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return {(c.co_filename, c.co_qualname) for c in codes if c.co_filename.startswith(OURS) and c.co_name != "<module>"}


def page(name: str, profile: str = "demo") -> Callable[[], None]:
    """The code of a page with the parameters of a profile, in a folder of its own."""
    cells = [cell for cell in load_source(name).cells if cell.cell_type == "code"]
    values = complete(name, {}, profile) | {"out": name}

    def work() -> None:
        variables: dict[str, Any] = {"__name__": "__main__"}
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            for cell in cells:
                exec(compile(cell.source, name, "exec"), variables)
                if "parameters" in cell.metadata.get("tags", []):
                    variables.update(values)
            os.chdir(root())

    return work


if __name__ == "__main__":
    os.environ["PROBEKIT_CACHE"] = tempfile.mkdtemp()  # nothing is found finished
    for name in sys.argv[1:] or ["12_accuracy", "22_ucm", "31_saliency", "41_hurtfulness"]:
        functions = passed(page(name))
        files = sorted({Path(file).relative_to(root()).as_posix() for file, _ in functions})
        print(f"{name}: {len(files)} modules, {len(functions)} functions", *files, sep="\n  ", file=sys.stderr)
        print(f"{name}\t{len(files)}\t{len(functions)}")
