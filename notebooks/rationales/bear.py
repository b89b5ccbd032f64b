"""BEAR's facts as records of knowledge, their deciding words marked once a wording and so in thousands of facts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from probekit.files import digest
from probekit.probes.bear import bear_facts, bear_templates
from probekit.probes.facts import fill
from probekit.probes.rationales import RationaleSet, split_words
from probekit.probes.rationales.record import as_record
from probekit.probes.rationales.words import is_punctuation

MARKS = Path(__file__).with_name("bear_marks.json")  # digest of a wording -> places of its marked words
SUBJECT = "X" * 8  # one word of a wording, in the place of its subject


def marked_bear() -> RationaleSet:
    """BEAR's facts in their wordings, whose subject and whose words for the relation are marked, once a wording.

    The marks are this project's, kept by the digest of a wording, without its text. A fact's first wording is the
    original, and the others are its transformations. A punctuation mark of a subject is not marked.

    Returns:
        Records of knowledge with the further column ``relation``. ``counts`` says how many wordings have no marks, or
        repeat another of their relation.

    Raises:
        ProbeError: data not at hand, or of another form.
    """
    marks = json.loads(MARKS.read_text("utf-8"))
    wordings = {name: dict.fromkeys(texts) for name, texts in bear_templates().items()}
    known = {name: [text for text in texts if digest(text) in marks] for name, texts in wordings.items()}
    rows = []
    for fact in bear_facts():
        for number, wording in enumerate(known[fact.relation]):
            places: list[int] = []
            words: list[str] = []
            for place, word in enumerate(split_words(fill(wording, SUBJECT), "en")):
                own = split_words(word.replace(SUBJECT, fact.subject), "en")
                marked = enumerate(own, len(words)) if place in marks[digest(wording)] else ()
                places += [place for place, word in marked if not is_punctuation(word)]
                words += own
            change = {"perturbation": "transformation", "original_id": f"{fact.fact_id}/0"} if number else {}
            text = fill(wording, fact.subject)
            more: dict[str, Any] = {"rationales": [places], "relation": fact.relation, **change}
            record = as_record(
                f"{fact.fact_id}/{number}", text[:1].upper() + text[1:], [fact.object], "knowledge", **more
            )
            rows.append(record)
    lost = sum(map(len, bear_templates().values())) - sum(map(len, known.values()))
    return RationaleSet("BEAR, marked", pd.DataFrame(rows), "none stated", "wiland2024", {"wordings left out": lost})
