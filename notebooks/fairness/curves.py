"""Agreement of completions by rank (paper 004, Figures 4 and 5): by sentence vectors, or word for word.

Values are kept template by template, so that one draw of templates gives the interval of every mean and difference.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics import (
    Drawn,
    agreement_across,
    agreement_at_k,
    agreement_at_rank,
    agreement_between,
    resampled_means,
    shared_at_k,
    spread,
)
from probekit.probes.probe import MASK

if TYPE_CHECKING:
    from probekit.models.model import Model
    from probekit.store import Store

KS = (1, 2, 3, 5, 10, 20, 30, 50, 100)
CODE, MODELS, RANK = "all pairs", "different models", "same rank"  # kinds by sentence vectors; the paper's code: CODE
WHOLE, FIRST = "whole completions", "first words"  # kinds word for word
AND = " and "
WITHIN, BETWEEN = "mean within families", "mean between families"
SAMPLES = 2000
LOW, SETTLED, LATE = 1, 20, 50  # ranks: the first, where the paper sees curves settle, the last with vectors
STABLE = 0.1  # the part of the rise up to SETTLED that may follow after it; the size of a correlation that is none
MODERATE = (0.3, 0.7)
ODD = "BLOOM"
FEW = 5  # a group of fewer templates has no interval worth the name, and is left out
Array = npt.NDArray[np.float64]
Completions = Mapping[str, Sequence[Sequence[str]]]  # model -> per template, its completions, most likely first


@dataclass(frozen=True)
class Curves:
    """Agreement on one set of templates.

    Attributes:
        subset: name of the set.
        templates: n rows with ``text`` and what groups are made of.
        values: (family, kind) -> shape (n, K); two families are named ``A and B``.
    """

    subset: str
    templates: pd.DataFrame
    values: Mapping[tuple[str, str], Array]

    def kinds(self) -> list[str]:
        return list(dict.fromkeys(kind for _, kind in self.values))

    def mean(self, kind: str, between: bool = False) -> Array | None:
        """Mean over families, or over pairs of two families, shape (n, K); None where there is none."""
        parts = [v for (name, its_kind), v in self.values.items() if its_kind == kind and (AND in name) == between]
        return np.mean(parts, axis=0) if parts else None

    def draws(self, values: Array, rows: npt.ArrayLike | None = None, samples: int = SAMPLES) -> Array:
        """Bootstrap means, shape (samples, K); every call of these curves sees the same draws of templates.

        Args:
            values: shape (n, K).
            rows: which of the n templates count; None for all.
        """
        included = None
        if rows is not None:
            included = np.repeat(np.asarray(rows, dtype=bool)[:, None], values.shape[1], axis=1)
        return resampled_means(values, list(self.templates["text"]), included, samples)


# ---- from completions to curves --------------------------------------------------------------------------------------


def drawn_rows(templates: pd.DataFrame, count: int, seed: int = 0) -> list[int]:
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
    return [" ".join(template.replace(MASK, completion.strip()).split()) for completion in completions]


def by_vectors(
    encoder: Model,
    subset: str,
    templates: pd.DataFrame,
    completions: Completions,
    families: Mapping[str, str],
    k: int,
    store: Store | None = None,
) -> Curves:
    """Every kind of agreement by sentence vectors, on every template.

    Args:
        encoder: of ``load_encoder``.
        subset: name of the set of templates.
        templates: n rows with ``text``.
        completions: at least k of each template.
        families: model -> family.
        k: completions per template.
        store: where finished shards are kept and found.
    """
    from probekit.scoring.embeddings import embed

    parts: dict[tuple[str, str], list[Array]] = {}
    for row, text in enumerate(templates["text"]):  # a key of the store each: a greater sample finds the smaller one's
        texts = [sentence for model in completions for sentence in sentences(text, completions[model][row][:k])]
        vectors = embed(encoder, texts, store=store).reshape(len(completions), k, -1)
        for name, values in measured(vectors, [families[model] for model in completions]).items():
            parts.setdefault(name, []).append(values)
    return Curves(subset, templates.reset_index(drop=True), {name: np.array(rows) for name, rows in parts.items()})


def measured(vectors: npt.NDArray[np.float32], families: Sequence[str]) -> dict[tuple[str, str], Array]:
    """Every kind of agreement by sentence vectors, on one template.

    Args:
        vectors: shape (models, K, d).
        families: of each model.

    Returns:
        (family, kind) -> shape (K,), for families of two models or more: ``CODE``, all pairs among the first k of all
        its models, as the paper's code takes them; ``MODELS``, pairs of two different models; and ``RANK``, pairs at
        rank k. For two families, ``A and B``, the pairs of one model of each.
    """
    groups = {name: [i for i, family in enumerate(families) if family == name] for name in dict.fromkeys(families)}
    found: dict[tuple[str, str], Array] = {}
    for name, rows in groups.items():
        if len(rows) > 1:
            found[name, CODE] = agreement_at_k(vectors[rows])
            found[name, MODELS] = agreement_between(vectors[rows])
            found[name, RANK] = agreement_at_rank(vectors[rows])
    for first, second in combinations(groups, 2):
        found[first + AND + second, MODELS] = agreement_across(vectors[groups[first]], vectors[groups[second]])
    return found


def by_words(
    subset: str,
    templates: pd.DataFrame,
    completions: Completions,
    families: Mapping[str, str],
    kinds: Sequence[str] = (WHOLE, FIRST),
) -> Curves:
    """Jaccard overlap of the first k of two models: the mean over the pairs of a family, and of two families.

    Args:
        templates: n rows with ``text``.
        families: model -> family.
        kinds: whole completions, or first words, so that models which complete one word and models which write on can
            be compared.
    """
    values: dict[tuple[str, str], Array] = {}
    for kind in kinds:
        texts = {model: [_texts(row, kind) for row in rows] for model, rows in completions.items()}
        pairs: dict[str, list[Array]] = {}
        for first, second in combinations(texts, 2):
            one, other = families[first], families[second]
            shared = [shared_at_k(a, b) for a, b in zip(texts[first], texts[second], strict=True)]
            pairs.setdefault(one if one == other else one + AND + other, []).append(np.array(shared))
        values |= {(name, kind): np.mean(found, axis=0) for name, found in pairs.items()}
    return Curves(subset, templates.reset_index(drop=True), values)


def _texts(completions: Sequence[str], kind: str) -> list[str]:
    if kind == WHOLE:
        return [" ".join(text.split()) for text in completions]
    return [" ".join(text.split()[:1]) for text in completions]


# ---- the shape of a curve --------------------------------------------------------------------------------------------


def at(k: int) -> int:
    """Place of a rank in a curve."""
    return k - 1


def rise(curve: Array) -> float:
    """Change from the first rank to where the paper sees curves settle."""
    return float(curve[at(SETTLED)] - curve[at(LOW)])


def settles(curve: Array) -> float:
    """A tenth of the change up to rank 20 less the change from there to rank 50."""
    return float(STABLE * abs(rise(curve)) - abs(curve[at(LATE)] - curve[at(SETTLED)]))


def moderate(curve: Array) -> float:
    """Distance of the value at rank 20 from the nearer end of the range called moderate; negative outside it."""
    value = curve[at(SETTLED)]
    return float(min(value - MODERATE[0], MODERATE[1] - value))


def oddness(curves: Mapping[str, Array]) -> float:
    """BLOOM's distance in shape from the mean of the other families less the greatest such distance of another.

    A shape is a curve less its mean over ranks; a distance is the root of the mean squared difference.
    """
    shapes = {name: curve - curve.mean() for name, curve in curves.items()}
    away = {
        name: float(np.sqrt(np.mean((shape - np.mean([s for n, s in shapes.items() if n != name], axis=0)) ** 2)))
        for name, shape in shapes.items()
    }
    return away[ODD] - max(value for name, value in away.items() if name != ODD)


# ---- from curves to tables -------------------------------------------------------------------------------------------


def by_rank(
    curves: Curves, values: Array, about: Mapping[str, object], chosen: Array | None = None
) -> list[dict[str, object]]:
    """Rows of one curve: ``templates, k, similarity, similarity_low, similarity_high``, at the ranks of ``KS`` it has.

    Args:
        curves: whose templates are drawn.
        values: shape (n, K).
        about: further columns.
        chosen: which of the n templates count; None for all.
    """
    ks = [k for k in KS if k <= values.shape[1]]
    some = values[:, [k - 1 for k in ks]]
    draws = curves.draws(some, chosen)
    counted = some if chosen is None else some[chosen]
    return [
        {**about, "templates": len(counted), "k": k, **spread("similarity", Drawn(mean, draws[:, place]))}
        for place, (k, mean) in enumerate(zip(ks, counted.mean(0), strict=True))
    ]


def by_family(curves: Sequence[Curves]) -> pd.DataFrame:
    """Every family, every two families, and the means over both.

    Returns:
        ``subset, family, kind, templates, k, similarity, similarity_low, similarity_high``.
    """
    rows = []
    for of_set in curves:
        means = {
            (name, kind): of_set.mean(kind, name == BETWEEN) for name in (WITHIN, BETWEEN) for kind in of_set.kinds()
        }
        for (family, kind), values in {**of_set.values, **means}.items():
            if values is not None:
                rows += by_rank(of_set, values, {"subset": of_set.subset, "family": family, "kind": kind})
    return _known(rows)


def by_group(curves: Sequence[Curves], axes: Mapping[str, Mapping[str, Sequence[str]]]) -> pd.DataFrame:
    """The mean within families, by group of at least ``FEW`` templates.

    Args:
        axes: subset -> axis (such as gender) -> the group of every template of the curves.

    Returns:
        ``subset, axis, group, kind, templates, k, similarity, similarity_low, similarity_high``.
    """
    rows = []
    for of_set in curves:
        means = {kind: of_set.mean(kind) for kind in of_set.kinds()}
        for axis, groups in axes[of_set.subset].items():
            for group in dict.fromkeys(groups):
                chosen = np.array([name == group for name in groups])
                if chosen.sum() >= FEW:
                    about = {"subset": of_set.subset, "axis": axis, "group": group}
                    for kind, values in means.items():
                        if values is not None:
                            rows += by_rank(of_set, values, about | {"kind": kind}, chosen)
    return _known(rows)


def _known(rows: list[dict[str, object]]) -> pd.DataFrame:
    found = pd.DataFrame(rows)
    return found[found["similarity"].notna()].reset_index(drop=True) if len(found) else found
