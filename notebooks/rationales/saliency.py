"""Page 31, which words a prediction rests on (paper 003, Tables 5 and 9): its tables, its figure, its conclusions."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from probekit.metrics import interval, ranked_words, rationale_length, resampled_means
from probekit.metrics.decisions import direction, enough
from probekit.probes.rationales import DIMENSIONS, RationaleSet, is_punctuation
from probekit.report.tables import across, by, cell, pick
from probekit.report.text import number, title

from notebooks.rationales import compared, erasure, paper
from notebooks.rationales.ask import (
    ATTENTION,
    GRADIENTS,
    METHODS,
    ORACLE,
    RANDOM,
    RANDOM_WEIGHTS,
    TRAINED,
    Saliency,
)
from notebooks.rationales.heat import sentence
from notebooks.rationales.paper import ALL, CHINESE, ENGLISH, FEW, PRINTED, WEAK, like_the_paper
from notebooks.rationales.scores import (
    ECHO,
    F1,
    F1_MARKS,
    KEPT,
    MAP,
    MAP_KEPT,
    MAP_WORDS,
    PCC,
    PCC_ALL,
    RIGHT,
    WRONG,
    Values,
    dimension_ratios,
    floors,
    judged,
    members,
    outcomes,
    plausibility,
    values,
    voices,
)

METRICS = (F1, MAP, PCC, MAP_KEPT, PCC_ALL, KEPT, F1_MARKS, MAP_WORDS)
SHOWN = {
    (F1,): "Plausibility (F1, ours without punctuation)",
    (MAP,): "Faithfulness (MAP)",
    (PCC, MAP_KEPT): "Faithfulness (PCC, and MAP*)",
}
ABOUT = ["dataset", "model", "method", "weights"]
BETTER, LEARNED, SENSIBLE = "003-08c", "method above random scores", "trained above random weights"
FAITHFUL = {"more": ATTENTION, "less": GRADIENTS, "undecided": "left open"}
FILLED = "filled rightly"  # in place of a dimension: the records whose first filling is a gold
CLAIMS = {F1: BETTER, F1_MARKS: BETTER, MAP: "003-08e"}  # of attention less integrated gradients
CHINESE_CLAIMS = {F1: "003-08a", F1_MARKS: "003-08a", MAP: "003-08b"}  # of the paper's models alone
NOT_ALWAYS = "003-09a"
BOUND = 0.01  # of the change that integrated gradients explain
EXACT = (F1, F1_MARKS, MAP, MAP_WORDS)  # metrics of which random scores have an expectation by formula
NO_MODEL = "no model"
LEGEND = (
    "Each line says what the model fills in and what is right. A word that weighs more has a thicker line below it and "
    "a darker ground; a dotted line is weight against the prediction. Small numbers count the words of the predicted "
    "rationale, best first, and marked words are bold."
)
CAPTIONS = {
    "interpretability": "Every metric of every source of word scores, by dimension",
    "contrasts": "Differences on the same records: attention less gradients, and less random scores or weights",
    "pairs": "Word scores of one model of the paper less those of another, on the same records",
    "measures": "Attention less gradients by PCC, and whether MAP and PCC say the same of them, of the paper's models",
    "outcomes": "F1 of word scores by what the model fills in: right, an echo of the text, or another wrong word",
    "floors": "Accuracy of first fillings beside that of the best constant answer",
    "against": "F1 and MAP of two models on the same records: the first less the second",
    "erasure": "What a prediction loses without its best-scored words, and what it loses with them alone",
    "erased": "Differences of these losses: attention less gradients, and each method less random scores",
    "completeness": "Completeness error of integrated gradients: its distribution over records",
    "errors": "Completeness error of integrated gradients, record by record",
    "words": "Word scores of one original per dimension",
    "scores": "Word scores of every record of the paper's kind, in the order of its words, the slot left out",
}
Tables = Mapping[str, pd.DataFrame]


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
    scored = [(saliency, values(sets[saliency.dataset], saliency.table, seed)) for saliency in saliencies]
    return {
        "interpretability": interpretability(scored, seed),
        "contrasts": contrasts(scored, filled_rightly(sets, predictions), seed),
        "pairs": compared.pairs(scored, seed),
        "measures": compared.measures(scored, seed),
        "against": compared.against(scored, seed),
        "outcomes": by_outcome(sets, predictions, scored, seed),
        "erasure": erasure.means(losses, seed),
        "erased": erasure.contrasts(losses, seed),
        "floors": floors(sets, predictions),
        "completeness": completeness(saliencies),
        "errors": errors(saliencies),
        "words": words(sets, predictions, saliencies),
        "scores": word_scores(saliencies),
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
            for dimension, member in members(metric).items():
                cells = {"dimension": dimension, "metric": name, "n": int((metric.counted & member).sum())}
                rows.append(saliency.about() | cells | _mean(metric, member, seed))
    return pd.DataFrame(rows, columns=[*ABOUT, "dimension", "metric", "n", "estimate", "low", "high"])


def _mean(metric: Values, member: np.ndarray, seed: int) -> dict[str, float]:
    """``estimate, low, high`` of the mean of what counts among ``member``, over originals."""
    counted = metric.counted & member
    drawn = resampled_means(metric.values[:, None], metric.originals.tolist(), counted[:, None], seed=seed)
    low, high = interval(drawn, metric.originals[counted].tolist())[:2]
    return {"estimate": metric.mean(member), "low": low, "high": high}


def by_outcome(
    sets: Mapping[str, RationaleSet],
    predictions: pd.DataFrame,
    scored: Sequence[tuple[Saliency, dict[str, Values]]],
    seed: int = 0,
) -> pd.DataFrame:
    """F1 of each trained model's word scores apart by what it fills in.

    Returns:
        ``dataset, model, method, outcome, n, estimate, low, high`` and ``chance``, what random scores are expected to
        reach on the same records.
    """
    rows = []
    for saliency, metrics in scored:
        if saliency.weights != TRAINED or F1 not in metrics:
            continue
        items = sets[saliency.dataset]
        mine = pick(predictions, dataset=saliency.dataset, model=saliency.model)
        chance = plausibility(items, None)
        filled = outcomes(items, mine).reindex(chance["id"]).to_numpy()
        for outcome in (RIGHT, ECHO, WRONG):
            member = filled == outcome
            if member.any():
                cells = {"outcome": outcome, "n": int(member.sum())} | _mean(metrics[F1], member, seed)
                about = {name: saliency.about()[name] for name in ("dataset", "model", "method")}
                rows.append(about | cells | {"chance": float(chance["f1"][member].mean())})
    columns = ["dataset", "model", "method", "outcome", "n", "estimate", "low", "high", "chance"]
    return pd.DataFrame(rows, columns=columns)


def filled_rightly(sets: Mapping[str, RationaleSet], predictions: pd.DataFrame) -> dict[tuple[str, str], np.ndarray]:
    """Set and model -> of its records with marked words, in order, which are filled with a gold."""
    found = {}
    for about, part in by(predictions, ["dataset", "model"]):
        right = part.set_index("id")["rank"] == 1
        found[about["dataset"], about["model"]] = right[plausibility(sets[about["dataset"]], None)["id"]].to_numpy()
    return found


def contrasts(
    scored: Sequence[tuple[Saliency, dict[str, Values]]],
    right: Mapping[tuple[str, str], np.ndarray],
    seed: int = 0,
) -> pd.DataFrame:
    """Differences of F1 and of MAP, in both readings, on the same records: attention less integrated gradients (claim
    003-08), each method less random scores, and each method on the trained model less on random weights.

    Where the filling is wrong, gradients explain that word, attention explains none, and the marks are of the gold: so
    F1 of attention and of gradients is also compared where it is right.

    Args:
        right: of ``filled_rightly``.

    Returns:
        ``claim, dataset, model, method, metric, dimension`` (or ``FILLED``)``, estimate, low, high``.
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
            for metric in EXACT:
                if metric in metrics and metric in second:
                    about = {"claim": claim, "dataset": dataset, "model": model, "method": method, "metric": metric}
                    member = right.get((dataset, model), np.zeros(0, bool)) if claim == BETTER else np.zeros(0, bool)
                    parts = {FILLED: member} if metric in (F1, F1_MARKS) and member.any() else {}
                    rows += [about | row for row in compared.differences(metrics[metric], second[metric], seed, parts)]
    columns = ["claim", "dataset", "model", "method", "metric", "dimension", "estimate", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def errors(saliencies: Sequence[Saliency]) -> pd.DataFrame:
    """Completeness error of every record under integrated gradients: ``dataset, model, weights, id, change, error``."""
    frames = [
        one.table[["id", "change", "error"]].assign(dataset=one.dataset, model=one.model, weights=one.weights)
        for one in saliencies
        if one.method == GRADIENTS and one.table is not None
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


def words(sets: Mapping[str, RationaleSet], predictions: pd.DataFrame, saliencies: Sequence[Saliency]) -> pd.DataFrame:
    """Every word of the first marked original of each dimension, as each trained model's methods weigh it.

    Returns:
        ``dataset, id, dimension, context, golds, model, method, predicted`` (first filling), ``place, word, score``
        (nan of the slot), ``rank`` among the words of the predicted rationale (else nan) and ``marked`` (0 or 1).
    """
    filled = {(row.dataset, row.model, row.id): row.predictions[0] for row in predictions.itertuples()}
    rows = []
    for saliency in saliencies:
        if saliency.weights != TRAINED or saliency.table is None:
            continue
        items = sets[saliency.dataset]
        ratios, table = dimension_ratios(items), saliency.table.set_index("id")
        marked = items.items[(items.items["original_id"] == "") & items.items["rationales"].map(bool)]
        for record in marked.drop_duplicates("dimension").to_dict("records"):
            scores = table.loc[record["id"]]
            ranked = [scores["positions"][place] for place in ranked_words(scores["scores"])]
            taken = rationale_length(ratios[record["language"], record["dimension"]], len(ranked))
            best = [place for place in ranked if not is_punctuation(record["words"][place])][:taken]
            score_of = dict(zip(scores["positions"], scores["scores"], strict=True))
            filling = filled[saliency.dataset, saliency.model, record["id"]]
            about = {"dataset": saliency.dataset, "id": record["id"], "dimension": record["dimension"]}
            about |= {"context": record["context"], "golds": ", ".join(record["golds"])}
            about |= {"model": saliency.model, "method": saliency.method, "predicted": filling}
            for place, word in enumerate(record["words"]):
                rank = best.index(place) + 1 if place in best else float("nan")
                weight = {"place": place, "word": word, "score": score_of.get(place, float("nan")), "rank": rank}
                rows.append(about | weight | {"marked": int(place in record["rationales"][0])})
    return pd.DataFrame(rows)


def word_scores(saliencies: Sequence[Saliency]) -> pd.DataFrame:
    """What every F1 rests on: ``dataset, model, method, id, scores`` (with spaces between), of trained models on sets
    of the paper's kind."""
    rows = [
        {"dataset": one.dataset, "model": one.model, "method": one.method, "id": record}
        | {"scores": " ".join(f"{score:.4g}" for score in scores)}
        for one in saliencies
        if one.weights == TRAINED and one.table is not None and like_the_paper(one.dataset)
        for record, scores in zip(one.table["id"], one.table["scores"], strict=True)
    ]
    return pd.DataFrame(rows, columns=["dataset", "model", "method", "id", "scores"])


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
        ranks = {int(row["place"]): int(row["rank"]) for row in rows.dropna(subset=["rank"]).to_dict("records")}
        marked = rows.loc[rows["marked"] == 1, "place"].tolist()
        weights = scored["place"].tolist(), scored["score"].tolist(), ranks
        lines.append(sentence(str(about["context"]), rows["word"].tolist(), *weights, marked=marked, label=label))
    summary = f"{html.escape(title(dataset))}: {len(lines)} weighed sentences"
    return f"<details><summary>{summary}</summary>{''.join(lines)}</details>"


def conclusions(tables: Tables) -> pd.DataFrame:
    """Attention less integrated gradients, in F1 and in MAP, per model and over all records of a set, in the paper's F1
    also where the filling is right; in English also in F1 where it is said not to be always ahead; the paper's models
    against each other; and MAP against PCC."""
    rows = pick(tables["contrasts"], claim=BETTER, metric=list(CLAIMS))
    if rows.empty:
        return rows
    columns = ["claim", "dataset", "model", "metric", "dimension", "estimate", "low", "high"]
    chinese, own = rows["dataset"] == CHINESE, rows["model"].isin(paper.models("zh"))
    claims = rows["metric"].map(CHINESE_CLAIMS).where(chinese, rows["metric"].map(CLAIMS))
    asked = rows["dimension"] == rows["metric"].map({F1: ALL, F1_MARKS: FILLED, MAP: ALL})
    whole = rows.assign(claim=claims)[asked & (own | ~chinese)]
    weak = pick(rows, dataset=ENGLISH, metric=F1, dimension=list(WEAK), model=paper.models("en"))
    weak = weak.assign(claim=NOT_ALWAYS, expected="below")
    every = pd.concat([whole, weak]).reindex(columns=[*columns, "expected"])
    parts = [judged(table, tables["floors"]) for table in (every, tables["measures"], tables["pairs"])]
    parts[-1] = voices(parts[-1]) if len(parts[-1]) else parts[-1]
    return pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True).assign(unit="original")


def answer(tables: Tables, dataset: str) -> str:
    """How far the words that attention weighs most are the marked ones, beside chance, and whether the two readings of
    faithfulness agree on attention and integrated gradients."""
    cells = pick(tables["interpretability"], dataset=dataset, dimension=ALL, metric=F1)
    cells, few = enough(cells, "n", f"records of {title(dataset)}")
    if few:
        return few
    own, chance = pick(cells, method=ATTENTION, weights=TRAINED), pick(cells, method=RANDOM)["estimate"].iloc[0]
    shares = [f"{number(row['estimate'], 2)} for {title(row['model'])}" for row in own.to_dict("records")]
    if len(shares) > 2:
        shares = [f"{number(own['estimate'].min(), 2)} to {number(own['estimate'].max(), 2)}, model by model"]
    unsure = own[own["low"] <= chance]["model"]
    beside = f", and {' and '.join(map(title, unsure))} may do no better" if len(unsure) else ""
    text = (
        f"{title(dataset)}: the words that attention weighs most match the marked words with an F1 of "
        f"{' and '.join(shares)}; chance reaches {number(chance, 2)}{beside}."
    )
    return f"{text} {readings(tables, dataset)}".strip()


def readings(tables: Tables, dataset: str) -> str:
    """Whether erasure says the same as MAP of attention against integrated gradients, model by model."""
    gaps = pick(tables["contrasts"], dataset=dataset, dimension=ALL, claim=BETTER, metric=MAP)
    found: dict[tuple[str, str], list[str]] = {}
    for row in gaps.to_dict("records"):
        if taken := erasure.side(tables["erased"], dataset, row["model"]):
            order = {"agrees": "more", "contradicts": "less"}.get(direction(row["low"], row["high"]), "undecided")
            found.setdefault((FAITHFUL[order], FAITHFUL[taken]), []).append(title(str(row["model"])))
    if len(gaps) > 2:
        return erasure.counted(tables["erased"], gaps, dataset)
    sentences = []
    for (by_map, by_erasure), models in found.items():
        text = f"Which is the more faithful to {' and to '.join(models)}"
        if by_map == by_erasure:
            sentences.append(f"{text}: by both readings {by_map}.")
        else:
            sentences.append(
                f"{text} depends on the reading: {by_map} by the order of words that survives a change of text (MAP), "
                f"{by_erasure} by what a prediction loses without its best words."
            )
    return " ".join(sentences)


def above_controls(tables: Tables) -> str:
    """Of each set of the paper's kind, how many trained models are above random scores, and above their own network
    with random weights where it was asked, in F1 and by each method."""
    rows = pick(tables["contrasts"], metric=F1, dimension=ALL)
    rows = rows[[like_the_paper(name) for name in rows["dataset"]]]
    sentences = []
    for about, part in by(rows, ["dataset"]):
        told = []
        for claim, what in ((LEARNED, "random scores"), (SENSIBLE, "the same network with random weights")):
            counts = [
                f"{method['method']} {int((group['low'] > 0).sum())} of {len(group)}"
                for method, group in by(pick(part, claim=claim), ["method"])
            ]
            told += [f"{what} for so many models: {', '.join(counts)}"] if counts else []
        name = title(str(about["dataset"]))
        cells = pick(tables["interpretability"], dataset=about["dataset"], dimension=ALL, metric=F1)
        few = enough(cells, "n", f"records of {name}")[1]
        sentences.append(few or f"On {name}, the 95% interval of F1 lies above {'; above '.join(told)}.")
    return " ".join(sentences)


def by_filling(tables: Tables, dataset: str) -> pd.DataFrame:
    """F1 by what is filled in, for reading: models and methods down, outcomes across, and what chance gives."""
    rows = []
    for about, part in by(pick(tables["outcomes"], dataset=dataset), ["model"]):
        name = {"Model": title(about["model"])}
        for method, cells in by(part, ["method"]):
            kept = _enough(cells).set_index("outcome").to_dict("index")
            rows.append(name | {"Method": method["method"]} | {key: cell(row, digits=2) for key, row in kept.items()})
        one = part.drop_duplicates("outcome").set_index("outcome")
        rows.append(name | {"Method": RANDOM} | {key: number(value, 2) for key, value in one["chance"].items()})
        rows.append(name | {"Method": "records"} | {key: str(value) for key, value in one["n"].items()})
    return pd.DataFrame(rows).fillna("–")


def chart(tables: Tables, demo: bool) -> pd.DataFrame:
    """F1 of all records per set, source of scores and model, for ``forest``: each method on the trained network and,
    where it was asked, on random weights; demo sets on the demo page only."""
    cells = pick(tables["interpretability"], dimension=ALL, metric=F1, weights=[TRAINED, RANDOM_WEIGHTS, ""])
    rows = cells[[demo or like_the_paper(name) for name in cells["dataset"]]]
    order, untrained = [*METHODS, RANDOM, ORACLE], rows["weights"] == RANDOM_WEIGHTS
    place = [order.index(name) + late / 2 for name, late in zip(rows["method"], untrained, strict=True)]
    named = rows["method"].mask(untrained, rows["method"].astype(str) + ", random")  # weights, as the caption says
    rows = rows.assign(model=rows["model"].replace("", NO_MODEL), method=named, place=place)
    return rows.sort_values("place", kind="stable").drop(columns="place")


def overall(tables: Tables, dataset: str) -> pd.DataFrame:
    """Metrics over all records of a set, for reading: sources of scores down, metrics across."""
    cells = _enough(pick(tables["interpretability"], dataset=dataset, dimension=ALL))
    cells = pick(cells, metric=[F1, F1_MARKS, MAP, MAP_WORDS, PCC, KEPT])
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
    own = _enough(
        pick(cells, dataset=list(datasets), weights=TRAINED, metric=list(PRINTED), method=list(paper.METHODS))
    )
    own = own.assign(data=own["dataset"])[own["dimension"].isin(DIMENSIONS)]
    columns = ["model", "data", "method", "metric", "dimension", "estimate", "low", "high"]
    return paper.below(paper.score_rows(language), own[columns])[columns]


def as_in_paper(beside: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Some metrics in the form of Tables 5 and 9: models and methods down, dimensions across."""
    rows = ["model", "data", "method", *(["metric"] if len(metrics) > 1 else [])]
    return across(pick(beside, metric=list(metrics)), rows, "dimension", digits=2)


def exactness(tables: Tables) -> str:
    """How near integrated gradients come to completeness."""
    rows = pick(tables["completeness"], weights=TRAINED)
    if rows.empty:
        return ""
    under, shares = int((rows["median"] < BOUND).sum()), rows["below_1"]
    return (
        f"The median completeness error is under 1% in {under} of {len(rows)} cases of a model on a set; "
        f"the share of records under 1% goes from {shares.min():.0%} to {shares.max():.0%}."
    )
