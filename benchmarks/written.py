"""Gradient times input of a causal model's next token: against inseq, which takes one text after the other.

The texts are beginnings of the demo world's sentences.
"""

from __future__ import annotations

import importlib
import warnings
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import probekit as pk
from benchmarks.gradients import agree
from benchmarks.timing import compare
from probekit.scoring.forward import Row
from probekit.scoring.saliency.explained import Explained, predicted
from probekit.scoring.saliency.gradients import gradient_x_input
from probekit.scoring.saliency.inputs import Input

TEXTS = 20


def main(model: pk.Model) -> pd.DataFrame:
    texts, ends, rows = asked(model)

    @cache
    def other() -> Any:
        return importlib.import_module("inseq").load_model(model.network, "input_x_gradient", tokenizer=model.tokenizer)

    def inseq() -> list[np.ndarray]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = other().attribute(texts, ends, attributed_fn="probability", show_progress=False)
        scores = [one.target_attributions.sum(-1)[:, -1].numpy() for one in found.sequence_attributions]
        return [score[: len(row.ids)] for score, row in zip(scores, rows, strict=True)]

    def explained() -> list[Explained]:
        """The next token, each token of the row being a word."""
        places = [range(len(row.ids)) for row in rows]
        inputs = [
            Input(row, np.arange(len(row.ids)), [*own], [""] * len(own), False)
            for row, own in zip(rows, places, strict=True)
        ]
        best = predicted(model, rows)
        return [Explained((one,), (tuple(t),), "probability", ("",)) for one, t in zip(inputs, best, strict=True)]

    runs = {
        "probekit, gradient_x_input": lambda: [np.array(scores) for scores in gradient_x_input(model, explained())],
        "inseq, input_x_gradient": inseq,
    }
    return compare(f"gradient x input, {len(rows)} texts, {model.name}", model.network, runs, agree)


def asked(model: pk.Model) -> tuple[list[str], list[str], list[Row]]:
    """Beginnings of sentences, each with the model's next token behind it, and as a row that asks for this token.

    Those after which the tokenizer cuts the token off again as it was.
    """
    found: dict[str, tuple[str, Row]] = {}
    for text in pk.load_probe("demo/natural").prompts["text"]:
        start = text.split("[MASK]")[0].strip()
        if start and start not in found and len(found) < TEXTS:
            ids = model.tokenizer(start)["input_ids"]
            row = Row(ids, range(len(ids) - 1, len(ids)))
            both = [*ids, *predicted(model, [row])[0]]
            whole = model.tokenizer.decode(both, skip_special_tokens=True)
            if model.tokenizer(whole)["input_ids"] == both:
                found[start] = whole, row
    return list(found), [whole for whole, _ in found.values()], [row for _, row in found.values()]
