"""Batches by the memory that a CUDA device has free, which shrink where memory runs out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

from probekit.errors import ModelError, ProbekitError, said
from probekit.models.kinds import out_of_memory
from probekit.scoring.batches import BATCH_TOKENS, token_batches

if TYPE_CHECKING:
    import torch

log = logging.getLogger(__name__)
Result = TypeVar("Result")
MOST_TIMES = 32  # BATCH_TOKENS: a GPU gains nothing from still larger batches


def device_budget(device: torch.device, run: Callable[[int], object]) -> int:
    """Padded tokens per batch: BATCH_TOKENS, and of CUDA up to 32 times that, as half of its free memory holds.

    Found by one batch, as a power of two times BATCH_TOKENS, which a little more or less of free memory seldom moves.

    Args:
        run: a forward pass over so many tokens.
    """
    import torch

    if device.type != "cuda":
        return BATCH_TOKENS
    torch.cuda.reset_peak_memory_stats(device)
    held = torch.cuda.memory_allocated(device)
    try:
        run(BATCH_TOKENS)
    except (torch.OutOfMemoryError, RuntimeError) as error:
        if not out_of_memory(error):
            raise
        return BATCH_TOKENS  # which will be halved
    took = torch.cuda.max_memory_allocated(device) - held
    free = torch.cuda.mem_get_info(device)[0] + torch.cuda.memory_reserved(device) - held
    times = min(MOST_TIMES, max(1, free // 2 // max(1, took)))
    return int(BATCH_TOKENS * 2 ** (times.bit_length() - 1))


def within_memory(
    name: str,
    lengths: Sequence[int],
    masks: Sequence[int],
    budget: int,
    run: Callable[[list[int]], Result],
    alike: bool = False,
) -> Iterator[tuple[list[int], Result]]:
    """Run rows batch by batch, see ``token_batches``.

    A batch that does not fit into memory is cut in half, and so is every later one of its size: no cut depends
    on an earlier call, as each starts from the full budget.

    Args:
        name: of the model, for messages.
        lengths, masks, budget: as in ``token_batches``.
        run: what to do with the rows of a batch.
        alike: batches hold rows of one length, for networks in which padding changes scores.

    Yields:
        Row numbers of the batch, and what ``run`` gave.

    Raises:
        ModelError: a single row does not fit into memory, or asking fails for another reason.
    """
    limit = budget
    batches = token_batches(lengths, masks, budget)
    if alike:
        batches = [list(rows) for batch in batches for _, rows in groupby(batch, key=lengths.__getitem__)]
    for whole in batches:
        pending = [whole]
        while pending:
            batch = pending.pop()
            size = len(batch) * lengths[batch[0]]
            if len(batch) == 1 or size <= max(limit, lengths[batch[0]]):
                try:
                    result = run(batch)
                except ProbekitError:
                    raise
                except Exception as error:  # a network raises whatever its code does
                    if not out_of_memory(error):
                        what = f"{type(error).__name__}: {said(error)}"
                        raise ModelError(f"{name} cannot be asked these texts ({what}); --debug shows where") from error
                    if len(batch) == 1:
                        raise ModelError(
                            f"{name}: one row of {size} tokens does not fit into memory; free some, take another "
                            "device or dtype='bfloat16' in load_model, or ask a smaller model"
                        ) from error
                    limit = size // 2
                    log.warning("out of memory at %d tokens a batch; going on with %d", size, limit)
                else:
                    yield batch, result
                    continue
            middle = len(batch) // 2
            pending += [batch[middle:], batch[:middle]]
