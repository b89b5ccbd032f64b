"""A question to a model as data, whatever is asked; each kind stands beside the function that answers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import pandas as pd

from probekit.models.loading import load_model
from probekit.models.model import Model
from probekit.store import Work


@dataclass(frozen=True, eq=False, kw_only=True)
class Question:
    """A question to one model; the further fields of most kinds are arguments of what answers them.

    Args:
        model: as ``load_model`` takes it; or a loaded one, which no other machine is asked.
        title: what the model is called, in place of its name.
        dtype: of the weights, in place of that of the run; a loaded model keeps its own.
        batch_tokens: padded tokens per batch; 0 for what the function takes by itself, as word scores always do.
    """

    makes: ClassVar[Callable[..., Work]]  # what the answer takes, of a loaded model and the arguments
    model: str | Model = field(kw_only=False)
    title: str = ""
    dtype: str = ""
    batch_tokens: int = 0

    @property
    def name(self) -> str:
        """The model's name: as ``load_model`` takes it, or that of the loaded one."""
        return self.model if isinstance(self.model, str) else self.model.name

    @property
    def copy_by(self) -> tuple[Any, ...]:
        """What tells the copy of the model that is asked from other copies; empty where it is the model itself."""
        return ()

    def load(self, loading: Mapping[str, Any], read: bool) -> Model:
        """The model with its own weights; ``loading`` and ``read`` as in ``load_model``.

        Raises:
            ModelError: see ``load_model``.
        """
        if isinstance(self.model, Model):
            return self.model
        model = load_model(self.model, **{**loading, "dtype": self.dtype} if self.dtype else loading, read=read)
        return model.renamed(self.title) if self.title else model

    def copy(self, model: Model) -> Model:
        """The copy of the loaded model that is asked."""
        return model

    def work(self, model: Model) -> Work:
        """What the answer of the loaded model takes.

        Raises:
            ProbekitError: the question is not defined for the model, or is wrong.
        """
        common = {base.name for base in fields(Question)}
        given = {extra.name: getattr(self, extra.name) for extra in fields(self) if extra.name not in common}
        given |= {"batch_tokens": self.batch_tokens} if self.batch_tokens else {}
        return type(self).makes(model, **given)


@dataclass(frozen=True, eq=False)
class Describe(Question):
    """What a function finds of a model and further arguments without any forward pass, such as lengths in tokens."""

    function: Callable[..., Any]
    arguments: Sequence[Any] = ()

    def work(self, model: Model) -> Work:
        def finish(_: list[pd.DataFrame]) -> Any:
            return self.function(model, *self.arguments)

        return Work("describe", {}, model.name, [], lambda *_: pd.DataFrame(), finish)
