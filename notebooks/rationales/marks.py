"""Cue above attractor (Ding and Koehn 2021): does a method find the noun that decides the next word?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from probekit.metrics import estimate_row, resampled_means, share_ci
from probekit.probes.probe import Probe
from probekit.probes.rationales import RationaleSet
from probekit.report.page import Page
from probekit.report.tables import across, pick
from probekit.report.text import shown_name, title
from probekit.run import Rank

from notebooks.rationales.ask import RANDOM, RANDOM_WEIGHTS, TRAINED, Saliency, pairs

CHANCE = 0.5  # random scores have no order
COLUMNS = ["dataset", "model", "method", "weights", "items", "constant", "right", "better", "drawn", "explained"]
COLUMNS += ["templates", "estimate", "low", "high", "least", "most", "learned", "learned_low", "learned_high"]
CAPTIONS = {"marks": "Share of items in which a method weighs the cue above the attractor, where the choice is right"}


def is_cued(items: RationaleSet) -> bool:
    """Whether a set has marked attractors, so that its gold is explained against the word that agrees with them."""
    return "attractor" in items.items


def choices(given: Mapping[str, Any], sets: Mapping[str, RationaleSet]) -> list[Rank]:
    """Which of gold and foil every model prefers, in the sets of cues."""
    return [
        Rank(model, probe, [[gold] for gold in probe.prompts["gold"]], title=shown_name(model))
        for model, name in pairs(given, sets)
        if is_cued(sets[name])
        for probe in [as_probe(name, sets[name])]
    ]


def as_probe(name: str, items: RationaleSet) -> Probe:
    """Gold and foil of every record as the only two candidates."""
    table = items.items
    prompts = pd.DataFrame({"prompt_id": table["id"], "text": table["context"], "gold": table["golds"]})
    return Probe(name, prompts, sorted({word for words in (*table["golds"], *table["contrast"]) for word in words}))


def choose_all(page: Page, sets: Mapping[str, RationaleSet]) -> pd.DataFrame:
    """The answers to ``choices``: ``id, template, gold, right, dataset, model``."""
    parts = []
    for answer in page.ask(choices(page.parameters, sets)):
        name = answer.question.probe.name
        asked, ranks = sets[name].items, answer.result.set_index("prompt_id")["rank"]
        labels = {"dataset": name, "model": answer.name, "gold": asked["golds"].str[0]}
        parts.append(asked[["id", "template"]].assign(right=asked["id"].map(ranks) == 1, **labels))
    columns = ["id", "template", "right", "dataset", "model", "gold"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def table(
    sets: Mapping[str, RationaleSet], choices: pd.DataFrame, saliencies: Sequence[Saliency], seed: int = 0
) -> pd.DataFrame:
    """The share of items in which a method weighs the cue above the attractor, where the model's choice is right.

    Args:
        sets: whose words are weighed, of ``ask.load_sets``.
        choices: of ``choose_all``, in these sets or in larger ones that they are drawn from.
        saliencies: of ``attributing.attribute_all``.
        seed: of the bootstrap.

    Returns:
        ``dataset, model, method, weights``; ``items`` asked, of which a ``constant`` answer has so many right, and the
        model so many (``right``); ``better``, 1 where it has more by the interval of the paired difference over
        templates; ``drawn``, whose words were weighed, and those ``explained``, where it is right, of so many
        ``templates``; ``estimate, low, high`` over these templates, of random weights the mean over the copies with
        their ``least`` and ``most``; ``learned, learned_low, learned_high``: what the trained network has more than
        the copies.
    """
    rows: list[dict[str, Any]] = []
    for name, items in sets.items():
        chosen = pick(choices, dataset=name)
        for model in chosen["model"].unique():
            asked = pick(chosen, model=model)
            fixed = asked["gold"] == asked["gold"].mode()[0]
            lead = _mean((asked["right"].astype(int) - fixed).to_numpy(), asked["template"].tolist(), seed)
            labels = {"dataset": name, "model": model, "items": len(asked), "right": int(asked["right"].sum())}
            labels |= {"constant": int(fixed.sum()), "better": int(lead["low"] > 0)}
            right = asked.set_index("id")["right"].reindex(items.items["id"]).to_numpy(bool)
            labels |= {"drawn": len(right), "explained": int(right.sum())}
            frames = items.items["template"][right].tolist()
            found = defaultdict[tuple[str, str], list[np.ndarray]](list)
            for one in saliencies:
                if one.dataset == name and one.model in (model, "") and one.table is not None:
                    found[one.method, one.weights].append(above(items, one.table)[right])
            found[RANDOM, ""] = [np.full(len(frames), CHANCE)]
            for (method, weights), copies in found.items() if frames else ():
                row = labels | {"method": method, "weights": weights, "templates": len(set(frames))}
                means = [copy.mean() for copy in copies]
                row |= {"least": min(means), "most": max(means)} if weights == RANDOM_WEIGHTS else {}
                hits, other = np.mean(copies, axis=0), found.get((method, RANDOM_WEIGHTS), [])
                row |= _mean(hits, frames, seed) if method != RANDOM else {"estimate": CHANCE}
                if weights == TRAINED and other:
                    gap = _mean(hits - np.mean(other, axis=0), frames, seed)
                    row |= dict(zip(("learned", "learned_low", "learned_high"), gap.values(), strict=True))
                rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS)


def above(items: RationaleSet, scores: pd.DataFrame) -> np.ndarray:
    """Of each record, 1 where the first word of the cue scores higher than that of the attractor, else 0."""
    found = []
    for record, row in zip(items.items.to_dict("records"), scores.to_dict("records"), strict=True):
        of = dict(zip(row["positions"], row["scores"], strict=True))
        found.append(float(of[record["rationales"][0][0]] > of[record["attractor"][0]]))
    return np.array(found)


def _mean(values: np.ndarray, frames: Sequence[str], seed: int) -> dict[str, float]:
    """``estimate, low, high`` over templates, exact where all values are 0 or all 1."""
    if len(set(values)) == 1 and values[0] in (0, 1):
        return share_ci(values, frames).row()
    return estimate_row(values.mean(), resampled_means(values[:, None], frames, seed=seed)[:, 0], frames)


# ---- for reading ----------------------------------------------------------------------------------------------------


def shown(marks: pd.DataFrame) -> pd.DataFrame:
    """Sets and methods down, and across, for each model, the trained network and what it has more than random ones."""
    rows = marks[marks["weights"] != RANDOM_WEIGHTS]
    random = pick(marks, weights=RANDOM_WEIGHTS).set_index(["dataset", "model", "method"])
    cells = []
    for row in rows.to_dict("records"):
        own = {"dataset": row["dataset"], "method": row["method"], "model": title(row["model"])}
        cells.append(own | {name: row[name] for name in ("estimate", "low", "high")})
        if (key := (row["dataset"], row["model"], row["method"])) in random.index:
            other = random.loc[key]
            ends = {"estimate": other["estimate"], "low": other["least"], "high": other["most"]}
            cells.append(own | {"model": f"{own['model']}, random weights (range)"} | ends)
    return across(pd.DataFrame(cells), ["dataset", "method"], "model", digits=2)


def chart(marks: pd.DataFrame) -> pd.DataFrame:
    """Trained networks and controls for ``forest``."""
    return marks[marks["weights"] != RANDOM_WEIGHTS]
