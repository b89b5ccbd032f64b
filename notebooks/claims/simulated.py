"""Simulated studies in the shape that the real ones have: each draws data with an effect, and gives the rows of
conclusions that the intervals and tests of real studies make of them (page 92)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics import bootstrap_ci, bootstrap_means, crossed_means, half_samples, interval, repetition
from probekit.metrics.decisions import decided, opposed
from probekit.metrics.decisions import smallest as smallest_of
from probekit.metrics.exact import Tested, apart, associated, paired, with_cases
from probekit.metrics.floor import constant_hits, floors
from probekit.report.published import numbers
from probekit.report.recording import recorded_tables
from probekit.report.tables import pick
from probekit.report.tested import borne_out, outcomes

Array = npt.NDArray[np.float64]
Generator = np.random.Generator
Size = float | Array  # of an effect, of all rows or of each
Draw = Callable[..., pd.DataFrame]  # of a generator and an ``effect``: the rows of one study
ENDS = ["estimate", "low", "high"]
CONTROL = "lab/dose-100-s0"  # above the floor of page 21's documents
SAMPLES = 500  # bootstrap draws within a simulated study


def facts(hits: float) -> Draw:
    """One model, 400 facts asked in two ways, one to three prompts a fact, of which so many are hit without an effect:
    difference of Acc@1, facts drawn."""

    def draw(generator: Generator, effect: Size) -> pd.DataFrame:
        prompts = generator.integers(1, 4, 400)
        easy = np.repeat(generator.beta(0.4, 0.4 / hits - 0.4, 400), prompts)
        gain = (generator.random(len(easy)) < np.clip(easy + effect, 0, 1)).astype(float)
        return _row(gain - (generator.random(len(easy)) < easy), np.repeat(np.arange(400), prompts).tolist())

    return draw


def documents(generator: Generator, effect: Size, whole: float = 1.0) -> pd.DataFrame:
    """One model, 320 documents with few or many steps that go alike: understood less misunderstood, each document
    counted once, and documents drawn. Of fewer documents more steps are understood, where ``whole`` is below 1."""
    signs, counted = _documents(generator, float(effect), whole)
    return _row(pd.Series(signs).groupby(counted).mean().to_numpy(), None)


def copied(generator: Generator, effect: Size) -> pd.DataFrame:
    """A difference in page 21's documents, as recorded of a model above its floor, centred and drawn anew."""
    values = recorded_documents()
    return _row(effect + generator.choice(values - values.mean(), len(values)), None)


@lru_cache(maxsize=1)
def recorded_documents() -> Array:
    """What page 21 judges of ``CONTROL`` in each document of T-REx: the share of steps in which the target rises less
    that in which it falls, of correct entities minus that of incorrect ones, shape (documents,)."""
    rows = pick(recorded_tables("21_rank_change")["documents"], source="trex", model=CONTROL)
    return (rows["rc_centre_correct"] - rows["rc_centre_incorrect"]).dropna().to_numpy(float)


def rank_changes(generator: Generator, effect: Size) -> pd.DataFrame:
    """One model, the mean change of a rank in 173 documents, of which a few move far more than all others."""
    return _row(effect + 0.1 * (generator.lognormal(0, 2, 173) - np.exp(2)), None)


def originals(generator: Generator, effect: Size, skewed: bool = False) -> pd.DataFrame:
    """One model, one dimension: twenty originals with two perturbations each, a difference of two scores."""
    return _row(*_originals(generator, effect, skewed))


def dimensions(generator: Generator, effect: Size) -> pd.DataFrame:
    """The same difference in three dimensions of twenty originals each, an interval each."""
    return pd.concat([originals(generator, of_one) for of_one in np.broadcast_to(effect, 3)])


def smaller(generator: Generator, effect: Size) -> pd.DataFrame:
    """Two such differences that a sentence asks for at once, by the smaller of them."""
    rows = [originals(generator, of_one).iloc[0] for of_one in np.broadcast_to(effect, 2)]
    return pd.DataFrame([smallest_of([(row["estimate"], row["low"], row["high"]) for row in rows])], columns=ENDS)


