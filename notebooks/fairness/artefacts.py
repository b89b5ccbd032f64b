"""What the released completions themselves show of how they were made and counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from probekit.metrics import Interval, bootstrap_ci, interval, spread
from probekit.metrics.hurtfulness import Transliterate
from probekit.probes.completions import Completions

from notebooks.fairness.matching import Scored
from notebooks.fairness.table1 import Draws

SPACE = " with trailing space"  # ends the name of a model whose prompts were left unstripped
SUBSTRING = "he"
ANYWHERE = f"templates that hold '{SUBSTRING}' anywhere"
AS_IDENTITY = f"templates whose identity is '{SUBSTRING}'"


def per_template(completions: Completions, scored: Scored) -> pd.DataFrame:
    """Of every template: its hits, those owed to the lexicon's empty entry, and what its completions look like.

    Returns:
        ``prompt, completions, hits, empty`` (hits that go when the empty entry is dropped), ``digit`` (completions that
        begin with a digit), ``words`` (over all completions), ``distinct, first_words`` (different completions, and
        different first words), ``space`` (the prompt ends in a space).
    """
    texts = completions.texts
    paper, dropped = scored.found["paper"], scored.found["drop_empty"]
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
    table = pd.concat([one.assign(subset=number) for number, one in enumerate(tables)], ignore_index=True)
    clusters = list(zip(table["subset"], table["prompt"], strict=True))
    row: dict[str, object] = {"model": model, "templates": len(table), "hits": int(table["hits"].sum())}
    for name, part, whole in (("empty_share", "empty", "hits"), ("digit_share", "digit", "completions")):
        share = _ratio(table[part], table[whole], clusters)
        row |= spread(name, share)
    for name in ("words", "distinct", "first_words"):
        row[name] = table[name].sum() / (table["completions"].sum() if name == "words" else len(table))
    return row | {"space_share": table["space"].mean()}


def _ratio(part: pd.Series, whole: pd.Series, clusters: Sequence[object]) -> Interval:
    def ratio(means: np.ndarray) -> float:
        return float(means[0] / means[1]) if means[1] else float("nan")

    return bootstrap_ci(np.column_stack([part, whole]), [str(c) for c in clusters], ratio)


def overlap(first: Completions, second: Completions) -> Interval:
    """Mean number of completions that two models share per template, with its interval over distinct templates."""
    shared = [len(set(a) & set(b)) for a, b in zip(first.texts, second.texts, strict=True)]
    return bootstrap_ci(shared, first.prompts)


def spaces(
    names: Sequence[str], draws: Mapping[str, Draws], means: Mapping[str, Mapping[str, float]], units: float
) -> pd.DataFrame:
    """What a space at the end of the prompts does to the same model: with it less without it.

    Args:
        names: models that were released both ways.
        draws: model -> its draws by variant, shape (samples,), the same templates for all.
        means: model -> its mean by variant.
        units: effective number of those drawn.

    Returns:
        ``model, rules, without, with, change, low, high``.
    """
    rows = []
    for name in names:
        for rules, drawn in draws[name].items():
            low, high, _ = interval(draws[name + SPACE][rules] - drawn, units)
            without, with_space = means[name][rules], means[name + SPACE][rules]
            rows.append(
                {
                    "model": name,
                    "rules": rules,
                    "without": without,
                    "with": with_space,
                    "change": with_space - without,
                    "low": low,
                    "high": high,
                }
            )
    return pd.DataFrame(rows)


def template_facts(subset: str, templates: pd.DataFrame) -> list[dict[str, object]]:
    """Counts over one template file: repeats, identities, and how far a match by substring reaches."""
    text, identity = templates["text"], templates["identity"]
    tags = templates.groupby("identity")["category"].nunique()
    return [
        {"what": what, "subset": subset, "value": int(value)}
        for what, value in {
            "templates": len(text),
            "repeated templates": text.duplicated().sum(),
            "identities": identity.nunique(),
            "identities of more than one category": (tags > 1).sum(),
            ANYWHERE: text.str.contains(SUBSTRING, regex=False).sum(),
            AS_IDENTITY: (identity.str.lower() == SUBSTRING).sum(),
        }.items()
    ]


def lexicon_facts(lemmas: Iterable[str], transliterate: Transliterate) -> list[dict[str, object]]:
    """Counts over the lexicon: entries, different words, and entries that transliterate to nothing."""
    words = list(lemmas)
    facts = {
        "lexicon entries": len(words),
        "different lexicon words": len(set(words)),
        "lexicon entries that transliterate to nothing": sum(not transliterate(word) for word in words),
    }
    return [{"what": what, "subset": "lexicon", "value": value} for what, value in facts.items()]
