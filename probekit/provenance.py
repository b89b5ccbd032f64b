"""How a page was made, told from its manifest: parameters, models, data, runs, versions, the command to repeat it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from probekit.markup import Markup, escape


def provenance(manifest: Mapping[str, Any], title: str, link: Markup) -> Markup:
    """A manifest as a folded table in MyST, with the command that makes the page again.

    Args:
        manifest: of a page; of one that shows recorded tables, how these were made is told too.
        title: of the fold.
        link: to the manifest itself.
    """
    study, past = manifest["study"], manifest.get("recorded", {})
    rows: list[Sequence[str]] = [("Notebook", f"{study}.py"), ("Page hash", manifest["hash"])]
    if past:
        rows.append(("Recorded run", past["hash"]))
    of = past or manifest
    rows += [(f"Parameter {key}", json.dumps(value, ensure_ascii=False)) for key, value in of["parameters"].items()]
    for kind in ("models", "probes"):
        for name, about in of[kind].items():
            facts = {k: v for k, v in about.items() if v not in (None, "", {})}
            facts |= facts.pop("counts", {})
            rows.append((f"{kind[:-1].capitalize()} {name}", ", ".join(f"{k} {v}" for k, v in facts.items())))
    for name, counts in of["runs"].items():
        rows.append((f"Run {name}", ", ".join(f"{k} {v:,}" for k, v in counts.items())))
    rows += [("Warning", text) for text in of.get("messages", [])]  # runs recorded earlier kept none
    rows.append(("Versions", ", ".join(f"{k} {v}" for k, v in of["versions"].items())))
    given = "--profile lab --record" if past else shown_parameters(manifest["parameters"])
    command = " ".join(part for part in ["probekit run", study, given, "--out my_run"] if part)
    cells = "\n".join(f"| {escape(a)} | {escape(b)} |" for a, b in rows)
    return Markup(
        f"`````{{dropdown}} {title}\n| what | value |\n| --- | --- |\n{cells}\n\nAll of it as a file: {link}.\n"
        f"Make it again:\n\n```bash\n{command}\n```\n`````\n"
    )


def shown_parameters(values: Mapping[str, Any]) -> str:
    """Parameters as options of ``probekit run``."""
    return " ".join(f"-p {key}={shlex.quote(json.dumps(value))}" for key, value in values.items())
