"""Pseudo-perplexity of texts under a masked language model (Salazar et al. 2020; paper 001, section 5.5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from probekit.errors import ProbeError
from probekit.files import canonical, digest
from probekit.models.model import Model
from probekit.scoring.forward import Row, mask_logits
from probekit.scoring.progress import Progress
from probekit.scoring.slots import Slot
from probekit.store import Store

VERSION = 1
SHARD_ROWS = 4096


def pseudo_perplexity(
    model: Model, texts: Sequence[str], batch_tokens: int | None = None, store: Store | None = None
) -> pd.DataFrame:
    """Mask each non-special token once, in a row of its own: exp(-mean log-probability of the true tokens).

    Texts longer than the model see, for each masked token, the window around it. Repeated texts are scored once.

    Args:
        model: a masked language model.
        texts: n texts.
        batch_tokens: padded tokens per batch.
        store: where finished shards are kept and found; None keeps nothing.

    Returns:
        n rows: ``text_id`` (0 to n - 1), ``perplexity``, ``log_prob`` (sum, natural logarithm), ``tokens``.
        ``attrs["counts"]`` says what was run.

    Raises:
        ProbeError: a text without any token.
        ModelError: not a masked model, or out of memory at a single row.
    """
    distinct = {text: None for text in texts}
    mask, number = model.mask_id, {text: i for i, text in enumerate(distinct)}
    ids = [model.tokens(text) for text in distinct]
    for text, tokens in zip(distinct, ids, strict=True):
        if not tokens:
            raise ProbeError(f"text {list(texts).index(text)} has no tokens for {model.name}: {text[:40]!r}")
    shards = _shards([len(tokens) for tokens in ids])
    key = {"scoring": VERSION, "model": model.fingerprint, "texts": digest(canonical(ids)), "mask": mask}
    special = sum(map(len, model.special_ids))
    read = sum(len(one) * min(len(one) + special, model.max_tokens) for one in ids)
    sizes = [sum(len(ids[i]) for i in shard) for shard in shards]
    with Progress(f"perplexity, {model.name}", sizes, read) as progress:

        def compute(shard: int) -> pd.DataFrame:
            progress.reach(shard)
            return _log_probs(model, ids, shards[shard], batch_tokens, progress)

        if store is None:
            frames = [compute(i) for i in range(len(shards))]
        else:
            frames = store.frames("perplexity", key, len(shards), compute)
    found = pd.concat(frames).set_index("text")["log_prob"]
    order = [number[text] for text in texts]
    lengths = np.array([len(ids[i]) for i in order])
    log_prob = found.loc[order].to_numpy()
    result = pd.DataFrame({"text_id": range(len(order)), "perplexity": np.exp(-log_prob / lengths)})
    result["log_prob"], result["tokens"] = log_prob, lengths
    room = model.max_tokens - sum(map(len, model.special_ids))
    result.attrs["counts"] = {
        "texts": len(order),
        "distinct texts": len(ids),
        "forward rows": sum(map(len, ids)),
        "texts seen through a window": sum(len(ids[i]) > room for i in order),
    }
    return result


def _shards(lengths: Sequence[int]) -> list[list[int]]:
    """Texts by falling length, cut at so many rows (one row a token)."""
    shards: list[list[int]] = []
    rows = 0
    for text in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        rows += lengths[text]
        if not shards or rows > SHARD_ROWS:
            shards.append([])
            rows = lengths[text]
        shards[-1].append(text)
    return shards


def _log_probs(
    model: Model, ids: Sequence[list[int]], texts: list[int], batch_tokens: int | None, progress: Progress
) -> pd.DataFrame:
    """Sum over its tokens of the log-probability of each text: columns ``text, log_prob``."""
    import torch

    rows: list[Row] = []
    owners: list[int] = []
    truths: list[int] = []
    for place, text in enumerate(texts):
        for at, token in enumerate(ids[text]):
            rows.append(Slot(ids[text][:at], ids[text][at + 1 :], spaced=False).row(model, masks=1))
            owners.append(place)
            truths.append(token)
    total = np.zeros(len(texts))
    for batch, logits in mask_logits(model, rows, batch_tokens):
        truth = torch.tensor([truths[i] for i in batch], device=logits.device)
        found = logits.gather(1, truth[:, None])[:, 0] - logits.logsumexp(1)
        np.add.at(total, [owners[i] for i in batch], found.double().cpu().numpy())
        progress.add(len(batch))
    return pd.DataFrame({"text": texts, "log_prob": total})
