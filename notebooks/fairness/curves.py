"""Agreement of completions by rank (paper 004, Figures 4 and 5): by sentence vectors, or word for word.

Values are kept template by template, so that one draw of identities and, crossed with them, predicates gives the
interval of every mean and difference.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics import (
    Drawn,
    agreement_across,
    agreement_at_rank,
    crossed_means,
    effective_units,
    shared_at_k,
    spread,
)
from probekit.probes.probe import MASK

from notebooks.fairness.identities import axes, members
from notebooks.fairness.matching import Array, Mask, Units, units_of

KS = (1, 2, 5, 10, 20, 50, 100)  # ranks at which curves are taken
RANK = "same rank"  # kind by sentence vectors
WHOLE, FIRST = "whole completions", "first words"  # kinds word for word
AND = " and "
WITHIN, BETWEEN, TOGETHER = "mean within families", "mean between families", "all models together"
SAMPLES = 2000
LOW = 1  # the first rank
ODD = "BLOOM"
FEW = 5  # a group of fewer templates has no interval worth the name, and is left out
Embedding = Callable[[Sequence[Sequence[str]]], Iterable[npt.NDArray[np.float32]]]  # lists of texts -> their vectors
Completions = Mapping[str, Sequence[Sequence[str]]]  # model -> per template, its completions, most likely first


@dataclass(frozen=True)
class Curves:
    """Agreement on one set of templates.

    Attributes:
        subset: name of the set.
        templates: n rows with ``text`` and ``identity``.
        values: (family, kind) -> shape (n, len(ks)); two families are named ``A and B``.
        ks: the ranks of the columns.
        groups: axis (such as gender) -> the group of every template.
    """

    subset: str
    templates: pd.DataFrame
    values: Mapping[tuple[str, str], Array]
    ks: Sequence[int]
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def units(self) -> Units:
        return units_of(self.templates)

    def at(self, k: int) -> int:
        """The column of a rank, or of the last one below it."""
        return max(place for place, rank in enumerate(self.ks) if rank <= k)

    def mean(self, kind: str, between: bool = False) -> Array | None:
        """Mean over families, or over pairs of two families, shape (n, len(ks)); None where there is none."""
        of_kind = {
            family: values for (family, its), values in self.values.items() if its == kind and family != TOGETHER
        }
        parts = [values for family, values in of_kind.items() if (AND in family) == between]
        return np.mean(parts, axis=0) if parts else None

    def draws(self, values: Array, rows: Mask | None = None) -> Array:
        """Bootstrap means of values, shape (n, d): shape (samples, d); every call of these curves sees the same draws.

        Args:
            rows: which of the n templates count; None for all.
        """
        included = None if rows is None else np.repeat(rows[:, None], values.shape[1], axis=1)
        return crossed_means(values, self.units, included, SAMPLES)


def _curves(
    subset: str,
    templates: pd.DataFrame,
    values: Mapping[tuple[str, str], Array],
    ks: Sequence[int],
    rows: Sequence[int],
) -> Curves:
    """Curves of some rows of templates, in groups that all templates make."""
    groups = {axis: [names[row] for row in rows] for axis, names in axes(templates).items()}
    return Curves(subset, templates.iloc[rows].reset_index(drop=True), values, ks, groups)


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
    embed: Embedding,
    subset: str,
    templates: pd.DataFrame,
    rows: Sequence[int],
    completions: Completions,
    families: Mapping[str, str],
    ks: Sequence[int],
    write: Callable[[str, Sequence[str]], list[str]] = sentences,
) -> Curves:
    """Agreement by sentence vectors at single ranks, on each of some templates.

    Args:
        embed: gives the sentence vectors of each of some lists of texts.
        rows: templates that count, in order.
        completions: of each template, at least as many as the last rank.
        families: model -> family; a model without one is read and left out.
        write: how a template and its completions become sentences.
    """
    placed = [place for place, model in enumerate(completions) if model in families]
    names = [families[model] for model in completions if model in families]
    parts: dict[tuple[str, str], list[Array]] = {}
    for flat in embed(texts_of(templates, completions, rows, ks, write)):
        vectors = flat.reshape(len(completions), len(ks), -1)
        for name, values in measured(vectors[placed], names).items():
            parts.setdefault(name, []).append(values)
    return _curves(subset, templates, {name: np.array(values) for name, values in parts.items()}, ks, rows)


def texts_of(
    templates: pd.DataFrame,
    completions: Completions,
    rows: Sequence[int],
    ks: Sequence[int],
    write: Callable[[str, Sequence[str]], list[str]] = sentences,
) -> list[list[str]]:
    """For each of these rows what every model says at each rank: a question each, so that a greater sample finds a
    smaller one's answers."""
    texts = templates["text"].tolist()
    return [
        [text for said in completions.values() for text in write(texts[row], [said[row][k - 1] for k in ks])]
        for row in rows
    ]


