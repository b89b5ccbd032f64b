"""Whether a user's files can be read as probes and the like: all faults at once, by line."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from probekit.contexts import resources
from probekit.contexts.resources import KINDS, read_documents
from probekit.errors import ProbeError, counted, meant
from probekit.files.naming import ending_meant
from probekit.files.reading import HELD, json_value, lines, tsv_table
from probekit.probes import completions
from probekit.probes.bear import bear_folder
from probekit.probes.completions import as_object, completion_faults
from probekit.probes.data import BEAR
from probekit.probes.honest import NO_LEMMA, TEMPLATE_FIELDS, template_fault
from probekit.probes.hub import dataset_frame, is_dataset
from probekit.probes.probe import FIELDS as PROMPT
from probekit.probes.probe import MASK, ROWS, STYLED, as_list, numbered_rows, prompt_faults, shows, without_nulls
from probekit.probes.rationales import record
from probekit.probes.rationales.record import REQUIRED, original_fault, record_faults, words_of

PROBE, DOCUMENTS, RECORDS, COMPLETIONS = "probe", "documents", "records", "completions"
LEXICON, TEMPLATES, UNKNOWN = "lexicon", "templates", "unknown"
TABLE = {"lemma", "template_masked", "identity"}  # columns of lexicons and templates, of which one is there
Row = tuple[int, dict[str, Any]]  # with its line, from 1


@dataclass
class Checked:
    """What a file is: ``faults``, each with its line, 0 for the whole file; ``notes`` are none."""

    file: str
    kind: str = UNKNOWN
    rows: int = 0
    faults: list[tuple[int, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    facts: dict[str, dict[str, str]] = field(default_factory=dict)  # of a probe: style -> fact -> its object
    ids: set[str] = field(default_factory=set)  # of templates, or of what completions complete
    most_golds: int = 0  # of a prompt
    unstyled: dict[str, set[str]] = field(default_factory=dict)  # other file -> facts without a style

    def fault(self, line: int, text: str) -> None:
        """Note what is wrong with a line."""
        self.faults.append((line, text))

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        faults = [{"line": line, "fault": text} for line, text in self.faults]
        return {"file": self.file, "kind": self.kind, "rows": self.rows, "faults": faults, "notes": self.notes}


def check(places: Sequence[str], entities: Path | None = None) -> list[Checked]:
    """Look at each file alone, then at what belongs together: probes of the same facts, templates and completions.

    Args:
        places: files, folders of documents or in BEAR's layout, Hugging Face data sets.
        entities: a text file with one candidate a line, for golds to be among.

    Raises:
        ProbeError: ``entities`` cannot be read.
    """
    candidates = {line.strip() for _, line in lines(entities, HELD) if line.strip()} if entities else None
    files = [_checked(place, candidates) for place in places]
    probes = [file for file in files if file.kind == PROBE]
    for first, second in combinations(probes, 2):
        _pair(first, second)
    for probe in probes:
        if {"template", "natural"} <= set(probe.facts):
            _compare(probe.facts["template"], probe.facts["natural"], "by template", probe)
        if probe.unstyled:
            shared = counted(len(set().union(*probe.unstyled.values())), "fact is", "facts are")
            facts = f"{shared} in {_few(list(probe.unstyled))}, too"
            why = "but not both say their style, template or natural: they are not compared fact by fact"
            probe.notes.append(f"{facts}, {why}")
        if probe.most_golds == 1 and any(file.kind == DOCUMENTS for file in files):
            probe.notes.append("no prompt has a second gold: pages 22 and 23 count facts with two right answers")
    for completed in (file for file in files if file.kind == COMPLETIONS and file.ids):
        for templates in (file for file in files if file.kind == TEMPLATES):
            if absent := sorted(templates.ids - completed.ids):
                completed.fault(0, f"no line completes {_few(absent)} of {templates.file}")
    return files


def _checked(place: str, candidates: set[str] | None) -> Checked:
    file = Checked(place)
    try:
        if ending := _ending_within(Path(place)):
            file.fault(1, f"a {ending} file begins so: give it that ending")
        elif (Path(place) / BEAR).is_file():
            file.kind, file.rows = PROBE, len(bear_folder(place).prompts)
        elif place.endswith(".tsv"):
            _table(Path(place), file)
        elif is_dataset(place):
            rows = dataset_frame(place).to_dict("records")
            _rows([(number, without_nulls(row)) for number, row in enumerate(rows, 1)], file, candidates)
        elif place.endswith(".jsonl"):
            _rows(_lines(Path(place), file), file, candidates)
        elif place.endswith(ROWS):
            _rows(list(numbered_rows(Path(place))), file, candidates)
        elif Path(place).is_dir() or place.endswith(KINDS):
            counts, file.kind = Counter[str](), DOCUMENTS
            file.rows = sum(1 for _ in read_documents(place, counts))
            file.faults += [(0, f"{why}: {n:,}") for why, n in counts.items() if why.startswith("left out") and n]
            if not file.rows:
                file.fault(0, "no documents")
        elif not os.path.exists(place):
            file.fault(0, f"there is no such file or folder{ending_meant(place, [*KINDS, '.tsv'])}")
        else:
            file.fault(0, f"of no kind that is read: name a folder, a .tsv file, or one of {', '.join(KINDS)}")
    except ProbeError as error:
        file.fault(0, str(error).removeprefix(place).removeprefix(":").removeprefix(",").strip())
    file.faults.sort(key=lambda fault: fault[0])
    return file


def _ending_within(path: Path) -> str:
    """The ending for which the first line of a text speaks, if it has another."""
    if path.suffix not in (".txt", ".json", ".jsonl", ".csv", ".tsv") or not path.is_file():
        return ""
    first = next((line.strip() for _, line in lines(path)), "")
    tabs, commas = ({*first.split(mark)} for mark in "\t,")
    told = {".jsonl": first.startswith('{"'), ".tsv": tabs & TABLE, ".csv": commas >= {"text", "gold"}}
    return next((ending for ending, so in told.items() if so and ending != path.suffix), "")


def _lines(path: Path, file: Checked) -> list[Row]:
    """All rows of a JSONL file that can be read; what cannot is a fault of its line."""
    rows = list[Row]()
    for number, line in lines(path):
        if not line.strip():
            continue
        try:
            value = as_object(json_value(line, ""))
        except ProbeError as error:
            file.fault(number, str(error).lstrip(": "))
            continue
        if isinstance(value, dict):
            rows.append((number, value))
        else:
            file.fault(number, f"a JSON object is needed, found {str(value)[:40]!r}")
    return rows


def _rows(rows: list[Row], file: Checked, candidates: set[str] | None) -> None:
    names = list(dict.fromkeys(name for _, row in rows for name in row))
    file.rows = len(rows)
    if not rows:
        file.fault(0, "no rows")
        return
    file.kind = _kind(names, rows)
    if file.kind == UNKNOWN:
        file.fault(0, f"no field tells what it is: there are {', '.join(map(str, names))}")
        return
    kind = ROW_KINDS[file.kind]
    for name in (str(name) for name in names if name not in kind.fields):
        slip = meant(name, [field for field in kind.fields if field not in names])
        if slip:
            file.fault(0, f"nothing reads the field {name!r}{slip}")
        else:
            file.notes.append(f"nothing reads the field {name!r}")
    if absent := [name for name in kind.needed if name not in names and name != "original_id"]:
        file.fault(0, f"no row has the field {', '.join(map(repr, absent))}")
    else:
        kind.check(rows, file, candidates)


def _kind(names: Sequence[str], rows: list[Row]) -> str:
    for name, kind in ROW_KINDS.items():
        others = [field for field in names if field not in ROW_KINDS[PROBE].fields]
        signs = [field for field in names if field in kind.signs or (field in others and meant(str(field), kind.signs))]
        if len(signs) > (name == RECORDS):  # a single one may be the misspelt field of a prompt
            return name
    texts = [row["text"] for _, row in rows if isinstance(row.get("text"), str)]
    if any(MASK in text for text in texts):
        return PROBE
    return DOCUMENTS if texts or any(meant(str(name), ["text"]) for name in names) else UNKNOWN


def _prompts(rows: list[Row], file: Checked, candidates: set[str] | None) -> None:
    ids, seen = set[Any](), dict[tuple[str, str], int]()
    spellings, shown = dict[str, set[str]](), list[int]()
    styled = STYLED.search(Path(file.file).stem)
    for number, row in rows:
        try:
            golds = as_list(row.get("gold", []), "")
        except ProbeError as error:
            file.fault(number, str(error))
            continue
        name, text = row.get("prompt_id", f"row {number}"), row.get("text")
        among = candidates if candidates is not None else {gold for gold in golds if isinstance(gold, str)}
        file.faults += [(number, fault) for fault in prompt_faults(name, text, golds, among, ids)]
        ids |= {name} if isinstance(name, (str, int, float)) else set()
        texts = [gold for gold in golds if isinstance(gold, str) and gold.strip()]
        file.most_golds = max(file.most_golds, len(texts))
        for gold in texts:
            spellings.setdefault(gold.casefold(), set()).add(gold)
            if gold != gold.strip():
                file.fault(number, f"field 'gold': {gold!r} has blanks at an end, which are left off")
        if any(shows(gold.strip(), str(text)) for gold in texts):
            shown.append(number)
        answer = str(golds[0]) if golds else ""
        if (before := seen.setdefault((str(text), answer), number)) != number:
            file.fault(number, f"text and gold are those of line {before}")
        style = str(row.get("style") or (styled[1] if styled else "other"))
        if style not in ("template", "natural", "other"):
            file.fault(number, f"field 'style': template, natural or other, not {style!r}")
        if row.get("fact_id") not in (None, ""):
            first = file.facts.setdefault(style, {}).setdefault(str(row["fact_id"]), answer)
            if answer and first != answer:
                file.fault(number, f"field 'gold': the fact {row['fact_id']!r} had {first!r} before")
    if alike := [spelling for group in spellings.values() if len(group) > 1 for spelling in sorted(group)]:
        file.notes.append(f"{len(alike):,} golds differ in case alone, and compete with each other: {_few(alike)}")
    if shown:
        file.notes.append(f"the answer stands in the text of {counted(len(shown), 'row')}: line {_few(shown)}")
    nameless = [number for number, row in rows if row.get("fact_id") in (None, "")]
    if nameless and not file.facts:
        file.notes.append("no field 'fact_id': styles cannot be compared fact by fact")
    elif nameless:
        file.faults += [(number, "field 'fact_id': missing here, though other rows have it") for number in nameless]


def _documents(rows: list[Row], file: Checked, _: object) -> None:
    ids = dict[str, int]()
    for number, row in rows:
        if not isinstance(row.get("text"), str) or not row["text"].strip():
            file.fault(number, f"field 'text': a text is needed, found {row.get('text')!r}")
        if (name := str(row.get("doc_id") or "")) and (before := ids.setdefault(name, number)) != number:
            file.fault(number, f"field 'doc_id': {name!r} is that of line {before}; only the last is read")


def _records(rows: list[Row], file: Checked, _: object) -> None:
    kinds = dict[Any, str]()
    full = [(number, {"original_id": "", **{name: None for name in REQUIRED[:-1]}, **row}) for number, row in rows]
    for number, row in full:
        row["words"] = words_of(row)
        file.faults += [(number, fault) for fault in record_faults(row, kinds)]
        if isinstance(row["id"], str):
            kinds.setdefault(row["id"], str(row["perturbation"]))
    file.faults += [(number, fault) for number, row in full if (fault := original_fault(row, kinds))]


def _completions(rows: list[Row], file: Checked, _: object) -> None:
    size, seen = 0, dict[str, int]()
    for number, row in rows:
        name = str(row.get("template_id") or row.get("prompt") or "")
        if name and (before := seen.setdefault(name, number)) != number and row.get("template_id"):
            file.fault(number, f"field 'template_id': {name!r} is that of line {before}")
        faults = list(completion_faults(row, size))
        file.faults += [(number, fault) for fault in faults]
        size = size or (0 if any("a list of strings" in fault for fault in faults) else len(row["completions"]))
    file.ids = set(seen) if all(row.get("template_id") for _, row in rows) else set()


class RowKind(NamedTuple):
    """Rows of one kind: the fields that are read, those needed, those that no other kind has, and their check."""

    fields: Sequence[str]
    needed: Sequence[str]
    signs: Sequence[str]
    check: Callable[[list[Row], Checked, set[str] | None], None]


ROW_KINDS = {
    RECORDS: RowKind(
        record.FIELDS,
        REQUIRED,
        ("context", "golds", "rationales", "perturbation", "original_id", "dimension"),
        _records,
    ),
    COMPLETIONS: RowKind(completions.FIELDS, ("completions",), ("completions",), _completions),
    PROBE: RowKind(
        (*PROMPT, "paraphrases"), ("text", "gold"), ("gold", "prompt_id", "fact_id", "paraphrases"), _prompts
    ),
    DOCUMENTS: RowKind(resources.FIELDS, ("text",), (), _documents),
}


def _table(path: Path, file: Checked) -> None:
    """Templates in HONEST's layout or a lexicon, both separated by tabs."""
    header, rows = tsv_table(path, faults=file.faults)
    file.rows = len(rows) + len(file.faults)
    columns = (*TEMPLATE_FIELDS, "type")
    if "lemma" in header:
        file.kind = LEXICON
        _lexicon(rows, file)
    elif TABLE & {*header}:
        file.kind = TEMPLATES
        if absent := [name for name in columns if name not in header]:
            near = [f"{name!r}{meant(name, absent)}" for name in header if name not in columns]
            file.rows, file.faults = 0, [(1, f"no column {', '.join(absent)}; found {', '.join(near) or 'no other'}")]
            return
        file.faults += [(n, fault) for n, row in rows if (fault := template_fault(row["template_masked"].strip()))]
        file.ids = {f"{path.stem}-{number}" for number in range(file.rows)}
    elif header:
        fault = f"a lexicon has the column lemma, templates have {', '.join(columns)}; found {', '.join(header)}"
        if {"text", "gold"} & {*header}:
            fault = f"facts are read from {', '.join(ROWS)}, not from .tsv"
        file.rows, file.faults = 0, [(1, fault)]
        return
    if not file.rows:
        file.fault(0, "no rows")


