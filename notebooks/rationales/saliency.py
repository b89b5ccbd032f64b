"""Page 31, which words a prediction rests on (paper 003, Tables 5 and 9): its tables; formulas are in ``measures``."""

from __future__ import annotations

import html
from collections import defaultdict
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import pandas as pd

from probekit.metrics import effective_units, estimate_row, resampled_means
from probekit.probes.rationales import DIMENSIONS, RationaleSet
from probekit.report.html.heat import weighed_sentence
from probekit.report.tables import across, by, cell, per, pick
from probekit.report.text import number, title
from probekit.report.verdicts import conclude
from probekit.scoring.saliency import random_saliency

from notebooks.rationales import ask, beside, erasure, paper
from notebooks.rationales.ask import ATTENTION, GRADIENTS, OF_GOLD, ORACLE, RANDOM, RANDOM_WEIGHTS, TRAINED, Saliency
from notebooks.rationales.beside import like_the_paper
from notebooks.rationales.measures import dimension_ratios, faithfulness, plausibility, predicted_rationale
from notebooks.rationales.paper import ALL, CHINESE, FEW, PRINTED
from notebooks.rationales.prediction import ECHO, RIGHT, WRONG, floors, judged, outcomes

F1, MAP, PCC, MAP_KEPT, PCC_ALL, KEPT = "F1", "MAP", "PCC", "MAP*", "PCC, all pairs", "share kept"
PCC_APART = "PCC, all pairs, replaced words apart"
F1_MARKS, MAP_WORDS = "F1, punctuation open", "MAP, words alone"
EXACT = (F1, F1_MARKS, MAP, MAP_WORDS)  # metrics of which random scores have an expectation by formula
SHOWN = {
    (F1,): "Plausibility (F1, ours without punctuation)",
    (MAP,): "Faithfulness (MAP)",
    (PCC, MAP_KEPT): "Faithfulness (PCC, and MAP*)",
}
KEYS = ["dataset", "model", "method", "weights"]
BETTER, LEARNED, SENSIBLE = "003-08c", "method above random scores", "trained above random weights"
OF_THE_GOLD = "attention above gradients of the gold"
FILLED = "filled rightly"  # in place of a dimension: the records whose first filling is a gold
CLAIMS = {F1: BETTER, F1_MARKS: BETTER, MAP: "003-08e"}  # of attention less integrated gradients
JUDGED_ON = {F1: ALL, F1_MARKS: FILLED, MAP: ALL}
BOUND = 0.01  # of the change that integrated gradients explain
OPEN = 1  # weighed sentences of a set that are not folded
NO_MODEL, NAN = "no model", float("nan")
CAPTIONS = {
    "interpretability": "Every metric of every source of word scores, by dimension",
    "contrasts": "Differences on the same records: attention minus gradients, each method minus its random controls",
    "outcomes": "F1 of word scores by what the model fills in: right, an echo of the text, or another wrong word",
    "floors": "Accuracy of first fillings beside that of the best constant answer",
    "against": "F1 and MAP of two models on the same records: the first minus the second",
    "erasure": "What a prediction loses without its best-scored words, and what it loses with them alone",
    "erased": "Differences of these losses by pairs of methods and controls, above zero where the first is better",
    "completeness": "Completeness error of integrated gradients: its distribution over records",
    "errors": "Completeness error of integrated gradients, record by record",
    "words": "Word scores of one original per dimension",
}
Tables = Mapping[str, pd.DataFrame]


