"""What accuracy needs no model: a model that does no better says nothing (METHODS of the book, "Floor")."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics.bootstrap import difference_ci
from probekit.metrics.ranking import hits_at_k

KEYS = ["model", "probe"]
ROUNDING = 1e-12  # of an interval that ends at zero, which machines round either way


def floors(ranks: pd.DataFrame, ks: Sequence[int] = (1,)) -> pd.DataFrame:
    """Acc@k of every model on every probe, beside what needs no model, on the same prompts.

    Args:
        ranks: one row per model and prompt with ``model, probe, object`` (the right answer), ``candidates`` (how many
            compete), ``rank``, ``fact_id`` and, where prompts name them, ``relation`` and ``pool`` (``Probe.pool_of``).
        ks: the k of Acc@k.

    Returns:
        One row per model, probe and k: ``model, probe, k, accuracy``; ``constant``, the share of prompts that the k
        commonest answers of each prompt's relation get right (``constant_hits``), ``overall``, the same of one list of
        answers for each ``pool``, and ``uniform``, of a guess; ``gain``, accuracy less the best of these three in each
        relation, with its 95% interval over facts, ``gain_low, gain_high``; and ``floor``: whether that interval does
        not lie above zero, or is none.
    """
    groups = ranks.groupby(KEYS, sort=False)
    return pd.DataFrame([row for key, rows in groups for row in _floor(dict(zip(KEYS, key, strict=True)), rows, ks)])


def _floor(keys: dict[str, str], rows: pd.DataFrame, ks: Sequence[int]) -> Iterator[dict[str, object]]:
    names = [rows.get(name, pd.Series("", rows.index)).astype(object).fillna("") for name in ("pool", "relation")]
    pools, relations = names[0].astype(str), names[1].astype(str) + "\n" + names[0].astype(str)
    for k in ks:
        hits, uniform = hits_at_k(rows["rank"], k), np.minimum(1, k / rows["candidates"].to_numpy(float))
        constant, overall = (constant_hits(rows["object"], groups, k) for groups in (relations, pools))
        gains = hits - best_of([constant, overall, uniform], relations)
        low, high = difference_ci(gains, rows["fact_id"].tolist())
        row = {**keys, "k": k, "accuracy": hits.mean(), "constant": constant.mean(), "overall": overall.mean()}
        row |= {"uniform": uniform.mean(), "gain": gains.mean(), "gain_low": low, "gain_high": high}
        yield row | {"floor": not low > ROUNDING}


def constant_hits(
    golds: Sequence[str | Collection[str]] | pd.Series, groups: Sequence[str] | pd.Series | str = "", k: int = 1
) -> npt.NDArray[np.float64]:
    """Of each prompt, whether one of the k answers that are right most often in its group is right there.

    An answer that is right at one prompt alone is no constant answer: in a group of one it would always be right. Those
    that are chosen on the very prompts that they answer are a bar that a model of little knowledge can miss.

    Args:
        golds: the right answers of each prompt, one or several different ones.
        groups: of each prompt, such as its relation; one for all without.
        k: how many answers are given.

    Returns:
        Shape (prompts,), 0 or 1.
    """
    rows = pd.DataFrame({"gold": list(golds), "group": groups if isinstance(groups, str) else list(groups)})
    rows = rows.explode("gold")
    times = rows.groupby(["group", "gold"], sort=False).size().sort_values(ascending=False, kind="stable")
    best = times[times > 1].groupby("group").head(k).index
    right = pd.MultiIndex.from_frame(rows[["group", "gold"]]).isin(best)
    return pd.Series(right, rows.index).groupby(level=0).any().to_numpy(float)


def best_of(answers: Sequence[npt.NDArray[np.float64]], groups: pd.Series) -> npt.NDArray[np.float64]:
    """Of several ways to answer, each given as its share right prompt by prompt, the one best in each group."""
    table = pd.DataFrame(np.column_stack(answers)).groupby(groups.to_numpy(), dropna=False)
    best = table.transform("mean").to_numpy().argmax(axis=1)
    return np.column_stack(answers)[np.arange(len(best)), best]


def uniform_guess(competing: pd.Series) -> float:
    """Acc@1 of a uniform guess, where so many candidates compete at each prompt."""
    return sum(share / size for size, share in competing.value_counts(normalize=True).items())


def with_floors(ranks: pd.DataFrame, ks: Sequence[int] = (1,)) -> pd.DataFrame:
    """``ranks`` with the column ``floor@k`` for each k, ``floor`` for k = 1: whether the model is at its probe's."""
    bars = floors(ranks, ks).pivot(index=KEYS, columns="k", values="floor").loc[pd.MultiIndex.from_frame(ranks[KEYS])]
    return ranks.assign(**{"floor" if k == 1 else f"floor@{k}": bars[k].to_numpy() for k in ks})


def at_floor(ranks: pd.DataFrame, k: int = 1) -> pd.Series:
    """Of each row, whether its model is at the floor of its probe; all false without the column of ``with_floors``."""
    return ranks.get("floor" if k == 1 else f"floor@{k}", pd.Series(False, ranks.index)).astype(bool)


def at_floor_in_both(ranks: pd.DataFrame) -> pd.Series:
    """Of each row, whether its model is at the floor in every style of the data set, so that their difference is moot.

    Args:
        ranks: with ``model, dataset`` and, of ``with_floors``, ``floor``.
    """
    return at_floor(ranks).groupby([ranks["model"], ranks["dataset"]]).transform("all")
