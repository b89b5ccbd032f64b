"""Input files to one probe a list, file by file: finished ones are remembered, and a rerun computes only new ones."""

from __future__ import annotations

import datetime
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import pandas as pd

from probekit.errors import ProbeError
from probekit.files import canonical, digest, named, write_atomically
from probekit.files.outputs import staged
from probekit.files.reading import raw_lines
from probekit.probes.lipid.entities import Finder, read_entities
from probekit.probes.lipid.medline import NO_ABSTRACT, NO_PMID, RECORDS, read_records
from probekit.probes.lipid.prompts import (
    ALONE,
    DROPPED,
    KEYWORDS,
    MENTION,
    PROMPTS,
    SENTENCES,
    prompts,
    split_sentences,
)
from probekit.probes.per_file import Fill, InputFile, each_file
from probekit.probes.xml_records import NOT_UTF8
from probekit.store import Store

RECIPE = 3  # raise it with every change that alters a prompt or a count
TWICE, UNDATED = "files given twice", "abstracts without a date"
REPLACED, WITHDRAWN = "records replaced by a later one of their PMID", "records deleted by a later notice"
SELECTED = "abstracts in question"
STEPS = (SENTENCES, MENTION, PROMPTS)
Row = dict[str, Any]
Extracted = tuple[int, Counter[str], list[Row]]  # of a record: its PMID, what it adds to the counts, its prompts
ABOUT = {"style": "natural", "domain": "biomedical"}  # of every row: what a probe of these prompts is


def build(
    files: Sequence[Path],
    entities: Mapping[str, Sequence[Path]],
    out: Path,
    after: str | None = None,
    plain: bool = False,
    ignore_case: bool = False,
    before: str | None = None,
    force: bool = False,
    store: Store | None = None,
    fill: Fill | None = None,
) -> dict[str, Any]:
    """Write a probe of each list, ``LIST.jsonl``, and ``counts.json`` into a folder.

    A row has ``prompt_id, text, gold, surface`` (the entity as the sentence has it), ``entity_type`` (its list),
    ``style, domain`` and, from PubMed, ``pmid, date``. Of several records of one PMID the last counts, as PubMed has
    it, whatever it holds, and none that a later notice deletes. A rerun reuses every finished file under the same
    options and lists.

    Args:
        files: PubMed XML, plain or gzipped, in the order to be read; with ``plain`` text files of one sentence a line.
            Of a file given twice the last place counts.
        entities: files of each named list (``.txt``, a line each; else CoNLL).
        out: the folder, made if need be.
        after: keep abstracts dated later than this day, YYYY-MM-DD; those without a date are then left out.
        before: earlier, likewise; both together make a window, such as the paper's six months.
        plain: the input holds sentences, not records; only the later steps run.
        ignore_case: of entities.
        force: replace what other lists or options made there.
        store: where finished files are kept; by default ``parts`` in the folder.
        fill: is given the work of all files before the first is read.

    Returns:
        ``counts`` after each step, ``statistics`` by list (prompts, unique entities, and mean, sample standard
        deviation, minimum and maximum of the prompts per entity), ``options``, and numbers of entities listed.

    Raises:
        ProbeError: no list or file, a wrong date or name of a list, or a file that cannot be read or used.
        StoreError: other files are there and ``force`` is not given, or the folder cannot be written.
    """
    for name, day in (("after", after), ("before", before)):
        if day is not None and (plain or not is_day(day)):
            raise ProbeError(f"{name} takes a day as YYYY-MM-DD, with PubMed files only, not {day!r}")
    if after and before and after >= before:
        raise ProbeError(f"no day lies after {after} and before {before}")
    lists = {kind: [entry for path in paths for entry in read_entities(path)] for kind, paths in entities.items()}
    if not lists or not files:
        raise ProbeError("at least one list of entities and one input file are needed")
    if wrong := [kind for kind in lists if Path(kind).name != kind]:
        raise ProbeError(f"a list's name becomes a file's, and {wrong[0]!r} cannot be one")
    finder = Finder(lists, ignore_case)
    options = {"after": after, "before": before, "plain": plain, "ignore_case": ignore_case, "keywords": KEYWORDS}
    key = {"recipe": RECIPE, "sentences": version("sentencex"), "options": options, "lists": digest(canonical(lists))}
    by_content = {file.content: file for file in map(InputFile, reversed(files))}
    ordered = [*by_content.values()][::-1]
    total = Counter({TWICE: len(files) - len(by_content)})
    frequency: dict[str, Counter[str]] = {kind: Counter() for kind in lists}
    names = [*(f"{kind}.jsonl" for kind in lists), "counts.json"]
    with staged(out, names, "", digest(canonical([options, lists])), force) as work:
        read = partial(_read_file, finder=finder, options=options)
        parts = partial(each_file, store or Store(out / "parts"), "lipid", key, ordered, read)
        pmids = []
        for table in parts("LIPID", fill):
            pmids.append(table["pmid"].to_numpy())
            total.update(table.attrs["counts"])
        _join(parts("joining"), _standing(pmids, total), work, total, frequency)
        summary = {
            "counts": {name: total[name] for name in _order(total) if total[name] or name in STEPS},
            "statistics": {kind: _statistics(list(often.values())) for kind, often in frequency.items()},
            "entities listed": {kind: len(set(names)) for kind, names in lists.items()},
            "entities of several lists": finder.shared,
            "options": options,
        }
        write_atomically(work / "counts.json", (json.dumps(summary, indent=2, ensure_ascii=False) + "\n").encode())
    return summary


