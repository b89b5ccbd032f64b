"""What accuracy needs no model: a model that does no better says nothing (METHODS of the book, "Floor")."""

from __future__ import annotations

import pandas as pd

from probekit.metrics.summary import accuracy_table

KEYS = ["model", "probe"]


def floors(ranks: pd.DataFrame) -> pd.DataFrame:
    """Acc@1 of every model on every probe beside the best answer that needs no model.

    Args:
        ranks: one row per model and prompt with ``model, probe, object`` (the right answer), ``candidates`` (how many
            compete), ``rank``, ``fact_id`` and, where not all entities compete at every prompt, ``pool``
            (``Probe.pool_of``).

    Returns:
        Index ``model, probe``; ``acc@1, low@1, high@1``; ``constant`` (the share of prompts that one and the same
        answer gets right, the best there is in each pool), ``uniform`` (a uniform guess), and ``floor``: whether there
        is no interval above the greater of both. Such a model is shown, and left out of means, rankings and verdicts.
    """
    table = accuracy_table(ranks, KEYS, ks=[1]).set_index(KEYS)[["acc@1", "low@1", "high@1"]]
    groups = ranks.groupby(KEYS, sort=False)
    table["constant"] = groups.apply(lambda rows: best_constant(rows["object"], rows.get("pool", "")))
    table["uniform"] = groups["candidates"].agg(uniform_guess)
    return table.assign(floor=~(table["low@1"] > table[["constant", "uniform"]].max(axis=1)))


def best_constant(objects: pd.Series, pool: pd.Series | str) -> float:
    """The share of right ``objects`` that one answer hits, the best there is in each ``pool`` of prompts."""
    counts = objects.groupby(pd.Series(pool, objects.index)).agg(lambda names: names.value_counts().iloc[0])
    return float(counts.sum() / len(objects))


def uniform_guess(competing: pd.Series) -> float:
    """Acc@1 of a uniform guess, where so many candidates compete at each prompt."""
    return sum(share / size for size, share in competing.value_counts(normalize=True).items())


def reaches_floor(accuracy: pd.DataFrame, datasets: pd.DataFrame) -> pd.Series:
    """Of each row of an ``accuracy_table``, whether Acc@1 has no interval above what needs no model on its probe.

    Args:
        accuracy: with ``probe`` and ``low@1``.
        datasets: a row per probe: ``probe``, and Acc@1 of a uniform guess, ``chance``, and of the ``commonest`` answer.
    """
    best = datasets.set_index("probe")[["chance", "commonest"]].max(axis=1)
    return ~(accuracy["low@1"] > accuracy["probe"].map(best))


def with_floors(ranks: pd.DataFrame) -> pd.DataFrame:
    """``ranks`` with the column ``floor`` of the model and probe of each row (see ``floors``)."""
    floor = floors(ranks)["floor"]
    return ranks.assign(floor=floor.loc[list(zip(ranks["model"], ranks["probe"], strict=True))].to_numpy())


def at_floor(ranks: pd.DataFrame) -> pd.Series:
    """Of each row, whether its model is at the floor of its probe; all false without the column of ``with_floors``."""
    return ranks["floor"].astype(bool) if "floor" in ranks else pd.Series(False, ranks.index)


def at_floor_in_both(ranks: pd.DataFrame) -> pd.Series:
    """Of each row, whether its model is at the floor in every style of the data set, so that their difference is moot.

    Args:
        ranks: with ``model, dataset`` and, of ``with_floors``, ``floor``.
    """
    return at_floor(ranks).groupby([ranks["model"], ranks["dataset"]]).transform("all")
