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
from probekit.scoring.saliency.gradients import predicted
from probekit.scoring.saliency.inputs import Input, encode_inputs
from probekit.scoring.saliency.occlusion import probabilities, without
from probekit.store import Store, Work, answer

VERSION = 1  # of the results: raise it whenever any of them can change
RECORDS = 128  # of a shard
SHARES = (0.01, 0.05, 0.1, 0.2, 0.5)  # of the words, at least one word: the bins of DeYoung et al.
Erased = Literal["deleted", "masked"]
ERASED: tuple[Erased, ...] = ("deleted", "masked")


def erasure(
    model: Model,
    items: RationaleSet,
    saliencies: Mapping[str, pd.DataFrame],
    shares: Sequence[float] = SHARES,
    batch_tokens: int | None = None,
    store: Store | None = None,
) -> pd.DataFrame:
    """What the prediction loses without its best-scored words, and what it loses with these words alone.

    The prediction is the most probable token at each mask of the whole context, its probability the mean over the
    masks.

    Args:
        model: a masked language model.
        items: the records.
        saliencies: by the name of their source, of ``attribute``, ``random_saliency`` or ``oracle_saliency``.
        shares: of the words, rounded half up, at least one word.
        batch_tokens: padded tokens per batch.
        store: where finished shards are kept and found; None keeps nothing.

    Returns:
        One row per source, way of erasing (``deleted`` or ``masked``), record and share: ``source, erased, id, share,
        words`` (how many), ``comprehensiveness`` (probability with all words less without these; high is faithful) and
        ``sufficiency`` (probability with all words less with these alone; low is faithful).

    Raises:
        ModelError: not a masked model, or a row that does not fit into memory.
        StoreError: results cannot be written; finished shards are kept.
    """
    return cast(pd.DataFrame, answer(erasure_work(model, items, saliencies, shares, batch_tokens), store))


def erasure_work(
    model: Model,
    items: RationaleSet,
    saliencies: Mapping[str, pd.DataFrame],
    shares: Sequence[float] = SHARES,
    batch_tokens: int | None = None,
) -> Work:
    """What ``erasure`` has to do."""
    inputs = encode_inputs(model, items)
    ranked = {  # of each source, the positions of each record's words, best first
        source: [
            [item.positions[place] for place in ranked_words(scores)]
            for item, scores in zip(inputs, table["scores"], strict=True)
        ]
        for source, table in saliencies.items()
    }
    shards = [range(start, min(start + RECORDS, len(inputs))) for start in range(0, len(inputs), RECORDS)]
    jobs = [[list(item.row.ids), list(item.row.masks), item.word_of.tolist()] for item in inputs]
    key = {
        "scoring": VERSION,
        "model": model.fingerprint,
        "inputs": digest(canonical([items.items["id"].tolist(), jobs, list(ranked.items()), list(shares)])),
    }
    each = 1 + 2 * len(ranked) * len(ERASED) * len(shares)  # rows of a record

    def compute(shard: int, progress: Progress) -> pd.DataFrame:
        table = _lost(model, inputs, ranked, shards[shard], shares, batch_tokens)
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
    inputs: Sequence[Input],
    ranked: Mapping[str, Sequence[Sequence[int]]],
    records: Sequence[int],
    shares: Sequence[float],
    batch_tokens: int | None,
) -> pd.DataFrame:
    """The rows of some records; ``source``, ``erased`` and ``record`` by their numbers."""
    rows = [inputs[number].row for number in records]
    targets = dict(zip(records, predicted(model, rows), strict=True))
    keys, row_targets = [], list(targets.values())
    for source, orders in enumerate(ranked.values()):
        for erased, way in enumerate(ERASED):
            for number in records:
                item, words = inputs[number], orders[number]
                for share in shares:
                    taken = rationale_length(share, len(words))
                    rows += [without(model, item, gone, way == "deleted") for gone in (words[:taken], words[taken:])]
                    row_targets += [targets[number]] * 2
                    keys.append((source, erased, number, share, taken))
    values = probabilities(model, rows, row_targets, batch_tokens)
    whole, rest = dict(zip(records, values, strict=False)), values[len(records) :]
    table = pd.DataFrame(keys, columns=["source", "erased", "record", "share", "words"])
    start = table["record"].map(whole)
    return table.assign(comprehensiveness=start - rest[::2], sufficiency=start - rest[1::2])


@dataclass(frozen=True, eq=False)
class Erase(Question):
    """``erasure`` as data."""

    makes = erasure_work
    items: RationaleSet
    saliencies: Mapping[str, pd.DataFrame]
