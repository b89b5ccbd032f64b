"""Psycholinguistic items as records: cloze (Ettinger 2020), and agreement beside an attractor (Ding and Koehn 2021)."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from probekit.errors import ProbeError
from probekit.files.reading import lines, tsv_rows
from probekit.probes.data import locate
from probekit.probes.probe import MASK
from probekit.probes.rationales.record import RationaleSet, as_record

ARTICLE = "(a|an)"
ITEM = re.compile(r"[0-9]{1,9}-[ab]")
CPRAG_FIELDS = ("item", "context_s1", "context_s2", "expected", "within_category", "between_category", "constraint")
CUED = {"agreement": ("Syneval", "is", "are"), "gender": ("Winobias", "he", "she")}  # set: folder, word of tag 0, of 1
SPANS = re.compile(r"\[\((\d{1,9}), (\d{1,9})\)\] \|\|\| \[\((\d{1,9}), (\d{1,9})\)\]")


def cprag() -> RationaleSet:
    """CPRAG-102: the second sentence's last word follows from the first by everyday knowledge.

    Further columns: ``constraint`` (H or L) and ``contrast`` (the two words of its category and of a neighbouring one).
    """
    rows = [
        _record(f"cprag-{row['item']}", f"{row['context_s1']} {row['context_s2']}", [row["expected"]])
        | {"constraint": row["constraint"], "contrast": [row["within_category"], row["between_category"]]}
        for row in _read("CPRAG-102/CPRAG-102.tsv", CPRAG_FIELDS)
    ]
    return RationaleSet("CPRAG-102", pd.DataFrame(rows), "MIT", "ettinger2020")


def role() -> RationaleSet:
    """ROLE-88: pairs of contexts whose two participants change roles; the reversed one is a contrast to the other.

    Golds are the words that people gave most often. Further columns: ``target``, the word of the sensitivity test, and
    ``contrast``, the golds of the other context.
    """
    table = {row["item"]: row for row in _read("ROLE-88/ROLE-88.tsv", ("item", "context", "expected", "target"))}
    rows = []
    if wrong := [item for item in table if not ITEM.fullmatch(item)]:
        raise ProbeError(f"lm_diagnostics/ROLE-88: an item is a number and -a or -b, not {wrong[0]!r}")
    for item, row in sorted(table.items(), key=lambda entry: (int(entry[0].partition("-")[0]), entry[0])):
        number, _, version = item.partition("-")
        partner = table.get(f"{number}-{'b' if version == 'a' else 'a'}")
        if partner is None:
            raise ProbeError(f"lm_diagnostics/ROLE-88: item {item} has no partner")
        kind = {} if version == "a" else {"perturbation": "role reversal", "original_id": f"role-{number}-a"}
        record = _record(f"role-{item}", row["context"], row["expected"].split("|")) | kind
        rows.append(record | {"target": row["target"], "contrast": partner["expected"].split("|")})
    return RationaleSet("ROLE-88", pd.DataFrame(rows), "MIT", "ettinger2020")


def negation() -> RationaleSet:
    """NEG-136: statements and their negations, simple ones and natural ones.

    Golds are the completion that is true; ``contrast`` the one that would be false; ``natural``, whether the item is of
    NEG-136-NAT, and ``licensing``, Y where it says something worth negating. The article before a completion is the
    one that the gold needs.
    """
    rows = []
    for kind, file in (("simple", "NEG-136-SIMP"), ("natural", "NEG-136-NAT")):
        for row in _read(f"NEG-136/{file}.tsv", ("item", "context_aff", "context_neg", "target_aff", "target_neg")):
            name, yes, no = f"neg-{kind}-{row['item']}", row["target_aff"], row["target_neg"]
            labels = {"natural": kind == "natural", "licensing": row.get("licensing", "")}
            affirmed = _record(name, _article(row["context_aff"], yes), [yes])
            denied = _record(f"{name}-not", _article(row["context_neg"], no), [no])
            denied |= {"perturbation": "negation", "original_id": name}
            rows += [affirmed | labels | {"contrast": [no]}, denied | labels | {"contrast": [yes]}]
    return RationaleSet("NEG-136", pd.DataFrame(rows), "MIT", "ettinger2020")


def cued(name: str) -> RationaleSet:
    """Prefixes whose next word agrees with a noun, the cue, and not with another, the attractor (Ding and Koehn 2021).

    Args:
        name: ``agreement`` (number: is or are) or ``gender`` (he or she; in the published lines always she).

    Returns:
        Originals whose gold agrees with the cue and whose ``contrast`` agrees with the attractor; the rationale is the
        cue. Further columns: ``attractor`` (positions) and ``template`` (the prefix without both nouns). ``counts``
        says how many lines repeat another.

    Raises:
        ProbeError: no such set, data not at hand, or a line that breaks its format.
    """
    if name not in CUED:
        raise ProbeError(f"no set {name!r} of cues and attractors: give one of {', '.join(CUED)}")
    folder, *words = CUED[name]
    files = [locate(f"tarsius/data/{folder}/all.{kind}.txt") for kind in ("prefx", "subjs", "tag")]
    columns = [[line.strip() for _, line in lines(path)] for path in files]
    if len({len(column) for column in columns}) > 1:
        raise ProbeError(f"tarsius/data/{folder}: files of {', '.join(str(len(c)) for c in columns)} lines")
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for number, (prefix, spans, tag) in enumerate(zip(*columns, strict=True), 1):
        found, text = SPANS.fullmatch(spans), prefix.split()
        a, b, c, d = map(int, found.groups()) if found else (1, 0, 1, 0)
        if tag not in ("0", "1") or not (a <= b < len(text) and c <= d < len(text)):
            raise ProbeError(f"tarsius/data/{folder}, line {number}: spans and a tag of its words are needed")
        cue, attractor = [*range(a, b + 1)], [*range(c, d + 1)]
        frame = " ".join("_" if place in cue + attractor else word for place, word in enumerate(text))
        marks: dict[str, Any] = {"rationales": [cue], "attractor": attractor, "template": frame, "words": [*text, MASK]}
        gold, foil = words[int(tag)], words[1 - int(tag)]
        record = as_record(f"{name}-{number}", " ".join([*text, MASK]), [gold], "grammar", **marks, contrast=[foil])
        rows.setdefault((prefix, spans), record)
    repeated = {"lines that repeat another": len(columns[0]) - len(rows)}
    return RationaleSet(f"cues of {name}", pd.DataFrame([*rows.values()]), "MIT", "ding2021", repeated)


def _record(name: str, context: str, golds: list[str], **more: Any) -> dict[str, Any]:
    return as_record(name, f"{' '.join(context.split())} {MASK}.", golds, "semantics", **more)


def _article(context: str, noun: str) -> str:
    return context.replace(ARTICLE, "an" if noun[:1].lower() in "aeiou" else "a")


def _read(relative: str, columns: tuple[str, ...]) -> list[dict[str, str]]:
    return [row for _, row in tsv_rows(locate(f"lm_diagnostics/{relative}"), columns)]
