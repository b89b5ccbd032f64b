"""One shard of a ranking: scores of all candidates in some slots, then the ranks they give."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from probekit.files.progress import Progress
from probekit.models.model import Model
from probekit.scoring.forward import mask_logits
from probekit.scoring.plan import SHARD_CELLS, Plan
from probekit.scoring.slots import Candidates
from probekit.scoring.statements.scoring import score_statements

if TYPE_CHECKING:
    import torch

NEAR = 1e-4  # how far batch, order and padding may move a score


def rank_shard(
    model: Model, plan: Plan, units: list[int], ties: str, top: int, batch_tokens: int | None, progress: Progress
) -> pd.DataFrame:
    """Ranks of the jobs of some units: columns ``job, rank, score, near`` and, with ``top``, ``top, top_scores``."""
    frames = []
    counts: dict[str, int] = {}
    for candidates, scores, jobs, rows in _scored(model, plan, units, batch_tokens, progress, counts):
        frame = _ranked(scores, jobs, rows, [plan.jobs[n][1] for n in jobs], ties)
        if top:
            best = _best(scores, candidates, top)
            frame["top"], frame["top_scores"] = [best[row][0] for row in rows], [best[row][1] for row in rows]
        frames.append(frame)
    return _with_counts(frames, counts)


def rank_shard_within(
    model: Model,
    plan: Plan,
    lists: Sequence[Collection[str]],
    units: list[int],
    ties: str,
    batch_tokens: int | None,
    progress: Progress,
) -> pd.DataFrame:
    """Ranks of the jobs of some units within each list: columns ``job, list, candidates, rank, score, near``."""
    frames = []
    counts: dict[str, int] = {}
    for candidates, scores, jobs, rows in _scored(model, plan, units, batch_tokens, progress, counts):
        for number, entities in enumerate(lists):
            chosen = sorted({candidates.number[entity] for entity in entities if entity in candidates.number})
            place = {candidate: i for i, candidate in enumerate(chosen)}
            groups = [tuple(place[candidate] for candidate in plan.jobs[n][1]) for n in jobs]
            frame = _ranked(scores[:, chosen], jobs, rows, groups, ties)
            frames.append(frame.assign(list=number, candidates=len(chosen)))
    return _with_counts(frames, counts)


def _with_counts(frames: Sequence[pd.DataFrame], counts: Mapping[str, int]) -> pd.DataFrame:
    """All rows of a shard; what was counted in it stands in its first row, and zeros below."""
    whole = pd.concat(frames, ignore_index=True)
    for name, count in counts.items():
        whole[name] = [count, *[0] * (len(whole) - 1)]
    return whole


def _scored(
    model: Model, plan: Plan, units: list[int], batch_tokens: int | None, progress: Progress, counts: dict[str, int]
) -> Iterator[tuple[Candidates, torch.Tensor, list[int], list[int]]]:
    """Table by table: the candidates, their scores in the units of the table, the jobs there, and each job's unit.

    What only writing the statements tells is added to ``counts``.
    """
    tables: dict[int, list[int]] = {}
    for unit in units:
        tables.setdefault(plan.table_of[unit], []).append(unit)
    for table, members in tables.items():
        place = {unit: i for i, unit in enumerate(members)}
        jobs = sorted(number for unit in members for number in plan.jobs_of[unit])
        if plan.slots:
            scores = _score(model, plan, table, members, batch_tokens, progress)
        else:
            texts = [plan.texts[unit] for unit in members]
            scores, counted = score_statements(model, texts, plan.tables[table], plan.score, batch_tokens)
            counts |= {name: counts.get(name, 0) + count for name, count in counted.items()}
            progress.add(plan.rows(members))
        yield plan.tables[table], scores, jobs, [place[plan.jobs[n][0]] for n in jobs]


def _ranked(
    scores: torch.Tensor, jobs: list[int], rows: list[int], groups: list[tuple[int, ...]], ties: str
) -> pd.DataFrame:
    """Columns ``job, rank, score, near``; few jobs at a time, since each takes a copy of its row of scores."""
    step = max(1, SHARD_CELLS // scores.shape[1])
    spans = [slice(start, start + step) for start in range(0, len(jobs), step)]
    frames = [pd.DataFrame({"job": jobs[span], **_rank(scores, rows[span], groups[span], ties)}) for span in spans]
    return pd.concat(frames, ignore_index=True)


def _score(
    model: Model, plan: Plan, table: int, units: list[int], batch_tokens: int | None, progress: Progress
) -> torch.Tensor:
    """Slot scores of all candidates, shape (units, candidates), float32 on the model's device.

    Of each batch only the masks' logits exist; their log-probabilities are never written out: a candidate's score is
    the mean of its tokens' logits less the mean of the masks' log-sum-exp.
    """
    import torch

    candidates = plan.tables[table]
    parts = {n: (start, tokens.to(model.device)) for n, (start, tokens) in candidates.by_length.items()}
    pairs = [(place, length) for place in range(len(units)) for length in parts]
    rows = [plan.slots[units[place]].row(model, length) for place, length in pairs]
    scores = torch.full((len(units), len(candidates.strings)), -torch.inf, device=model.device)
    for batch, logits in mask_logits(model, rows, batch_tokens):
        lengths = np.array([pairs[i][1] for i in batch])
        firsts = np.cumsum(lengths) - lengths
        norms = logits.logsumexp(1)
        for length, (start, tokens) in parts.items():
            chosen = np.flatnonzero(lengths == length)
            if len(chosen):
                at = torch.from_numpy(firsts[chosen]).to(model.device)
                total = sum(
                    logits.index_select(0, at + i).index_select(1, tokens[:, i]) - norms[at + i, None]
                    for i in range(length)
                )
                places = torch.tensor([pairs[batch[i]][0] for i in chosen], device=model.device)
                scores[places, start : start + len(tokens)] = total / length
        progress.add(len(batch))
    return scores


def _rank(scores: torch.Tensor, rows: list[int], groups: Sequence[tuple[int, ...]], ties: str) -> dict[str, np.ndarray]:
    """Rank of the best member of each group among the candidates outside it; shape (jobs,) each.

    What cannot be scored, -inf, ranks last also where ties count by half.
    """
    import torch

    width = max(map(len, groups))
    index = torch.tensor([[*g, *[g[0]] * (width - len(g))] for g in groups], device=scores.device)
    real = torch.tensor([[i < len(g) for i in range(width)] for g in groups], device=scores.device)
    lead = scores.index_select(0, torch.tensor(rows, device=scores.device))  # of every candidate over the job's own
    members = lead.gather(1, index)
    score = members.max(1, keepdim=True).values
    lead -= score
    members = members - score

    def outside(test: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
        return test(lead).sum(1) - (test(members) & real).sum(1)

    # -inf less -inf is not a number and counts as level
    rank = 1 + outside(lambda leads: ~(leads < 0))
    if ties == "mid":
        above = outside(lambda leads: leads > 0)
        rank = torch.where(score[:, 0].isinf(), rank, 1 + above + (rank - 1 - above) / 2)
    near = outside(lambda leads: leads.abs() <= NEAR)
    columns = {"rank": rank, "score": score[:, 0], "near": near > 0}
    return {name: column.cpu().numpy() for name, column in columns.items()}


def _best(scores: torch.Tensor, candidates: Candidates, top: int) -> list[tuple[list[str], list[float]]]:
    """The ``top`` best candidates of each unit; equal scores keep the candidates' order.

    Only those that reach the last of the best scores are sorted, so that many candidates cost one pass over them.
    """
    if not top:
        return []
    top = min(top, scores.shape[1])
    reached = (scores >= scores.topk(top).values[:, -1:]).nonzero(as_tuple=True)
    top_scores = scores[reached].cpu().numpy()
    units, numbers = (index.cpu().numpy() for index in reached)
    order = np.lexsort((numbers, -top_scores, units))
    best = order[np.searchsorted(units, np.arange(len(scores)))[:, None] + np.arange(top)]
    return [([candidates.strings[i] for i in numbers[line]], top_scores[line].tolist()) for line in best]
