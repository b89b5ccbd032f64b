"""Page 19, LIPID (paper 001, sections 3.2.2, 3.2.3): what its recipe leaves, how models fill its prompts."""

from __future__ import annotations

import io
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from scipy import stats

from probekit.metrics import Interval, accuracy_table, bootstrap_ci, hits_at_k, share_ci, spread
from probekit.metrics.decisions import enough
from probekit.probes.lipid.corpora import SIGNS, make_prompts
from probekit.probes.lipid.prompts import ALONE, DROPPED, KEYWORDS, MENTION, PARENTHESIS, PROMPTS, SENTENCES
from probekit.probes.lipid.sheet import write_sheet
from probekit.report.tables import by, pick
from probekit.report.text import escape, number, plain, title

from notebooks.templates.paper_tables import number as printed

JUDGED = (  # prompts of ``pubmed`` read one by one, drawn at random of each kind: list, homonym, prompts, of the entity
    ("chemical", True, 20, 4),
    ("chemical", False, 30, 30),
    ("gene", True, 20, 0),
    ("gene", False, 30, 25),
)
Made = Mapping[str, Mapping[str, Any]]  # what ``build`` returned, by text
GUESS = "frequency alone"  # asked without a model
PAPER = "LIPID, the paper's"
CAPTIONS = {
    "statistics": "Prompts per entity, by text and list",
    "steps": "What is left after each step of the recipe",
    "accuracy": "Accuracy on the prompts of the recipe, per prompt and per entity",
    "homonyms": "Acc@1 with and without names that mostly mean something else, and their share of the right answers",
    "precision": "How many masked names mean the listed entity: a sample of the PubMed prompts, judged by one reader",
    "keywords": "Sentences with exactly one mention that each keyword drops, and drops alone",
    "sheet": "The sheet for the check by people, not filled in, from the demo world",
}
Tables = Mapping[str, pd.DataFrame]


def make(texts: Sequence[str]) -> tuple[dict[str, dict[str, Any]], pd.DataFrame]:
    """Run the recipe on texts by name (``make_prompts``).

    Args:
        texts: names of ``CORPORA``.

    Returns:
        What the recipe counted, by text, and the sheet for the check by people of the demo world, empty without it:
        the sentences of other texts are not for passing on.
    """
    found, sheet = dict[str, dict[str, Any]](), pd.DataFrame()
    for name in texts:
        with tempfile.TemporaryDirectory() as folder:
            prompts, found[name] = make_prompts(name, Path(folder))
            if name.startswith("demo"):
                sheet = pd.read_csv(io.BytesIO(write_sheet(prompts).read_bytes()), dtype=str, keep_default_na=False)
    return found, sheet


def recipe_tables(made: Made) -> dict[str, pd.DataFrame]:
    """``steps`` (what is left or was met, as counted), ``keywords`` and ``statistics``, each with its ``text``."""
    return {"steps": _steps(made), "keywords": _keywords(made), "statistics": _statistics(made)}


def _steps(made: Made) -> pd.DataFrame:
    rows = [
        {"text": text, "step": step, "count": count}
        for text, counted in made.items()
        for step, count in counted["counts"].items()
        if not step.startswith((DROPPED, ALONE))
    ]
    return pd.DataFrame(rows)


def _keywords(made: Made) -> pd.DataFrame:
    """Of the sentences with exactly one mention, how many each keyword dropped, and dropped alone."""
    rows = []
    for text, counted in made.items():
        for keyword in (*KEYWORDS, PARENTHESIS):
            keys = (MENTION, f"{DROPPED}: {keyword}", f"{ALONE}: {keyword}")
            mentions, dropped, alone = (counted["counts"].get(key, 0) for key in keys)
            shares = {"share": dropped / mentions, "share_alone": alone / mentions} if mentions else {}
            rows.append({"text": text, "keyword": keyword, "dropped": dropped, "alone": alone, **shares})
    return pd.DataFrame(rows)


def _statistics(made: Made) -> pd.DataFrame:
    """What the paper prints of LIPID, by text and list; ``out_of_reach`` entities are spelled as the text never is."""
    rows = [
        {"text": text, "list": kind, "listed": counted["entities listed"][kind]}
        | {"out_of_reach": counted.get(SIGNS, {}).get(kind, 0), **found}
        for text, counted in made.items()
        for kind, found in counted["statistics"].items()
    ]
    return pd.DataFrame(rows)


