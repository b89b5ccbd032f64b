"""Rank changes when an entity is added, by whether it is correct (page 21; paper 002, Table 1)."""

from __future__ import annotations

import pandas as pd
from probekit.report.parts import MEAN, holds

from probekit.metrics.context import CHANGES, CONTEXT, rank_change_table

STEP = ["source", "relation", *CONTEXT, "step", "centre", "added", "added_correct"]
ENTITY = dict(zip(CHANGES, ("O_t", "O_a", "O_cor", "O_incor"), strict=True))
FEW = 5  # triples: of fewer, no direction is read
RISES, FALLS = -1, 1  # sign of a rank change
DIRECTIONS = {  # claim: what it says, whether O_a is correct, of whom, sign of the rank change
    "002-03a": ("A correct entity that is added lifts the target.", True, "rc_centre", RISES),
    "002-03b": ("A correct one lifts the correct entities that are there.", True, "rc_correct", RISES),
    "002-03c": ("A correct one lowers the incorrect entities that are there.", True, "rc_incorrect", FALLS),
    "002-03d": ("An incorrect one lowers the target.", False, "rc_centre", FALLS),
    "002-03e": ("An incorrect one lowers the correct entities that are there.", False, "rc_correct", FALLS),
    "002-03f": ("An incorrect one lifts the incorrect entities that are there.", False, "rc_incorrect", RISES),
    "002-03g": ("A correct entity rises itself when it is added.", True, "rc_added", RISES),
    "002-03h": ("An incorrect entity rises itself when it is added.", False, "rc_added", RISES),
}


def mean_over_models(done: pd.DataFrame) -> pd.DataFrame:
    """The steps once, with the rank changes' mean over models, as rows of the model ``MEAN``."""
    table = done.groupby(STEP, sort=False)[list(CHANGES)].mean().reset_index()
    return table.assign(model=MEAN)


def tables(done: pd.DataFrame, seed: int = 0) -> dict[str, pd.DataFrame]:
    """The tables of page 21, all of steps around the target.

    Args:
        done: of ``asking.ask_all``.
        seed: of the bootstrap over triples.

    Returns:
        ``rank_change`` (``source, model, added_correct, change, mean, low, high, steps, triples``; of several models
        their mean too), ``variants`` (the same with ``variant``, of the mean or the only model), ``conclusions``
        (``claim, source, estimate`` above zero where the claim holds, ``low, high, holds, steps, triples``).
    """
    own = done[done["twin"] == "target"]
    several = own["model"].nunique() > 1
    overall = mean_over_models(own) if several else own
    every = pd.concat([own[[*STEP, *CHANGES, "model"]], overall], ignore_index=True) if several else own
    return {
        "rank_change": _table(every, ["source", "model"], seed),
        "variants": _table(overall, ["source", "model", "variant"], seed),
        "conclusions": conclusions(_table(overall, ["source", "model"], seed)),
    }


def _table(steps: pd.DataFrame, by: list[str], seed: int) -> pd.DataFrame:
    """The groups in order of appearance, column by column, and of each the steps with a correct O_a first."""
    order = {name: {value: i for i, value in enumerate(steps[name].unique())} for name in by}
    order["added_correct"] = {True: 0, False: 1}
    table = rank_change_table(steps, by, seed=seed)
    return table.sort_values(list(order), key=lambda c: c.map(order[c.name]), kind="stable", ignore_index=True)


def conclusions(told: pd.DataFrame) -> pd.DataFrame:
    """Each of ``DIRECTIONS`` as a number that is above zero where it holds; none of fewer than ``FEW`` triples.

    Args:
        told: of ``rank_change_table`` by source, one model.
    """
    columns = ["claim", "source", "estimate", "low", "high", "holds", "steps", "triples"]
    rows = []
    for claim, (_, correct, change, sign) in DIRECTIONS.items():
        enough = told[told["triples"] >= FEW]
        for row in enough[(enough["added_correct"] == correct) & (enough["change"] == change)].to_dict("records"):
            low, high = sorted((sign * row["low"], sign * row["high"]))
            rows.append(
                {"claim": claim, "source": row["source"], "estimate": sign * row["mean"], "low": low, "high": high}
                | {"holds": holds(low, high), "steps": row["steps"], "triples": row["triples"]}
            )
    return pd.DataFrame(rows, columns=columns)
