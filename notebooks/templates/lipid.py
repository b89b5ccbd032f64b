"""Page 19, LIPID (paper 001, sections 3.2.2, 3.2.3): what its recipe leaves, how models fill its prompts."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from scipy import stats

from probekit.files import digest
from probekit.metrics import KS, Interval, accuracy_table, bootstrap_ci, hits_at_k, share_ci, spread
from probekit.probes.lipid.corpora import HOMONYMS, SIGNS, make_prompts
from probekit.probes.lipid.prompts import ALONE, DROPPED, KEYWORDS, MENTION, PARENTHESIS
from probekit.probes.lipid.sheet import write_sheet
from probekit.probes.probe import read_rows
from probekit.report.tables import by, per, pick, stacked
from probekit.report.text import plain, title

from notebooks.templates.ask import Tables
from notebooks.templates.paper import number as printed
from notebooks.templates.text import GUESS

JUDGED = Path(__file__).with_name("lipid_judged.csv")  # prompts of ``PUBMED`` by id and digest, and their judgements
Made = Mapping[str, Mapping[str, Any]]  # what ``build`` returned, by text
PUBMED = "pubmed"
PAPER = "LIPID, the paper's"
CAPTIONS = {
    "statistics": "Prompts per entity, by text and list",
    "steps": "What is left after each step of the recipe",
    "accuracy": "Accuracy on the prompts of the recipe, per prompt and per entity",
    "homonyms": "Acc@1 with and without names that mostly mean something else, and their share of the right answers",
    "precision": "How many masked names mean the listed entity: a sample of the PubMed prompts, judged by one reader",
    "judged": "The prompts of that sample by their ids, and whether the masked name means the listed entity",
    "keywords": "Sentences with exactly one mention that each keyword drops, and drops alone",
    "sheet": "The sheet for the check by people, not filled in, from the demo world",
}


def make(texts: Sequence[str]) -> tuple[dict[str, dict[str, Any]], pd.DataFrame, pd.DataFrame]:
    """Run the recipe on texts by name (``make_prompts``).

    Args:
        texts: names of ``CORPORA``.

    Returns:
        What the recipe counted, by text; the sheet for the check by people of the demo world, empty without it, since
        the sentences of other texts are not for passing on; and of ``PUBMED`` what ``judged`` returns.
    """
    made, sheet, judgements = dict[str, dict[str, Any]](), pd.DataFrame(), pd.DataFrame()
    for name in texts:
        with tempfile.TemporaryDirectory() as folder:
            prompts, made[name] = make_prompts(name, Path(folder))
            if name.startswith("demo"):
                sheet = pd.read_csv(write_sheet([*prompts.values()]), dtype=str).fillna("")
            if name == PUBMED:
                rows = {row["prompt_id"]: row for path in prompts.values() for row in read_rows(path)}
                judgements = judged(pd.read_csv(JUDGED, dtype=str), rows, made[name][HOMONYMS])
    return made, sheet, judgements


def judged(
    sample: pd.DataFrame, prompts: Mapping[str, Mapping[str, Any]], homonyms: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    """The judged prompts among those that the recipe made: ``list, prompt_id, homonym, meant``.

    Args:
        sample: ``list, prompt_id, prompt`` (the digest of its text and gold), ``meant`` (yes or no).
        prompts: rows of ``build`` by prompt id; one of other words is another prompt, and is left out.
        homonyms: names of each list that mostly mean something else.
    """
    rows = []
    for row in sample.to_dict("records"):
        prompt = prompts.get(row["prompt_id"], {"text": "", "gold": [""]})
        if digest(prompt["text"], prompt["gold"][0]) == row["prompt"]:
            ids = {"list": row["list"], "prompt_id": row["prompt_id"]}
            homonym = prompt["gold"][0] in homonyms[row["list"]]
            rows.append(ids | {"homonym": homonym, "meant": row["meant"] == "yes"})
    return pd.DataFrame(rows)


def recipe_tables(made: Made) -> dict[str, pd.DataFrame]:
    """``steps`` (what is left or was met, as counted), ``keywords`` and ``statistics``, each with its ``text``."""
    return {"steps": _steps(made), "keywords": _keywords(made), "statistics": _statistics(made)}


def _steps(made: Made) -> pd.DataFrame:
    return pd.DataFrame(
        {"text": text, "step": step, "count": count}
        for text, counted in made.items()
        for step, count in counted["counts"].items()
        if not step.startswith((DROPPED, ALONE))
    )


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
    return pd.DataFrame(
        {"text": text, "list": kind, "listed": counted["entities listed"][kind]}
        | {"out_of_reach": counted.get(SIGNS, {}).get(kind, 0), **values}
        for text, counted in made.items()
        for kind, values in counted["statistics"].items()
    )


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
    all_rows = pd.concat([ranks, *guesses], ignore_index=True)
    all_rows = all_rows.assign(fact_id=all_rows["object"])
    table = accuracy_table(all_rows, ["probe", "model"]).rename(columns={"facts": "entities"})
    table = table.merge(_per_entity(all_rows), on=["probe", "model"], validate="1:1")
    return table.sort_values("probe", key=lambda names: names.map(list(dict.fromkeys(names)).index), kind="stable")


@per("probe", "model")
def _per_entity(group: pd.DataFrame) -> dict[str, float]:
    hits = pd.Series(hits_at_k(group["rank"], 1)).groupby(group["object"].to_numpy(), sort=False).mean()
    return spread("per_entity", bootstrap_ci(hits))


@per("probe", "model")
def homonym_table(ranks: pd.DataFrame) -> dict[str, Any] | None:
    """How much of an accuracy are words such as *lead* and *contrast*, which a sentence rarely means as the list does.

    Returns:
        Per probe and model ``prompts, homonyms`` (prompts of such names), ``right``, ``right_homonyms``, ``share`` of
        the right answers, and ``with_all`` and ``without``, Acc@1 with 95% intervals that draw entities. Empty where no
        prompt is of such a name.
    """
    homonym, hits = ranks.get("homonym", pd.Series(False, ranks.index)), hits_at_k(ranks["rank"], 1)
    homonym = homonym.fillna(False).astype(bool)
    if not homonym.any() or homonym.all():
        return None
    row = {"prompts": len(ranks), "homonyms": int(homonym.sum()), "right": int(hits.sum())}
    row |= {"right_homonyms": int(hits[homonym].sum())}
    share = row["right_homonyms"] / row["right"] if row["right"] else float("nan")
    return row | {"share": share} | spread("with_all", _shares(ranks)) | spread("without", _shares(ranks[~homonym]))


def _shares(group: pd.DataFrame) -> Interval:
    return share_ci(hits_at_k(group["rank"], 1), group["object"].tolist())


@per("list")
def precision(sample: pd.DataFrame) -> dict[str, Any]:
    """Share of prompts whose masked name means the listed entity, with and without homonyms.

    Args:
        sample: of ``judged``, drawn at random from the prompts of each list.

    Returns:
        Per list ``judged, meant`` and ``with_all``, ``homonyms`` among them, how many of these ``homonyms_meant``, and
        ``without``, the share of the rest; shares with exact 95% intervals (Clopper-Pearson), prompts taken as
        independent. One reader judged, so that no agreement is known.
    """
    meant, homonym = sample["meant"].astype(bool), sample["homonym"].astype(bool)
    row = {"judged": len(sample), "meant": int(meant.sum()), "homonyms": int(homonym.sum())}
    row |= {"homonyms_meant": int((meant & homonym).sum())}
    return row | _exact("with_all", meant) | _exact("without", meant[~homonym])


def _exact(name: str, hits: pd.Series) -> dict[str, float]:
    ends = stats.binomtest(int(hits.sum()), len(hits)).proportion_ci(0.95)
    return {name: float(hits.mean()), f"{name}_low": float(ends.low), f"{name}_high": float(ends.high)}


def _guess(prompts: pd.DataFrame) -> pd.DataFrame:
    """The prompts of one model, each ranked by how often its object is masked; the first met wins a tie."""
    often = Counter(prompts["object"]).most_common()  # equal ones in the order of their first prompts
    order = {name: place for place, (name, _) in enumerate(often, start=1)}
    return prompts.assign(model=GUESS, rank=prompts["object"].map(order))


# ---- what the page shows -------------------------------------------------------------------------------------------


def accuracy_long(tables: Tables) -> pd.DataFrame:
    """For ``forest``: ``share`` of prompts, per probe, model and ``measured`` (Acc@1, Acc@5, Acc@10)."""
    measured = {f"acc@{k}": f"Acc@{k}" for k in KS}
    return stacked(tables["accuracy"], ["probe", "model"], measured, "measured", "share")


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
    rounded = rounded.replace({"out_of_reach": {0: float("nan")}})  # not counted
    return rounded.map(plain).rename(columns=lambda name: "SD" if name == "sd" else name.replace("_", " ").capitalize())
