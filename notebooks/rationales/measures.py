"""Length of rationales (paper 003, Table 3); plausibility and faithfulness of word scores, record by record.

As sections 4 and 5.1 have them, by functions of ``probekit.metrics.rationale``:

- F1 (``plausibility``): of the K best-scored words P of a record and the marked words G, 2 |P & G| / (|P| + |G|). K is
  the mean share of marked words in its dimension times its words other than the slot: ``rationale_length``,
  ``instance_f1``;
- MAP (``faithfulness``): by falling score, the share of the first i words of a perturbed record that are among the
  first i of its original, averaged over all i: ``average_precision``;
- PCC (``faithfulness``): Pearson's r of the scores of words that stand in both, ``aligned_scores``.

Random scores enter by the expectations of F1 and MAP: ``expected_f1``, ``expected_average_precision``. ``Means`` over
records have intervals over originals: a record and its perturbed versions say the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics import effective_units, interval, rationale, resampled_means
from probekit.metrics.alignment import aligned_scores
from probekit.metrics.correlation import pearson
from probekit.metrics.decisions import Estimated
from probekit.probes.probe import MASK
from probekit.probes.rationales import DIMENSIONS, RationaleSet, is_punctuation

ALIGNABLE = ("dispensable", "important", "unstated")  # word by word; not transformations (section 4)
Array = npt.NDArray[np.float64]
Statistic = Callable[[Array], Array]  # of means, shape (..., d), a number each


def rationale_statistics(items: RationaleSet) -> pd.DataFrame:
    """Table 3 of the paper for any data, by language and dimension, in the paper's order.

    Returns:
        ``language, dimension, originals, pairs`` (the paper's size: original and perturbed record), ``words`` (mean
        per record) and ``ratio`` (mean rationale length over input length, RRL, over all records with a rationale, of
        several of one record the mean; the slot is no word).
    """
    table = items.items
    lengths = [len(words) - words.count(MASK) for words in table["words"]]
    ratios = [
        sum(map(len, rationales)) / len(rationales) / length if rationales else math.nan
        for rationales, length in zip(table["rationales"], lengths, strict=True)
    ]
    order, original = pd.Categorical(table["dimension"], DIMENSIONS), table["original_id"] == ""
    table = table.assign(dimension=order, length=lengths, ratio=ratios, original=original, perturbed=~original)
    groups = table.groupby(["language", "dimension"], observed=True)
    columns = {"originals": ("original", "sum"), "pairs": ("perturbed", "sum")}
    summary = groups.agg(**columns, words=("length", "mean"), ratio=("ratio", "mean"))
    return summary.reset_index().astype({"dimension": object})


def dimension_ratios(items: RationaleSet) -> dict[tuple[str, str], float]:
    """Mean rationale length over input length of each language and dimension, as K needs it (section 5.1)."""
    return rationale_statistics(items).set_index(["language", "dimension"])["ratio"].to_dict()


def predicted_rationale(
    words: Sequence[str], scores: Sequence[float] | None, ratio: float, punctuation: bool = False
) -> list[int]:
    """The K best-scored words by their places, best first (section 5.1).

    Args:
        words: of the context, the slot among them.
        scores: of its words other than the slot, in order; None takes the first words in place of the best.
        ratio: rationale length over input length, K's share of the scored words.
        punctuation: let punctuation marks be taken.
    """
    places = [place for place, word in enumerate(words) if word != MASK]
    ranked = places if scores is None else [places[n] for n in rationale.ranked_words(scores)]
    allowed = [place for place in ranked if punctuation or not is_punctuation(words[place])]
    return allowed[: rationale.rationale_length(ratio, len(places))]


def plausibility(
    items: RationaleSet, saliency: pd.DataFrame | None, ratio: float | None = None, punctuation: bool = False
) -> pd.DataFrame:
    """F1 of every record that has a marked rationale.

    Args:
        items: the records.
        saliency: of ``attribute`` or ``oracle_saliency``, for these records; None for the expectation of random scores.
        ratio: rationale length over input length, of all records (Figure 1); None takes the mean of the dimension.
        punctuation: let punctuation marks be taken into the predicted rationale, as the paper does; nobody marks them.

    Returns:
        ``id, original_id, language, dimension, perturbation, k`` (words of the predicted rationale), ``f1``.
    """
    ratios = dimension_ratios(items)
    scores = None if saliency is None else dict(zip(saliency["id"], saliency["scores"], strict=True))
    rows = []
    for item in items.items[items.items["rationales"].map(bool)].itertuples():
        share = ratios[item.language, item.dimension] if ratio is None else ratio
        if scores is None:
            every = predicted_rationale(item.words, None, 1.0, punctuation)
            k = len(predicted_rationale(item.words, None, share, punctuation))
            f1 = rationale.expected_f1(k, every, item.rationales)
        else:
            predicted = predicted_rationale(item.words, scores[item.id], share, punctuation)
            k, f1 = len(predicted), rationale.instance_f1(predicted, item.rationales)
        rows.append((item.id, item.original_id, item.language, item.dimension, item.perturbation, k, f1))
    return pd.DataFrame(rows, columns=["id", "original_id", "language", "dimension", "perturbation", "k", "f1"])


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
        ``pvalue`` (nan for transformations and contrasts, and where undefined), ``pcc_apart`` (the same with a replaced
        word and what replaced it as two words, each of which the other text lacks), ``eligible`` (whether PCC is
        defined for this kind of perturbation), ``kept`` (p below 0.05: the pairs of the paper's PCC and MAP*).
    """
    words_of = {row.id: [word for word in row.words if word != MASK] for row in items.items.itertuples()}
    scores = None if saliency is None else dict(zip(saliency["id"], saliency["scores"], strict=True))
    pairs, rows = items.pairs, []

    def in_order(name: str) -> list[str]:
        """The words that count by falling score; of random scores, all orders of which are alike, as they stand."""
        order = range(len(words_of[name])) if scores is None else rationale.ranked_words(scores[name])
        words = [words_of[name][n] for n in order]
        return [word for word in words if punctuation or not is_punctuation(word)]

    for pair in pairs.itertuples():
        original, perturbed = in_order(pair.original_id), in_order(pair.id)
        upto = None if ratio is None else rationale.rationale_length(ratio, len(perturbed))
        eligible, pcc, pvalue, apart = pair.perturbation in ALIGNABLE, math.nan, math.nan, math.nan
        if scores is None:
            ap = rationale.expected_average_precision(original, perturbed, upto)
        else:
            ap = rationale.average_precision(original, perturbed, upto)
            if eligible:
                names = (pair.original_id, pair.id)
                both = [of[name] for of in (words_of, scores) for name in names]
                pcc, pvalue, _ = pearson(*aligned_scores(*both))
                apart, *_ = pearson(*aligned_scores(*both, replaced=False))
        rows.append((ap, pcc, pvalue, apart, eligible, bool(pvalue < rationale.LEVEL)))
    measured = pd.DataFrame(rows, columns=["ap", "pcc", "pvalue", "pcc_apart", "eligible", "kept"])
    return pd.concat([pairs, measured], axis=1)


