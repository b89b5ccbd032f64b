"""Page 31, which words a prediction rests on (paper 003, Tables 5 and 9): its tables, its figure, its conclusions."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from probekit.metrics import middle, ranked_words, rationale_length, resampled_means
from probekit.probes.rationales import DIMENSIONS, RationaleSet
from probekit.report.tables import across, by, pick
from probekit.report.text import escape, number, title

from notebooks.rationales import paper
from notebooks.rationales.ask import ATTENTION, GRADIENTS, ORACLE, RANDOM, RANDOM_WEIGHTS, TRAINED, Saliency
from notebooks.rationales.heat import sentence
from notebooks.rationales.paper import FEW, like_the_paper, listed
from notebooks.rationales.scores import dimension_ratios, faithfulness, plausibility

ALL = "all"
F1, MAP, PCC, MAP_KEPT, PCC_ALL, KEPT = "F1", "MAP", "PCC", "MAP*", "PCC, all pairs", "share kept"
METRICS = (F1, MAP, PCC, MAP_KEPT, PCC_ALL, KEPT)
PRINTED = (F1, MAP, PCC, MAP_KEPT)
SHOWN = {(F1,): "Plausibility (F1)", (MAP,): "Faithfulness (MAP)", (PCC, MAP_KEPT): "Faithfulness (PCC, and MAP\\*)"}
ABOUT = ["dataset", "model", "method", "weights"]
BETTER, LEARNED, SENSIBLE = "003-08c", "method above random scores", "trained above random weights"
CLAIMS = {F1: BETTER, MAP: "003-08e"}  # of attention less integrated gradients
BOUND = 0.01  # of the change that integrated gradients explain
NO_MODEL = "no model"
CAPTIONS = {
    "interpretability": "Every metric of every source of word scores, by dimension",
    "contrasts": "Differences on the same records: attention less gradients, and less random scores or weights",
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
    """

    values: np.ndarray
    counted: np.ndarray
    originals: np.ndarray
    dimensions: np.ndarray

    def mean(self, member: np.ndarray) -> float:
        """Mean of what counts among ``member``; nan of nothing."""
        chosen = self.counted & member
        return float(self.values[chosen].mean()) if chosen.any() else float("nan")


def values(items: RationaleSet, saliency: pd.DataFrame) -> dict[str, Values]:
    """The metrics of every record (F1) and pair (the others) by name.

    PCC and MAP* count kept pairs (p below 0.05), *PCC, all pairs* those where it is defined, and *share kept* is over
    all pairs of a kind that PCC is made for.
    """
    plausible, faithful = plausibility(items, saliency), faithfulness(items, saliency)
    metrics = {}
    if len(plausible):
        originals = plausible["original_id"].where(plausible["original_id"] != "", plausible["id"])
        every = np.ones(len(plausible), bool)
        metrics[F1] = Values(
            plausible["f1"].to_numpy(float), every, originals.to_numpy(), plausible["dimension"].to_numpy()
        )
    if len(faithful):
        kept, eligible = faithful["kept"].to_numpy(bool), faithful["eligible"].to_numpy(bool)
        ap, pcc = faithful["ap"].to_numpy(float), faithful["pcc"].to_numpy(float)
        counted = {
            MAP: (ap, np.ones(len(ap), bool)),
            PCC: (pcc, kept),
            MAP_KEPT: (ap, kept),
            PCC_ALL: (pcc, np.isfinite(pcc)),
            KEPT: (kept.astype(float), eligible),
        }
        originals, dimensions = faithful["original_id"].to_numpy(), faithful["dimension"].to_numpy()
        for name, (numbers, member) in counted.items():
            metrics[name] = Values(np.where(member, numbers, 0.0), member, originals, dimensions)
    return metrics


def _members(metric: Values) -> dict[str, np.ndarray]:
    """All, and of several dimensions each, as rows."""
    named = [name for name in DIMENSIONS if (metric.dimensions == name).any()]
    each = {name: metric.dimensions == name for name in named} if len(named) > 1 else {}
    return {ALL: np.ones(len(metric.values), bool)} | each


def tables(sets: Mapping[str, RationaleSet], saliencies: Sequence[Saliency], seed: int = 0) -> dict[str, pd.DataFrame]:
    """All tables of the page.

    Args:
        sets: of ``ask.load_sets``.
        saliencies: of ``ask.attribute_all``.
        seed: of the bootstrap.
    """
    scored = [(saliency, values(sets[saliency.dataset], saliency.table)) for saliency in saliencies]
    return {
        "interpretability": interpretability(scored, seed),
        "contrasts": contrasts(scored, seed),
        "completeness": completeness(saliencies),
        "errors": errors(saliencies),
        "words": words(sets, saliencies),
    }


