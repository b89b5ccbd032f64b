"""Contexts with one masked word, its golds, and the words that explain it (paper 003, section 3)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from probekit.errors import ProbeError, caution
from probekit.files import canonical, digest
from probekit.files.naming import shown_file
from probekit.probes.probe import MASK, name_unknown, require_fields, row_places, rows_frame
from probekit.probes.rationales.words import Language, is_punctuation, split_words, word_spans

Dimension = Literal["grammar", "semantics", "knowledge", "reasoning", "computation"]
DIMENSIONS: tuple[str, ...] = get_args(Dimension)
PERTURBATIONS = ("dispensable", "important", "transformation")  # of the paper: the answer stays
CONTRASTS = ("role reversal", "negation", "misprimed")  # of other data: the answer changes, or the context misleads
KINDS = ("none", *PERTURBATIONS, *CONTRASTS, "unstated")
ANNOTATIONS = {"uniqueness": (1, 4), "sufficiency": (1, 3), "compactness": (1, 4)}  # scales of sections 3.2 and 3.4
REQUIRED = ("id", "language", "dimension", "context", "golds", "rationales", "perturbation", "original_id")
FIELDS = (*REQUIRED, "words", "rationale_words", "contrast", *ANNOTATIONS)  # that are read somewhere


@dataclass(frozen=True)
class RationaleSet:
    """Records of masked-word prediction with rationales.

    Args:
        name: as shown on pages.
        items: one row per record: ``id`` (unique string), ``language`` (en or zh), ``dimension``, ``context`` (one
            ``[MASK]``, which may stand for several tokens), ``golds`` (list of strings), ``rationales`` (list of
            lists of positions in ``words``; several are alternatives; empty where nobody marked any),
            ``perturbation`` (``none``; ``dispensable``, ``important`` or ``transformation``; ``role reversal``,
            ``negation`` or ``misprimed``; or ``unstated``), ``original_id`` (empty for an original). Where known,
            ``words`` (made by ``split_words`` if missing), ``rationale_words`` (checked against the positions),
            ``contrast`` (list of wrong fillings, of which the first that is no gold is the foil of the gold) and the
            annotators' mean scores ``uniqueness``, ``sufficiency``, ``compactness`` (NaN: unknown). Further columns are
            kept. An index named ``line`` says where in its file each stands, for errors; it is not kept.
        licence: of the data.
        citation: key in the book's references.
        counts: what a loader left out or did not know, by description.

    Raises:
        ProbeError: naming the record and the field that breaks a rule.
    """

    name: str
    items: pd.DataFrame
    licence: str = ""
    citation: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        places = row_places(self.items)
        items = self.items.reset_index(drop=True).copy()
        if items.empty:
            raise ProbeError(f"{self.name}: no records")
        require_fields(f"{self.name}: records", items, REQUIRED)
        rows: list[dict[str, Any]] = items.to_dict("records")
        items["words"] = [words_of(row) for row in rows]
        rows = items.to_dict("records")
        kinds: dict[Any, str] = {}
        for place, row in zip(places, rows, strict=True):
            if fault := next(record_faults(row, kinds), ""):
                raise ProbeError(f"{self.name}, {place} (id {row['id']!r}), {fault}")
            kinds[row["id"]] = row["perturbation"]
        for place, row in zip(places, rows, strict=True):
            if fault := original_fault(row, kinds):
                raise ProbeError(f"{self.name}, {place} (id {row['id']!r}), {fault}")
        object.__setattr__(self, "items", items)

    @cached_property
    def fingerprint(self) -> str:
        """Digest of ids, those of originals too, contexts, words, golds and rationales."""
        columns = ["id", "context", "words", "golds", "rationales", "original_id"]
        return digest(canonical(self.items[columns].to_numpy().tolist()))

    @property
    def pairs(self) -> pd.DataFrame:
        """Perturbed records and their originals, as ``id, original_id, dimension, language, perturbation``."""
        perturbed = self.items[self.items["original_id"] != ""]
        return perturbed[["id", "original_id", "dimension", "language", "perturbation"]].reset_index(drop=True)

    def select(self, keep: pd.Series | Sequence[bool]) -> RationaleSet:
        """The records where ``keep`` is true; a perturbed one must keep its original."""
        return replace(self, items=self.items[list(keep)])

    @classmethod
    def from_file(cls, path: str | Path, **metadata: Any) -> RationaleSet:
        """Read records from a JSONL file with the fields of ``items``.

        Args:
            **metadata: ``name``, ``licence``, ``citation``.

        Raises:
            ProbeError: naming the file and line, or the record and field.
        """
        path = Path(path)
        rows = rows_frame(path)
        given = rows.get("original_id", pd.Series(None, rows.index))
        rows["original_id"] = given.where(given.notna(), "")
        name_unknown(path, rows.columns, FIELDS)
        records = cls(**{"name": shown_file(path), **metadata}, items=rows)
        if ids := [row["id"] for row in records.items.to_dict("records") if _ends_in_marks(row)]:
            caution(
                f"{shown_file(path)}: a rationale of {', '.join(ids[:3])} begins or ends with a punctuation mark: "
                "positions count words from 0, and marks as words."
            )
        return records

    @classmethod
    def from_texts(cls, texts: Sequence[str], language: Language = "en") -> RationaleSet:
        """Texts with one ``[MASK]`` each as records of one unknown token, without golds or rationales."""
        rows = [as_record(str(number), text, [], "", language) for number, text in enumerate(texts)]
        return cls("texts", pd.DataFrame(rows))


def as_record(
    name: str, context: str, golds: list[str], dimension: str, language: str = "en", **more: Any
) -> dict[str, Any]:
    """A record in the fields of ``RationaleSet``: an original without a marked rationale, unless ``more`` says else."""
    return {
        "id": name,
        "language": language,
        "dimension": dimension,
        "context": context,
        "golds": golds,
        "rationales": [],
        "perturbation": "none",
        "original_id": "",
        **more,
    }


def words_of(row: Mapping[str, Any]) -> list[str]:
    """The words of a record: its own, or its context's; none where that cannot be split."""
    if isinstance(given := row.get("words"), list):
        return given
    supported = isinstance(row["context"], str) and row["language"] in get_args(Language)
    return split_words(row["context"], row["language"]) if supported else []


