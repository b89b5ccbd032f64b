"""Two models on the same prompts: by how much one ranks the gold better, with its interval and a paired test."""

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
        candidates: how many there were; a measure that the last of them still has in full, as Acc@10 of ten, tells
            nothing and is left out. Of one candidate alone none could tell anything, and all are given.

    Returns:
        One row per measure: ``measure, prompts, facts, mean_first, mean_second``, the ``difference`` with its 95%
        bootstrap interval over facts in ``low, high``, and ``p`` of the paired permutation test. Where all prompts
        differ alike, draws say nothing, and the interval is the widest that an exact one for the share of facts that
        might go otherwise allows.

    Raises:
        ValueError: the lists are not of one length, are empty, or a rank is below 1.
    """
    rows = []
    for name, measure in measures.items():
        if candidates is not None and candidates > 1 and measure([candidates])[0] == 1:
            continue
        one, two = measure(first), measure(second)
        p = paired_permutation_test(one, two, facts)
        low, high = difference_ci(one - two, facts)
        about = {"measure": name, "prompts": len(one), "facts": len(set(facts))}
        about |= {"mean_first": float(one.mean()), "mean_second": float(two.mean())}
        rows.append(about | {"difference": float((one - two).mean()), "low": low, "high": high, "p": p})
    return pd.DataFrame(rows)
