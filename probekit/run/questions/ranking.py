"""Questions whose answers are ranks of entities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from probekit.models.model import Model
from probekit.probes.probe import Probe
from probekit.run.questions.base import Question
from probekit.scoring.lengths import same_length_work
from probekit.scoring.plan import Targets
from probekit.scoring.rank import rank_targets_work
from probekit.scoring.scores import Score
from probekit.scoring.within import rank_within_work
from probekit.store import Work


@dataclass(frozen=True, eq=False)
class Rank(Question):
    """``rank_targets``."""

    probe: Probe
    targets: Targets
    top: int = 0
    score: Score | None = None

    def work(self, model: Model) -> Work:
        return rank_targets_work(model, self.probe, self.targets, top=self.top, score=self.score)


@dataclass(frozen=True, eq=False)
class RankWithin(Question):
    """``rank_within``."""

    probe: Probe
    lists: Mapping[str, Sequence[str]]

    def work(self, model: Model) -> Work:
        return rank_within_work(model, self.probe, self.lists)


@dataclass(frozen=True, eq=False)
class RankSameLength(Question):
    """Some prompts of ``rank_same_length``, whose golds have one number of tokens."""

    probe: Probe
    spaced: bool
    length: int
    rows: Sequence[int]

    def work(self, model: Model) -> Work:
        return same_length_work(model, self.probe, self.spaced, self.length, self.rows)
