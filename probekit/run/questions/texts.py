"""A question about whole texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from probekit.models.model import Model
from probekit.run.questions.base import Question
from probekit.scoring.perplexity import pseudo_perplexity_work
from probekit.store import Work


@dataclass(frozen=True, eq=False)
class Perplexity(Question):
    """``pseudo_perplexity``."""

    texts: Sequence[str]

    def work(self, model: Model) -> Work:
        return pseudo_perplexity_work(model, self.texts)
