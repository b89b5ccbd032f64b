"""The same facts asked in other words: by another prompt of the same meaning, and by another name of the subject.

Semantically equal prompts, and several names of one thing, give other results (Cao et al. 2022; paper 002, "Biases in
Prompt-based Knowledge Probing": Prompt Preference Bias, Instance Verbalization Bias).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from probekit.probes.bear import bear_names, bear_templates
from probekit.probes.biomedical import medlama, medlama_names
from probekit.probes.facts import fill
from probekit.probes.lama import trex_facts
from probekit.probes.lazy import Lazy
from probekit.probes.probe import MASK, Probe

PROMPT, NAME = "another prompt", "another name"
LEAST = 3  # letters and digits of a name
demo_template = Lazy("probekit.demo.world.probe:demo_template")


def rewordings(probe: Probe) -> dict[str, dict[str, str]]:
    """Other texts for the prompts of a probe, as far as its data tell them.

    Of ``trex/template`` the other prompt is the first of BEAR's templates of the same relation that differs in its
    words, and the names (with one prompt a fact) are BEAR's; of MedLAMA they are its default prompts and the other
    names of the subject's concept; of the demo world's templates, another of the relation. Any other probe may tell
    both in lists: ``paraphrases``, whole prompts, and ``subject_aliases``. What differs in case or punctuation alone is
    the same, and fewer than three letters and digits are a code and no name.

    Returns:
        ``another prompt`` and ``another name`` -> ``prompt_id`` -> text with one [MASK]; prompts without one are left
        out.

    Raises:
        ProbeError: the data of the other wording are not at hand.
    """
    prompts, names = (read(probe) for read in _BY_NAME.get(probe.name, _IN_COLUMNS))
    rows = probe.prompts
    texts: dict[str, dict[str, str]] = {PROMPT: {}, NAME: {}}
    for key, text, subject in zip(rows["prompt_id"], rows["text"], rows.get("subject", [""] * len(rows)), strict=True):
        if other := _another(prompts.get(key, ()), text):
            texts[PROMPT][key] = other
        if subject and text.count(subject) == 1 and (other := _another(names.get(key, ()), subject)):
            texts[NAME][key] = text.replace(subject, other)
    return texts


def _another(texts: Iterable[str], original: str) -> str:
    """The first of the texts that differs from the original in its letters and digits, and has ``LEAST`` of them."""
    others = (text for text in texts if len(_letters(text)) >= LEAST and _letters(text) != _letters(original))
    return next(others, "")


def _letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text.casefold())


def _listed(probe: Probe, column: str) -> dict[str, list[str]]:
    if column not in probe.prompts:
        return {}
    pairs = zip(probe.prompts["prompt_id"], probe.prompts[column], strict=True)
    return {key: list(texts) for key, texts in pairs if isinstance(texts, (list, tuple))}


def _paraphrases(probe: Probe) -> dict[str, list[str]]:
    listed = _listed(probe, "paraphrases")
    return {key: [text for text in texts if text.count(MASK) == 1] for key, texts in listed.items()}


def _trex_prompts(probe: Probe) -> dict[str, list[str]]:
    templates, rows = bear_templates(), probe.prompts
    return {
        key: [fill(text, subject) for text in templates.get(relation, ())]
        for key, relation, subject in zip(rows["prompt_id"], rows["relation"], rows["subject"], strict=True)
    }


def _trex_names(probe: Probe) -> dict[str, tuple[str, ...]]:
    names = bear_names()
    return {fact.fact_id: names.get(fact.subject_key, ()) for fact in trex_facts()[0]}


def _medlama_prompts(probe: Probe) -> dict[str, list[str]]:
    rows = medlama(prompt="default").prompts
    return {key: [" ".join(text.split())] for key, text in zip(rows["prompt_id"], rows["text"], strict=True)}


def _medlama_names(probe: Probe) -> dict[str, tuple[str, ...]]:
    names = medlama_names()
    return {key: names[key.split("/")[1]] for key in probe.prompts["prompt_id"]}  # relation, concept, number


def _demo_prompts(probe: Probe) -> dict[str, list[str]]:
    rows = demo_template("general" if probe.name == "demo/template" else "biomedical", "all").prompts
    by_fact = rows.groupby("fact_id")["text"].agg(list)
    return {key: by_fact[fact] for key, fact in zip(probe.prompts["prompt_id"], probe.facts, strict=True)}


Reader = Callable[[Probe], Mapping[str, Iterable[str]]]
_IN_COLUMNS: tuple[Reader, Reader] = (_paraphrases, partial(_listed, column="subject_aliases"))
_BY_NAME: dict[str, tuple[Reader, Reader]] = {  # prompts and names of probes by name
    "trex/template": (_trex_prompts, _trex_names),
    "medlama/template": (_medlama_prompts, _medlama_names),
    "demo/template": (_demo_prompts, lambda _: {}),
    "demo_bio/template": (_demo_prompts, lambda _: {}),
}
