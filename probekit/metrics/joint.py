"""Accuracy of many models on many probes at once, with facts drawn for all of them jointly (paper 001, RQ1 and RQ3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from probekit.metrics.bootstrap import bootstrap_means, effective_units
from probekit.metrics.estimates import Drawn
from probekit.metrics.ranking import hits_at_k


class FactHits(NamedTuple):
    """Hits per fact of one data set, whose probes may ask the same facts.

    Args:
        models: m names.
        probes: p names.
        hits: prompts answered rightly, shape (facts, p, m).
        prompts: prompts asked, shape (facts, p); 0 where a probe lacks the fact.
    """

    models: tuple[str, ...]
    probes: tuple[str, ...]
    hits: np.ndarray
    prompts: np.ndarray

    def shared(self) -> FactHits:
        """The same of the facts that every probe asks; of all facts where there is none such."""
        shared = (self.prompts > 0).all(1)
        return self._replace(hits=self.hits[shared], prompts=self.prompts[shared]) if shared.any() else self

    def accuracy(self, facts: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Share of prompts answered rightly over some facts, shape (p, m); nan where no prompt is left."""
        return _share(self.hits[facts].sum(0), self.prompts[facts].sum(0))


class JointAccuracy(NamedTuple):
    """Acc@k of m models on p probes, ``estimate`` of shape (p, m), and in draws of facts, ``draws`` (samples, p, m).

    ``units`` are the effective numbers of facts of the probes, shape (p,).
    """

    models: tuple[str, ...]
    probes: tuple[str, ...]
    estimate: np.ndarray
    draws: np.ndarray
    units: tuple[float, ...]

    def of(self, probe: str) -> Drawn:
        """Estimates of one probe, shape (m,), and their draws, shape (samples, m)."""
        place = self.probes.index(probe)
        return Drawn(self.estimate[place], self.draws[:, place], self.units[place])


def fact_hits(ranks: pd.DataFrame, k: int = 1) -> list[FactHits]:
    """Count hits by fact, data set by data set.

    Args:
        ranks: one row per model and prompt with ``model, dataset, probe, fact_id, rank``; every model was asked
            every prompt.
        k: a hit is a rank of at most this.

    Raises:
        ValueError: a model was not asked all prompts, or as in ``hits_at_k``.
    """
    table = ranks.assign(hit=hits_at_k(ranks["rank"], k))
    models = tuple(dict.fromkeys(table["model"]))
    sets = []
    for _, rows in table.groupby("dataset", sort=False):
        facts, names = pd.factorize(rows["fact_id"])
        probe, probes = pd.factorize(rows["probe"])
        model = pd.Categorical(rows["model"], categories=list(models)).codes
        shape = (len(names), len(probes), len(models))
        hits, prompts = np.zeros(shape), np.zeros(shape)
        np.add.at(hits, (facts, probe, model), rows["hit"].to_numpy())
        np.add.at(prompts, (facts, probe, model), 1.0)
        if (prompts != prompts[:, :, :1]).any():
            raise ValueError(f"not every model was asked all prompts of {', '.join(map(str, probes))}")
        sets.append(FactHits(models, tuple(map(str, probes)), hits, prompts[:, :, 0]))
    return sets


def joint_accuracy(sets: Sequence[FactHits], samples: int = 2000, seed: int = 0) -> JointAccuracy:
    """Acc@k per prompt of all models on all probes, and the same in bootstrap samples of whole facts.

    One draw of facts serves all models and, within a data set, all probes; data sets are drawn independently.

    Args:
        sets: of ``fact_hits``, at least one.
        samples: bootstrap samples.
        seed: of the generators.
    """
    drawn = []
    for place, facts in enumerate(sets):
        table = np.concatenate([facts.hits, facts.prompts[:, :, None]], axis=2)
        means = bootstrap_means(table.reshape(len(table), -1), samples=samples, seed=seed + place)
        means = means.reshape(samples, len(facts.probes), -1)
        drawn.append(_share(means[:, :, :-1], means[:, :, -1]))
    probes = tuple(probe for facts in sets for probe in facts.probes)
    estimate = np.concatenate([facts.accuracy() for facts in sets])
    units = tuple(
        effective_units(np.repeat(range(len(n)), n.astype(int)).tolist()) for facts in sets for n in facts.prompts.T
    )
    return JointAccuracy(sets[0].models, probes, estimate, np.concatenate(drawn, axis=1), units)


def split_halves(one: FactHits, samples: int = 200, seed: int = 0) -> np.ndarray:
    """Acc@k in two random halves of the facts: how far a probe agrees with itself.

    Returns:
        Shape (samples, 2, p, m); nan where a half holds no prompt of a probe.
    """
    generator, count = np.random.default_rng(seed), len(one.prompts)
    orders = (generator.permutation(count) for _ in range(samples))
    halves = [(order[: count // 2], order[count // 2 :]) for order in orders]
    return np.array([[one.accuracy(half) for half in pair] for pair in halves])


def _share(hits: np.ndarray, prompts: np.ndarray) -> np.ndarray:
    return np.divide(hits, prompts[..., None], out=np.full(hits.shape, np.nan), where=prompts[..., None] > 0)
