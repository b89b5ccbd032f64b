"""The same prompts about another subject: what a model still gets right needs no subject."""

from __future__ import annotations

import re
from dataclasses import replace

import pandas as pd

from probekit.files import digest
from probekit.probes.probe import MASK, Probe, shows

SWAPPED = ", subject swapped"  # so ends the name of such a probe
LEAST = 4  # letters of a part of a name that names the subject still
ABSENT, UNFIT = "left out: subject not in the text as written, or again in part", "left out: no other subject fits"


def swap_subjects(probe: Probe, seed: int = 0) -> Probe | None:
    """The prompts of a probe, each with the subject of another fact of its relation in place of its own; golds stay.

    The facts of a relation stand in a ring, in the order of a digest of their ids and ``seed``. In this order each gets
    the next subject of which none of the fact's golds is known to be right, and whose name shows none of them, nor its
    own subject. So where each next one fits, a subject is asked for as many facts as before, and a model that knew
    what the data tell, and no more, would find no gold.
    Prompts are left out, and counted, for which none fits, in which the subject does not stand as written, or which
    still show it elsewhere, such as by a surname.

    Args:
        probe: with ``subject`` and ``relation``; ``shows_gold``, where it has it, is found anew.
        seed: of the order.

    Returns:
        The probe, named ``..., subject swapped``; ids of prompts and facts, golds and candidates are those that were.
        None where no prompt is left, or a field is missing.
    """
    prompts = probe.prompts
    if "subject" not in prompts or "relation" not in prompts:
        return None
    others = dict[object, str]()
    facts = prompts.assign(fact_id=probe.facts)
    for _, rows in facts[facts["subject"].map(_is_name)].groupby("relation", sort=False):
        others |= _others(rows, seed)
    rows, counts = [], {ABSENT: 0, UNFIT: 0}
    for fact, row in zip(facts["fact_id"], prompts.to_dict("records"), strict=True):
        if not (_is_name(row["subject"]) and (pieces := _around(row["subject"], row["text"]))):
            counts[ABSENT] += 1
        elif fact not in others or shows(row["subject"], text := others[fact].join(pieces)):
            counts[UNFIT] += 1
        else:
            marks = {"shows_gold": shows(row["gold"][0], text)} if "shows_gold" in row else {}
            rows.append(row | {"text": text, "subject": others[fact], **marks})
    if not rows:
        return None
    left_out = {reason: count for reason, count in counts.items() if count}
    return replace(probe, name=probe.name + SWAPPED, prompts=pd.DataFrame(rows), counts={**probe.counts, **left_out})


def _is_name(subject: object) -> bool:
    return isinstance(subject, str) and subject.strip() != "" and MASK not in subject


def _others(rows: pd.DataFrame, seed: int) -> dict[object, str]:
    """Fact -> the name of the other subject, for the facts of a relation for which one fits."""
    known: dict[str, set[str]] = {}
    for name, golds in zip(rows["subject"], rows["gold"], strict=True):
        known.setdefault(name, set()).update(golds)
    names = dict(zip(rows["fact_id"], rows["subject"], strict=True))
    ring = [(fact, names[fact]) for fact in sorted(names, key=lambda fact: digest(str(seed), str(fact)))]
    others, place = dict[object, str](), 0
    for fact, own in ring:
        for step in range(1, len(ring) + 1):
            _, other = ring[(place + step) % len(ring)]
            if known[own].isdisjoint(known[other]) and not any(shows(text, other) for text in (own, *known[own])):
                others[fact], place = other, place + step
                break
    return others


def _around(subject: str, text: str) -> list[str]:
    """What stands around the subject in a text, in pieces; none where it does not stand there, or is still named."""
    before, after = (re.split(rf"(?<!\w){re.escape(subject)}(?!\w)", part) for part in text.split(MASK))
    pieces = [*before[:-1], before[-1] + MASK + after[0], *after[1:]]
    rest = " ".join(pieces)
    parts = {word for word in re.findall(r"\w+", subject) if len(word) >= LEAST and word[0].isupper()}
    named = shows(subject, rest) or parts.intersection(re.findall(r"\w+", rest))
    return [] if len(pieces) == 1 or named else pieces
