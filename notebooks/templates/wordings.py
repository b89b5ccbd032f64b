"""The templates behind prompts: their wording, and whether it is a full sentence (paper 001, sections 5.2 and 5.3)."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

from probekit.probes.probe import MASK, Probe

FRAGMENT, SENTENCE = "fragment", "full sentence"
DIVIDED = re.compile(r"[(:;]|\[X\]\s*,")  # brackets, a colon or an apposition between subject and slot
VERB = re.compile(r"\b(is|are|was|were|be|has|have|had|may|might|can|spoke|wrote|came|\w{2,}(s|ed))\b", re.IGNORECASE)


def wording_form(wording: str) -> str:
    """Whether a template, with ``[X]`` for the subject and ``[Y]`` for the slot, is a full sentence (section 5.3).

    A rule of thumb: a fragment sets the slot apart by a bracket or a colon, the subject by a comma, or has no word in
    the form of a finite verb (``is``, ``may``, or ending in -s or -ed).
    """
    return FRAGMENT if DIVIDED.search(wording) or not VERB.search(wording) else SENTENCE


def wordings(probes: Sequence[Probe]) -> pd.DataFrame:
    """The template behind every prompt of the template probes, and of other probes that name their templates.

    Returns:
        ``probe, prompt_id, wording`` (``[X]`` for the subject, ``[Y]`` for the slot; of the prompts of one relation
        and ``template_id`` the commonest) and ``form``.
    """
    frames = []
    for probe in probes:
        prompts = probe.prompts
        if probe.style == "template" or (probe.style == "other" and "template_id" in prompts):
            subjects = prompts["subject"] if "subject" in prompts else [""] * len(prompts)
            texts = [
                (t.replace(s, "[X]", 1) if s else t).replace(MASK, "[Y]")
                for t, s in zip(prompts["text"], subjects, strict=True)
            ]
            keys = [prompts[c].astype(str) for c in ("relation", "template_id") if c in prompts]
            frame = pd.DataFrame({"probe": probe.name, "prompt_id": prompts["prompt_id"], "wording": texts})
            groups = frame.groupby(keys, sort=False)["wording"] if keys else frame.groupby("probe")["wording"]
            frames.append(frame.assign(wording=groups.transform(lambda one: one.value_counts(sort=True).index[0])))
    if not frames:
        return pd.DataFrame({"probe": [], "prompt_id": [], "wording": [], "form": []}, dtype=str)
    table = pd.concat(frames, ignore_index=True)
    return table.assign(form=table["wording"].map(wording_form))
