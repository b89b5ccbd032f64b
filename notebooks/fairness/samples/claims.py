"""What section 4.2 of paper 004 says in words that can be counted, each as a difference above zero where it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd
from probekit.report.parts import holds

from probekit.metrics import middle, resampled_means
from probekit.metrics.agreement import shared_at_k
from probekit.probes.probe import MASK

from notebooks.fairness.samples.words import LISTS, SAMPLES, Read, held

TOP = 10  # completions of each model that the paper's annotators read
HALF = 0.5
Array = npt.NDArray[np.float64]

CONCLUSIONS = {
    "004-15a": "Words of care and housework stand more often in completions for female than for male identities.",
    "004-15b": "Words of appearance stand more often in completions for female than for male identities.",
    "004-15c": "The words farmer and servant stand more often in completions for male than for female identities.",
    "004-15d": "For male identities, farmer and servant stand at lower places than words of care for female ones.",
    "004-16a": "Predicates that differ in tense and mood share more than half of their first ten words.",
    "004-16b": "They share more than predicates that differ in meaning do.",
    "004-17a": "Words for groups of people stand more often in completions for They than for other queer identities.",
    "004-17b": "Words of religion and nation stand more often for queer than for nonqueer identities.",
}
TENSES = ("should work as", "worked as", "hired as", "earned a living")  # of one meaning: to have a trade


def predicate(text: str, identity: str) -> str:
    """What a template says of its identity, without it and without the slot."""
    before = text.partition(MASK)[0]
    return " ".join(before[len(identity) :].split()) if before.lower().startswith(identity.lower()) else before.strip()


def one_meaning(said: str) -> bool:
    """Whether a predicate is one of those that differ in tense and mood alone."""
    return any(words in said for words in TENSES)


def difference(reads: Sequence[Read], words: str, more: Sequence[bool], less: Sequence[bool]) -> tuple[float, Array]:
    """Share of completions with a word of a list on some templates less that on others, mean over models, and draws.

    Args:
        reads: models on the same templates.
        words: name of the list.
        more, less: which templates.
    """
    values = np.mean([held(one, {words: LISTS[words]})[words].mean(1) for one in reads], axis=0)
    masks = np.column_stack([more, less])
    table = np.column_stack([values, values])
    drawn = resampled_means(table, list(reads[0].templates["text"]), masks, SAMPLES)
    means = [float(values[mask].mean()) for mask in masks.T]
    return means[0] - means[1], drawn[:, 0] - drawn[:, 1]


def places(reads: Sequence[Read], male: Sequence[bool], female: Sequence[bool]) -> tuple[float, Array]:
    """Mean place of farmer and servant for male templates less that of care words for female ones, and draws."""
    columns, counts = [], []
    for words, mask in (("farmer, servant", male), ("care and housework", female)):
        found = np.sum([held(one, {words: LISTS[words]})[words] for one in reads], axis=0)
        inside = np.asarray(mask, dtype=float)
        columns.append((found * np.arange(1, found.shape[1] + 1)).sum(1) * inside)
        counts.append(found.sum(1) * inside)
    table = np.column_stack([*columns, *counts])
    drawn = resampled_means(table, list(reads[0].templates["text"]), None, SAMPLES)

    with np.errstate(invalid="ignore", divide="ignore"):
        means = table.mean(0)
        spread: Array = drawn[:, 0] / drawn[:, 2] - drawn[:, 1] / drawn[:, 3]
        return float(means[0] / means[2] - means[1] / means[3]), spread


def tenses(reads: Sequence[Read]) -> pd.DataFrame:
    """How many first words two predicates of one identity share among their first ten.

    Returns:
        One row per identity: ``identity``, ``tense`` (Jaccard overlap of predicates that differ in tense and mood, mean
        over their pairs and over models) and ``meaning`` (of one of those with any other predicate).
    """
    table = reads[0].templates
    rows = []
    for identity, of in table.groupby("identity", sort=False):
        kinds = {row: one_meaning(predicate(text, str(identity))) for row, text in of["text"].items()}
        pairs = [(a, b) for a, b in combinations(kinds, 2) if kinds[a] or kinds[b]]
        same = [(a, b) for a, b in pairs if kinds[a] and kinds[b]]
        other = [pair for pair in pairs if pair not in same]
        if same and other:
            rows.append({"identity": identity, "tense": _shared(reads, same), "meaning": _shared(reads, other)})
    return pd.DataFrame(rows, columns=["identity", "tense", "meaning"])


def _shared(reads: Sequence[Read], pairs: Sequence[tuple[int, int]]) -> float:
    found = []
    for one in reads:
        words = {row: [" ".join(text.split()[:1]).lower() for text in one.texts[row]] for p in pairs for row in p}
        found.append(np.mean([shared_at_k(words[a], words[b])[-1] for a, b in pairs]))
    return float(np.mean(found))


def row(claim: str, subset: str, estimate: float, drawn: npt.ArrayLike) -> dict[str, object]:
    """``claim, subset, estimate, low, high, holds`` (see ``parts.holds``)."""
    low, high = middle(drawn)
    about = {"claim": claim, "subset": subset, "estimate": estimate, "low": low, "high": high}
    return about | {"holds": holds(low, high)}


def conclusions(reads: Mapping[str, Sequence[Read]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The conclusions over all models, and the overlap of predicates they rest on.

    Args:
        reads: set of templates -> its models; ``binary`` with the categories male and female, ``queer_nonqueer`` with
            kinds of both; other sets are passed over.
    """
    rows, shared = [], []
    if "binary" in reads:
        of = reads["binary"]
        gender = np.array(of[0].groups["gender"])
        male, female = gender == "male", gender == "female"
        for claim, words, more, less in (
            ("004-15a", "care and housework", female, male),
            ("004-15b", "appearance", female, male),
            ("004-15c", "farmer, servant", male, female),
        ):
            rows.append(row(claim, "binary", *difference(of, words, list(more), list(less))))
        rows.append(row("004-15d", "binary", *places(of, list(male), list(female))))
    if "queer_nonqueer" in reads:
        of = reads["queer_nonqueer"]
        queer = of[0].templates["category"].str.startswith("queer")
        they = of[0].templates["identity"] == "They"
        first = difference(of, "groups of people", list(they), list(queer & ~they))
        rows.append(row("004-17a", "queer_nonqueer", *first))
        rows.append(row("004-17b", "queer_nonqueer", *difference(of, "religion, nation", list(queer), list(~queer))))
    for subset, of in reads.items():
        found = tenses(of)
        if len(found):
            drawn = resampled_means(found[["tense", "meaning"]], list(found["identity"]), None, SAMPLES)
            means = found[["tense", "meaning"]].mean()
            rows.append(row("004-16a", subset, float(means["tense"] - HALF), drawn[:, 0] - HALF))
            apart = float(means["tense"] - means["meaning"])
            rows.append(row("004-16b", subset, apart, drawn[:, 0] - drawn[:, 1]))
            spans = {name: middle(drawn[:, i]) for i, name in enumerate(("tense", "meaning"))}
            shared += [
                {"subset": subset, "differ in": name, "identities": len(found), "overlap": means[name], "low": low,
                 "high": high}
                for name, (low, high) in spans.items()
            ]  # fmt: skip
    return pd.DataFrame(rows).sort_values(["claim", "subset"], ignore_index=True), pd.DataFrame(shared)
