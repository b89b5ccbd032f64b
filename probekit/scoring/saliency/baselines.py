"""Saliency without a model: at random, and by the marked rationale itself; what every metric is to be compared with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from probekit.files import digest
from probekit.probes.probe import MASK
from probekit.probes.rationales.record import RationaleSet


def random_saliency(items: RationaleSet, seed: int = 0) -> pd.DataFrame:
    """Scores drawn evenly from 0 to 1, each record's own draw fixed by its id and the seed.

    Returns:
        The columns ``id, positions, words, scores`` of ``attribute``.
    """

    def draw(row: Any, count: int, _places: list[int]) -> list[float]:
        generator = np.random.default_rng(int(digest(f"{seed} {row.id}"), 16))
        return generator.random(count).tolist()

    return _table(items, draw)


def oracle_saliency(items: RationaleSet) -> pd.DataFrame:
    """1 for the words of the first marked rationale and 0 for the rest: no scores have a greater F1 with it.

    Returns:
        The columns ``id, positions, words, scores`` of ``attribute``; all scores are 0 where nothing is marked.
    """

    def mark(row: Any, _count: int, places: list[int]) -> list[float]:
        marked = set(row.rationales[0]) if row.rationales else set()
        return [float(place in marked) for place in places]

    return _table(items, mark)


def _table(items: RationaleSet, score: Callable[[Any, int, list[int]], list[float]]) -> pd.DataFrame:
    rows = []
    for row in items.items.itertuples():
        places = [place for place, word in enumerate(row.words) if word != MASK]
        words = [row.words[place] for place in places]
        rows.append({"id": row.id, "positions": places, "words": words, "scores": score(row, len(places), places)})
    return pd.DataFrame(rows)
