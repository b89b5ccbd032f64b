"""Page 20, contexts (paper 002, "Context Segmentation and Retrieval"): what the sources give, a context as it grows.

The growing context is HTML without scripts. Its colours only repeat what labels say. Everything a document, a probe or
a model wrote is escaped.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from html import escape as html_escape
from typing import TYPE_CHECKING, Any

import pandas as pd

from probekit.contexts.retrieval import HOLDING, NAMED, READ
from probekit.contexts.segments import Segment, around
from probekit.contexts.variants import negative_centre
from probekit.demo.world.contexts import demo_contexts
from probekit.metrics.context import counted
from probekit.probes.halves import HELD_OUT, SHARED, TAUGHT
from probekit.report.charts import lines
from probekit.report.tables import pick, readable
from probekit.report.text import title

from notebooks.contexts.ask import Searched, search
from notebooks.contexts.pooling import Tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ALL = "all"
Told = Mapping[str, Mapping[str, str]]  # source -> fact_id -> half
FEW_EXAMPLES = 24  # triples of the demo world among which one is chosen
COLOURS = 6  # of segments, in turn
END = " \n.,;:!?"  # of what went before, where a segment begins with it
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
    "counted": "Steps that add a right answer, in four variants",
}
CAPTIONS = {
    "sources": "What each source gives: documents that were searched, triples with a context, and what was asked",
    "relations": "The same by relation; relations without a context are left out",
    "halves": "What the facts give that some model was told and those held out, over all relations and in each",
    "lengths": "Contexts by the number of entities of the target's type that they name",
    "cut": "Steps whose added entity does not fit into the model, or whose input does not change: UCM leaves them out",
}


def tables(searched: Sequence[Searched], ranked: pd.DataFrame, told: Told) -> Tables:
    """The tables of the page.

    Args:
        searched: sources after the search.
        ranked: their steps, ranked by the models.
        told: of each source ``ask.told_to``.

    Returns:
        ``sources`` and ``relations`` (counts: documents ``read``, that hold a subject, and a target too; triples
        ``covered`` by a document, with ``two`` entities in it, ``several`` right ones, a twin), ``lengths`` (``source,
        entities, contexts, reach``: how many contexts have so many entities, and the share that has as many or more),
        ``halves`` (what each half of the facts of ``told`` gives, over all relations and in each),
        ``cut`` (``source, model, steps, cut, cut_share, same``, and ``unfinished``, the share of contexts of real text
        around the target whose last entity did not fit).
    """
    return {
        "sources": pd.DataFrame(map(_source, searched)),
        "relations": pd.concat(map(_relations, searched), ignore_index=True),
        "lengths": pd.concat(map(_lengths, searched), ignore_index=True),
        "halves": pd.concat([_halves(s, told[s.name]) for s in searched if told.get(s.name)] or [pd.DataFrame()]),
        "cut": _cut(ranked),
    }


def _source(source: Searched) -> dict[str, object]:
    sizes = [len(entities) for entities in source.triples.attrs["entities"].values()]
    read = {"read": source.counts[READ], "named": source.counts.get(NAMED)}  # documents of an index are not counted
    most = {"most": int(source.contexts["entities"].max()), "smallest": min(sizes), "largest": max(sizes)}
    counts, drawn = _counts(source.triples, source.contexts, source.steps)
    triples = {"triples": counts.pop("triples")}
    return {"source": source.name} | triples | read | {"holding": source.counts[HOLDING]} | counts | most | drawn


def _relations(source: Searched) -> pd.DataFrame:
    prompts = source.probe.prompts.drop_duplicates("relation", keep="last").set_index("relation")
    rows = []
    for relation, triples in source.triples.groupby("relation", sort=False):
        contexts, steps = (pick(table, relation=relation) for table in (source.contexts, source.steps))
        if len(contexts):
            prompt, (counts, drawn) = prompts.loc[relation], _counts(triples, contexts, steps)
            label, kind = prompt.get("relation_label", relation), prompt.get("kind", "")
            candidates = len(source.triples.attrs["entities"][triples["pool"].iloc[0]])
            row = {"source": source.name, "relation": relation, "label": label, "kind": kind}
            rows.append(row | counts | {"candidates": candidates} | drawn)
    return pd.DataFrame(rows).sort_values("several", ascending=False, kind="stable")


def _counts(triples: pd.DataFrame, contexts: pd.DataFrame, steps: pd.DataFrame) -> tuple[dict[str, Any], ...]:
    """What some triples give: of all, and of those that were drawn."""
    members = {"covered": contexts, "two": contexts[contexts["entities"] > 1]}
    members |= {"several": contexts[contexts["several"]], "twins": contexts[contexts["twin"]]}
    row: dict[str, Any] = {"triples": len(triples)}
    row |= {name: rows["triple_id"].nunique() for name, rows in members.items()}
    row |= {"contexts": len(contexts), "entities": float(contexts["entities"].mean())}
    counting = counted(steps) & (steps["twin"] == "target")  # with the target at the centre
    return row, {"drawn": steps["triple_id"].nunique(), "steps": len(steps), "counted": int(counting.sum())}


def _lengths(source: Searched) -> pd.DataFrame:
    sizes = source.contexts["entities"]
    table = sizes.value_counts().reindex(range(1, sizes.max() + 1), fill_value=0).rename_axis("entities")
    rows = table.reset_index(name="contexts")
    return rows.assign(reach=rows["contexts"][::-1].cumsum()[::-1] / len(sizes), source=source.name)


def _halves(source: Searched, half_of: Mapping[str, str]) -> pd.DataFrame:
    """Triples by the part of their fact, asked or not; ``ready`` are steps of one variant, ``share`` of its part."""
    facts = source.triples.drop_duplicates("triple_id").set_index("triple_id")["fact_id"]
    contexts = source.contexts.assign(
        half=source.contexts["triple_id"].map(facts).map(half_of), two=source.contexts["entities"] > 1
    )
    rows = []
    for name in (TAUGHT, HELD_OUT, SHARED):
        half = contexts[contexts["half"] == name]
        for relation, group in [(ALL, half), *half.groupby("relation", sort=False)]:
            row = {"source": source.name, "half": name, "relation": relation, "covered": group["triple_id"].nunique()}
            row |= {column: group.loc[group[column], "triple_id"].nunique() for column in ("two", "several")}
            ready = group["correct"].sum()
            rows.append(row | {"ready": int(ready), "share": ready / max(1, half["correct"].sum())})
    return pd.DataFrame(rows).sort_values("ready", ascending=False, kind="stable")


def _cut(ranked: pd.DataFrame) -> pd.DataFrame:
    keys = ["source", "model"]
    table = ranked.groupby(keys, sort=False)["cut"].agg(steps="size", cut="sum", cut_share="mean")
    table["same"] = ranked.groupby(keys, sort=False)["same"].sum()
    ends = pick(ranked, last=True, variant="real", twin="target")
    return table.assign(unfinished=ends.groupby(keys, sort=False)["cut"].mean()).reset_index()


def in_short(tables: Tables) -> pd.DataFrame:
    """``sources`` for reading, its main columns."""
    columns = ["source", "triples", "covered", "several", "twins", "contexts", "entities", "drawn", "counted"]
    return readable(tables["sources"][columns], HEADINGS, digits=2)


def _from_zero(ax: Axes) -> None:
    ax.set_ylim(0, 1.05)


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


# ---- a context as it grows ------------------------------------------------------------------------------------------


def role(entity: str, target: str, correct: Collection[str]) -> str:
    """What an entity is for a triple: target, correct or incorrect."""
    return "target" if entity == target else "correct" if entity in correct else "incorrect"


def marked(entity: str, kind: str) -> str:
    """An entity, named as what it is."""
    return f'<mark class="entity {kind}">{_text(entity)}<sub>{kind}</sub></mark>'


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
        before, after = text[segment.start : segment.first].lstrip(END), text[segment.last : segment.end]
        start = segment.first - len(before)
        kind = role(segment.entity, target, correct)
        parts += [_text(text[place:start]), _segment(number, text, segment, kind, before, after)]
        place = segment.end
    return f'<p class="document">{"".join(parts)}{_text(text[place:])}</p>'


def _segment(number: int, text: str, segment: Segment, kind: str, before: str = "", after: str = "") -> str:
    """A segment with its number from 0, its entity as the document names it, and the text around that."""
    name = marked(text[segment.first : segment.last], kind)
    content = f"<b>S{number + 1}</b>\N{NO-BREAK SPACE}{_text(before)}{name}{_text(after)}"
    return f'<span class="segment segment-{number % COLOURS + 1}">{content}</span>'


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
    names = [_segment(n, text, span, role(span.entity, target, correct)) + " " for n, span in enumerate(segments)]
    inputs = ("".join(names[number - 1] for number in order) for order in ([], *orders))
    items = [f"<li>Input {number}: {shown}{_text(prompt)}</li>" for number, shown in enumerate(inputs)]
    return f'<ul class="document">{"".join(items)}</ul>'


def inputs(steps: pd.DataFrame, ranked: pd.DataFrame | None = None) -> str:
    """The inputs of one triple and document, folded by variant and centre.

    Args:
        steps: of it, with their texts (``Searched.steps``).
        ranked: the same steps ranked by all models (``ask.ask_all``); without, no ranks are shown.
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
    item = f"<i>Input {row['step']}</i> ({order}) adds {marked(row['added'], kind)}: {_text(row['text'])}"
    if ranks is not None:
        moves = zip(ranks["model"], ranks["rank_before"], ranks["rank_after"], strict=True)
        moved = "; ".join(f"{title(model)}: {before:.0f} to {after:.0f}" for model, before, after in moves)
        among = f"Rank of {_text(row['centre'])} among {ranks['candidates'].iloc[0]}"
        item += f"<br><small>{among}: {_text(moved)}</small>"
    return f"<li>{item}</li>"


