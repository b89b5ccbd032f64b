"""What public sets of facts share: rows whose fields are checked, templates with [X] and [Y], and a choice of facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from probekit.errors import ProbeError
from probekit.probes.probe import MASK, draw, numbered_rows

Record = TypeVar("Record")
Rows = Iterator[tuple[int, dict[str, Any]]]  # each with its line
Templates = Literal["first", "all"]  # of a relation, by which of them its facts are asked


@dataclass(frozen=True)
class Fact:
    """A subject of which a relation is known; ``fact_id`` is unique in its data set."""

    fact_id: str
    relation: str
    subject: str


AnyFact = TypeVar("AnyFact", bound=Fact)


def records(
    path: Path, make: Callable[[dict[str, Any], int], Record], read: Callable[[Path], Rows] = numbered_rows
) -> Iterator[Record]:
    """What ``make`` makes of each row of a file and its line; the KeyError that it raises names a field.

    Raises:
        ProbeError: naming the file, the line and the field that is missing or of the wrong kind.
    """
    for number, row in read(path):
        try:
            yield make(row, number)
        except KeyError as error:
            raise ProbeError(f"{path}, line {number}, field {error}: missing, or of the wrong kind") from error


def value(row: Any, name: str, kind: type = str) -> Any:
    """A field of a row; KeyError where it is missing or of another kind."""
    if not isinstance(row, dict) or not isinstance(row.get(name), kind):
        raise KeyError(name)
    return row[name]


def text(row: dict[str, Any], name: str) -> str:
    """A field that holds a text, not blank; else KeyError."""
    if not (content := str(value(row, name))).strip():
        raise KeyError(name)
    return content


def texts(row: dict[str, Any], name: str) -> tuple[str, ...]:
    """A field that holds a list of texts, none blank, repeated ones once, in order; else KeyError."""
    listed = value(row, name, list)
    if not all(isinstance(entry, str) and entry.strip() for entry in listed):
        raise KeyError(name)
    return tuple(dict.fromkeys(listed))


def has_slots(template: object) -> bool:
    """Whether a template is a text that holds [X] and [Y] once."""
    return isinstance(template, str) and template.count("[X]") == template.count("[Y]") == 1


def fill(template: str, subject: str) -> str:
    """The prompt that a template makes of a subject."""
    return template.replace("[Y]", MASK).replace("[X]", subject)


def worded(fact: Fact, wordings: Sequence[str], templates: Templates) -> Iterator[tuple[str, str]]:
    """The prompts that the first wording of a fact's relation makes, or all of them, each with a suffix for its id.

    Raises:
        ProbeError: ``templates`` is neither ``first`` nor ``all``.
    """
    if templates not in get_args(Templates):
        raise ProbeError(f"templates must be 'first' or 'all', not {templates!r}")
    for number, wording in enumerate(wordings[: 1 if templates == "first" else None]):
        yield f"/{number}", fill(wording, fact.subject)


def as_prompt(fact: Fact, prompt: str, golds: list[str], suffix: str = "", **more: Any) -> dict[str, Any]:
    """The row of a probe that asks for a fact; ``suffix`` makes its id unique where a fact is asked several times."""
    row = {"prompt_id": fact.fact_id + suffix, "text": prompt, "gold": golds, "fact_id": fact.fact_id}
    return {**row, "relation": fact.relation, "subject": fact.subject, **more}


def select(
    facts: Sequence[AnyFact],
    relations: Sequence[str] | None,
    limit: int | None,
    seed: int,
    keep: Callable[[AnyFact], bool] = lambda _: True,
) -> list[AnyFact]:
    """The facts to ask for, in order: of ``relations`` (all by default), and at most ``limit``, drawn with ``seed``.

    Args:
        keep: says which facts may be asked for at all.

    Raises:
        ProbeError: no fact is of a relation.
    """
    present = dict.fromkeys(fact.relation for fact in facts)
    if unknown := [name for name in relations or () if name not in present]:
        raise ProbeError(f"no relation {', '.join(unknown)} at hand; there are {', '.join(present)}")
    return draw([f for f in facts if keep(f) and (relations is None or f.relation in relations)], limit, seed)
