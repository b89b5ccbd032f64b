"""The two files of the authors' published toolkit: inputs by word, and their rationales (paper 003, section 3)."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd

from probekit.errors import ProbeError
from probekit.probes.probe import LINE, MASK, json_rows
from probekit.probes.rationales.record import Dimension, RationaleSet, as_record
from probekit.probes.rationales.words import Language

ORIGINAL, CHANGED = "ori", "disturb"
SEVERAL = re.compile(rf"{re.escape(MASK)}(?:\s*{re.escape(MASK)})+")


def toolkit_rationales(
    data: str | Path, gold: str | Path, dimension: Dimension, language: Language, **metadata: Any
) -> RationaleSet:
    """Read one dimension from files laid out as the authors' toolkit (TrustAI) publishes them.

    Args:
        data: a JSON object a line (whatever the file's name ends in) with ``id``, ``context`` and ``sent_token`` (its
            words). Several masks in a row are one slot.
        gold: the same, with ``sent_id``, ``answers`` (a string, or a list of them), ``rationale_ids`` (lists of
            positions in ``sent_token``, nested to any depth), ``sample_type`` (``ori`` or ``disturb``); of an
            original ``rel_ids``, the ids of its perturbed records; of these ``adv_type``, the kind of change.
        dimension: which the files hold; the layout does not say.
        language: of the files.
        **metadata: ``name``, ``licence``, ``citation``.

    Returns:
        The records. ``counts`` says how many name a kind of change that is not known here (``unstated``).

    Raises:
        ProbeError: naming the file, the record and the field; also of a perturbed record that no original names.
    """
    data, gold = Path(data), Path(gold)
    answers = {str(_get(row, "sent_id", gold, n)): (n, row) for n, row in json_rows(gold)}
    origin = _originals(gold, answers)
    records, unknown = dict[int, dict[str, Any]](), Counter[str]()
    for number, row in json_rows(data):
        name = str(_get(row, "id", data, number))
        if name not in answers:
            raise ProbeError(f"{gold}: no line with sent_id {name}, which {data}, line {number} needs")
        line, answer = answers[name]
        words, place = _merge_masks(_words(row, data, number))
        kind = "none"
        if name in origin:
            change_text = str(_get(answer, "adv_type", gold, line))
            kind = change_named(change_text)
            unknown[f"kind of change not known here: {change_text}"] += kind == "unstated"
        marked = _lists(_get(answer, "rationale_ids", gold, line))
        if marked is None or not all(set(positions) <= set(place) for positions in marked):
            fault = "field 'rationale_ids': lists of positions in sent_token are needed"
            raise ProbeError(f"{gold}, line {line}, {fault}, found {answer['rationale_ids']!r}")
        slotless = [list(dict.fromkeys(place[p] for p in positions if words[place[p]] != MASK)) for positions in marked]
        golds = _get(answer, "answers", gold, line)
        marked_words = {"words": words, "rationales": [positions for positions in slotless if positions]}
        change = {"perturbation": kind, "original_id": origin.get(name, "")}
        context = _get(row, "context", data, number)
        context = SEVERAL.sub(MASK, context) if isinstance(context, str) else context  # else the record refuses it
        golds = [golds] if isinstance(golds, str) else golds
        records[number] = as_record(name, context, golds, dimension, language, **marked_words, **change)
    counts = {text: count for text, count in unknown.items() if count}
    items = pd.DataFrame([*records.values()], index=pd.Index(records, name=LINE))
    return RationaleSet(**{"name": data.stem, "counts": counts, **metadata}, items=items)


def change_named(text: str) -> str:
    """The kind of change that ``adv_type`` names, in the words of this project; ``unstated`` where it is not known.

    The toolkit's samples show one name, of important words; the others follow the paper's section 3.3.
    """
    if any(word in text for word in ("转换", "变换", "句式", "句法", "结构")):
        return "transformation"
    if any(word in text for word in ("非重要", "不重要", "冗余", "可有可无")):
        return "dispensable"
    return "important" if "重要" in text else "unstated"


def _originals(gold: Path, answers: dict[str, tuple[int, dict[str, Any]]]) -> dict[str, str]:
    """Id of each perturbed record -> id of its original.

    Raises:
        ProbeError: a record of no known type, a perturbed one that not exactly one original names, or an original that
            another one names.
    """
    origin: dict[str, str] = {}
    kinds: dict[str, str] = {}
    for name, (line, row) in answers.items():
        kinds[name] = _get(row, "sample_type", gold, line)
        if kinds[name] not in (ORIGINAL, CHANGED):
            fault = f"field 'sample_type': {ORIGINAL} or {CHANGED}, not {kinds[name]!r}"
            raise ProbeError(f"{gold}, line {line}, {fault}")
        related = row.get("rel_ids") or []
        if not isinstance(related, list) or (related and kinds[name] == CHANGED):
            raise ProbeError(f"{gold}, line {line}, field 'rel_ids': a list of ids is needed, of an original alone")
        for other in map(str, related):
            if other in origin:
                raise ProbeError(f"{gold}, line {line}, field 'rel_ids': {other} belongs to {origin[other]} already")
            origin[other] = name
    for name, kind in kinds.items():
        if (kind == CHANGED) != (name in origin):
            fault = f"{origin[name]} names it as perturbed" if name in origin else "no original names it in its rel_ids"
            raise ProbeError(f"{gold}, line {answers[name][0]} (sent_id {name}, {kind}): {fault}")
    return origin


def _get(row: dict[str, Any], field: str, path: Path, number: int) -> Any:
    if field not in row:
        raise ProbeError(f"{path}, line {number}: no field {field!r}; found {', '.join(row)}")
    return row[field]


def _words(row: dict[str, Any], path: Path, number: int) -> list[str]:
    words = _get(row, "sent_token", path, number)
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ProbeError(f"{path}, line {number}, field 'sent_token': a list of words is needed, found {words!r}")
    return words


def _lists(nested: Any) -> list[list[int]] | None:
    """The innermost lists of numbers of a nested list; None of anything else."""
    if not isinstance(nested, list):
        return None
    if all(isinstance(entry, int) and not isinstance(entry, bool) for entry in nested):
        return [nested] if nested else []
    inner = [_lists(entry) for entry in nested]
    return None if None in inner else [positions for group in inner for positions in group or ()]


def _merge_masks(words: list[str]) -> tuple[list[str], dict[int, int]]:
    """Words with masks in a row made one, and the new position of each old one."""
    joined: list[str] = []
    place = {}
    for number, word in enumerate(words):
        if word != MASK or joined[-1:] != [MASK]:
            joined.append(word)
        place[number] = len(joined) - 1
    return joined, place
