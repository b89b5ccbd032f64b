"""Pieces of words by merging the most frequent neighbours (byte-pair encoding, Sennrich et al. 2016).

The trainers of ``tokenizers`` order equally frequent pairs differently from run to run; here ties are broken by the
pair itself, so that a text gives one vocabulary everywhere.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

Pair = tuple[str, str]


def merge(
    words: Mapping[tuple[str, ...], int], count: int, join: Callable[[str, str], str]
) -> tuple[list[Pair], Counter[str]]:
    """The first ``count`` merges, fewer if no pair occurs twice.

    Args:
        words: each word as its smallest pieces -> how often it occurs.
        count: merges wanted.
        join: the piece that two neighbours become.

    Returns:
        The merges in order, and how often each piece is used in the words once all merges are made.
    """
    pieces = [list(word) for word in words]
    often = list(words.values())
    pairs: Counter[Pair] = Counter()
    homes: dict[Pair, set[int]] = defaultdict(set)
    for number, word in enumerate(pieces):
        for pair in itertools.pairwise(word):
            pairs[pair] += often[number]
            homes[pair].add(number)
    heap = [(-n, pair) for pair, n in pairs.items()]
    heapq.heapify(heap)
    made: list[Pair] = []
    while len(made) < count and heap:
        negative, best = heapq.heappop(heap)
        if pairs[best] != -negative:
            continue  # counted again since; the newer entry stands in the heap
        if -negative < 2:
            break
        made.append(best)
        changed: set[Pair] = set()
        for number in homes.pop(best):
            old, new = pieces[number], _joined(pieces[number], best, join(*best))
            for pair in itertools.pairwise(old):
                pairs[pair] -= often[number]
                changed.add(pair)
            for pair in itertools.pairwise(new):
                pairs[pair] += often[number]
                homes[pair].add(number)
                changed.add(pair)
            pieces[number] = new
        for pair in changed:
            if pairs[pair] > 0:
                heapq.heappush(heap, (-pairs[pair], pair))
    used: Counter[str] = Counter()
    for word, n in zip(pieces, often, strict=True):
        for piece in word:
            used[piece] += n
    return made, used


def _joined(word: Sequence[str], pair: Pair, joined: str) -> list[str]:
    found: list[str] = []
    at = 0
    while at < len(word):
        if at + 1 < len(word) and (word[at], word[at + 1]) == pair:
            found.append(joined)
            at += 2
        else:
            found.append(word[at])
            at += 1
    return found
