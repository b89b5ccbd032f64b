"""Page 20, contexts (paper 002, "Context Segmentation and Retrieval"): what the sources give, a context as it grows.

The growing context is HTML without scripts. Its colours only repeat what labels say. Everything a document, a probe or
a model wrote is escaped.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from html import escape as html_escape
from typing import TYPE_CHECKING, Any

import pandas as pd

from probekit.contexts.retrieval import COVERED, HOLDING, NAMED, READ
from probekit.contexts.segments import Segment, around
from probekit.contexts.variants import negative_centre
from probekit.demo.world.contexts import demo_contexts
from probekit.metrics.context import counted
from probekit.probes.halves import HELD_OUT, SHARED, TAUGHT, halves
from probekit.report.charts import lines
from probekit.report.charts import told as in_words
from probekit.report.tables import pick, readable
from probekit.report.text import title

from notebooks.contexts.ask import Looked, look
from notebooks.contexts.pooling import named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Tables = Mapping[str, pd.DataFrame]
ALL = "all"
FEW_EXAMPLES = 24  # triples of the demo world among which one is chosen
COLOURS = 6  # of segments, in turn
VARIANTS = {
    "real": "Real context",
    "knowledge_only": "Knowledge-only context",
    "knowledge_sorted": "Knowledge-sorted context",
    "knowledge_random": "Knowledge-random context",
}
CENTRES = {"target": "the target at the centre", "negative": "the negative target at the centre"}
HEADINGS = {
    "covered": "With a document",
    "two": "Two entities or more",
    "several": "Another correct object",
    "twins": "With a twin",
    "entities": "Entities of a context, mean",
    "drawn": "Triples asked",
    "counted": "Steps that UCM counts",
}
CAPTIONS = {
    "sources": "What each source gives: documents that were searched, triples with a context, and what was asked",
    "relations": "The same by relation; relations without a context are left out",
    "halves": "What the parts of the T-REx facts of a half-taught model give, over all relations and in each",
    "lengths": "Contexts by the number of entities of the target's type that they name",
    "cut": "Steps whose added entity does not fit into the model, or whose input does not change: UCM leaves them out",
}


def tables(looked: Sequence[Looked], ranked: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The tables of the page.

    Args:
        looked: sources after the search.
        ranked: their steps, ranked by the models.

    Returns:
        ``sources`` and ``relations`` (counts: documents ``read``, that hold a subject, and a target too; triples
        ``covered`` by a document, with ``two`` entities in it, ``several`` right ones, a twin), ``lengths`` (``source,
        entities, contexts, reach``: how many contexts have so many entities, and the share that has as many or more),
        ``halves`` (of T-REx: what each part of the facts of a half-taught model gives, over all relations and in each),
        ``cut`` (``source, model, steps, cut, cut_share, same``, and ``unfinished``, the share of contexts of real text
        around the target whose last entity did not fit).
    """
    return {
        "sources": pd.DataFrame([_source(one) for one in looked]),
        "relations": pd.concat([_relations(one) for one in looked], ignore_index=True),
        "lengths": pd.concat([_lengths(one) for one in looked], ignore_index=True),
        "halves": pd.concat([_halves(one) for one in looked if one.name == "trex"] or [pd.DataFrame()]),
        "cut": _cut(ranked),
    }


def _source(one: Looked) -> dict[str, object]:
    sizes = [len(entities) for entities in one.asked.attrs["entities"].values()]
    contexts = one.contexts
    return {
        "source": one.name,
        "triples": len(one.asked),
        "read": one.counts[READ],
        "named": one.counts.get(NAMED),  # not counted where documents are looked up in an index
        "holding": one.counts[HOLDING],
        "covered": one.counts[COVERED],
        "two": contexts.loc[contexts["entities"] > 1, "triple_id"].nunique(),
        "several": contexts.loc[contexts["several"], "triple_id"].nunique(),
        "twins": contexts.loc[contexts["twin"], "triple_id"].nunique(),
        "contexts": len(contexts),
        "entities": float(contexts["entities"].mean()),
        "most": int(contexts["entities"].max()),
        "smallest": min(sizes),
        "largest": max(sizes),
        "drawn": one.steps["triple_id"].nunique(),
        "steps": len(one.steps),
        "counted": int(_counted(one.steps).sum()),
    }


