"""Sentence vectors: the mean of an encoder's last states over the tokens of a text, scaled to length 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.errors import ModelError
from probekit.files import canonical, digest
from probekit.files.progress import Progress
from probekit.models.loading import load_encoder
from probekit.models.model import Model
from probekit.scoring.batches import BATCH_TOKENS, shards_of
from probekit.scoring.forward import Row, padded
from probekit.scoring.memory import within_memory
from probekit.scoring.question import Question
from probekit.store import Store, Work, answer

if TYPE_CHECKING:
    import torch

VERSION = 1
SHARD_TOKENS = 32_768

Ids = tuple[int, ...]


def embed(
    encoder: Model, texts: Sequence[str], batch_tokens: int | None = None, store: Store | None = None
) -> npt.NDArray[np.float32]:
    """Vectors of texts as all-MiniLM-L6-v2 was trained: mean over all tokens, special ones included, length 1.

    Texts that the tokenizer makes the same tokens of are encoded once. Longer texts than the encoder sees are cut off.

    Args:
        encoder: of ``load_encoder``.
        texts: n texts.
        batch_tokens: padded tokens per batch.
        store: where finished shards are kept and found, by the encoder's fingerprint; None keeps nothing.

    Returns:
        Shape (n, d).

    Raises:
        ModelError: such as not an encoder, out of memory at a single text, or a vector that is not finite.
        StoreError: results cannot be written; finished shards are kept.
    """
    return cast(npt.NDArray[np.float32], answer(embed_work(encoder, texts, batch_tokens), store))


def embed_work(encoder: Model, texts: Sequence[str], batch_tokens: int | None = None) -> Work:
    """What ``embed`` has to do."""
    if encoder.kind != "encoder":
        raise ModelError(f"{encoder.name} is a {encoder.kind} model: load it with load_encoder")
    ids = token_ids(encoder, texts) if texts else []
    distinct = sorted(set(ids), key=lambda tokens: (-len(tokens), tokens))
    shards = shards_of(range(len(distinct)), [[len(tokens)] for tokens in distinct], [SHARD_TOKENS])
    key = {"scoring": VERSION, "model": encoder.fingerprint, "texts": digest(canonical(distinct))}

    def compute(shard: int, progress: Progress) -> pd.DataFrame:
        vectors = _vectors(encoder, [distinct[i] for i in shards[shard]], batch_tokens or BATCH_TOKENS, progress)
        return pd.DataFrame(vectors, columns=[str(column) for column in range(vectors.shape[1])])

    def finish(frames: list[pd.DataFrame]) -> npt.NDArray[np.float32]:
        none = np.zeros((0, encoder.outline.config.hidden_size), dtype=np.float32)
        vectors = np.concatenate([none, *(frame.to_numpy(np.float32) for frame in frames)])
        place = {tokens: row for row, tokens in enumerate(distinct)}
        return vectors[[place[tokens] for tokens in ids]]

    title, sizes = f"sentence vectors, {encoder.name}", list(map(len, shards))
    return Work("embeddings", key, title, sizes, compute, finish, sum(map(len, distinct)))


def token_ids(encoder: Model, texts: Sequence[str]) -> list[Ids]:
    """Token ids of every text with its special ones, cut to what the encoder sees."""
    before, after = encoder.special_ids
    room = encoder.max_tokens - len(before) - len(after)
    bare = encoder.tokenizer(list(texts), add_special_tokens=False, verbose=False)["input_ids"]
    return [(*before, *tokens[:room], *after) for tokens in bare]


def _vectors(encoder: Model, rows: Sequence[Ids], budget: int, progress: Progress) -> npt.NDArray[np.float32]:
    import torch

    vectors = np.zeros((len(rows), encoder.outline.config.hidden_size), dtype=np.float32)

    def run(batch: list[int]) -> torch.Tensor:
        ids, real = padded(encoder, [Row(rows[i], ()) for i in batch])
        with torch.inference_mode():
            states = encoder.network(input_ids=ids, attention_mask=real, return_dict=True).last_hidden_state.float()
            means = (states * real[..., None]).sum(1) / real.sum(1, keepdim=True)
            return torch.nn.functional.normalize(means, dim=1)

    lengths = [len(row) for row in rows]
    for batch, units in within_memory(encoder.name, lengths, [0] * len(rows), budget, run, encoder.minds_padding):
        if not bool(torch.isfinite(units.sum())):
            raise ModelError(f"{encoder.name} gives vectors that are not finite")
        vectors[batch] = units.cpu().numpy()
        progress.add(len(batch))
    return vectors


@dataclass(frozen=True, eq=False)
class Embed(Question):
    """``embed`` as data, of a model loaded as an encoder."""

    makes = embed_work
    texts: Sequence[str]

    @property
    def name(self) -> str:
        return f"{super().name}, encoder"  # the model of that name is another network

    def load(self, loading: Mapping[str, Any], read: bool) -> Model:
        if isinstance(self.model, Model):
            return self.model
        return load_encoder(self.model, loading.get("device", "auto"), read)
