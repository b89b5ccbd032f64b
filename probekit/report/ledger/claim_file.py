"""What one claim is, and how ``claims.yml`` is read: every field checked, every refusal naming claim and field."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from probekit.errors import ReportError
from probekit.report.paths import root

Number = int | float


@dataclass(frozen=True)
class Cell:
    """Where our value stands: in ``book/recorded/<table>``, the row with these values, this column."""

    table: str
    where: dict[str, str]
    column: str


@dataclass(frozen=True)
class NotRun:
    """Why there is no value of ours for the same data and models."""

    reason: str


@dataclass(frozen=True)
class Related:
    """Where our value on the same data from other models stands, and what it is: to be read, never for a verdict."""

    cell: Cell
    note: str


@dataclass(frozen=True)
class Claim:
    """One claim of one paper; ``tolerance`` is the greatest difference that still counts as reproduced."""

    id: str
    paper: str
    where: str
    statement: str
    published: Number | str | None
    tolerance: Number | None
    source: Cell | NotRun
    related: Related | None = None


CELL = ("table", "where", "column")
OPTIONAL = ("related",)
FIELDS = tuple(name for name in Claim.__dataclass_fields__ if name not in OPTIONAL)


class _Loader(yaml.SafeLoader):
    """Refuses a field that is written twice, of which YAML would silently keep the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.constructor.ConstructorError(None, None, f"field {key!r} is there twice", node.start_mark)
        return super().construct_mapping(node, deep)


def load_claims(path: Path | None = None) -> list[Claim]:
    """The claims of ``book/published/claims.yml`` (or of ``path``), in file order.

    Raises:
        ReportError: unreadable, or a claim has a missing, unknown or mistyped field, or an id that is there twice.
    """
    file = path or root() / "book" / "published" / "claims.yml"
    try:
        entries = yaml.load(file.read_text(encoding="utf-8"), Loader=_Loader)
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise ReportError(f"{file} cannot be read as YAML: {error}: correct it there") from error
    if not isinstance(entries, list):
        raise ReportError(f"{file} holds a {type(entries).__name__}: make it a list of claims")
    claims: dict[str, Claim] = {}
    for position, entry in enumerate(entries, start=1):
        claim = _claim(entry, f"{file}: claim number {position}")
        if claim.id in claims:
            raise ReportError(f"{file}: claim number {position}, field 'id': {claim.id} is there already: take another")
        claims[claim.id] = claim
    return list(claims.values())


def _claim(entry: Any, place: str) -> Claim:
    if isinstance(entry, dict) and isinstance(entry.get("id"), str):
        place += f" ({entry['id']})"
    _keys(entry, FIELDS, place, OPTIONAL)
    text = {name: _text(entry[name], f"{place}, field {name!r}") for name in ("id", "paper", "where", "statement")}
    if not re.fullmatch(r"[0-9]{3}", text["paper"]):
        raise ReportError(f"{place}, field 'paper': {text['paper']!r}: write three digits in quotes")
    if not re.fullmatch(rf"{text['paper']}-[0-9]{{2}}[a-z]?", text["id"]):
        raise ReportError(
            f"{place}, field 'id': {text['id']!r}: write {text['paper']}-NN, with a letter if it was split"
        )
    value = entry["published"]
    if not (isinstance(value, str) and value):
        value = _number(value, f"{place}, field 'published'")
    tolerance = _number(entry["tolerance"], f"{place}, field 'tolerance'")
    if tolerance is not None and tolerance < 0:
        raise ReportError(f"{place}, field 'tolerance': {tolerance}: make it 0 or more")
    source = _source(entry["source"], f"{place}, field 'source'")
    if isinstance(source, Cell) and (tolerance is None or not isinstance(value, Number)):
        raise ReportError(
            f"{place}, field 'source': a table needs numbers as 'published' and 'tolerance' to compare with"
        )
    related = _related(entry["related"], f"{place}, field 'related'") if "related" in entry else None
    if related and isinstance(source, Cell):
        raise ReportError(f"{place}, field 'related': the source is a table already: leave one of them out")
    return Claim(**text, published=value, tolerance=tolerance, source=source, related=related)


def _related(entry: Any, place: str) -> Related:
    _keys(entry, (*CELL, "note"), place)
    return Related(_cell(entry, place), _text(entry["note"], f"{place}, 'note'"))


def _source(entry: Any, place: str) -> Cell | NotRun:
    if isinstance(entry, dict) and "not_run" in entry:
        _keys(entry, ("not_run",), place)
        return NotRun(_text(entry["not_run"], f"{place}, 'not_run'"))
    _keys(entry, CELL, place)
    return _cell(entry, place)


def _cell(entry: Any, place: str) -> Cell:
    table = _text(entry["table"], f"{place}, 'table'")
    inside = not table.startswith("/") and ".." not in PurePosixPath(table).parts and "\\" not in table
    if not inside or PurePosixPath(table).suffix != ".csv":
        raise ReportError(f"{place}, 'table': {table!r}: name a .csv file by its path below book/recorded")
    where = entry["where"]
    if not isinstance(where, dict) or not where:
        raise ReportError(f"{place}, 'where': {where!r}: give at least one column and its value")
    row = {_text(key, f"{place}, 'where'"): _text(value, f"{place}, 'where', {key!r}") for key, value in where.items()}
    return Cell(table, row, _text(entry["column"], f"{place}, 'column'"))


def _keys(entry: Any, wanted: tuple[str, ...], place: str, optional: tuple[str, ...] = ()) -> None:
    if not isinstance(entry, dict):
        raise ReportError(f"{place}: found {entry!r}: give the fields {', '.join(wanted)}")
    for name in [name for name in wanted if name not in entry]:
        raise ReportError(f"{place}, field {name!r} is missing: give the fields {', '.join(wanted)}")
    for name in [name for name in entry if name not in (*wanted, *optional)]:
        raise ReportError(f"{place}, field {name!r} is unknown: keep to {', '.join((*wanted, *optional))}")


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ReportError(f"{place}: {value!r}: write text, in quotes where it looks like a number or a date")
    return value


def _number(value: Any, place: str) -> Number | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise ReportError(f"{place}: {value!r}: write a finite number or null")
