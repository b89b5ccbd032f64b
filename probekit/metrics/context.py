"""Rank change and Understand-Confuse-Misunderstand (paper 002, "Rank-change Calculation" and "UCM").

A table of steps has one row per step of a growing context: ``triple_id``, ``doc_id``, ``centre`` (the entity around
which the context grows: the target, O_t, or in a negative-target twin a wrong entity), ``added`` (the entity that the
step adds, O_a), ``added_correct``, ``rank_before`` and ``rank_after`` of the centre, ``any_before`` and ``any_after``
of the best correct object, and the rank changes ``rc_centre, rc_added, rc_correct, rc_incorrect``; ``step, last,
variant, twin, relation`` and other columns tell where it belongs.

Triples of one subject often share a document, and one may add what another asks for; so the bootstrap draws whole
documents. Where a few of them hold most steps, shares of all steps tell of these few: so each document can count
``once``, by the mean over its own steps.

Rows of several models, told apart by ``model``, can be of one group: its shares are then means over models that were
asked the same steps, and a step or context that several were asked counts once.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics.bootstrap import (
    Interval,
    bootstrap_ci,
    bootstrap_means,
    interval,
    label_codes,
    resampled_means,
    share_ci,
)
from probekit.metrics.estimates import spread
from probekit.metrics.ranking import hits_at_k

CHANGES = ("rc_centre", "rc_added", "rc_correct", "rc_incorrect")
CONTEXT = ["triple_id", "doc_id", "variant", "twin"]  # what one growing context is known by
STEP = [*CONTEXT, "step"]
ANSWERS = ("understand", "confuse", "misunderstand")


class Ucm(NamedTuple):
    """Shares of steps in which the centre's rank improves, stays, and worsens, each with its interval."""

    understand: Interval
    confuse: Interval
    misunderstand: Interval


def rank_change(before: npt.ArrayLike, after: npt.ArrayLike) -> np.ndarray:
    """Rank after less rank before, shape (n,): negative where the entity rises, since rank 1 is best.

    Raises:
        ValueError: lists of different lengths, or ranks below 1 or missing.
    """
    first, second = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(f"rank_change needs two equally long lists, not shapes {first.shape} and {second.shape}")
    if not ((first >= 1).all() and (second >= 1).all()):
        raise ValueError("ranks start at 1")
    return second - first


def counted(steps: pd.DataFrame) -> pd.Series:
    """Which steps UCM counts: those whose O_a is correct and not the centre, and whose input changes.

    Args:
        steps: once they are ranked, ``cut`` and ``same`` tell those whose input does not (``study.rank_steps``).
    """
    counting = steps["added_correct"] & (steps["added"] != steps["centre"])
    return counting & ~(steps["cut"] | steps["same"]) if "cut" in steps else counting


def steps_of(steps: pd.DataFrame) -> int:
    """How many different steps these are."""
    return len(steps[STEP].drop_duplicates())


