"""Integrated gradients: against the bare forward and backward passes, and against captum.

The instances are the project's own English records.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pandas as pd
import torch

import probekit as pk
from benchmarks.timing import compare
from probekit.probes.rationales import RationaleSet, own_items
from probekit.scoring.forward import Row, head_at
from probekit.scoring.saliency.explained import explain
from probekit.scoring.saliency.fillings import Slots
from probekit.scoring.saliency.gradients import GRADIENT_TOKENS, integrated_gradients

INSTANCES = 3
STEPS = 20


def main(model: pk.Model) -> pd.DataFrame:
    table = own_items("en").items
    few = RationaleSet("own items", table[table["original_id"] == ""].iloc[:: len(table) // INSTANCES // 3])
    few = few.select([i < INSTANCES for i in range(len(few.items))])
    slots = Slots(model, few)
    inputs = slots.inputs
    rows = [one.row for one in inputs]

    def ours() -> list[np.ndarray]:
        explained = explain(slots, range(len(rows)), "predicted", [])
        return [np.array(path.words) for path in integrated_gradients(model, explained, steps=STEPS)]

    def captum(size: int | None) -> list[np.ndarray]:
        tokens = _captum(model, rows, size)
        return [np.array(one.word_scores(scores)) for one, scores in zip(inputs, tokens, strict=True)]

    runs = {
        "probekit, integrated_gradients": ours,
        "bare forward and backward passes, the head at the masks": lambda: _bare(model, rows),
        "captum, all points of an instance at once": lambda: captum(None),
        "captum, one point at a time": lambda: captum(1),
    }
    return compare(f"integrated gradients, {len(rows)} sentences, {STEPS} steps", model.network, runs, agree)


def agree(ours: list[np.ndarray], theirs: list[np.ndarray]) -> str:
    gap = max(float(np.abs(a - b).max() / np.abs(a).max()) for a, b in zip(ours, theirs, strict=True))
    assert gap <= 1e-3, gap
    return f"attributions within {gap:.0e} of the largest"


def _bare(model: pk.Model, rows: list[Row]) -> None:
    """Forward and backward to the embeddings at as many points, in batches of one length."""
    network: Any = model.network
    embed = network.get_input_embeddings()
    for weight in network.parameters():
        weight.requires_grad_(False)
    by_length: dict[int, list[Row]] = {}
    for row in rows:
        by_length.setdefault(len(row.ids), []).extend([row] * (STEPS + 1))
    for length, members in by_length.items():
        size = GRADIENT_TOKENS // length
        for start in range(0, len(members), size):
            part = members[start : start + size]
            where = torch.tensor([(i, place) for i, row in enumerate(part) for place in row.masks]).T
            embedded = embed(torch.tensor([list(row.ids) for row in part])).requires_grad_(True)
            with head_at(model, where):
                scores = network(inputs_embeds=embedded).logits[0].float().logsumexp(1).sum()
            torch.autograd.grad(scores, embedded)


def _captum(model: pk.Model, rows: list[Row], batch: int | None) -> list[np.ndarray]:
    """captum's integrated gradients, the whole head, an instance at a time; ``batch`` points at once or one.

    Its trapezoid has n points of weight 1/n, ours n - 1 intervals of length 1/(n - 1).
    """
    method = importlib.import_module("captum.attr").IntegratedGradients
    network: Any = model.network
    embed = network.get_input_embeddings()
    before, after = map(len, model.special_ids)
    found = []
    for row in rows:
        ids, masks = torch.tensor([list(row.ids)]), list(row.masks)
        blank = ids.clone()
        blank[0, before : ids.shape[1] - after] = model.tokenizer.pad_token_id
        with torch.no_grad():
            end, start = embed(ids), embed(blank)
            targets = network(input_ids=ids).logits[0, masks].argmax(-1)

        def value(embedded: torch.Tensor, masks: Any = masks, targets: Any = targets) -> torch.Tensor:
            scores = network(inputs_embeds=embedded).logits[:, masks].softmax(-1)
            return scores.gather(2, targets.expand(len(embedded), -1)[..., None])[..., 0].mean(1)

        given = {"n_steps": STEPS + 1, "method": "riemann_trapezoid", "internal_batch_size": batch}
        found.append(method(value).attribute(end, start, **given).sum(-1)[0].detach().numpy() * (STEPS + 1) / STEPS)
    return found
