"""BEAR: options scored as whole statements by lm-pub-quiz and lm-evaluation-harness, and here."""

from __future__ import annotations

import copy
import importlib
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import torch

import probekit as pk
from benchmarks.timing import compare, widened

RELATIONS = ("P6", "P30")  # of 60 and of few options
SCORE = "pll_word_l2r"


def main(model: pk.Model, causal: pk.Model) -> pd.DataFrame:
    """The first item of each relation by the first template, all its options."""
    return pd.concat([_masked(model), _causal(causal), _causal(_wider(causal))], ignore_index=True)


def _wider(model: pk.Model) -> pk.Model:
    with TemporaryDirectory() as folder:
        widened(model, folder, hidden_size=384, intermediate_size=1024, num_hidden_layers=6, heads=6)
        return pk.load_model(folder, device="cpu")


def _masked(model: pk.Model) -> pd.DataFrame:
    probe = pk.load_probe("bear", relations=RELATIONS)
    first = probe.select(~probe.prompts["relation"].duplicated())
    targets = [first.pools[relation] for relation in first.prompts["relation"]]
    taken = f"BEAR, {len(first.prompts)} items of {' and '.join(str(len(t)) for t in targets)} options"

    def ranked(**score: Any) -> list[float]:
        return pk.rank_targets(model, first, targets, **score)["score"].tolist()

    def quizzed() -> list[float]:
        evaluator = importlib.import_module("lm_pub_quiz").Evaluator.from_model(
            model.network, model_type="MLM", tokenizer=model.tokenizer, device="cpu", pll_metric="within_word_l2r"
        )
        return [
            score
            for text, answers in zip(first.prompts["text"], targets, strict=True)
            for score in evaluator.score_answers(
                template=text.replace("[MASK]", "[Y]"), answers=answers, reduction="sum", batch_size=32
            )
        ]

    runs = {
        f"probekit.rank_targets, {SCORE}": lambda: ranked(score=SCORE),
        "lm-pub-quiz, within_word_l2r": quizzed,
        "probekit.rank_targets, slot score": lambda: _none(ranked()),
    }
    return compare(f"score {taken}", model.network, runs, _agree)


def _causal(model: pk.Model) -> pd.DataFrame:
    """The item of 60 options, each a statement to be read from left to right."""
    network: Any = model.network
    tokenizer, changed = (copy.deepcopy(model.tokenizer) for _ in range(2))  # lm-pub-quiz changes its own
    first = pk.load_probe("bear", relations=RELATIONS[:1])
    first = first.select(first.prompts.index == 0)
    (options,) = targets = [first.pools[RELATIONS[0]]]
    texts = [first.prompts["text"][0].replace("[MASK]", option) for option in options]

    def looped() -> list[float]:
        scores = []
        for text in texts:
            ids = model.tokenizer(text, return_tensors="pt")["input_ids"]
            with torch.inference_mode():
                found = network(input_ids=ids).logits[0].log_softmax(-1)
            scores.append(float(found[:-1].gather(1, ids[0, 1:, None]).sum()))
        return scores

    def quizzed() -> list[float]:
        evaluator = importlib.import_module("lm_pub_quiz").Evaluator.from_model(
            network, model_type="CLM", tokenizer=changed, device="cpu"
        )
        template = first.prompts["text"][0].replace("[MASK]", "[Y]")
        return list(evaluator.score_answers(template=template, answers=options, reduction="sum", batch_size=32))

    def harnessed() -> list[float]:
        """All tokens but the first are scored, as the others do; by text it would score it too, after another."""
        harness = importlib.import_module("lm_eval.models.huggingface").HFLM(
            pretrained=network, tokenizer=tokenizer, batch_size=32
        )
        tokens = [tokenizer(text)["input_ids"] for text in texts]
        asked = [(("", text), ids[:1], ids[1:]) for text, ids in zip(texts, tokens, strict=True)]
        return [score for score, _ in harness._loglikelihood_tokens(asked, disable_tqdm=True)]

    runs = {
        "probekit.rank_targets, sum": lambda: pk.rank_targets(model, first, targets, score="sum")["score"].tolist(),
        "a plain loop, a row per option": looped,
        "lm-pub-quiz, a causal model": quizzed,
        "lm-evaluation-harness, by tokens": harnessed,
    }
    millions = sum(part.numel() for part in network.parameters()) / 1e6
    task = f"score BEAR, {len(options)} options, by {millions:.1f} million causal weights"
    return compare(task, network, runs, _agree)


def _none(_scores: object) -> None:
    """Of another definition, so not compared."""


def _agree(ours: list[float], theirs: list[float]) -> str:
    gap = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
    assert gap <= 1e-3, gap  # a sum over a statement's tokens
    return f"{len(ours)} scores within {gap:.0e}"
