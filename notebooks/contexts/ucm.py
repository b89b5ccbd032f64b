"""Study 2: UCM beside Acc@k on the same triples, by variant, relation, number of right objects and rarity (paper 002,
Table 2, "N-M Relations and Rare Relations Friendly")."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from probekit.errors import ReportError
from probekit.metrics.context import context_accuracy, counted, ucm_table

from notebooks.contexts.shares import (
    CONCLUSION,
    Array,
    classes,
    conclusion,
    everyone,
    lowest,
    measured,
    once,
    rises,
    several,
    together,
)

GROUPS = {
    "variant": "variant",
    "relation": "relation",
    "size": "right objects of the triple",
    "rarity": "prompts that ask for the object",
}
CLOSE = 0.05  # shares whose difference is smaller than this are called close
FEW = 20  # triples below which a source gives intervals and no judgement
GENERAL, BIOMEDICAL = "general", "biomedical"
FITTING = {"trex": GENERAL, "demo": GENERAL, "demo_bio": BIOMEDICAL, "pubmed": BIOMEDICAL, "medline": BIOMEDICAL}


def tables(done: pd.DataFrame, categories: Mapping[str, str]) -> dict[str, pd.DataFrame]:
    """All tables of UCM against Acc@k.

    Args:
        done: of ``asking.ask_all``.
        categories: what each model was trained on, as in ``models.card``.

    Returns:
        ``ucm`` and ``accuracy`` (Table 2), ``groups`` (the same by each of ``GROUPS``), ``counts`` and ``conclusions``.
        All but ``counts`` speak of triples with another correct object in a context, and of contexts around the target.

    Raises:
        ReportError: there is none.
    """
    own = several(done[done["twin"] == "target"])
    if own.empty:
        raise ReportError("no context holds another correct object, so UCM has no step to count: take more triples")
    rows, models = everyone(own), own["model"].nunique()
    return {
        "ucm": once(_ucm(rows, ["source", "model"]), models),
        "accuracy": once(context_accuracy(rows, ["source", "model"]), models),
        "groups": once(_groups(rows), models),
        "counts": _counts(done),
        "conclusions": conclusions(own, categories),
    }


def _ucm(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """UCM_k and UCM_m of every group, told apart by ``measure``."""
    level = ucm_table(rows, by, strata="relation", per_triple=True).assign(measure="UCM_k")
    return pd.concat([level, ucm_table(rows, by).assign(measure="UCM_m")], ignore_index=True)


def _groups(rows: pd.DataFrame) -> pd.DataFrame:
    """UCM_m and Acc@k by each of ``GROUPS``: ``by`` (its name) and ``group`` tell where a row belongs."""
    names = {
        "variant": rows["variant"],
        "relation": rows.get("relation_label", rows["relation"]).fillna(rows["relation"]),
        "size": classes(rows, "golds"),
        "rarity": classes(rows, "target_prompts"),
    }
    found = []
    for by, group in names.items():
        part, keys = rows.assign(by=by, group=group), ["source", "model", "by", "group"]
        ends = [f"{when}{end}" for when in ("without", "with") for end in ("", "_low", "_high")]
        hits = context_accuracy(part, keys).pivot(index=keys, columns="k", values=ends)
        hits.columns = ["{0}@{3}{1}{2}".format(*name.partition("_"), k) for name, k in hits.columns]
        found.append(ucm_table(part, keys).merge(hits.reset_index(), on=keys))
        if by in ("size", "rarity"):
            found[-1] = found[-1].sort_values("group", key=lambda names: names.map(lowest), kind="stable")
    return pd.concat(found, ignore_index=True)


def _counts(done: pd.DataFrame) -> pd.DataFrame:
    """Per source, how much there is to count, of one model's rows: all models are asked the same."""
    rows = []
    for source, part in done[done["model"] == done["model"].iloc[0]].groupby("source", sort=False):
        own = part[part["twin"] == "target"]
        kept = own[counted(own)]
        by = kept["relation"].value_counts()
        row: dict[str, object] = {"source": source, "triples": own["triple_id"].nunique()}
        row |= {"with another correct object": kept["triple_id"].nunique()}
        row |= {"steps": len(own), "steps counted": len(kept)}
        row |= {"largest relation": by.index[0] if len(by) else "", "its share": by.max() / max(1, len(kept))}
        rows.append(row)
    return pd.DataFrame(rows)


def conclusions(own: pd.DataFrame, categories: Mapping[str, str]) -> pd.DataFrame:
    """What paper 002 concludes of accuracy, domain, variants and relations, each above zero where it holds.

    Args:
        own: contexts around the target, of triples with a step that counts.
        categories: see ``tables``.

    Returns:
        Rows of ``shares.conclusion``, over all models together; a source with fewer than ``FEW`` triples gives none.
    """
    rows: list[dict[str, object]] = []
    for source, part in own.groupby("source", sort=False):
        if part["triple_id"].nunique() >= FEW:
            rows += _of_source(str(source), together(part).assign(category=part["model"].map(categories)))
    return pd.DataFrame(rows, columns=CONCLUSION)


def _of_source(source: str, rows: pd.DataFrame) -> list[dict[str, object]]:
    up, kept, first, last = rises(rows), counted(rows), rows["step"] == 1, rows["last"]

    def understand(which: pd.Series) -> tuple[pd.Series, pd.Series]:
        return up, kept & which

    def hit(which: pd.Series) -> tuple[pd.Series, pd.Series]:
        return rows["rank_before"] == 1, first & which

    def less(means: Array) -> Array:
        return means[..., 0] - means[..., 1]

    def close(means: Array) -> Array:
        return CLOSE - np.abs(less(means))

    def further(means: Array) -> Array:
        return np.abs(means[..., 0] - means[..., 1]) - np.abs(means[..., 2] - means[..., 1])

    def doubly(means: Array) -> Array:
        return means[..., 0] - means[..., 1] - (means[..., 2] - means[..., 3])

    told = []
    for claim, k in (("002-05a", 1), ("002-05b", 5)):
        with_context, without = (rows["rank_after"] <= k, last), (rows["rank_before"] <= k, first)
        told.append((claim, f"gain of Acc@{k}", measured(rows, [with_context, without], less)))
    fits = FITTING.get(source)
    if fits:
        fit, other = (rows["category"] == name for name in (fits, BIOMEDICAL if fits == GENERAL else GENERAL))
        pair = [understand(fit), understand(other)]
        told.append(("002-09a", f"models of {fits} text less the others", measured(rows, pair, less)))
    of = {name: understand(rows["variant"] == name) for name in rows["variant"].unique()}
    for claim, one, other_one in (
        ("002-11a", "real", "knowledge_only"),
        ("002-11b", "knowledge_only", "knowledge_sorted"),
    ):
        if {one, other_one} <= set(of):
            told.append((claim, f"{CLOSE} less the difference", measured(rows, [of[one], of[other_one]], close)))
    three = ["knowledge_random", "knowledge_only", "knowledge_sorted"]
    if set(three) <= set(of):
        told.append(("002-11c", "excess distance", measured(rows, [of[name] for name in three], further)))
    for claim, column, sign in (("002-14a", "golds", 1), ("002-14b", "target_prompts", -1)):
        group = classes(rows, column)
        names = sorted(group.unique(), key=lowest)[::-sign]
        if len(names) > 1:
            ends = [group == names[0], group == names[-1]]
            pair = [*map(understand, ends), *map(hit, ends)]
            told.append((claim, "Understand less Acc@1", measured(rows, pair, doubly)))
    return [conclusion(claim, source, name, found) for claim, name, found in told if found[0] == found[0]]
