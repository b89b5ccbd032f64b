"""Erasure: does a prediction rest on the words of the highest scores (DeYoung et al. 2020, section 4.2)?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import pandas as pd

from probekit.metrics.rationale import ranked_words, rationale_length
from probekit.models.model import Model
from probekit.probes.rationales.record import RationaleSet
from probekit.scoring.saliency.gradients import predicted
from probekit.scoring.saliency.inputs import encode_inputs
from probekit.scoring.saliency.occlusion import probabilities, without

SHARES = (0.01, 0.05, 0.1, 0.2, 0.5)  # of the words, at least one word: the bins of DeYoung et al.
Erased = Literal["deleted", "masked"]
ERASED: tuple[Erased, ...] = ("deleted", "masked")


def erasure(
    model: Model,
    items: RationaleSet,
    saliencies: Mapping[str, pd.DataFrame],
    shares: Sequence[float] = SHARES,
    batch_tokens: int | None = None,
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

    Returns:
        One row per source, way of erasing (``deleted`` or ``masked``), record and share: ``source, erased, id, share,
        words`` (how many), ``comprehensiveness`` (probability with all words less without these; high is faithful) and
        ``sufficiency`` (probability with all words less with these alone; low is faithful).

    Raises:
        ModelError: not a masked model, or a row that does not fit into memory.
    """
    inputs = encode_inputs(model, items)
    targets = predicted(model, [one.row for one in inputs])
    about, rows, wanted = [], [one.row for one in inputs], list(targets)
    for source, table in saliencies.items():
        for erased in ERASED:
            for number, (one, name, scores) in enumerate(zip(inputs, table["id"], table["scores"], strict=True)):
                ranked = [one.positions[place] for place in ranked_words(scores)]
                for share in shares:
                    taken = rationale_length(share, len(ranked))
                    rows += [without(model, one, w, erased == "deleted") for w in (ranked[:taken], ranked[taken:])]
                    wanted += [targets[number]] * 2
                    about.append((number, source, erased, name, share, taken))
    values = probabilities(model, rows, wanted, batch_tokens)
    whole, rest = values[: len(inputs)], values[len(inputs) :]
    columns = ["number", "source", "erased", "id", "share", "words"]
    found = pd.DataFrame(about, columns=columns)
    start = found.pop("number").map(lambda number: whole[number])
    return found.assign(comprehensiveness=start - rest[::2], sufficiency=start - rest[1::2])
