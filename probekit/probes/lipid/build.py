"""Input files to one probe file, part by part: finished files are remembered, and a rerun computes only what is new."""

from __future__ import annotations

import datetime
import hashlib
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from probekit.errors import ProbeError, StoreError
from probekit.files import canonical, digest, sweep, unfinished, write_atomically
from probekit.probes.lipid.entities import Finder, read_entities
from probekit.probes.lipid.medline import NO_ABSTRACT, NO_PMID, NOT_UTF8, RECORDS, Abstract, read_medline
from probekit.probes.lipid.prompts import ALONE, DROPPED, KEYWORDS, MENTION, PROMPTS, SENTENCES, prompts
from probekit.probes.lipid.sentences import split_sentences

RECIPE = 2  # raise it with every change that alters a prompt or a count
TWICE, DUPLICATE, UNDATED = "files given twice", "abstracts of a PMID met before", "abstracts without a date"
KEPT = "abstracts in question"
STEPS = (SENTENCES, MENTION, PROMPTS)


@dataclass(frozen=True)
class Part:
    """What one finished input file gave: counts, how often each entity of each list is masked, the PMIDs read."""

    counts: dict[str, int]
    frequency: dict[str, dict[str, int]]
    pmids: list[int]


class Seen:
    """A set of PMIDs at one bit each: 5 MB for all of PubMed."""

    def __init__(self) -> None:
        self.bits = bytearray()

    def add(self, number: int) -> bool:
        """Whether the number is new; it is not from now on."""
        place, bit = number >> 3, 1 << (number & 7)
        if place >= len(self.bits):
            self.bits.extend(bytes(place + 1 - len(self.bits)))
        new = not self.bits[place] & bit
        self.bits[place] |= bit
        return new


def build(
    files: Sequence[Path],
    entities: Mapping[str, Sequence[Path]],
    out: Path,
    after: str | None = None,
    plain: bool = False,
    ignore_case: bool = False,
    before: str | None = None,
) -> dict[str, Any]:
    """Write ``out``, a JSONL probe, and beside it ``<out>.counts.json``; parts stay in ``<out>.parts`` for reruns.

    A row has ``prompt_id, text, gold, surface`` (the entity as the sentence has it), ``entity_type`` (its list) and,
    from PubMed, ``pmid, date``. Of several
    records of one PMID the first counts. A rerun reuses every finished file up to the first one that is new or
    changed, under the same options and lists.

    Args:
        files: PubMed XML, plain or gzipped, in the order to be read; with ``plain`` text files of one sentence a line.
        entities: files of each named list (see ``read_entities``).
        after, before: keep abstracts dated later, or earlier, than this day, YYYY-MM-DD; those without a date are then
            left out. Both together make a window, such as the paper's six months.
        plain: the input holds sentences, not records; only the later steps run.
        ignore_case: of entities.

    Returns:
        ``counts`` after each step, ``statistics`` by list (prompts, unique entities, and mean, sample standard
        deviation, minimum and maximum of the prompts per entity), ``options``.

    Raises:
        ProbeError: a wrong date, or a file that cannot be read.
    """
    for name, day in (("after", after), ("before", before)):
        if day is not None and (plain or not is_day(day)):
            raise ProbeError(f"{name} takes a day as YYYY-MM-DD, with PubMed files only, not {day!r}")
    if after and before and after >= before:
        raise ProbeError(f"no day lies after {after} and before {before}")
    lists = {kind: [one for path in paths for one in read_entities(path)] for kind, paths in entities.items()}
    if not lists or not files:
        raise ProbeError("at least one list of entities and one input file are needed")
    finder = Finder(lists, ignore_case)
    options = {"after": after, "before": before, "plain": plain, "ignore_case": ignore_case, "keywords": KEYWORDS}
    key = digest(canonical([RECIPE, version("sentencex"), options, lists]), length=32)
    folder, seen, parts, met = out.with_name(out.name + ".parts"), Seen(), list[tuple[str, Part]](), set[str]()
    total = Counter({TWICE: 0})
    for place in (out.parent, folder):
        sweep(place)
    for path in _bar(files):
        content = _digest(path)
        if content in met:
            total[TWICE] += 1
            continue
        met.add(content)
        key = digest(key, content, length=32)  # what earlier files hold decides which PMIDs are new
        part = _finished(folder, key)
        if part is None:
            lines, part = _process(path, content, finder, seen, options)
            write_atomically(folder / f"{key}.jsonl", "".join(lines).encode())
            write_atomically(folder / f"{key}.json", json.dumps(vars(part)).encode())
        else:
            for pmid in part.pmids:
                seen.add(pmid)
        parts.append((key, part))
        total.update(part.counts)
    _join((folder / f"{name}.jsonl" for name, _ in parts), out)
    frequency: dict[str, Counter[str]] = {kind: Counter() for kind in lists}
    for _, part in parts:
        for kind, found in part.frequency.items():
            frequency[kind].update(found)
    summary = {
        "counts": {name: total[name] for name in _order(total) if total[name] or name in STEPS},
        "statistics": {kind: _statistics(list(found.values())) for kind, found in frequency.items()},
        "entities listed": {kind: len(set(names)) for kind, names in lists.items()},
        "entities of several lists": finder.shared,
        "options": options,
    }
    text = json.dumps(summary, indent=2, ensure_ascii=False) + "\n"
    write_atomically(out.with_name(out.name + ".counts.json"), text.encode())
    return summary


