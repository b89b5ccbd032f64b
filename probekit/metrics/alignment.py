"""Which word of a perturbed text stands for which word of the original (paper 003, section 4, PCC)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def align(original: Sequence[str], perturbed: Sequence[str]) -> list[tuple[int | None, int | None]]:
    """Pairs of positions along a longest common subsequence.

    Between two words that both texts share, words that differ are paired in order, as a replaced word with what
    replaced it; what one text has more is paired with None. Of several longest subsequences, the one that matches
    earliest in the perturbed text is taken.

    Returns:
        Every position of both texts once, in order.
    """
    n, m = len(original), len(perturbed)
    longest = np.zeros((n + 1, m + 1), dtype=int)  # of the rest of the texts from i and j on
    for i in range(n - 1, -1, -1):
        for j in range(m - 1, -1, -1):
            same = original[i] == perturbed[j]
            longest[i, j] = longest[i + 1, j + 1] + 1 if same else max(longest[i + 1, j], longest[i, j + 1])
    pairs: list[tuple[int | None, int | None]] = []
    i = j = start_i = start_j = 0
    while i < n and j < m:
        if original[i] == perturbed[j]:
            pairs += _between(range(start_i, i), range(start_j, j))
            pairs.append((i, j))
            i, j = i + 1, j + 1
            start_i, start_j = i, j
        elif longest[i + 1, j] >= longest[i, j + 1]:
            i += 1
        else:
            j += 1
    return pairs + _between(range(start_i, n), range(start_j, m))


def _between(left: range, right: range) -> list[tuple[int | None, int | None]]:
    """Differing words in a row, paired in order."""
    count = max(len(left), len(right))
    return [(left[k] if k < len(left) else None, right[k] if k < len(right) else None) for k in range(count)]


def aligned_scores(
    original: Sequence[str],
    perturbed: Sequence[str],
    original_scores: npt.ArrayLike,
    perturbed_scores: npt.ArrayLike,
    *,
    replaced: bool = True,
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of two texts as lists of one length; a word that stands for none gets a partner with score 0.

    Args:
        original: words, shape (n,).
        perturbed: words, shape (m,).
        original_scores: shape (n,).
        perturbed_scores: shape (m,).
        replaced: pair a replaced word with what replaced it; else both stand for none.

    Raises:
        ValueError: words and scores differ in number.
    """
    left, right = np.asarray(original_scores, dtype=float), np.asarray(perturbed_scores, dtype=float)
    if left.shape != (len(original),) or right.shape != (len(perturbed),):
        raise ValueError(
            f"{len(original)} and {len(perturbed)} words need as many scores, not shapes {left.shape}, {right.shape}"
        )
    pairs = align(original, perturbed)
    if not replaced:
        alike = [i is None or j is None or original[i] == perturbed[j] for i, j in pairs]
        apart = [[p] if same else [(p[0], None), (None, p[1])] for p, same in zip(pairs, alike, strict=True)]
        pairs = [pair for both in apart for pair in both]
    return (
        np.array([0.0 if i is None else left[i] for i, _ in pairs]),
        np.array([0.0 if j is None else right[j] for _, j in pairs]),
    )
