"""A triple and its contexts as HTML without scripts: the document in segments, and the inputs as they grow (page 20).

Colours only repeat what labels say. Everything a document, a probe or a model wrote is escaped.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from probekit.contexts.segments import Segment, around
from probekit.contexts.variants import negative_centre

from notebooks.contexts.asking import Looked

COLOURS = 6  # of segments, in turn
VARIANTS = {
    "real": "Real context",
    "knowledge_only": "Knowledge-only context",
    "knowledge_sorted": "Knowledge-sorted context",
    "knowledge_random": "Knowledge-random context",
}
TWINS = {"target": "the target at the centre", "negative": "the negative target at the centre"}


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
    for number, segment in sorted(enumerate(segments, start=1), key=lambda pair: pair[1].start):
        kind = role(segment.entity, target, correct)
        name = f'<mark class="entity {kind}">{_text(text[segment.first : segment.last])}<sub>{kind}</sub></mark>'
        before, after = _text(text[segment.start : segment.first]), _text(text[segment.last : segment.end])
        parts.append(_text(text[place : segment.start]))
        colour = (number - 1) % COLOURS + 1
        label = f"<b>S{number}</b>"
        parts.append(f'<span class="segment segment-{colour}">{label} {before}{name}{after}</span>')
        place = segment.end
    return f'<p class="document">{"".join(parts)}{_text(text[place:])}</p>'


def grown(done: pd.DataFrame, taken: pd.DataFrame) -> str:
    """The inputs of one triple and document, folded by variant and centre, with the rank each model gives the centre.

    Args:
        done: ranked steps of them, of all models (``asking.ask_all``).
        taken: the same steps with their texts (``Looked.steps``).
    """
    ranks = dict(list(done.groupby(["variant", "twin", "step"], sort=False)))
    folds = []
    for (variant, twin), group in taken.groupby(["variant", "twin"], sort=False):
        rows = group.to_dict("records")
        items = [f"<li><i>Input 0</i>: {_text(rows[0]['before'])}</li>"]
        items += [_item(row, ranks[variant, twin, row["step"]]) for row in rows]
        heading = f"{VARIANTS.get(str(variant), str(variant))}, {TWINS[str(twin)]}: {rows[0]['centre']}"
        folds.append(f'<details class="inputs"><summary>{_text(heading)}</summary><ul>{"".join(items)}</ul></details>')
    return "".join(folds)


def triple(one: Looked, done: pd.DataFrame, triple_id: str, most: int) -> str:
    """A triple with all of this module: its question, its first document around target and twin, its inputs.

    Args:
        one: a source.
        done: ranked steps of all models.
        triple_id: one of those drawn.
        most: segments of a context.
    """
    about = one.asked[one.asked["triple_id"] == triple_id].iloc[0]
    found = next(f for f in one.found if one.asked["triple_id"].iloc[f.triple] == triple_id)
    text, target, correct = found.document.text, about["target"], about["correct"]
    own = around(text, found.mentions, target, most=most)
    wrong = negative_centre(own, correct)
    pieces = [
        f"<p>Question: <b>{_text(about['text'])}</b> Subject: {_text(about['subject'])}. Target: {_text(target)}. "
        f"All correct objects: {_text(', '.join(correct))}.</p>",
        f"<p>Segments around the target:</p>{coloured(text, own, target, correct)}",
    ]
    if wrong is not None:
        twin = around(text, found.mentions, wrong.entity, wrong.first, most)
        pieces.append(f"<p>Segments around the negative target:</p>{coloured(text, twin, target, correct)}")
    of = {"triple_id": triple_id, "doc_id": found.document.doc_id}
    rows = [table[(table[list(of)] == pd.Series(of)).all(axis=1)] for table in (done, one.steps)]
    rows[0] = rows[0][rows[0]["source"] == one.name]
    return "".join([*pieces, grown(rows[0], rows[1])])


def _item(row: Mapping[Hashable, Any], ranks: pd.DataFrame) -> str:
    kind = role(row["added"], row["target"], [row["added"]] if row["added_correct"] else [])
    order = " ".join(f"S{number}" for number in row["order"])
    moved = "; ".join(
        f"{model}: {before:.0f} to {after:.0f}"
        for model, before, after in zip(ranks["model"], ranks["rank_before"], ranks["rank_after"], strict=True)
    )
    return (
        f'<li><i>Input {row["step"]}</i> ({order}) adds <mark class="entity {kind}">{_text(row["added"])}'
        f"<sub>{kind}</sub></mark>: {_text(row['text'])}<br>"
        f"<small>Rank of {_text(row['centre'])} among {ranks['candidates'].iloc[0]}: {_text(moved)}</small></li>"
    )


def _text(text: object) -> str:
    return escape(" ".join(str(text).splitlines()))