class Values(NamedTuple):
    """One metric of one saliency: a value per record or pair, of which some count.

    Args:
        values: shape (n,), 0 where it does not count.
        counted: shape (n,).
        originals: id of the original of each; those of one are drawn together.
        dimensions: of each.
        copies: of each copy with random weights, whose mean the values are, shape (copies, n).
    """

    values: np.ndarray
    counted: np.ndarray
    originals: np.ndarray
    dimensions: np.ndarray
    copies: np.ndarray | None = None

    @classmethod
    def of(cls, rows: pd.DataFrame, values: pd.Series, counted: pd.Series | None = None) -> Values:
        """Of records or pairs with ``original_id`` and ``dimension``; without ``counted`` all count."""
        originals = rows["original_id"].where(rows["original_id"] != "", rows["id"]).to_numpy()
        inside = np.ones(len(rows), bool) if counted is None else counted.to_numpy(bool)
        return cls(np.where(inside, values.to_numpy(float), 0.0), inside, originals, rows["dimension"].to_numpy())

    def less(self, other: Values) -> Values:
        """The paired differences; both hold the same records in the same order, all of which count."""
        return self._replace(values=self.values - other.values, copies=None)

    @classmethod
    def joined(cls, several: Sequence[Values], exact: bool) -> Values:
        """Of copies of a network: the mean for each record where all count (``exact``), else all values of all."""
        if exact:
            copies = np.stack([one.values for one in several])
            return several[0]._replace(values=copies.mean(0), copies=copies)
        return cls(*(np.concatenate([one[place] for one in several]) for place in range(4)))

    def range(self, member: np.ndarray) -> dict[str, float]:
        """``least, most``: the means of the copies among ``member`` that differ most; nan without copies."""
        means = [NAN] if self.copies is None else self.copies[:, self.counted & member].mean(1).tolist()
        return {"least": min(means), "most": max(means)}

    def members(self) -> dict[str, np.ndarray]:
        """All, and of several dimensions each, as rows."""
        present = [name for name in DIMENSIONS if (self.dimensions == name).any()]
        each = {name: self.dimensions == name for name in present} if len(present) > 1 else {}
        return {ALL: np.ones(len(self.values), bool)} | each

    def mean(self, member: np.ndarray, seed: int = 0) -> dict[str, float]:
        """``estimate, low, high`` of the mean of what counts among ``member``, over originals; nan of nothing."""
        chosen = self.counted & member
        drawn = resampled_means(self.values[:, None], self.originals.tolist(), chosen[:, None], seed=seed)
        mean = float(self.values[chosen].mean()) if chosen.any() else NAN
        return estimate_row(mean, drawn, self.originals[chosen].tolist())


Scored = Sequence[tuple[Saliency, Mapping[str, Values]]]


def values(items: RationaleSet, saliency: pd.DataFrame | None, seed: int = 0) -> dict[str, Values]:
    """The metrics of every record (F1) and pair (the others) by name.

    PCC and MAP* count kept pairs (p below 0.05), *PCC, all pairs* those where it is defined (with replaced words
    paired, and apart), and *share kept* is over all pairs of a kind that PCC is made for. No saliency stands for random
    scores: the expectations of F1 and MAP, and for the rest all values of ``ask.DRAWS`` draws from ``seed`` on.
    """
    marked = {F1: plausibility(items, saliency), F1_MARKS: plausibility(items, saliency, punctuation=True)}
    paired = {MAP: faithfulness(items, saliency), MAP_WORDS: faithfulness(items, saliency, punctuation=False)}
    metrics = {name: Values.of(rows, rows["f1"]) for name, rows in marked.items()}
    metrics |= {name: Values.of(rows, rows["ap"]) for name, rows in paired.items()}
    pairs = paired[MAP]
    if saliency is None:
        draws = [faithfulness(items, random_saliency(items, seed + n)) for n in range(ask.DRAWS)]
        pairs = pd.concat(draws, ignore_index=True)
    metrics[PCC] = Values.of(pairs, pairs["pcc"], pairs["kept"])
    metrics[MAP_KEPT] = Values.of(pairs, pairs["ap"], pairs["kept"])
    metrics[PCC_ALL] = Values.of(pairs, pairs["pcc"], pairs["pcc"].notna())
    metrics[PCC_APART] = Values.of(pairs, pairs["pcc_apart"], pairs["pcc_apart"].notna())
    metrics[KEPT] = Values.of(pairs, pairs["kept"].astype(float), pairs["eligible"])
    return {name: metric for name, metric in metrics.items() if len(metric.values)}


def tables(
    sets: Mapping[str, RationaleSet],
    predictions: pd.DataFrame,
    saliencies: Sequence[Saliency],
    losses: pd.DataFrame,
    seed: int = 0,
) -> dict[str, pd.DataFrame]:
    """All tables of the page.

    Args:
        sets: of ``ask.load_sets``.
        predictions: of ``ask.predict_all``.
        saliencies: of ``attributing.attribute_all``.
        losses: of ``attributing.erase_all``.
        seed: of the bootstrap and of random scores.
    """
    scored = joined([(saliency, values(sets[saliency.dataset], saliency.table, seed)) for saliency in saliencies])
    incomplete = errors(saliencies)
    return {
        "interpretability": interpretability(scored, seed),
        "contrasts": contrasts(scored, filled_rightly(sets, predictions), seed),
        "against": against(scored, seed),
        "outcomes": by_outcome(sets, predictions, scored, seed),
        "erasure": erasure.means(losses, seed),
        "erased": erasure.contrasts(losses, seed),
        "floors": floors(predictions, sets),
        "completeness": completeness(incomplete),
        "errors": incomplete,
        "words": words(sets, predictions, saliencies),
    }


