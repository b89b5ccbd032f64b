"""The records written for this project, in English and Chinese: a small set by one author, without annotators."""

from __future__ import annotations

from importlib.resources import as_file, files

from probekit.probes.probe import rows_frame
from probekit.probes.rationales.record import RationaleSet
from probekit.probes.rationales.words import Language

NAMES = {"en": "own items, English", "zh": "own items, Chinese"}


def own_items(language: Language) -> RationaleSet:
    """The own-written records: five dimensions, every original with at least one perturbed version.

    Their positions are checked against the words they name. They carry no annotation scores, for nobody but their
    author has judged them.
    """
    with as_file(files("probekit.probes.rationales") / "items" / f"{language}.jsonl") as path:
        return RationaleSet(NAMES[language], rows_frame(path), licence="MIT")
