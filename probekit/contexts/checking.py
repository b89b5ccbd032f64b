"""Whether files of one's own can be asked: everything that is wrong with them at once, by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from probekit.contexts.resources import FIELDS as DOCUMENT
from probekit.contexts.resources import KINDS, read_documents
from probekit.errors import ProbeError, meant
from probekit.files.reading import HELD, json_value, lines
from probekit.probes.bear import bear_folder
from probekit.probes.completions import FIELDS as COMPLETION
from probekit.probes.data import BEAR
from probekit.probes.honest import SLOT, TEMPLATE_FIELDS
from probekit.probes.hub import dataset_frame, is_dataset
from probekit.probes.probe import FIELDS as PROMPT
from probekit.probes.probe import MASK, ROWS, STYLED, as_list, numbered_rows, prompt_faults, shows, without_nulls
from probekit.probes.rationales.record import FIELDS as RECORD
from probekit.probes.rationales.record import REQUIRED, original_fault, record_faults, words_of

PROBE, DOCUMENTS, RECORDS, COMPLETIONS = "probe", "documents", "records", "completions"
LEXICON, TEMPLATES, UNKNOWN = "lexicon", "templates", "unknown"
READ = {PROBE: (*PROMPT, "paraphrases"), DOCUMENTS: DOCUMENT, RECORDS: RECORD, COMPLETIONS: COMPLETION}
NEEDED = {PROBE: ("text", "gold"), DOCUMENTS: ("text",), RECORDS: REQUIRED, COMPLETIONS: ("completions",)}
SIGNS = {  # fields that only rows of a kind have
    RECORDS: ("context", "golds", "rationales", "perturbation", "original_id", "dimension"),
    COMPLETIONS: ("completions",),
    PROBE: ("gold", "prompt_id", "fact_id", "paraphrases"),
}
Row = tuple[int, dict[str, Any]]  # with its line, from 1


@dataclass
class Checked:
    """What was found in one file: ``faults``, each with its line, 0 for the whole file; ``notes`` are none."""

    file: str
    kind: str = UNKNOWN
    rows: int = 0
    faults: list[tuple[int, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    facts: dict[str, dict[str, str]] = field(
        default_factory=dict, repr=False
    )  # of a probe: style -> fact -> its object
    ids: set[str] = field(default_factory=set, repr=False)  # of templates, or of what completions complete
    golds: int = field(default=0, repr=False)  # of the prompt that has most
    unsaid: dict[str, set[str]] = field(default_factory=dict, repr=False)  # other file -> facts without a style

    def told(self) -> dict[str, Any]:
        """The same for JSON."""
        faults = [{"line": line, "fault": said} for line, said in self.faults]
        return {"file": self.file, "kind": self.kind, "rows": self.rows, "faults": faults, "notes": self.notes}


def check(places: Sequence[str], entities: Path | None = None) -> list[Checked]:
    """Look at each file alone, then at what belongs together: probes of the same facts, templates and completions.

    Args:
        places: files, folders of documents or in BEAR's layout, Hugging Face data sets.
        entities: a text file with one candidate a line, for golds to be among.

    Raises:
        ProbeError: ``entities`` cannot be read.
    """
    known = {line.strip() for _, line in lines(entities, HELD) if line.strip()} if entities else None
    found = [_one(place, known) for place in places]
    for one, other in combinations([one for one in found if one.kind == PROBE], 2):
        _pair(one, other)
    beside = any(one.kind == DOCUMENTS for one in found)
    for one in found:
        _both_styles(one)
        if one.unsaid:
            facts = f"{len(set().union(*one.unsaid.values())):,} facts are in {_few(list(one.unsaid))}, too"
            why = "but not both say their style, template or natural: they are not compared fact by fact"
            one.notes.append(f"{facts}, {why}")
        if beside and one.golds == 1:
            one.notes.append("no prompt has a second gold, by which page 22 counts: it has nothing to show of these")
    for said in (one for one in found if one.kind == COMPLETIONS):
        for asked in (one for one in found if one.kind == TEMPLATES):
            if said.ids and asked.ids and (lost := sorted(asked.ids - said.ids)):
                said.faults.append((0, f"no line completes {_few(lost)} of {asked.file}"))
    return found


def _one(place: str, known: set[str] | None) -> Checked:
    found = Checked(place)
    try:
        if (Path(place) / BEAR).is_file():
            found.kind, found.rows = PROBE, len(bear_folder(place).prompts)
        elif place.endswith(".tsv"):
            _table(Path(place), found)
        elif is_dataset(place):
            told = dataset_frame(place).to_dict("records")
            _rows([(number, without_nulls(row)) for number, row in enumerate(told, 1)], found, known)
        elif place.endswith(ROWS):
            _rows(_read(Path(place), found), found, known)
        elif Path(place).is_dir() or place.endswith(KINDS):
            _documents(place, found)
        else:
            found.faults.append(
                (0, f"of no kind that is read: name a folder, a .tsv file, or one of {', '.join(KINDS)}")
            )
    except ProbeError as error:
        found.faults.append((0, _bare(error, place)))
    found.faults.sort(key=lambda fault: fault[0])
    return found


def _bare(error: ProbeError, place: str) -> str:
    return str(error).removeprefix(place).removeprefix(":").removeprefix(",").strip()


def _read(path: Path, found: Checked) -> list[Row]:
    """All rows that can be read; what cannot is a fault of its line."""
    if path.suffix != ".jsonl":
        return list(numbered_rows(path))
    rows = list[Row]()
    for number, line in lines(path):
        if not line.strip():
            continue
        try:
            value = json_value(line, "")
        except ProbeError as error:
            found.faults.append((number, str(error).lstrip(": ")))
            continue
        if isinstance(value, list) and len(value) > 3 and isinstance(value[3], list):  # as completions were released
            value = {"template_id": str(value[0]), "prompt": value[2], "completions": value[3]}
        if isinstance(value, dict):
            rows.append((number, value))
        else:
            found.faults.append((number, f"a JSON object is needed, found {str(value)[:40]!r}"))
    return rows


def _rows(rows: list[Row], found: Checked, known: set[str] | None) -> None:
    names = list(dict.fromkeys(name for _, row in rows for name in row))
    found.rows = len(rows)
    if not rows:
        found.faults.append((0, "no rows"))
        return
    found.kind = _kind(names, rows)
    if found.kind == UNKNOWN:
        found.faults.append((0, f"no field tells what it is: there are {', '.join(map(str, names))}"))
        return
    read, needed = READ[found.kind], NEEDED[found.kind]
    for name in (str(name) for name in names if name not in read):
        near = meant(name, [one for one in read if one not in names])
        said = f"nothing reads the field {name!r}{near}"
        if near:
            found.faults.append((0, said))
        else:
            found.notes.append(said)
    if lost := [name for name in needed if name not in names and name != "original_id"]:
        found.faults.append((0, f"no row has the field {', '.join(map(repr, lost))}"))
        return
    {PROBE: _prompts, DOCUMENTS: _texts, RECORDS: _records, COMPLETIONS: _completions}[found.kind](rows, found, known)


def _kind(names: Sequence[str], rows: list[Row]) -> str:
    for kind, signs in SIGNS.items():
        other = [name for name in names if name not in READ[PROBE]]
        told = [name for name in names if name in signs or (name in other and meant(str(name), signs))]
        if len(told) > (kind == RECORDS):  # a single one may be the misspelt field of a prompt
            return kind
    texts = [row["text"] for _, row in rows if isinstance(row.get("text"), str)]
    if any(MASK in text for text in texts):
        return PROBE
    return DOCUMENTS if texts or any(meant(str(name), ["text"]) for name in names) else UNKNOWN


def _prompts(rows: list[Row], found: Checked, known: set[str] | None) -> None:
    ids, asked = set[Any](), dict[tuple[str, str], int]()
    written, shown = dict[str, set[str]](), list[int]()
    for number, row in rows:
        try:
            golds = as_list(row.get("gold", []), "")
        except ProbeError as error:
            found.faults.append((number, str(error)))
            continue
        name, text = row.get("prompt_id", f"row {number}"), row.get("text")
        among = known if known is not None else {gold for gold in golds if isinstance(gold, str)}
        found.faults += [(number, said) for said in prompt_faults(name, text, golds, among, ids)]
        ids |= {name} if isinstance(name, (str, int, float)) else set()
        names = [gold for gold in golds if isinstance(gold, str) and gold.strip()]
        found.golds = max(found.golds, len(names))
        for gold in names:
            written.setdefault(gold.casefold(), set()).add(gold)
            if gold != gold.strip():
                found.faults.append((number, f"field 'gold': {gold!r} has blanks at an end, which are scored with it"))
        if any(shows(gold.strip(), str(text)) for gold in names):
            shown.append(number)
        own = str(golds[0]) if golds else ""
        if (before := asked.setdefault((str(text), own), number)) != number:
            found.faults.append((number, f"text and gold are those of line {before}"))
        told = STYLED.search(Path(found.file).stem)
        style = str(row.get("style") or (told[1] if told else "other"))
        if style not in ("template", "natural", "other"):
            found.faults.append((number, f"field 'style': template, natural or other, not {style!r}"))
        if row.get("fact_id") not in (None, ""):
            first = found.facts.setdefault(style, {}).setdefault(str(row["fact_id"]), own)
            if own and first != own:
                found.faults.append((number, f"field 'gold': the fact {row['fact_id']!r} had {first!r} before"))
    if alike := [way for ways in written.values() if len(ways) > 1 for way in sorted(ways)]:
        found.notes.append(f"{len(alike):,} golds differ in case alone, and compete with each other: {_few(alike)}")
    if shown:
        found.notes.append(f"the answer stands in the text of {len(shown):,} rows: line {_few(shown)}")
    if lost := [number for number, row in rows if row.get("fact_id") in (None, "")]:
        if found.facts:
            found.faults += [(number, "field 'fact_id': missing here, though other rows have it") for number in lost]
        else:
            found.notes.append("no field 'fact_id': styles cannot be compared fact by fact")


def _texts(rows: list[Row], found: Checked, _: object) -> None:
    ids = dict[str, int]()
    for number, row in rows:
        if not isinstance(row.get("text"), str) or not row["text"].strip():
            found.faults.append((number, f"field 'text': a text is needed, found {row.get('text')!r}"))
        if (name := str(row.get("doc_id") or "")) and (before := ids.setdefault(name, number)) != number:
            found.faults.append((number, f"field 'doc_id': {name!r} is that of line {before}; only the first is read"))


def _records(rows: list[Row], found: Checked, _: object) -> None:
    kinds = dict[Any, str]()
    full = [(number, {"original_id": "", **{name: None for name in REQUIRED[:-1]}, **row}) for number, row in rows]
    for number, row in full:
        row["words"] = words_of(row)
        found.faults += [(number, said) for said in record_faults(row, kinds)]
        if isinstance(row["id"], str):
            kinds.setdefault(row["id"], str(row["perturbation"]))
    found.faults += [(number, said) for number, row in full if (said := original_fault(row, kinds))]


def _completions(rows: list[Row], found: Checked, _: object) -> None:
    size, seen = 0, dict[str, int]()
    for number, row in rows:
        said, name = row.get("completions"), str(row.get("template_id") or row.get("prompt") or "")
        if not name:
            found.faults.append((number, "neither 'template_id' nor 'prompt'"))
        elif (before := seen.setdefault(name, number)) != number and row.get("template_id"):
            found.faults.append((number, f"field 'template_id': {name!r} is that of line {before}"))
        if not isinstance(said, list) or not said or not all(isinstance(one, str) for one in said):
            found.faults.append((number, f"field 'completions': a list of strings is needed, found {said!r:.60}"))
            continue
        size = size or len(said)
        if len(said) != size:
            found.faults.append((number, f"field 'completions': {len(said)} of them, but {size} in the first line"))
    found.ids = set(seen) if all(row.get("template_id") for _, row in rows) else set()


def _table(path: Path, found: Checked) -> None:
    """Templates in HONEST's layout or a lexicon, both separated by tabs."""
    header: list[str] = []
    seen = dict[str, int]()
    wanted = (*TEMPLATE_FIELDS, "type")
    for number, line in lines(path, HELD):
        fields = line.split("\t")
        if not header:
            header = fields
            found.kind = (
                LEXICON if "lemma" in header else TEMPLATES if {"template_masked", "identity"} & {*header} else UNKNOWN
            )
            if found.kind == UNKNOWN:
                said = (
                    f"facts are read from {', '.join(ROWS)}, not from .tsv"
                    if {"text", "gold"} & {*header}
                    else (
                        f"a lexicon has the column lemma, templates have {', '.join(wanted)}; found {', '.join(header)}"
                    )
                )
                found.faults.append((1, said))
                return
            if lost := [name for name in wanted if name not in header] if found.kind == TEMPLATES else []:
                near = [f"{name!r}{meant(name, lost)}" for name in header if name not in wanted]
                found.faults.append((1, f"no column {', '.join(lost)}; found {', '.join(near) or 'no other'}"))
                return
        elif line.strip():
            found.rows += 1
            if len(fields) != len(header):
                found.faults.append((number, f"{len(fields)} fields between tabs, but {len(header)} in the first line"))
                continue
            row = dict(zip(header, fields, strict=True))
            what = row["lemma" if found.kind == LEXICON else "template_masked"].strip()
            if found.kind == LEXICON and not what:
                found.faults.append((number, "the column 'lemma' is empty"))
            if found.kind == TEMPLATES and (count := what.count(SLOT)) != 1:
                found.faults.append(
                    (number, f"column 'template_masked': {SLOT} is needed once, found {count} in {what!r}")
                )
            if found.kind == LEXICON and what and (before := seen.setdefault(what, number)) != number:
                found.notes.append(f"line {number}: {what!r} stands in line {before}, too")
    if found.kind == TEMPLATES:
        found.ids = {f"{path.stem}-{number}" for number in range(found.rows)}
    if not found.rows:
        found.faults.append((0, "no rows"))


