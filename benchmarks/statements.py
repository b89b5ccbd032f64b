"""BEAR: options scored as whole statements by lm-pub-quiz, and here."""

from __future__ import annotations

import importlib
from typing import Any

import pandas as pd

import probekit as pk
from benchmarks.timing import compare

RELATIONS = ("P6", "P30")  # of 60 and of few options
SCORE = "pll_word_l2r"


def main(model: pk.Model) -> pd.DataFrame:
    """The first item of each relation by the first template, all its options."""
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


def _none(_scores: object) -> None:
    """Of another definition, so not compared."""


def _agree(ours: list[float], theirs: list[float]) -> str:
    gap = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
    assert gap <= 1e-3, gap  # a sum over a statement's tokens
    return f"{len(ours)} scores within {gap:.0e}"
