"""The answers of a model to one probe as numbers, on equally many prompts in both styles (paper 001, section 5.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from probekit.metrics import effective_number, gini, repetition, total_variation
from probekit.probes.probe import Probe

GOLD = "right answers"
MEASURES = (
    "accuracy",
    "distinct_1",
    "distinct_5",
    "distinct_10",
    "repetition",
    "commonest",
    "effective",
    "gini",
    "distance",
    "margin_wrong",
    "margin_right",
    "lead",
)


@dataclass(frozen=True)
class Answers:
    """What one model answered to the prompts of one probe, one prompt per fact.

    ``top`` (n, k) and ``gold`` (n,) are places in ``names``; ``relation`` (n,) numbers the relations; ``right`` (n,)
    says where the first answer is the fact's own object; ``margin`` (n,) is the score of the first answer less that of
    the second, ``lead`` (n,) less that of the gold. ``candidates`` counts the entities of the probe.
    """

    model: str
    probe: str
    dataset: str
    style: str
    top: np.ndarray
    gold: np.ndarray
    relation: np.ndarray
    right: np.ndarray
    margin: np.ndarray
    lead: np.ndarray
    names: tuple[str, ...]
    candidates: int

    def of_golds(self) -> Answers:
        """The answers of one who is always right."""
        nothing = np.zeros(len(self.gold))
        right = np.ones(len(self.gold), dtype=bool)
        return replace(self, model=GOLD, top=self.gold[:, None], right=right, margin=nothing, lead=nothing)


def equal_prompts(probes: Sequence[Probe], seed: int = 0) -> pd.DataFrame:
    """One prompt per fact and, where a data set comes as template and natural, the same facts in the same order.

    Of a fact's sentences one is drawn. Facts whose template prompt is word for word that of an earlier fact (another
    object of the same subject) are left out, since the model cannot but answer them alike.

    Returns:
        ``dataset, probe, fact_id, prompt_id``, by data set and probe.
    """
    sets: dict[str, list[Probe]] = {}
    for probe in probes:
        sets.setdefault(probe.dataset, []).append(probe)
    frames = []
    for dataset, members in sets.items():
        chosen = {probe.name: _one_per_fact(probe, seed) for probe in members}
        common = set.intersection(*(set(frame.index) for frame in chosen.values()))
        first = next((probe.name for probe in members if probe.style == "template"), members[0].name)
        order = [fact for fact in chosen[first].drop_duplicates("text").index if fact in common]
        for name, frame in chosen.items():
            kept = frame.loc[order, ["prompt_id"]].reset_index()
            frames.append(kept.assign(dataset=dataset, probe=name))
    return pd.concat(frames, ignore_index=True)[["dataset", "probe", "fact_id", "prompt_id"]]


def _one_per_fact(probe: Probe, seed: int) -> pd.DataFrame:
    frame = probe.prompts[["prompt_id", "text"]].assign(fact_id=probe.facts)
    drawn = frame.sample(frac=1, random_state=seed).drop_duplicates("fact_id")
    return drawn.sort_index().set_index("fact_id")


def collect(ranks: pd.DataFrame, probes: Sequence[Probe], seed: int = 0) -> list[Answers]:
    """The answers of all models, by data set, on the prompts of ``equal_prompts``.

    Args:
        ranks: the rows of ``ask.ask_all``.
        probes: as asked.
        seed: of the draw of one sentence per fact.
    """
    candidates = {probe.name: len(probe.entities) for probe in probes}
    own = ranks
    found = []
    for (dataset, probe), wanted in equal_prompts(probes, seed).groupby(["dataset", "probe"], sort=False):
        of_probe = own[own["probe"] == probe]
        for model, rows in of_probe.groupby("model", sort=False):
            rows = rows.set_index("prompt_id").loc[wanted["prompt_id"]]
            depth = int(rows["top"].str.len().min())
            top = np.array([list(one[:depth]) for one in rows["top"]], dtype=object)
            scores = np.array([list(one[:depth]) for one in rows["top_scores"]], dtype=float)
            codes, names = pd.factorize(np.concatenate([top.ravel(), rows["object"].to_numpy(dtype=object)]))
            second = scores[:, 1] if depth > 1 else scores[:, 0]
            found.append(
                Answers(
                    model=str(model),
                    probe=str(probe),
                    dataset=str(dataset),
                    style=str(rows["style"].iloc[0]),
                    top=codes[: top.size].reshape(top.shape),
                    gold=codes[top.size :],
                    relation=pd.factorize(rows["relation"])[0],
                    right=(rows["rank"] == 1).to_numpy(),
                    margin=scores[:, 0] - second,
                    lead=scores[:, 0] - rows["score"].to_numpy(dtype=float),
                    names=tuple(names),
                    candidates=candidates[str(probe)],
                )
            )
    return found


def measure(answers: Answers, chosen: np.ndarray) -> np.ndarray:
    """The numbers of ``MEASURES`` over some of the prompts.

    ``distinct_k`` is the number of entities in the first k answers of all prompts, in percent of the candidates;
    ``repetition`` and ``commonest`` are taken within relations: how often two prompts get the same first answer, and
    the share of prompts with the commonest first answer of their relation; ``effective``, ``gini`` (over all
    candidates) and ``distance`` (total variation to the golds) describe the first answers; ``margin_wrong`` and
    ``margin_right`` are mean margins where the first answer is wrong and right, ``lead`` the mean lead over the gold
    where it is wrong.

    Args:
        answers: of n prompts.
        chosen: numbers of the prompts, shape (m,), m at least 1.
    """
    top, right = answers.top[chosen], answers.right[chosen]
    first, relation, known = top[:, 0], answers.relation[chosen], len(answers.names)
    counts = np.bincount(first, minlength=known)
    golds = np.bincount(answers.gold[chosen], minlength=known)
    within = np.bincount(relation * known + first, minlength=(relation.max() + 1) * known).reshape(-1, known)
    every = np.concatenate([counts, np.zeros(max(0, answers.candidates - known))])
    return np.array(
        [
            right.mean(),
            *(100 * len(np.unique(top[:, :k])) / answers.candidates for k in (1, 5, 10)),
            repetition(first, relation),
            within.max(1).sum() / len(chosen),
            effective_number(counts),
            gini(every),
            total_variation(counts, golds),
            _mean(answers.margin[chosen][~right]),
            _mean(answers.margin[chosen][right]),
            _mean(answers.lead[chosen][~right]),
        ]
    )


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else float("nan")
