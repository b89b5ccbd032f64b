"""Ranks within several lists of candidates, from one pass over the prompts (paper 001, section 5.6)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import pandas as pd

from probekit.errors import ProbeError
from probekit.files import canonical, digest
from probekit.files.progress import Progress
from probekit.models.model import Model
from probekit.probes.probe import Probe
from probekit.scoring.plan import check_candidates, make_plan
from probekit.scoring.question import Question
from probekit.scoring.rank import VERSION, Ties, gathered, scored_by, work_of_plan
from probekit.scoring.rank_shard import rank_shard_within
from probekit.scoring.scores import Score
from probekit.store import Store, Work, answer


def rank_within(
    model: Model,
    probe: Probe,
    lists: Mapping[str, Collection[str]],
    ties: Ties = "pessimistic",
    batch_tokens: int | None = None,
    store: Store | None = None,
    score: Score | None = None,
) -> pd.DataFrame:
    """Rank each prompt's own object within each of several lists of entities.

    A candidate's score does not depend on its competitors, unless statements are cut to the model's length: so all
    entities are scored once, and ranks are those of ``rank_entities`` among those that compete.

    Args:
        lists: name -> entities; each holds the own object of every prompt. Of a probe with candidates by relation,
            those of the list that are of the relation compete; of any other its entities are not used.
        model, probe, ties, batch_tokens, store, score: as in ``rank_entities``.

    Returns:
        One row per prompt and list, in order: ``prompt_id, list, candidates`` (how many compete, the own object
        included), ``rank, score``. ``attrs["counts"]`` says what was run for all lists together,
        ``attrs["score"]`` by which score.

    Raises:
        ProbeError: no list, one that lacks an object, or see ``rank_targets``.
        ModelError, StoreError: see ``rank_targets``.
    """
    return cast(pd.DataFrame, answer(rank_within_work(model, probe, lists, ties, batch_tokens, score), store))


def rank_within_work(
    model: Model,
    probe: Probe,
    lists: Mapping[str, Collection[str]],
    ties: Ties = "pessimistic",
    batch_tokens: int | None = None,
    score: Score | None = None,
) -> Work:
    """What ``rank_within`` has to do."""
    golds = [gold[0] for gold in probe.prompts["gold"]]
    lists = {name: [entity.strip() for entity in entities] for name, entities in lists.items()}
    for name, entities in lists.items():
        absent = set(golds) - set(entities)
        if absent:
            raise ProbeError(f"{probe.name}: list {name!r} lacks {min(absent)!r}, the own object of a prompt: add it")
    if not lists:
        raise ProbeError(f"{probe.name}: name at least one list of entities")
    prompts = probe.prompts.assign(gold=[[gold] for gold in golds])
    union = replace(probe, prompts=prompts, entities=[e for entities in lists.values() for e in entities])
    plan = make_plan(model, union, [[gold] for gold in golds], "probe", score=score)
    check_candidates(model, probe, plan)
    key = {
        "scoring": VERSION,
        "model": model.fingerprint,
        "probe": union.fingerprint,
        "lists": digest(canonical([list(entities) for entities in lists.values()])),
        "ties": ties,
        **scored_by(plan),
    }

    def shard(units: list[int], progress: Progress) -> pd.DataFrame:
        return rank_shard_within(model, plan, list(lists.values()), units, ties, batch_tokens, progress)

    def finish(frames: list[pd.DataFrame]) -> pd.DataFrame:
        whole, counts = gathered(plan, frames)
        jobs = pd.DataFrame({"job": np.repeat(plan.target_jobs, len(lists)), "list": [*range(len(lists))] * len(golds)})
        table = jobs.merge(whole, on=["job", "list"], how="left", validate="many_to_one")
        near = int(table["near"].sum())
        table["list"] = list(lists) * len(golds)
        table.insert(0, "prompt_id", [i for i in probe.prompts["prompt_id"] for _ in lists])
        table = table[["prompt_id", "list", "candidates", "rank", "score"]]
        table.attrs |= {"counts": {**counts, "targets within 1e-4 of a competitor": near}, "score": plan.score}
        return table

    return work_of_plan("rank_within", key, f"{model.name} on {probe.name}, {len(lists)} lists", plan, shard, finish)


@dataclass(frozen=True, eq=False)
class RankWithin(Question):
    """``rank_within`` as data."""

    makes = rank_within_work
    probe: Probe
    lists: Mapping[str, Sequence[str]]
    score: Score | None = None
