"""Study 1, perplexity (paper 001, section 5.5): which prompts are read, and how perplexed each model is by them."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pandas as pd

from probekit.models import load_model
from probekit.models.model import Model
from probekit.probes.probe import MASK, Probe
from probekit.report.page import Page
from probekit.report.text import shown_name
from probekit.scoring import pseudo_perplexity
from probekit.store import Store


def sample(probes: Sequence[Probe], texts: int, seed: int = 0) -> list[Probe]:
    """At most so many prompts of every probe, one a fact, of the same facts in all probes of a data set.

    Probes of a data set that share no fact are drawn from apart.

    Args:
        texts: prompts per probe.
        seed: of the draw.
    """
    facts = [list(probe.facts) for probe in probes]
    datasets = [probe.dataset for probe in probes]
    found = []
    for probe, own, dataset in zip(probes, facts, datasets, strict=True):
        others = [set(of) for of, name in zip(facts, datasets, strict=True) if name == dataset]
        common = sorted(set.intersection(*others)) or sorted(set(own))
        drawn = set(random.Random(f"texts {seed}").sample(common, min(texts, len(common))))
        first = ~pd.Series(own).duplicated()
        found.append(probe.select([fact in drawn and new for fact, new in zip(own, first, strict=True)]))
    return found


def read_all(page: Page, models: Sequence[str], sampled: Sequence[Probe], device: str = "auto") -> pd.DataFrame:
    """Perplexities of every model on every sample, one model in memory at a time, noted on the page.

    Returns:
        The rows of ``read``, all in one table.
    """
    found = []
    for name in models:
        model = load_model(name, device=device)
        for probe in sampled:
            found.append(read(model, probe, Store()))
            page.ran(model, probe, found[-1].attrs["counts"], "pseudo-perplexity")
    for frame in found:
        frame.attrs = {}
    return pd.concat(found, ignore_index=True)


def read(model: Model, probe: Probe, store: Store | None = None) -> pd.DataFrame:
    """Pseudo-perplexity of each prompt with the fact's own object in its slot.

    Returns:
        One row per prompt: ``model, probe, style, prompt_id, fact_id, perplexity, log_prob`` (sum, natural
        logarithm), ``tokens, characters``. ``attrs["counts"]`` says what was run.
    """
    prompts = probe.prompts
    texts = [text.replace(MASK, gold[0]) for text, gold in zip(prompts["text"], prompts["gold"], strict=True)]
    found = pseudo_perplexity(model, texts, store=store)
    told = pd.DataFrame(
        {
            "model": shown_name(model.name),
            "probe": probe.name,
            "style": probe.style,
            "prompt_id": prompts["prompt_id"],
            "fact_id": probe.facts,
            "perplexity": found["perplexity"],
            "log_prob": found["log_prob"],
            "tokens": found["tokens"],
            "characters": [len(text) for text in texts],
        }
    )
    told.attrs["counts"] = found.attrs["counts"]
    return told
