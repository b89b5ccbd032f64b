"""From documents to steps and their rank changes (paper 002, "Context Variance Prompt Generation", "Rank-change
Calculation").

A context is a document for a triple, put before the prompt by one variant around one centre. It grows by steps: step i
leads from input_{i-1} to input_i and adds one entity, O_a. A step is one row of a table, before and after it is scored.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pandas as pd

from probekit.contexts.retrieval import Found
from probekit.contexts.segments import Segment, around
from probekit.contexts.variants import TWINS, VARIANTS, Variant, negative_centre, put_before
from probekit.contexts.windows import fitted
from probekit.errors import ProbeError
from probekit.metrics.context import rank_change
from probekit.models.model import Model
from probekit.probes.probe import Probe
from probekit.scoring.question import Question
from probekit.scoring.rank import rank_targets_work
from probekit.scoring.scores import Score
from probekit.store import Store, Work, answer

TRIPLE = ["triple_id", "prompt_id", "fact_id", "relation", "pool", "subject", "target", "correct"]
RARITY = ["golds", "relation_prompts", "target_prompts"]


def steps(
    asked: pd.DataFrame,
    found: Iterable[Found],
    most: int | None = None,
    variants: Mapping[str, Variant] = VARIANTS,
    seed: int = 0,
) -> pd.DataFrame:
    """All steps of all contexts.

    The centre is the target's first mention in the document. The twin's centre is the first incorrect entity in the
    order S1, S2, ...; without one the context has no twin.

    Args:
        asked: of ``triples``.
        found: of ``retrieve``.
        most: segments of a context, the first that are found; all by default.
        variants: functions by name.
        seed: of the random variants; the draws depend on it, ``most``, the triple, the document and the twin alone.

    Returns:
        One row per document, triple, variant, twin and step, in this order: ``triple_id, prompt_id, fact_id, relation,
        pool, subject, target, correct, golds, relation_prompts, target_prompts, doc_id, variant, twin`` (target or
        negative),
        ``centre`` (the entity whose rank change is scored: the target or the twin's), ``step`` (from 1), ``last``
        (whether none follows), ``added`` (O_a) and ``added_correct``, ``present_correct`` and ``present_incorrect``
        (O_cor and O_incor in input_{i-1}, lists without the centre), ``order`` (numbers of the segments from left to
        right, from 1), ``before`` and ``text`` (input_{i-1} and input_i), ``centre_at`` and ``added_at`` (the
        characters of ``text`` that name the two).
    """
    records = asked.to_dict("records")
    rows = [row for match in found for row in _of_document(records[match.triple], match, most, variants, seed)]
    if not rows:
        raise ProbeError("no document holds the subject and the target of any triple: there is no context to ask with")
    return pd.DataFrame(rows)


def _of_document(
    triple: Mapping[Hashable, Any], match: Found, most: int | None, variants: Mapping[str, Variant], seed: int
) -> Iterator[dict[str, Any]]:
    text, correct = match.document.text, set(triple["correct"])
    around_target = around(text, match.mentions, triple["target"], most=most)
    centres = {"target": around_target}
    wrong = negative_centre(around_target, correct)
    if wrong is not None:
        centres["negative"] = around(text, match.mentions, wrong.entity, wrong.first, most)
    common = {column: triple[column] for column in TRIPLE + RARITY} | {"doc_id": match.document.doc_id}
    for name, variant in variants.items():
        for twin in (twin for twin in TWINS if twin in centres):
            generator = random.Random(f"{seed} {triple['triple_id']} {match.document.doc_id} {twin}")
            for step in _grow(text, centres[twin], variant, generator, triple["text"], correct):
                yield common | {"variant": name, "twin": twin} | step


def _grow(
    text: str,
    segments: Sequence[Segment],
    variant: Variant,
    generator: random.Random,
    prompt: str,
    correct: Collection[str],
) -> Iterator[dict[str, Any]]:
    centre, before, present = segments[0].entity, prompt, list[int]()
    contexts = variant(text, segments, generator)
    for number, context in enumerate(contexts, start=1):
        (new,) = set(context.order) - set(present)
        others = [entity for i in present if (entity := segments[i].entity) != centre]
        after, place = put_before(context.text, prompt), dict(zip(context.order, context.places, strict=True))
        yield {
            "centre": centre,
            "step": number,
            "last": number == len(contexts),
            "added": segments[new].entity,
            "added_correct": segments[new].entity in correct,
            "present_correct": [entity for entity in others if entity in correct],
            "present_incorrect": [entity for entity in others if entity not in correct],
            "order": [i + 1 for i in context.order],
            "before": before,
            "text": after,
            "centre_at": place[0],
            "added_at": place[new],
        }
        before, present = after, [*present, new]


def rank_steps(
    model: Model,
    taken: pd.DataFrame,
    entities: Mapping[str, Sequence[str]],
    batch_tokens: int | None = None,
    store: Store | None = None,
    answers: bool = False,
    score: Score | None = None,
) -> pd.DataFrame:
    """Rank the entities of every step before and after it, all inputs in one sorted stream, each scored once.

    The candidates are the entities of the target's pool; ties count against an entity. Inputs longer than the model
    are cut as ``windows.fitted`` says.

    Args:
        model: a masked, causal or seq2seq language model.
        taken: of ``steps``.
        entities: of ``triples``, ``attrs["entities"]``: the candidates by pool.
        batch_tokens, store, score: as in ``rank_targets``.
        answers: also return ``answer`` and ``answer_bare``, the first answer to input_i and to the bare prompt.

    Returns:
        The steps without texts and places, with ``rank_before`` and ``rank_after`` of the centre; ``any_before`` and
        ``any_after``, those of the best correct object, with which the others do not compete; the rank changes
        ``rc_centre``, ``rc_added`` and ``rc_correct``, ``rc_incorrect`` (means over those present before; NaN without
        any); ``copied`` and ``copied_bare``, whether the first answer to input_i, and to the bare prompt, is an entity
        that the context of input_i names; ``candidates``; ``cut`` (the added entity does not fit into the model) and
        ``same`` (it does, and the input did not change). ``attrs["counts"]`` is that of ``rank_targets``, with the
        steps, and how many are cut or the same.

    Raises:
        ProbeError: a pool without candidates, or an entity of a step that is not among them.
        ModelError, StoreError: see ``rank_targets``.
    """
    return cast(pd.DataFrame, answer(rank_steps_work(model, taken, entities, batch_tokens, answers, score), store))


def rank_steps_work(
    model: Model,
    steps: pd.DataFrame,
    entities: Mapping[str, Sequence[str]],
    batch_tokens: int | None = None,
    answers: bool = False,
    score: Score | None = None,
) -> Work:
    """What ``rank_steps`` has to do."""
    absent = set(steps["pool"]) - set(entities)
    if absent:
        raise ProbeError(f"no candidates are given for the pool {min(absent)!r}; `triples` lists those of each")
    pools = {name: set(names) for name, names in entities.items()}
    right = [
        tuple(e for e in golds if e in pools[pool]) for golds, pool in zip(steps["correct"], steps["pool"], strict=True)
    ]
    placed = fitted(model, steps.assign(right=right), entities, score)
    numbers, wishes = _inputs(placed)
    prompts = pd.DataFrame(list(numbers), columns=["relation", "text"]).assign(prompt_id=range(len(numbers)))
    prompts["gold"] = [[next(entity for entity in wish if isinstance(entity, str))] for wish in wishes]
    probe = Probe("contexts", prompts, [e for pool in entities.values() for e in pool])
    targets = [list(w) for w in wishes]
    work = rank_targets_work(
        model, probe, targets, batch_tokens=batch_tokens, candidates=entities, top=int(answers), score=score
    )

    def finish(frames: list[pd.DataFrame]) -> pd.DataFrame:
        return _changes(placed, numbers, work.finish(frames), entities, answers)

    return replace(work, finish=finish)


def _changes(
    placed: pd.DataFrame,
    numbers: dict[tuple[str, str], int],
    ranked: pd.DataFrame,
    entities: Mapping[str, Sequence[str]],
    answers: bool,
) -> pd.DataFrame:
    """The rows of ``rank_steps``, from the ranks in the numbered inputs."""
    rank = dict(zip(zip(ranked["prompt_id"], ranked["target"], strict=True), ranked["rank"], strict=True))
    changes = pd.DataFrame([_change(row, numbers, rank) for row in placed.itertuples()], index=placed.index)
    changes["candidates"] = [len(entities[pool]) for pool in placed["pool"]]
    if answers:
        first = {number: top[0] for number, top in zip(ranked["prompt_id"], ranked["top"], strict=True)}
        for column, text in (("answer", "text"), ("answer_bare", "bare")):
            changes[column] = [first[numbers[pair]] for pair in zip(placed["pool"], placed[text], strict=True)]
    result = pd.concat(
        [placed.drop(columns=["before", "text", "bare", "right", "centre_at", "added_at"]), changes], axis=1
    )
    counts = {
        "steps": len(placed),
        "steps whose added entity is cut off": int(placed["cut"].sum()),
        "steps whose input does not change otherwise": int(placed["same"].sum()),
    }
    result.attrs |= {"counts": ranked.attrs["counts"] | counts, "score": ranked.attrs["score"]}
    return result


def _present(row: Any) -> list[str]:
    """The entities in the context of input_i."""
    return [row.centre, *([] if row.cut else [row.added]), *row.present_correct, *row.present_incorrect]


def _inputs(placed: pd.DataFrame) -> tuple[dict[tuple[str, str], int], list[dict[str | tuple[str, ...], None]]]:
    """The distinct inputs, numbered by pool and text, and what to rank in each: entities, and all correct as one."""
    numbers: dict[tuple[str, str], int] = {}
    wishes: list[dict[str | tuple[str, ...], None]] = []
    for row in placed.itertuples():
        entities = [row.centre, row.added, *row.present_correct, *row.present_incorrect]
        for text in (row.bare, row.before, row.text):
            number = numbers.setdefault((row.pool, text), len(numbers))
            if number == len(wishes):
                wishes.append({})
            wishes[number].update(dict.fromkeys([*entities, row.right]))
    return numbers, wishes


def _change(
    row: Any, numbers: Mapping[tuple[str, str], int], rank: Mapping[tuple[int, str | tuple[str, ...]], float]
) -> dict[str, float | bool]:
    bare, before, after = (numbers[row.pool, text] for text in (row.bare, row.before, row.text))

    def change(entities: Sequence[str]) -> float:
        changes = rank_change([rank[before, e] for e in entities], [rank[after, e] for e in entities])
        return float(changes.mean()) if len(entities) else np.nan

    return {
        "rank_before": rank[before, row.centre],
        "rank_after": rank[after, row.centre],
        "any_before": rank[before, row.right],
        "any_after": rank[after, row.right],
        "rc_centre": change([row.centre]),
        "rc_added": change([row.added]),
        "rc_correct": change(row.present_correct),
        "rc_incorrect": change(row.present_incorrect),
        "copied": any(rank[after, entity] == 1 for entity in _present(row)),
        "copied_bare": any(rank[bare, entity] == 1 for entity in _present(row)),
    }


@dataclass(frozen=True, eq=False)
class RankSteps(Question):
    """``rank_steps`` as data."""

    makes = rank_steps_work
    steps: pd.DataFrame
    entities: Mapping[str, Sequence[str]]
    answers: bool = False
    score: Score | None = None