def example(source: Searched, most: int, ranked: pd.DataFrame | None = None) -> str:
    """A triple of a source: its question, its first document in segments, and the context that grows out of it.

    Args:
        source: with its documents.
        most: segments of a context.
        ranked: its steps ranked by all models, if they were.
    """
    triple_id = _instructive(source.steps)
    triple = pick(source.triples, triple_id=triple_id).iloc[0]
    match = next(match for match in source.matches if source.triples["triple_id"].iloc[match.triple] == triple_id)
    text, target, correct = match.document.text, triple["target"], triple["correct"]
    segments = around(text, match.mentions, target, most=most)
    keys = {"triple_id": triple_id, "doc_id": match.document.doc_id}
    steps = pick(source.steps, **keys)
    orders = pick(steps, variant="knowledge_only", twin="target")["order"].tolist()
    pieces = [
        f"<p>Question: <b>{_text(triple['text'])}</b> Target: {_text(target)}. "
        f"All correct objects: {_text(', '.join(correct))}.</p>",
        coloured(text, segments, target, correct),
        growing(text, segments, orders, target, correct, triple["text"]),
    ]
    if (wrong := negative_centre(segments, correct)) is not None:
        twin = coloured(text, around(text, match.mentions, wrong.entity, wrong.first, most), target, correct)
        pieces.append(folded("The same document around the negative target", twin))
    ranks = None if ranked is None else pick(ranked, source=source.name, **keys)
    return "".join([*pieces, folded("All inputs, in four variants and around both centres", inputs(steps, ranks))])


def folded(heading: str, shown: str) -> str:
    """Markup behind its heading."""
    return f'<details class="inputs"><summary>{_text(heading)}</summary>{shown}</details>'


def invented(most: int) -> str:
    """``example`` of the invented demo world, without a model."""
    return example(search(demo_contexts("general"), triples=FEW_EXAMPLES, most=most), most)


def _instructive(steps: pd.DataFrame) -> str:
    """The first triple whose context has correct and incorrect entities and grows to both sides; else the first."""
    real = pick(steps, variant="real", twin="target")
    real = real[real["several"]] if real["several"].any() else real
    for triple_id, rows in real.groupby("triple_id", sort=False):
        place = rows["order"].iloc[-1].index(1)
        if 0 < place < len(rows) - 1 and not rows["added_correct"].all():
            return str(triple_id)
    return str(real["triple_id"].iloc[0])


def _text(text: object) -> str:
    return html_escape(" ".join(str(text).splitlines()))