def _order(counts: Iterable[str]) -> list[str]:
    """Names of counts as the steps follow each other: what was met and left out, then what is left."""
    met = (RECORDS, NO_PMID, REPLACED, WITHDRAWN, NO_ABSTRACT, UNDATED)
    steps = (*met, SELECTED, SENTENCES, MENTION, DROPPED, ALONE, PROMPTS)
    place = {name: number for number, name in enumerate(steps)}
    return sorted(dict.fromkeys((*counts, *STEPS)), key=lambda name: (place.get(name.partition(":")[0], -1), name))


def is_day(text: str) -> bool:
    """Whether the text is a day as YYYY-MM-DD."""
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


# ---- one file --------------------------------------------------------------------------------------------------------


def _read_file(file: InputFile, counts: Counter[str], finder: Finder, options: Mapping[str, Any]) -> pd.DataFrame:
    """A row for each record, whether or not a later one replaces it: its PMID, negative of a notice of deletion and 0
    of a plain sentence, and in JSON what it adds to the counts, and its prompts."""
    read = _lines(file, finder, counts) if options["plain"] else _records(file.path, finder, options, counts)
    rows = [(pmid, json.dumps([counted, made], ensure_ascii=False)) for pmid, counted, made in read]
    return pd.DataFrame(rows, columns=["pmid", "found"]).astype({"pmid": "int32", "found": "str"})


def _records(path: Path, finder: Finder, options: Mapping[str, Any], counts: Counter[str]) -> Iterator[Extracted]:
    for record in read_records(path, counts):
        counted: Counter[str] = Counter()
        rows: list[Row] = []
        if not record.sections:
            counted[NO_ABSTRACT] += 1
        elif _inside(record.date, options["after"], options["before"]):
            counted[SELECTED] += 1
            texts = (sentence for section in record.sections for sentence in split_sentences(section))
            sentences = ((f"{record.pmid}-{number}", text) for number, text in enumerate(texts, start=1))
            rows = list(prompts(sentences, finder, counted, {"pmid": str(record.pmid), "date": record.date, **ABOUT}))
        if record.sections and not record.date:
            counted[UNDATED] += 1
        yield -record.pmid if record.deleted else record.pmid, counted, rows


def _inside(date: str, after: str | None, before: str | None) -> bool:
    dated = bool(date) or (after is None and before is None)
    return dated and (after is None or date > after) and (before is None or date < before)


def _lines(file: InputFile, finder: Finder, counts: Counter[str]) -> Iterator[Extracted]:
    faulty = False
    for number, line in raw_lines(file.path):
        text = line.decode("utf-8", "replace")
        faulty = faulty or ("\ufffd" in text and "\ufffd".encode() not in line)
        if text.strip():
            counted: Counter[str] = Counter()
            sentence = (f"{file.content[:8]}-{number}", " ".join(text.split()))
            yield 0, counted, list(prompts([sentence], finder, counted, ABOUT))
    if faulty:
        counts[NOT_UTF8] += 1


# ---- all files -------------------------------------------------------------------------------------------------------


def _standing(parts: Sequence[np.ndarray], total: Counter[str]) -> list[np.ndarray]:
    """Of every row of every part, by its PMIDs, whether it is the last word on one; the others are counted by why."""
    pmids = np.concatenate(parts)
    last = ~pd.Series(np.abs(pmids)).duplicated(keep="last").to_numpy()
    replaced = pmids[~last & (pmids > 0)]
    total[WITHDRAWN] = int(np.isin(replaced, -pmids[last & (pmids < 0)]).sum())
    total[REPLACED] = len(replaced) - total[WITHDRAWN]
    stands = (last & (pmids > 0)) | (pmids == 0)  # 0 is a plain sentence
    return np.split(stands, np.cumsum([len(ids) for ids in parts])[:-1])


def _join(
    parts: Iterable[pd.DataFrame],
    standing: Sequence[np.ndarray],
    out: Path,
    total: Counter[str],
    frequency: Mapping[str, Counter[str]],
) -> None:
    """The rows that stand, by list and in order of reading, at any size; counts are added."""
    with named(out.parent, "write into"), ExitStack() as opened:
        paths = {kind: out / f"{kind}.jsonl" for kind in frequency}
        probes = {kind: opened.enter_context(path.open("w", encoding="utf-8")) for kind, path in paths.items()}
        for table, stands in zip(parts, standing, strict=True):
            for record in table["found"][stands]:
                counts, rows = json.loads(record)
                total.update(counts)
                for row in rows:
                    frequency[row["entity_type"]][row["gold"][0]] += 1
                    probes[row["entity_type"]].write(json.dumps(row, ensure_ascii=False) + "\n")


def _statistics(frequency: Sequence[int]) -> dict[str, float]:
    if not frequency:
        return {"prompts": 0, "entities": 0}
    spread = stdev(frequency) if len(frequency) > 1 else 0.0
    common = {"mean": mean(frequency), "sd": spread, "min": min(frequency), "max": max(frequency)}
    return {"prompts": sum(frequency), "entities": len(frequency), **common}