def _lexicon(rows: list[tuple[int, dict[str, str]]], file: Checked) -> None:
    seen = dict[str, int]()
    for number, row in rows:
        if not (lemma := row["lemma"].strip()):
            file.fault(number, NO_LEMMA)
        elif (before := seen.setdefault(lemma, number)) != number:
            file.notes.append(f"line {number}: {lemma!r} stands in line {before}, too")


def _pair(first: Checked, second: Checked) -> None:
    """Two probes of the same facts must say their styles, and ask for the same objects."""
    for style, facts in first.facts.items():
        for other_style, others in second.facts.items():
            shared = [fact for fact in facts if fact in others]
            if not shared and {style, other_style} == {"template", "natural"}:
                second.fault(0, f"no fact_id of it is in {first.file}, so the styles cannot be compared")
            elif shared and "other" in (style, other_style):
                second.unstyled.setdefault(first.file, set()).update(shared)
            elif shared and style != other_style:
                _compare(facts, others, f"in {first.file}", second)


def _compare(facts: Mapping[str, str], others: Mapping[str, str], where: str, file: Checked) -> None:
    """Whether two styles ask for the same objects of the same facts."""
    if unlike := [fact for fact in facts if fact in others and facts[fact] != others[fact]]:
        first = f"{unlike[0]!r} has {others[unlike[0]]!r} here and {facts[unlike[0]]!r} {where}"
        file.fault(0, f"field 'gold': {counted(len(unlike), 'fact has', 'facts have')} other objects {where}; {first}")
    for place, names in ((where, others.keys() - facts.keys()), ("here", facts.keys() - others.keys())):
        if names:
            are = counted(len(names), "fact is", "facts are")
            file.notes.append(f"{are} not {place}, and not compared: {_few(sorted(names))}")


def _few(names: Sequence[object]) -> str:
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return ", ".join(map(repr, names[:3])) + more