def measured(vectors: npt.NDArray[np.float32], families: Sequence[str]) -> dict[tuple[str, str], Array]:
    """Agreement at each rank by sentence vectors, on one template.

    Args:
        vectors: shape (models, K, d).
        families: of each model.

    Returns:
        (family, ``RANK``) -> shape (K,): of families of two models or more the pairs of these, for two families,
        ``A and B``, the pairs of one model of each, and ``TOGETHER`` all pairs of models (the paper's Figure 5).
    """
    groups = {name: [i for i, family in enumerate(families) if family == name] for name in dict.fromkeys(families)}
    values = {(name, RANK): agreement_at_rank(vectors[rows]) for name, rows in groups.items() if len(rows) > 1}
    for first, second in combinations(groups, 2):
        values[first + AND + second, RANK] = agreement_across(vectors[groups[first]], vectors[groups[second]])
    return values | ({(TOGETHER, RANK): agreement_at_rank(vectors)} if len(families) > 1 else {})


def by_words(
    subset: str,
    templates: pd.DataFrame,
    rows: Sequence[int],
    completions: Completions,
    families: Mapping[str, str],
) -> Curves:
    """Jaccard overlap of the first k of two models: the mean over pairs of a family, of two families, and of all.

    Of whole completions and of first words, so that models which complete one word and models which write on can be
    compared. Models without a family are left out; ``rows`` are the templates that count, in order.
    """
    values: dict[tuple[str, str], Array] = {}
    ks = [k for k in KS if k <= len(next(iter(completions.values()))[0])]
    places = [k - 1 for k in ks]
    for kind, words in ((WHOLE, None), (FIRST, 1)):
        texts = {
            model: [[" ".join(text.split()[:words]) for text in said[row]] for row in rows]
            for model, said in completions.items()
            if model in families
        }
        pairs: dict[str, list[Array]] = {}
        for first, second in combinations(texts, 2):
            family, other = families[first], families[second]
            shared = [shared_at_k(a, b)[places] for a, b in zip(texts[first], texts[second], strict=True)]
            for name in (family if family == other else family + AND + other, TOGETHER):
                pairs.setdefault(name, []).append(np.array(shared))
        values |= {(name, kind): np.mean(overlaps, axis=0) for name, overlaps in pairs.items()}
    return _curves(subset, templates, values, ks, rows)


# ---- the shape of a curve --------------------------------------------------------------------------------------------


def oddness(curves: Mapping[str, Array]) -> dict[str, Array]:
    """How far the shape of every family's curve, shape (..., K), is from the mean of the others.

    A shape is a curve less its mean over ranks; a distance is the root of the mean squared difference.
    """
    shapes = {name: curve - curve.mean(-1, keepdims=True) for name, curve in curves.items()}
    distances = {}
    for name, shape in shapes.items():
        others = np.mean([other for n, other in shapes.items() if n != name], axis=0)
        distances[name] = np.sqrt(((shape - others) ** 2).mean(-1))
    return distances


# ---- from curves to tables -------------------------------------------------------------------------------------------


def by_family(curves: Sequence[Curves]) -> pd.DataFrame:
    """Every family, every two families, and the means over both.

    Returns:
        ``subset, family, kind, templates, k, similarity, similarity_low, similarity_high``.
    """
    rows = []
    for of_set in curves:
        kinds = dict.fromkeys(kind for _, kind in of_set.values)
        means = {(name, kind): of_set.mean(kind, name == BETWEEN) for name in (WITHIN, BETWEEN) for kind in kinds}
        for (family, kind), values in {**of_set.values, **means}.items():
            if values is not None:
                rows += _by_rank(of_set, values, {"family": family, "kind": kind})
    return _defined(rows)


def by_group(curves: Sequence[Curves]) -> pd.DataFrame:
    """All models together, by group of at least ``FEW`` templates (the paper's Figure 5).

    Returns:
        ``subset, axis, group, kind, templates, k, similarity, similarity_low, similarity_high``.
    """
    rows = []
    for of_set in curves:
        together = {kind: values for (family, kind), values in of_set.values.items() if family == TOGETHER}
        for axis, group, chosen in members(of_set.groups):
            for kind, values in together.items() if chosen.sum() >= FEW else ():
                rows += _by_rank(of_set, values, {"axis": axis, "group": group, "kind": kind}, chosen)
    return _defined(rows)


def _by_rank(
    curves: Curves, values: Array, labels: Mapping[str, str], chosen: Mask | None = None
) -> list[dict[str, object]]:
    """The rows of one curve, a rank each, over the templates that are ``chosen``, or over all."""
    draws = curves.draws(values, chosen)
    counted = np.ones(len(values), dtype=bool) if chosen is None else chosen
    clusters = effective_units([unit for unit, here in zip(curves.units, counted, strict=True) if here])
    common = {"subset": curves.subset, **labels, "templates": int(counted.sum())}
    return [
        {**common, "k": k, **spread("similarity", Drawn(mean, draws[:, place], clusters))}
        for place, (k, mean) in enumerate(zip(curves.ks, values[counted].mean(0), strict=True))
    ]


def _defined(rows: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    table = pd.DataFrame(rows)
    return table[table["similarity"].notna()].reset_index(drop=True) if len(table) else table
