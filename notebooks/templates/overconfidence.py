"""Page 15, repeated answers (paper 001, section 5.4, Figure 1): its measures, tables, figures and conclusions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd

from probekit.metrics import (
    Interval,
    effective_number,
    gini,
    half_samples,
    repetition,
    spread,
    total_variation,
)
from probekit.metrics.exact import associated
from probekit.probes.probe import Probe
from probekit.report.tables import by, pick
from probekit.report.text import number, title
from probekit.report.verdicts import conclude

from notebooks.templates.ask import FLOORS, NEUTRAL, Row, Tables, lineages, tested, unless_low
from notebooks.templates.draws import equal_prompts
from notebooks.templates.text import GOLD, MEAN, both_styles

FREQUENT = 15  # entities, as in Figure 1
FEWEST = 4  # models, over which no correlation is shown
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
PERCENT = MEASURES[1:4]
GOLD_HAS = ("distinct_1", "repetition", "commonest", "effective", "gini")  # measures that the right answers have too
CAPTIONS = {
    "variety": "How varied the first answers are, and how varied the right answers are",
    "gaps": "Templates less natural sentences, on the same facts",
    "distinct": "Different entities among the first 1, 5 and 10 answers, in % of the candidates",
    "entities": "The 15 most frequent entities among the ten best answers, and their share of the prompts",
    "confidence": "How sure a model is: margin of its first answer over the second, lead of a wrong one over the gold",
    "floors": FLOORS,
}


@dataclass(frozen=True)
class Answers:
    """What one model answered to the prompts of one probe, one prompt per fact.

    ``top`` (n, k) and ``gold`` (n,) are places in ``names``; ``relation`` (n,) numbers the relations; ``right`` (n,)
    says where the first answer is the fact's own object; ``margin`` (n,) is the score of the first answer minus that of
    the second, ``lead`` (n,) minus that of the gold. ``candidates`` counts the entities of the probe.
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
        """The right answers, in place of the model's."""
        nothing = np.zeros(len(self.gold))
        right = np.ones(len(self.gold), dtype=bool)
        return replace(self, model=GOLD, top=self.gold[:, None], right=right, margin=nothing, lead=nothing)