def published_statistics() -> pd.DataFrame:
    """The paper's own, in the columns of ``recipe_tables``'s ``statistics``."""
    names = {"mean": "mean", "sd": "standard deviation", "min": "minimum", "max": "maximum"}
    rows = []
    for kind in ("chemical", "gene"):
        sizes = {unit: printed("3.2.2", f"LIPID {kind} {unit}", unit) for unit in ("prompts", "entities")}
        spreads = {name: printed("3.2.3", f"{kind} entity frequency", column) for name, column in names.items()}
        rows.append({"text": PAPER, "list": kind, **sizes, **spreads})
    return pd.DataFrame(rows)


def accuracy(ranks: pd.DataFrame) -> pd.DataFrame:
    """Acc@k per prompt and Acc@1 per entity, with 95% intervals that draw whole entities.

    Prompts of one entity are alike in what a model must know, so they are drawn together.

    Args:
        ranks: rows of ``ask.ask_all``.

    Returns:
        One row per probe and model, and per probe one of ``GUESS``, which answers the entities in the order of how
        often the probe itself masks them: what frequency alone can reach. Columns as ``accuracy_table``, with
        ``entities`` for ``facts`` and ``per_entity, per_entity_low, per_entity_high``: the entities' own Acc@1,
        averaged.
    """
    guesses = [_guess(pick(group, model=group["model"].iloc[0])) for _, group in by(ranks, ["probe"])]
    every = pd.concat([ranks, *guesses], ignore_index=True)
    every = every.assign(fact_id=every["object"])
    table = accuracy_table(every, ["probe", "model"]).rename(columns={"facts": "entities"})
    per_entity = []
    for _, group in by(every, ["probe", "model"]):
        hits = pd.Series(hits_at_k(group["rank"], 1)).groupby(group["object"].to_numpy(), sort=False).mean()
        per_entity.append(spread("per_entity", bootstrap_ci(hits)))
    table = table.join(pd.DataFrame(per_entity, index=table.index))
    return table.sort_values("probe", key=lambda names: names.map(list(dict.fromkeys(names)).index), kind="stable")


def homonym_table(ranks: pd.DataFrame) -> pd.DataFrame:
    """How much of an accuracy are words such as *lead* and *contrast*, which a sentence rarely means as the list does.

    Returns:
        Per probe and model ``prompts, homonyms`` (prompts of such names), ``right``, ``right_homonyms``, ``share`` of
        the right answers, and ``with_all`` and ``without``, Acc@1 with 95% intervals that draw entities. Empty where no
        prompt is of such a name.
    """
    if "homonym" not in ranks:
        return pd.DataFrame()
    rows = []
    for about, group in by(ranks, ["probe", "model"]):
        known, hits = group["homonym"].fillna(False).astype(bool), hits_at_k(group["rank"], 1)
        if known.any() and not known.all():
            row = about | {"prompts": len(group), "homonyms": int(known.sum()), "right": int(hits.sum())}
            row |= {"right_homonyms": int(hits[known].sum())}
            row["share"] = row["right_homonyms"] / row["right"] if row["right"] else float("nan")
            rows.append(row | spread("with_all", _shares(group)) | spread("without", _shares(group[~known])))
    return pd.DataFrame(rows)


def _shares(group: pd.DataFrame) -> Interval:
    return share_ci(hits_at_k(group["rank"], 1), group["object"].tolist())


def homonym_sentence(tables: Tables) -> str:
    """Of the model with the most right answers on each probe, what share they are of such names."""
    rows = tables["homonyms"]
    parts = []
    for _, part in by(rows, ["probe"]) if len(rows) else ():
        best = part.loc[part["right"].idxmax()]
        parts.append(
            f"on {escape(title(best['probe']))} {best['share']:.0%} of the right answers of {title(best['model'])}, "
            f"whose Acc@1 is {number(best['with_all'])} with them and {number(best['without'])} without"
        )
    return f"Words that the list names and the sentence rarely means are {'; '.join(parts)}." if parts else ""


def precision(ranks: pd.DataFrame) -> pd.DataFrame:
    """Share of prompts whose masked name means the listed entity, with and without homonyms, from ``JUDGED``.

    Returns:
        Per list ``homonyms`` (their share of the prompts asked), ``judged``, ``without`` them (with its exact 95%
        interval, prompts taken as independent), and ``with_all``, both kinds weighted by their shares. One reader
        judged, so that no agreement is known. Empty where the prompts are not those that were judged.
    """
    rows = []
    for kind in dict.fromkeys(name for name, *_ in JUDGED):
        asked = pick(ranks, probe=f"pubmed/{kind}").drop_duplicates("prompt_id")
        if len(asked):
            share = float(asked["homonym"].astype(bool).mean())
            counts = {homonym: (n, right) for name, homonym, n, right in JUDGED if name == kind}
            (others, meant), (n, right) = counts[True], counts[False]
            ends = stats.binomtest(right, n).proportion_ci(0.95)
            row = {"list": kind, "homonyms": share, "judged": n + others, "without": right / n}
            row |= {"without_low": float(ends.low), "without_high": float(ends.high)}
            mixed = share * meant / others + (1 - share) * right / n
            rows.append(row | {"with_all": mixed})
    return pd.DataFrame(rows)