def _relations(one: Looked) -> pd.DataFrame:
    prompts = one.probe.prompts
    labels = dict(zip(prompts["relation"], prompts.get("relation_label", prompts["relation"]), strict=True))
    known = dict(zip(prompts["relation"], prompts.get("kind", [""] * len(prompts)), strict=True))
    rows = []
    for relation, asked in one.asked.groupby("relation", sort=False):
        contexts, steps = (table[table["relation"] == relation] for table in (one.contexts, one.steps))
        if len(contexts):
            rows.append(
                {
                    "source": one.name,
                    "relation": relation,
                    "label": labels[relation],
                    "kind": known[relation],
                    "triples": len(asked),
                    "covered": contexts["triple_id"].nunique(),
                    "two": contexts.loc[contexts["entities"] > 1, "triple_id"].nunique(),
                    "several": contexts.loc[contexts["several"], "triple_id"].nunique(),
                    "twins": contexts.loc[contexts["twin"], "triple_id"].nunique(),
                    "contexts": len(contexts),
                    "entities": float(contexts["entities"].mean()),
                    "candidates": len(one.asked.attrs["entities"][asked["pool"].iloc[0]]),
                    "drawn": steps["triple_id"].nunique(),
                    "steps": len(steps),
                    "counted": int(_counted(steps).sum()),
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
    contexts = one.contexts.assign(
        half=one.contexts["triple_id"].map(facts).map(half), two=one.contexts["entities"] > 1
    )
    rows = []
    for name in (TAUGHT, HELD_OUT, SHARED):
        part = contexts[contexts["half"] == name]
        for relation, group in [(ALL, part), *part.groupby("relation", sort=False)]:
            rows.append(
                {
                    "source": one.name,
                    "half": name,
                    "relation": relation,
                    "covered": group["triple_id"].nunique(),
                    "two": group.loc[group["two"], "triple_id"].nunique(),
                    "several": group.loc[group["several"], "triple_id"].nunique(),
                    "ready": int(group["correct"].sum()),
                    "share": group["correct"].sum() / max(1, part["correct"].sum()),
                }
            )
    return pd.DataFrame(rows).sort_values("ready", ascending=False, kind="stable")


def _cut(ranked: pd.DataFrame) -> pd.DataFrame:
    table = ranked.groupby(["source", "model"], sort=False)["cut"].agg(steps="size", cut="sum", cut_share="mean")
    table["same"] = ranked.groupby(["source", "model"], sort=False)["same"].sum()
    ends = pick(ranked, last=True, variant="real", twin="target")
    table["unfinished"] = ends.groupby(["source", "model"], sort=False)["cut"].mean()
    return table.reset_index()


def answer(tables: Tables) -> str:
    """Of the source with most triples to count, how many have a document and how many another right answer in it, and
    how much of that is one relation's."""
    row = tables["sources"].sort_values("several", ascending=False, kind="stable").iloc[0]
    each = pick(tables["relations"], source=row["source"])
    if not each["counted"].sum():
        return (
            f"Of {row['triples']:,} facts of {named(row['source'])}, none has what the method needs: a document that "
            "names the subject, the answer and another right answer."
        )
    first = each.loc[each["counted"].idxmax()]
    share = first["counted"] / each["counted"].sum()
    return (
        f"Of {row['triples']:,} facts of {named(row['source'])}, only {row['several']:,} "
        f"({row['several'] / row['triples']:.0%}) have what the method needs: a document that names the subject, the "
        f"answer and another right answer. Of the steps that these give, one entity added each time, {share:.0%} are "
        f"about one relation, “{first['label']}”"
        + (", and so are most results of the next pages." if share > 0.5 else ".")
    )


def kinds(tables: Tables) -> str:
    """Of the same source, how the steps that UCM counts divide over the kinds of relations that LAMA tells."""
    row = tables["sources"].sort_values("several", ascending=False, kind="stable").iloc[0]
    each = pick(tables["relations"], source=row["source"])
    each = each[each["kind"].fillna("") != ""] if "kind" in each else each.iloc[:0]
    if each.empty:
        return ""
    steps = each.groupby("kind")["counted"].sum().sort_values(ascending=False)
    parts = " and ".join(f"{count / steps.sum():.0%} of {kind} relations" for kind, count in steps.items() if count)
    return f"By the kinds that the data give to relations, these steps are {parts}."


def taught(tables: Tables) -> str:
    """How much the facts of a half-taught model give over all parts."""
    table = tables["halves"]
    if table.empty:
        return "No source of this run has facts of which one half was taught."
    whole = pick(table, relation=ALL).set_index("half")["several"]
    parts = ", ".join(f"{whole[name]:,} {name}" for name in (TAUGHT, HELD_OUT, SHARED) if name in whole)
    return (
        f"Of {whole.sum():,} triples of {title('trex')} with another correct object, by what a half-taught model was "
        f"told: {parts}."
    )


def cut(tables: Tables) -> str:
    """How many inputs were longer than their model, in a sentence."""
    share = tables["cut"]["cut_share"].max()
    if not share:
        return "Every added entity fitted into its model."
    ends = tables["cut"]["unfinished"].max()
    return (
        f"The added entity did not fit into the model in at most {share:.1%} of the steps of a model on a source, and "
        f"the last one in at most {ends:.0%} of its contexts of real text."
    )


def in_short(tables: Tables) -> pd.DataFrame:
    """``sources`` for reading, its main columns."""
    columns = ["source", "triples", "covered", "several", "twins", "contexts", "entities", "drawn", "counted"]
    return readable(tables["sources"][columns], HEADINGS, digits=2)


def draw(tables: Tables) -> Figure:
    """Share of contexts that name at least so many entities of the pool, a line a source."""
    return lines(
        tables["lengths"],
        "entities",
        "reach",
        series="source",
        xlabel="entities of the target's type, at least",
        ylabel="share of contexts",
        finish=_from_zero,
    )


def _from_zero(ax: Axes) -> None:
    ax.set_ylim(0, 1.05)


def described(tables: Tables) -> str:
    """The chart in words."""
    return "Line chart of the share of contexts with at least two entities. " + in_words(
        pick(tables["lengths"], entities=2), "reach", "source"
    )


# A context as it grows


def role(entity: str, target: str, correct: Collection[str]) -> str:
    """What an entity is for a triple: target, correct or incorrect."""
    return "target" if entity == target else "correct" if entity in correct else "incorrect"


def coloured(text: str, segments: Sequence[Segment], target: str, correct: Collection[str]) -> str:
    """The document with its segments numbered and coloured, and the entity of each named as what it is.

    Args:
        text: the document's.
        segments: of it, S1 first.
        target: O_t.
        correct: all correct objects.
    """
    parts, place = [], 0
    for number, segment in sorted(enumerate(segments), key=lambda pair: pair[1].start):
        before, after = text[segment.start : segment.first], text[segment.last : segment.end]
        parts.append(_text(text[place : segment.start]))
        parts.append(_segment(number, text, segment, role(segment.entity, target, correct), before, after))
        place = segment.end
    return f'<p class="document">{"".join(parts)}{_text(text[place:])}</p>'


def _segment(number: int, text: str, segment: Segment, kind: str, before: str = "", after: str = "") -> str:
    """A segment with its number from 0, its entity as the document names it, and the text around that."""
    name = f'<mark class="entity {kind}">{_text(text[segment.first : segment.last])}<sub>{kind}</sub></mark>'
    label = f"<b>S{number + 1}</b>"
    return f'<span class="segment segment-{number % COLOURS + 1}">{label} {_text(before)}{name}{_text(after)}</span>'


def growing(
    text: str,
    segments: Sequence[Segment],
    orders: Sequence[Sequence[int]],
    target: str,
    correct: Collection[str],
    prompt: str,
) -> str:
    """The inputs of a knowledge-only context as a list: each segment's entity in its colour, then the question.

    Args:
        text, segments, target, correct: as in ``coloured``.
        orders: of each input, the numbers of its segments from left to right, from 1.
        prompt: the question.
    """
    items = []
    for number, order in enumerate([[], *orders]):
        names = [
            _segment(i - 1, text, segments[i - 1], role(segments[i - 1].entity, target, correct)) + " " for i in order
        ]
        items.append(f"<li>Input {number}: {''.join(names)}{_text(prompt)}</li>")
    return f'<ul class="document">{"".join(items)}</ul>'


def inputs(steps: pd.DataFrame, ranked: pd.DataFrame | None = None) -> str:
    """The inputs of one triple and document, folded by variant and centre.

    Args:
        steps: of it, with their texts (``Looked.steps``).
        ranked: the same steps ranked by all models (``ask.ask_all``); without, no ranks are told.
    """
    keys = ["variant", "twin", "step"]
    ranks = {} if ranked is None else dict(list(ranked.groupby(keys, sort=False)))
    folds = []
    for (variant, twin), group in steps.groupby(["variant", "twin"], sort=False):
        rows = group.to_dict("records")
        items = [f"<li><i>Input 0</i>: {_text(rows[0]['before'])}</li>"]
        items += [_item(row, ranks.get((variant, twin, row["step"]))) for row in rows]
        heading = f"{VARIANTS.get(str(variant), str(variant))}, {CENTRES[str(twin)]}: {rows[0]['centre']}"
        folds.append(folded(heading, f"<ul>{''.join(items)}</ul>"))
    return "".join(folds)


def _item(row: Mapping[Hashable, Any], ranks: pd.DataFrame | None) -> str:
    kind = role(row["added"], row["target"], [row["added"]] if row["added_correct"] else [])
    order = " ".join(f"S{number}" for number in row["order"])
    added = f'<mark class="entity {kind}">{_text(row["added"])}<sub>{kind}</sub></mark>'
    item = f"<i>Input {row['step']}</i> ({order}) adds {added}: {_text(row['text'])}"
    if ranks is not None:
        moves = zip(ranks["model"], ranks["rank_before"], ranks["rank_after"], strict=True)
        moved = "; ".join(f"{title(model)}: {before:.0f} to {after:.0f}" for model, before, after in moves)
        among = f"Rank of {_text(row['centre'])} among {ranks['candidates'].iloc[0]}"
        item += f"<br><small>{among}: {_text(moved)}</small>"
    return f"<li>{item}</li>"


def example(one: Looked, most: int, ranked: pd.DataFrame | None = None) -> str:
    """A triple of a source: its question, its first document in segments, and the context that grows out of it.

    Args:
        one: the source.
        most: segments of a context.
        ranked: its steps ranked by all models, if they were.
    """
    triple_id = _telling(one.steps)
    about = one.asked[one.asked["triple_id"] == triple_id].iloc[0]
    found = next(f for f in one.found if one.asked["triple_id"].iloc[f.triple] == triple_id)
    text, target, correct = found.document.text, about["target"], about["correct"]
    segments = around(text, found.mentions, target, most=most)
    steps = pick(one.steps, triple_id=triple_id, doc_id=found.document.doc_id)
    orders = pick(steps, variant="knowledge_only", twin="target")["order"].tolist()
    pieces = [
        f"<p>Question: <b>{_text(about['text'])}</b> Target: {_text(target)}. "
        f"All correct objects: {_text(', '.join(correct))}.</p>",
        coloured(text, segments, target, correct),
        growing(text, segments, orders, target, correct, about["text"]),
    ]
    wrong = negative_centre(segments, correct)
    if wrong is not None:
        twin = coloured(text, around(text, found.mentions, wrong.entity, wrong.first, most), target, correct)
        pieces.append(folded("The same document around the negative target", twin))
    if ranked is not None:
        ranked = pick(ranked, source=one.name, triple_id=triple_id, doc_id=found.document.doc_id)
    return "".join([*pieces, folded("All inputs, in four variants and around both centres", inputs(steps, ranked))])


def folded(heading: str, shown: str) -> str:
    """Markup behind its heading."""
    return f'<details class="inputs"><summary>{_text(heading)}</summary>{shown}</details>'


def invented(most: int) -> str:
    """``example`` of the invented demo world, without a model."""
    return example(look(demo_contexts("general"), triples=FEW_EXAMPLES, most=most), most)


def _telling(steps: pd.DataFrame) -> str:
    """The first triple whose context has correct and incorrect entities and grows to both sides; else the first."""
    own = pick(steps, variant="real", twin="target")
    own = own[own["several"]] if own["several"].any() else own
    for triple_id, rows in own.groupby("triple_id", sort=False):
        place = rows["order"].iloc[-1].index(1)
        if 0 < place < len(rows) - 1 and not rows["added_correct"].all():
            return str(triple_id)
    return str(own["triple_id"].iloc[0])


def _text(text: object) -> str:
    return html_escape(" ".join(str(text).splitlines()))
