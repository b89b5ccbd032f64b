"""HONEST's templates (Nozza et al. 2021, 2022) and the HurtLex lexicon (Bassignana et al. 2018), as published."""

from __future__ import annotations

from collections.abc import Callable, Collection
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import pandas as pd

from probekit.errors import ProbeError
from probekit.files.reading import tsv_rows
from probekit.probes.data import locate
from probekit.probes.probe import MASK

Subset = Literal["binary", "queer_nonqueer"]

SLOT = "[M]"
TEMPLATE_FIELDS = {"template_masked": "text", "identity": "identity", "number": "number", "category": "category"}
LEXICON_FIELDS = ("id", "pos", "category", "stereotype", "lemma", "level")
NO_LEMMA = "the column 'lemma' is empty"
LEVELS = CONSERVATIVE, INCLUSIVE = ("conservative", "inclusive")
UNIDECODE = "1.3.6"  # the version under which the release gives Table 1 of paper 004; later ones map other letters


def honest_templates(subset: Subset = "binary", language: str = "en") -> pd.DataFrame:
    """Templates of one language: an identity, a predicate and one slot.

    The columns are found by the file's header: their order differs between the two subsets.

    Args:
        subset: ``binary`` (gender) or ``queer_nonqueer`` (English only).
        language: en, es, fr, it, pt or ro.

    Returns:
        One row per template, in file order: ``template_id`` (the subset and the row), ``text`` with one ``[MASK]``,
        ``identity``, ``number``, ``category``, ``type`` (occupation, descriptive verb or adjective).

    Raises:
        ProbeError: file not at hand, or a row without a slot.
    """
    return read_templates(locate(f"honest/resources/{subset}/{language}_template.tsv"), subset)


def read_templates(path: Path, name: str) -> pd.DataFrame:
    """The same from any file in HONEST's layout: tab-separated, with ``template_masked`` (one ``[M]``), ``identity``,
    ``number``, ``category`` and ``type``.

    Args:
        name: with which ``template_id`` begins.

    Raises:
        ProbeError: not readable, a column missing, or a row without a slot.
    """
    table = _read(path, (*TEMPLATE_FIELDS, "type")).rename(columns=TEMPLATE_FIELDS)
    for line, text in table["text"].items():
        if fault := template_fault(text):
            raise ProbeError(f"{path}, line {line}: {fault}")
    table = table.reset_index(drop=True)
    table["text"] = table["text"].str.replace(SLOT, MASK, regex=False).str.split().str.join(" ")
    table.insert(0, "template_id", [f"{name}-{number}" for number in range(len(table))])
    return table[["template_id", *TEMPLATE_FIELDS.values(), "type"]]


def template_fault(text: str) -> str:
    """What is wrong with a text of ``template_masked``, or nothing."""
    count = text.count(SLOT)
    return "" if count == 1 else f"column 'template_masked': {SLOT} is needed once, found {count} in {text!r}"


def hurtlex(
    language: str = "EN",
    levels: Collection[str] = (CONSERVATIVE,),
    categories: Collection[str] | None = None,
) -> pd.DataFrame:
    """Rows of HurtLex 1.2: ``id, pos, category, stereotype, lemma, level``.

    Args:
        language: two letters, as the folder of the release is called.
        levels: ``conservative`` (HurtLex's offensive senses), ``inclusive`` (its other relevant ones), or both.
        categories: such as ``cds`` or ``ps``; None for all 17.

    Raises:
        ProbeError: file not at hand or readable, no level or one it does not have, or a category not in these levels.
    """
    if not levels:
        raise ProbeError(f"levels={list(levels)}: give {' or '.join(LEVELS)}, or both")
    path = locate(f"hurtlex/lexica/{language}/1.2/hurtlex_{language}.tsv")
    table = _read(path, LEXICON_FIELDS)
    for field, allowed in (("level", levels), ("category", categories)):
        if allowed is not None:
            present = set(table[field])
            unknown = sorted(set(allowed) - present)
            if unknown:
                raise ProbeError(f"{path} has no {field} {', '.join(unknown)}; it has {', '.join(sorted(present))}")
            table = table[table[field].isin(set(allowed))]
    return table.reset_index(drop=True)


def read_lexicon(path: Path) -> pd.DataFrame:
    """Words of one's own in the place of HurtLex: a tab-separated file with a column ``lemma``, a word or phrase a row.

    Returns:
        ``lemma``, and ``category`` (empty where the file has none).

    Raises:
        ProbeError: not readable, no such column, or an empty lemma.
    """
    table = _read(path, ("lemma",), ("category",))
    table["lemma"] = table["lemma"].str.strip()
    if len(empty := table.index[table["lemma"] == ""]):
        raise ProbeError(f"{path}, line {empty[0]}: {NO_LEMMA}")
    return table.reset_index(drop=True)


def unidecoder(wanted: str = UNIDECODE) -> Callable[[str], str]:
    """The transliteration of the paper's code, which is under the GPL and therefore an extra.

    Args:
        wanted: its version, which decides numbers of the paper's Table 1.

    Raises:
        ProbeError: it is not installed, or in another version.
    """
    try:
        from unidecode import unidecode  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        raise ProbeError(
            "counting as the paper's code does needs Unidecode (GPL): pip install 'probekit[unidecode]', or ask with "
            "released=false"
        ) from error
    if (present := version("unidecode")) != wanted:
        raise ProbeError(f"Unidecode {present} is here, but {wanted} is asked: pip install unidecode=={wanted}")
    transliterate: Callable[[str], str] = unidecode
    return transliterate


def _read(path: Path, fields: Collection[str], more: Collection[str] = ()) -> pd.DataFrame:
    """The named fields of a table, those of ``more`` empty where it lacks them; its index says where a row is."""
    rows, columns = tsv_rows(path, fields), [*fields, *more]
    records = [{name: row.get(name, "") for name in columns} for _, row in rows]
    return pd.DataFrame(records, index=[number for number, _ in rows], columns=columns, dtype=str)
