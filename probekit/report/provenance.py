"""How a page was made, from its manifest: parameters, models, data, runs, versions, the command to repeat it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from probekit.report.markup import Markup, escape

SCORED = "scored"  # of a model in a manifest: what computed its scores, see ``probekit.store.scored_by``
PLACE = ("device", "dtype")


def provenance(manifest: Mapping[str, Any], title: str, link: Markup) -> Markup:
    """A manifest as a folded table in MyST, with the command that makes the page again.

    Args:
        manifest: of a page; of one that shows recorded tables, how these were made is shown too.
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
        for name, entry in of[kind].items():
            facts = {k: v for k, v in entry.items() if v not in (None, "", {}) and k != SCORED}
            facts |= facts.pop("counts", {})
            rows.append((f"{kind[:-1].capitalize()} {name}", _listed(facts)))
            if kind == "models" and (words := computed(entry)):
                rows.append((f"Scores of {name}", words))
    for name, counts in of["runs"].items():
        rows.append((f"Run {name}", ", ".join(f"{k} {v:,}" for k, v in counts.items())))
    rows += [("Warning", text) for text in of.get("messages", [])]  # runs recorded earlier kept none
    rows += [("Recorded with", _listed(past["versions"]))] if past else []
    rows.append(("Rendered with", _listed(manifest["versions"])))
    given = "--profile lab --record" if past else shown_parameters(manifest["parameters"])
    command = " ".join(word for word in ["probekit run", study, given, "--out my_run"] if word)
    cells = "\n".join(f"| {escape(a)} | {escape(b)} |" for a, b in rows)
    return Markup(
        f"`````{{dropdown}} {title}\n| what | value |\n| --- | --- |\n{cells}\n\nAll of it as a file: {link}.\n"
        f"Make it again:\n\n```bash\n{command}\n```\n`````\n"
    )


def computed(entry: Mapping[str, Any]) -> str:
    """What computed the scores of a model, in words, by what a manifest says of it; empty where nothing was asked."""
    return "; ".join(map(_by, entry.get(SCORED, [{}])))


def _by(by: Mapping[str, str]) -> str:
    if not by:
        return "what computed them was not recorded"
    libraries = {name: value for name, value in by.items() if name not in PLACE}
    where = " in ".join(by[name] for name in PLACE if name in by)
    return f"computed {'on ' * bool(where)}{where} with {_listed(libraries)}".replace("  ", " ")


def _listed(facts: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in facts.items())


def shown_parameters(values: Mapping[str, Any]) -> str:
    """Parameters as options of ``probekit run``."""
    return " ".join(f"-p {key}={shlex.quote(json.dumps(value))}" for key, value in values.items())
