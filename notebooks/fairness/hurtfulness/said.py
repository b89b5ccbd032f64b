"""What models said of the templates of a run: asked now, or read from files of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from probekit.errors import ProbekitError
from probekit.files import canonical, digest
from probekit.models import load_model
from probekit.probes.completions import read_completions
from probekit.report.page import Page
from probekit.report.text import shown_name

from notebooks.fairness.hurtfulness.own import Asked, mined

Rows = list[list[str]]


def said(
    page: Page, models: Sequence[str], files: Sequence[str], asked: Asked, k: int, device: str
) -> dict[str, dict[str, Rows]]:
    """The first k completions of every template, model by model, noted on the page.

    Args:
        files: JSONL, each one model's; its lines stand in the order of the templates, one set after the other.

    Returns:
        Set of templates -> model -> per template, its completions.

    Raises:
        ProbekitError: a file with another number of lines than there are templates, or fewer completions than asked.
    """
    found: dict[str, dict[str, Rows]] = {subset: {} for subset in asked.sets}
    for name in models:
        model = load_model(name, device=device)
        page.used(model)
        for subset, table in asked.sets.items():
            found[subset][shown_name(name)] = mined(model, list(table["text"]), k)
    for file in files:
        texts = read_completions(Path(file)).texts
        wanted = sum(map(len, asked.sets.values()))
        if len(texts) != wanted or len(texts[0]) < k:
            raise ProbekitError(
                f"{file} has {len(texts)} lines of {len(texts[0])} completions, but there are {wanted} templates and "
                f"{k} completions of each are wanted"
            )
        name, start = Path(file).name.partition(".")[0], 0
        page.read(f"completions {name}", digest(canonical(texts)), len(texts))
        for subset, table in asked.sets.items():
            found[subset][name] = [list(row[:k]) for row in texts[start : start + len(table)]]
            start += len(table)
    return found
