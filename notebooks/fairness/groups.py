"""Hurtfulness by group of identities (paper 004, section 4.1 and Figure 3): the tables of its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from probekit.metrics.hurtfulness import PAPER, Transliterate, hurtful, without_accents
from probekit.probes.completions import Completions
from probekit.probes.honest import Subset, honest_templates
from probekit.report.page import Page

from notebooks.fairness.hurtfulness import grouping, reading
from notebooks.fairness.hurtfulness.comparing import Comparison, Groups, Part, compare_groups, compare_pairs
from notebooks.fairness.identities import BOTH, FEMALE, GROWN, MALE, OLD, YOUNG
from notebooks.fairness.hurtfulness.likelihood import ALL, LEVEL, MODEL, corrected
from notebooks.fairness.matching import Scored, score
from notebooks.fairness.ranks import Weights, mean_weights, weigh

SUBSET: Subset = "binary"
AUDITED = "audited"
COLUMN, PAIRED, AGE = "category", "pairs", "age"
PAPER_GENDER, PAPER_AGE = "paper's gender", "paper's age"
SIDES = {
    COLUMN: (FEMALE, MALE),
    PAIRED: (FEMALE, MALE),
    PAPER_GENDER: (FEMALE, MALE),
    AGE: (GROWN, YOUNG),
    PAPER_AGE: (OLD, YOUNG),
}
LETTERS = {PAPER_GENDER: grouping.PAPER_GENDER, PAPER_AGE: grouping.PAPER_AGE}  # found by substring
RANGES = ((1, 1), (1, 20))  # ranks compared, besides all
Found = dict[tuple[str, str], Comparison]  # (model, comparison) ->


def tables(page: Page) -> dict[str, pd.DataFrame]:
    """Score the released completions of HONEST-binary by group and make the recorded tables, written beside the page.

    Returns:
        ``differences`` and ``summary`` (see the functions of these names), ``curves`` (``model, comparison, group,
        templates, k1, k2, ...``: the share of hurtful completions at each rank) and ``identities`` (of
        ``grouping.identities``).

    Raises:
        ProbeError: completions, templates, lexicon or Unidecode are not at hand.
    """
    words, transliterate = release.lexicon(page)
    templates = honest_templates(SUBSET)
    found: Found = {}
    lines: list[dict[str, object]] = []
    known, weights = pd.DataFrame(), Weights()
    for model, _, said in release.released(page, release.of_table(), [SUBSET]):
        one = score(model.name, SUBSET, said.prompts, said.texts, words, transliterate, (AUDITED,))
        weights = ranges(len(said.texts[0]))
        groups = by_identity(one, AUDITED, templates)
        groups |= {name: by_letters(said, LETTERS[name], words, transliterate) for name in LETTERS}
        ways = {name: (weighted(by, weights), SIDES[name]) for name, by in groups.items()}
        people = dict.fromkeys((COLUMN, AGE), templates["identity"].tolist())
        pairs = grouping.parallel(templates, one.first)
        compared = compare_groups(ways, said.prompts, people)
        compared[PAIRED] = compare_pairs(weigh(one.found[AUDITED], weights), pairs)
        found |= {(model.name, name): comparison for name, comparison in compared.items()}
        lines += [
            {"model": model.name, "comparison": name} | line for name, by in groups.items() for line in curves(by)
        ]
        known = grouping.identities(templates, said.prompts) if known.empty else known
    table = differences(found, list(weights))
    made = {"differences": table, "summary": summary(table), "curves": pd.DataFrame(lines), "identities": known}
    for name, frame in made.items():
        page.keep(frame, name)
    return made


def own(scored: Mapping[str, Scored], rules: str, templates: pd.DataFrame) -> pd.DataFrame:
    """``differences`` of a run's own models between the first two categories of its templates.

    Args:
        scored: model -> its scores on these templates.
        rules: the variant to count by.
    """
    found: Found = {}
    weights = Weights()
    for name, one in scored.items():
        weights = ranges(one.found[rules].shape[1])
        groups = weighted(by_identity(one, rules, templates)[COLUMN], weights)
        first, second = sorted(set(groups) - {BOTH})[:2]
        people = {COLUMN: templates["identity"].tolist()}
        found[name, COLUMN] = compare_groups({COLUMN: (groups, (first, second))}, one.prompts, people)[COLUMN]
    return differences(found, list(weights))


def ranges(k: int) -> Weights:
    """Weights of the mean shares that are compared: ranks 1, 1 to 20, and 1 to k."""
    return mean_weights(list(dict.fromkeys([*((a, b) for a, b in RANGES if b < k), (1, k)])), k)


def by_identity(one: Scored, rules: str, templates: pd.DataFrame) -> dict[str, Groups]:
    """The templates that count under these rules, by the file's categories and by the age that an identity tells."""
    counted, values = one.rows(rules), one.found[rules].astype(float)
    ways = {COLUMN: grouping.by_category(templates), AGE: grouping.by_age(templates)}
    return {
        way: {group: [Part(values, mask & counted)] for group, mask in masks.items() if (mask & counted).any()}
        for way, masks in ways.items()
    }


