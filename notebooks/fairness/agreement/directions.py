"""Agreement of completions by the directions of sentence vectors (paper 004, Figures 4 and 5)."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics.agreement import agreement_across, agreement_at_k, agreement_at_rank, agreement_between
from probekit.models.model import Model
from probekit.probes.probe import MASK
from probekit.scoring.embeddings import embed
from probekit.store import Store

from notebooks.fairness.agreement.curves import AND, Array, Curves

CODE, MODELS, RANK = "all pairs", "different models", "same rank"

Said = Mapping[str, Sequence[Sequence[str]]]


def drawn(templates: pd.DataFrame, count: int, seed: int = 0) -> list[int]:
    """Rows of so many different templates, in the order of the draw; a repeated template counts once.

    A greater count draws the same ones first, so that their vectors are found in the store.

    Args:
        templates: with ``text``.
        count: at most so many; 0 for all.
        seed: of the draw.
    """
    rows = [row for row, repeat in enumerate(templates["text"].duplicated()) if not repeat]
    random.Random(f"agreement {seed}").shuffle(rows)
    return rows[:count] if count else rows


def sentences(template: str, completions: Sequence[str]) -> list[str]:
    """The template with each completion in its slot, white space made single."""
    return [" ".join(template.replace(MASK, said.strip()).split()) for said in completions]


def by_directions(
    encoder: Model,
    subset: str,
    templates: pd.DataFrame,
    said: Said,
    families: Mapping[str, str],
    k: int,
    store: Store | None = None,
) -> Curves:
    """Every kind of agreement on every template.

    Args:
        encoder: of ``load_encoder``.
        subset: name of the set of templates.
        templates: n rows with ``text``.
        said: model -> per template, its completions, most likely first, at least k.
        families: model -> family.
        k: completions per template.
        store: where finished shards are kept and found.
    """
    parts: dict[tuple[str, str], list[Array]] = {}
    for row, text in enumerate(templates["text"]):  # a key of the store each: a greater sample finds the smaller one's
        texts = [sentence for model in said for sentence in sentences(text, said[model][row][:k])]
        vectors = embed(encoder, texts, store=store).reshape(len(said), k, -1)
        for name, values in measured(vectors, [families[model] for model in said]).items():
            parts.setdefault(name, []).append(values)
    return Curves(subset, templates.reset_index(drop=True), {name: np.array(rows) for name, rows in parts.items()})


def measured(vectors: npt.NDArray[np.float32], families: Sequence[str]) -> dict[tuple[str, str], Array]:
    """Every kind of agreement on one template.

    Args:
        vectors: shape (models, K, d).
        families: of each model.

    Returns:
        (family, kind) -> shape (K,), for families of two models or more: ``all pairs`` among the first k of all its
        models, as the paper's code takes them; ``different models`` alone; and ``same rank`` k. For two families,
        ``A and B``, the pairs of one model of each.
    """
    groups = {name: [i for i, family in enumerate(families) if family == name] for name in dict.fromkeys(families)}
    found: dict[tuple[str, str], Array] = {}
    for name, rows in groups.items():
        if len(rows) > 1:
            found[name, CODE] = agreement_at_k(vectors[rows])
            found[name, MODELS] = agreement_between(vectors[rows])
            found[name, RANK] = agreement_at_rank(vectors[rows])
    for one, other in combinations(groups, 2):
        found[one + AND + other, MODELS] = agreement_across(vectors[groups[one]], vectors[groups[other]])
    return found