def models(count: int, alike: float = 0.0) -> Draw:
    """So many models asked the same 300 facts in two ways: a difference each, facts drawn once for all of them.

    ``alike``: the correlation of what two models hit by chance.
    """

    def hits(generator: Generator, chance: Array) -> Array:
        common = generator.random((300, count)) < np.sqrt(alike)
        level = np.where(common, generator.random((300, 1)), generator.random((300, count)))
        return (level < np.clip(chance, 0, 1)).astype(float)

    def draw(generator: Generator, effect: Size) -> pd.DataFrame:
        easy = generator.beta(0.4, 3.2, 300)[:, None]
        first, second = (hits(generator, easy + np.maximum(sign * effect, 0)) for sign in (-1, 1))
        gains = second - first
        drawn = bootstrap_means(gains, samples=SAMPLES, seed=int(generator.integers(1 << 30)))
        return _estimates(gains.mean(0), drawn, 300)

    return draw


def swaps(generator: Generator, effect: Size) -> pd.DataFrame:
    """Three models asked the same 300 facts in two ways: of each pair, whether who is ahead in one is behind in the
    other. With an effect the first model gains it over the others in one way and loses it in the other; or of each way
    (first axis) and model what it gains."""
    easy = generator.beta(0.4, 3.2, 300)[:, None]
    gains = np.broadcast_to(effect if np.ndim(effect) else effect * np.array([[1, 0, 0], [-1, 0, 0]]), (2, 3))
    hits = [generator.random((300, 3)) < np.clip(easy + gain, 0, 1) for gain in gains]
    pairs = np.array([[1, 1, 0], [-1, 0, 1], [0, -1, -1]])
    gaps = np.hstack([side.astype(float) @ pairs for side in hits])
    drawn = bootstrap_means(gaps, samples=SAMPLES, seed=int(generator.integers(1 << 30)))
    ends = list(_estimates(gaps.mean(0), drawn, 300).itertuples(index=False, name=None))
    return pd.DataFrame([opposed(ends[i], ends[i + 3]) for i in range(3)], columns=ENDS)


def crossed(
    count: int, alike: float = 0.5, spread: tuple[float, float] = (0.05, 0.05), mean: bool = False, either: bool = False
) -> Draw:
    """So many models, 40 identities crossed with 15 predicates, both drawn: hits of one identity or predicate go alike.

    ``alike``: what share of that is the same in all models. ``spread``: its standard deviation over identities and over
    predicates. ``mean``: of the models, in place of each. ``either``: the claim is that of a difference on either side.
    """

    def shift(generator: Generator, n: int, deviation: float) -> Array:
        same, own = generator.normal(0, deviation, (n, 1)), generator.normal(0, deviation, (n, count))
        return np.sqrt(alike) * same + np.sqrt(1 - alike) * own

    def draw(generator: Generator, effect: Size) -> pd.DataFrame:
        shifts = shift(generator, 40, spread[0])[:, None] + shift(generator, 15, spread[1])
        table = (effect + shifts + generator.normal(0, 0.2, (40, 15, count))).reshape(-1, count)
        table = table.mean(1, keepdims=True) if mean else table
        units = [(i, j) for i in range(40) for j in range(15)]
        drawn = crossed_means(table, units, samples=SAMPLES, seed=int(generator.integers(1 << 30)))
        rows = _estimates(table.mean(0), drawn, 15)
        apart = (rows["low"] > 0) | (rows["high"] < 0)
        return rows.assign(verdict=np.where(apart, "agrees", "undecided")) if either else rows

    return draw


def of_lineages(draw: Draw, sizes: Sequence[int]) -> Draw:
    """A study of models with the ``lineage`` of each, of which there are so many of each."""
    kin = [f"lineage {i}" for i, size in enumerate(sizes) for _ in range(size)]
    return lambda generator, effect: draw(generator, effect).assign(lineage=kin)


def halves(generator: Generator, effect: Size) -> pd.DataFrame:
    """One model, the answers to 400 facts in two ways, half of them the same without an effect: the difference of the
    shares of pairs of answers that are equal, from random halves of the facts. One answer more often makes an effect.
    """
    chances = 1 / np.arange(1, 101)
    chances /= chances.sum()
    first, other = generator.choice(100, (2, 400), p=chances)
    second = np.where(generator.random(400) < 0.5, first, other)
    same = float((chances**2).sum())  # (1 - p)^2 same + p^2 = same + effect
    often = (same + np.sqrt(same**2 + (1 + same) * float(effect))) / (1 + same) if np.any(effect) else 0.0
    second = np.where(generator.random(400) < often, 100, second)
    gaps = half_samples(400, lambda facts: repetition(second[facts]) - repetition(first[facts]))
    return pd.DataFrame([gaps[0][:3]], columns=ENDS)


