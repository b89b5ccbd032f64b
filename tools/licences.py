"""The licences in a CycloneDX list of components, as a table in Markdown; ``make sbom``."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any


def table(components: list[dict[str, Any]]) -> str:
    """How many components stand under each licence, then each component with its version and licence."""
    rows = sorted((part["name"], part.get("version", ""), licence(part)) for part in components)
    counts = Counter(name for *_, name in rows).most_common()
    lines = ["| Licence | Packages |", "| --- | --- |", *(f"| {name} | {count} |" for name, count in counts), ""]
    lines += ["| Package | Version | Licence |", "| --- | --- | --- |", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines)


def licence(part: dict[str, Any]) -> str:
    """All that a component's metadata says of its licence in a field that has a standard: SPDX and classifiers."""
    entries = [entry.get("license", entry) for entry in part.get("licenses", [])]
    said = [entry.get("expression") or entry.get("id") or entry["name"].split(" :: ")[-1] for entry in entries]
    return "; ".join(dict.fromkeys(said)) or "free text, or none"


if __name__ == "__main__":
    print(table(json.loads(Path(sys.argv[1]).read_text("utf-8"))["components"]))
