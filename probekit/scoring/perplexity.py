"""Pseudo-perplexity of texts under a masked language model (Salazar et al. 2020; paper 001, section 5.5), and the
perplexity of texts under a causal one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import pandas as pd

from probekit.errors import ModelError, ProbeError
from probekit.files import canonical, digest
from probekit.files.progress import Progress
from probekit.models.model import Model
from probekit.scoring.batches import shards_of
from probekit.scoring.forward import Row, mask_logits
from probekit.scoring.question import Question
from probekit.scoring.slots import Slot
from probekit.scoring.statements.trie import Branch, token_log_probs
from probekit.store import Store, Work, answer

VERSION = 2
SHARD_ROWS = 4096  # one a token


def pseudo_perplexity(
    model: Model, texts: Sequence[str], batch_tokens: int | None = None, store: Store | None = None
) -> pd.DataFrame:
    """Mask each token of a text once, in a row of its own: exp(-mean log-probability of the true tokens).

    Of a text longer than the model takes, each token is read in the window around it. Repeated texts are scored once.

    Under a causal model it is the perplexity: each token is predicted from those before it and from what begins
    a text, in a text longer than the model from all or at least half a window. The two say different
    things, so that values of a causal and a masked model must not be compared.

    Args:
        model: a masked or causal language model.
        texts: n texts.
        batch_tokens: padded tokens per batch.
        store: where finished shards are kept and found; None keeps nothing.

    Returns:
        n rows: ``text_id`` (0 to n - 1), ``perplexity``, ``log_prob`` (sum, natural logarithm), ``tokens``.
        ``attrs["counts"]`` says what was run.

    Raises:
        ProbeError: no texts, or one without any token.
        ModelError: such as a seq2seq model, or out of memory at a single row.
        StoreError: results cannot be written; finished shards are kept.
    """
    return cast(pd.DataFrame, answer(pseudo_perplexity_work(model, texts, batch_tokens), store))


def pseudo_perplexity_work(model: Model, texts: Sequence[str], batch_tokens: int | None = None) -> Work:
    """What ``pseudo_perplexity`` has to do."""
    distinct = {text: None for text in texts}
    number = {text: i for i, text in enumerate(distinct)}
    if model.kind not in ("masked", "causal"):
        raise ModelError(f"{model.name} is a {model.kind} model: perplexity needs a masked or causal language model")
    if not texts:
        raise ProbeError("no texts to read: give one at least")
    causal = model.kind == "causal"
    given = {"begin": list(model.beginning)} if causal else {"mask": model.mask_id}
    ids = model.tokens_of(list(distinct))
    for text, tokens in zip(distinct, ids, strict=True):
        if not tokens:
            raise ProbeError(f"text {list(texts).index(text)} has no tokens for {model.name}: {text[:40]!r}")
    shards = shards_of(
        sorted(range(len(ids)), key=lambda i: -len(ids[i])), [[len(tokens)] for tokens in ids], [SHARD_ROWS]
    )
    key = {"scoring": VERSION, "model": model.fingerprint, "texts": digest(canonical(ids)), **given}
    special = sum(map(len, model.special_ids))
    read = sum(len(tokens) * min(len(tokens) + special, model.max_tokens) for tokens in ids)
    sizes = [sum(len(ids[i]) for i in shard) for shard in shards]

    def compute(shard: int, progress: Progress) -> pd.DataFrame:
        reading = _likelihoods if causal else _log_probs
        return reading(model, ids, shards[shard], batch_tokens, progress)

    def finish(frames: list[pd.DataFrame]) -> pd.DataFrame:
        order = [number[text] for text in texts]
        lengths = np.array([len(ids[i]) for i in order])
        log_prob = pd.concat(frames).set_index("text")["log_prob"].loc[order].to_numpy()
        result = pd.DataFrame({"text_id": range(len(order)), "perplexity": np.exp(-log_prob / lengths)})
        result["log_prob"], result["tokens"] = log_prob, lengths
        room = model.max_tokens - (len(model.beginning) if causal else sum(map(len, model.special_ids)))
        result.attrs["counts"] = {
            "texts": len(order),
            "distinct texts": len(ids),
            "forward rows": sum(len(_windows(model, tokens)) if causal else len(tokens) for tokens in ids),
            "texts seen through a window": sum(len(ids[i]) > room for i in order),
        }
        return result

    return Work("perplexity", key, f"perplexity, {model.name}", sizes, compute, finish, read)


def _log_probs(
    model: Model, ids: Sequence[Sequence[int]], texts: list[int], batch_tokens: int | None, progress: Progress
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
        log_probs = logits.gather(1, truth[:, None])[:, 0] - logits.logsumexp(1)
        np.add.at(total, [owners[i] for i in batch], log_probs.cpu().double().numpy())
        progress.add(len(batch))
    return pd.DataFrame({"text": texts, "log_prob": total})


def _windows(model: Model, ids: Sequence[int]) -> list[Branch]:
    """A text as a causal model reads it: whole, or in windows that go on by half of what fits."""
    begin = model.beginning
    room = model.max_tokens - len(begin)
    step = max(1, room // 2)
    starts = range(0, max(1, len(ids) - room + step), step)
    done = [0, *(min(start + room, len(ids)) for start in starts)]  # tokens read before each window
    pairs = zip(starts, done, strict=False)
    return [Branch((*begin, *ids[start : start + room]), len(begin) + before - start) for start, before in pairs]


def _likelihoods(
    model: Model, ids: Sequence[Sequence[int]], texts: list[int], batch_tokens: int | None, progress: Progress
) -> pd.DataFrame:
    """As ``_log_probs``, each token given those before it."""
    paths = [(place, path) for place, text in enumerate(texts) for path in _windows(model, ids[text])]
    total = np.zeros(len(texts))
    for number, values in token_log_probs(model, [path for _, path in paths], batch_tokens):
        total[paths[number][0]] += values.sum()
    progress.add(sum(len(ids[text]) for text in texts))
    return pd.DataFrame({"text": texts, "log_prob": total})


@dataclass(frozen=True, eq=False)
class Perplexity(Question):
    """``pseudo_perplexity`` as data."""

    makes = pseudo_perplexity_work
    texts: Sequence[str]