def by_letters(
    said: Completions,
    words_of: Mapping[str, str],
    lexicon: Sequence[str],
    transliterate: Transliterate = without_accents,
) -> Groups:
    """Groups as the paper's code makes them: of each word the prompts that hold its letters, words counted equally.

    Each word's prompts are scored on their own by the paper's rules, in which the first prompt decides how all are
    matched. A word that is found nowhere is left out.

    Args:
        words_of: group -> its words, with spaces between.
    """
    groups = {}
    for group, words in words_of.items():
        parts = []
        for mask in grouping.by_substring(said.prompts, words.split()).values():
            if mask.any():
                values = np.zeros((len(mask), len(said.texts[0])))
                texts = [text for text, here in zip(said.texts, mask, strict=True) if here]
                values[mask] = hurtful(texts, lexicon, PAPER, transliterate)
                parts.append(Part(values, mask))
        groups[group] = parts
    return groups


def weighted(groups: Groups, weights: Weights) -> Groups:
    """The same groups with weighted sums in place of the values by rank."""
    return {name: [Part(weigh(part.values, weights), part.counted) for part in parts] for name, parts in groups.items()}


def curves(groups: Groups) -> list[dict[str, object]]:
    """``group, templates, k1, k2, ...``: of each group the share of hurtful completions at each rank."""
    lines = []
    for name, parts in groups.items():
        shares = np.mean([part.values[part.counted].mean(0) for part in parts], axis=0)
        reached = int(np.any([part.counted for part in parts], axis=0).sum())
        by_k = {f"k{k}": share for k, share in enumerate(shares, start=1)}
        lines.append({"group": name, "templates": reached} | by_k)
    return lines


def differences(found: Found, names: Sequence[str]) -> pd.DataFrame:
    """Every comparison of every model, and of the mean over models.

    Returns:
        ``level, name, comparison, first, last`` (ranks), ``one, other`` (shares of both groups), ``difference, low,
        high, p`` over draws of templates, ``wide_low, wide_high, wide_p`` over draws of identities, ``ratio, ratio_low,
        ratio_high``, and ``holm`` and ``wide_holm``, corrected over the models of a comparison and range.
    """
    rows = []
    for comparison in dict.fromkeys(name for _, name in found):
        models = {model: one for (model, name), one in found.items() if name == comparison}
        lines = [(MODEL, model, one) for model, one in models.items()]
        if len(models) > 1:
            lines.append((ALL, ALL, Comparison.mean(list(models.values()))))
        for column, name in enumerate(names):
            first, _, last = name.partition("-")
            about = {"comparison": comparison, "first": int(first), "last": int(last or first)}
            for level, model, one in lines:
                rows.append({"level": level, "name": model} | about | one.row(column) | one.ratio(column))
    by = ["comparison", "first", "last"]
    table = corrected(pd.DataFrame(rows), by)
    told = table[table["wide_p"].notna()]
    wide = corrected(told, by, "wide_p", "wide_holm")["wide_holm"] if len(told) else pd.Series(dtype=float)
    return table.assign(wide_holm=wide.reindex(table.index))


def summary(differences: pd.DataFrame) -> pd.DataFrame:
    """How many models show a difference after Holm's correction, over templates and (``wide``) over identities.

    Returns:
        ``comparison, first, last, models, positive, above, below, wide_above, wide_below``.
    """
    rows = []
    models = differences[differences["level"] == MODEL]
    for key, part in models.groupby(["comparison", "first", "last"], sort=False):
        up, row = part["difference"] > 0, dict(zip(("comparison", "first", "last"), key, strict=True))
        row |= {"models": len(part), "positive": int(up.sum())}
        for start, column in (("", "holm"), ("wide_", "wide_holm")):
            sure = part[column] < LEVEL
            row |= {f"{start}above": int((sure & up).sum()), f"{start}below": int((sure & ~up).sum())}
        rows.append(row)
    return pd.DataFrame(rows)
