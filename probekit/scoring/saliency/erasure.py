"""Erasure: does a prediction rest on the words of the highest scores (DeYoung et al. 2020, section 4.2)?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import pandas as pd

from probekit.files import canonical, digest
from probekit.files.progress import Progress
from probekit.metrics.rationale import ranked_words, rationale_length
from probekit.models.model import Model
from probekit.probes.rationales.record import RationaleSet
from probekit.scoring.question import Question
from probekit.scoring.saliency.explained import Explained, Target, explain, foils_of, numbers_of
from probekit.scoring.saliency.fillings import Slots
from probekit.store import Store, Work, answer

VERSION = 1  # of the results: raise it whenever any of them can change
RECORDS = 128  # of a shard
SHARES = (0.01, 0.05, 0.1, 0.2, 0.5)  # of the words, at least one word: the bins of DeYoung et al.
MARKED = 0.0  # in place of a share: as many words as the first rationale of a record holds, where one is marked
Erased = Literal["deleted", "masked"]
ERASED: tuple[Erased, ...] = ("deleted", "masked")


def erasure(
    model: Model,
    items: RationaleSet,
    saliencies: Mapping[str, pd.DataFrame],
    shares: Sequence[float] = SHARES,
    batch_tokens: int | None = None,
    store: Store | None = None,
    target: Target = "predicted",
) -> pd.DataFrame:
    """What a prediction loses without its best-scored words, and what it loses with these words alone.

    What is followed is what ``attribute`` explains: by default, of a masked model, the probability of the most
    probable token at each mask of the whole context, as the mean over the masks.

    Args:
        model: a language model.
        items: the records.
        saliencies: by the name of their source, of ``attribute``, ``random_saliency`` or ``oracle_saliency``.
        shares: of the words, rounded half up, at least one word; or 0.0 (``MARKED``), as many as the first rationale.
        batch_tokens: padded tokens per batch.
        store: where finished shards are kept and found; None keeps nothing.
        target: as the option of ``attribute``; a ``contrast`` loses in natural logarithms, not in probability.

    Returns:
        One row per source, way of erasing (``deleted`` or ``masked``; a causal model knows no mask, nor does T5, and
        their words are deleted alone), record and share (``MARKED`` only where words are marked): ``source, erased,
        id, share, words`` (how many), ``comprehensiveness`` (probability with all words less without these; high is
        faithful) and ``sufficiency`` (probability with all words less with these alone; low is faithful).

    Raises:
        ProbeError, ModelError: see ``attribute``.
        StoreError: results cannot be written; finished shards are kept.
    """
    return cast(pd.DataFrame, answer(erasure_work(model, items, saliencies, shares, batch_tokens, target), store))


def erasure_work(
    model: Model,
    items: RationaleSet,
    saliencies: Mapping[str, pd.DataFrame],
    shares: Sequence[float] = SHARES,
    batch_tokens: int | None = None,
    target: Target = "predicted",
) -> Work:
    """What ``erasure`` has to do."""
    slots, foils = Slots(model, items), foils_of(items) if target == "contrast" else []
    inputs = slots.inputs
    ranked = {  # of each source, the positions of each record's words, best first
        source: [
            [item.positions[place] for place in ranked_words(scores)]
            for item, scores in zip(inputs, table["scores"], strict=True)
        ]
        for source, table in saliencies.items()
    }
    shards = [range(start, min(start + RECORDS, len(inputs))) for start in range(0, len(inputs), RECORDS)]
    marked = [len(rationales[0]) if rationales else 0 for rationales in items.items["rationales"]]
    chosen = [marked] if MARKED in shares else []
    jobs = [[list(item.row.ids), list(item.row.masks), item.word_of.tolist()] for item in inputs]
    key = {
        "scoring": VERSION,
        "model": model.fingerprint,
        "inputs": digest(canonical([items.items["id"].tolist(), jobs, list(ranked.items()), list(shares), *chosen])),
        **slots.key,
        **({} if target == "predicted" else {"target": target, "foils": foils}),
    }
    masks: dict[Erased, int | None] = {"deleted": None}
    if model.kind != "causal" and model.tokenizer.mask_token_id is not None:
        masks["masked"] = int(model.tokenizer.mask_token_id)
    each = 1 + 2 * len(ranked) * len(masks) * len(shares)  # rows of a record

    def compute(shard: int, progress: Progress) -> pd.DataFrame:
        explained = dict(zip(shards[shard], explain(slots, shards[shard], target, foils, batch_tokens), strict=True))
        table = _lost(model, explained, ranked, marked, masks, shares, batch_tokens)
        progress.add(each * len(shards[shard]))
        return table

    def finish(frames: list[pd.DataFrame]) -> pd.DataFrame:
        table = pd.concat(frames).sort_values(["source", "erased", "record"], kind="stable", ignore_index=True)
        number = table.pop("record")
        table["source"] = table["source"].map(list(ranked).__getitem__)
        table["erased"] = table["erased"].map(ERASED.__getitem__)
        table.insert(2, "id", number.map(items.items["id"].tolist().__getitem__))
        return table

    sizes = [each * len(shard) for shard in shards]
    return Work("erasure", key, f"erasure, {model.name}", sizes, compute, finish)


def _lost(
    model: Model,
    explained: Mapping[int, Explained],
    ranked: Mapping[str, Sequence[Sequence[int]]],
    marked: Sequence[int],
    masks: Mapping[Erased, int | None],
    shares: Sequence[float],
    batch_tokens: int | None,
) -> pd.DataFrame:
    """The rows of some records; ``source``, ``erased`` and ``record`` by their numbers."""
    asked: list[tuple[Explained, Sequence[int], int | None]] = [(item, (), None) for item in explained.values()]
    keys = []
    for source, orders in enumerate(ranked.values()):
        for erased, mask in enumerate(masks.values()):
            for number, item in explained.items():
                words = orders[number]
                for share in shares if marked[number] else [share for share in shares if share != MARKED]:
                    taken = marked[number] if share == MARKED else rationale_length(share, len(words))
                    asked += [(item, gone, mask) for gone in (words[:taken], words[taken:])]
                    keys.append((source, erased, number, share, taken))
    values = numbers_of(model, asked, batch_tokens)
    whole, rest = dict(zip(explained, values, strict=False)), values[len(explained) :]
    table = pd.DataFrame(keys, columns=["source", "erased", "record", "share", "words"])
    start = table["record"].map(whole)
    return table.assign(comprehensiveness=start - rest[::2], sufficiency=start - rest[1::2])


@dataclass(frozen=True, eq=False)
class Erase(Question):
    """``erasure`` as data."""

    makes = erasure_work
    items: RationaleSet
    saliencies: Mapping[str, pd.DataFrame]
    shares: Sequence[float] = SHARES
    target: Target = "predicted"
