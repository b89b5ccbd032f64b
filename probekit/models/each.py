"""Several models, one in memory at a time: one that fails is named and left out of everything, and the rest go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from probekit.elsewhere import later
from probekit.errors import ModelError, caution
from probekit.files.naming import shown_name, without_folders
from probekit.models.loading import load_model
from probekit.models.model import Model

LOADING = ("device", "dtype", "device_map")  # of ``load_model``, which are parameters of every page that asks models
Result = TypeVar("Result")


class LeftOutError(ModelError):
    """A model failed that had answered before, so that all that rests on its answers is computed again without it."""


class Each:
    """Asks models by name and keeps which of them failed.

    Args:
        loading: values of ``LOADING``, also among others; the defaults of ``load_model`` for what is not there.
    """

    def __init__(self, loading: Mapping[str, Any]) -> None:
        self.loading = {name: loading[name] for name in LOADING if name in loading}
        self.failed = dict[str, str]()  # name -> why
        self._answered = set[str]()

    def load(self, name: str) -> Model:
        """A model, loaded as the run asks for it."""
        return load_model(name, **self.loading)

    def ask(self, names: Sequence[str], ask: Callable[[Model], Result]) -> list[Result]:
        """What ``ask`` finds of every model that did not fail yet.

        A model fails by a ``ModelError``: it is not at hand, is broken, has no head for the question, or does not fit
        into memory. Any other error is nothing that another model would mend, and ends the run.

        Raises:
            ModelError: all of them failed, with every reason; ``LeftOutError`` if one failed that answered before.
        """
        found = []
        for name in self.left(names):
            try:
                with later():
                    found.append(ask(self.load(name)))
                    self._answered.add(name)
            except ModelError as error:
                self.failed[name] = reason = without_folders(str(error))
                caution(f"{shown_name(name)} could not be asked, so no number here is of it: {reason}")
                if name in self._answered:
                    raise LeftOutError(f"{shown_name(name)} failed after it had answered: {reason}") from error
        if names and not self.left(names):
            reasons = "; ".join(f"{shown_name(name)}: {self.failed[name]}" for name in names)
            raise ModelError(f"no model could be asked. {reasons}")
        return found

    def left(self, names: Sequence[str]) -> list[str]:
        """Those of the models that did not fail."""
        return [name for name in names if name not in self.failed]

    def settled(self, compute: Callable[[], Result], again: Callable[[], None]) -> Result:
        """What ``compute`` gives once every model that it asks answers everything; ``again`` is called before it is
        computed anew. What was scored comes from the store."""
        while True:
            self._answered.clear()
            try:
                return compute()
            except LeftOutError:
                again()
