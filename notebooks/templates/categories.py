"""Study 1, RQ3 (paper 001, section 4): do models of general, fine-tuned and biomedical training differ, and where?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from probekit.metrics import JointAccuracy, middle

from notebooks.templates.pairings import Pairing

EVERY = "all models"


def by_category(
    joint: JointAccuracy, own: pd.DataFrame, paired: Sequence[Pairing], categories: Mapping[str, str]
) -> dict[str, pd.DataFrame]:
    """The tables ``categories``, ``gaps`` and ``contrasts``.

    Args:
        joint: Acc@1 and its draws.
        own: one row per model and prompt, with ``probe, domain, style``.
        paired: of ``pairings``.
        categories: what each model was trained on, by model.
    """
    return {
        "categories": _categories(joint, own, categories),
        "gaps": _gaps(joint, own, categories),
        "contrasts": _contrasts(joint, paired, categories),
    }


def _members(joint: JointAccuracy, categories: Mapping[str, str]) -> dict[str, list[int]]:
    names = dict.fromkeys(categories[model] for model in joint.models)
    return {name: [i for i, model in enumerate(joint.models) if categories[model] == name] for name in names}


def _categories(joint: JointAccuracy, own: pd.DataFrame, categories: Mapping[str, str]) -> pd.DataFrame:
    """RQ3: mean Acc@1 of each category's models on each probe; ``leads_in``: share of draws in which it is highest."""
    about, members, rows = own.drop_duplicates("probe").set_index("probe"), _members(joint, categories), []
    for probe in joint.probes:
        estimate, draws = joint.of(probe)
        means = np.array([draws[:, kept].mean(1) for kept in members.values()])
        best = means == means.max(0)
        for place, (category, kept) in enumerate(members.items()):
            low, high = middle(means[place])
            rows.append(
                {
                    "probe": probe,
                    "domain": about["domain"][probe],
                    "style": about["style"][probe],
                    "category": category,
                    "models": len(kept),
                    "acc@1": float(estimate[kept].mean()),
                    "low@1": low,
                    "high@1": high,
                    "leads_in": float((best[place] / best.sum(0)).mean()),
                    "best_model": joint.models[kept[int(estimate[kept].argmax())]],
                }
            )
    return pd.DataFrame(rows)


def _gaps(joint: JointAccuracy, own: pd.DataFrame, categories: Mapping[str, str]) -> pd.DataFrame:
    """RQ3: the mean Acc@1 of one category less that of another on each probe."""
    about, members, rows = own.drop_duplicates("probe").set_index("probe"), _members(joint, categories), []
    for probe in joint.probes:
        estimate, draws = joint.of(probe)
        for (one, left), (other, right) in combinations(members.items(), 2):
            low, high = middle(draws[:, left].mean(1) - draws[:, right].mean(1))
            gap = float(estimate[left].mean() - estimate[right].mean())
            place = {"probe": probe, "domain": about["domain"][probe], "style": about["style"][probe]}
            rows.append({**place, "one": one, "other": other, "difference": gap, "low": low, "high": high})
    return pd.DataFrame(rows)


def _contrasts(joint: JointAccuracy, paired: Sequence[Pairing], categories: Mapping[str, str]) -> pd.DataFrame:
    """RQ3: natural less template by domain and category, as the mean over its models and over the domain's pairings."""
    rows = []
    members = _members(joint, categories)
    everyone = {EVERY: list(range(len(joint.models)))} if len(members) > 1 else {}
    for (domain, facts), group in pd.DataFrame(paired).groupby(["domain", "facts"], sort=False) if paired else ():
        places = [[joint.probes.index(probe) for probe in group[side]] for side in ("template", "natural")]
        for category, kept in {**everyone, **members}.items():
            means = [joint.estimate[np.ix_(side, kept)].mean() for side in places]
            drawn = [joint.draws[:, side][:, :, kept].mean((1, 2)) for side in places]
            low, high = middle(drawn[1] - drawn[0])
            about = {"domain": domain, "facts": facts, "category": category, "models": len(kept)}
            gap = {"template": means[0], "natural": means[1], "difference": means[1] - means[0]}
            rows.append({**about, "data_sets": len(group), **gap, "low": low, "high": high})
    return pd.DataFrame(rows)
