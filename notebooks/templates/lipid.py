"""Study 1, LIPID (paper 001, section 3.2.3): tables of the recipe's steps, and of the accuracy on what it makes."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from probekit.metrics import accuracy_table, bootstrap_ci
from probekit.metrics.ranking import hits_at_k
from probekit.probes.lipid.corpora import SIGNS, make_prompts
from probekit.probes.lipid.prompts import ALONE, DROPPED, KEYWORDS, MENTION, PARENTHESIS, PROMPTS, SENTENCES
from probekit.probes.lipid.sheet import write_sheet
from probekit.report.published import cell

__all__ = [
    "GUESS",
    "PAPER",
    "PROMPTS",
    "SENTENCES",
    "accuracy",
    "make",
    "published_statistics",
    "recipe_tables",
]
Made = Mapping[str, Mapping[str, Any]]  # what ``build`` returned, by text
GUESS = "frequency alone"  # asked without a model
SIZES = ("prompts", "entities")
PAPER = "LIPID, the paper's"


def make(texts: Sequence[str], sheet_of: str = "") -> tuple[dict[str, dict[str, Any]], bytes]:
    """Run the recipe on texts by name (``make_prompts``).

    Args:
        texts: names of ``CORPORA``.
        sheet_of: the text whose sheet for the check by people is wanted.

    Returns:
        What the recipe counted, by text, and the sheet, a CSV file.
    """
    found, sheet = dict[str, dict[str, Any]](), b""
    for name in texts:
        with tempfile.TemporaryDirectory() as folder:
            prompts, found[name] = make_prompts(name, Path(folder))
            if name == sheet_of:
                sheet = write_sheet(prompts).read_bytes()
    return found, sheet


def recipe_tables(made: Made) -> dict[str, pd.DataFrame]:
    """``steps`` (what is left or was met, as counted), ``keywords`` and ``statistics``, each with its ``text``."""
    return {"steps": _steps(made), "keywords": _keywords(made), "statistics": _statistics(made)}


def _steps(made: Made) -> pd.DataFrame:
    rows = [
        {"text": text, "step": step, "count": count}
        for text, one in made.items()
        for step, count in one["counts"].items()
        if not step.startswith((DROPPED, ALONE))
    ]
    return pd.DataFrame(rows)


def _keywords(made: Made) -> pd.DataFrame:
    """Of the sentences with exactly one mention, how many each keyword dropped, and dropped alone."""
    rows = []
    for text, one in made.items():
        for keyword in (*KEYWORDS, PARENTHESIS):
            of, dropped, alone = (one["counts"].get(key, 0) for key in (MENTION, *_keys(keyword)))
            shares = {"share": dropped / of, "share_alone": alone / of} if of else {}
            rows.append({"text": text, "keyword": keyword, "dropped": dropped, "alone": alone, **shares})
    return pd.DataFrame(rows)


def _keys(keyword: str) -> tuple[str, str]:
    return f"{DROPPED}: {keyword}", f"{ALONE}: {keyword}"


def _statistics(made: Made) -> pd.DataFrame:
    """What the paper prints of LIPID, by text and list; ``out_of_reach`` entities are spelled as the text never is."""
    rows = [
        {"text": text, "list": kind, "listed": one["entities listed"][kind], "out_of_reach": beyond, **found}
        for text, one in made.items()
        for kind, found in one["statistics"].items()
        for beyond in [one.get(SIGNS, {}).get(kind, 0)]
    ]
    return pd.DataFrame(rows)


def published_statistics() -> pd.DataFrame:
    """The paper's own, in the columns of ``recipe_tables``'s ``statistics``."""
    names = {"mean": "mean", "sd": "standard deviation", "min": "minimum", "max": "maximum"}
    rows = []
    for kind in ("chemical", "gene"):
        sizes = {unit: float(cell("001", "text", f"LIPID {kind} {unit}", unit, "3.2.2")) for unit in SIZES}
        spread = {k: float(cell("001", "text", f"{kind} entity frequency", v, "3.2.3")) for k, v in names.items()}
        rows.append({"text": PAPER, "list": kind, **sizes, **spread})
    return pd.DataFrame(rows)


def accuracy(ranks: pd.DataFrame) -> pd.DataFrame:
    """Acc@k per prompt and Acc@1 per entity, with 95% intervals that draw whole entities.

    Prompts of one entity are alike in what a model must know, so they are drawn together.

    Args:
        ranks: rows of ``ask.ask``.

    Returns:
        One row per probe and model, and per probe one of ``GUESS``, which answers the entities in the order of how
        often the probe itself masks them: what frequency alone can reach. Columns as ``accuracy_table``, with
        ``entities`` for ``facts`` and ``per_entity, per_entity_low, per_entity_high``: the entities' own Acc@1,
        averaged.
    """
    own = ranks
    guesses = [_guess(group[group["model"] == group["model"].iloc[0]]) for _, group in own.groupby("probe", sort=False)]
    every = pd.concat([own, *guesses], ignore_index=True)
    every = every.assign(fact_id=every["object"])
    table = accuracy_table(every, ["probe", "model"]).rename(columns={"facts": "entities"})
    per_entity = []
    for _, group in every.groupby(["probe", "model"], sort=False):
        hits = pd.Series(hits_at_k(group["rank"], 1)).groupby(group["object"].to_numpy(), sort=False).mean()
        found = bootstrap_ci(hits)
        per_entity.append((found.estimate, found.low, found.high))
    columns = ["per_entity", "per_entity_low", "per_entity_high"]
    table[columns] = pd.DataFrame(per_entity, index=table.index)
    return table.sort_values("probe", key=lambda names: names.map(list(dict.fromkeys(names)).index), kind="stable")


def _guess(asked: pd.DataFrame) -> pd.DataFrame:
    """The prompts of one model, each ranked by how often its object is masked; the first met wins a tie."""
    often = Counter(asked["object"]).most_common()  # equal ones in the order of their first prompts
    order = {name: place for place, (name, _) in enumerate(often, start=1)}
    return asked.assign(model=GUESS, rank=asked["object"].map(order))
