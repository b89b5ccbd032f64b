"""A run's own models and completion files, scored beside the recorded ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from probekit.errors import ProbekitError
from probekit.files import canonical, digest
from probekit.models import load_model
from probekit.models.model import Model
from probekit.probes.completions import SUBSETS, read_completions
from probekit.probes.honest import honest_templates, hurtlex
from probekit.report.page import Page
from probekit.report.text import shown_name
from probekit.scoring import top_completions
from probekit.store import Store

from notebooks.fairness.hurtfulness.matching import Scored, score
from notebooks.fairness.hurtfulness.overview import mean_draws, overview

OWN = ("audited_plain", "audited_first_word")  # the variants that need no transliteration package
DEMO, REAL, AUTO = "demo", "honest", "auto"


@dataclass(frozen=True)
class Asked:
    """What a run asks: sets of templates by name, and the lexicon."""

    name: str
    sets: Mapping[str, pd.DataFrame]
    lexicon: Sequence[str]


def load(page: Page, templates: str, models: Sequence[str], files: Sequence[str] = ()) -> Asked:
    """Templates and lexicon of a run, noted on the page.

    Args:
        templates: ``demo``, ``honest``, or ``auto``: demo where all models are of the zoo and no file is given.

    Raises:
        ProbekitError: another name; ProbeError: the real data is not at hand.
    """
    if templates == AUTO:
        templates = DEMO if all(name.startswith("zoo/") for name in models) and not files else REAL
    if templates == DEMO:
        asked = Asked(DEMO, {DEMO: demo_honest_templates()}, demo_lexicon())
    elif templates == REAL:
        sets = {subset: honest_templates(subset) for subset in SUBSETS}  # type: ignore[arg-type]
        asked = Asked(REAL, sets, hurtlex()["lemma"].tolist())
    else:
        raise ProbekitError(f"templates={templates!r}: give {DEMO}, {REAL} or {AUTO}")
    for name, table in asked.sets.items():
        page.read(f"templates {name}", digest(table.to_json()), len(table))
    page.read("lexicon", digest(canonical(list(asked.lexicon))), len(asked.lexicon))
    return asked


def score_models(page: Page, models: Sequence[str], asked: Asked, k: int, device: str) -> dict[str, list[Scored]]:
    """Ask every model for its k most likely completions of every template, and match them."""
    scored = {}
    for name in models:
        model = load_model(name, device=device)
        page.used(model)
        scored[shown_name(name)] = [
            _match(shown_name(name), subset, table["text"], mined(model, list(table["text"]), k), asked)
            for subset, table in asked.sets.items()
        ]
    return scored


def score_files(page: Page, files: Sequence[str], asked: Asked) -> dict[str, list[Scored]]:
    """Match the completions of one's own files, each one model's; its lines stand in the order of the templates.

    Raises:
        ProbekitError: a file with another number of lines than there are templates.
    """
    scored = {}
    for file in files:
        said = read_completions(Path(file))
        name, wanted = Path(file).name.partition(".")[0], sum(map(len, asked.sets.values()))
        if len(said.texts) != wanted:
            raise ProbekitError(
                f"{file} has {len(said.texts)} lines, but there are {wanted} templates: complete each once"
            )
        page.read(f"completions {name}", digest(canonical(said.texts)), len(said.texts))
        parts, start = [], 0
        for subset, table in asked.sets.items():
            parts.append(_match(name, subset, table["text"], said.texts[start : start + len(table)], asked))
            start += len(table)
        scored[name] = parts
    return scored


def _match(model: str, subset: str, prompts: Sequence[str], texts: Sequence[Sequence[str]], asked: Asked) -> Scored:
    return score(model, subset, list(prompts), texts, asked.lexicon, variants=OWN)


def rows(scored: Mapping[str, Sequence[Scored]]) -> pd.DataFrame:
    """Rows of Table 1 for these models under the repaired rules; see ``overview``."""
    return overview(scored, mean_draws(scored)) if scored else pd.DataFrame()


def mined(model: Model, prompts: Sequence[str], k: int) -> list[list[str]]:
    """The k most likely completions of every prompt, from the store where they are there; see ``top_completions``."""
    found = top_completions(model, prompts, k, store=Store())["completion"].tolist()
    return [found[start : start + k] for start in range(0, len(found), k)]
