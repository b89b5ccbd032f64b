"""Every scoring path once, on small models of each kind, for comparing one device with another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import probekit as pk
from probekit.models.loading import load_encoder
from probekit.probes.rationales import own_items
from probekit.scoring.decoding import decode
from probekit.scoring.embeddings import embed
from probekit.scoring.saliency.erasure import erasure
from probekit.scoring.saliency.randomised import randomised

MASKED, CAUSAL, SEQ2SEQ = "zoo/bert-tiny", "zoo/llama-tiny", "zoo/t5-tiny"
KINDS = {"masked": MASKED, "causal": CAUSAL, "seq2seq": SEQ2SEQ}
SCORES = {"masked": ["slot", "pll", "pll_word_l2r"], "causal": ["sum", "slot"], "seq2seq": ["slot", "sum"]}
METHODS = ["attention", "integrated_gradients", "gradient_x_input", "occlusion"]
Path = Callable[[str], Any]


def paths() -> dict[str, Path]:
    """Name -> what is asked of a device."""
    probe, items = pk.load_probe("demo/template", limit=4), own_items("en")
    items = replace(items, items=items.items.head(4))
    texts = probe.prompts["text"].tolist()
    made: dict[str, Path] = {}
    for kind, name in KINDS.items():
        for score in SCORES[kind]:
            made[f"rank {kind} {score}"] = lambda device, n=name, s=score: pk.rank_entities(
                pk.load_model(n, device), probe, score=s
            )[["rank", "score"]]
        for method in METHODS:
            made[f"saliency {kind} {method}"] = lambda device, n=name, m=method: np.concatenate(
                pk.attribute(pk.load_model(n, device), items, m)["scores"].tolist()
            )
        made[f"fillings {kind}"] = lambda device, n=name: pk.predict_slots(pk.load_model(n, device), items)["rank"]
        made[f"completions {kind}"] = lambda device, n=name: pk.top_completions(pk.load_model(n, device), texts)[
            "log_prob"
        ]
        made[f"erasure {kind}"] = lambda device, n=name: erased(pk.load_model(n, device), items)
    made["completions drawn"] = lambda device: pk.top_completions(
        pk.load_model(CAUSAL, device), texts, decoding="sample", seed=1
    )["log_prob"]
    for kind in ("masked", "causal"):
        made[f"perplexity {kind}"] = lambda device, n=KINDS[kind]: pk.pseudo_perplexity(
            pk.load_model(n, device), [text.replace("[MASK]", "it") for text in texts]
        )["log_prob"]
    lists = {"all": list(probe.entities)}
    made["within lists"] = lambda device: pk.rank_within(pk.load_model(MASKED, device), probe, lists)[["rank", "score"]]
    made["decoded"] = lambda device: decode(pk.load_model(MASKED, device), texts[:2], beam=3, masks=2)["log_probs"].str[
        0
    ]
    made["sentence vectors"] = lambda device: embed(load_encoder("zoo/bert-small", device), texts)
    made["random weights"] = lambda device: pk.rank_entities(randomised(pk.load_model(MASKED, device)), probe)["score"]
    made["half precision"] = lambda device: pk.rank_entities(pk.load_model(MASKED, device, "bfloat16"), probe)["score"]
    return made


def erased(model: Any, items: Any) -> Any:
    scores = {"occlusion": pk.attribute(model, items, "occlusion")}
    return erasure(model, items, scores, (0.5,))[["comprehensiveness", "sufficiency"]]