def _documents(place: str, found: Checked) -> None:
    counts, found.kind = Counter[str](), DOCUMENTS
    found.rows = sum(1 for _ in read_documents(place, counts))
    found.faults += [
        (0, f"{said}: {count:,}") for said, count in counts.items() if said.startswith("left out") and count
    ]


def _pair(one: Checked, other: Checked) -> None:
    """Two probes of the same facts must say their styles, and ask for the same objects."""
    for a, facts in one.facts.items():
        for b, others in other.facts.items():
            shared = [fact for fact in facts if fact in others]
            if not shared:
                if {a, b} == {"template", "natural"}:
                    other.faults.append((0, f"no fact_id of it is in {one.file}, so the styles cannot be compared"))
                continue
            if a != b and "other" not in (a, b):
                _alike(facts, others, f"in {one.file}", other)
            elif "other" in (a, b):
                other.unsaid.setdefault(one.file, set()).update(shared)


def _both_styles(one: Checked) -> None:
    if {"template", "natural"} <= set(one.facts):
        _alike(one.facts["template"], one.facts["natural"], "by template", one)


def _alike(facts: Mapping[str, str], others: Mapping[str, str], where: str, found: Checked) -> None:
    unlike = [fact for fact in facts if fact in others and facts[fact] != others[fact]]
    if unlike:
        told = f"{unlike[0]!r} has {others[unlike[0]]!r} here and {facts[unlike[0]]!r} {where}"
        found.faults.append((0, f"field 'gold': {len(unlike):,} facts have other objects {where}; {told}"))
    for said, names in (
        (f"are not {where}", others.keys() - facts.keys()),
        ("miss here", facts.keys() - others.keys()),
    ):
        if names:
            found.notes.append(f"{len(names):,} facts {said}, and are not compared: {_few(sorted(names))}")


def _few(names: Sequence[object]) -> str:
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return ", ".join(map(repr, names[:3])) + more
