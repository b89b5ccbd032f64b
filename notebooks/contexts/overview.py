"""What the sources of study 2 give: documents, triples with a context, entities of a context, steps (page 20)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from probekit.contexts.retrieval import COVERED, HOLDING, NAMED, READ
from probekit.metrics.context import counted
from probekit.probes.halves import HELD_OUT, SHARED, TAUGHT, halves
from probekit.report.charts import PALETTE, new_figure
from probekit.report.text import title

from notebooks.contexts.asking import Looked

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEADINGS = {
    "source": "Source",
    "model": "Model",
    "relation": "Relation",
    "label": "Label",
    "triples": "Triples",
    "read": "Documents",
    "named": "hold a subject",
    "holding": "and a target",
    "covered": "Triples with a context",
    "two": "two entities or more",
    "several": "with another correct object",
    "twins": "with a twin",
    "contexts": "Contexts",
    "entities": "Entities of a context, mean",
    "most": "most",
    "smallest": "Candidates, fewest",
    "largest": "most candidates",
    "candidates": "Candidates",
    "drawn": "Triples asked",
    "steps": "Steps asked",
    "counted": "UCM counts",
    "cut": "Cut",
    "cut_share": "Share cut",
    "half": "The fact was",
    "ready": "Steps that UCM would count",
    "share": "Share of them",
}
ALL = "all"


def tables(looked: Sequence[Looked], done: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The tables of page 20.

    Args:
        looked: sources after the search.
        done: their steps, ranked by the models.

    Returns:
        ``sources`` and ``relations`` (counts, see ``HEADINGS``), ``lengths`` (``source, entities, contexts, reach``:
        how many contexts have so many entities, and the share that has as many or more), ``halves`` (of T-REx: what
        each part of the facts of a half-taught model gives, over all relations and in each), ``cut`` (``source, model,
        steps, cut, cut_share``: inputs longer than the model).
    """
    return {
        "sources": pd.DataFrame([_source(one) for one in looked]),
        "relations": pd.concat([_relations(one) for one in looked], ignore_index=True),
        "lengths": pd.concat([_lengths(one) for one in looked], ignore_index=True),
        "halves": pd.concat([_halves(one) for one in looked if one.name == "trex"] or [pd.DataFrame()]),
        "cut": _cut(done),
    }


def _source(one: Looked) -> dict[str, object]:
    sizes = [len(entities) for entities in one.asked.attrs["entities"].values()]
    told = one.contexts
    return {
        "source": one.name,
        "triples": len(one.asked),
        "read": one.counts[READ],
        "named": one.counts[NAMED],
        "holding": one.counts[HOLDING],
        "covered": one.counts[COVERED],
        "two": told.loc[told["entities"] > 1, "triple_id"].nunique(),
        "several": told.loc[told["several"], "triple_id"].nunique(),
        "twins": told.loc[told["twin"], "triple_id"].nunique(),
        "contexts": len(told),
        "entities": float(told["entities"].mean()),
        "most": int(told["entities"].max()),
        "smallest": min(sizes),
        "largest": max(sizes),
        "drawn": one.steps["triple_id"].nunique(),
        "steps": len(one.steps),
        "counted": int(_counted(one.steps).sum()),
    }


def _relations(one: Looked) -> pd.DataFrame:
    prompts = one.probe.prompts
    labels = dict(zip(prompts["relation"], prompts.get("relation_label", prompts["relation"]), strict=True))
    rows = []
    for relation, asked in one.asked.groupby("relation", sort=False):
        told, taken = (table[table["relation"] == relation] for table in (one.contexts, one.steps))
        if len(told):
            rows.append(
                {
                    "source": one.name,
                    "relation": relation,
                    "label": labels[relation],
                    "triples": len(asked),
                    "covered": told["triple_id"].nunique(),
                    "two": told.loc[told["entities"] > 1, "triple_id"].nunique(),
                    "several": told.loc[told["several"], "triple_id"].nunique(),
                    "twins": told.loc[told["twin"], "triple_id"].nunique(),
                    "contexts": len(told),
                    "entities": float(told["entities"].mean()),
                    "candidates": len(one.asked.attrs["entities"][asked["pool"].iloc[0]]),
                    "drawn": taken["triple_id"].nunique(),
                    "steps": len(taken),
                    "counted": int(_counted(taken).sum()),
                }
            )
    return pd.DataFrame(rows).sort_values("several", ascending=False, kind="stable")


def _counted(steps: pd.DataFrame) -> pd.Series:
    """Steps that UCM counts with the target at the centre."""
    return counted(steps) & (steps["twin"] == "target")


def _lengths(one: Looked) -> pd.DataFrame:
    often = one.contexts["entities"].value_counts().reindex(range(1, one.contexts["entities"].max() + 1), fill_value=0)
    table = often.rename_axis("entities").reset_index(name="contexts")
    reach = table["contexts"][::-1].cumsum()[::-1] / len(one.contexts)
    return table.assign(reach=reach)[["entities", "contexts", "reach"]].assign(source=one.name)