def joined(scored: Scored) -> list[tuple[Saliency, Mapping[str, Values]]]:
    """The same with the copies of a network as one."""
    groups = defaultdict[tuple[str, ...], list[tuple[Saliency, Mapping[str, Values]]]](list)
    for saliency, metrics in scored:
        groups[tuple(saliency.labels().values())].append((saliency, metrics))
    return [
        (of[0][0], {n: Values.joined([m[n] for _, m in of], n in EXACT) for n in of[0][1]} if len(of) > 1 else of[0][1])
        for of in groups.values()
    ]


def interpretability(scored: Scored, seed: int = 0) -> pd.DataFrame:
    """Every metric of every saliency by dimension, with 95% intervals over originals.

    Returns:
        ``dataset, model, method, weights, dimension, metric, n`` (records or pairs that count), ``estimate, low,
        high``; an estimate of nothing is nan; ``least, most`` of the copies with random weights.
    """
    rows = [
        saliency.labels()
        | {"dimension": dimension, "metric": name, "n": int((metric.counted & member).sum())}
        | metric.mean(member, seed)
        | metric.range(member)
        for saliency, metrics in scored
        for name, metric in metrics.items()
        for dimension, member in metric.members().items()
    ]
    return pd.DataFrame(rows)


def by_outcome(
    sets: Mapping[str, RationaleSet], predictions: pd.DataFrame, scored: Scored, seed: int = 0
) -> pd.DataFrame:
    """F1 of each trained model's word scores apart by what it fills in.

    Returns:
        ``dataset, model, method, outcome, n, estimate, low, high`` and ``chance``, what random scores are expected to
        reach on the same records.
    """
    rows = []
    for saliency, metrics in scored:
        if saliency.weights == TRAINED and F1 in metrics:
            labels, items = {"dataset": saliency.dataset, "model": saliency.model}, sets[saliency.dataset]
            chance = plausibility(items, None)
            filled = outcomes(items, pick(predictions, **labels)).reindex(chance["id"]).to_numpy()
            for outcome in [name for name in (RIGHT, ECHO, WRONG) if name in filled]:
                member = filled == outcome
                row = labels | {"method": saliency.method, "outcome": outcome, "n": int(member.sum())}
                row |= metrics[F1].mean(member, seed)
                rows.append(row | {"chance": float(chance["f1"][member].mean())})
    return pd.DataFrame(rows)


def filled_rightly(sets: Mapping[str, RationaleSet], predictions: pd.DataFrame) -> dict[tuple[str, str], np.ndarray]:
    """Set and model -> of its records with marked words, in order, which are filled with a gold."""
    right = {}
    for labels, rows in by(predictions, ["dataset", "model"]):
        records = sets[labels["dataset"]].items
        marked = records.loc[records["rationales"].map(bool), "id"]
        right[labels["dataset"], labels["model"]] = (rows.set_index("id")["rank"] == 1)[marked].to_numpy()
    return right


