"""Steps of contexts made by hand, and a page on which a test can note what it asks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from probekit.probes.halves import HELD_OUT, TAUGHT
from probekit.report import Page
from probekit.report.sentences import Sentence
from probekit.report.sources import parameters

VARIANTS = ["real", "knowledge_only", "knowledge_sorted", "knowledge_random"]
TWO = {"one": 0.9, "two": 0.5}


def a_page(out: Path, study: str = "20_contexts") -> Page:
    """A page with the default parameters of its notebook."""
    return Page(study, {name: entry["default"] for name, entry in parameters(study).items()} | {"out": str(out)})


def made(
    models: dict[str, float], triples: int = 40, told: float = 0.0, copy: bool = False, bare: int = 0
) -> pd.DataFrame:
    """Steps of contexts with a target T, a wrong W and two right R1, R2; three steps each.

    Args:
        models: name -> chance that a right entity lifts the target.
        triples: how many.
        told: added to that chance for the taught half.
        bare: by how many ranks the target of the taught half stands higher without context.
        copy: whether it lifts the negative target as often.
    """
    generator, rows = np.random.default_rng(0), []
    for (model, chance), triple, variant, twin in product(
        models.items(), range(triples), VARIANTS, ("target", "negative")
    ):
        half, centre, rank = (TAUGHT, HELD_OUT)[triple % 2], "T" if twin == "target" else "W", 6
        rank -= bare * (half == TAUGHT)
        order = ["T", "R1", "W"] if twin == "target" else ["W", "T", "R1"]
        for step, added in enumerate(order, start=1):
            right = added != "W"
            lift = chance + told * (half == TAUGHT) if twin == "target" or copy else 1 - chance
            change = (-1 if generator.random() < lift else 1) if right and added != centre else 0
            rows.append(
                {
                    "source": "trex", "model": model, "triple_id": str(triple), "prompt_id": str(triple),
                    "fact_id": str(triple),
                    "subject": str(triple), "relation": f"P{triple % 3}", "golds": 2 + triple % 4,
                    "kind": "N-M" if triple % 3 else "N-1",
                    "target_prompts": 1 + triple % 7, "relation_prompts": 9, "doc_id": f"d{triple}", "variant": variant,
                    "correct": [f"T{triple}"], "pool": "p",
                    "twin": twin, "centre": centre, "step": step, "last": step == 3, "added": added,
                    "added_correct": right, "rank_before": rank, "rank_after": rank + change, "rc_centre": change,
                    "rc_added": 0.0, "rc_correct": 0.0, "rc_incorrect": 0.0, "candidates": 50, "half": half,
                    "any_before": 1, "any_after": 1, "cut": False, "same": False, "document_read": False,
                    "copied": added == "R1", "copied_bare": False, "order": [step],
                }
            )  # fmt: skip
            rank += change
    return pd.DataFrame(rows)


def heard(sentences: Sequence[Sentence]) -> str:
    """What a page would say: the sentences that hold."""
    return " ".join(one.text for one in sentences if one.holds)