def _halves(one: Looked) -> pd.DataFrame:
    """Triples by the part of their fact, asked or not; ``ready`` are steps of one variant, ``share`` of its part."""
    half = halves("trex")
    facts = one.asked.drop_duplicates("triple_id").set_index("triple_id")["fact_id"]
    told = one.contexts.assign(half=one.contexts["triple_id"].map(facts).map(half), two=one.contexts["entities"] > 1)
    rows = []
    for name in (TAUGHT, HELD_OUT, SHARED):
        part = told[told["half"] == name]
        for relation, of in [(ALL, part), *part.groupby("relation", sort=False)]:
            rows.append(
                {
                    "source": one.name,
                    "half": name,
                    "relation": relation,
                    "covered": of["triple_id"].nunique(),
                    "two": of.loc[of["two"], "triple_id"].nunique(),
                    "several": of.loc[of["several"], "triple_id"].nunique(),
                    "ready": int(of["correct"].sum()),
                    "share": of["correct"].sum() / max(1, part["correct"].sum()),
                }
            )
    return pd.DataFrame(rows).sort_values("ready", ascending=False, kind="stable")


def _cut(done: pd.DataFrame) -> pd.DataFrame:
    table = done.groupby(["source", "model"], sort=False)["cut"].agg(steps="size", cut="sum", cut_share="mean")
    return table.reset_index()


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """A table of this module as the page prints it."""
    shown = table.assign(source=[title(name) for name in table["source"]])
    for column in ("entities", "cut_share", "reach", "share"):
        if column in shown and shown[column].dtype.kind == "f":
            shown[column] = shown[column].map(lambda value: f"{value:.3f}")
    if "label" in shown and (shown["label"] == shown["relation"]).all():
        shown = shown.drop(columns="label")
    names = HEADINGS | {"reach": "Share with as many or more"}
    if "reach" in shown:
        names["entities"] = "Entities"
    return shown.rename(columns=names)


def answer(table: pd.DataFrame) -> str:
    """Of ``sources``: how many triples get a context and how many of them a step that UCM counts, in one sentence."""
    told = [
        f"{row.covered:,} of {row.triples:,} triples of {title(row.source)}, "
        f"{row.several:,} of them with another correct object"
        for row in table.itertuples()
    ]
    return (
        f"**The answer.** A document that names subject and target was found for {'; for '.join(told)}. "
        "Only where another correct object stands beside the target can a step show understanding."
    )


def parts_of(halves: pd.DataFrame) -> pd.DataFrame:
    """Of ``halves``: the rows over all relations, without the columns that only a relation has."""
    return halves[halves["relation"] == ALL].drop(columns=["relation", "share"])


def largest(halves: pd.DataFrame) -> str:
    """Of ``halves``: how much there is over all parts, and how much of it is one relation's, in a sentence."""
    each = halves[halves["relation"] != ALL].groupby("relation")[["several", "ready"]].sum()
    whole = parts_of(halves)[["covered", "two", "several", "ready"]].sum()
    first = each["ready"].idxmax()
    return (
        f"Of {whole['covered']:,} triples of {title('trex')} with a document, {whole['two']:,} have two or more "
        f"entities of the type there and {whole['several']:,} another correct object, with {whole['ready']:,} steps of "
        f"a variant that UCM would count; {first} alone has {each.loc[first, 'several']:,} of these triples and "
        f"{each.loc[first, 'ready'] / max(1, whole['ready']):.0%} of the steps."
    )


def draw(lengths: pd.DataFrame) -> Figure:
    """Share of contexts that name at least so many entities of the pool, a line a source."""
    figure, (ax,) = new_figure(height=2.8)
    for number, (source, of) in enumerate(lengths.groupby("source", sort=False)):
        colour, marker = PALETTE[number % len(PALETTE)], "osD^v"[number % 5]
        ax.plot(of["entities"], of["reach"], marker=marker, color=colour, label=title(str(source)), markersize=4)
    ax.set_xlabel("entities of the pool in a context, at least")
    ax.set_ylabel("share of contexts")
    ax.set_ylim(0, 1.05)
    ax.set_xlim(0.5)
    ax.legend()
    return figure


def describe(lengths: pd.DataFrame) -> str:
    """The chart in words."""
    two = lengths[lengths["entities"] == 2]
    told = "; ".join(f"{title(row.source)}: {row.reach:.2f} have at least two" for row in two.itertuples())
    return f"Line chart of the share of contexts by the number of entities they name. {told}."


def skipped(sources: pd.DataFrame, cut: pd.DataFrame) -> str:
    """What a run could not use, in sentences: triples without a context, and inputs that were cut."""
    told = [
        f"{title(row.source)}: {row.triples - row.covered:,} of {row.triples:,} triples have no document, and "
        f"{row.covered - row.twins:,} of the others have no incorrect entity in it, so no twin"
        for row in sources.itertuples()
    ]
    length = (
        f"Cut were at most {cut['cut_share'].max():.1%} of the steps of a model on a source."
        if cut["cut"].any()
        else "No input was longer than its model."
    )
    return f"Left out: {'; '.join(told)}. {length}"
