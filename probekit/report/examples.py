"""A few prompts of a run with what models answered, as a reader would see them."""

from __future__ import annotations

from typing import Any

import pandas as pd

from probekit.files import digest
from probekit.report.tables import pick
from probekit.report.text import SEED, title

PROMPTS, MODELS, ANSWERS, GOLDS = 5, 5, 3, 2  # shown at most
LENGTH = 240  # characters of a prompt; of a longer one its end is shown, where the question stands
KEYS = ["probe", "prompt_id"]


def examples(rows: pd.DataFrame, prompts: int = PROMPTS) -> pd.DataFrame:
    """Prompts drawn by the digests of their names, with what models put into the slot.

    Args:
        rows: of ``probekit.report.outcomes``; those without a text, or with neither answers nor ranks of a step, are
            left out, and of a prompt that is asked in several ways the first stays.
        prompts: how many, at most.

    Returns:
        A row per prompt, of text: *Prompt*, and where they tell something *Right* and *Fact* (the ``variant``); then,
        per model, one of each kind (a name without its seed), its first answers, or at a step of a context the rank of
        the target before and after it. Empty where nothing is left.
    """
    rows = rows.reindex(
        columns=["model", *KEYS, "asked", "gold", "target", "variant", "answers", "rank_before", "rank"]
    )
    rows = rows[rows["asked"].notna() & (rows["answers"].notna() | rows["rank_before"].notna())]
    if rows.empty:
        return pd.DataFrame()
    names = rows["model"].drop_duplicates()
    models = names[~names.str.replace(SEED, "", regex=True).duplicated()].tolist()[:MODELS]
    named = rows[KEYS].drop_duplicates().itertuples(index=False, name=None)
    drawn = sorted(named, key=lambda key: digest(*map(str, key)))[:prompts]
    rows = rows[pd.MultiIndex.from_frame(rows[KEYS]).isin(drawn)].drop_duplicates(["model", *KEYS])
    rows = rows.astype(object).where(rows.notna(), None)
    for name in ("answers", "gold"):
        rows[name] = [[] if values is None else list(values) for values in rows[name]]
    lines = []
    for key in drawn:
        of = {row["model"]: row for row in pick(rows, probe=key[0], prompt_id=key[1]).to_dict("records")}
        first = next(iter(of.values()))
        line = {"Prompt": first["asked"] if len(first["asked"]) <= LENGTH else f"… {first['asked'][-LENGTH:]}"}
        line |= {"Right": first["target"] or ", ".join(first["gold"][:GOLDS])}
        line |= {"Fact": first["variant"] or "" if first["target"] is None else ""}
        lines.append(line | {title(name): _answered(of.get(name)) for name in models})
    table = pd.DataFrame(lines)
    return table.drop(columns=[name for name in ("Right", "Fact") if name in table and not table[name].any()])


def _answered(row: dict[str, Any] | None) -> str:
    if row is None:
        return "–"
    moved = [] if row["rank_before"] is None else [f"rank {row['rank_before']:.0f} → {row['rank']:.0f}"]
    return ", ".join(map(str, [*row["answers"][:ANSWERS], *moved]))
