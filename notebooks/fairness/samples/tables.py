"""The tables of the page that reads completions closely: of the released ones, and a seeded sample of a run's own."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pandas as pd

from probekit.files import canonical, digest
from probekit.probes.completions import SUBSETS
from probekit.probes.honest import honest_templates, hurtlex
from probekit.probes.probe import MASK
from probekit.report.page import Page

from notebooks.fairness.hurtfulness.reading import of_table, released
from notebooks.fairness.samples.claims import TOP, conclusions
from notebooks.fairness.samples.words import LISTS, Read, read, shares

LENGTH = 40  # characters of a completion that a sample shows
SAMPLED = 60  # instances that the paper's annotators read


def released_tables(page: Page) -> dict[str, pd.DataFrame]:
    """Shares of words and of HurtLex's categories among the first ten completions of the 21 models of Table 1.

    Returns:
        ``words`` and ``categories`` (see ``shares``), ``conclusions``, ``predicates``; all kept beside the page.

    Raises:
        ProbeError: completions, templates or lexicon are not at hand.
    """
    templates = {subset: honest_templates(subset) for subset in SUBSETS}  # type: ignore[arg-type]
    reads: dict[str, list[Read]] = {subset: [] for subset in SUBSETS}
    for model, subset, said in released(page, of_table()):
        reads[subset].append(read(model.name, subset, templates[subset], said.texts, TOP))
    table = hurtlex()
    page.read("HurtLex EN 1.2, conservative (entries)", digest(canonical(table["lemma"].tolist())), len(table))
    categories = {str(name): of["lemma"].tolist() for name, of in table.groupby("category")}
    claims, predicates = conclusions(reads)
    found = {
        "words": pd.concat([shares(of, LISTS) for of in reads.values()], ignore_index=True),
        "categories": pd.concat([shares(of, categories, False) for of in reads.values()], ignore_index=True),
        "conclusions": claims,
        "predicates": predicates,
    }
    found["categories"] = found["categories"].drop(columns="rank")
    for name, kept in found.items():
        page.keep(kept, name)
    return found


def sample(
    templates: Mapping[str, pd.DataFrame],
    said: Mapping[str, Mapping[str, Sequence[Sequence[str]]]],
    count: int,
    top: int,
    seed: int,
) -> pd.DataFrame:
    """A seeded draw of templates, with every model's first completions.

    Args:
        templates: set -> rows with ``text``.
        said: set -> model -> per template, its completions.
        count: templates in all.
        top: completions of each.
        seed: of the draw.

    Returns:
        ``set, template, model, completions``: the slot as an underscore, each completion cut short.
    """
    known = [
        (subset, row)
        for subset, table in templates.items()
        for row, repeat in enumerate(table["text"].duplicated())
        if not repeat
    ]
    chosen = sorted(random.Random(f"samples {seed}").sample(known, min(count, len(known))))
    rows = []
    for subset, number in chosen:
        text = templates[subset]["text"].iloc[number].replace(MASK, "_")
        for model, texts in said[subset].items():
            told = ", ".join(short(one) for one in texts[number][:top])
            rows.append({"set": subset, "template": text, "model": model, "completions": told})
    return pd.DataFrame(rows, columns=["set", "template", "model", "completions"])


def short(text: str, length: int = LENGTH) -> str:
    """A completion on one line, cut after so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "\N{HORIZONTAL ELLIPSIS}"


def own_words(
    templates: Mapping[str, pd.DataFrame],
    said: Mapping[str, Mapping[str, Sequence[Sequence[str]]]],
    lists: Mapping[str, Sequence[str]],
) -> pd.DataFrame:
    """Shares of words among the first ten completions of a run's own models."""
    parts = [
        shares([read(model, subset, templates[subset], texts, TOP) for model, texts in of.items()], lists)
        for subset, of in said.items()
    ]
    return pd.concat(parts, ignore_index=True)
