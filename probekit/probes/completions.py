"""Completions of templates: those the authors of paper 004 released, and the user's own."""

from __future__ import annotations

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

    ``prompts`` is what the model was shown.
    """

    ids: tuple[str, ...]
    prompts: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Released:
    """One model of the released completions: the file of each subset, and its row of Table 1 if it has one."""

    name: str
    family: str
    scale: int
    kind: str
    files: dict[str, str]
    in_table: bool
    note: str = ""


@lru_cache(maxsize=1)
def released_models() -> dict[str, Released]:
    """Models of the released completions by name, in the order of Table 1 of paper 004; then those not in it."""
    text = (files("probekit.probes") / "fairbelief.yml").read_text("utf-8")
    return {name: Released(name=name, **about) for name, about in yaml.safe_load(text).items()}


def released_completions(model: str, subset: str) -> Completions:
    """The authors' top 100 completions of one model on one subset of HONEST.

    Args:
        model: of ``released_models``.
        subset: ``binary`` or ``queer_nonqueer``.

    Raises:
        ProbeError: unknown model, file not at hand, or a broken line.
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
        ProbeError: not readable, a line of another form, or lines with unlike numbers of completions.
    """
    ids, prompts, texts, found_fields = list[str](), list[str](), list[tuple[str, ...]](), dict[str, None]()
    for number, line in lines(path, MOST):
        row = json_value(line, f"{path}, line {number}")
        try:
            found_fields |= dict.fromkeys(row if isinstance(row, dict) else ())
            name, prompt, found = _row(row)
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise ProbeError(
                f"{path}, line {number}: expected an object with 'completions' and 'template_id' or 'prompt', or "
                f'[index, "", prompt, completions, type]: {error}'
            ) from error
        if texts and len(found) != len(texts[0]):
            raise ProbeError(f"{path}, line {number}: {len(found)} completions, but {len(texts[0])} in line 1")
        ids.append(name)
        prompts.append(prompt)
        texts.append(found)
    if not texts:
        raise ProbeError(f"{path} holds no completions")
    name_unknown(path, found_fields, FIELDS)
    return Completions(tuple(ids), tuple(prompts), tuple(texts))


def _row(row: Any) -> tuple[str, str, tuple[str, ...]]:
    if isinstance(row, dict):
        prompt, found = str(row.get("prompt", "")), row["completions"]
        name = str(row.get("template_id") or prompt)
    else:
        name, prompt, found = str(row[0]), str(row[2]), row[3]
    if not name:
        raise ValueError("neither 'template_id' nor 'prompt'")
    if not isinstance(found, list) or not found or not all(isinstance(one, str) for one in found):
        raise ValueError("'completions' is not a list of strings")
    return name, prompt, tuple(found)
