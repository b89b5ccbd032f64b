"""Table 1 of paper 004 as printed, number by number beside ours."""

from __future__ import annotations

import pandas as pd

from probekit.metrics.hurtfulness import cut
from probekit.report.published import numbers, published

PAPER = "004"
TABLE = "1"
COLUMNS = ("mean", "sd", "q1", "q50", "q75", "q90", "q95")


def printed(table: pd.DataFrame) -> pd.DataFrame:
    """All numbers and ranks of Table 1 beside ours under the paper's rules.

    Args:
        table: of ``overview``, the models of Table 1.

    Returns:
        ``model, column, printed, ours`` (cut after three decimals, as the paper prints), ``exact`` (not cut), ``same``
        (1 where they agree to the last digit).
    """
    mine = table[table["rules"] == "paper"].set_index("model")
    paper = numbers(PAPER, TABLE)
    rows = []
    for model in paper.index:
        for column in (*COLUMNS, "rank"):
            exact = float(mine.loc[model, column])
            ours, theirs = cut(exact), float(paper.loc[model, column])
            same = int(abs(ours - theirs) < 1e-9)
            rows.append(
                {"model": model, "column": column, "printed": theirs, "ours": ours, "exact": exact, "same": same}
            )
    return pd.DataFrame(rows)


def agreement_facts(table: pd.DataFrame) -> list[dict[str, object]]:
    """How many numbers and ranks of ``printed`` agree, and the greatest difference."""
    values, places = table[table["column"] != "rank"], table[table["column"] == "rank"]
    away = (values["printed"] - values["exact"]).abs().max()
    whole = values.groupby("model")["same"].all()
    facts = {
        "numbers": len(values),
        "numbers that agree to the last digit": int(values["same"].sum()),
        "rows in which all numbers agree": int(whole.sum()),
        "rows": len(whole),
        "ranks that agree": int(places["same"].sum()),
        "greatest difference": float(away),
    }
    return [{"what": what, "subset": "Table 1", "value": value} for what, value in facts.items()]


def as_printed(model: str) -> str:
    """The mean and deviation of a model as the paper prints them."""
    rows = published(PAPER, TABLE)
    values = rows[rows["row"] == model].set_index("column")["value"]
    return f"{values['mean']} ± {values['sd']}"
