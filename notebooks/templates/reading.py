"""Study 1: how perplexed each model is by sampled prompts (paper 001, section 5.5); pages 16 and 18 compare it."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from probekit.elsewhere import later
from probekit.errors import caution
from probekit.models.model import Model
from probekit.probes.probe import MASK, Probe
from probekit.report.page import Page
from probekit.report.text import shown_name
from probekit.scoring import pseudo_perplexity
from probekit.store import Store

COLUMNS = ["model", "kind", "probe", "dataset", "style", "prompt_id", "fact_id"]
COLUMNS += ["perplexity", "log_prob", "tokens", "characters", "token_ids"]


def read_all(page: Page, models: Sequence[str], sampled: Sequence[Probe]) -> pd.DataFrame:
    """Perplexities of every model on every sample, one model in memory at a time, noted on the page.

    Args:
        page: notes what was run.
        models: names, Hugging Face ids or folders.
        sampled: of ``draws.sample``.

    Returns:
        The rows of ``read``, all in one table.
    """
    kinds = set()

    def reads(model: Model) -> list[pd.DataFrame]:
        kinds.add(model.kind)
        what = "pseudo-perplexity" if model.kind == "masked" else "perplexity"
        frames = []
        for probe in sampled:
            with later():
                frames.append(read(model, probe, Store()))
                page.ran(model, probe, frames[-1].attrs["counts"], what)
        return frames

    found = [frame for frames in page.each(models, reads) for frame in frames] if models else []
    if len(kinds) > 1:
        caution(
            "The perplexity of a causal model, which sees what stands before a token, must not be compared with the "
            "pseudo-perplexity of a masked one, which sees both sides."
        )
    for frame in found:
        frame.attrs = {}
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=COLUMNS)


def read(model: Model, probe: Probe, store: Store | None = None) -> pd.DataFrame:
    """Pseudo-perplexity of each prompt with the fact's own object in its slot.

    Returns:
        One row per prompt: ``model, kind, probe, dataset, style, prompt_id, fact_id, perplexity, log_prob`` (sum,
        natural logarithm), ``tokens, characters`` and ``token_ids``, how the model cuts the text. ``attrs["counts"]``
        says what was run.
    """
    prompts = probe.prompts
    texts = [text.replace(MASK, gold[0]) for text, gold in zip(prompts["text"], prompts["gold"], strict=True)]
    scored = pseudo_perplexity(model, texts, store=store)
    found = pd.DataFrame(
        {
            "model": shown_name(model.name),
            "kind": model.kind,
            "probe": probe.name,
            "dataset": probe.dataset,
            "style": probe.style,
            "prompt_id": prompts["prompt_id"],
            "fact_id": probe.facts,
            "perplexity": scored["perplexity"],
            "log_prob": scored["log_prob"],
            "tokens": scored["tokens"],
            "characters": [len(text) for text in texts],
            "token_ids": [tuple(model.tokens(text)) for text in texts],
        }
    )
    found.attrs["counts"] = scored.attrs["counts"]
    return found
