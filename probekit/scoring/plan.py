"""What a ranking has to run: distinct prompts, candidate tables, jobs, and the shards they fall into."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from probekit.errors import ModelError, ProbeError, caution
from probekit.files.naming import shown_name
from probekit.models.model import Model
from probekit.probes.probe import MASK, Probe
from probekit.scoring.batches import shards_of
from probekit.scoring.scores import Score, by_masks, score_of
from probekit.scoring.slots import Candidates, Slot, Unknown, encode_candidates, encode_slots, follows_space, window

SHARD_ROWS, SHARD_CELLS = 2048, 1 << 25  # forward rows, and float32 scores, that one shard may hold
SHARD_STATEMENTS, SHARD_PSEUDO = 4096, 512  # statements, read once or masked at each token, that one shard may hold
SAMPLE = 20  # candidates by which it is found whether they join the sign before a slot
NAMED = 3  # candidates, in an error
MANY_LOST, MOST_LOST = 0.5, 0.9  # of the candidates, not told apart by a tokenizer: worth a warning, worth nothing

Targets = Sequence[Sequence[str | Sequence[str]]]  # per prompt, entities to rank; a list is ranked as its best member
Competitors = Literal["probe", "relation"] | Mapping[str, Collection[str]]  # the probe's own choice, or by relation


@dataclass(frozen=True)
class Plan:
    """Distinct prompts (units), their candidate tables, and the distinct jobs: a unit and a group of candidates."""

    score: Score
    texts: list[str]  # of each unit
    slots: list[Slot]  # of each unit, of a score that is read at masks in the slot; else none
    tables: list[Candidates]
    table_of: list[int]  # of each unit
    competing: list[int]  # candidates of each unit
    jobs: list[tuple[int, tuple[int, ...]]]  # unit, candidates of which the best is ranked
    target_jobs: list[int]  # job of each target of each prompt
    counts: Mapping[str, int]

    def rows(self, units: Sequence[int]) -> int:
        """Forward rows of a score that is read at masks, else statements."""
        tables = [self.tables[self.table_of[unit]] for unit in units]
        return sum(len(table.by_length) if self.slots else len(table.strings) for table in tables)

    @cached_property
    def jobs_of(self) -> dict[int, list[int]]:
        """Numbers of the jobs of each unit; a unit may have none."""
        numbers: dict[int, list[int]] = {unit: [] for unit in range(len(self.table_of))}
        for number, (unit, _) in enumerate(self.jobs):
            numbers[unit].append(number)
        return numbers

    def shards(self) -> list[list[int]]:
        """Units by falling length, cut so that one shard is neither much work to lose nor much memory to hold."""
        most = SHARD_ROWS if self.slots else SHARD_PSEUDO if self.score.startswith("pll") else SHARD_STATEMENTS
        lengths = [len(s.left) + len(s.right) for s in self.slots] or [len(text) for text in self.texts]
        sizes = [[self.rows([unit]), len(self.tables[table].strings)] for unit, table in enumerate(self.table_of)]
        order = sorted(range(len(lengths)), key=lambda unit: -lengths[unit])
        return shards_of(order, sizes, [most, SHARD_CELLS])


def make_plan(
    model: Model,
    probe: Probe,
    targets: Targets,
    candidates: Competitors,
    unknown: Unknown = "last",
    score: Score | None = None,
) -> Plan:
    """Find the distinct prompts and jobs; nothing is scored twice.

    Raises:
        ModelError: the score is not defined for this kind of model.
        ProbeError: a target is not among the candidates, or the relation of a prompt is needed and unknown.
    """
    if len(targets) != len(probe.prompts):
        raise ProbeError(f"{len(targets)} lists of targets for the {len(probe.prompts)} prompts of {probe.name}")
    chosen = score_of(model, score)
    relations, pools = _pools(probe, candidates)
    units: dict[tuple[str, str], int] = {}
    unit_of = [units.setdefault((t, r), len(units)) for t, r in zip(probe.prompts["text"], relations, strict=True)]
    slots = encode_slots(model, [text for text, _ in units]) if by_masks(model, chosen) else []
    tables: dict[tuple[str, bool], int] = {}
    table_of = [tables.setdefault((r, follows_space(text) and model.minds_spaces), len(tables)) for text, r in units]
    encoded = [encode_candidates(model, pools[relation], spaced, unknown) for relation, spaced in tables]
    jobs: dict[tuple[int, tuple[int, ...]], int] = {}
    target_jobs = []
    for unit, prompt_id, wishes in zip(unit_of, probe.prompts["prompt_id"], targets, strict=True):
        number = encoded[table_of[unit]].number
        for wish in wishes:
            group = [wish] if isinstance(wish, str) else wish
            absent = [entity for entity in group if entity not in number]
            if absent or not group:
                raise ProbeError(f"{probe.name}, prompt {prompt_id!r}: target {absent or wish!r} is not a candidate")
            job = (unit, tuple(sorted({number[entity] for entity in group})))
            target_jobs.append(jobs.setdefault(job, len(jobs)))
    sizes: dict[str, int] = {}
    for (relation, _), table in zip(tables, encoded, strict=True):
        sizes[relation] = max(sizes.get(relation, 0), len(table.strings))
    competing = [sizes[relation] for _, relation in units]
    plan = Plan(chosen, [text for text, _ in units], slots, encoded, table_of, competing, list(jobs), target_jobs, {})
    return replace(plan, counts=_counts(model, plan, unit_of))


def check_candidates(model: Model, probe: Probe, plan: Plan) -> None:
    """Refuse a ranking among candidates of which a tokenizer hardly tells any from the others; warn of half of them.

    Raises:
        ModelError: nearly all candidates have no token, the unknown token, or the tokens of another one.
    """
    total = sum(len(table.number) for table in plan.tables)
    apart = sum(bool(sequence) for table in plan.tables for sequence in table.sequences)
    name = f"{shown_name(model.name)} on {shown_name(probe.name)}"
    note = f"{name}: its tokenizer tells {apart:,} of the {total:,} candidates apart; the others are unknown to it, or "
    note += "written like one of these"
    if total - apart > MOST_LOST * total or apart < 2 <= total:
        raise ModelError(
            f"{note} ({_lost(plan)}). The ranks would mean nothing: take other candidates, or a tokenizer of their "
            "language"
        )
    if total == 1:
        caution(f"{name}: there is one candidate alone, so that every answer is right.")
    elif total - apart > MANY_LOST * total:
        caution(f"{note}.")
    if glued := _glued(model, plan):
        caution(
            f"{name}: in {glued:,} distinct prompts the tokens of a candidate are not those that it would have there, "
            "since it joins the sign before the slot: each is scored as its tokenizer writes it by itself."
        )
    if special := sorted({e for table in plan.tables for e in table.special}):
        caution(f"{name}: {len(special):,} candidates hold special tokens, such as {special[0]!r}; they rank last.")
    if without := sorted({e for table in plan.tables for e in table.tokenless}):
        caution(f"{name}: {len(without):,} candidates have no token at all, such as {without[0]!r}; they rank last.")


def _lost(plan: Plan) -> str:
    """The first of the candidates that are not told apart from the others, in words."""
    lost = {
        entity: None
        for table in plan.tables
        for entity, number in table.number.items()
        if not table.sequences[number] or table.strings[number] != entity.strip()
    }
    return ", ".join([*map(repr, list(lost)[:NAMED]), *["…"] * (len(lost) > NAMED)])


def _glued(model: Model, plan: Plan) -> int:
    """Distinct prompts with a sign before the slot behind which most of some candidates have other tokens."""
    table = plan.tables[0]
    some = [text for text, ids in zip(table.strings, table.sequences, strict=True) if ids][:SAMPLE]
    signs = Counter(text[: text.index(MASK)][-1:] for text in plan.texts) if plan.slots else Counter[str]()

    def joins(sign: str) -> bool:
        alone = model.tokens_of([" " * (sign.isspace() and model.minds_spaces) + text for text in some])
        there = model.tokens_of([sign + text for text in some])
        return 2 * sum(b[-len(a) :] != a for a, b in zip(alone, there, strict=True)) > len(some)

    return sum(count for sign, count in signs.items() if joins(sign))


def _pools(probe: Probe, candidates: Competitors) -> tuple[Sequence[str], Mapping[str, Collection[str]]]:
    """The name of each prompt's candidates, and the candidates by this name."""
    if candidates == "probe":
        return probe.pool_of, probe.pools
    if isinstance(candidates, str) and candidates != "relation":
        raise ValueError(f"candidates must be 'probe', 'relation' or lists by relation, not {candidates!r}")
    probe = probe.among("relation")
    if isinstance(candidates, str):
        return probe.pool_of, probe.pools
    absent = set(probe.pool_of) - set(candidates)
    if absent:
        raise ProbeError(f"{probe.name}: no candidates are listed for the relation {min(absent)!r}")
    return probe.pool_of, candidates


