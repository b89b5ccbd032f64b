"""Batches: rows sorted by length, longest first, cut by a budget of padded tokens; and shards, which are kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from probekit.errors import ProbekitError

BATCH_TOKENS = 4096  # of a CPU, where more are no faster; elsewhere the least, see ``device_budget``
FILLED, SHORTER = 8, 0.9  # a batch filled by an eighth ends before a row that is shorter by a tenth


def token_batches(lengths: Sequence[int], masks: Sequence[int], budget: int) -> list[list[int]]:
    """Cut rows into batches whose padded size, rows x longest row, stays within ``budget`` tokens.

    A batch holds at most ``budget / 8`` masks too, since each mask costs a whole vocabulary of scores, and it ends
    early where padding would grow: see ``FILLED`` and ``SHORTER``. A row over either limit is a batch of its own.
    The batches are a function of the arguments alone.

    Args:
        lengths: tokens of each row.
        masks: masks of each row.
        budget: padded tokens per batch.

    Returns:
        Row numbers of each batch: every row once, longest first, equal lengths in their given order.
    """
    if budget < 1:
        raise ProbekitError(
            f"a batch holds at least 1 token, not {budget}: give a positive batch_tokens, or 0 for what fits"
        )
    batches: list[list[int]] = []
    longest = held = 0
    for row in np.argsort(-np.asarray(lengths), kind="stable").tolist():
        size = len(batches[-1]) * longest if batches else 0
        full = size + longest > budget or (held + masks[row]) * 8 > budget
        if not batches or full or (size * FILLED >= budget and lengths[row] < longest * SHORTER):
            batches.append([])
            longest, held = lengths[row], 0
        batches[-1].append(row)
        held += masks[row]
    return batches


def shards_of(order: Iterable[int], sizes: Sequence[Sequence[int]], most: Sequence[int]) -> list[list[int]]:
    """Cut units, in their order, into shards none of whose sizes passes its limit; too large a unit is alone.

    Args:
        sizes: of each unit, shape (units, kinds).
        most: of a shard, shape (kinds,).
    """
    table = np.array(sizes).reshape(-1, len(most))
    shards: list[list[int]] = []
    held = np.zeros(len(most), int)
    for unit in order:
        held = held + table[unit]
        if not shards or (held > most).any():
            shards.append([])
            held = table[unit]
        shards[-1].append(unit)
    return shards