class Means(NamedTuple):
    """Means of columns, and the same over samples of originals drawn with replacement.

    Args:
        at: shape (d,); nan where nothing counts.
        drawn: shape (samples, d).
        counted: shape (n, d), which records count.
        originals: ids, shape (n,).
    """

    at: Array
    drawn: Array
    counted: npt.NDArray[np.bool_]
    originals: npt.NDArray[np.object_]

    @classmethod
    def of(cls, values: npt.ArrayLike, originals: Sequence[str]) -> Means:
        """Of a table, shape (n, d), in which nan does not count; records of one original are drawn together."""
        table, names = np.asarray(values, dtype=float), np.asarray(originals, dtype=object)
        inside = np.isfinite(table)
        filled = np.where(inside, table, 0.0)
        with np.errstate(invalid="ignore"):
            return cls(filled.sum(0) / inside.sum(0), resampled_means(filled, names.tolist(), inside), inside, names)

    def measure(self, statistic: Statistic, columns: Sequence[int] | None = None) -> Estimated:
        """A number made of the means and both ends of its interval, so sure as the column with the fewest originals, of
        those that it rests on (all by default)."""
        low, high, _ = interval(statistic(self.drawn), self.units(columns))
        return float(statistic(self.at)), low, high

    def units(self, columns: Sequence[int] | None = None) -> float:
        """Effective originals of the column with the fewest, of those named (all by default)."""
        counted = self.counted.T if columns is None else self.counted.T[list(columns)]
        return min(effective_units(self.originals[member].tolist()) for member in counted)
