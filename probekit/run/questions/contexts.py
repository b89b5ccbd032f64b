"""Questions about prompts with contexts before them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from probekit.contexts.study import rank_steps_work
from probekit.models.model import Model
from probekit.run.questions.base import Question
from probekit.scoring.decoding import decode_work
from probekit.store import Work


@dataclass(frozen=True, eq=False)
class RankSteps(Question):
    """``rank_steps``."""

    steps: pd.DataFrame
    entities: Mapping[str, Sequence[str]]
    answers: bool = False

    def work(self, model: Model) -> Work:
        return rank_steps_work(model, self.steps, self.entities, answers=self.answers)


@dataclass(frozen=True, eq=False)
class Decode(Question):
    """``decode``."""

    prompts: Sequence[str]

    def work(self, model: Model) -> Work:
        return decode_work(model, self.prompts)
