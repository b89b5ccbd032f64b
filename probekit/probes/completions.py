"""Completions of templates: those the authors of paper 004 released, and the user's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from probekit.errors import ProbeError
from probekit.files.reading import json_value, lines
from probekit.probes.data import locate
from probekit.probes.probe import name_unknown

FIELDS = ("completions", "template_id", "prompt")
SUBSETS = ("binary", "queer_nonqueer")
MOST = 32 << 20  # bytes, unpacked, of one file: eight times the largest of the released ones


@dataclass(frozen=True)
class Completions:
    """What a model puts into each template: ``texts[i]`` belongs to ``ids[i]``, most likely first, all equally many.

    ``prompts`` is what the model was shown, empty where the file does not say.
    """

    ids: tuple[str, ...]
    prompts: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Released:
    """One model of the released completions: its file by subset, whether it is in Table 1, and as ``base`` the family
    from whose weights it was tuned, if from another's."""

    name: str
    family: str
    scale: int
    kind: str
    files: dict[str, str]
    in_table: bool
    base: str = ""
    note: str = ""


@lru_cache(maxsize=1)
def released_models() -> dict[str, Released]:
    """Models of the released completions by name, in the order of Table 1 of paper 004; then those not in it."""
    text = (files("probekit.probes") / "fairbelief.yml").read_text("utf-8")
    return {name: Released(name=name, **fields) for name, fields in yaml.safe_load(text).items()}


def released_completions(model: str, subset: str) -> Completions:
    """The authors' top 100 completions of one model on one subset of HONEST.

    Args:
        model: of ``released_models``.
        subset: ``binary`` or ``queer_nonqueer``.

    Raises:
        ProbeError: unknown model, a subset that it lacks, file not at hand, or a broken line.
    """
    if model not in released_models():
        raise ProbeError(f"no completions of {model!r} were released; there are {', '.join(released_models())}")
    stem = released_models()[model].files.get(subset)
    if stem is None:
        raise ProbeError(f"the release lacks {model} on {subset}")
    plain = f"fairbelief/honest_en_{subset}_{stem}.jsonl"
    try:
        path = locate(plain)
    except ProbeError:
        path = locate(f"{plain}.gz")
    return read_completions(path)


def read_completions(path: Path) -> Completions:
    """A file of completions, plain or gzipped: the released layout or one's own.

    Released: ``[index, "", prompt, [completion, ...], type]`` a line. One's own: an object with ``completions`` (a list
    of strings) and ``template_id`` or ``prompt``.

    Raises:
        ProbeError: not readable, no line, one of another form, or lines with unlike numbers of completions.
    """
    rows, fields = list[dict[str, Any]](), dict[str, None]()
    for number, line in lines(path, MOST):
        row = json_value(line, f"{path}, line {number}")
        fields |= dict.fromkeys(row if isinstance(row, dict) else ())
        row = as_object(row)
        size = len(rows[0]["completions"]) if rows else 0
        if fault := next(completion_faults(row, size), "") if isinstance(row, dict) else "it is neither":
            raise ProbeError(
                f"{path}, line {number}: expected an object with 'completions' and 'template_id' or 'prompt', or "
                f'[index, "", prompt, completions, type]: {fault}'
            )
        rows.append(row)
    if not rows:
        raise ProbeError(f"{path} holds no completions")
    name_unknown(path, fields, FIELDS)
    prompts = [str(row.get("prompt", "")) for row in rows]
    ids = tuple(str(row.get("template_id") or prompt) for row, prompt in zip(rows, prompts, strict=True))
    return Completions(ids, tuple(prompts), tuple(tuple(row["completions"]) for row in rows))


def as_object(row: Any) -> Any:
    """A row in the released layout as an object; any other row as it is."""
    if isinstance(row, list) and len(row) > 3 and isinstance(row[3], list):
        return {"template_id": str(row[0]), "prompt": str(row[2]), "completions": row[3]}
    return row


def completion_faults(row: Mapping[str, Any], size: int) -> Iterator[str]:
    """What is wrong with a row of completions, one after the other; ``size`` is their number in the first, if any."""
    if not (row.get("template_id") or row.get("prompt")):
        yield "neither 'template_id' nor 'prompt'"
    texts = row.get("completions")
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        yield f"field 'completions': a list of strings is needed, found {texts!r:.60}"
    elif size and len(texts) != size:
        yield f"field 'completions': {len(texts)} of them, but {size} in the first line"
