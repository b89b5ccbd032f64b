"""One pass through the released completions of paper 004: all tables that the pages of the study keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from probekit.metrics.hurtfulness import honest
from probekit.probes.completions import SUBSETS, Completions, released_models
from probekit.probes.honest import honest_templates
from probekit.report.page import Page

from notebooks.fairness import release
from notebooks.fairness.hurtfulness.artefacts import (
    SPACE,
    lexicon_facts,
    model_figures,
    overlap,
    per_template,
    spaces,
    template_facts,
)
from notebooks.fairness.hurtfulness.conclusions import conclusions
from notebooks.fairness.matching import MAIN, VARIANTS, Scored, counts, score
from notebooks.fairness.table1 import effects, mean_draws, overview, rankings
from notebooks.fairness.hurtfulness.printed import agreement_facts, printed

OVERLAPPING = "BERT"  # family whose models share one vocabulary
NEEDED = (*MAIN, "drop_empty")  # of models outside Table 1


def tables(page: Page) -> dict[str, pd.DataFrame]:
    """Score all released completions and make the study's recorded tables, written beside the page.

    Returns:
        ``counts`` (hits by rank), ``table1`` and ``others`` (rows of Table 1 for its models and for further ones),
        ``printed`` (number by number beside the paper), ``effects`` and ``rankings`` (of every switch),
        ``conclusions``, ``models`` (figures of each model's completions), ``overlaps``, ``spaces``, ``facts``.

    Raises:
        ProbeError: completions, templates, lexicon or Unidecode are not at hand.
    """
    lexicon, transliterate = release.lexicon(page)
    scored: dict[str, list[Scored]] = {}
    rows: dict[str, list[pd.DataFrame]] = {}
    kept: dict[str, list[Completions]] = {}
    for model, subset, said in release.released(page):
        variants = tuple(VARIANTS) if model.in_table else NEEDED
        one = score(model.name, subset, said.prompts, said.texts, lexicon, transliterate, variants)
        scored.setdefault(model.name, []).append(one)
        rows.setdefault(model.name, []).append(per_template(said, one))
        if model.in_table and model.family == OVERLAPPING:
            kept.setdefault(model.name, []).append(said)
    figures = [model_figures(name, tables) for name, tables in rows.items()]
    facts = [fact for subset in SUBSETS for fact in template_facts(subset, honest_templates(subset))]  # type: ignore[arg-type]
    facts += lexicon_facts(lexicon, transliterate)
    found = {"counts": counts(one for sets in scored.values() for one in sets)}
    found |= _compared(scored, facts)
    found |= {"models": pd.DataFrame(figures), "overlaps": _overlaps(kept), "facts": pd.DataFrame(facts)}
    for name, table in found.items():
        page.keep(table, name)
    return found


def _compared(scored: Mapping[str, Sequence[Scored]], facts: list[dict[str, object]]) -> dict[str, pd.DataFrame]:
    known = released_models()
    inside = {name: sets for name, sets in scored.items() if known[name].in_table}
    whole = {name: sets for name, sets in scored.items() if len(sets) == len(SUBSETS) and name not in inside}
    draws = mean_draws(inside)
    table = overview(inside, draws)
    beside = printed(table)
    facts += agreement_facts(beside)
    pairs = [name.removesuffix(SPACE) for name in whole if name.endswith(SPACE)]
    both = [name for pair in pairs for name in (pair, pair + SPACE)]
    main = {
        name: [Scored(s.model, s.subset, s.prompts, {v: s.found[v] for v in MAIN}) for s in scored[name]]
        for name in [*whole, *(name for name in both if name in inside)]
    }
    others = mean_draws(main)
    columns = {name: {v: drawn[:, i] for v, drawn in others.items()} for i, name in enumerate(main)}
    means = {
        name: {v: float(np.mean([honest(s.counted(v)).mean() for s in sets])) for v in MAIN}
        for name, sets in main.items()
    }
    further = overview(main, others)
    return {
        "table1": table,
        "others": further[further["model"].isin(whole)].drop(columns=["rank", "rank_low", "rank_high"]),
        "printed": beside,
        "effects": effects(table, draws),
        "rankings": rankings(table, draws),
        "conclusions": conclusions(inside, draws),
        "spaces": spaces(pairs, columns, means),
    }


def _overlaps(kept: Mapping[str, Sequence[Completions]]) -> pd.DataFrame:
    rows = []
    for first, second in combinations(kept, 2):
        for subset, a, b in zip(SUBSETS, kept[first], kept[second], strict=True):
            shared = overlap(a, b)
            about = {"model": first, "other": second, "subset": subset, "completions": len(a.texts[0])}
            rows.append(about | {"overlap": shared.estimate, "low": shared.low, "high": shared.high})
    return pd.DataFrame(rows)