def interpretability(scored: Sequence[tuple[Saliency, dict[str, Values]]], seed: int = 0) -> pd.DataFrame:
    """Every metric of every saliency by dimension, with 95% intervals over originals.

    Returns:
        ``dataset, model, method, weights, dimension, metric, n`` (records or pairs that count), ``estimate, low,
        high``; an estimate of nothing is nan.
    """
    rows = []
    for saliency, metrics in scored:
        for name, metric in metrics.items():
            for dimension, member in _members(metric).items():
                counted = (metric.counted & member)[:, None]
                drawn = resampled_means(metric.values[:, None], metric.originals.tolist(), counted, seed=seed)
                low, high = middle(drawn)
                cells = {"dimension": dimension, "metric": name, "n": int(counted.sum())}
                rows.append(saliency.about() | cells | {"estimate": metric.mean(member), "low": low, "high": high})
    return pd.DataFrame(rows, columns=[*ABOUT, "dimension", "metric", "n", "estimate", "low", "high"])


def contrasts(scored: Sequence[tuple[Saliency, dict[str, Values]]], seed: int = 0) -> pd.DataFrame:
    """Differences of F1 and of MAP on the same records: attention less integrated gradients (claim 003-08), each method
    less random scores, and each method on the trained model less on random weights.

    Returns:
        ``claim, dataset, model, method, metric, dimension, estimate, low, high``.
    """
    known = {(one.dataset, one.model, one.method, one.weights): metrics for one, metrics in scored}
    rows = []
    for (dataset, model, method, weights), metrics in known.items():
        if weights != TRAINED:
            continue
        others = {LEARNED: ("", RANDOM, ""), SENSIBLE: (model, method, RANDOM_WEIGHTS)}
        if method == ATTENTION:
            others[BETTER] = (model, GRADIENTS, TRAINED)
        for claim, other in others.items():
            second = known.get((dataset, *other), {})
            for metric in (F1, MAP):
                if metric in metrics and metric in second:
                    about = {"claim": claim, "dataset": dataset, "model": model, "method": method, "metric": metric}
                    rows += [about | row for row in _differences(metrics[metric], second[metric], seed)]
    columns = ["claim", "dataset", "model", "method", "metric", "dimension", "estimate", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def _differences(first: Values, second: Values, seed: int) -> list[dict[str, object]]:
    """Means of the paired differences by dimension; both hold the same records in the same order."""
    rows = []
    difference = first.values - second.values
    for dimension, member in _members(first).items():
        drawn = resampled_means(difference[:, None], first.originals.tolist(), member[:, None], seed=seed)
        low, high = middle(drawn)
        rows.append({"dimension": dimension, "estimate": float(difference[member].mean()), "low": low, "high": high})
    return rows


def errors(saliencies: Sequence[Saliency]) -> pd.DataFrame:
    """Completeness error of every record under integrated gradients: ``dataset, model, weights, id, change, error``."""
    frames = [
        one.table[["id", "change", "error"]].assign(dataset=one.dataset, model=one.model, weights=one.weights)
        for one in saliencies
        if one.method == GRADIENTS
    ]
    columns = ["dataset", "model", "weights", "id", "change", "error"]
    return pd.concat(frames, ignore_index=True)[columns] if frames else pd.DataFrame(columns=columns)


def completeness(saliencies: Sequence[Saliency]) -> pd.DataFrame:
    """The distribution of these errors: ``dataset, model, weights, records, median, p90, p99, largest, below_1``.

    ``below_1`` is the share of records whose error is below one percent of the change that is explained.
    """
    rows = []
    for about, table in by(errors(saliencies), ["dataset", "model", "weights"]):
        error = table["error"].dropna()
        p50, p90, p99 = error.quantile([0.5, 0.9, 0.99])
        shares = {"median": p50, "p90": p90, "p99": p99, "largest": error.max(), "below_1": (error < BOUND).mean()}
        rows.append(about | {"records": len(error)} | shares)
    columns = ["dataset", "model", "weights", "records", "median", "p90", "p99", "largest", "below_1"]
    return pd.DataFrame(rows, columns=columns)


def words(sets: Mapping[str, RationaleSet], saliencies: Sequence[Saliency]) -> pd.DataFrame:
    """Every word of the first marked original of each dimension, as each trained model's methods weigh it.

    Returns:
        ``dataset, id, dimension, context, golds, model, method, predicted`` (what is explained), ``place, word, score``
        (nan of the slot), ``rank`` among the words of the predicted rationale (else nan) and ``marked`` (0 or 1).
    """
    predicted = {
        (one.dataset, one.model, one.weights): dict(zip(one.table["id"], one.table["predicted"], strict=True))
        for one in saliencies
        if one.method == GRADIENTS
    }
    rows = []
    for saliency in (one for one in saliencies if one.weights == TRAINED):
        items = sets[saliency.dataset]
        ratios, table = dimension_ratios(items), saliency.table.set_index("id")
        marked = items.items[(items.items["original_id"] == "") & items.items["rationales"].map(bool)]
        for record in marked.drop_duplicates("dimension").to_dict("records"):
            scores = table.loc[record["id"]]
            taken = rationale_length(ratios[record["language"], record["dimension"]], len(scores["words"]))
            best = [scores["positions"][place] for place in ranked_words(scores["scores"])[:taken]]
            score_of = dict(zip(scores["positions"], scores["scores"], strict=True))
            filling = predicted.get((saliency.dataset, saliency.model, saliency.weights), {}).get(record["id"], "")
            about = {"dataset": saliency.dataset, "id": record["id"], "dimension": record["dimension"]}
            about |= {"context": record["context"], "golds": ", ".join(record["golds"])}
            about |= {"model": saliency.model, "method": saliency.method, "predicted": filling}
            for place, word in enumerate(record["words"]):
                rank = best.index(place) + 1 if place in best else float("nan")
                weight = {"place": place, "word": word, "score": score_of.get(place, float("nan")), "rank": rank}
                rows.append(about | weight | {"marked": int(place in record["rationales"][0])})
    return pd.DataFrame(rows)


def heat(table: pd.DataFrame, dataset: str) -> str:
    """The sentences of a set with the weight of each word, folded, as HTML; everything foreign escaped.

    Args:
        table: of ``words``.
        dataset: whose sentences.
    """
    lines = []
    for about, rows in by(pick(table, dataset=dataset), ["id", "dimension", "context", "golds", "model", "method"]):
        scored, explained = rows.dropna(subset=["score"]), str(rows["predicted"].iloc[0]).strip()
        label = f"{about['dimension']}, {title(about['model'])}, {about['method']}: "
        label += f"fills “{explained}” where “{about['golds']}” is right"
        weights = (scored["place"].tolist(), scored["score"].tolist(), int(rows["rank"].notna().sum()))
        marked = rows.loc[rows["marked"] == 1, "place"].tolist()
        lines.append(sentence(about["context"], rows["word"].tolist(), *weights, marked=marked, label=label))
    summary = f"{html.escape(title(dataset))}: {len(lines)} weighed sentences"
    return f"<details><summary>{summary}</summary>{''.join(lines)}</details>"


def conclusions(tables: Tables) -> pd.DataFrame:
    """Attention less integrated gradients over all records of a set, in F1 and in MAP, per model."""
    rows = pick(tables["contrasts"], claim=BETTER, dimension=ALL)
    if rows.empty:
        return rows
    columns = ["claim", "dataset", "model", "metric", "dimension", "estimate", "low", "high"]
    return rows.assign(claim=rows["metric"].map(CLAIMS))[columns].assign(unit="original")


def answer(tables: Tables, dataset: str) -> str:
    """How far the words that attention weighs most are the marked ones, between chance and the marks themselves; and
    for which models attention is more plausible, or more faithful, than integrated gradients."""
    cells = pick(tables["interpretability"], dataset=dataset, dimension=ALL, metric=F1)
    own, ends = pick(cells, method=ATTENTION, weights=TRAINED), cells.set_index("method")["estimate"]
    shares = [f"{number(row['estimate'], 2)} for {escape(title(row['model']))}" for row in own.to_dict("records")]
    if len(shares) > 2:
        shares = [f"{number(own['estimate'].min(), 2)} to {number(own['estimate'].max(), 2)}, model by model"]
    models = list(own["model"])
    gaps = pick(tables["contrasts"], dataset=dataset, dimension=ALL)
    learned = pick(gaps, claim=LEARNED, metric=F1, method=ATTENTION)
    plausible, faithful = (
        listed(list(rows.loc[rows["low"] > 0, "model"]), models)
        for rows in (pick(gaps, claim=BETTER, metric=metric) for metric in (F1, MAP))
    )
    return (
        f"{escape(title(dataset))}: the words that attention weighs most match the marked words with an F1 of "
        f"{' and '.join(shares)}; random scores reach {number(ends[RANDOM], 2)} and the marks themselves "
        f"{number(ends[ORACLE], 2)}. Attention is above random scores beyond chance for "
        f"{listed(list(learned.loc[learned['low'] > 0, 'model']), models)}, more plausible (F1) than integrated "
        f"gradients for {plausible}, and more faithful (MAP) for {faithful}."
    )


def chart(tables: Tables, demo: bool) -> pd.DataFrame:
    """F1 of all records per set, source of scores and model, for ``forest``; demo sets on the demo page only."""
    cells = pick(tables["interpretability"], dimension=ALL, metric=F1, weights=[TRAINED, ""])
    rows = cells[[demo or like_the_paper(name) for name in cells["dataset"]]]
    order = [ATTENTION, GRADIENTS, RANDOM, ORACLE]
    rows = rows.assign(model=rows["model"].replace("", NO_MODEL), place=rows["method"].map(order.index))
    return rows.sort_values("place", kind="stable").drop(columns="place")


def overall(tables: Tables, dataset: str) -> pd.DataFrame:
    """Metrics over all records of a set, for reading: sources of scores down, metrics across."""
    cells = _enough(pick(tables["interpretability"], dataset=dataset, dimension=ALL))
    cells = pick(cells, metric=[F1, MAP, PCC, PCC_ALL, KEPT])
    model = cells["model"].replace("", NO_MODEL).map(title)
    cells = cells.assign(model=model, weights=cells["weights"].replace("", "–"))
    return across(cells, ["model", "method", "weights"], "metric", digits=2)


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
    table = paper.SCORES[language]
    rows = [
        {
            "model": model,
            "data": f"paper, Table {table}",
            "method": method,
            "metric": metric,
            "dimension": name,
            "estimate": x,
        }
        for metric in PRINTED
        for method, short in paper.METHODS.items()
        for model, found in paper.scores(table, metric, short).iterrows()
        for name, x in found.items()
    ]
    own = _enough(pick(cells, dataset=list(datasets), weights=TRAINED, metric=list(PRINTED)))
    own = own.assign(data=own["dataset"])[own["dimension"].isin(DIMENSIONS)]
    columns = ["model", "data", "method", "metric", "dimension", "estimate", "low", "high"]
    return pd.concat([pd.DataFrame(rows, columns=columns), own[columns]], ignore_index=True)


def as_in_paper(beside: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Some metrics in the form of Tables 5 and 9: models and methods down, dimensions across."""
    rows = ["model", "data", "method", *(["metric"] if len(metrics) > 1 else [])]
    return across(pick(beside, metric=list(metrics)), rows, "dimension", digits=2)


def exactness(tables: Tables) -> str:
    """Whether integrated gradients explain all but one percent of the change, and why not where they do not."""
    rows = pick(tables["completeness"], weights=TRAINED)
    if rows.empty:
        return ""
    under, shares = int((rows["median"] < BOUND).sum()), rows["below_1"]
    text = (
        f"The median completeness error is under 1% in {under} of {len(rows)} cases of a model on a set; "
        f"the share of records under 1% goes from {shares.min():.0%} to {shares.max():.0%}."
    )
    return " ".join([text, *_reasons(tables["errors"])])


def _reasons(table: pd.DataFrame) -> list[str]:
    """Of each model and set: whether the errors above one percent are those of sums that are far off, or of
    probabilities that hardly change. Both make the error large; what differs more from the other records is named."""
    sentences = []
    for about, rows in by(pick(table, weights=TRAINED), ["dataset", "model"]):
        rows = rows.dropna(subset="error")
        size, above = rows["change"].abs(), rows["error"] >= BOUND
        if not above.any() or above.all():
            continue
        (gap, other_gap), (change, other_change) = (
            (column[above].median(), column[~above].median()) for column in (rows["error"] * size, size)
        )
        off = gap * change > other_gap * other_change  # gap / other_gap > other_change / change
        why = "the sum misses the change by much" if off else "the change is small"
        case = f"{escape(title(about['model']))} on {escape(title(about['dataset']))}"
        sentences.append(f"Of {case}, {above.sum()} records lie above 1% because {why}.")
    return sentences