def ucm(
    changes: npt.ArrayLike,
    triples: Sequence[Hashable],
    clusters: Sequence[Hashable] | None = None,
    strata: Sequence[Hashable] | None = None,
    per_triple: bool = False,
    samples: int = 2000,
    seed: int = 0,
) -> Ucm:
    """Understand, Confuse and Misunderstand: shares of rank changes below, at and above 0.

    UCM_m pools all steps. UCM_k (``per_triple``) takes the shares of each unit's steps first and averages them over
    units, so that each counts once. The units are triples, or documents (``ucm_table``, ``once``).

    Args:
        changes: shape (n,), the centre's rank changes over the steps that count.
        triples: n labels of the units.
        clusters: n labels, of documents, that are drawn whole for the intervals, which rest on one draw; the units
            by default. With ``per_triple`` a unit belongs to the first it has.
        strata: n labels, of relations (UCM_k) or resources; the result is the unweighted mean over them.
        per_triple: see above; a unit of two strata counts in both.
        samples: of the bootstrap.
        seed: of the bootstrap.

    Returns:
        Three intervals whose estimates sum to 1, exact where a share is 0 or 1 (``share_ci``); ``n`` are steps.

    Raises:
        ValueError: no step, labels of another number, or a change that is missing.
    """
    values = np.asarray(changes, dtype=float)
    strata = [""] * len(values) if strata is None else strata
    clusters = triples if clusters is None else clusters
    if values.ndim != 1 or not len(values) or not len(values) == len(triples) == len(strata) == len(clusters):
        raise ValueError(f"{values.shape} changes, {len(triples)} triples and {len(strata)} strata do not fit")
    if not np.isfinite(values).all():
        raise ValueError("every step that counts needs a rank change")
    signs = np.column_stack([values < 0, values == 0, values > 0]).astype(float)
    table = pd.DataFrame(signs).assign(triple=list(triples), stratum=list(strata), cluster=label_codes(clusters))
    means = {0: "mean", 1: "mean", 2: "mean", "cluster": "first"}
    rows = table.groupby(["triple", "stratum"], sort=False).agg(means).reset_index() if per_triple else table
    codes = label_codes(rows["stratum"])
    member = np.repeat(np.eye(codes.max() + 1)[codes], 3, axis=1)  # (rows, strata x 3)
    shares = np.tile(rows[[0, 1, 2]].to_numpy(), codes.max() + 1)
    per_stratum = (shares * member).sum(0) / member.sum(0)
    drawn = resampled_means(shares, rows["cluster"].tolist(), member, samples, seed)
    results = []
    for i in range(3):
        if signs[:, i].min() == signs[:, i].max():
            results.append(share_ci(signs[:, i], table["cluster"].tolist()))
        else:
            present = np.isfinite(drawn[:, i::3]).sum(axis=1)  # strata in each draw
            ends = interval(np.nansum(drawn[:, i::3], axis=1) / present, rows["cluster"].tolist())
            estimate, clusters_drawn = float(per_stratum[i::3].mean()), rows["cluster"].nunique()
            results.append(Interval(estimate, ends.low, ends.high, len(values), clusters_drawn, ends.units))
    return Ucm(*results)


def ucm_table(
    steps: pd.DataFrame,
    by: Sequence[str],
    strata: str | None = None,
    per_triple: bool = False,
    seed: int = 0,
    once: bool = False,
) -> pd.DataFrame:
    """UCM of every group of steps, and how many of them could not be Understand.

    Args:
        by: columns whose combinations are the groups: model, variant, twin, relation, a class of size or rarity.
        strata: a column over whose values the shares are averaged without weights (see ``ucm``); not with ``once``.
        per_triple: UCM_k; else UCM_m.
        seed: of the bootstrap.
        once: the shares of each document's steps, averaged over documents, in place of UCM_m or UCM_k.

    Returns:
        One row per group with a step that counts, in order of appearance: the columns of ``by``, ``steps``,
        ``triples``, ``documents``, ``effective`` (documents of one size that would tell as much), for each of
        ``understand, confuse, misunderstand`` the share, ``..._low`` and ``..._high``, and ``already_first``, the share
        of steps with the centre at rank 1 before: these can only be Confuse or Misunderstand.
    """
    rows = []
    taken = steps[counted(steps)]
    for key, group in taken.groupby(list(by), sort=False, dropna=False):
        names, documents = group["triple_id"].tolist(), group["doc_id"].tolist()
        parts = group[strata].tolist() if strata and not once else None
        units = documents if once else names
        shares = ucm(group["rc_centre"], units, documents, parts, per_triple or once, seed=seed)
        row = dict(zip(by, key, strict=True)) | {"steps": steps_of(group)} | _counts(group)
        row |= {"effective": shares.understand.effective}
        for name, share in zip(ANSWERS, shares, strict=True):
            row |= spread(name, share)
        rows.append(row | {"already_first": float((group["rank_before"] == 1).mean())})
    return pd.DataFrame(rows)


