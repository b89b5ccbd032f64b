"""Agreement per template, and its means over templates with intervals: by family, by group, by rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics import middle, resampled_means

KS = (1, 2, 3, 5, 10, 20, 30, 50, 100)
AND = " and "
WITHIN, BETWEEN = "mean within families", "mean between families"
SAMPLES = 2000
FEW = 5  # a group of fewer templates has no interval worth the name, and is left out
Array = npt.NDArray[np.float64]


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
        parts = [v for (name, one), v in self.values.items() if one == kind and (AND in name) == between]
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


def by_rank(
    one: Curves, values: Array, about: Mapping[str, object], chosen: Array | None = None
) -> list[dict[str, object]]:
    """Rows of one curve: ``templates, k, similarity, similarity_low, similarity_high``, at the ranks of ``KS`` it has.

    Args:
        one: whose templates are drawn.
        values: shape (n, K).
        about: further columns.
        chosen: which of the n templates count; None for all.
    """
    ks = [k for k in KS if k <= values.shape[1]]
    some = values[:, [k - 1 for k in ks]]
    drawn = one.draws(some, chosen)
    counted = some if chosen is None else some[chosen]
    rows = []
    for place, (k, mean) in enumerate(zip(ks, counted.mean(0), strict=True)):
        low, high = middle(drawn[:, place])
        found = {"templates": len(counted), "k": k, "similarity": mean}
        rows.append({**about, **found, "similarity_low": low, "similarity_high": high})
    return rows


def by_family(curves: Sequence[Curves]) -> pd.DataFrame:
    """Every family, every two families, and the means over both.

    Returns:
        ``subset, family, kind, templates, k, similarity, similarity_low, similarity_high``.
    """
    rows = []
    for one in curves:
        means = {(name, kind): one.mean(kind, name == BETWEEN) for name in (WITHIN, BETWEEN) for kind in one.kinds()}
        for (family, kind), values in {**one.values, **means}.items():
            if values is not None:
                rows += by_rank(one, values, {"subset": one.subset, "family": family, "kind": kind})
    found = pd.DataFrame(rows)
    return found[found["similarity"].notna()].reset_index(drop=True) if len(found) else found


def by_group(curves: Sequence[Curves], axes: Mapping[str, Mapping[str, Sequence[str]]]) -> pd.DataFrame:
    """The mean within families, by group of at least five templates.

    Args:
        axes: subset -> axis (such as gender) -> the group of every template of the curves.

    Returns:
        ``subset, axis, group, kind, templates, k, similarity, similarity_low, similarity_high``.
    """
    rows = []
    for one in curves:
        for axis, groups in axes[one.subset].items():
            for group in dict.fromkeys(groups):
                chosen = np.array([name == group for name in groups])
                if chosen.sum() < FEW:
                    continue
                for kind in one.kinds():
                    values = one.mean(kind)
                    if values is None:
                        continue
                    about = {"subset": one.subset, "axis": axis, "group": group, "kind": kind}
                    rows += by_rank(one, values, about, chosen)
    found = pd.DataFrame(rows)
    return found[found["similarity"].notna()].reset_index(drop=True) if len(found) else found