def floor(generator: Generator, effect: Size, by_relation: bool = False) -> pd.DataFrame:
    """The gate itself: a model that hits by chance as often as the commonest answer of each relation, and so much more;
    or one that gives that answer. 400 facts of ten relations; it agrees where the model passes."""
    relations = np.repeat(np.arange(10), 40).astype(str)
    places = np.where(generator.random(400) < 0.25, 0, generator.integers(1, 40, 400)).astype(str)
    asked = pd.DataFrame({"object": np.char.add(relations, places), "relation": relations, "fact_id": np.arange(400)})
    constant = constant_hits(asked["object"], asked["relation"])
    hits = constant > 0 if by_relation else generator.random(400) < constant.mean() + effect
    row = floors(asked.assign(rank=np.where(hits, 1, 2), model="", probe="", candidates=400)).iloc[0]
    ends = pd.DataFrame([row[["gain", "gain_low", "gain_high"]].to_list()], columns=ENDS)
    return ends.assign(verdict="undecided" if row["floor"] else "agrees")


def printed_family(generator: Generator, effect: Size) -> pd.DataFrame:
    """Table 6 of 001 with its models' labels permuted: three models against thirteen on three data sets, an exact test
    each (of yes or no it is Fisher's), one family by Holm."""
    columns = [f"{name} Original A@1" for name in ("CTD", "Biomed-Wikidata", "SQuAD")]
    table = numbers("001", "6")[columns].to_numpy(dtype=float)[generator.permutation(16)]
    table[:3] += effect
    tests = [
        ("claim", "said", name, "model", "above", apart(table[:3, i], table[3:, i])) for i, name in enumerate(columns)
    ]
    sign = {"holds": "agrees", "fails": "contradicts"}.get(borne_out(rows := outcomes(tests), "claim")[0], "undecided")
    return pd.DataFrame([{"estimate": rows["estimate"].mean(), "verdict": sign}])


STARTS = (3, 1, 3, 2)  # models of Table 2 of 002 that go on from one, in its order


def printed_gains() -> Array:
    """By how much context raises Acc@1 of each model of Table 2 of 002."""
    table = numbers("002", "2")
    return (table["with context acc@1"] - table["without context acc@1"]).to_numpy(dtype=float)


def printed_signs(generator: Generator, effect: Size, by_start: bool = False, models: bool = False) -> pd.DataFrame:
    """Gains in Acc@1 of the models of Table 2 of 002, less their mean, as if each start were there twice, each with a
    sign by chance, or one for all that go on from the same model: an exact test by flipping the signs of eight starts;
    or, as it was done before, those of the nine ``models`` alone."""
    times = 1 if models else 2
    gains, starts = np.tile(printed_gains(), times), np.repeat(np.arange(4 * times), STARTS * times)
    signs = generator.choice([-1, 1], len(gains))[starts if by_start else np.arange(len(gains))]
    return _exactly(paired(effect + (gains - gains.mean()) * signs, None if models else starts.tolist()))


def over_models(generator: Generator, effect: Size, alike: float = 0.0, models: bool = False) -> pd.DataFrame:
    """Two models of each of eight lineages: whether two of their numbers go together, by orders of the lineages; or, as
    it was done before, by orders of eight ``models`` of four lineages."""
    kin = np.repeat(np.arange(4 if models else 8), 2)
    x, y = (generator.normal(size=len(kin)) * np.sqrt(1 - alike) + generator.normal(size=8)[kin] * np.sqrt(alike)
            for _ in range(2))  # fmt: skip
    y = effect * x + np.sqrt(1 - np.square(effect)) * y
    return _exactly(associated(x, y, "pearson", None if models else kin.tolist()))


def over_dimensions(generator: Generator, effect: Size) -> pd.DataFrame:
    """Six models that share what is special about five dimensions: whether their scores go with a list over these."""
    lengths, profile = generator.normal(size=(2, 5))
    profiles = effect * lengths + np.sqrt(1 - np.square(effect)) * profile + generator.normal(0, 0.2, (6, 5))
    return _exactly(with_cases([profiles], [lengths]))


def steps_alone(generator: Generator, effect: Size) -> pd.DataFrame:
    """As ``documents``, with steps drawn as if each came from a document of its own."""
    return _row(_documents(generator, float(effect))[0], None)


