"""Page 13: which models of paper 001 stand where (section 4): by pairs of models, and by printed places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from probekit.metrics.decisions import FLOOR
from probekit.report.tables import pick

from notebooks.templates.draws import unit_of
from notebooks.templates.paper_sets import whole
from notebooks.templates.paper_tables import row_of
from notebooks.templates.sixteen import of_paper, place_row

_LEADS = (("pubmedbert",), ("bioformer",), ("biom-electra",))
_GENERAL = ("google_re/template", "google_re/natural", "trex/template", "trex/natural", "conceptnet", "squad")
LEADERS = {  # section 4: claim -> probes, and which models of the paper lead there
    "001-05a": (("biolama/ctd",), _LEADS),
    "001-05b": (("biolama/wikidata",), _LEADS),
    "001-06a": (_GENERAL, (("bert-large-uncased",), ("bert-base-uncased", "distilbert"))),
}


BEST = 5
ALONE, TUNED = "biomedical", "biomedical fine-tuned"  # categories of models
_UNSAID = tuple(probe for probe in _GENERAL if probe != "google_re/template")  # of which section 4 says other places
Place = tuple[str, tuple[str, ...], tuple[int, ...]]
_BELOW = ((("pubmedbert",), (6,)), (("bioformer",), (7, 8)))
PLACES: dict[str, list[Place]] = {  # section 4: claim -> probe, who may be meant, and the places that are printed
    "001-06c": [(probe, models, places) for probe in _UNSAID for models, places in _BELOW],
    "001-07a": [
        ("google_re/natural", ("roberta-base",), (12,)),
        ("google_re/template", ("roberta-base",), (7,)),
        ("trex/natural", ("roberta-large",), (7,)),
        ("trex/template", ("roberta-large",), (12,)),
        ("google_re/natural", ("bioformer",), (7,)),
        ("google_re/template", ("pubmedbert", "bioformer"), (15,)),
    ],
}


def tuned_of_paper(ranks: pd.DataFrame) -> set[str]:
    """The paper's models of general text that were tuned on biomedical text, of those that a run asked."""
    return {name for name in pick(ranks, category=TUNED)["model"] if row_of(name)}


def placed(tables: Mapping[str, pd.DataFrame]) -> Iterator[dict[str, Any]]:
    """Printed places, where a run asked all of the paper's models every data set of the claim whole."""
    ranks = tables["ranks"]
    for claim, printed in PLACES.items():
        if whole(tables.get("datasets", pd.DataFrame()), {probe for probe, _, _ in printed}):
            for probe, models, places in printed:
                here = pick(ranks, probe=probe)
                about = {"claim": claim, "measured": "place", "dataset": probe, "model": " or ".join(models)}
                accuracy = dict(zip(here["model"], here["acc@1"], strict=True))
                low = set(here.loc[here["floor"].astype(bool), "model"])
                yield from place_row(about, accuracy, low, models, places)


def mixed(gaps: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """On general probes: a model of the paper that was tuned on biomedical text less one trained on it alone.

    Args:
        gaps: rows of ``gaps``.
    """
    for row in gaps.to_dict("records"):
        apart = row["domain"] == "general" and {row["one"], row["other"]} == {ALONE, TUNED}
        if apart and row_of(row["model"]) and row_of(row["less"]):
            sign = 1 if row["one"] == TUNED else -1
            names, ends = (row["model"], row["less"])[::sign], (row["low"], row["high"])[::sign]
            about = {"claim": "001-06d", "measured": "tuned model, less one of biomedical text alone"}
            about |= {"dataset": row["probe"], "model": names[0], "less": names[1], "unit": unit_of(row["probe"])}
            estimate, low, high = (sign * value + 0.0 for value in (row["difference"], *ends))  # never minus zero
            yield about | {"estimate": estimate, "low": low, "high": high}


def five_best(tables: Mapping[str, pd.DataFrame]) -> Iterator[dict[str, Any]]:
    """Whether the five models that lead on the other general data sets are among the five best on each of them.

    Each less the fifth best of the other models there; they are chosen on other data sets, so that chance cannot choose
    in their favour. None unless all of the paper's models were asked two such data sets.
    """
    ranks = pick(tables["ranks"], probe=list(_GENERAL))
    scores = {
        str(probe): of_paper(dict(zip(part["model"], part["acc@1"], strict=True)))
        for probe, part in ranks.groupby("probe", sort=False)
    }
    known = pd.DataFrame({probe: values for probe, values in scores.items() if len(values)})
    names = {row_of(model): model for model in ranks["model"]}
    for probe in known if known.shape[1] > 1 else ():
        others = known.drop(columns=probe).rank(ascending=False).mean(axis=1)
        pairs = pairwise(pick(tables["stability"], probe=probe))
        floor = set(pick(ranks, probe=probe).query("floor")["model"])
        for row in others.sort_values(kind="stable").index[:BEST]:
            rest = known[probe].drop(row).sort_values(ascending=False, kind="stable").index
            model, less = names[row], names[rest[BEST - 1]]
            estimate, low, high = pairs[model, less]
            about = {"claim": "001-06b", "measured": "one of the five, less the fifth of the others"}
            about |= {"dataset": probe, "model": model, "less": less, "unit": unit_of(probe)}
            found = {"estimate": estimate, "low": low, "high": high}
            yield about | found | {"verdict": FLOOR if model in floor else ""}


def pairwise(pairs: pd.DataFrame) -> dict[tuple[str, str], tuple[float, float, float]]:
    """Rows of ``stability`` on one probe, in both orders: two models -> difference of Acc@1, and its interval."""
    gaps = {
        (row["ahead"], row["behind"]): (row["difference"], row["low"], row["high"]) for row in pairs.to_dict("records")
    }
    return gaps | {(b, a): (-d, -high, -low) for (a, b), (d, low, high) in gaps.items()}


def led(claim: str, pairs: pd.DataFrame, leaders: Sequence[Sequence[str]]) -> Iterator[dict[str, Any]]:
    """That models lead a probe in this order: each less every one that should follow it; none where one is missing.

    Args:
        pairs: rows of ``stability`` on one probe.
        leaders: first, second and so on; of several models in one place the one with the highest Acc@1 is meant.
    """
    names = list(dict.fromkeys([*pairs.get("ahead", ()), *pairs.get("behind", ())]))
    gaps, order = pairwise(pairs), list[str]()
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