def _counts(model: Model, plan: Plan, unit_of: Sequence[int]) -> dict[str, int]:
    """What is run, and what METHODS asks to be counted; of statements, the rest is counted when they are written."""
    specials = sum(map(len, model.special_ids))
    rows = tokens = 0
    cut = set()
    for unit, slot in enumerate(plan.slots):
        for length in plan.tables[plan.table_of[unit]].by_length:
            room = model.max_tokens - specials - length
            context = sum(window(len(slot.left), len(slot.right), room))
            rows, tokens = rows + 1, tokens + context + length + specials
            if context < len(slot.left) + len(slot.right):
                cut.add(unit)
    merged = {e for table in plan.tables for e, number in table.number.items() if table.strings[number] != e.strip()}
    unwritten = {entity for table in plan.tables for entity in table.unknown}
    special = {entity for table in plan.tables for entity in table.special}
    return {
        "prompts": len(unit_of),
        "distinct prompts": len(plan.texts),
        **({"forward rows": rows, "tokens": tokens} if plan.slots else {}),
        "candidates": max(plan.competing),
        "entities merged with another of the same tokens": len(merged),
        "candidates holding the unknown token": len(unwritten),
        "candidates holding another special token": len(special),
        **({"prompts cut to the model's length": sum(unit in cut for unit in unit_of)} if plan.slots else {}),
    }
