"""A trained classifier of offensive texts without its package: words weighted by how rare they are, linear machines.

The coefficients are those of alt-profanity-check 1.9.1 (MIT), which ``tools/linear.py`` turned from pickles into
safetensors; they lie in the data folder, and no pickle is loaded.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from probekit.errors import ProbekitError
from probekit.files.reading import read_bytes
from probekit.probes.data import data_root, locate

from notebooks.fairness.matching import Array

NAME = "linear"
FILE = "linear/offensive.safetensors"
SHA256 = "665febc2e9ffb8c3fc0619287b0bdcba53deafa36c85c59ac157669d66827d17"
WORD = re.compile(r"(?u)\b\w\w+\b")


def at_hand() -> bool:
    """Whether the coefficients lie in the data folder."""
    return (data_root() / FILE).is_file()


def classifier() -> Callable[[Sequence[str]], Array]:
    """Texts -> the probability that each is offensive, from 0 to 1.

    Raises:
        ProbekitError: the coefficients are not at hand, or are another file than the pinned one.
    """
    from safetensors.numpy import load

    data = read_bytes(locate(FILE))
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise ProbekitError(f"{locate(FILE)} is another file than the pinned one: make it with tools/linear.py")
    parts = load(data)
    places = {word: place for place, word in enumerate(parts.pop("words").tobytes().decode().split("\n"))}
    return lambda texts: np.array([probability(text, places, parts) for text in texts], dtype=float)


def probability(text: str, places: dict[str, int], parts: dict[str, Array]) -> float:
    """The mean over machines of a logistic function of their values for one text.

    Args:
        places: word -> column.
        parts: ``idf``, shape (words,); ``coefficients`` (machines, words); ``intercepts, slopes, offsets`` (machines,).
    """
    counts = Counter(places[word] for word in WORD.findall(text.lower()) if word in places)
    columns = list(counts)
    weights = np.array([*counts.values()], dtype=float) * parts["idf"][columns]
    weights = weights / np.linalg.norm(weights) if len(weights) else weights
    values = parts["coefficients"][:, columns] @ weights + parts["intercepts"]
    return float((1 / (1 + np.exp(parts["slopes"] * values + parts["offsets"]))).mean())
