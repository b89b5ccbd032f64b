"""Work that a run leaves to others: it hands in what it misses, and its loops go on to the next piece.

A run alone computes what it misses, and nothing here does anything. Where a ``Taker`` listens, it is given each result
that a page asks the store for, and ``Left`` ends what hangs on one that is not finished.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol


class Left(Exception):
    """What was asked for is not there: others make it."""


@dataclass(frozen=True)
class Wanted:
    """A result that was asked for.

    Args:
        function, key: as in ``Store.place``.
        title: what runs.
        sizes: forward rows of each shard, or what its progress counts; empty where nothing said so.
        tokens: of all rows; None where unknown.
        shards, missing: number of shards, and those that are not finished.
        compute: makes a shard.
    """

    function: str
    key: Mapping[str, Any]
    title: str
    sizes: Sequence[int]
    tokens: int | None
    shards: int
    missing: Sequence[int]
    compute: Callable[[int], Any]


class Taker(Protocol):
    """Who is given what a run misses."""

    def result(self, wanted: Wanted) -> bool:
        """A result, finished or not; whether an unfinished one is left, by ``Left``, and not computed here."""

    def weights(self, source: Any) -> str:
        """The fingerprint of a ``probekit.models.source.Source``, or what stands for it; or raises ``Left``."""

    def absent(self, name: str, error: Exception) -> Any:
        """What stands for a model that cannot be opened here; or raises."""


_taker: ContextVar[Taker | None] = ContextVar("taker", default=None)
_left: ContextVar[int] = ContextVar("left", default=0)
under_way: ContextVar[tuple[str, Sequence[int], int | None]] = ContextVar("under_way", default=("", (), None))


def taker() -> Taker | None:
    """Who takes what is missing; None in a run that computes it."""
    return _taker.get()


@contextmanager
def handing_to(one: Taker) -> Iterator[None]:
    """Inside, what is missing goes to a taker."""
    token, counted = _taker.set(one), _left.set(0)
    try:
        yield
    finally:
        _taker.reset(token)
        _left.reset(counted)


def leave(what: str) -> Left:
    """The error that says so; it is counted, see ``later``."""
    _left.set(_left.get() + 1)
    return Left(what)


def any_left() -> bool:
    """Whether something was left since work is handed to a taker."""
    return _left.get() > 0


@contextmanager
def later() -> Iterator[None]:
    """One piece of a loop: if it waits for others, the loop goes on, whatever fails for want of its result."""
    before = _left.get()
    try:
        yield
    except Exception:
        if _left.get() == before:
            raise


def handed(work: Callable[[], object], one: Taker) -> None:
    """Do some work, and give a taker what it misses; then it ends where it needs that."""
    with handing_to(one), suppress(Left):
        work()