def _order(counts: Iterable[str]) -> list[str]:
    """Names of counts as the steps follow each other: what was met and left out, then what is left."""
    steps = (RECORDS, NO_PMID, NO_ABSTRACT, DUPLICATE, UNDATED, KEPT, SENTENCES, MENTION, DROPPED, ALONE, PROMPTS)
    place = {name: number for number, name in enumerate(steps)}
    return sorted(dict.fromkeys((*counts, *STEPS)), key=lambda name: (place.get(name.partition(":")[0], -1), name))


def is_day(text: str) -> bool:
    """Whether the text is a day as YYYY-MM-DD."""
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _bar(files: Sequence[Path]) -> Iterable[Path]:
    from tqdm.auto import tqdm

    bar: Iterable[Path] = tqdm(files, desc="LIPID", unit=" files", delay=2, leave=False)
    return bar


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ProbeError(f"cannot read {path}: {error.strerror}") from error


def _finished(folder: Path, key: str) -> Part | None:
    path = folder / f"{key}.json"  # written last
    return Part(**json.loads(path.read_text("utf-8"))) if path.is_file() else None


def _process(
    path: Path, content: str, finder: Finder, seen: Seen, options: Mapping[str, Any]
) -> tuple[list[str], Part]:
    counts: Counter[str] = Counter()
    frequency: dict[str, Counter[str]] = {}
    lines, pmids = list[str](), list[int]()

    def keep(rows: Iterable[dict[str, Any]]) -> None:
        for row in rows:
            frequency.setdefault(row["entity_type"], Counter())[row["gold"][0]] += 1
            lines.append(json.dumps(row, ensure_ascii=False) + "\n")

    if options["plain"]:
        keep(prompts(_lines(path, content, counts), finder, counts, {}))
    else:
        for abstract in read_medline(path, counts):
            new = seen.add(abstract.pmid)
            pmids += [abstract.pmid] if new else []
            counts[DUPLICATE] += not new
            counts[UNDATED] += new and not abstract.date
            if new and _inside(abstract.date, options["after"], options["before"]):
                counts[KEPT] += 1
                about = {"pmid": str(abstract.pmid), "date": abstract.date}
                keep(prompts(_sentences(abstract), finder, counts, about))
    return lines, Part(dict(counts), {kind: dict(found) for kind, found in frequency.items()}, pmids)


def _inside(date: str, after: str | None, before: str | None) -> bool:
    dated = bool(date) or (after is None and before is None)
    return dated and (after is None or date > after) and (before is None or date < before)


def _sentences(abstract: Abstract) -> Iterator[tuple[str, str]]:
    found = (sentence for section in abstract.sections for sentence in split_sentences(section))
    return ((f"{abstract.pmid}-{number}", sentence) for number, sentence in enumerate(found, start=1))


def _lines(path: Path, content: str, counts: Counter[str]) -> Iterator[tuple[str, str]]:
    faulty = False
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            text = line.decode("utf-8", "replace")
            faulty = faulty or ("\ufffd" in text and "\ufffd".encode() not in line)
            if text.strip():
                yield f"{content[:8]}-{number}", " ".join(text.split())
    counts[NOT_UTF8] += faulty


def _join(parts: Iterable[Path], out: Path) -> None:
    """The parts one after the other, whole or not at all, at any size."""
    try:
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=unfinished(out.name)) as folder:
            joined = Path(folder) / out.name
            with joined.open("wb") as file:
                for path in parts:
                    with path.open("rb") as part:
                        shutil.copyfileobj(part, file)
            joined.replace(out)
    except OSError as error:
        raise StoreError(f"cannot write {out}: {error.strerror or error}; make room and run again") from error


def _statistics(frequency: Sequence[int]) -> dict[str, float]:
    if not frequency:
        return {"prompts": 0, "entities": 0}
    spread = stdev(frequency) if len(frequency) > 1 else 0.0
    common = {"mean": mean(frequency), "sd": spread, "min": min(frequency), "max": max(frequency)}
    return {"prompts": sum(frequency), "entities": len(frequency), **common}
