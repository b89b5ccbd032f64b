"""Claims of the papers: what one is, and how ``book/published/claims.yml`` is read, a refused claim being named."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from probekit.errors import ReportError
from probekit.files.reading import SETTINGS, read_text, yaml_value
from probekit.paths import root

Number = int | float
Verdict = Literal["holds", "fails", "open", "cannot be measured here", "not run", "not applicable", "data"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
Column = Literal["in_print", "on_paper_data", "beyond"]
COLUMNS: dict[Column, str] = {"in_print": "In print", "on_paper_data": "On the paper's data", "beyond": "Beyond"}


@dataclass(frozen=True)
class Judged:
    """By which rows of which page's conclusions a claim is judged, and how.

    ``rule``, of one row: ``direction``, by the side of zero on which its interval lies; ``number``, by the tolerance;
    ``count``, the same of what is counted, which is data and no finding. Of several, such as one a model:
    ``all``, ``most`` or ``some`` of them by their intervals (``probekit.metrics.decisions``). Of all models of a
    release, which are no sample: ``each``, by their estimates alone, or ``mean``, by the interval of the row whose
    ``model`` is their mean.
    ``where``: column -> the value, or the values, of the rows that decide.
    ``confounded``: why no verdict can follow from the rows, whatever they say. ``missing``: why there may be no such
    row, on what was recorded here; the claim is then not run or, in the column ``beyond``, open where the page has
    other rows on it. ``effect``: the paper's own, in the unit of the rows.
    ``repaired``: of rows counted by the paper's rules, what to put in place in ``where`` for those counted with its
    faults repaired, whose verdict the reason adds.
    """

    page: str
    rule: Literal["direction", "number", "count", "all", "most", "some", "each", "mean"]
    where: dict[str, str | list[str]]
    confounded: str = ""
    missing: str = ""
    effect: Number | None = None
    repaired: Mapping[str, str] = field(default_factory=dict)


UNJUDGED: dict[str, Verdict] = {"not_run": "not run", "not_applicable": "not applicable", "open": "open"}


@dataclass(frozen=True)
class Unjudged:
    """Why a claim has no verdict from rows: ``not run``; ``not applicable``, as where it speaks of nothing that could
    be run; or ``open``, as where the paper gives no size to judge what was computed by."""

    verdict: Verdict
    reason: str


@dataclass(frozen=True)
class Related:
    """A number of ours on the same data from other models, and what it is: to be read, never for a verdict."""

    table: str
    where: dict[str, str]
    column: str
    note: str


@dataclass(frozen=True)
class Claim:
    """One claim of one paper; ``tolerance`` is the greatest difference that still counts as the printed number.

    Whether it follows from the paper's own print is said by the ``CHECKS`` of its study; ``on_paper_data`` and
    ``beyond`` say by what it is judged on the data or completions that its authors released, and on other models or
    data, or why it is not.
    """

    id: str
    paper: str
    where: str
    statement: str
    published: Number | str | None
    tolerance: Number | None
    on_paper_data: Judged | Unjudged
    beyond: Judged | Unjudged
    related: Related | None = None

    @property
    def judged(self) -> dict[Column, Judged]:
        """The columns in which rows of a page judge it."""
        both: dict[Column, Judged | Unjudged] = {"on_paper_data": self.on_paper_data, "beyond": self.beyond}
        return {column: source for column, source in both.items() if isinstance(source, Judged)}


def load_claims(path: Path | None = None) -> list[Claim]:
    """The claims of ``book/published/claims.yml`` (or of ``path``), in file order.

    Raises:
        ProbeError: it cannot be read, or is no YAML.
        ReportError: no list, or a claim with a missing, unknown, mistyped or unfit field, or an id that is there twice.
    """
    file = path or root() / "book" / "published" / "claims.yml"
    return list(_read(file, read_text(file, SETTINGS)))


@cache
def _read(file: Path, text: str) -> tuple[Claim, ...]:
    """Kept, since a page asks for the claims several times."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    entries = yaml_value(text, str(file))
    if not isinstance(entries, list):
        raise ReportError(f"{file} holds a {type(entries).__name__}: make it a list of claims")
    rules = json.loads(Path(__file__).with_name("claims.schema.json").read_text("utf-8"))
    schema, claims = Draft202012Validator(rules), dict[str, Claim]()
    for position, entry in enumerate(entries, start=1):
        name = entry.get("id") if isinstance(entry, dict) else None
        place = f"{file}: claim number {position}" + (f" ({name})" if isinstance(name, str) else "")
        if fault := best_match(schema.iter_errors(entry)):
            field = "".join(f", field {str(key)!r}" for key in fault.absolute_path)
            raise ReportError(f"{place}{field}: {fault.message}: correct it there")
        for field in ("published", "tolerance"):
            if isinstance(entry[field], float) and not math.isfinite(entry[field]):
                raise ReportError(f"{place}, field {field!r}: {entry[field]}: write a finite number or null")
        claim = _claim(entry)
        if not claim.id.startswith(f"{claim.paper}-"):
            raise ReportError(f"{place}, field 'id': it belongs to paper {claim.paper}: begin it with that number")
        if claim.id in claims:
            raise ReportError(f"{place}, field 'id': {claim.id} is there already: take another")
        numbers = isinstance(claim.tolerance, Number) and isinstance(claim.published, Number)
        for column, source in claim.judged.items():
            if source.rule in ("number", "count") and not numbers:
                raise ReportError(
                    f"{place}, field {column!r}: a number is compared with numbers: give both and a tolerance"
                )
            if claim.related:
                raise ReportError(f"{place}, field 'related': the claim is judged already: leave one of them out")
        claims[claim.id] = claim
    return tuple(claims.values())


def _claim(entry: Mapping[str, Any]) -> Claim:
    related = Related(**entry["related"]) if "related" in entry else None
    sources = {column: _source(entry[column]) for column in ("on_paper_data", "beyond")}
    return Claim(**{**entry, **sources, "related": related})


def _source(given: Mapping[str, Any]) -> Judged | Unjudged:
    if "page" in given:
        return Judged(**{"where": {}, **given})
    ((verdict, reason),) = given.items()
    return Unjudged(UNJUDGED[verdict], reason)
