"""A question whose answers are sentence vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from probekit.models.encoder import load_encoder
from probekit.models.model import Model
from probekit.run.questions.base import Question
from probekit.scoring.embeddings import embed_work
from probekit.store import Work


@dataclass(frozen=True, eq=False)
class Embed(Question):
    """``embed``, of a model loaded as an encoder."""

    texts: Sequence[str]

    @property
    def name(self) -> str:
        return f"{super().name}, encoder"  # the model of that name is another network

    def load(self, loading: Mapping[str, Any], read: bool) -> Model:
        if isinstance(self.model, Model):
            return self.model
        return load_encoder(self.model, loading.get("device", "auto"), read)

    def work(self, model: Model) -> Work:
        return embed_work(model, self.texts)