def rank_change_table(
    steps: pd.DataFrame, by: Sequence[str], first_step: bool = False, samples: int = 2000, seed: int = 0
) -> pd.DataFrame:
    """Mean rank changes, split by whether O_a is correct (Table 1 of paper 002).

    Args:
        by: columns whose combinations are the groups.
        first_step: also the step that adds the centre itself.
        samples: of the bootstrap over documents.
        seed: of the bootstrap.

    Returns:
        One row per group, value of ``added_correct`` and change that some step has: columns ``by``, ``added_correct``,
        ``change`` (``rc_centre, rc_added, rc_correct, rc_incorrect``), ``mean, low, high``, the same ``once`` (each
        document by the mean over its steps) with ``once_low`` and ``once_high``, ``rises`` with its interval (the share
        of a document's steps with a change below 0 less that of those above 0, averaged over documents: between
        -1 and 1, so that no document rules it), ``steps`` (those where the change is defined), ``triples``,
        ``documents`` and ``effective`` (documents of one size that would tell as much).
    """
    rows = []
    taken = steps if first_step else steps[steps["added"] != steps["centre"]]
    keys = [*by, "added_correct"]
    for key, group in taken.groupby(keys, sort=False, dropna=False):
        for change in CHANGES:
            defined = group[group[change].notna()]
            if len(defined):
                counts, documents = _counts(defined), defined["doc_id"].tolist()
                pooled = bootstrap_ci(defined[change], documents, samples=samples, seed=seed)
                row = dict(zip(keys, key, strict=True)) | {"change": change} | pooled.row("mean")
                for name, values in (("once", defined[change]), ("rises", -np.sign(defined[change]))):
                    by_document = values.groupby(defined["doc_id"], sort=False).mean()
                    row |= spread(name, bootstrap_ci(by_document, samples=samples, seed=seed))
                row |= {"steps": steps_of(defined)} | counts
                rows.append(row | {"effective": pooled.effective})
    return pd.DataFrame(rows)


def context_accuracy(
    steps: pd.DataFrame,
    by: Sequence[str],
    ks: Sequence[int] = (1, 5),
    gold: Literal["any", "single"] = "any",
    samples: int = 2000,
    seed: int = 0,
) -> pd.DataFrame:
    """Acc@k without context (the prompt alone) and with all of it that fits, of the same contexts (Table 2, paper 002).

    Args:
        by: columns whose combinations are the groups.
        ks: the k of Acc@k.
        gold: ``any`` counts an answer as right if it is any correct object, as the paper and BioLAMA do; ``single``
            asks for the target, and other correct objects compete with it.
        samples: of the bootstrap over documents; without and with context share its draws.
        seed: of the bootstrap.

    Returns:
        One row per group and k: the columns of ``by``, ``k``, ``contexts``, ``triples``, ``documents``, and
        ``without``, ``with`` and ``gain`` (with less without), each with ``..._low`` and ``..._high``.

    Raises:
        ValueError: a context has not one first and one last step, or as in ``hits_at_k``.
    """
    rows = []
    keys = [*CONTEXT, "model"] if "model" in steps else CONTEXT
    name = "any" if gold == "any" else "rank"
    for key, group in steps.groupby(list(by), sort=False, dropna=False):
        first, last = (rows.set_index(keys) for rows in (group[group["step"] == 1], group[group["last"]]))
        if not first.index.is_unique or set(first.index) != set(last.index):
            raise ValueError("every context needs one first and one last step: group by whatever tells contexts apart")
        documents = first.index.get_level_values("doc_id").tolist()
        contexts = first.index.to_frame()[CONTEXT].drop_duplicates()
        for k in ks:
            hits = [hits_at_k(first[f"{name}_before"], k), hits_at_k(last.loc[first.index, f"{name}_after"], k)]
            table = np.column_stack([*hits, hits[1] - hits[0]])
            drawn = bootstrap_means(table, documents, samples, seed)
            row = dict(zip(by, key, strict=True)) | {"k": k, "contexts": len(contexts)} | _counts(contexts)
            for column, values, draws in zip(("without", "with", "gain"), table.T, drawn.T, strict=True):
                alike = column != "gain" and values.min() == values.max()
                ends = share_ci(values, documents) if alike else interval(draws, documents)
                row |= {column: float(values.mean()), f"{column}_low": ends.low, f"{column}_high": ends.high}
            rows.append(row)
    return pd.DataFrame(rows)


def _counts(rows: pd.DataFrame) -> dict[str, int]:
    return {"triples": rows["triple_id"].nunique(), "documents": rows["doc_id"].nunique()}
