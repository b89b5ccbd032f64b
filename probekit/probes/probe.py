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
from typing import Any, Literal, TypeVar, cast, get_args

import pandas as pd

from probekit.errors import ProbeError, caution, meant
from probekit.files import canonical, digest
from probekit.files.naming import shown_file, shown_name
from probekit.files.parquet import parquet_rows
from probekit.files.reading import HELD, csv_rows, json_lines, json_value, lines

MASK = "[MASK]"
LINE = "line"  # name of the index of rows that stand in a file
ROWS = (".jsonl", ".csv", ".parquet")  # so end files of rows
Style = Literal["template", "natural", "other"]
Candidates = Literal["all", "relation"]  # who competes at a prompt: every entity, or those of its relation
Row = TypeVar("Row")
STYLED = re.compile(r"(?:^|[/_.-])(template|natural)$")  # a name that says its style
FIELDS = (  # of a prompt that are read somewhere
    *("prompt_id", "text", "gold", "fact_id", "relation", "relation_label", "subject", "template_id", "entity_type"),
    *("exposure", "kind", "shows_gold", "exact_surface", "homonym", "new_wording", "domain", "style", "surface"),
    *("pmid", "date", "types", "aliases", "subject_aliases", "paraphrases"),
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
        entities: every candidate; holds every gold. Repeated strings count once, and white space around them and the
            golds is left out.
        style: ``template``, ``natural`` or ``other``.
        domain: such as ``general`` or ``biomedical``.
        licence: of the data.
        citation: key in the book's references.
        counts: what the loader read, left out or could not find, by description.
        candidates: which entities compete at a prompt, ``all`` or those of its ``relation``.
        relations: relation -> its entities in the whole data set; of one that is not there, the golds of its prompts.

    Raises:
        ProbeError: naming what breaks a rule, such as the row and field.
    """

    name: str
    prompts: pd.DataFrame
    entities: Sequence[str]
    style: Style = "other"
    domain: str = ""
    licence: str = ""
    citation: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    candidates: Candidates = "all"
    relations: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "entities", tuple(dict.fromkeys(map(_stripped, self.entities))))
        places = row_places(self.prompts)
        object.__setattr__(self, "prompts", self.prompts.reset_index(drop=True))
        if self.prompts.empty:
            raise ProbeError(f"{self.name}: no prompts")
        require_fields(f"{self.name}: prompts", self.prompts, ("prompt_id", "text", "gold"))
        golds = [[_stripped(name) for name in g] if isinstance(g, (list, tuple)) else g for g in self.prompts["gold"]]
        object.__setattr__(self, "prompts", self.prompts.assign(gold=golds))
        if not self.entities:
            raise ProbeError(f"{self.name}: no entities")
        for number, entity in enumerate(self.entities):
            if not _visible(entity):
                raise ProbeError(f"{self.name}: entity {number} is {entity!r}, not a non-empty string")
        candidates, seen = set(self.entities), set[Any]()
        fields = self.prompts["prompt_id"], self.prompts["text"], self.prompts["gold"]
        for place, prompt_id, text, gold in zip(places, *fields, strict=True):
            if fault := next(prompt_faults(prompt_id, text, gold, candidates, seen), ""):
                raise ProbeError(f"{self.name}, {place} (prompt_id {prompt_id!r}), {fault}")
            seen.add(prompt_id)
        given = self.prompts["relation"] if "relation" in self.prompts else pd.Series(dtype=object)
        if wrong := next((n for n, value in zip(places, given, strict=False) if isinstance(value, (list, dict))), None):
            raise ProbeError(f"{self.name}, {wrong}, field 'relation': a name is needed, not a list or an object")
        named = zip(given, golds, strict=False)
        object.__setattr__(self, "relations", {**by_relation(named), **by_relation(self.relations.items())})

    @cached_property
    def pools(self) -> dict[str, list[str]]:
        """The entities that compete, by the relation of the prompt; under the empty name where all always do.

        Raises:
            ProbeError: those of a relation shall, and a prompt names none.
        """
        if self.candidates == "all":
            return {"": list(self.entities)}
        if "relation" not in self.prompts or self.prompts["relation"].isna().any():
            raise ProbeError(f"{self.name}: ranking among a relation's entities needs the field 'relation'")
        return {name: list(self.relations[name]) for name in dict.fromkeys(self.prompts["relation"])}

    @property
    def pool_of(self) -> list[str]:
        """The name in ``pools`` of every prompt."""
        return self.prompts["relation"].tolist() if self.candidates == "relation" else [""] * len(self.prompts)

    @property
    def competing(self) -> list[int]:
        """How many entities compete at every prompt."""
        return [len(self.pools[name]) for name in self.pool_of]

    @cached_property
    def fingerprint(self) -> str:
        """Digest of the ids, texts, golds and relations of the prompts, and of those who compete there."""
        relations = self.prompts["relation"] if "relation" in self.prompts else [""] * len(self.prompts)
        columns = self.prompts["prompt_id"], self.prompts["text"], self.prompts["gold"], relations
        rows = [[str(i), t, list(g), str(r)] for i, t, g, r in zip(*columns, strict=True)]
        pools = [canonical(self.pools)] if self.candidates == "relation" else []
        return digest(canonical(rows), canonical(list(self.entities)), *pools)

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

    def among(self, candidates: str) -> Probe:
        """The probe with other candidates at its prompts.

        Args:
            candidates: ``all`` entities, those of the prompt's ``relation``, or ``auto``, the probe's own choice.

        Raises:
            ProbeError: such as none of these, or a prompt without a relation where one is needed.
        """
        if candidates not in ("auto", *get_args(Candidates)):
            raise ProbeError(f"candidates must be auto, {' or '.join(get_args(Candidates))}, not {candidates!r}")
        probe = self if candidates == "auto" else replace(self, candidates=cast(Candidates, candidates))
        probe.pools  # noqa: B018 - refuses
        return probe

    def restricted(self, entities: Collection[str], prompts: pd.DataFrame) -> Probe:
        """The probe of some prompts, of whose candidates only ``entities`` stay."""
        kept = set(entities)
        pools = {name: [one for one in pool if one in kept] for name, pool in self.relations.items()}
        return replace(self, prompts=prompts, entities=[one for one in self.entities if one in kept], relations=pools)

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        entities: Iterable[str] | str | Path | None = None,
        limit: int | None = None,
        seed: int = 0,
        split: str | None = None,
        **metadata: Any,
    ) -> Probe:
        """Read a probe from anyone's rows with the fields of ``prompts``.

        Args:
            path: ``.jsonl`` (an object a line), ``.csv`` (with a header; ``gold`` is one string or a JSON list),
                ``.parquet``, or a Hugging Face data set, a saved folder or ``hf:NAME`` or ``hf:NAME@REVISION``. Where
                no row has ``prompt_id``, it is the row's number, from 0. Fields that nothing reads are kept, and warned
                of.
            entities: candidates, or a text file with one a line; the golds of all rows by default.
            limit: at most so many facts, or rows where none are named, drawn with ``seed``; the candidates stay. Files
                that name the same facts keep the same.
            split: of a Hugging Face data set.
            **metadata: ``name``, ``style``, ``domain``, ``licence``, ``citation``; columns ``style`` and ``domain``,
                the same in all rows, say so too, and so does a name's last word, ``template`` or ``natural``. Of rows
                in several styles, those of the ``style`` that is given are taken.

        Raises:
            ProbeError: naming the file and, of one row, its place.
        """
        from probekit.probes.hub import dataset_frame, is_dataset

        place = str(path)
        prompts = dataset_frame(place, split) if is_dataset(place) else rows_frame(Path(path))
        name_unknown(Path(path), prompts.columns, FIELDS)
        if "gold" in prompts:
            prompts["gold"] = [
                as_list(v, f"{path}, line {n}") for n, v in zip(prompts.index, prompts["gold"], strict=True)
            ]
        if "prompt_id" not in prompts:
            prompts["prompt_id"] = [str(row) for row in range(len(prompts))]
        if "fact_id" in prompts:
            ids = zip(prompts["fact_id"], prompts["prompt_id"], strict=True)
            prompts["fact_id"] = [_as_name(fact) or str(prompt) for fact, prompt in ids]
        if isinstance(entities, (str, Path)):
            entities = [line.strip() for _, line in lines(Path(entities), HELD) if line.strip()]
        if entities is None:
            entities = [g for gold in prompts.get("gold", []) for g in gold if isinstance(g, str) and g.strip()]
        metadata = {"name": shown_file(path), **metadata}
        prompts = _styled(prompts, metadata, path)
        if "domain" in prompts and "domain" not in metadata:
            metadata["domain"], *others = dict.fromkeys(map(str, prompts["domain"]))
            if others:
                domains = ", ".join([metadata["domain"], *others])
                raise ProbeError(f"{path}, field 'domain': one word for all rows is needed; found {domains}")
        try:
            whole = cls(**metadata, prompts=prompts, entities=list(entities))
        except ProbeError as error:  # the name on pages is shorter than the file's
            raise ProbeError(f"{path}{str(error).removeprefix(metadata['name'])}") from error
        return whole if limit is None else whole.select(_drawn(prompts, limit, seed))


def by_relation(named: Iterable[tuple[str, Iterable[str]]]) -> dict[str, tuple[str, ...]]:
    """Relation -> all its entities, each once, of pairs of a relation and some entities."""
    pools: dict[str, dict[str, None]] = {}
    for relation, entities in named:
        pools.setdefault(relation, {}).update(dict.fromkeys(map(_stripped, entities)))
    return {relation: tuple(entities) for relation, entities in pools.items()}


def dataset_of(probe: str, style: str) -> str:
    """The name of a probe without its style: ``trex`` of ``trex/natural``, ``mine`` of one's own ``mine_natural``."""
    return re.sub(f"[/_.-]{style}$", "", probe)


def _styled(prompts: pd.DataFrame, metadata: dict[str, Any], path: str | Path) -> pd.DataFrame:
    """The rows of the style that is given or that they tell; what rows or name say of both goes into ``metadata``."""
    styles = list(dict.fromkeys(map(str, prompts.get("style", ()))))
    if unknown := [style for style in styles if style not in get_args(Style)]:
        raise ProbeError(f"{path}, field 'style': one of {', '.join(get_args(Style))} is needed; found {unknown[0]}")
    if len(styles) > 1:
        if metadata.get("style") not in styles:
            raise ProbeError(f"{path}: its rows are of the styles {', '.join(styles)}; say which by style")
        prompts = prompts[prompts["style"] == metadata["style"]]
        metadata["name"] = f"{dataset_of(metadata['name'], metadata['style'])}/{metadata['style']}"
    elif styles:
        metadata.setdefault("style", styles[0])
    elif match := STYLED.search(metadata["name"]):
        metadata.setdefault("style", match[1])
    if metadata["name"] == metadata.get("style"):
        metadata["name"] = f"{Path(path).absolute().parent.name or 'mine'}/{metadata['name']}"
    return prompts


def _drawn(prompts: pd.DataFrame, limit: int, seed: int) -> pd.Series:
    """Of each prompt, whether it is drawn."""
    if "fact_id" in prompts:
        return prompts["fact_id"].isin(facts_by_digest(prompts["fact_id"], limit, seed))
    return pd.Series(range(len(prompts))).isin(draw(range(len(prompts)), limit, seed))


def facts_by_digest(facts: Iterable[str], limit: int | None, seed: int, salt: str = "") -> set[str]:
    """At most so many facts, drawn by a digest of their ids, so that data with other facts beside draw alike; draws of
    two purposes are independent where their ``salt`` differs."""
    return set(sorted(set(facts), key=lambda fact: digest(salt + str(seed), fact))[:limit])


def draw(rows: Sequence[Row], limit: int | None, seed: int) -> list[Row]:
    """At most so many rows, drawn with ``seed``, in their order; all without a limit."""
    if limit is None or limit >= len(rows):
        return list(rows)
    return [rows[place] for place in sorted(random.Random(seed).sample(range(len(rows)), limit))]


def _as_name(value: Any) -> str:
    """An id as text, the same for 1, 1.0 (as pandas reads numbers of which some are missing) and "1"; none is empty."""
    if value is None or _is_nan(value):
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def require_fields(what: str, rows: pd.DataFrame, fields: Iterable[str]) -> None:
    """Refuse rows without one of some fields; the error says which there are, and which may be meant.

    Raises:
        ProbeError: beginning with ``what``.
    """
    for field_name in fields:
        if field_name not in rows:
            present = ", ".join(f"{name}{meant(str(name), [field_name])}" for name in rows.columns)
            raise ProbeError(f"{what} have no field {field_name!r}; found {present}")


def shows(entity: str, text: str) -> bool:
    """Whether ``entity`` stands in ``text`` as a word or words of its own, in whatever case."""
    return re.search(rf"(?<!\w){re.escape(entity)}(?!\w)", text, re.IGNORECASE) is not None


def prompt_faults(prompt_id: Any, text: Any, gold: Any, names: Collection[str], seen: Collection[Any]) -> Iterator[str]:
    """What is wrong with a prompt, one after the other.

    Args:
        names: the entities.
        seen: ids of other prompts.
    """
    if not isinstance(prompt_id, (str, Number)) or prompt_id == "" or _is_nan(prompt_id):
        yield "field 'prompt_id': missing, or neither a string nor a number"
    elif prompt_id in seen:
        yield "field 'prompt_id': used before; ids must be unique"
    if not isinstance(text, str) or text.count(MASK) != 1:
        shown = f"{text.count(MASK)} in {text[:80]!r}" if isinstance(text, str) else repr(text)
        yield f"field 'text': exactly one {MASK} is needed, found {shown}"
    if not isinstance(gold, (list, tuple)) or not gold:
        yield f"field 'gold': a non-empty list of strings is needed, found {gold!r}"
        return
    for name in gold:
        if not _visible(name):
            missing = isinstance(name, float) and math.isnan(name)
            yield f"field 'gold': {'missing' if missing else f'{name!r} is not a non-empty string'}"
        elif name not in names:
            yield f"field 'gold': {name!r} is not among the entities"


def _visible(text: Any) -> bool:
    """Whether it is a text that shows something: more than spaces, and signs without a width."""
    return isinstance(text, str) and any(sign.isprintable() and not sign.isspace() for sign in text)


def _stripped(entity: Any) -> Any:
    """An entity without white space around it; what is no string, or nothing else, stays, to be refused."""
    return (entity.strip() or entity) if isinstance(entity, str) else entity


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def row_places(rows: pd.DataFrame) -> list[str]:
    """What errors call each row: by its line, where the index names lines of a file, else by its number, from 1."""
    if rows.index.name == LINE:
        return [f"line {number}" for number in rows.index]
    return [f"row {number}" for number in range(1, len(rows) + 1)]


def numbered_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows of a file that ends in one of ``ROWS`` as dictionaries, each with the line on which it begins.

    Raises:
        ProbeError: file missing, not UTF-8, or naming the line that is not a JSON object or does not fit the header.
    """
    if path.suffix == ".csv":
        return _csv_rows(path)
    if path.suffix == ".parquet":
        return enumerate(map(without_nulls, parquet_rows(path, total=HELD)), start=1)
    if path.suffix != ".jsonl":
        raise ProbeError(f"{path}: a probe file ends in {' or '.join(ROWS)}, not in {path.suffix or 'nothing'}")
    return json_rows(path)


def without_nulls(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a table without the fields, and the keys in them, that only other rows have."""
    present = {name: value for name, value in row.items() if value is not None}
    mappings = {name: value for name, value in present.items() if isinstance(value, dict)}
    return present | {name: {key: v for key, v in of.items() if v is not None} for name, of in mappings.items()}


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The same rows without their lines."""
    return [row for _, row in numbered_rows(path)]


def styles_in(path: Path) -> list[str]:
    """The styles that the rows of a file tell, in their order."""
    return list(dict.fromkeys(str(row["style"]) for _, row in numbered_rows(path) if "style" in row))


def rows_frame(path: Path) -> pd.DataFrame:
    """The same rows as a table, its index being their lines."""
    rows, name = list(numbered_rows(path)), None if path.suffix == ".parquet" else LINE
    return pd.DataFrame([row for _, row in rows], index=pd.Index([number for number, _ in rows], name=name))


def name_unknown(path: Path, fields: Iterable[Any], allowed: Collection[str]) -> None:
    """Warn of the fields of a data file that nothing reads: one of them may be misspelt."""
    if unread := [str(name) for name in fields if name not in allowed]:
        names = ", ".join(f"{name!r}{meant(name, allowed)}" for name in unread[:6])
        more = f" and {len(unread) - 6} more" if len(unread) > 6 else ""
        caution(f"{shown_name(str(path))}: nothing reads the fields {names}{more}.")


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


def as_list(value: Any, place: str) -> list[Any]:
    """The golds of a row: a list, a list in JSON, or a single one."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        return list(json_value(value, f"{place}, field 'gold'"))
    return list(value) if isinstance(value, (list, tuple)) else [value]
