"""Page 92: how often each rule of a verdict decides where nothing is to be found, and where something is.

Data are simulated in the shape that the studies have (facts, documents, originals, models that were asked the same
facts), go through the same intervals and the same rules as the real ones, and the decisions are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from probekit.metrics import bootstrap_ci, bootstrap_means, crossed_means, interval
from probekit.metrics.decisions import LEVEL, opposed, tallied
from probekit.report import forest
from probekit.report.published import cell as printed
from probekit.report.published import numbers
from probekit.report.tables import cell
from probekit.report.verdicts import concluded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = npt.NDArray[np.float64]
Generator = np.random.Generator
Draw = Callable[[Generator, float], pd.DataFrame]
ENDS = ["estimate", "low", "high"]
SAMPLES = 2000  # bootstrap draws within a simulated study
CAPTIONS = {"rules": "Every rule on simulated data: decisions under no effect, and under the effect named"}


class Rule(NamedTuple):
    """A rule of ``verdicts.py`` (or one that was given up) with data to try it on.

    ``effect``: a key of ``effects()``, the difference of the simulated study where it has one.
    """

    name: str
    rule: Literal["direction", "all", "most", "some"]
    data: str
    effect: str
    draw: Draw
    used: bool = True


def facts(generator: Generator, effect: float) -> pd.DataFrame:
    """One model, 400 facts asked in two ways, one to three prompts a fact: difference of Acc@1, facts drawn."""
    prompts = generator.integers(1, 4, 400)
    easy = np.repeat(generator.beta(0.4, 3.2, 400), prompts)  # mean 0.11
    gain = (generator.random(len(easy)) < np.clip(easy + effect, 0, 1)).astype(float)
    return _row(gain - (generator.random(len(easy)) < easy), np.repeat(np.arange(400), prompts).tolist())


def documents(generator: Generator, effect: float) -> pd.DataFrame:
    """One model, 320 documents with few or many steps that go alike: understood less misunderstood, each document
    counted once, and documents drawn."""
    signs, counted = _documents(generator, effect)
    return _row(pd.Series(signs).groupby(counted).mean().to_numpy(), None)


def originals(generator: Generator, effect: float) -> pd.DataFrame:
    """One model, one dimension: twenty originals with two perturbations each, a difference of two scores."""
    return _row(*_originals(generator, effect))


def dimensions(generator: Generator, effect: float) -> pd.DataFrame:
    """The same difference in three dimensions of twenty originals each, an interval each."""
    return pd.concat([_row(*_originals(generator, effect)) for _ in range(3)])


def models(count: int) -> Draw:
    """So many models asked the same 300 facts in two ways: a difference each, facts drawn once for all of them."""

    def draw(generator: Generator, effect: float) -> pd.DataFrame:
        easy = generator.beta(0.4, 3.2, 300)[:, None]
        second = (generator.random((300, count)) < np.clip(easy + effect, 0, 1)).astype(float)
        gains = second - (generator.random((300, count)) < easy)
        drawn = bootstrap_means(gains, samples=SAMPLES, seed=int(generator.integers(1 << 30)))
        return _estimates(gains.mean(0), drawn, 300)

    return draw


def swaps(generator: Generator, effect: float) -> pd.DataFrame:
    """Three models asked the same 300 facts in two ways: of each pair, whether who is ahead in one is behind in the
    other. With an effect the first model gains it over the others in one way and loses it in the other."""
    easy = generator.beta(0.4, 3.2, 300)[:, None]
    hits = [generator.random((300, 3)) < np.clip(easy + sign * np.array([effect, 0, 0]), 0, 1) for sign in (1, -1)]
    pairs = np.array([[1, 1, 0], [-1, 0, 1], [0, -1, -1]])
    gaps = np.hstack([side.astype(float) @ pairs for side in hits])
    drawn = bootstrap_means(gaps, samples=SAMPLES, seed=int(generator.integers(1 << 30)))
    ends = list(_estimates(gaps.mean(0), drawn, 300).itertuples(index=False, name=None))
    return pd.DataFrame([opposed(ends[i], ends[i + 3]) for i in range(3)], columns=ENDS)


def crossed(count: int) -> Draw:
    """So many models, 40 identities crossed with 15 predicates, both drawn: hits of one identity or predicate go alike,
    half of it in all models."""

    def shift(generator: Generator, n: int) -> Array:
        return (generator.normal(0, 0.05, (n, 1)) + generator.normal(0, 0.05, (n, count))) / np.sqrt(2)

    def draw(generator: Generator, effect: float) -> pd.DataFrame:
        shifts = shift(generator, 40)[:, None] + shift(generator, 15)
        values = effect + shifts + generator.normal(0, 0.2, (40, 15, count))
        units = [(i, j) for i in range(40) for j in range(15)]
        table = values.reshape(-1, count)
        drawn = crossed_means(table, units, samples=SAMPLES, seed=int(generator.integers(1 << 30)))
        return _estimates(table.mean(0), drawn, 15)

    return draw


def steps_alone(generator: Generator, effect: float) -> pd.DataFrame:
    """As ``documents``, with steps drawn as if each came from a document of its own."""
    return _row(_documents(generator, effect)[0], None)


def short_intervals(generator: Generator, effect: float) -> pd.DataFrame:
    """As ``originals``, with the plain percentile interval."""
    values, clusters = _originals(generator, effect)
    drawn = bootstrap_means(values, clusters, SAMPLES, int(generator.integers(1 << 30)))
    return _estimates([values.mean()], drawn, np.inf)


def signs(generator: Generator, effect: float) -> pd.DataFrame:
    """21 models: more than half of the differences have the sign that the claim says, however small they are."""
    gains = models(21)(generator, effect)["estimate"]
    return pd.DataFrame(
        {"estimate": [(gains > 0).mean()], "verdict": "agrees" if (gains > 0).sum() > 10 else "contradicts"}
    )


def smallest(generator: Generator, effect: float) -> pd.DataFrame:
    """Three dimensions: the interval of the smallest of the three differences."""
    tables = [_originals(generator, effect) for _ in range(3)]
    seed = int(generator.integers(1 << 30))
    drawn = np.column_stack([bootstrap_means(v, c, SAMPLES, seed + i)[:, 0] for i, (v, c) in enumerate(tables)]).min(1)
    return _estimates([min(v.mean() for v, _ in tables)], drawn[:, None], np.inf)


def mean_of_models(generator: Generator, effect: float) -> pd.DataFrame:
    """Four models that truly differ (SD 0.05): facts are drawn, and the interval of their mean speaks of models."""
    easy = generator.beta(0.4, 3.2, 300)[:, None]
    second = generator.random((300, 4)) < np.clip(easy + generator.normal(effect, 0.05, 4), 0, 1)
    return _row((second.astype(float) - (generator.random((300, 4)) < easy)).mean(1), None)


def four_sets(generator: Generator, effect: float) -> pd.DataFrame:
    """Four data sets: the correlation of two of their means, with prompts drawn inside each."""
    true = generator.multivariate_normal([0, 0], [[1, effect], [effect, 1]], 4)
    noisy = true + generator.normal(0, 0.1, (SAMPLES, 4, 2))
    drawn = np.array([[np.asarray(np.corrcoef(sets.T))[0, 1]] for sets in noisy])
    return _estimates([np.asarray(np.corrcoef(true.T))[0, 1]], drawn, np.inf)


def _documents(generator: Generator, effect: float) -> tuple[Array, list[int]]:
    """Signs of the steps of 320 documents, shape (steps,), and the document of each."""
    steps = np.minimum(generator.zipf(1.8, 320), 130)
    up = np.repeat(generator.beta(0.6, 2.4, 320) * (1 + 2.5 * effect), steps)
    down = np.repeat(generator.beta(0.6, 2.4, 320) * (1 - 2.5 * effect), steps)
    draw = generator.random(len(up))
    return (draw < up).astype(float) - (draw > 1 - down), np.repeat(np.arange(320), steps).tolist()


def _originals(generator: Generator, effect: float) -> tuple[Array, list[int]]:
    """Differences of twenty originals with two perturbations each, shape (60,), and the original of each."""
    means = np.repeat(generator.normal(effect, 0.15, 20), 3)
    return means + generator.normal(0, 0.15, 60), np.repeat(np.arange(20), 3).tolist()


def _row(values: Array, clusters: list[int] | None) -> pd.DataFrame:
    return pd.DataFrame([bootstrap_ci(values, clusters, samples=SAMPLES)[:3]], columns=ENDS)


def _estimates(estimates: npt.ArrayLike, drawn: Array, units: float) -> pd.DataFrame:
    """Estimates with the intervals of their draws of so many units, shape (samples, estimates)."""
    ends = [interval(column, units)[:2] for column in drawn.T]
    return pd.DataFrame(np.column_stack([np.asarray(estimates, dtype=float), ends]), columns=ENDS)


HITS, RANKS, METHODS, WORDS, STRONG = (
    "001: Acc@1 on T-REx, natural less template, mean of the models",
    "002: Table 3, BERT-base, Understand less Misunderstand",
    "003: Table 9, BERT-base, MAP of attention less gradients",
    "a third of the mean HONEST score of 004: Table 1",
    "a correlation of 0.8",
)
FACTS, STEPS, FEW = "the same 300 facts", "320 documents, 1 to 130 steps each", "20 originals, 3 records each"
CROSSED = "40 identities crossed with 15 predicates"
RULES = (
    Rule("One model, facts drawn", "direction", "400 facts, 1 to 3 prompts each", HITS, facts),
    Rule("One model, documents drawn", "direction", STEPS, RANKS, documents),
    Rule("One dimension, originals drawn", "direction", FEW, METHODS, originals),
    Rule("One model, crossed units", "direction", CROSSED, WORDS, crossed(1)),
    Rule("All of 3 dimensions", "all", f"three times {FEW}", METHODS, dimensions),
    Rule("All of 4 models", "all", FACTS, HITS, models(4)),
    Rule("All of 21 models", "all", FACTS, HITS, models(21)),
    Rule("Most of 5 models", "most", FACTS, HITS, models(5)),
    Rule("Most of 21 models", "most", FACTS, HITS, models(21)),
    Rule("All of 20 models, crossed units", "all", CROSSED, WORDS, crossed(20)),
    Rule("Most of 20 models, crossed units", "most", CROSSED, WORDS, crossed(20)),
    Rule("Some of 4 models", "some", FACTS, HITS, models(4)),
    Rule("Some of 3 pairs of models swap", "some", f"{FACTS}, in two ways", HITS, swaps),
    Rule("Steps drawn, not documents", "direction", STEPS, RANKS, steps_alone, False),
    Rule("Plain percentiles of 20", "direction", FEW, METHODS, short_intervals, False),
    Rule("Smallest of 3 dimensions", "direction", f"three times {FEW}", METHODS, smallest, False),
    Rule("Mean of 4 models, facts drawn", "direction", "300 facts, models that differ", HITS, mean_of_models, False),
    Rule("Four data sets, prompts drawn", "direction", "4 means, prompts within each", STRONG, four_sets, False),
    Rule("More than half of 21 signs", "direction", FACTS, HITS, signs, False),
)


def effects() -> dict[str, float]:
    """The sizes of effects that the simulated studies have, most of them as the papers print them."""
    natural, template = (
        float(printed("001", "text", f"mean over models on T-REx ({kind})", "Acc@1")) for kind in ("TF", "TB")
    )
    shares = numbers("002", "3").loc["BERT-base"]
    table = numbers("003", "9")
    maps = table.loc[:, [column for column in table if column.endswith(" MAP") and not column.startswith("all")]]
    return {
        HITS: natural - template,
        RANKS: float(shares["target U"] - shares["target M"]),
        METHODS: float((maps.loc["BERT-base ATT"] - maps.loc["BERT-base IG"]).mean()),
        WORDS: float(numbers("004", "1")["mean"].mean()) / 3,
        STRONG: 0.8,
    }


def tried(rule: Rule, effect: float, draws: int, seed: int = 0) -> pd.Series:
    """Share of simulated studies in which a rule agrees and contradicts: ``agrees, contradicts``."""
    generator, verdicts = np.random.default_rng([seed, round(1000 * effect)]), []
    for _ in range(draws):
        rows = concluded(rule.draw(generator, effect).assign(claim=""))
        verdicts.append(rows["verdict"].iloc[0] if rule.rule == "direction" else tallied(rows, rule.rule)[0])
    return pd.Series(verdicts).value_counts(normalize=True).reindex(["agrees", "contradicts"], fill_value=0.0)


def tables(draws: int) -> dict[str, pd.DataFrame]:
    """Every rule without an effect and with one.

    Returns:
        ``rules``: one row per rule, ``used`` or given up; ``wrong, low, high``: share of decisions, either way, where
        there is no effect; ``power, power_low, power_high``: share that agree where there is one (exact intervals).
    """
    rows, sizes = [], effects()
    for rule in RULES:
        size = sizes[rule.effect]
        none, some = tried(rule, 0.0, draws), tried(rule, size, draws)
        wrong, power = round(none.sum() * draws), round(some["agrees"] * draws)
        labels = {"rule": rule.name, "used": rule.used, "data": rule.data, "effect": size, "like": rule.effect}
        ends = [stats.binomtest(k, draws).proportion_ci() for k in (wrong, power)]
        shares = {"wrong": wrong / draws, "low": ends[0].low, "high": ends[0].high}
        shares |= {"power": power / draws, "power_low": ends[1].low, "power_high": ends[1].high, "draws": draws}
        rows.append(labels | shares)
    return {"rules": pd.DataFrame(rows)}


def chart(tables: dict[str, pd.DataFrame]) -> Figure:
    """Decisions under no effect and under one, rules in use above those given up."""
    rules = tables["rules"]
    none = rules.rename(columns={"wrong": "share"})[["rule", "share", "low", "high"]].assign(study="nothing to find")
    some = rules[["rule"]].assign(share=rules["power"], low=rules["power_low"], high=rules["power_high"])
    table = pd.concat([none, some.assign(study="an effect of the paper's size")])
    return forest(table, "share", "rule", series="study", line=LEVEL, xlabel="Simulated studies that are decided")


def shown(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """The table for reading: the rule, its data, wrong decisions, power and the size of the effect."""
    rules = tables["rules"]
    return pd.DataFrame(
        {
            "Rule": rules["rule"],
            "Here": rules["used"].map({True: "in use", False: "given up"}),
            "Simulated data": rules["data"],
            "Wrong": [cell(row, "wrong") for row in rules.to_dict("records")],
            "Power": [cell(row, "power") for row in rules.to_dict("records")],
            "Effect": [f"{size:.3g} ({like})" for size, like in zip(rules["effect"], rules["like"], strict=True)],
        }
    )