def _guess(asked: pd.DataFrame) -> pd.DataFrame:
    """The prompts of one model, each ranked by how often its object is masked; the first met wins a tie."""
    often = Counter(asked["object"]).most_common()  # equal ones in the order of their first prompts
    order = {name: place for place, (name, _) in enumerate(often, start=1)}
    return asked.assign(model=GUESS, rank=asked["object"].map(order))


# ---- what the page shows -------------------------------------------------------------------------------------------


def answer(tables: Tables) -> str:
    """What the recipe leaves of the first text, and the best model on the first probe beside frequency alone."""
    first = tables["steps"]["text"].iloc[0]
    counts = pick(tables["steps"], text=first).set_index("step")["count"]
    text = (
        f"Of {counts[SENTENCES]:,} sentences of {escape(title(first))}, the recipe leaves {counts[PROMPTS]:,} prompts."
    )
    for about, rows in by(tables["accuracy"], ["probe"]):
        rows, few = enough(rows, "prompts", f"prompts of {escape(title(about['probe']))}")
        if few:
            text += f" {few}"
            continue
        name, best, guess = escape(title(about["probe"])), _best(rows), pick(rows, model=GUESS).iloc[0]
        if about["probe"] == tables["accuracy"]["probe"].iloc[0]:
            text += (
                f" On {name}, the best model, {title(best['model'])}, has the masked entity first in "
                f"{best['acc@1']:.0%} of the prompts, where naming the most frequent one reaches {guess['acc@1']:.0%}."
            )
        elif best["acc@1"] <= guess["acc@1"]:
            text += f" On {name}, no model does better than naming the most frequent entity."
    return text


def _best(rows: pd.DataFrame) -> pd.Series:
    asked = rows[rows["model"] != GUESS]
    return asked.loc[asked["acc@1"].idxmax()]


def caution(tables: Tables) -> str:
    """How much of the best model's accuracy is that of a few frequent entities, on the first probe."""
    probe = tables["accuracy"]["probe"].iloc[0]
    best = _best(pick(tables["accuracy"], probe=probe))
    return (
        "Where every entity counts alike, however many prompts it fills, "
        f"{title(best['model'])} reaches {number(100 * best['per_entity'], 1)}% on {escape(title(probe))}."
    )


def accuracy_long(tables: Tables) -> pd.DataFrame:
    """For ``forest``: ``share`` of prompts, per probe, model and ``measured`` (Acc@1, Acc@5, Acc@10)."""
    rows = [
        {"probe": row["probe"], "model": row["model"], "measured": f"Acc@{k}"}
        | {"share": row[f"acc@{k}"], "share_low": row[f"low@{k}"], "share_high": row[f"high@{k}"]}
        for row in tables["accuracy"].to_dict("records")
        for k in (1, 5, 10)
    ]
    return pd.DataFrame(rows)


def steps_shown(steps: pd.DataFrame) -> pd.DataFrame:
    """A row per step, a column per text, as text."""
    wide = steps.pivot(index="step", columns="text", values="count")
    wide = wide.loc[steps["step"].unique(), steps["text"].unique()]
    return wide.map(plain).rename(columns=title).rename_axis(columns=None).reset_index(names="Step")


def statistics(tables: Tables, paper: bool) -> pd.DataFrame:
    """``statistics``, with ``paper`` the paper's own first."""
    ours = tables["statistics"]
    return pd.concat([published_statistics(), ours], ignore_index=True)[list(ours)] if paper else ours


def statistics_shown(table: pd.DataFrame) -> pd.DataFrame:
    """For reading: whole numbers, and two decimals as the paper prints them."""
    rounded = table.assign(text=table["text"].map(title), mean=table["mean"].round(2), sd=table["sd"].round(2))
    return rounded.map(plain).rename(columns=lambda name: "SD" if name == "sd" else name.replace("_", " ").capitalize())


def keyword_sentence(tables: Tables) -> str:
    """The keyword that drops most on its own, per text."""
    most = tables["keywords"].sort_values("share_alone").groupby("text").tail(1).set_index("text")
    parts = (
        f"`{most.loc[text, 'keyword']}` in {escape(title(text))} ({most.loc[text, 'share_alone']:.1%})"
        for text in tables["keywords"]["text"].unique()
    )
    return f"Alone, most sentences are dropped by {', '.join(parts)}."