def contrasts(scored: Scored, right: Mapping[tuple[str, str], np.ndarray], seed: int = 0) -> pd.DataFrame:
    """Differences of F1 and of MAP, in both readings, on the same records: attention less integrated gradients (claim
    003-08) of the prediction and of the gold, each method less random scores, and each method on the trained model less
    on random weights, of whose copies the mean is taken.

    Where the filling is wrong, gradients of the prediction explain that word, attention explains none, and the marks
    are of the gold: so F1 of attention and of gradients is also compared where it is right.

    Args:
        right: of ``filled_rightly``.

    Returns:
        ``claim, dataset, model, method, metric, dimension`` (or ``FILLED``)``, estimate, low, high, units`` (effective
        originals).
    """
    metrics_of = {tuple(saliency.labels().values()): metrics for saliency, metrics in scored}
    rows = []
    for (dataset, model, method, weights), metrics in metrics_of.items():
        others = {LEARNED: ("", RANDOM, ""), SENSIBLE: (model, method, RANDOM_WEIGHTS)}
        if method == ATTENTION:
            others |= {BETTER: (model, GRADIENTS, TRAINED), OF_THE_GOLD: (model, GRADIENTS + OF_GOLD, TRAINED)}
        for claim, other in others.items() if weights == TRAINED else ():
            second, filled = metrics_of.get((dataset, *other), {}), right.get((dataset, model), np.zeros(0, bool))
            for metric in [name for name in EXACT if name in metrics and name in second]:
                gap = metrics[metric].less(second[metric])
                apart = claim in (BETTER, OF_THE_GOLD) and metric in (F1, F1_MARKS) and filled.any()
                labels = {"dataset": dataset, "model": model, "method": method, "metric": metric}
                for dimension, member in (gap.members() | ({FILLED: filled} if apart else {})).items():
                    units = effective_units(gap.originals[gap.counted & member].tolist())
                    row = gap.mean(member, seed) | {"units": units}
                    rows += conclude(claim, [row], dimension=dimension, **labels)
    columns = ["claim", "dataset", "model", "method", "metric", "dimension", "estimate", "low", "high", "units"]
    return pd.DataFrame(rows, columns=columns)


def against(scored: Scored, seed: int = 0) -> pd.DataFrame:
    """Of two trained models that were asked the same set, F1 and MAP of the first minus those of the second, by method.

    Returns:
        ``dataset, first, second, method, metric, estimate, low, high`` over all dimensions; empty for more models.
    """
    kinds = defaultdict[tuple[str, str], list[tuple[str, Mapping[str, Values]]]](list)
    for saliency, metrics in scored:
        if saliency.weights == TRAINED:
            kinds[saliency.dataset, saliency.method].append((saliency.model, metrics))
    rows = []
    for (dataset, method), models in kinds.items():
        if len(models) == 2:
            (first, left), (second, right) = models
            labels = {"dataset": dataset, "first": first, "second": second, "method": method}
            for metric in [name for name in (F1, MAP) if name in left and name in right]:
                gap = left[metric].less(right[metric])
                rows.append(labels | {"metric": metric} | gap.mean(gap.counted, seed))
    return pd.DataFrame(rows)


def _stacked(saliencies: Sequence[Saliency], columns: list[str]) -> pd.DataFrame:
    """Columns of their tables, and of whose they are, one under the other."""
    frames = [s.table.assign(**s.labels())[columns] for s in saliencies if s.table is not None]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)


def errors(saliencies: Sequence[Saliency]) -> pd.DataFrame:
    """Completeness error of every record under integrated gradients: ``dataset, model, weights, id, change, error``."""
    explained = [saliency for saliency in saliencies if saliency.method == GRADIENTS]
    return _stacked(explained, ["dataset", "model", "weights", "id", "change", "error"])


@per("dataset", "model", "weights")
def completeness(errors: pd.DataFrame) -> dict[str, float]:
    """The distribution of ``errors``: ``dataset, model, weights, records, median, p90, p99, largest, below_1``.

    ``below_1`` is the share of records whose error is below one percent of the change that is explained.
    """
    error = errors["error"].dropna()
    p50, p90, p99 = error.quantile([0.5, 0.9, 0.99])
    ends = {"largest": error.max(), "below_1": (error < BOUND).mean()}
    return {"records": len(error), "median": p50, "p90": p90, "p99": p99} | ends