def _ends_in_marks(row: Mapping[str, Any]) -> bool:
    """Whether a rationale begins or ends with a punctuation mark, which nobody marks as a reason."""
    ends = {place for marked in row["rationales"] if marked for place in (min(marked), max(marked))}
    return any(is_punctuation(row["words"][place]) for place in ends)


def original_fault(row: Mapping[str, Any], kinds: Mapping[Any, str]) -> str:
    """What is wrong with the original that a record names, or nothing; ``kinds`` has the perturbation of each id."""
    if row["original_id"] and kinds.get(row["original_id"]) != "none":
        return f"field 'original_id': {row['original_id']!r} is no original here"
    return ""


def record_faults(row: Mapping[str, Any], seen: Collection[Any]) -> Iterator[str]:
    """What is wrong with a record, one after the other; ``seen`` holds the ids of others."""
    if not isinstance(row["id"], str) or not row["id"]:
        yield "field 'id': a non-empty string is needed"
    elif row["id"] in seen:
        yield "field 'id': used before; ids must be unique"
    if row["language"] not in get_args(Language):
        yield f"field 'language': one of {', '.join(get_args(Language))}, not {row['language']!r}"
    if row["dimension"] not in (*DIMENSIONS, ""):
        yield f"field 'dimension': one of {', '.join(DIMENSIONS)}, not {row['dimension']!r}"
    if not isinstance(row["context"], str) or row["context"].count(MASK) != 1:
        yield f"field 'context': exactly one {MASK} is needed, found {row['context']!r}"
    golds = row["golds"]
    if not isinstance(golds, list) or not all(isinstance(gold, str) and gold.strip() for gold in golds):
        yield f"field 'golds': a list of non-empty strings is needed, found {golds!r}"
    foils = row.get("contrast")
    if isinstance(foils, str) or (isinstance(foils, list) and not all(isinstance(f, str) and f.strip() for f in foils)):
        yield f"field 'contrast': a list of non-empty strings is needed, found {foils!r}"
    if row["perturbation"] not in KINDS:
        yield f"field 'perturbation': one of {', '.join(KINDS)}, not {row['perturbation']!r}"
    if not isinstance(row["original_id"], str) or (row["perturbation"] == "none") != (row["original_id"] == ""):
        yield "field 'original_id': a perturbed record names its original, and an original names none ('')"
    readable = row["language"] in get_args(Language) and isinstance(row["context"], str)
    yield from filter(None, ((_words_fault(row) if readable else ""), _annotation_fault(row)))


def _words_fault(row: Mapping[str, Any]) -> str:
    words, rationales = row["words"], row["rationales"]
    if not all(isinstance(word, str) for word in words):
        return f"field 'words': a list of strings is needed, found {words!r}"
    try:
        word_spans(row["context"], words)
    except ProbeError as error:
        return str(error)
    if words.count(MASK) != 1:
        return f"field 'words': {MASK} must be one of them"
    if not isinstance(rationales, list) or not all(isinstance(r, list) and r for r in rationales):
        return f"field 'rationales': a list of non-empty lists of positions is needed, found {rationales!r}"
    for rationale in rationales:
        for place in rationale:
            if not isinstance(place, int) or not 0 <= place < len(words) or words[place] == MASK:
                return f"field 'rationales': {place!r} is not the position of a word other than {MASK}"
        if len(set(rationale)) < len(rationale):
            return f"field 'rationales': a position twice in {rationale}"
    shown = row.get("rationale_words")
    marked = [[words[place] for place in rationale] for rationale in rationales]
    if isinstance(shown, list) and shown != marked:
        return f"field 'rationale_words': the positions hold {marked}, not {shown}"
    return ""


def _annotation_fault(row: Mapping[str, Any]) -> str:
    for name, (low, high) in ANNOTATIONS.items():
        score = row.get(name)
        if score is None or (isinstance(score, float) and np.isnan(score)):
            continue
        if isinstance(score, bool) or not isinstance(score, int | float) or not low <= score <= high:
            return f"field {name!r}: a number from {low} to {high} is needed, found {score!r}"
    return ""
