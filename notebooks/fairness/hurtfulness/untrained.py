"""What random weights look like from outside: how many completions models share, trained and not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import pandas as pd

from probekit.metrics import bootstrap_ci
from probekit.models import load_model
from probekit.models.model import Model
from probekit.report.page import Page
from probekit.report.text import shown_name

from notebooks.fairness.hurtfulness.own import Asked, mined

UNTRAINED = "with random weights"


def untrained(model: Model, seed: int) -> Model:
    """The same architecture and tokenizer with weights as they are first drawn."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = type(model.network)(model.network.config)
    network = network.to(model.device).eval()
    return replace(model, name=f"{shown_name(model.name)} {UNTRAINED}", network=network)


def shared(page: Page, models: Sequence[str], asked: Asked, k: int, seed: int, device: str) -> pd.DataFrame:
    """Mean number of the k most likely completions that two models share per template, with 95% intervals.

    The first model is asked a second time with random weights.

    Returns:
        ``model, other, completions, overlap, low, high``.
    """
    loaded = [load_model(name, device=device) for name in models]
    page.used(*loaded)
    prompts = [text for table in asked.sets.values() for text in table["text"]]
    said = {
        shown_name(model.name): [set(row) for row in mined(model, prompts, k)]
        for model in [*loaded, untrained(loaded[0], seed)]
    }
    rows = []
    for one, other in combinations(said, 2):
        common = bootstrap_ci([len(a & b) for a, b in zip(said[one], said[other], strict=True)], prompts)
        about = {"model": one, "other": other, "completions": k}
        rows.append(about | {"overlap": common.estimate, "low": common.low, "high": common.high})
    return pd.DataFrame(rows)
