"""A probe: prompts with one slot each, and the entities that may fill it."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import zip_longest
from numbers import Number
from pathlib import Path
from typing import Any, Literal, get_args

import pandas as pd

from probekit.cautions import caution
from probekit.errors import ProbeError, meant
from probekit.files import canonical, digest
from probekit.reading import HELD, csv_rows, json_lines, json_value, lines
from probekit.titles import shown_file, shown_name

MASK = "[MASK]"
LINE = "line"  # name of the index of rows that stand in a file
Style = Literal["template", "natural", "other"]
FIELDS = (  # of a prompt that are read somewhere
    *("prompt_id", "text", "gold", "fact_id", "relation", "relation_label", "subject", "template_id", "entity_type"),
    *("exposure", "kind", "shows_gold", "exact_surface", "homonym", "new_wording", "domain", "style", "surface"),
    *("pmid", "date", "types", "aliases", "subject_aliases"),
)


@dataclass(frozen=True)
class Probe:
    """Prompts and the entities that compete to fill their slots.

    Args:
        name: as shown on pages.
        prompts: one row per prompt with ``prompt_id`` (unique), ``text`` (exactly one ``[MASK]``) and ``gold`` (list of
            strings, the fact's own object first); where known ``fact_id``, ``relation``, ``subject``,
            ``template_id``, ``entity_type``. Further columns are kept. An index named ``line`` says where in its file
            each stands, for errors; it is not kept.
        entities: every candidate; holds every gold. Repeated strings count once.
        style: ``template``, ``natural`` or ``other``.
        domain: such as ``general`` or ``biomedical``.
        licence: of the data.
        citation: key in the book's references.
        counts: what the loader left out or could not find, by description.

    Raises:
        ProbeError: naming the row and the field that breaks a rule.
    """

    name: str
    prompts: pd.DataFrame
    entities: Sequence[str]
    style: Style = "other"
    domain: str = ""
    licence: str = ""
    citation: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "entities", tuple(dict.fromkeys(self.entities)))
        places = row_places(self.prompts)
        object.__setattr__(self, "prompts", self.prompts.reset_index(drop=True))
        if self.prompts.empty:
            raise ProbeError(f"{self.name}: no prompts")
        for column in ("prompt_id", "text", "gold"):
            if column not in self.prompts:
                found = ", ".join(f"{name}{meant(str(name), [column])}" for name in self.prompts.columns)
                raise ProbeError(f"{self.name}: prompts have no field {column!r}; found {found}")
        if not self.entities:
            raise ProbeError(f"{self.name}: no entities")
        for number, entity in enumerate(self.entities):
            if not _visible(entity):
                raise ProbeError(f"{self.name}: entity {number} is {entity!r}, not a non-empty string")
        known, seen = set(self.entities), set[Any]()
        fields = self.prompts["prompt_id"], self.prompts["text"], self.prompts["gold"]
        for place, prompt_id, text, gold in zip(places, *fields, strict=True):
            fault = _fault(prompt_id, text, gold, known, seen)
            if fault:
                raise ProbeError(f"{self.name}, {place} (prompt_id {prompt_id!r}), {fault}")
            seen.add(prompt_id)

    @cached_property
    def fingerprint(self) -> str:
        """Digest of the ids, texts, golds, relations and entities, which decide every score and rank."""
        relations = self.prompts["relation"] if "relation" in self.prompts else [""] * len(self.prompts)
        columns = self.prompts["prompt_id"], self.prompts["text"], self.prompts["gold"], relations
        rows = [[str(i), t, list(g), str(r)] for i, t, g, r in zip(*columns, strict=True)]
        return digest(canonical(rows), canonical(list(self.entities)))

    @property
    def dataset(self) -> str:
        """The name without the style (see ``dataset_of``)."""
        return dataset_of(self.name, self.style)

    @property
    def facts(self) -> pd.Series:
        """The fact of every prompt; its own id where the probe names no facts."""
        facts: pd.Series = self.prompts.get("fact_id", self.prompts["prompt_id"])
        return facts

    def select(self, keep: pd.Series | Sequence[bool]) -> Probe:
        """The probe of the prompts where ``keep`` is true; the candidates stay."""
        return replace(self, prompts=self.prompts[list(keep)])

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        entities: Iterable[str] | str | Path | None = None,
        limit: int | None = None,
        seed: int = 0,
        **about: Any,
    ) -> Probe:
        """Read a probe from anyone's JSONL or CSV file with the fields of ``prompts``.

        Args:
            path: ``.jsonl`` (an object a line) or ``.csv`` (with a header; ``gold`` is one string or a JSON list).
                A missing ``prompt_id`` becomes the row's number, from 0. Fields that nothing reads are
                kept, and warned of.
            entities: candidates, or a text file with one a line; the golds alone by default.
            limit: at most so many rows, drawn with ``seed``; the candidates stay.
            **about: ``name``, ``style``, ``domain``, ``licence``, ``citation``; the columns ``style`` and ``domain``,
                the same in all rows, say so too.

        Raises:
            ProbeError: naming the file, the line and its field.
        """
        path = Path(path)
        prompts = rows_frame(path)
        name_unknown(path, prompts.columns, FIELDS)
        if "gold" in prompts:
            prompts["gold"] = [
                _as_list(v, f"{path}, line {n}") for n, v in zip(prompts.index, prompts["gold"], strict=True)
            ]
        if "prompt_id" not in prompts:
            prompts["prompt_id"] = [str(row) for row in range(len(prompts))]
        if isinstance(entities, (str, Path)):
            entities = [line.strip() for _, line in lines(Path(entities), HELD) if line.strip()]
        if entities is None:
            entities = [g for gold in prompts.get("gold", []) for g in gold if isinstance(g, str) and g.strip()]
        for field_ in [name for name in ("style", "domain") if name in prompts and name not in about]:
            about[field_] = _the_one(prompts[field_], path)
        if limit is not None and limit < len(prompts):
            prompts = prompts.iloc[sorted(random.Random(seed).sample(range(len(prompts)), limit))]
        return cls(**{"name": shown_file(path), **about}, prompts=prompts, entities=list(entities))


def dataset_of(probe: str, style: str) -> str:
    """The name of a probe without its style: ``trex`` of ``trex/natural``, ``mine`` of one's own ``mine_natural``."""
    return re.sub(f"[/_]{style}$", "", probe)


def _the_one(column: pd.Series, path: Path) -> str:
    found = list(dict.fromkeys(map(str, column)))
    if len(found) > 1 or (column.name == "style" and found[0] not in get_args(Style)):
        raise ProbeError(
            f"{path}, field {column.name!r}: one word for all rows is needed"
            + f", of {', '.join(get_args(Style))}" * (column.name == "style")
            + f"; found {', '.join(found)}"
        )
    return found[0]


def shows(entity: str, text: str) -> bool:
    """Whether ``entity`` stands in ``text`` as a word or words of its own, in whatever case."""
    return re.search(rf"(?<!\w){re.escape(entity)}(?!\w)", text, re.IGNORECASE) is not None


def _fault(prompt_id: Any, text: Any, gold: Any, known: set[str], seen: set[Any]) -> str:
    if not isinstance(prompt_id, (str, Number)) or prompt_id == "" or _is_nan(prompt_id):
        return "field 'prompt_id': missing, or neither a string nor a number"
    if prompt_id in seen:
        return "field 'prompt_id': used before; ids must be unique"
    if not isinstance(text, str) or text.count(MASK) != 1:
        found = f"{text.count(MASK)} in {text[:80]!r}" if isinstance(text, str) else repr(text)
        return f"field 'text': exactly one {MASK} is needed, found {found}"
    if not isinstance(gold, (list, tuple)) or not gold:
        return f"field 'gold': a non-empty list of strings is needed, found {gold!r}"
    for one in gold:
        if not _visible(one):
            missing = isinstance(one, float) and math.isnan(one)
            return f"field 'gold': {'missing' if missing else f'{one!r} is not a non-empty string'}"
        if one not in known:
            return f"field 'gold': {one!r} is not among the entities"
    return ""


def _visible(text: Any) -> bool:
    """Whether it is a text that shows something: more than spaces, and signs without a width."""
    return isinstance(text, str) and any(sign.isprintable() and not sign.isspace() for sign in text)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def row_places(rows: pd.DataFrame) -> list[str]:
    """What errors call each row: by its line, where the index names lines of a file, else by its number, from 1."""
    if rows.index.name == LINE:
        return [f"line {number}" for number in rows.index]
    return [f"row {number}" for number in range(1, len(rows) + 1)]


def numbered_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows of a ``.jsonl`` or ``.csv`` file as dictionaries, each with the line on which it begins.

    Raises:
        ProbeError: file missing, not UTF-8, or naming the line that is not a JSON object or does not fit the header.
    """
    if path.suffix == ".csv":
        return _csv_rows(path)
    if path.suffix != ".jsonl":
        raise ProbeError(f"{path}: a probe file ends in .jsonl or .csv, not in {path.suffix or 'nothing'}")
    return json_rows(path)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The same rows without their lines."""
    return [row for _, row in numbered_rows(path)]


def rows_frame(path: Path) -> pd.DataFrame:
    """The same rows as a table, its index being their lines."""
    found = list(numbered_rows(path))
    return pd.DataFrame([row for _, row in found], index=pd.Index([number for number, _ in found], name=LINE))


def name_unknown(path: Path, found: Iterable[Any], known: Collection[str]) -> None:
    """Warn of the fields of a data file that nothing reads: one of them may be misspelt."""
    if unread := [str(name) for name in found if name not in known]:
        told = ", ".join(f"{name!r}{meant(name, known)}" for name in unread[:6])
        more = f" and {len(unread) - 6} more" if len(unread) > 6 else ""
        caution(f"{shown_name(str(path))}: nothing reads the fields {told}{more}.")


def json_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows of a file with a JSON object a line, whatever its name ends in, with their lines; empty ones are left out.

    Raises:
        ProbeError: file missing, not UTF-8, or naming the line that is not a JSON object.
    """
    for number, row in json_lines(path):
        if not isinstance(row, dict):
            raise ProbeError(f"{path}, line {number}: a JSON object is needed, found {str(row)[:40]!r}")
        yield number, row


def _csv_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    header: list[str] = []
    for number, row in csv_rows(path):
        if not header:
            header = row
        elif len(row) > len(header):
            fault = "more fields than the header; put quotes around text with commas"
            raise ProbeError(f"{path}, line {number}: {fault}")
        else:
            yield number, dict(zip_longest(header, row))


def _as_list(value: Any, place: str) -> list[Any]:
    if isinstance(value, str) and value.lstrip().startswith("["):
        return list(json_value(value, f"{place}, field 'gold'"))
    return list(value) if isinstance(value, (list, tuple)) else [value]
