"""A question whose answers are completions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from probekit.models.model import Model
from probekit.run.questions.base import Question
from probekit.scoring.completions.mining import top_completions_work
from probekit.store import Work


@dataclass(frozen=True, eq=False)
class Complete(Question):
    """``top_completions``."""

    prompts: Sequence[str]
    k: int = 100

    def work(self, model: Model) -> Work:
        return top_completions_work(model, self.prompts, self.k)
