"""Page 92: how often each rule of a verdict decides where it should not, and where something is to be found.

Simulated studies go through the same intervals and the same rules as the real ones, and the decisions are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from probekit.metrics.decisions import LEVEL, MOST, combined, detectable, members, tallied
from probekit.metrics.decisions import Rule as Tally
from probekit.report import forest
from probekit.report.published import cell as printed
from probekit.report.published import numbers
from probekit.report.tables import cell
from probekit.report.text import number
from probekit.report.verdicts import concluded

from notebooks.claims import simulated as sim
from notebooks.claims.simulated import Draw, Generator, crossed, models

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Study = Callable[[Generator], pd.DataFrame]  # rows of conclusions of a simulated study
LETTERS = 36  # of a line of the chart's labels
STUDIES = 20  # simulated studies without an effect whose intervals say what is detectable
CAPTIONS = {"rules": "Every rule on simulated data: decisions under its worst null, and under effects"}


class Rule(NamedTuple):
    """A rule of ``verdicts.py`` (or one that was given up) with data to try it on.

    ``effect``: a key of ``effects()``, the difference of the simulated study where it has one. ``nulls``: name -> a
    study of which no decision, either way, is right.
    """

    name: str
    rule: Tally
    data: str
    effect: str
    draw: Draw
    nulls: Mapping[str, Study] = {}
    used: bool = True


HITS, RANKS, METHODS, WORDS, STRONG, GAIN, ALIKE, MOVES = (
    "001: Acc@1 on T-REx, natural less template, mean of the models",
    "002: Table 3, BERT-base, Understand less Misunderstand",
    "003: Table 9, BERT-base, MAP of attention less gradients",
    "a third of the mean HONEST score of 004: Table 1",
    "a correlation of 0.8",
    "002: Table 2, Acc@1 with context less without, mean of the models",
    "one more pair of answers in ten alike",
    "002: Table 1, rank change of the target after an incorrect entity, mean of the models",
)
FACTS, STEPS, FEW = "the same 300 facts", "320 documents, 1 to 130 steps each", "20 originals, 3 records each"
CROSSED = "40 identities crossed with 15 predicates"
FAR = 0.3  # an effect that is always seen
BY_PREDICATE = (0.0, 0.07)  # what goes alike in crossed units
RARE = 0.025  # Acc@1 by template on Google-RE, as 001 prints it
NOTHING, ONE, COIN = "no effect anywhere", "one at zero, all others far above", "a coin says on which side each lies"
BALANCED = "few originals balance many"
BY_LINEAGE = "a coin for each lineage"
RELEASED = (3, 2, 3, 3, 4, 5)  # judged models of 004 that go on from one family
BY_START, KIN = "a coin for each start, not for each model", "models of one lineage alike (0.9)"


def nothing(draw: Draw, name: str = NOTHING) -> dict[str, Study]:
    return {name: partial(draw, effect=0.0)}


def one_at_zero(draw: Draw, count: int) -> dict[str, Study]:
    """What all do, where one of them does not."""
    return {ONE: partial(draw, effect=np.append(0.0, np.full(count - 1, FAR)))}


def coin(draw: Draw, count: int, sizes: int | Sequence[int] = 1, name: str = COIN) -> dict[str, Study]:
    """What most do, where so many models truly differ and it is as many on either side; or so many lineages, which have
    ``sizes`` models that lie on one side."""
    return {name: lambda generator: draw(generator, np.repeat(generator.choice([-FAR, FAR], count), sizes))}


def differing(generator: Generator) -> pd.DataFrame:
    """Twenty models that differ about a mean of zero, as predicates do in all of them."""
    effects = generator.normal(0, 0.1, 20)
    return crossed(20, 1.0, BY_PREDICATE, mean=True)(generator, effects - effects.mean())


MEAN, EITHER = crossed(20, mean=True), crossed(20, either=True)
LINEAGES = sim.of_lineages(crossed(20), RELEASED)
RULES = (
    Rule("One model, facts drawn", "direction", "400 facts, 1 to 3 prompts each", HITS, sim.facts(1 / 9),
         nothing(sim.facts(RARE), "no effect, and few hits")),
    Rule("One model, documents drawn", "direction", STEPS, RANKS, sim.documents,
         nothing(partial(sim.documents, whole=0.2), "few documents balance many")
         | nothing(sim.copied, "documents of page 21, centred and drawn anew")),
    Rule("One model, random halves of its facts", "direction", "400 facts in two ways, half answered alike in both",
         ALIKE, sim.halves),
    Rule("One dimension, originals drawn", "direction", FEW, METHODS, sim.originals,
         nothing(partial(sim.originals, skewed=True), BALANCED)),
    Rule("One model, crossed units", "direction", CROSSED, WORDS, crossed(1),
         nothing(crossed(1, spread=BY_PREDICATE), "predicates alone go alike")),
    Rule("Mean of 20 models, crossed units", "direction", CROSSED, WORDS, MEAN,
         {"models differ about zero, predicates go alike": differing}),
    Rule("Both of 2 differences", "direction", f"twice {FEW}", METHODS, sim.smaller, one_at_zero(sim.smaller, 2)),
    Rule("All of 3 dimensions", "all", f"three times {FEW}", METHODS, sim.dimensions, one_at_zero(sim.dimensions, 3)),
    Rule("All of 4 models", "all", FACTS, HITS, models(4), one_at_zero(models(4), 4)),
    Rule("All of 21 models", "all", FACTS, HITS, models(21), one_at_zero(models(21), 21)),
    Rule("All of 20 models, crossed units", "all", CROSSED, WORDS, crossed(20), one_at_zero(crossed(20), 20)),
    Rule("All of 20 models, either side", "all", CROSSED, WORDS, EITHER, one_at_zero(EITHER, 20)),
    Rule(f"Most of {MOST} models", "most", FACTS, HITS, models(MOST), coin(models(MOST), MOST)),
    Rule("Most of 6 lineages, 20 models, crossed units", "most", CROSSED, WORDS, LINEAGES,
         coin(LINEAGES, 20) | coin(LINEAGES, 6, RELEASED, BY_LINEAGE)),
    Rule("Some of 4 models", "some", FACTS, HITS, models(4),
         nothing(models(4)) | nothing(models(4, 0.9), "no effect, models alike (0.9)")),
    Rule("Some of 3 pairs of models swap", "some", f"{FACTS}, in two ways", HITS, sim.swaps,
         {"apart in one way, alike in the other": partial(sim.swaps, effect=np.array([[FAR, FAR / 2, 0], [0, 0, 0]]))}),
    Rule("Exact tests of a table, by Holm", "direction", "16 models of 001 on 3 data sets, labels permuted", HITS,
         sim.printed_family, nothing(sim.printed_family, "labels permuted") | one_at_zero(sim.printed_family, 3)),
    Rule("Sign test over starts", "direction", "the 9 models and 4 starts of 002, twice", GAIN, sim.printed_signs,
         nothing(partial(sim.printed_signs, by_start=True), BY_START)),
    Rule("Correlation over lineages", "direction", "16 models of 8 lineages", STRONG, sim.over_models,
         nothing(partial(sim.over_models, alike=0.9), KIN)),
    Rule("Correlation over dimensions", "direction", "6 models, 5 dimensions", STRONG, sim.over_dimensions,
         nothing(sim.over_dimensions, "models alike")),
    Rule("Floor: above the commonest answers", "direction", "400 facts of 10 relations", HITS, sim.floor,
         nothing(sim.floor, "hits by chance as often as the commonest answers")
         | {"always the commonest answer of the relation": partial(sim.floor, effect=0.0, by_relation=True)}),
    Rule("Mean change of rank, documents drawn", "direction", "173 documents, of which a few move far", MOVES,
         sim.rank_changes, nothing(sim.rank_changes), used=False),
    Rule("Most of 20 models of 6 lineages, model by model", "most", CROSSED, WORDS, crossed(20),
         coin(crossed(20), 6, RELEASED, BY_LINEAGE), used=False),
    Rule("Steps drawn, not documents", "direction", STEPS, RANKS, sim.steps_alone, used=False),
    Rule("Sign test over models", "direction", "9 models of 002, of 4 starts", GAIN,
         partial(sim.printed_signs, models=True),
         nothing(partial(sim.printed_signs, by_start=True, models=True), BY_START), used=False),
    Rule("Correlation over models", "direction", "8 models of 4 lineages", STRONG,
         partial(sim.over_models, models=True),
         nothing(partial(sim.over_models, alike=0.9, models=True), KIN), used=False),
    Rule("Plain percentiles of 20", "direction", FEW, METHODS, sim.short_intervals,
         nothing(partial(sim.short_intervals, skewed=True), BALANCED), used=False),
    Rule("Smallest of 3 dimensions", "direction", f"three times {FEW}", METHODS, sim.smallest, used=False),
    Rule("Mean of 4 models, facts drawn", "direction", "300 facts, models that differ", HITS, sim.mean_of_models,
         nothing(sim.mean_of_models, "models differ about zero"), used=False),
    Rule("Four data sets, prompts drawn", "direction", "4 means, prompts within each", STRONG, sim.four_sets,
         used=False),
    Rule("More than half of 21 signs", "direction", FACTS, HITS, sim.signs, used=False),
)  # fmt: skip


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
        GAIN: float(sim.printed_gains().mean()),
        ALIKE: 0.1,
        MOVES: abs(float(numbers("002", "1")["O_a incorrect: O_t"].mean())),
    }


def repeated(study: Study, draws: int, seed: int = 0) -> pd.DataFrame:
    """The conclusions of so many simulated studies, numbered by ``study``."""
    generator = np.random.default_rng(seed)
    rows = pd.concat([study(generator) for _ in range(draws)], keys=range(draws), names=["study", None])
    return concluded(rows.reset_index("study").assign(claim=""))


def signs_of(rows: pd.DataFrame, rule: Tally) -> pd.Series:
    """What a rule says of the conclusions of each study."""
    if rule == "direction":
        return rows["verdict"]
    return pd.Series([tallied(group, rule)[0] for _, group in rows.groupby("study")])


def tried(rule: Rule, study: Study, draws: int, seed: int = 0) -> pd.Series:
    """Share of simulated studies in which a rule agrees and contradicts: ``agrees, contradicts``."""
    shares = signs_of(repeated(study, draws, seed), rule.rule).value_counts(normalize=True)
    return shares.reindex(["agrees", "contradicts"], fill_value=0.0)


def least_effect(rule: Rule, studies: int = STUDIES) -> float:
    """What ``detectable`` says of simulated studies without an effect, their median; nan of tests without intervals."""
    rows = repeated(partial(rule.draw, effect=0.0), studies)
    return float(np.median([detectable(group, rule.rule) for _, group in rows.groupby("study")]))


def tables(draws: int) -> dict[str, pd.DataFrame]:
    """Every rule under its nulls in so many studies, and in half as many with a paper's effect and with the detectable.

    Returns:
        ``rules``: one row per rule, ``used`` or given up. ``wrong, low, high``: share of decisions, either way, under
        ``null``, of those tried the one with most; ``agrees``: of those that say the claim holds; ``exact``: the same
        as ``wrong`` without simulation, where it is known. ``power``: share
        that agree where there is an effect. ``detectable``: the effect that is decided in 80% of studies by closed
        form, and ``found``: the share decided when studies have it. All shares with exact intervals.
    """
    rows, sizes = [], effects()
    for rule in RULES:
        tries = {name: tried(rule, study, draws) for name, study in (rule.nulls or nothing(rule.draw)).items()}
        null = max(tries, key=lambda name: tries[name].sum())
        labels = {"rule": rule.name, "used": rule.used, "data": rule.data, "null": null}
        least, size = least_effect(rule) if rule.used else np.nan, sizes[rule.effect]
        row = labels | _share("wrong", tries[null].sum(), draws) | {"agrees": tries[null]["agrees"]}
        voices = members(rule.draw(np.random.default_rng(0), 0.0), rule.rule).shape[1]
        row["exact"] = of_a_coin(voices) if rule.used and null in (COIN, BY_LINEAGE) else np.nan
        row |= {"effect": size, "like": rule.effect}
        row |= _share("power", tried(rule, partial(rule.draw, effect=size), draws // 2)["agrees"], draws // 2)
        at = tried(rule, partial(rule.draw, effect=least), draws // 2).sum() if least == least else np.nan
        rows.append(row | {"detectable": least} | _share("found", at, draws // 2) | {"draws": draws})
    return {"rules": pd.DataFrame(rows)}


def of_a_coin(count: int) -> float:
    """In what share of studies ``most`` decides, either way, where a coin says on which side each of so many lies."""
    above = np.arange(count) < np.arange(count + 1)[:, None]
    decides = combined("most", above, ~above, above, ~above) != 0
    return float(stats.binom.pmf(np.arange(count + 1), count, 0.5)[decides].sum())


def _share(name: str, share: float, of: int) -> dict[str, float]:
    """A share with its exact interval; of ``wrong`` the ends are ``low, high``."""
    low, high = stats.binomtest(round(share * of), of).proportion_ci() if share == share else (np.nan, np.nan)
    before = "" if name == "wrong" else f"{name}_"
    return {name: share, f"{before}low": low, f"{before}high": high}


def erring(rules: pd.DataFrame) -> pd.DataFrame:
    """The rules in use that decide wrongly in more than one study of twenty under their worst null, beyond chance."""
    return rules[rules["used"] & (rules["exact"].fillna(rules["low"]) > LEVEL)]


def chart(tables: dict[str, pd.DataFrame]) -> Figure:
    """Decisions under the worst null and under an effect, rules in use above those given up."""
    rules = tables["rules"]
    none = rules.rename(columns={"wrong": "share"})[["rule", "share", "low", "high"]].assign(study="its worst null")
    some = rules[["rule"]].assign(share=rules["power"], low=rules["power_low"], high=rules["power_high"])
    table = pd.concat([none, some.assign(study="the effect in the table")])
    table["rule"] = table["rule"].map(lambda name: fill(name, LETTERS))
    used = table["rule"].isin(table["rule"].iloc[: rules["used"].sum()])
    gap = pd.DataFrame({"rule": ["Given up:"], "study": table["study"].iloc[:1]})
    table = pd.concat([table[used], gap, table[~used]])
    return forest(table, "share", "rule", series="study", line=LEVEL, xlabel="Simulated studies that are decided")


def shown(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """The table for reading: the rule, its worst null, wrong decisions, power and what is detectable."""
    rules = tables["rules"]
    use = np.where(
        rules["rule"].isin(erring(rules)["rule"]), "in use, errs", np.where(rules["used"], "in use", "given up")
    )
    rows = rules.to_dict("records")
    return pd.DataFrame(
        {
            "Rule": rules["rule"],
            "Here": use,
            "Simulated data": rules["data"],
            "Worst null": rules["null"],
            "Wrong": [cell(row, "wrong") for row in rows],
            "Power": [cell(row, "power") for row in rows],
            "Effect": [f"{size:.3g} ({like})" for size, like in zip(rules["effect"], rules["like"], strict=True)],
            "Detectable": ["–" if row["found"] != row["found"] else number(row["detectable"], 3) for row in rows],
            "Decided there": ["–" if row["found"] != row["found"] else cell(row, "found") for row in rows],
        }
    )
