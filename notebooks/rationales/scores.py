"""From word scores to the metrics of each record and each pair, for any method, model or control."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from probekit.metrics import share_ci
from probekit.metrics.alignment import aligned_scores
from probekit.metrics.correlation import pearson
from probekit.metrics.decisions import FLOOR
from probekit.metrics.rationale import (
    LEVEL,
    average_precision,
    expected_average_precision,
    expected_f1,
    instance_f1,
    ranked_words,
    rationale_length,
)
from probekit.probes.probe import MASK
from probekit.probes.rationales import CONTRASTS, DIMENSIONS, RationaleSet, is_punctuation, rationale_statistics
from probekit.report.tables import by
from probekit.scoring.saliency import random_saliency

from notebooks.rationales.ask import DRAWS
from notebooks.rationales.paper import ALL

F1, MAP, PCC, MAP_KEPT, PCC_ALL, KEPT = "F1", "MAP", "PCC", "MAP*", "PCC, all pairs", "share kept"
F1_MARKS, MAP_WORDS = "F1, punctuation open", "MAP, words alone"
ALIGNABLE = ("dispensable", "important", "unstated")  # word by word; not transformations (section 4)


def dimension_ratios(items: RationaleSet) -> dict[tuple[str, str], float]:
    """Mean rationale length over input length of each language and dimension, as K needs it (section 5.1)."""
    table = rationale_statistics(items)
    return {(row.language, row.dimension): float(row.ratio) for row in table.itertuples()}


def plausibility(
    items: RationaleSet,
    saliency: pd.DataFrame | None,
    ratios: Mapping[tuple[str, str], float] | float | None = None,
    punctuation: bool = False,
) -> pd.DataFrame:
    """F1 of every record that has a marked rationale.

    Args:
        items: the records.
        saliency: of ``attribute`` or ``oracle_saliency``, for these records; None for the expectation of random scores.
        ratios: rationale length over input length by language and dimension; one number for all (Figure 1); None
            takes those of ``items``.
        punctuation: let punctuation marks be taken into the predicted rationale, as the paper does; nobody marks them.

    Returns:
        ``id, original_id, language, dimension, perturbation, k`` (words of the predicted rationale), ``f1``.
    """
    given = dimension_ratios(items) if ratios is None else ratios
    scores = None if saliency is None else saliency.set_index("id")[["positions", "scores"]].to_dict("index")
    rows = []
    for item in items.items.itertuples():
        if not item.rationales:
            continue
        places = [place for place, word in enumerate(item.words) if word != MASK]
        ratio = given if isinstance(given, int | float) else given[item.language, item.dimension]
        open_to = [place for place in places if punctuation or not is_punctuation(item.words[place])]
        k = min(rationale_length(ratio, len(places)), len(open_to))
        if scores is None:
            f1 = expected_f1(k, open_to, item.rationales)
        else:
            scored = scores[str(item.id)]
            ranked = [scored["positions"][place] for place in ranked_words(scored["scores"])]
            f1 = instance_f1([place for place in ranked if place in open_to][:k], item.rationales)
        rows.append((item.id, item.original_id, item.language, item.dimension, item.perturbation, k, f1))
    columns = ["id", "original_id", "language", "dimension", "perturbation", "k", "f1"]
    return pd.DataFrame(rows, columns=columns)


def faithfulness(
    items: RationaleSet, saliency: pd.DataFrame | None, ratio: float | None = None, punctuation: bool = True
) -> pd.DataFrame:
    """Agreement of the word scores of every perturbed record with those of its original.

    Args:
        items: the records.
        saliency: as in ``plausibility``; the expectation of random scores has an ``ap``, and no ``pcc``.
        ratio: MAP's i runs up to this share of the perturbed words (Figure 1); None for all of them.
        punctuation: count punctuation marks as words in MAP, as the paper does.

    Returns:
        ``id, original_id, dimension, language, perturbation``; ``ap`` (the pair's term of MAP), ``pcc`` and
        ``pvalue`` (nan for transformations and contrasts, and where undefined), ``eligible`` (whether PCC is defined
        for this kind of perturbation), ``kept`` (p below 0.05: the pairs of the paper's PCC and MAP*).
    """
    words = dict(zip(items.items["id"], items.items["words"], strict=True))
    scores = None if saliency is None else saliency.set_index("id")[["words", "scores"]].to_dict("index")
    table = items.pairs
    found = []
    for pair in table.itertuples():
        both = [[word for word in words[name] if word != MASK] for name in (pair.original_id, pair.id)]
        counted = [[word for word in one if punctuation or not is_punctuation(word)] for one in both]
        upto = None if ratio is None else rationale_length(ratio, len(counted[1]))
        eligible, pcc, pvalue = pair.perturbation in ALIGNABLE, np.nan, np.nan
        if scores is None:
            ap = expected_average_precision(counted[0], counted[1], upto)
        else:
            first, second = scores[str(pair.original_id)], scores[str(pair.id)]
            ranked = [
                [
                    one["words"][n]
                    for n in ranked_words(one["scores"])
                    if punctuation or not is_punctuation(one["words"][n])
                ]
                for one in (first, second)
            ]
            ap = average_precision(ranked[0], ranked[1], upto)
            if eligible:
                aligned = aligned_scores(first["words"], second["words"], first["scores"], second["scores"])
                pcc, pvalue, _ = pearson(*aligned)
        found.append((ap, pcc, pvalue, eligible, bool(pvalue < LEVEL)))
    made = pd.DataFrame(found, columns=["ap", "pcc", "pvalue", "eligible", "kept"])
    return pd.concat([table, made], axis=1)


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


def values(items: RationaleSet, saliency: pd.DataFrame | None, seed: int = 0) -> dict[str, Values]:
    """The metrics of every record (F1) and pair (the others) by name.

    PCC and MAP* count kept pairs (p below 0.05), *PCC, all pairs* those where it is defined, and *share kept* is over
    all pairs of a kind that PCC is made for. No saliency stands for random scores: the expectations of F1 and MAP, and
    for the rest all values of ``DRAWS`` draws from ``seed`` on.
    """
    metrics = {}
    for name, open_to in ((F1, False), (F1_MARKS, True)):
        plausible = plausibility(items, saliency, punctuation=open_to)
        if len(plausible):
            originals = plausible["original_id"].where(plausible["original_id"] != "", plausible["id"])
            every, dimensions = np.ones(len(plausible), bool), plausible["dimension"].to_numpy()
            metrics[name] = Values(plausible["f1"].to_numpy(float), every, originals.to_numpy(), dimensions)
    compared = faithfulness(items, saliency)
    for name, faithful in ((MAP, compared), (MAP_WORDS, faithfulness(items, saliency, punctuation=False))):
        if len(faithful):
            every, about = np.ones(len(faithful), bool), (faithful["original_id"], faithful["dimension"])
            metrics[name] = Values(faithful["ap"].to_numpy(float), every, *(one.to_numpy() for one in about))
    pairs = compared
    if saliency is None:
        drawn = [faithfulness(items, random_saliency(items, seed + n)) for n in range(DRAWS)]
        pairs = pd.concat(drawn, ignore_index=True)
    if len(pairs):
        kept, eligible = pairs["kept"].to_numpy(bool), pairs["eligible"].to_numpy(bool)
        ap, pcc = pairs["ap"].to_numpy(float), pairs["pcc"].to_numpy(float)
        members = {
            PCC: (pcc, kept),
            MAP_KEPT: (ap, kept),
            PCC_ALL: (pcc, np.isfinite(pcc)),
            KEPT: (kept.astype(float), eligible),
        }
        originals, dimensions = pairs["original_id"].to_numpy(), pairs["dimension"].to_numpy()
        for name, (numbers, member) in members.items():
            metrics[name] = Values(np.where(member, numbers, 0.0), member, originals, dimensions)
    return metrics


def members(metric: Values) -> dict[str, np.ndarray]:
    """All, and of several dimensions each, as rows."""
    named = [name for name in DIMENSIONS if (metric.dimensions == name).any()]
    each = {name: metric.dimensions == name for name in named} if len(named) > 1 else {}
    return {ALL: np.ones(len(metric.values), bool)} | each


RIGHT, ECHO, WRONG = "right", "echo", "other wrong"


def outcomes(items: RationaleSet, predictions: pd.DataFrame) -> pd.Series:
    """What a model fills in: a gold, a word that the text already holds (an echo), or another wrong one.

    Args:
        items: the records.
        predictions: of ``predict_slots``, of one model on these records.

    Returns:
        ``RIGHT``, ``ECHO`` or ``WRONG`` by id. In Chinese an echo is any string of the text, capitals aside.
    """
    records = items.items.set_index("id")
    found = {}
    for row in predictions.itertuples():
        record, filling = records.loc[row.id], row.predictions[0].strip().casefold()
        text = record["context"].replace(MASK, " ").casefold()
        words = {word.casefold() for word in record["words"]}
        echoed = filling.replace(" ", "") in text if record["language"] == "zh" else filling in words
        found[row.id] = RIGHT if row.rank == 1 else ECHO if filling and echoed else WRONG
    return pd.Series(found, name="outcome")


def floors(sets: Mapping[str, RationaleSet], predictions: pd.DataFrame) -> pd.DataFrame:
    """Whether each model does better on a set than the best constant answer, which knows nothing of the text.

    Args:
        sets: by name.
        predictions: of ``ask.predict_all``. Contrasts, whose answer changes, are left out.

    Returns:
        ``dataset, model, answer`` (the gold of most records), ``constant`` (their share), ``estimate, low, high``
        (accuracy of first fillings) and ``above`` (1 where ``low`` lies above ``constant``, else 0).
    """
    rows = []
    for about, part in by(predictions[~predictions["perturbation"].isin(CONTRASTS)], ["dataset", "model"]):
        items = sets[about["dataset"]].items.set_index("id")
        golds = Counter(gold.casefold() for name in part["id"] for gold in set(items.loc[name, "golds"]))
        answer, count = max(golds.items(), key=lambda one: (one[1], one[0]))
        found = share_ci((part["rank"] == 1).to_numpy(float), part["original"].tolist())
        spans = {"constant": count / len(part), "estimate": found.estimate, "low": found.low, "high": found.high}
        rows.append(about | {"answer": answer} | spans | {"above": int(found.low > spans["constant"])})
    return pd.DataFrame(rows, columns=["dataset", "model", "answer", "constant", "estimate", "low", "high", "above"])


def judged(rows: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Conclusions, those of models that are no better than a constant answer (``floors``) marked as at the floor.

    Of two models, ``model`` and ``against``, neither may be; ``against`` was asked ``second``, where there is such a
    column, else the same set.
    """
    if rows.empty:
        return rows
    low = {(row["dataset"], row["model"]) for row in table.to_dict("records") if not row["above"]}
    sides = [
        {(row["dataset"], row["model"]), (row.get("second", row["dataset"]), row.get("against"))}
        for row in rows.to_dict("records")
    ]
    return rows.assign(verdict=[FLOOR if pair & low else "" for pair in sides])


def voices(rows: pd.DataFrame) -> pd.DataFrame:
    """Conclusions of claims on one model, or one pair of them: what they are about are the voices, not the model."""
    alone = rows.groupby("claim")["model"].transform("nunique") == 1
    return rows.assign(model=rows["model"].mask(alone, ""))
