"""Page 13: which models of paper 001 lead where (section 4), asked pair by pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from notebooks.templates.draws import unit_of

_LEADS = (("pubmedbert",), ("bioformer",), ("biom-electra",))
_GENERAL = ("google_re/template", "google_re/natural", "trex/template", "trex/natural", "conceptnet", "squad")
LEADERS = {  # section 4: claim -> probes, and which models of the paper lead there
    "001-05a": (("biolama/ctd",), _LEADS),
    "001-05b": (("biolama/wikidata",), _LEADS),
    "001-06a": (_GENERAL, (("bert-large-uncased",), ("bert-base-uncased", "distilbert"))),
}


def led(claim: str, pairs: pd.DataFrame, leaders: Sequence[Sequence[str]]) -> Iterator[dict[str, Any]]:
    """That models lead a probe in this order: each less every one that should follow it; none where one is missing.

    Args:
        pairs: rows of ``stability`` on one probe.
        leaders: first, second and so on; of several models in one place the one with the highest Acc@1 is meant.
    """
    names = list(dict.fromkeys([*pairs.get("ahead", ()), *pairs.get("behind", ())]))
    gaps = {
        (row["ahead"], row["behind"]): (row["difference"], row["low"], row["high"]) for row in pairs.to_dict("records")
    }
    gaps |= {(b, a): (-d, -high, -low) for (a, b), (d, low, high) in gaps.items()}
    order = list[str]()
    for group in leaders:
        there = [name for name in group if name in names]
        if len(there) < len(group):
            return
        best = next(one for one in there if all(gaps[one, other][0] >= 0 for other in there if other != one))
        order.append(best)
    for place, one in enumerate(order):
        rest = [name for name in names if name not in order[: place + 1]]
        for other in rest:
            estimate, low, high = (value + 0.0 for value in gaps[one, other])  # never minus zero
            about = {"claim": claim, "measured": "leader, less who follows", "dataset": pairs["probe"].iloc[0]}
            about |= {"model": one, "less": other, "unit": unit_of(about["dataset"])}
            yield about | {"estimate": estimate, "low": low, "high": high}