def words(sets: Mapping[str, RationaleSet], predictions: pd.DataFrame, saliencies: Sequence[Saliency]) -> pd.DataFrame:
    """Every word of the first marked original of each dimension, as each trained model's methods weigh it; not of data
    that is only read here.

    Returns:
        ``dataset, id, dimension, context, golds, model, method, predicted`` (first filling), ``place, word, score``
        (nan of the slot), ``rank`` among the words of the predicted rationale (else nan) and ``marked`` (0 or 1).
    """
    filled = {(row.dataset, row.model, row.id): row.predictions[0] for row in predictions.itertuples()}
    rows = []
    for saliency in saliencies:
        if saliency.weights != TRAINED or saliency.table is None or saliency.dataset in ask.OTHERS:
            continue
        items, dataset, model = sets[saliency.dataset], saliency.dataset, saliency.model
        ratios, table = dimension_ratios(items), saliency.table.set_index("id")
        marked = items.items[(items.items["original_id"] == "") & items.items["rationales"].map(bool)]
        for record in marked.drop_duplicates("dimension").to_dict("records"):
            scores, ratio = table.loc[record["id"]], ratios[record["language"], record["dimension"]]
            predicted = predicted_rationale(record["words"], scores["scores"], ratio)
            ranks = {place: rank for rank, place in enumerate(predicted, 1)}
            score_of = dict(zip(scores["positions"], scores["scores"], strict=True))
            labels = {"dataset": dataset, **{name: record[name] for name in ("id", "dimension", "context")}}
            labels |= {"golds": ", ".join(record["golds"]), "model": model, "method": saliency.method}
            labels |= {"predicted": filled[dataset, model, record["id"]]}
            for place, word in enumerate(record["words"]):
                row = labels | {"place": place, "word": word, "score": score_of.get(place, NAN)}
                rows.append(row | {"rank": ranks.get(place, NAN), "marked": int(place in record["rationales"][0])})
    return pd.DataFrame(rows)


def conclusions(tables: Tables) -> pd.DataFrame:
    """Attention less integrated gradients, in F1 and in MAP, per model and over all records of a set, in the paper's F1
    where the filling is right. What the paper says of Chinese is of its own models, and sets of others' marks have one
    dimension."""
    rows = pick(tables["contrasts"], claim=BETTER, metric=list(CLAIMS))
    if rows.empty:
        return rows
    rows = rows[~rows["dataset"].isin([CHINESE, *ask.OTHERS]) & (rows["dimension"] == rows["metric"].map(JUDGED_ON))]
    columns = ["claim", "dataset", "model", "metric", "dimension", "estimate", "low", "high", "units"]
    return judged(rows.assign(claim=rows["metric"].map(CLAIMS)).reindex(columns=columns), tables["floors"])


# ---- for reading ----------------------------------------------------------------------------------------------------


@per("Model", "Method")
def _by_outcome(cells: pd.DataFrame) -> dict[str, str]:
    return {row["outcome"]: row["shown"] for row in cells.to_dict("records")}


def by_filling(tables: Tables, dataset: str) -> pd.DataFrame:
    """F1 by what is filled in: models and methods down, outcomes across, and what chance gives."""
    cells = _enough(pick(tables["outcomes"], dataset=dataset))
    parts = []
    for model, group in by(cells.rename(columns={"method": "Method"}), ["model"]):
        alike = group.drop_duplicates("outcome")
        group = group.assign(shown=[cell(row, digits=2) for row in group.to_dict("records")])
        chance = alike.assign(Method=RANDOM, shown=[number(value, 2) for value in alike["chance"]])
        counts = alike.assign(Method="records", shown=alike["n"].astype(str))
        parts.append(pd.concat([group, chance, counts]).assign(Model=title(model["model"])))
    return _by_outcome(pd.concat(parts)).fillna("–")


def chart(tables: Tables, demo: bool) -> pd.DataFrame:
    """F1 of all records per set, source of scores and model, for ``forest``: each method on the trained network and,
    where it was asked, on random weights; demo sets on the demo page only."""
    cells = pick(tables["interpretability"], dimension=ALL, metric=F1, weights=[TRAINED, RANDOM_WEIGHTS, ""])
    rows = cells[[demo or like_the_paper(name) or name in ask.OTHERS for name in cells["dataset"]]]
    methods = [name + end for name in ask.METHODS for end in ("", OF_GOLD)]
    order, untrained = [*methods, RANDOM, ORACLE], rows["weights"] == RANDOM_WEIGHTS
    place = [order.index(name) + late / 2 for name, late in zip(rows["method"], untrained, strict=True)]
    named = rows["method"].mask(untrained, rows["method"].astype(str) + ", random")  # weights, as the caption says
    rows = rows.assign(model=rows["model"].replace("", NO_MODEL), method=named)
    return rows.iloc[np.argsort(place, kind="stable")]


