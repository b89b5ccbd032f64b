"""Every scoring path once, on small models of each kind, for comparing one device with another.

``python -m benchmarks.paths`` writes the table of them that the book's page on speed shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path as File
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import probekit as pk
from probekit.models.loading import load_encoder
from probekit.probes.rationales import own_items
from probekit.scoring.decoding import decode
from probekit.scoring.embeddings import embed
from probekit.scoring.saliency.erasure import erasure
from probekit.scoring.saliency.randomised import randomised

MASKED, CAUSAL, SEQ2SEQ = "zoo/bert-tiny", "zoo/llama-tiny", "zoo/t5-tiny"
KINDS = {"masked": MASKED, "causal": CAUSAL, "seq2seq": SEQ2SEQ}
SCORES = {
    "masked": ["slot", "pll", "pll_word_l2r", "pll_sentence_l2r"],
    "causal": ["sum", "mean", "slot"],
    "seq2seq": ["slot", "sum", "mean"],
}
METHODS = ["attention", "integrated_gradients", "gradient_x_input", "occlusion"]
DRAWN = {"decoding": "sample", "seed": 1}
COMPLETED: dict[str, dict[str, Any]] = {"best": {}, "drawn": DRAWN, "drawn by top-p": {**DRAWN, "top_p": 0.9}}
CANDIDATES, STEPS = 12, 8  # beside the golds; of integrated gradients
SHORT = {"k": 10, "tokens": 4}  # completions
TABLE = File(__file__).parents[1] / "book" / "device_paths.csv"


class Path(NamedTuple):
    """One way to score.

    Args:
        what: is asked.
        kind: of the network.
        way: of several.
        ask: a device -> numbers by their unit.
        numbers: the format of weights and products.
    """

    what: str
    kind: str
    way: str
    ask: Callable[[str], Mapping[str, Any]]
    numbers: str = "float32"

    @property
    def name(self) -> str:
        return f"{self.what} {self.kind} {self.way}" + f" in {self.numbers}" * (self.numbers != "float32")


def paths() -> list[Path]:
    """All of them."""
    probe, items = pk.load_probe("demo/template", limit=4), own_items("en")
    golds = [gold for answers in probe.prompts["gold"] for gold in answers]
    probe = replace(probe, entities=sorted({*golds, *probe.entities[:CANDIDATES]}))
    items = replace(items, items=items.items.head(4))
    texts = probe.prompts["text"].tolist()
    whole, lists = [text.replace("[MASK]", "it") for text in texts], {"all": list(probe.entities)}
    made: list[Path] = []

    def add(
        what: str, kind: str, way: str, ask: Callable[[pk.Model], Mapping[str, Any]], dtype: str = "float32"
    ) -> None:
        made.append(Path(what, kind, way, lambda device: ask(pk.load_model(KINDS[kind], device, dtype)), dtype))

    for kind in KINDS:
        for score in SCORES[kind]:
            add("ranking", kind, score, lambda model, s=score: ranked(model, probe, score=s))
        for method in METHODS:
            add("saliency", kind, method, lambda model, m=method: saliency(model, items, m))
        for method in METHODS[1:]:
            add(
                "saliency",
                kind,
                f"{method} of a contrast",
                lambda model, m=method: saliency(model, items, m, "contrast"),
            )
        add("fillings", kind, "best", lambda model: {"ranks": pk.predict_slots(model, items)["rank"]})
        add("erasure", kind, "half of the words", lambda model: erased(model, items))
        for way, options in COMPLETED.items():
            add("completions", kind, way, lambda model, o=options: completed(model, texts, o))
    for kind in ("masked", "causal"):
        add("perplexity", kind, "of a text", lambda model: {"nats": pk.pseudo_perplexity(model, whole)["log_prob"]})
    add("ranking", "masked", "slot, lists", lambda model: of(pk.rank_within(model, probe, lists)))
    add("ranking", "masked", "slot, random weights", lambda model: ranked(randomised(model), probe))
    add("ranking", "masked", "slot", lambda model: ranked(model, probe), "bfloat16")
    add("decoding", "masked", "two masks", lambda model: decoded(model, texts[:2]))
    vectors = Path("sentence vectors", "masked", "encoder", lambda device: embedded(device, texts))
    return [*made, vectors]


def of(ranks: pd.DataFrame) -> dict[str, Any]:
    return {"nats": ranks["score"], "ranks": ranks["rank"]}


def ranked(model: pk.Model, probe: pk.Probe, **options: Any) -> dict[str, Any]:
    return of(pk.rank_entities(model, probe, **options))


def saliency(model: pk.Model, items: Any, method: Any, target: str = "") -> dict[str, Any]:
    options = {"target": target} if target else {}
    few: dict[str, Any] = {"steps": STEPS} if method == "integrated_gradients" else {}
    scores = pk.attribute(model, items, method, **options, **few)["scores"]
    return {"of a word's score": np.concatenate(scores.tolist())}


def completed(model: pk.Model, texts: list[str], options: Mapping[str, Any]) -> dict[str, Any]:
    return {"nats": pk.top_completions(model, texts, **SHORT, **options)["log_prob"]}


def embedded(device: str, texts: list[str]) -> dict[str, Any]:
    return {"of a vector's coordinate": embed(load_encoder("zoo/bert-small", device), texts)}


def decoded(model: pk.Model, texts: list[str]) -> dict[str, Any]:
    return {"nats": decode(model, texts, beam=3, masks=2)["log_probs"].str[0]}


def erased(model: pk.Model, items: Any) -> dict[str, Any]:
    scores = {"occlusion": pk.attribute(model, items, "occlusion")}
    return {"of probability": erasure(model, items, scores, (0.5,))[["comprehensiveness", "sufficiency"]]}


def apart(here: Mapping[str, Any], there: Mapping[str, Any]) -> tuple[dict[str, float], bool]:
    """By unit the greatest difference between what a path gives on two devices, and whether what is not finite is the
    same on both."""
    differences, same = {}, True
    for unit in here:
        one, other = (np.asarray(numbers[unit], dtype=float) for numbers in (here, there))
        finite = np.isfinite(one)
        same &= np.array_equal(one[~finite], other[~finite], equal_nan=True)
        differences[unit] = float(np.abs(one[finite] - other[finite]).max(initial=0))
    return differences, same


def table() -> pd.DataFrame:
    """What is asked of which kind of network in which ways, a row for each number format."""
    rows = pd.DataFrame([path[:3] + path[4:] for path in paths()], columns=["What", "kind", "way", "Numbers"])
    groups = rows.groupby(["What", "Numbers"], sort=False)
    ways = rows.groupby(["What", "Numbers", "kind"], sort=False)["way"].agg("; ".join).unstack("kind")
    return groups.size().rename("Paths").to_frame().join(ways[[*KINDS]].fillna("–")).reset_index()


if __name__ == "__main__":
    table().to_csv(TABLE, index=False, lineterminator="\n")
