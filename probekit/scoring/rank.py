"""Ranks of entities in the slots of a probe (paper 001, section 3; METHODS of the book, "Slot score").

Under a masked model an entity of L tokens is scored by filling the slot with L masks in one forward pass: the mean over
the masks of the log-probability of its i-th token. A prompt costs one row per distinct entity length, whatever the
number of entities. Other scores, and other kinds of models, read the statement that an entity makes of the prompt: see
``probekit.scoring.statements``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

import pandas as pd

from probekit.files import canonical, digest
from probekit.files.progress import Progress
from probekit.models.model import Model
from probekit.probes.probe import Probe
from probekit.scoring.plan import Competitors, Plan, Targets, check_candidates, make_plan
from probekit.scoring.question import Question
from probekit.scoring.rank_shard import rank_shard
from probekit.scoring.scores import Score
from probekit.scoring.slots import Unknown
from probekit.scoring.statements.scoring import COUNTS
from probekit.scoring.statements.scoring import VERSION as STATEMENTS_VERSION
from probekit.store import Store, Work, answer

VERSION = 3  # of the scores: raise it whenever any of them can change

Ties = Literal["pessimistic", "mid"]


def rank_entities(
    model: Model,
    probe: Probe,
    top: int = 10,
    ties: Ties = "pessimistic",
    batch_tokens: int | None = None,
    gold: Literal["single", "any"] = "single",
    candidates: Literal["probe", "relation"] = "probe",
    unknown: Unknown = "last",
    store: Store | None = None,
    score: Score | None = None,
) -> pd.DataFrame:
    """Rank each prompt's gold among the candidates (Acc@k of paper 001 is the share of ranks up to k).

    Args:
        model: a masked, causal or seq2seq language model.
        probe: prompts and candidates.
        top: how many of the best candidates to return.
        ties: ``pessimistic`` gives 1 + competitors that score at least as high; ``mid`` counts equal ones by half.
        batch_tokens: padded tokens per batch.
        gold: ``single`` ranks the fact's own object, other golds stay competitors; ``any`` ranks the best gold of the
            prompt, other golds do not compete.
        candidates: those of the ``probe`` (see ``Probe.among``), or only entities of the prompt's ``relation``.
        unknown: an entity that the tokenizer cannot write without its unknown token ranks ``last``, or may ``compete``;
            then all entities that it writes alike are one, and a model that says the unknown token is right about them.
            One that holds another special token, such as ``[SEP]``, always ranks last.
        store: where finished shards are kept and found; None keeps nothing.
        score: what is compared; None takes the first that is defined for the kind of model. All are natural logarithms.

            - Masked: ``slot``, mean over the tokens of the entity, all masked at once; or the pseudo-log-likelihood of
              the statement, each token masked by itself (``pll``, Salazar et al. 2020), with the later tokens of its
              word (``pll_word_l2r``, Kauf and Ivanova 2023) or with all later ones (``pll_sentence_l2r``).
            - Causal: log-likelihood of the statement, ``sum`` or ``mean`` over its tokens; or ``slot``, mean over the
              tokens of the entity, which sees nothing of what follows the slot.
            - Seq2seq: ``slot``, mean over the tokens of the entity in the decoder; or ``sum`` or ``mean`` over all that
              the decoder writes: the entity and the sentinel behind it (T5), or the statement (BART).

    Returns:
        One row per prompt, in order: ``prompt_id, fact_id, relation``, ``candidates`` (how many, merged
        ones once), ``rank`` (1 is best), ``score`` (of that gold), and with ``top`` also ``top`` (strings, best first),
        ``top_scores``.
        ``attrs["counts"]`` says what was run, ``attrs["score"]`` by which score.

    Raises:
        ProbeError, ModelError, StoreError: see ``rank_targets``.
    """
    golds = probe.prompts["gold"]
    targets = [[g[0] if gold == "single" else list(g)] for g in golds]
    table = rank_targets(model, probe, targets, ties, batch_tokens, candidates, top, unknown, store, score)
    return table.drop(columns="target")


def rank_targets(
    model: Model,
    probe: Probe,
    targets: Targets,
    ties: Ties = "pessimistic",
    batch_tokens: int | None = None,
    candidates: Competitors = "probe",
    top: int = 0,
    unknown: Unknown = "last",
    store: Store | None = None,
    score: Score | None = None,
) -> pd.DataFrame:
    """Rank any entities in each prompt's slot.

    Args:
        targets: per prompt, the entities to rank; a list in place of one entity is ranked as its best member, and
            its other members do not compete.
        candidates: as in ``rank_entities``, or lists of entities by the relation of the prompt.
        top: how many of the best candidates to return with every row.
        model, probe, ties, batch_tokens, unknown, store, score: as in ``rank_entities``.

    Returns:
        One row per prompt and target, in order: ``prompt_id, fact_id, relation, target, candidates, rank, score``, and
        with ``top`` also ``top, top_scores``. Where a probe names no facts, they are the prompt ids, and no relations,
        empty. Ranks are whole numbers, or halves with ``ties="mid"``, by ``attrs["score"]``. ``attrs["counts"]`` says
        what was run, such as forward rows (at masks) and tokens, candidates (of the longest list), those merged or
        unknown to the tokenizer, and targets within 1e-4 of a competitor; where statements are scored, also how many,
        the tokens run and those that a loop over the statements would run, and the statements whose candidate shares a
        token with the text around it.

    Raises:
        ProbeError: such as a target not among the candidates, or candidates by relation without relations.
        ModelError: such as a score that is not defined for this kind of model, a tokenizer that tells hardly any
            candidates apart, scores that are not finite, or a single row that does not fit into memory.
        StoreError: results cannot be written; finished shards are kept.
    """
    work = rank_targets_work(model, probe, targets, ties, batch_tokens, candidates, top, unknown, score)
    return cast(pd.DataFrame, answer(work, store))


def rank_targets_work(
    model: Model,
    probe: Probe,
    targets: Targets,
    ties: Ties = "pessimistic",
    batch_tokens: int | None = None,
    candidates: Competitors = "probe",
    top: int = 0,
    unknown: Unknown = "last",
    score: Score | None = None,
) -> Work:
    """What ``rank_targets`` has to do."""
    if ties not in ("pessimistic", "mid"):
        raise ValueError(f"ties must be 'pessimistic' or 'mid', not {ties!r}")
    if candidates == "relation":
        probe, candidates = probe.among(candidates), "probe"
    plan = make_plan(model, probe, targets, candidates, unknown, score)
    check_candidates(model, probe, plan)
    return rank_plan_work(model, probe, targets, plan, ties, batch_tokens, candidates, top, unknown)


@dataclass(frozen=True, eq=False)
class Rank(Question):
    """``rank_targets`` as data."""

    makes = rank_targets_work
    probe: Probe
    targets: Targets
    top: int = 0
    score: Score | None = None


def rank_plan_work(
    model: Model,
    probe: Probe,
    targets: Targets,
    plan: Plan,
    ties: Ties = "pessimistic",
    batch_tokens: int | None = None,
    candidates: Competitors = "probe",
    top: int = 0,
    unknown: Unknown = "last",
) -> Work:
    """``rank_targets_work`` by a plan made of the same ``candidates`` and ``unknown``, whatever the candidates are."""
    key = {
        "scoring": VERSION,
        "model": model.fingerprint,
        "probe": probe.fingerprint,
        "jobs": digest(canonical(plan.jobs)),
        "candidates": candidates if isinstance(candidates, str) else _listed(candidates),
        "top": top,
        "ties": ties,
        "unknown": unknown,
        **scored_by(plan),
    }

    def shard(units: list[int], progress: Progress) -> pd.DataFrame:
        return rank_shard(model, plan, units, ties, top, batch_tokens, progress)

    def finish(frames: list[pd.DataFrame]) -> pd.DataFrame:
        whole, counts = gathered(plan, frames)
        table = whole.set_index("job").loc[plan.target_jobs].reset_index(drop=True)
        near = int(table.pop("near").sum())
        for column in ("top", "top_scores") if top else ():
            table[column] = table[column].map(list)  # Parquet gives arrays
        relations = probe.prompts.get("relation", [""] * len(targets))
        columns = {"prompt_id": probe.prompts["prompt_id"], "fact_id": probe.facts, "relation": relations}
        for place, (column, values) in enumerate(columns.items()):
            table.insert(place, column, [value for value, t in zip(values, targets, strict=True) for _ in t])
        table.insert(len(columns), "target", [x for t in targets for x in t])
        competing = [plan.competing[plan.jobs[job][0]] for job in plan.target_jobs]
        table.insert(len(columns) + 1, "candidates", competing)
        table.attrs |= {"counts": {**counts, "targets within 1e-4 of a competitor": near}, "score": plan.score}
        return table

    return work_of_plan("rank", key, f"{model.name} on {probe.name}", plan, shard, finish)


def scored_by(plan: Plan) -> dict[str, Any]:
    """What a store's key says of the score: nothing of the one that is read at masks in the slot."""
    return {} if plan.slots else {"score": plan.score, "statements": STATEMENTS_VERSION}


def gathered(plan: Plan, frames: list[pd.DataFrame]) -> tuple[pd.DataFrame, dict[str, int]]:
    """The rows of all shards, and the counts of the plan with those of the shards."""
    whole = pd.concat(frames, ignore_index=True)
    return whole, {**plan.counts, **{name: int(whole.pop(name).sum()) for name in COUNTS if name in whole}}


def _listed(candidates: Mapping[str, Collection[str]]) -> str:
    return digest(canonical({relation: list(entities) for relation, entities in candidates.items()}))


def work_of_plan(
    function: str,
    key: Mapping[str, Any],
    title: str,
    plan: Plan,
    shard: Callable[[list[int], Progress], pd.DataFrame],
    finish: Callable[[list[pd.DataFrame]], pd.DataFrame],
) -> Work:
    """The work of a plan, whose shards are made by ``shard`` of their units."""
    shards = plan.shards()

    def compute(number: int, progress: Progress) -> pd.DataFrame:
        return shard(shards[number], progress)

    sizes = [plan.rows(units) for units in shards]
    return Work(function, key, title, sizes, compute, finish, plan.counts.get("tokens"))
