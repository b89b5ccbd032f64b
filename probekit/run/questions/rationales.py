"""Questions about records with rationales."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pandas as pd

from probekit.models.model import Model
from probekit.probes.rationales.record import RationaleSet
from probekit.run.questions.base import Question
from probekit.scoring.predictions import predict_slots_work
from probekit.scoring.saliency.erasure import erasure_work
from probekit.scoring.saliency.randomised import randomised
from probekit.scoring.saliency.word_scores import Method, attribute_work
from probekit.store import Work


@dataclass(frozen=True, eq=False)
class Predict(Question):
    """``predict_slots``."""

    items: RationaleSet
    top: int = 3

    def work(self, model: Model) -> Work:
        return predict_slots_work(model, self.items, self.top)


@dataclass(frozen=True, eq=False)
class Attribute(Question):
    """``attribute``.

    Args:
        items, method, options: as there.
        layers: with random weights from the head down, as ``randomised`` takes them; None for the model itself.
        seed: of random weights.
    """

    items: RationaleSet
    method: Method = "attention"
    options: Mapping[str, Any] = field(default_factory=dict)
    layers: int | Literal["all"] | None = None
    seed: int = 0

    @property
    def copy_by(self) -> tuple[Any, ...]:
        return () if self.layers is None else (self.layers, self.seed)

    def copy(self, model: Model) -> Model:
        return model if self.layers is None else randomised(model, self.layers, self.seed)

    def work(self, model: Model) -> Work:
        return attribute_work(model, self.items, self.method, **self.options)


@dataclass(frozen=True, eq=False)
class Erase(Question):
    """``erasure``."""

    items: RationaleSet
    saliencies: Mapping[str, pd.DataFrame]

    def work(self, model: Model) -> Work:
        return erasure_work(model, self.items, self.saliencies)
