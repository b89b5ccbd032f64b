"""Which LAMA facts a half-taught model was taught: the contrast of known and unknown facts in study 1.

A model trained on the sentences of half the facts gives a probe a ground truth. A fact belongs to the taught half when
the first 8 hexadecimal digits of the SHA-1 of ``predicate|subject|object`` make an even number. A held-out fact that
has a sentence in common with a taught one was not kept from a model that read all of these, and stands apart.
"""

from __future__ import annotations

import hashlib

from probekit.errors import ProbeError
from probekit.probes.lama import Fact, google_re_facts, trex_facts
from probekit.probes.probe import MASK

HALVED = ("google_re", "trex", "trex41")  # data sets that have halves
TAUGHT, SHARED, HELD_OUT = "taught", "held out, shared sentence", "held out"
ASKED = "asked"  # salt of draws among told facts: texts of the laboratory draw by the same digests without it


def is_even(text: str) -> bool:
    """Whether the first 8 hexadecimal digits of the text's SHA-1 make an even number: the coin that halves a set."""
    return int(hashlib.sha1(text.encode()).hexdigest()[:8], 16) % 2 == 0


def is_taught(predicate: str, subject: str, obj: str) -> bool:
    """Whether the rule above puts this fact in the taught half."""
    return is_even(f"{predicate}|{subject}|{obj}")


def _split(facts: list[Fact]) -> dict[str, str]:
    def shown(fact: Fact) -> list[str]:
        return [sentence.replace(MASK, surface) for sentence, surface in fact.sentences]

    taught = [f for f in facts if is_taught(f.predicate, f.subject, f.object)]
    seen = {sentence for fact in taught for sentence in shown(fact)}
    halves = {f.fact_id: SHARED if seen.intersection(shown(f)) else HELD_OUT for f in facts}
    return halves | {f.fact_id: TAUGHT for f in taught}


def halves(dataset: str) -> dict[str, str]:
    """For every ``fact_id`` of ``google_re`` or ``trex``: ``taught``, ``held out``, or ``held out, shared sentence``.

    ``trex41`` has most facts of ``trex``, under the same ids; its other relations were not halved, and are not in here.

    Raises:
        ProbeError: another data set, which was not halved.
    """
    if dataset == "google_re":
        return _split(google_re_facts())
    if dataset in ("trex", "trex41"):
        return _split(trex_facts()[0])
    raise ProbeError(f"{dataset!r} has no halves; google_re, trex and trex41 have")
