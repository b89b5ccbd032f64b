"""From ranks to the rows of a table: accuracy at k with intervals, per group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from probekit.errors import ProbeError
from probekit.metrics.bootstrap import Interval, bootstrap_ci, bootstrap_means, interval, share_ci
from probekit.metrics.ranking import hits_at_k, mean_reciprocal_rank

KS = (1, 5, 10)  # as in paper 001


def accuracy_table(ranks: pd.DataFrame, by: Sequence[str], ks: Sequence[int] = KS, seed: int = 0) -> pd.DataFrame:
    """Acc@k of every group, with 95% bootstrap intervals over facts, exact where none or all are right; and MRR.

    Args:
        ranks: one row per prompt with ``rank``, ``fact_id`` and the columns of ``by``.
        by: columns whose combinations are the groups.
        ks: the k of Acc@k.
        seed: of the bootstrap.

    Returns:
        One row per group, in order of first appearance: the columns of ``by``, ``prompts``, ``facts``, for each k
        ``acc@k``, ``low@k``, ``high@k``, and ``mrr``.
    """
    rows = []
    for key, group in ranks.groupby(list(by), sort=False, dropna=False):
        row = dict(zip(by, key, strict=True)) | {"prompts": len(group), "facts": group["fact_id"].nunique()}
        hits = np.column_stack([hits_at_k(group["rank"], k) for k in ks])
        facts = group["fact_id"].tolist()
        drawn = bootstrap_means(hits, facts, seed=seed)
        for k, correct, samples in zip(ks, hits.T, drawn.T, strict=True):
            ends = share_ci(correct, facts) if correct.min() == correct.max() else interval(samples, facts)
            row |= {f"acc@{k}": float(correct.mean()), f"low@{k}": ends.low, f"high@{k}": ends.high}
        rows.append(row | {"mrr": mean_reciprocal_rank(group["rank"])})
    return pd.DataFrame(rows)


def macro_accuracy(ranks: pd.DataFrame, k: int, seed: int = 0) -> Interval:
    """Acc@k averaged over relations, each counting the same, with its interval over facts.

    Args:
        ranks: one row per prompt with ``rank``, ``fact_id`` and ``relation``.
        k: of Acc@k.
        seed: of the bootstrap.
    """
    member = pd.get_dummies(ranks["relation"]).to_numpy(dtype=float)
    hits = member * hits_at_k(ranks["rank"], k)[:, None]

    def average(means: np.ndarray) -> float:
        of_hits, of_members = np.split(means, 2)
        present = of_members > 0
        return float((of_hits[present] / of_members[present]).mean())

    return bootstrap_ci(np.hstack([hits, member]), ranks["fact_id"].tolist(), average, seed=seed)


def accuracy_difference(
    ranks: pd.DataFrame, first: Sequence[bool], k: int = 1, by_relation: bool = False, seed: int = 0
) -> Interval:
    """Acc@k of the prompts in ``first`` less that of the others, with its interval over facts.

    Args:
        ranks: one row per prompt with ``rank`` and ``fact_id``, and ``relation`` if it is asked for.
        first: which prompts belong to the first group.
        k: of Acc@k.
        by_relation: take the difference within each relation that has both groups, and average these with the
            relations' numbers of prompts, so that groups of unlike relations can be compared.
        seed: of the bootstrap.

    Raises:
        ValueError: one of the groups is empty, or as in ``hits_at_k``.
    """
    member = np.asarray(first, dtype=bool)
    if member.all() or not member.any():
        raise ValueError("a difference needs prompts in both groups")
    hits = hits_at_k(ranks["rank"], k)[:, None]
    strata = pd.get_dummies(ranks["relation"]).to_numpy(float) if by_relation else np.ones((len(ranks), 1))
    first_columns, other_columns = strata * member[:, None], strata * ~member[:, None]

    def difference(means: np.ndarray) -> float:
        hits_one, size_one, hits_other, size_other = np.split(means, 4)
        both = (size_one > 0) & (size_other > 0)
        if not both.any():
            return float("nan")
        gaps = hits_one[both] / size_one[both] - hits_other[both] / size_other[both]
        return float(np.average(gaps, weights=size_one[both] + size_other[both]))

    columns = np.hstack([hits * first_columns, first_columns, hits * other_columns, other_columns])
    return bootstrap_ci(columns, ranks["fact_id"].tolist(), difference, seed=seed)


def paired_hits(first: pd.DataFrame, second: pd.DataFrame, k: int = 1) -> pd.DataFrame:
    """Acc@k per fact in two settings (paper 001, RQ2): facts found in both, hits averaged over a fact's prompts.

    Args:
        first, second: one row per prompt with ``rank`` and ``fact_id``, as ``rank_entities`` gives them.
        k: of Acc@k.

    Returns:
        Index ``fact_id``, columns ``first`` and ``second``, each in [0, 1].

    Raises:
        ProbeError: a table without ``fact_id``.
    """
    if "fact_id" not in first or "fact_id" not in second:
        raise ProbeError("a table of ranks has no column 'fact_id'; take it as rank_entities or rank_targets gives it")
    sides = {
        name: pd.Series(hits_at_k(frame["rank"], k)).groupby(frame["fact_id"].to_numpy(), sort=False).mean()
        for name, frame in (("first", first), ("second", second))
    }
    return pd.DataFrame(sides).dropna().rename_axis("fact_id")
