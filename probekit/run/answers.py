"""Answers to questions, one model in memory at a time; one that fails is named and left out of everything."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Generic, TypeVar

from probekit.errors import ModelError, caution
from probekit.files import progress
from probekit.files.naming import shown_name, without_folders
from probekit.models.model import Kind, Model
from probekit.models.source import Source
from probekit.scoring.question import Question
from probekit.store import Store, Work
from probekit.store import answer as answer_work

DASK = "probekit.run.cluster"  # no page hangs on who makes its shards
CLUSTER = "PROBEKIT_CLUSTER"  # where missing shards are made, as ``cluster.connected`` takes it
LOADING = ("device", "dtype", "device_map", "quantization", "adapter")  # of ``load_model``, parameters of pages too
Result = TypeVar("Result")
QuestionT = TypeVar("QuestionT", bound=Question)


class LeftOutError(ModelError):
    """A model failed that had answered before, so that all that rests on its answers is computed again without it."""


@dataclass(frozen=True)
class Answer(Generic[QuestionT]):
    """An answer.

    Args:
        question: as it was asked.
        name: of the model, as pages show it.
        kind: of the model.
        result: of the question's function.
    """

    question: QuestionT
    name: str
    kind: Kind
    result: Any


class Models:
    """The models of questions: the last one stays, and the last copy of it with random weights.

    Args:
        loading: of ``load_model``.
        fingerprint: of weights that are not read; without it they are read.
    """

    def __init__(self, loading: Mapping[str, Any], fingerprint: Callable[[Source], str] | None = None) -> None:
        self.loading, self._fingerprint = loading, fingerprint
        self._of: tuple[Any, ...] = ()
        self._model: Model | None = None
        self._copy_by: tuple[Any, ...] = ()
        self._copy: Model | None = None

    def of(self, question: Question) -> Model:
        """The model that a question asks.

        Raises:
            ModelError: see ``load_model``.
        """
        model = question.model if isinstance(question.model, str) else id(question.model)
        of = (type(question).load, model, question.title, question.dtype)
        if self._model is None or self._of != of:
            self._model = self._copy = None
            self._model, self._of = self._named(question.load(self.loading, self._fingerprint is None)), of
        if not question.copy_by:
            return self._model
        if self._copy is None or self._copy_by != question.copy_by:
            self._copy = None
            self._copy, self._copy_by = self._named(question.copy(self._model)), question.copy_by
        return self._copy

    def _named(self, model: Model) -> Model:
        if self._fingerprint is not None and model.source is not None:
            model.__dict__.setdefault("fingerprint", self._fingerprint(model.source))
        return model


class Asking:
    """Asks models by name and keeps which of them failed.

    Args:
        loading: values of ``LOADING``, also among others; the defaults of ``load_model`` for what is not there.
        store: where finished shards are kept and found; by default in the cache folder.
    """

    def __init__(self, loading: Mapping[str, Any], store: Store | None = None) -> None:
        self.loading = {name: loading[name] for name in LOADING if name in loading}
        self.store = store or Store()
        self.failed = dict[str, str]()  # name -> why
        self._answered = set[str]()

    def ask(self, questions: Sequence[QuestionT], note: Callable[[Model], object] = id) -> list[Answer[QuestionT]]:
        """The answers of every model that did not fail yet, in the order of the questions.

        A model fails by a ``ModelError``: it is not at hand, is broken, has no head for the question, or does not fit
        into memory. Any other error is nothing that another model would mend, and ends the run.

        Args:
            note: is given each model before it is asked.

        Raises:
            ModelError: all of them failed, with every reason; ``LeftOutError`` if one failed that answered before.
        """
        names = list(dict.fromkeys(question.name for question in questions))
        pending = [question for question in questions if question.name not in self.failed]
        faults = fill(pending, self.loading) if self.store.shared else {}
        answers = dict[QuestionT, Answer[QuestionT]]()
        for name in self.remaining(names):
            try:
                if name in faults:
                    raise faults[name]
                of_model = [question for question in pending if question.name == name]
                answers |= _answers(of_model, self.loading, self.store, note)
                self._answered.add(name)
            except ModelError as error:
                self.failed[name] = reason = without_folders(str(error))
                caution(f"{shown_name(name)} could not be asked, so no number here is of it: {reason}")
                if name in self._answered:
                    raise LeftOutError(f"{shown_name(name)} failed after it had answered: {reason}") from error
        if names and not self.remaining(names):
            reasons = "; ".join(f"{shown_name(name)}: {self.failed[name]}" for name in names)
            raise ModelError(f"no model could be asked. {reasons}")
        return [answers[question] for question in pending if question in answers]

    def remaining(self, names: Sequence[str]) -> list[str]:
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


def answer(
    questions: Sequence[QuestionT], loading: Mapping[str, Any] = {}, store: Store | None = None
) -> list[Answer[QuestionT]]:
    """The answers to some questions, in order, one model in memory at a time.

    Args:
        questions: those of one model follow each other.
        loading: of ``load_model``.
        store: where finished shards are kept and found; None keeps nothing.

    Raises:
        ModelError: see ``load_model`` and the function of each question.
    """
    if store is not None and store.shared:
        for fault in fill(questions, loading).values():
            raise fault
    return list(_answers(questions, loading, store).values())


def _answers(
    questions: Sequence[QuestionT],
    loading: Mapping[str, Any],
    store: Store | None,
    note: Callable[[Model], object] = id,
) -> dict[QuestionT, Answer[QuestionT]]:
    models, answers, noted = Models(loading), dict[QuestionT, Answer[QuestionT]](), set[tuple[str, str]]()
    for question in questions:
        model = models.of(question)
        if not question.copy_by and (model.name, model.dtype) not in noted:
            noted.add((model.name, model.dtype))
            note(model)
        result = answer_work(question.work(model), store)
        answers[question] = Answer(question, shown_name(question.title or question.name), model.kind, result)
    return answers


def fill(requests: Sequence[Question | Work], loading: Mapping[str, Any] = {}) -> dict[str, ModelError]:
    """Let the cluster, if the environment names one, make what the store in the cache folder lacks.

    Args:
        requests: questions, or works that need no model.
        loading: of ``load_model``.

    Returns:
        Why models failed, by name.

    Raises:
        ClusterError: see ``cluster.fill``.
    """
    if not (address := os.environ.get(CLUSTER)):
        return {}
    cluster = import_module(DASK)
    faults: dict[str, ModelError] = cluster.fill(_client(address), requests, loading, progress.say)
    return faults


@cache
def _client(address: str) -> Any:
    """A client of a cluster, which ends with this process."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(import_module(DASK).connected(address, progress.say))