def short_intervals(generator: Generator, effect: Size, skewed: bool = False) -> pd.DataFrame:
    """As ``originals``, with the plain percentile interval."""
    values, clusters = _originals(generator, effect, skewed)
    drawn = bootstrap_means(values, clusters, SAMPLES, int(generator.integers(1 << 30)))
    return _estimates([values.mean()], drawn, np.inf)


def signs(generator: Generator, effect: Size) -> pd.DataFrame:
    """21 models: more than half of the differences have the sign that the claim says, however small they are."""
    gains = models(21)(generator, effect)["estimate"]
    return pd.DataFrame(
        {"estimate": [(gains > 0).mean()], "verdict": "agrees" if (gains > 0).sum() > 10 else "contradicts"}
    )


def smallest(generator: Generator, effect: Size) -> pd.DataFrame:
    """Three dimensions: the interval of the smallest of the three differences."""
    tables = [_originals(generator, effect) for _ in range(3)]
    seed = int(generator.integers(1 << 30))
    drawn = np.column_stack([bootstrap_means(v, c, SAMPLES, seed + i)[:, 0] for i, (v, c) in enumerate(tables)]).min(1)
    return _estimates([min(v.mean() for v, _ in tables)], drawn[:, None], np.inf)


def mean_of_models(generator: Generator, effect: Size) -> pd.DataFrame:
    """Four models that truly differ (SD 0.05): facts are drawn, and the interval of their mean speaks of models."""
    easy = generator.beta(0.4, 3.2, 300)[:, None]
    gains = generator.normal(effect, 0.05, 4)
    first, second = (generator.random((300, 4)) < easy + np.maximum(sign * gains, 0) for sign in (-1, 1))
    return _row((second.astype(float) - first).mean(1), None)


def four_sets(generator: Generator, effect: Size) -> pd.DataFrame:
    """Four data sets: the correlation of two of their means, with prompts drawn inside each."""
    true = generator.multivariate_normal([0, 0], np.array([[1, effect], [effect, 1]]), 4)
    noisy = true + generator.normal(0, 0.1, (SAMPLES, 4, 2))
    drawn = np.array([[np.asarray(np.corrcoef(sets.T))[0, 1]] for sets in noisy])
    return _estimates([np.asarray(np.corrcoef(true.T))[0, 1]], drawn, np.inf)


def _documents(generator: Generator, effect: float, whole: float = 1.0) -> tuple[Array, list[int]]:
    """Signs of the steps of 320 documents, shape (steps,), and the document of each."""
    steps = np.minimum(generator.zipf(1.8, 320), 130)
    up = np.repeat(generator.beta(0.6 * whole, 2.4 * whole, 320) * (1 + 2.5 * effect), steps)
    down = np.repeat(generator.beta(0.6 / whole, 2.4 / whole, 320) * (1 - 2.5 * effect), steps)
    draw = generator.random(len(up))
    return (draw < up).astype(float) - (draw > 1 - down), np.repeat(np.arange(320), steps).tolist()


def _originals(generator: Generator, effect: Size, skewed: bool = False) -> tuple[Array, list[int]]:
    """Differences of twenty originals with two perturbations each, shape (60,), and the original of each."""
    own = generator.exponential(1, 20) - 1 if skewed else generator.normal(0, 1, 20)
    means = np.repeat(effect + 0.15 * own, 3)
    return means + generator.normal(0, 0.15, 60), np.repeat(np.arange(20), 3).tolist()


def _exactly(test: Tested) -> pd.DataFrame:
    """The row of an exact test that is a family by itself; of too few units it decides nothing."""
    return decided(pd.DataFrame([{"statement": "", "expected": "above"} | test._asdict()]))[["estimate", "verdict"]]


def _row(values: Array, clusters: list[int] | None) -> pd.DataFrame:
    found = bootstrap_ci(values, clusters)  # with as many draws as on the pages: of fewer the ends are less sure
    return pd.DataFrame([found[:3]], columns=ENDS).assign(units=found.effective)


def _estimates(estimates: npt.ArrayLike, drawn: Array, units: float) -> pd.DataFrame:
    """Estimates with the intervals of their draws of so many units, shape (samples, estimates)."""
    ends = [interval(column, units)[:2] for column in drawn.T]
    return pd.DataFrame(np.column_stack([np.asarray(estimates, dtype=float), ends]), columns=ENDS)
