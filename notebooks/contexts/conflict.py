"""Page 25: what a sentence before the question does to answers, by what it says, of whom, and where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from probekit import metrics
from probekit.metrics import accuracy_difference, contrast, spread
from probekit.metrics.bootstrap import share_ci
from probekit.probes.halves import HELD_OUT, TAUGHT
from probekit.report.charts import forest
from probekit.report.tables import pick, stacked

from notebooks.contexts import pooling
from notebooks.contexts.contradicted import CONTEXTS, COUNTER, FAR, LATE, NOTHING, OTHER, SUPPORT, UNRELATED
from notebooks.contexts.pooling import FLOOR_COLUMNS, Row, Tables, grouped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ANSWERS = {"own": "the fact's own object first", "other": "the other object first"}
EFFECTS = {  # whose place is counted, and the two contexts that are compared
    "subject": ("other", COUNTER, OTHER),
    "topic": ("own", COUNTER, UNRELATED),
    "text": ("own", NOTHING, UNRELATED),
    "evidence": ("own", SUPPORT, COUNTER),
    "place": ("other", LATE, FAR),
}
SHORT = {
    "answers": "Right without context",
    "subject_first": "Given up",
    "subject_second": "Given up, other subject",
    "subject": "Difference",
    "topic_first": "Stay right",
    "topic_second": "Stay right, unrelated fact",
    "topic": "Difference of these",
}
SPLIT = {
    "half": "Facts",
    "facts": "Number",
    "text": "Any text costs",
    "evidence": "Evidence brings",
    "subject": "Its subject adds",
    "place": "Its place adds",
}
MODELS = 6  # in the figure
CAPTIONS = {
    "shares": "First answers by model, half of the facts and context: the fact's own object, the other one, neither",
    "known": "The same of facts that are answered rightly without context",
    "given_up": "Of these, right answers that are given up for the other object, and those that stay right",
    "effects": "What a sentence before the question changes, as differences of two contexts on the same facts",
    "told": "How often the other object stands first after the contradiction, for told and for held-out facts",
    "floors": "Acc@1 without context on the told facts beside the commonest answer of each relation, and prompts cut",
}


def tables(ranked: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """All tables of the page, by model and over the models above the floor of the told facts.

    Args:
        ranked: of ``contradicted.ask_all``.

    Returns:
        ``shares`` and ``effects`` of all facts; of those that a model answers rightly without context the same as
        ``known`` and ``given_up``; ``told`` and ``floors``.
    """
    low = floors(ranked)
    bare = ranked.loc[(ranked["context"] == NOTHING) & ranked["own"], ["model", "fact_id"]]
    known = ranked.merge(bare, on=["model", "fact_id"])
    return {
        "shares": pooling.by_model(ranked, shares, ["half", "context"], low),
        "known": pooling.by_model(known, shares, ["half", "context"], low),
        "given_up": pooling.by_model(known, effects, ["half"], low),
        "effects": pooling.by_model(ranked, effects, ["half"], low),
        "told": pooling.by_model(pick(ranked, context=COUNTER), told, floor=low),
        "floors": low,
    }


def floors(ranked: pd.DataFrame) -> pd.DataFrame:
    """``metrics.floors`` of the told facts without context, as the pages of this study name its columns, and ``cut``,
    the share of a model's prompts that were longer than it."""
    bare = pick(ranked, half=TAUGHT, context=NOTHING)
    sizes = bare.groupby(["source", "probe", "model"], sort=False).agg(questions=("own", "size"), cut=("cut", "first"))
    table = sizes.reset_index().merge(metrics.floors(bare), on=["probe", "model"])
    return table.reindex(columns=[*(name for name in FLOOR_COLUMNS if name != "documents"), "cut"])


def _share(rows: pd.DataFrame, name: str) -> metrics.Interval:
    return share_ci(rows[name].astype(float), rows["fact_id"].tolist())


@grouped
def shares(rows: pd.DataFrame) -> Row:
    """Which object stands before all other candidates, as shares of the facts of every group."""
    rows = rows.assign(neither=~(rows["own"] | rows["other"]))
    row: Row = {"facts": rows["fact_id"].nunique()}
    for name in ("own", "other", "neither"):
        row |= spread(name, _share(rows, name))
    return row


@grouped
def effects(rows: pd.DataFrame) -> Row:
    """``EFFECTS`` of every group of models and facts, each as the shares after the first and the second context,
    ``x_first, x_second``, and ``x``, their difference with its interval over facts; ``answers`` are models' on
    ``facts``."""
    wide = rows.pivot(index=["model", "fact_id"], columns="context", values=["own", "other"]).astype(float)
    facts = wide.index.get_level_values("fact_id").tolist()
    row: Row = {"facts": len(set(facts)), "answers": len(facts)}
    for name, (answer, *contexts) in EFFECTS.items():
        found = contrast(wide[answer][contexts], facts=facts)
        row |= {f"{name}_first": found["first"], f"{name}_second": found["second"], name: found["difference"]}
        row |= {f"{name}_low": found["low"], f"{name}_high": found["high"]}
    return row


@grouped
def told(rows: pd.DataFrame) -> Row:
    """How often the other object stands first by half of the facts, of every group, and the difference within
    relations. Which half a fact is in was drawn, so that the difference is what telling does."""
    taught = rows["half"] == TAUGHT
    if taught.all() or not taught.any():
        return {}
    row: Row = {"facts": rows["fact_id"].nunique()}
    row |= spread("told", _share(rows[taught], "other")) | spread("held_out", _share(rows[~taught], "other"))
    ranks = rows.assign(rank=2 - rows["other"].astype(int))
    return row | spread("difference", accuracy_difference(ranks, taught, by_relation=True))


# ---- what the page shows --------------------------------------------------------------------------------------------


def figure_rows(tables: Tables) -> pd.DataFrame:
    """What the figure shows of told facts that are answered rightly without context: ``model, context, answer, share``
    with its interval, of the first ``MODELS`` models that are above the floor, or of all."""
    rows = pick(tables["known"], half=TAUGHT)
    rows = pooling.above_floor(rows[(rows["model"] != pooling.MEAN) & (rows["context"] != NOTHING)], tables["floors"])
    rows = pooling.in_order(pick(rows, model=rows["model"].unique().tolist()[:MODELS]), "model", context=CONTEXTS)
    return stacked(rows, ["model", "context"], ANSWERS, "answer", "share")


def draw(tables: Tables) -> Figure:
    """First answers after each context, a panel a model."""
    return forest(
        figure_rows(tables), "share", y="context", series="answer", panel="model", columns=2, xlabel="share of facts"
    )


def in_short(tables: Tables) -> tuple[pd.DataFrame, pd.DataFrame]:
    """``given_up`` of the told facts; the numbers, and for reading."""
    rows = pick(tables["given_up"], half=TAUGHT)
    columns = ["answers", "subject_first", "subject_second", *pooling.spans("subject")]
    columns += ["topic_first", "topic_second", *pooling.spans("topic")]
    return rows, pooling.for_reading(rows[["source", "model", *columns]], SHORT, 2)


def side_by_side(tables: Tables) -> tuple[pd.DataFrame, pd.DataFrame]:
    """``effects``, the halves of each model one below the other; the numbers, and for reading."""
    rows = pooling.in_order(tables["effects"], "model", half=[TAUGHT, HELD_OUT])
    columns = ["source", "model", "half", "facts", *pooling.spans("text", "evidence", "subject", "place")]
    return rows, pooling.for_reading(rows[columns].replace({"half": {TAUGHT: "told"}}), SPLIT, 2)
