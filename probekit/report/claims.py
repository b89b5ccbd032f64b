"""Claims of the papers: what one is, and how ``book/published/claims.yml`` is read, every refusal naming its claim."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from probekit.errors import ReportError
from probekit.files.reading import SETTINGS, read_text, yaml_value
from probekit.report.paths import root

Number = int | float
Because = Literal["models or data", "no limit", "nothing to run"]


@dataclass(frozen=True)
class Judged:
    """By which rows of which page's conclusions a claim is judged, and how.

    ``rule``, of one row: ``direction``, by the side of zero on which its interval lies, or ``number``, by the
    tolerance; of several, one a model or dimension: ``all``, ``most`` or ``some`` of them (see ``verdicts``).
    ``where``: column -> the value, or the values, of the rows that decide.
    ``confounded``: why no verdict can follow from the rows, whatever they say. ``missing``: why there may be no such
    row, on what was recorded here; the claim is then not run.
    """

    page: str
    rule: Literal["direction", "number", "all", "most", "some"]
    where: dict[str, str | list[str]]
    confounded: str = ""
    missing: str = ""


@dataclass(frozen=True)
class Related:
    """A number of ours on the same data from other models, and what it is: to be read, never for a verdict."""

    table: str
    where: dict[str, str]
    column: str
    note: str


@dataclass(frozen=True)
class Claim:
    """One claim of one paper; ``tolerance`` is the greatest difference that still counts as reproduced.

    ``source`` says by what it is judged, or in words why it is not run, and ``because`` in short: its models or data
    are not at hand, the paper gives no limit to judge by, or it tells of what was done, so that nothing can be run.
    """

    id: str
    paper: str
    where: str
    statement: str
    published: Number | str | None
    tolerance: Number | None
    source: Judged | str
    related: Related | None = None
    because: Because = "models or data"


def load_claims(path: Path | None = None) -> list[Claim]:
    """The claims of ``book/published/claims.yml`` (or of ``path``), in file order.

    Raises:
        ProbeError: it cannot be read, or is no YAML.
        ReportError: a claim has a missing, unknown or mistyped field, or an id that is there twice.
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
        if isinstance(claim.source, Judged) and claim.source.rule == "number" and not numbers:
            raise ReportError(f"{place}, field 'source': a number is compared with numbers: give both and a tolerance")
        if isinstance(claim.source, Judged) and claim.related:
            raise ReportError(f"{place}, field 'related': the claim is judged already: leave one of them out")
        claims[claim.id] = claim
    return tuple(claims.values())


def _claim(entry: Mapping[str, Any]) -> Claim:
    given = entry["source"]
    source = given["not_run"] if "not_run" in given else Judged(**{"where": {}, **given})
    related = Related(**entry["related"]) if "related" in entry else None
    why = {"because": given["because"]} if "because" in given else {}
    return Claim(**{**entry, "source": source, "related": related, **why})
