"""What the released completions themselves show of how they were made and counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import pandas as pd

from probekit.metrics import Drawn, bootstrap_ci
from probekit.metrics.estimates import spread
from probekit.metrics.hurtfulness import Transliterate
from probekit.probes.completions import SUBSETS, Completions

from notebooks.fairness.intervals import single
from notebooks.fairness.matching import Array, Scored

SPACE = " with trailing space"  # ends the name of a model whose prompts were left unstripped
SUBSTRING = "he"
ANYWHERE = f"templates that hold '{SUBSTRING}' anywhere"
AS_IDENTITY = f"templates whose identity is '{SUBSTRING}'"
SEVERAL = "identities of more than one category"


def per_template(completions: Completions, scored: Scored) -> pd.DataFrame:
    """Of every template: its hits, those owed to the lexicon's empty entry, and what its completions look like.

    Returns:
        ``prompt, completions, hits, empty`` (hits that go when the empty entry is dropped), ``digit`` (completions that
        begin with a digit), ``words`` (over all completions), ``distinct, first_words`` (different completions, and
        different first words), ``space`` (the prompt ends in a space).
    """
    texts = completions.texts
    paper, dropped = scored.hits["paper"], scored.hits["drop_empty"]
    words = [[text.split() for text in row] for row in texts]
    return pd.DataFrame(
        {
            "prompt": completions.prompts,
            "completions": [len(row) for row in texts],
            "hits": paper.sum(1),
            "empty": (paper & ~dropped).sum(1),
            "digit": [sum(text.lstrip()[:1].isdigit() for text in row) for row in texts],
            "words": [sum(map(len, row)) for row in words],
            "distinct": [len(set(row)) for row in texts],
            "first_words": [len({parts[0] for parts in row if parts}) for row in words],
            "space": [prompt.endswith(" ") for prompt in completions.prompts],
        }
    )


def model_figures(model: str, tables: Sequence[pd.DataFrame]) -> dict[str, object]:
    """The figures of one model over all its template sets, the two shares with 95% intervals over templates."""
    table = pd.concat([rows.assign(subset=number) for number, rows in enumerate(tables)], ignore_index=True)
    templates = [str(unit) for unit in zip(table["subset"], table["prompt"], strict=True)]
    row: dict[str, object] = {"model": model, "templates": len(table), "hits": int(table["hits"].sum())}
    for name, count, total in (("empty_share", "empty", "hits"), ("digit_share", "digit", "completions")):
        row |= spread(name, bootstrap_ci(table[[count, total]].to_numpy(), templates, _ratio))
    for name in ("words", "distinct", "first_words"):
        row[name] = table[name].sum() / (table["completions"].sum() if name == "words" else len(table))
    return row | {"space_share": table["space"].mean()}


def _ratio(means: Array) -> float:
    return float(means[0] / means[1]) if means[1] else float("nan")


def overlaps(completions: Mapping[str, Sequence[Completions]]) -> pd.DataFrame:
    """Mean number of completions that two models share per template, with its interval over distinct templates."""
    rows = []
    for first, second in combinations(completions, 2):
        for subset, a, b in zip(SUBSETS, completions[first], completions[second], strict=True):
            shared = bootstrap_ci([len({*x} & {*y}) for x, y in zip(a.texts, b.texts, strict=True)], a.prompts)
            labels = {"model": first, "other": second, "subset": subset, "completions": len(a.texts[0])}
            rows.append({**labels, **shared.row("overlap")})
    return pd.DataFrame(rows)


def spaces(models: Sequence[str], means: Mapping[str, Drawn]) -> pd.DataFrame:
    """What a space at the end of the prompts does to a model that was released both ways: with it less without it.

    Args:
        models: of the release, in the order of the means.
        means: variant -> the models' mean scores, shape (models,).

    Returns:
        ``model, rules, without, with, change, low, high``.
    """
    rows = []
    for name in (name for name in models if name.endswith(SPACE)):
        plain = name.removesuffix(SPACE)
        for rules, drawn in means.items():
            without, spaced = (single(drawn, models.index(model)) for model in (plain, name))
            row = {"model": plain, "rules": rules, "without": without.estimate, "with": spaced.estimate}
            rows.append(row | spaced.minus(without).row("change"))
    return pd.DataFrame(rows)


def template_facts(templates: pd.DataFrame) -> dict[str, int]:
    """Counts over one template file: repeats, identities, and how far a match by substring reaches."""
    text, identity = templates["text"], templates["identity"]
    tags = templates.groupby("identity")["category"].nunique()
    facts = {
        "templates": len(text),
        "repeated templates": text.duplicated().sum(),
        "identities": identity.nunique(),
        SEVERAL: (tags > 1).sum(),
        ANYWHERE: text.str.contains(SUBSTRING, regex=False).sum(),
        AS_IDENTITY: (identity.str.lower() == SUBSTRING).sum(),
    }
    return {what: int(value) for what, value in facts.items()}


def lexicon_facts(lemmas: Iterable[str], transliterate: Transliterate) -> dict[str, int]:
    """Counts over the lexicon: entries, different words, and entries that transliterate to nothing."""
    words = list(lemmas)
    return {
        "lexicon entries": len(words),
        "different lexicon words": len(set(words)),
        "lexicon entries that transliterate to nothing": sum(not transliterate(word) for word in words),
    }
