"""Agreement of completions word for word: which share of their first k two models have in common, on every template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from probekit.metrics.agreement import shared_at_k

from notebooks.fairness.agreement.curves import AND, Array, Curves

WHOLE, FIRST = "whole completions", "first words"


def overlaps(
    subset: str,
    templates: pd.DataFrame,
    said: Mapping[str, Sequence[Sequence[str]]],
    families: Mapping[str, str],
    kinds: Sequence[str] = (WHOLE, FIRST),
) -> Curves:
    """Jaccard overlap of the first k of two models: the mean over the pairs of a family, and of two families.

    Args:
        templates: n rows with ``text``.
        said: model -> per template, its K completions, most likely first.
        families: model -> family.
        kinds: whole completions, or first words, so that models which complete one word and models which write on can
            be compared.
    """
    values: dict[tuple[str, str], Array] = {}
    for kind in kinds:
        texts = {model: [_texts(row, kind) for row in rows] for model, rows in said.items()}
        pairs: dict[str, list[Array]] = {}
        for one, other in combinations(texts, 2):
            first, second = families[one], families[other]
            name = first if first == second else first + AND + second
            shared = [shared_at_k(a, b) for a, b in zip(texts[one], texts[other], strict=True)]
            pairs.setdefault(name, []).append(np.array(shared))
        values |= {(name, kind): np.mean(found, axis=0) for name, found in pairs.items()}
    return Curves(subset, templates.reset_index(drop=True), values)


def _texts(completions: Sequence[str], kind: str) -> list[str]:
    if kind == WHOLE:
        return [" ".join(text.split()) for text in completions]
    return [" ".join(text.split()[:1]) for text in completions]
