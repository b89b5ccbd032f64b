"""Study 1, rankings (paper 001, section 4, RQ1 to RQ3): who is ranked where, by which way of asking, and how surely."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from probekit.metrics import (
    FactHits,
    JointAccuracy,
    accuracy_table,
    fact_hits,
    holm,
    joint_accuracy,
    kendall_tau,
    middle,
    spearman,
    split_halves,
)

from notebooks.templates.accuracy import pairs
from notebooks.templates.categories import EVERY, by_category
from notebooks.templates.pairings import Pairing, pairings

HALVES = "two halves of the facts"
ABOVE = "above the floor"
SAMPLES = 1000  # draws of facts
FLOOR = 2  # times chance: a model whose Acc@10 stays below has told nothing
FEWEST = 3  # models above the floor that are correlated apart: two can only agree or not
STATISTICS = {"Kendall tau-b": kendall_tau, "Spearman": spearman}


def tables(
    ranks: pd.DataFrame, candidates: Mapping[str, int], categories: Mapping[str, str], seed: int = 0
) -> dict[str, pd.DataFrame]:
    """All tables of the section.

    Args:
        ranks: rows of ``ask.ask_all``.
        candidates: how many entities compete, by probe.
        categories: what each model was trained on, by model.
        seed: of all draws of facts.

    Returns:
        ``ranks``: Acc@1 and rank of every model on every probe. ``agreement``: how alike two settings rank the
        models. ``orders``: pairs of models that keep their order and that are reversed. ``stability``: for two models
        on a probe, how often a draw of facts puts the first ahead. ``differences``: natural less template for every
        model on the same facts. ``categories`` and ``gaps``: mean Acc@1 of each category of models, and what lies
        between two. ``contrasts``: natural less template by domain and category. No table holds a missing number.
    """
    own = ranks
    sets = fact_hits(own)
    joint = joint_accuracy(sets, SAMPLES, seed)
    standing = _ranks(own, joint, candidates, categories)
    paired = pairings(own)
    return {
        "ranks": standing,
        "agreement": _agreement(joint, sets, paired, standing, seed),
        "orders": _orders(joint, paired),
        "stability": _stability(joint),
        "differences": _differences(own, categories),
        **by_category(joint, own, paired, categories),
    }


def _ranks(
    own: pd.DataFrame, joint: JointAccuracy, candidates: Mapping[str, int], categories: Mapping[str, str]
) -> pd.DataFrame:
    """One row per probe and model, best first; ``asked`` is the model's place in the run, ``next`` who follows it.

    A model is at the floor where the interval of its Acc@1 reaches chance, one over the number of candidates, or its
    Acc@10 is below ``FLOOR`` times chance. Its rank then says nothing.
    """
    top10 = accuracy_table(own, ["probe", "model"], ks=[10]).set_index(["probe", "model"])["acc@10"]
    about = own.drop_duplicates("probe").set_index("probe")
    rows = []
    for probe in joint.probes:
        estimate, draws = joint.of(probe)
        places, drawn = rankdata(-estimate, method="min"), rankdata(-draws, method="min", axis=1)
        order = np.argsort(-estimate, kind="stable")
        for position, one in enumerate(order):
            model, chance = joint.models[one], 1 / candidates[probe]
            low, high = middle(draws[:, one])
            first, last = middle(drawn[:, one])
            ten = float(top10[probe, model])
            rows.append(
                {
                    "probe": probe,
                    "domain": about["domain"][probe],
                    "style": about["style"][probe],
                    "model": model,
                    "asked": int(one),
                    "category": categories[model],
                    "acc@1": estimate[one],
                    "low@1": low,
                    "high@1": high,
                    "acc@10": ten,
                    "chance": chance,
                    "floor": bool(low <= chance or ten < FLOOR * min(1, 10 * chance)),
                    "rank": int(places[one]),
                    "rank_low": int(np.floor(first)),
                    "rank_high": int(np.ceil(last)),
                    "next": joint.models[order[position + 1]] if position + 1 < len(order) else "",
                }
            )
    return pd.DataFrame(rows)


def _agreement(
    joint: JointAccuracy, sets: list[FactHits], paired: list[Pairing], standing: pd.DataFrame, seed: int
) -> pd.DataFrame:
    """Rank correlations over models between two settings, and between two halves of the facts in one setting.

    Undefined ones, of fewer than two models or of models that all score alike, have no row.
    """
    low = standing[standing["floor"]].groupby("probe")["model"].agg(set).to_dict()
    rows: list[dict[str, object]] = []
    for pair in paired:
        sides = joint.of(pair.template), joint.of(pair.natural)
        floored = low.get(pair.template, set()) | low.get(pair.natural, set())
        fewer = [(ABOVE, floored)] if floored and len(joint.models) - len(floored) >= FEWEST else []
        for group, out in [(EVERY, set()), *fewer]:
            kept = [i for i, model in enumerate(joint.models) if model not in out]
            estimate = [side[0][kept] for side in sides]
            draws = [side[1][:, kept] for side in sides]
            about = {"domain": pair.domain, "first": pair.template, "second": pair.natural, "facts": pair.facts}
            rows += _correlations({**about, "group": group}, estimate, draws)
    domains = standing.drop_duplicates("probe").set_index("probe")["domain"]
    for one in sets:
        halves = split_halves(one, seed=seed)
        for place, probe in enumerate(one.probes):
            draws = [halves[:, 0, place], halves[:, 1, place]]
            about = {"domain": domains[probe], "first": probe, "second": probe, "facts": HALVES, "group": EVERY}
            rows += _correlations(about, None, draws)
    return pd.DataFrame(rows)


def _correlations(
    about: dict[str, str], estimate: list[np.ndarray] | None, draws: list[np.ndarray]
) -> Iterator[dict[str, object]]:
    """One row per statistic; without an estimate of its own, the mean over draws."""
    for name, correlate in STATISTICS.items():
        drawn = np.array([correlate(a, b).statistic for a, b in zip(*draws, strict=True)])
        if not np.isfinite(drawn).any():
            continue
        value = np.nanmean(drawn) if estimate is None else correlate(*estimate).statistic
        if np.isfinite(value):
            low, high = middle(drawn)
            yield {**about, "models": draws[0].shape[1], "statistic": name, "value": value, "low": low, "high": high}


def _side(difference: np.ndarray) -> int:
    """1 or -1 where the interval of a difference lies above or below zero, else 0."""
    low, high = middle(difference)
    return int(low > 0) - int(high < 0)


def _orders(joint: JointAccuracy, paired: list[Pairing]) -> pd.DataFrame:
    """For each pairing: pairs of models whose order is beyond doubt in both settings, and is the same or reversed."""
    rows = []
    for pair in paired:
        counts, reversed_ = {"same": 0, "reversed": 0, "undecided": 0}, []
        sides = [joint.of(probe)[1] for probe in (pair.template, pair.natural)]
        for a, b in combinations(range(len(joint.models)), 2):
            found = [_side(draws[:, a] - draws[:, b]) for draws in sides]
            word = {1: "same", -1: "reversed"}.get(found[0] * found[1], "undecided")
            counts[word] += 1
            if word == "reversed":
                ahead, behind = (a, b) if found[0] > 0 else (b, a)
                reversed_.append(f"{joint.models[ahead]} before {joint.models[behind]} by template")
        if len(joint.models) > 1:
            about = {"domain": pair.domain, "first": pair.template, "second": pair.natural, "facts": pair.facts}
            rows.append({**about, "pairs": sum(counts.values()), **counts, "which_reversed": "; ".join(reversed_)})
    return pd.DataFrame(rows)


def _stability(joint: JointAccuracy) -> pd.DataFrame:
    """For every probe and pair of models: share of draws in which the better one stays ahead; a tie is half."""
    rows = []
    for probe in joint.probes:
        estimate, draws = joint.of(probe)
        for a, b in combinations(np.argsort(-estimate, kind="stable"), 2):
            gap = draws[:, a] - draws[:, b]
            low, high = middle(gap)
            about = {"probe": probe, "ahead": joint.models[a], "behind": joint.models[b]}
            share = float((gap > 0).mean() + (gap == 0).mean() / 2)
            rows.append({**about, "difference": estimate[a] - estimate[b], "low": low, "high": high, "ahead_in": share})
    return pd.DataFrame(rows)


def _differences(own: pd.DataFrame, categories: Mapping[str, str]) -> pd.DataFrame:
    """RQ2: natural less template Acc@1 on the same facts, with p-values as they are and corrected for their number."""
    table = pairs(own, ks=[1])
    if table.empty:
        return table
    place = {model: number for number, model in enumerate(own["model"].unique())}
    table = table.drop(columns="k").assign(
        category=table["model"].map(categories),
        asked=table["model"].map(place),
    )
    corrected = [pd.Series(holm(part["p"]), part.index) for _, part in table.groupby("subset", sort=False)]
    return table.assign(p_holm=pd.concat(corrected))
