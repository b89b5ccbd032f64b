"""Two models or settings on the same facts: how far apart their means are, with the interval and a paired test."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics.bootstrap import difference_ci, paired_permutation_test
from probekit.metrics.ranking import hits_at_k

Measure = Callable[[npt.ArrayLike], np.ndarray]
MEASURES: dict[str, Measure] = {  # of one prompt, each from 0 to 1; their means are Acc@1, Acc@10 and MRR
    "Acc@1": lambda ranks: hits_at_k(ranks, 1),
    "Acc@10": lambda ranks: hits_at_k(ranks, 10),
    "MRR": lambda ranks: 1 / np.asarray(ranks, dtype=float),
}


def contrast(
    hits: pd.DataFrame, first: str = "first", second: str = "second", facts: Sequence[Hashable] | None = None
) -> dict[str, float]:
    """Two settings of the same rows: both means, the first less the second with its 95% interval over facts, and p.

    Args:
        hits: one row per fact (of ``paired_hits``) or prompt, its hits in the first two columns.
        first, second: name of this column's mean in the result.
        facts: of each row; rows of one fact are drawn, and flipped, together. None takes each row as a fact.

    Returns:
        ``facts``, the two means, ``difference, low, high`` (see ``rank_differences``), ``p`` of the paired permutation
        test.
    """
    x, y = hits.iloc[:, 0], hits.iloc[:, 1]
    p = paired_permutation_test(x, y, facts)
    low, high = difference_ci(x - y, facts)
    means = {"facts": len(hits if facts is None else set(facts)), first: x.mean(), second: y.mean()}
    return means | {"difference": float((x - y).mean()), "low": low, "high": high, "p": p}


def rank_differences(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    facts: Sequence[Hashable],
    measures: Mapping[str, Measure] = MEASURES,
    candidates: int | None = None,
) -> pd.DataFrame:
    """What the first of two models has more than the second, measure by measure.

    Args:
        first, second: ranks of the gold, shape (prompts,), of the same prompts in the same order.
        facts: of each prompt; prompts of one fact are drawn, and flipped, together.
        measures: name -> what one prompt counts.
        candidates: how many there were; a measure that the last of them still has in full, as ``Acc@10`` of ten, tells
            nothing and is left out. Of one candidate alone none could tell anything, and all are given.

    Returns:
        One row per measure not left out: ``measure, prompts, facts, mean_first, mean_second``, ``difference``, its 95%
        bootstrap interval over facts in ``low, high``, and ``p`` of the paired permutation test. Where all prompts
        differ alike, draws say nothing, and the interval is the widest that an exact one for the share of facts that
        might go otherwise allows.

    Raises:
        ValueError: the lists are not of one length, are empty, or, of an ``Acc@k``, a rank is below 1.
    """
    rows = []
    for name, measure in measures.items():
        if candidates is None or candidates == 1 or measure([candidates])[0] < 1:
            hits = pd.DataFrame({"first": measure(first), "second": measure(second)})
            row = {"measure": name, "prompts": len(hits)}
            rows.append(row | contrast(hits, "mean_first", "mean_second", facts))
    return pd.DataFrame(rows)
