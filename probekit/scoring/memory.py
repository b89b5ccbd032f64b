"""Batches that shrink where memory runs out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TypeVar

from probekit.errors import ModelError
from probekit.models.kinds import out_of_memory
from probekit.scoring.batches import token_batches

log = logging.getLogger(__name__)
Result = TypeVar("Result")


def within_memory(
    name: str,
    lengths: Sequence[int],
    masks: Sequence[int],
    budget: int,
    run: Callable[[list[int]], Result],
    alike: bool = False,
) -> Iterator[tuple[list[int], Result]]:
    """Run rows batch by batch, see ``token_batches``.

    A batch that does not fit into memory is cut in half, and so is every later one of its size: the cuts depend on
    the rows alone, and each call starts from the full budget.

    Args:
        name: of the model, for messages.
        lengths, masks, budget: as in ``token_batches``.
        run: what to do with the rows of a batch.
        alike: batches hold rows of one length, for networks in which padding changes scores.

    Yields:
        Row numbers of the batch, and what ``run`` gave.

    Raises:
        ModelError: a single row does not fit into memory.
    """
    import torch

    limit = budget
    batches = token_batches(lengths, masks, budget)
    if alike:
        batches = [list(rows) for batch in batches for _, rows in groupby(batch, key=lengths.__getitem__)]
    for batch in batches:
        parts = [batch]
        while parts:
            part = parts.pop()
            size = len(part) * lengths[part[0]]
            if len(part) == 1 or size <= max(limit, lengths[part[0]]):
                try:
                    result = run(part)
                except (torch.OutOfMemoryError, RuntimeError, MemoryError) as error:
                    if not out_of_memory(error):
                        raise
                    if len(part) == 1:
                        raise ModelError(
                            f"{name}: one row of {size} tokens does not fit into memory; free some, take another "
                            "device or dtype='bfloat16' in load_model, or ask a smaller model"
                        ) from error
                    limit = size // 2
                    log.warning("out of memory at %d tokens a batch; going on with %d", size, limit)
                else:
                    yield part, result
                    continue
            middle = len(part) // 2
            parts += [part[middle:], part[:middle]]