def overall(tables: Tables, dataset: str) -> pd.DataFrame:
    """Metrics over all records of a set: sources of scores down, metrics across."""
    metrics = [F1, F1_MARKS, MAP, MAP_WORDS, PCC, PCC_ALL, PCC_APART, KEPT]
    cells = _enough(pick(tables["interpretability"], dataset=dataset, dimension=ALL, metric=metrics))
    ranges = cells["least"].notna()  # the copies, in place of an interval
    cells = cells.assign(
        low=cells["least"].where(ranges, cells["low"]), high=cells["most"].where(ranges, cells["high"])
    )
    cells = cells.replace({"model": {"": NO_MODEL}, "weights": {"": "–"}})
    return across(cells.assign(model=cells["model"].map(title)), ["model", "method", "weights"], "metric", digits=2)


def by_target(tables: Tables, dataset: str) -> pd.DataFrame:
    """Attention less integrated gradients in both readings of F1: models and readings down, and across what gradients
    explain and which records count."""
    rows = pick(tables["contrasts"], dataset=dataset, claim=[BETTER, OF_THE_GOLD], metric=[F1, F1_MARKS])
    rows = rows[rows["dimension"].isin([ALL, FILLED])]
    explained = rows["claim"].map({BETTER: "of the prediction", OF_THE_GOLD: "of the gold"})
    rows = rows.assign(which=rows["dimension"].replace(ALL, "all records") + ", " + explained)
    rows = rows[(rows["dimension"] == ALL) | (rows["claim"] == BETTER)]  # where it is right the two are one
    return across(rows.assign(model=rows["model"].map(title)), ["model", "metric"], "which", digits=3)


def _enough(cells: pd.DataFrame) -> pd.DataFrame:
    """The same without means of fewer than ``FEW`` values, whose intervals would mislead."""
    return cells.assign(estimate=cells["estimate"].where(cells["n"] >= FEW))


def beside_paper(cells: pd.DataFrame, language: str, datasets: Sequence[str]) -> pd.DataFrame:
    """Tables 5 and 9 with our models below the paper's.

    Args:
        cells: the rows of ``interpretability`` that may stand beside the paper's.
        language: ``en`` or ``zh``.
        datasets: the sets of ours in that language.

    Returns:
        ``model, data, method, metric, dimension, estimate, low, high``; a printed number has no interval.
    """
    rows = pick(cells, dataset=list(datasets), weights=TRAINED, metric=list(PRINTED), method=list(paper.METHODS))
    ours = _enough(rows).assign(data=rows["dataset"])[rows["dimension"].isin(DIMENSIONS)]
    columns = ["model", "data", "method", "metric", "dimension", "estimate", "low", "high"]
    return beside.below(paper.score_rows(language), ours[columns])[columns]


def as_in_paper(beside: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Some metrics in the form of Tables 5 and 9: models and methods down, dimensions across."""
    rows = ["model", "data", "method", *(["metric"] if len(metrics) > 1 else [])]
    return across(pick(beside, metric=list(metrics)), rows, "dimension", digits=2)


def weighed(table: pd.DataFrame, dataset: str) -> str:
    """The sentences of a set with the weight of each word by each method that explains what the page asks, those that
    are filled rightly first and all but ``OPEN`` folded, as HTML; everything foreign escaped.

    Args:
        table: of ``words``.
        dataset: whose sentences.
    """
    lines = list[tuple[bool, str]]()
    table = table[~table["method"].str.endswith(OF_GOLD)]
    for labels, rows in by(pick(table, dataset=dataset), ["id", "dimension", "context", "golds", "model", "method"]):
        scored, predicted = rows.dropna(subset=["score"]), str(rows["predicted"].iloc[0]).strip()
        label = f"{labels['dimension']}, {title(labels['model'])}, {labels['method']}: "
        label += f"fills “{predicted}” where “{labels['golds']}” is right"
        ranks = {int(row["place"]): int(row["rank"]) for row in rows.dropna(subset=["rank"]).to_dict("records")}
        marked = rows.loc[rows["marked"] == 1, "place"].tolist()
        weights = scored["place"].tolist(), scored["score"].tolist(), ranks
        line = weighed_sentence(str(labels["context"]), rows["word"].tolist(), *weights, marked=marked, label=label)
        lines.append((predicted.lower() not in str(labels["golds"]).lower().split(", "), line))
    shown = [line for _, line in sorted(lines, key=itemgetter(0))]
    summary = f"{html.escape(title(dataset))}: {len(shown[OPEN:])} more weighed sentences"
    return f"{''.join(shown[:OPEN])}<details><summary>{summary}</summary>{''.join(shown[OPEN:])}</details>"