def collect(ranks: pd.DataFrame, probes: Sequence[Probe], seed: int = 0) -> list[Answers]:
    """The answers of all models, by data set, on the prompts of ``draws.equal_prompts``.

    Args:
        ranks: the rows of ``ask.ask_all``.
        probes: as asked.
        seed: of the draw of one sentence per fact.
    """
    candidates = {probe.name: len(probe.entities) for probe in probes}
    collected = []
    for (dataset, probe), prompts in equal_prompts(probes, seed).groupby(["dataset", "probe"], sort=False):
        for model, rows in pick(ranks, probe=probe).groupby("model", sort=False):
            rows = rows.set_index("prompt_id").loc[prompts["prompt_id"]]
            depth = int(rows["top"].str.len().max())  # where fewer compete, the first stands again behind the last
            top = np.array([[*best, *best[:1] * (depth - len(best))] for best in rows["top"]], dtype=object)
            scores = np.array([[*best, *best[:1] * (depth - len(best))] for best in rows["top_scores"]], dtype=float)
            codes, names = pd.factorize(np.concatenate([top.ravel(), rows["object"].to_numpy(dtype=object)]))
            second = scores[:, 1] if depth > 1 else scores[:, 0]
            collected.append(
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
    return collected


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
    first, relation, size = top[:, 0], answers.relation[chosen], len(answers.names)
    counts = np.bincount(first, minlength=size)
    golds = np.bincount(answers.gold[chosen], minlength=size)
    within = np.bincount(relation * size + first, minlength=(relation.max() + 1) * size).reshape(-1, size)
    padded = np.concatenate([counts, np.zeros(max(0, answers.candidates - size))])
    return np.array(
        [
            right.mean(),
            *(100 * len(np.unique(top[:, :k])) / answers.candidates for k in (1, 5, 10)),
            repetition(first, relation),
            within.max(1).sum() / len(chosen),
            effective_number(counts),
            gini(padded),
            total_variation(counts, golds),
            _mean(answers.margin[chosen][~right]),
            _mean(answers.margin[chosen][right]),
            _mean(answers.lead[chosen][~right]),
        ]
    )


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else float("nan")


def tables(ranks: pd.DataFrame, probes: Sequence[Probe], seed: int = 0) -> dict[str, pd.DataFrame]:
    """All tables of the page: ``variety, gaps, distinct, entities, confidence``.

    What depends on the number of prompts is given for a random half of them too, as the mean and the middle 95% of
    many halves.

    Args:
        ranks: the rows of ``ask.ask_all`` for all of ``probes``.
        probes: as asked.
        seed: of the draw of one sentence per fact.
    """
    collected = collect(ranks, probes, seed)
    levels: list[Row] = []
    gaps: list[Row] = []
    for _, group in groupby(collected, key=lambda answers: answers.dataset):
        answers = list(group)
        if len(answers[0].gold) > 1:
            for table, rows in zip((levels, gaps), _measured(answers), strict=True):
                table += rows
    level = pd.DataFrame(levels)
    return {
        "distinct": _columns(level, "prompts", "candidates", *PERCENT, *(f"half_{name}" for name in PERCENT)),
        "variety": _columns(level, "prompts", "repetition", "commonest", "effective", "gini", "distance", "accuracy"),
        "confidence": _columns(level, "prompts", "margin_wrong", "margin_right", "lead"),
        "gaps": pd.DataFrame(gaps),
        "entities": pd.DataFrame(list(_entities(collected))),
    }


def _columns(table: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Columns by name with their intervals, and of the rows those that have any of them."""
    if table.empty:
        return table
    columns = [c for name in names for c in (name, f"{name}_low", f"{name}_high") if c in table]
    estimates = [name for name in names if f"{name}_low" in table]
    return table.dropna(subset=estimates, how="all")[["model", "probe", *columns]].reset_index(drop=True)


def _measured(group: list[Answers]) -> tuple[list[Row], list[Row]]:
    """Rows of levels and of template less natural, for one data set.

    All come from the same random halves of the facts, so that styles and models are compared on the same facts.
    """
    golds = {answers.probe: answers.of_golds() for answers in group}
    all_answers = [*group, *golds.values()]
    place = {(answers.model, answers.probe): number for number, answers in enumerate(all_answers)}
    styles = {answers.style: answers.probe for answers in group}
    models = list(dict.fromkeys(answers.model for answers in group))
    pair = (styles["template"], styles["natural"]) if {"template", "natural"} <= set(styles) else ()
    sides = [[place[model, probe] for model in models] for probe in pair]

    def statistic(chosen: np.ndarray) -> np.ndarray:
        table = np.array([measure(answers, chosen) for answers in all_answers])
        numbers = [table.ravel()]
        if sides:
            with np.errstate(invalid="ignore"):  # of two that are infinite there is none
                differences = table[sides[0]] - table[sides[1]]
            numbers += [differences.ravel(), differences.mean(0)]
        return np.concatenate(numbers)

    halves = iter(half_samples(len(group[0].gold), statistic))
    levels = [_level(answers, _next(halves)) for answers in all_answers]
    gaps: list[Row] = []
    for model in [*models, MEAN] if sides else ():
        for name, gap in _next(halves).items():
            if model != MEAN or len(models) > 1:
                row: Row = {"dataset": group[0].dataset, "model": model, "measure": name, "facts": len(group[0].gold)}
                gaps.append(row | gap.row("difference") | {"units": gap.effective})
    return levels, gaps


def _next(halves: Iterator[Interval]) -> dict[str, Interval]:
    return {name: next(halves) for name in MEASURES}


def _level(answers: Answers, halves: Mapping[str, Interval]) -> Row:
    whole = dict(zip(MEASURES, measure(answers, np.arange(len(answers.gold))), strict=True))
    gold = answers.model == GOLD
    row: Row = {"model": answers.model, "probe": answers.probe, "prompts": len(answers.gold)}
    row |= {"candidates": answers.candidates} | {name: whole[name] for name in PERCENT if not gold or name in GOLD_HAS}
    for name, half in halves.items():
        if not gold or name in GOLD_HAS:
            row |= spread(f"half_{name}" if name in PERCENT else name, half)
    return row


def _entities(collected: Sequence[Answers]) -> Iterator[Row]:
    """Share of prompts whose ten best hold an entity, for the most frequent entities, as in Figure 1.

    Names are given for the first model alone.
    """
    for answers in collected:
        counts = np.bincount(answers.top.ravel(), minlength=len(answers.names))
        codes = np.argsort(-counts, kind="stable")[:FREQUENT]
        member = (answers.top[:, :, None] == codes).any(1)
        spans = half_samples(len(member), partial(_shares, member)) if len(member) > 1 else []
        for place, span in enumerate(spans, start=1):
            code = codes[place - 1]
            if counts[code]:
                row = {"model": answers.model, "probe": answers.probe, "place": place}
                row["entity"] = answers.names[code] if answers.model == collected[0].model else ""
                row["share"] = counts[code] / len(member)
                yield row | {"share_low": span.low, "share_high": span.high}


def _shares(member: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    return np.asarray(member[chosen].mean(0))


# ---- what the page shows -------------------------------------------------------------------------------------------


def repetitions(tables: Tables) -> tuple[pd.DataFrame, dict[str, float]]:
    """For ``forest``: ``repetition`` of every model, with ``dataset`` and ``style``; data set -> that of the golds."""
    variety = both_styles(tables["variety"])
    golds = pick(variety, model=GOLD).groupby("dataset")["repetition"].mean()
    return variety[variety["model"] != GOLD], {str(name): float(value) for name, value in golds.items()}


def distinct_shown(distinct: pd.DataFrame) -> pd.DataFrame:
    """What the paper prints beside each model's name, as text: a row per probe, a column per model, and in each cell
    the percentages among the first 1, 5 and 10 answers; of the right answers the first alone."""
    probes, models = distinct["probe"].unique(), distinct["model"].unique()
    cells = {(row["model"], row["probe"]): row for row in distinct.to_dict("records")}
    shown = {"Probe": [title(probe) for probe in probes]}
    shown["Prompts"] = [f"{distinct.loc[distinct['probe'] == probe, 'prompts'].iloc[0]:,}" for probe in probes]
    for model in models:
        shown[title(model)] = [_percentages(cells.get((model, probe), {})) for probe in probes]
    return pd.DataFrame(shown)


def _percentages(row: Mapping[str, Any]) -> str:
    values = [row[name] for name in PERCENT if name in row and row[name] == row[name]]
    return "\N{NO-BREAK SPACE}/ ".join(number(value, 0 if value >= 10 else 1) for value in values) or "–"


def frequent(entities: pd.DataFrame) -> pd.DataFrame:
    """The most frequent entities of the first model, as text: a column per probe, each with its share of prompts."""
    named = pick(entities, model=entities["model"].iloc[0])
    columns = {}
    for probe, rows in named.groupby("probe", sort=False):
        shares = zip(rows["entity"], rows["share"], strict=True)
        columns[title(str(probe))] = pd.Series([f"{name} ({share:.0%})" for name, share in shares])
    table = pd.DataFrame(columns).fillna("–")
    table.insert(0, "Place", range(1, len(table) + 1))
    return table


def conclusions(tables: Tables) -> pd.DataFrame:
    """Section 5.4: answers repeat more by template, model by model; models that repeat theirs perform worse.

    The second is a rank correlation over lineages of models, tested by random orders. Models tuned on a style are
    left out of it, since that decides how often they repeat themselves; of ``FEWEST`` or fewer none is shown.
    """
    gaps = pick(tables["gaps"], measure="repetition")
    rows = conclude("001-14a", gaps[gaps["model"] != MEAN] if len(gaps) else gaps, "difference", unit="fact")
    variety = tables["variety"] if {"tuned", "accuracy"} <= set(tables["variety"]) else pd.DataFrame()
    for keys, group in by(pick(variety, tuned=list(NEUTRAL)), ["probe"]):
        if len(group) > FEWEST:
            test = associated(group["repetition"], group["accuracy"], lineages=lineages(group))
            rows.append({"claim": "001-14b", "dataset": keys["probe"], "unit": "lineage"} | tested(test, "below"))
    texts = {"model": "", "tuned": "", "lineage": "", "verdict": ""}
    columns = ["claim", "dataset", "unit", "estimate", "low", "high", "n", "units", *texts]
    return unless_low(pd.DataFrame([texts | row for row in rows], columns=columns), tables)
