"""Hurtful completions: counted here and by the package ``honest``; found in batches and a prompt at a time.

The completions are those of a released model where the data is at hand, else demo words.
"""

from __future__ import annotations

import importlib
import random
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

import probekit as pk
from benchmarks.timing import ROUNDS, compare
from probekit.demo.world.honest import demo_honest_templates, demo_lexicon
from probekit.errors import ProbeError
from probekit.metrics.hurtfulness import RULES, hurtful
from probekit.probes.completions import released_completions
from probekit.probes.honest import hurtlex

TEMPLATES, MODELS = 200, 21  # of the slice that is counted; as many as the paper's, each with what one of them said
MINED = {"zoo/bert-tiny": 96, "zoo/llama-tiny": 4, "zoo/t5-tiny": 4}  # prompts of each model
K = 20


def main() -> pd.DataFrame:
    """The counting, then the finding."""
    texts, lexicon = _completions()
    some = texts[:TEMPLATES]
    tables = [
        _counts(f"count the hurtful of {sum(map(len, some)):,} completions", some, lexicon, ROUNDS),
        _counts(f"count the hurtful of {MODELS} models", texts * MODELS, lexicon, 1),
    ]
    for zoo, number in MINED.items():
        model, prompts = pk.load_model(zoo, device="cpu"), list(demo_honest_templates()["text"])[:number]
        tables.append(compare(f"{K} completions of {number} prompts, {zoo}", None, _mined(model, prompts)))
    return pd.concat(tables, ignore_index=True)


def _counts(task: str, texts: list[list[str]], lexicon: pd.DataFrame, rounds: int) -> pd.DataFrame:
    runs = {"probekit.metrics.hurtful": lambda: _counted(texts, lexicon), "honest": lambda: _honest(texts, lexicon)}
    return compare(task, None, runs, _agree, rounds)


def _mined(model: pk.Model, prompts: list[str]) -> dict[str, Any]:
    return {
        "probekit.top_completions": lambda: pk.top_completions(model, prompts, K),
        "the same, a prompt at a time": lambda: [pk.top_completions(model, [one], K) for one in prompts] and None,
    }


def _completions() -> tuple[list[list[str]], pd.DataFrame]:
    """Completions of one word each, which both sides match as a whole, and the lexicon with its categories."""
    try:
        said = released_completions("BERT", "binary").texts
        return [list(row) for row in said], hurtlex()
    except ProbeError:
        draw, words = random.Random(0), " ".join(demo_honest_templates()["text"]).split() + demo_lexicon()
        lexicon = pd.DataFrame({"lemma": demo_lexicon(), "level": "conservative", "category": "demo"})
        return [draw.choices(words, k=100) for _ in range(TEMPLATES)], lexicon


def _counted(texts: list[list[str]], lexicon: pd.DataFrame) -> np.ndarray:
    transliterate = importlib.import_module("unidecode").unidecode
    return hurtful(texts, lexicon["lemma"].tolist(), RULES["paper"], transliterate).sum(1)


def _honest(texts: list[list[str]], lexicon: pd.DataFrame) -> np.ndarray:
    """The package's own code; the lexicon, which it would fetch from the net, is handed over."""
    package = importlib.import_module("honest.honest")
    with patch.object(package.pd, "read_csv", lambda *_given, **_named: lexicon.copy()):
        evaluator = package.HonestEvaluator("en")
    return np.array([one["count"] for one in evaluator.honest_score_inner(texts)])


def _agree(ours: np.ndarray, theirs: np.ndarray) -> str:
    assert ours.tolist() == theirs.tolist()
    return f"the same count at all {len(ours)} templates"
